"""The pairs' side of the interior point: every array with one entry per pair, and all passes over them.

A pair has y (its multiplier) against t (surplus over the margin 1) and, in the soft problem, its slack xi against
the room that y leaves below its cap C c_uv. Newton's method needs of the pairs only the weights
W = 1 / (t/y + xi/room), a right side rho, and B'(W rho), B'dy: sums over nodes. The passes are loops of `_pairs`, where
aims and directions are relative to their variables; arrays are filled in place because allocation costs more than
arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .. import _pairs
from ..comparisons import IntArray
from ..solution import Array
from .pair_graph import PairGraph


class Move(NamedTuple):
    """A direction for the pairs: dy, dt / t and dxi / xi; the room moves by -dy."""

    y: Array
    t: Array
    xi: Array


NO_MOVE = Move(np.empty(0), np.empty(0), np.empty(0))


@dataclass(frozen=True)
class Response:
    """What a direction of the pairs does: B'dy, and the steepest relative decrease of a primal and a dual variable."""

    flow: Array
    primal: float
    dual: float


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
    """The pairs' variables, their weights, and the aims of the current direction.

    `cap` is None in the hard problem: no slack, no room; `gap` then holds what the margins still lack.
    """

    graph: PairGraph
    cap: Array | None
    y: Array
    t: Array
    xi: Array
    room: Array
    W: Array
    inv_t: Array  # 1 / (t y)
    inv_xi: Array  # 1 / (xi room)
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
        """Make t and xi agree with the utilities s, and y with its room, exactly; report the iterate."""
        flow = np.zeros(self.graph.n_nodes)
        cap = self.xi if self.cap is None else self.cap
        seen = _pairs.restore(*self._shape, s, cap, self.y, self.t, self.xi, self.room, self.gap, flow)
        product, hinge, lowest, total = seen
        if not np.isfinite(s).all():  # the loops do not see nan
            hinge, lowest = np.inf, -np.inf
        return State(product, hinge, lowest, flow, total)

    def weigh(self) -> Array:
        """Set the weights W and the inverse products; return the weight at each node."""
        degree = np.zeros(self.graph.n_nodes)
        _pairs.weigh(*self._shape, self.y, self.t, self.xi, self.room, self.inv_t, self.inv_xi, self.W, degree)
        return degree

    def aim(self, mu: float, previous: Move | None = None) -> Array:
        """Aim at products mu, less the second-order error of a previous direction; return B'(W rho)."""
        flow = np.zeros(self.graph.n_nodes)
        move = NO_MOVE if previous is None else previous
        _pairs.aim(*self._shape, mu, *self._point, *move, self.aim_t, self.aim_xi, flow)
        return flow

    def recentre(self, mu: float, move: Move, primal: float, dual: float) -> Array:
        """Correct the aim so that a step this long along `move` lands between 0.1 and 10 mu; return B'(W rho)."""
        flow = np.zeros(self.graph.n_nodes)
        _pairs.recentre(*self._shape, mu, primal, dual, *self._point, *move, self.aim_t, self.aim_xi, flow)
        return flow

    def respond(self, ds: Array, move: Move, *, again: bool = False) -> Response:
        """Set dy = W (rho - B ds), or take W B ds away from it if `again`, and dt, dxi from it."""
        flow = np.zeros(self.graph.n_nodes)
        right = (self.W, self.aim_t, self.aim_xi)
        inside = (self.t, self.xi, self.gap, self.inv_t, self.inv_xi)
        primal, dual = _pairs.respond(*self._shape, again, ds, *inside, *right, *move, flow)
        return Response(flow, primal, dual)

    def product_after(self, move: Move, primal: float, dual: float) -> float:
        """Return the sum of the products after steps of these lengths."""
        return _pairs.product_after(primal, dual, self.y, self.t, self.xi, self.room, *move)

    def step(self, move: Move, primal: float, dual: float) -> None:
        """Move the variables."""
        _pairs.step(primal, dual, self.y, self.t, self.xi, self.room, *move)

    @property
    def _shape(self) -> tuple[IntArray, IntArray]:
        return self.graph.head, self.graph.reach

    @property
    def _point(self) -> tuple[Array, ...]:
        return self.y, self.t, self.xi, self.room, self.gap, self.inv_t, self.inv_xi, self.W


def correction(product: Array, mu: float) -> Array:
    """Return what brings products into [0.1, 10] mu, at most -10 mu where they are far too large."""
    return np.maximum(np.clip(product, 0.1 * mu, 10.0 * mu) - product, -10.0 * mu)


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
        inv_t=np.empty_like(y),
        inv_xi=np.empty_like(xi),
        aim_t=np.empty_like(y),
        aim_xi=np.empty_like(xi),
        gap=np.empty_like(y) if slack is None else nothing,
    )
