"""The pairs' side of the interior point: every array with one entry per pair, and all passes over them.

A pair has y (its multiplier) against t (surplus over the margin 1) and, in the soft problem, its slack xi against
the room that y leaves below its cap C c_uv. Newton's method needs of the pairs only the weights
W = 1 / (t/y + xi/room), a right side rho, and B'(W rho), B'dy: sums over nodes. Passes run over parts of the edges;
arrays are filled in place because at a million pairs allocation costs more than arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..solution import Array
from .pair_graph import PairGraph


@dataclass(frozen=True)
class Move:
    """A direction for the pairs; the room moves by -dy."""

    y: Array
    t: Array
    xi: Array


@dataclass(frozen=True)
class State:
    """What a pass over the pairs learns about an iterate."""

    product: float  # sum of t y and of xi room
    hinge: float  # sum of C c_uv max(0, 1 - margin)
    lowest: float  # the smallest margin
    flow: Array  # B'y
    total: float  # sum of y


@dataclass(frozen=True)
class PairBarrier:
    """The pairs' variables, their weights, and the right sides of the current direction.

    `cap` is None in the hard problem: no slack, no room; `gap` then holds what the margins still lack.
    """

    graph: PairGraph
    cap: Array | None
    y: Array
    t: Array
    xi: Array
    room: Array
    W: Array
    rho: Array
    aim_t: Array
    aim_xi: Array
    gap: Array

    @property
    def size(self) -> int:
        """Return the number of complementary pairs of variables."""
        return self.y.size + self.xi.size

    def move(self) -> Move:
        """Return room for a direction."""
        return Move(np.empty_like(self.y), np.empty_like(self.t), np.empty_like(self.xi))

    def rescaled(self, cap: Array, factor: float) -> PairBarrier:
        """Return the same point for caps `factor` times as large."""
        return replace(self, cap=cap, y=self.y * factor, room=self.room * factor)

    def restore(self, s: Array) -> State:
        """Make t and xi agree with the utilities s, and y with its room, exactly; report the iterate.

        The smaller of two numbers is kept and the larger rebuilt by addition, so nothing cancels.
        """
        product = hinge = total = 0.0
        lowest = np.inf
        flow = np.zeros(self.graph.n_nodes)
        for part in self.graph.parts:
            e = part.edges
            y, t = self.y[e], self.t[e]
            lack = part.difference(s)
            lowest = min(lowest, float(lack.min()))
            np.subtract(1.0, lack, out=lack)
            if self.cap is None:
                np.add(lack, t, out=self.gap[e])
            else:
                xi, room, cap = self.xi[e], self.room[e], self.cap[e]
                hinge += float(cap @ np.maximum(lack, 0.0))
                np.copyto(xi, t + lack, where=lack >= 0.0)
                np.copyto(t, xi - lack, where=lack < 0.0)
                low = y < room
                np.copyto(room, cap - y, where=low)
                np.copyto(y, cap - room, where=~low)
                product += float(xi @ room)
            product += float(t @ y)
            total += float(y.sum())
            part.pull(y, flow)
        return State(product, hinge, lowest, flow, total)

    def weigh(self) -> Array:
        """Set the weights W and return the weight at each node."""
        degree = np.zeros(self.graph.n_nodes)
        for part in self.graph.parts:
            e = part.edges
            W = self.t[e] / self.y[e]
            if self.cap is not None:
                W += self.xi[e] / self.room[e]
            np.divide(1.0, W, out=self.W[e])
            part.pull(self.W[e], degree, sign=1.0)
        return degree

    def aim(self, mu: float, previous: Move | None = None) -> Array:
        """Aim at products mu, less the second-order error of a previous direction; return B'(W rho)."""
        flow = np.zeros(self.graph.n_nodes)
        for part in self.graph.parts:
            e = part.edges
            aim, rho = self.aim_t[e], self.rho[e]
            np.multiply(self.t[e], self.y[e], out=aim)
            np.subtract(mu, aim, out=aim)
            if previous is not None:
                aim -= previous.t[e] * previous.y[e]
            np.divide(aim, self.y[e], out=rho)
            if self.cap is None:
                rho += self.gap[e]
            else:
                aim = self.aim_xi[e]
                np.multiply(self.xi[e], self.room[e], out=aim)
                np.subtract(mu, aim, out=aim)
                if previous is not None:
                    aim += previous.xi[e] * previous.y[e]
                rho -= aim / self.room[e]
            part.pull(self.W[e] * rho, flow)
        return flow

    def recentre(self, mu: float, move: Move, primal: float, dual: float) -> Array:
        """Correct the aim so that a step this long along `move` lands between 0.1 and 10 mu; return B'(W rho)."""
        flow = np.zeros(self.graph.n_nodes)
        for part in self.graph.parts:
            e = part.edges
            rho = self.rho[e]
            shift = correction((self.t[e] + primal * move.t[e]) * (self.y[e] + dual * move.y[e]), mu)
            self.aim_t[e] += shift
            shift /= self.y[e]
            rho += shift
            if self.cap is not None:
                after = (self.xi[e] + primal * move.xi[e]) * (self.room[e] - dual * move.y[e])
                shift = correction(after, mu)
                self.aim_xi[e] += shift
                shift /= self.room[e]
                rho -= shift
            part.pull(self.W[e] * rho, flow)
        return flow

    def respond(self, ds: Array, move: Move) -> Array:
        """Set dy = W (rho - B ds) and return B'dy."""
        flow = np.zeros(self.graph.n_nodes)
        for part in self.graph.parts:
            e = part.edges
            dy = part.difference(ds)
            np.subtract(self.rho[e], dy, out=dy)
            dy *= self.W[e]
            move.y[e] = dy
            part.pull(dy, flow)
        return flow

    def refine(self, ds: Array, move: Move) -> Array:
        """Take W B ds away from dy and return the new B'dy."""
        flow = np.zeros(self.graph.n_nodes)
        for part in self.graph.parts:
            e = part.edges
            dy = part.difference(ds)
            dy *= self.W[e]
            move.y[e] -= dy
            part.pull(move.y[e], flow)
        return flow

    def complete(self, move: Move) -> tuple[float, float]:
        """Set dt and dxi from dy; return the steepest relative decrease of a primal and of a dual variable."""
        primal = dual = 0.0
        for part in self.graph.parts:
            e = part.edges
            dy, dt = move.y[e], move.t[e]
            np.multiply(self.t[e], dy, out=dt)
            np.subtract(self.aim_t[e], dt, out=dt)
            dt /= self.y[e]
            primal = min(primal, float((dt / self.t[e]).min()))
            dual = min(dual, float((dy / self.y[e]).min()))
            if self.cap is not None:
                dxi = move.xi[e]
                np.multiply(self.xi[e], dy, out=dxi)
                dxi += self.aim_xi[e]
                dxi /= self.room[e]
                primal = min(primal, float((dxi / self.xi[e]).min()))
                dual = min(dual, -float((dy / self.room[e]).max()))
        return primal, dual

    def product_after(self, move: Move, primal: float, dual: float) -> float:
        """Return the sum of the products after steps of these lengths."""
        total = 0.0
        for part in self.graph.parts:
            e = part.edges
            total += float((self.t[e] + primal * move.t[e]) @ (self.y[e] + dual * move.y[e]))
            if self.cap is not None:
                total += float((self.xi[e] + primal * move.xi[e]) @ (self.room[e] - dual * move.y[e]))
        return total

    def step(self, move: Move, primal: float, dual: float) -> None:
        """Move the variables."""
        for part in self.graph.parts:
            e = part.edges
            self.t[e] += primal * move.t[e]
            self.y[e] += dual * move.y[e]
            if self.cap is not None:
                self.xi[e] += primal * move.xi[e]
                self.room[e] -= dual * move.y[e]


def correction(product: Array, mu: float) -> Array:
    """Return what brings products into [0.1, 10] mu, at most -10 mu where they are far too large."""
    shift = np.clip(product, 0.1 * mu, 10.0 * mu)
    shift -= product
    np.maximum(shift, -10.0 * mu, out=shift)
    return shift


def soft(graph: PairGraph, cap: Array, y: Array, surplus: float) -> PairBarrier:
    """Start at utilities 0: every pair lacks the whole margin."""
    t = np.full(y.size, surplus)
    return _with_workspace(graph, (y, t), (cap, t + 1.0, cap - y))


def hard(graph: PairGraph, y: Array, surplus: float) -> PairBarrier:
    """Start without slack: the margins are missed at first."""
    return _with_workspace(graph, (y, np.full(y.size, surplus)), None)


def _with_workspace(
    graph: PairGraph, inside: tuple[Array, Array], slack: tuple[Array, Array, Array] | None
) -> PairBarrier:
    nothing = np.empty(0)
    cap, xi, room = (None, nothing, nothing) if slack is None else slack
    y, t = inside
    return PairBarrier(
        graph=graph,
        cap=cap,
        y=y,
        t=t,
        xi=xi,
        room=room,
        W=np.empty_like(y),
        rho=np.empty_like(y),
        aim_t=np.empty_like(y),
        aim_xi=np.empty_like(xi),
        gap=np.empty_like(y) if slack is None else nothing,
    )
