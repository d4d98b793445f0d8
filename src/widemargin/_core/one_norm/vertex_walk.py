"""From the optimal vertex of one C to that of another, by pivots with long steps: for models of few vectors.

At a vertex k coefficients are not zero and k pairs are held at margin 1: B_T K_S a_S = 1, and every other pair is
below (its multiplier at its cap) or above (multiplier 0). The multipliers of the held pairs make the k vectors worth
their cost. Where one of them leaves its box, or another vector is worth more than its cost, the objective falls
along an edge; it is piecewise linear there, and the walk goes on past pairs that change sides and coefficients that
change signs until it would rise: a pivot moves hundreds of pairs.

A pivot costs two products with K and a pass over the pairs. Kernels of low rank need a few dozen from one C to the
next, others far more than they are worth: the caller sets a limit. Margins are asked a little above 1, by another
share for each pair, so that no two are met at once; the answer forgets it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _pairs
from ..comparisons import IntArray
from ..solution import Array
from . import pair_barrier
from .pair_graph import sums
from .problem import Iterate, Problem

SPREAD = 1e-6  # of the margins asked: above their rounding, below what changes an optimal basis
SLACK = 1e-9  # by which a multiplier or a gain may leave its bounds
REFRESH = 60  # pivots between two inversions


class LostError(Exception):
    """The walk has met its limit, or a vertex without digits."""


@dataclass(frozen=True)
class _Edge:
    """A way down: held pair `row` is let go upwards or downwards, or vector `column` is taken with this sign."""

    row: int
    column: int
    sign: float
    slope: float


class VertexWalk:
    """A vertex of the points machine that moves; it starts at the zero model, optimal for small C."""

    def __init__(self, problem: Problem) -> None:
        graph, self.K = problem.graph, problem.K
        self.graph, self.positive, self.weight = graph, problem.routing.positive, graph.weight
        self.better = graph.better
        self.goal = 1.0 + SPREAD * np.random.default_rng(0).random(graph.n_edges)
        self.side = np.ones(graph.n_edges, dtype=np.int8)
        self.pull = graph.imbalance(graph.weight)  # B'c over the pairs below
        self.columns: list[int] = []
        self.signs: list[float] = []
        self.rows: list[int] = []
        self.inverse = np.zeros((0, 0))
        self.a, self.s = np.zeros(0), np.zeros(graph.n_nodes)
        self.C = 0.0
        self.reach = 0.1  # how far the last step moved the margins
        self.edge, self.at = np.empty(graph.n_edges, dtype=np.int64), np.empty(graph.n_edges)

    def to(self, C: float, limit: int) -> None:
        """Walk to the optimal vertex for C in at most `limit` pivots; raise `LostError` else."""
        self.C = C
        for done in range(limit + 1):
            edge = self._way_down(C)
            if edge is None:
                return
            if done % REFRESH == REFRESH - 1:
                self._invert()
            self._pivot(edge, C)
        raise LostError

    def iterate(self, problem: Problem) -> Iterate:
        """Return the vertex for the last C as an interior point shows it, with every vector that is worth its cost."""
        cap = problem.cap
        assert cap is not None
        y, gain = self._prices(self.C)
        tied, violated = self.side == 0, self.side == 1
        multipliers = np.where(violated, cap, 0.0)
        multipliers[self.rows] = np.clip(y, 0.0, cap[self.rows])
        x = self._arcs()
        worth = problem.routing.charge(gain) > 1.0 - SLACK
        pairs = pair_barrier.soft(self.graph, cap, multipliers, 0.0)
        pairs.t[:] = np.where(tied | violated, 0.0, 1.0)
        pairs.xi[:] = violated
        return Iterate(x, np.where(worth | (x > 0.0), -1.0, 1.0), np.zeros(0), pairs)

    def _arcs(self) -> Array:
        """Return the flow on the arcs that gives the vertex its coefficients, for margins of exactly 1."""
        a = np.zeros(self.K.shape[1])
        a[self.columns] = self.inverse @ np.ones(len(self.rows))
        return np.maximum(a if self.positive else np.concatenate([a, -a]), 0.0)

    def _prices(self, C: float) -> tuple[Array, Array]:
        """Return the multipliers of the held pairs, and the gain K'B'y of every vector."""
        y = (np.array(self.signs) - C * (self.K[:, self.columns].T @ self.pull)) @ self.inverse
        return y, self.K.T @ (C * self.pull + self._imbalance(self.rows, y))

    def _imbalance(self, edges: list[int] | IntArray, y: Array) -> Array:
        n = self.graph.n_nodes
        return sums(self.better[edges], y, n) - sums(self.graph.worse[edges], y, n)

    def _way_down(self, C: float) -> _Edge | None:
        """Return the steepest edge, a held pair counted per length of its direction; None at an optimal vertex."""
        y, gain = self._prices(C)
        size = gain.copy() if self.positive else np.abs(gain)
        size[self.columns] = 0.0
        j = int(size.argmax())
        best = _Edge(-1, j, 1.0 if self.positive or gain[j] > 0.0 else -1.0, float(size[j] - 1.0))
        steepest = best.slope if best.slope > SLACK else 0.0
        if y.size:
            cap = C * self.weight[self.rows]
            outside = np.maximum(-y, y - cap)
            rate = np.where(outside > SLACK * cap, outside, 0.0) / np.sqrt((self.inverse**2).sum(axis=0))
            i = int(rate.argmax())
            if rate[i] > steepest:
                steepest = float(rate[i])
                best = _Edge(i, -1, 1.0 if y[i] < 0.0 else -1.0, float(outside[i]))
        return best if steepest > 0.0 else None

    def _pivot(self, edge: _Edge, C: float) -> None:
        """Go down an edge to its lowest point and exchange there."""
        if edge.row >= 0:
            d = edge.sign * self.inverse[:, edge.row]
            ds = self.K[:, self.columns] @ d
        else:
            d = -edge.sign * (self.inverse @ self._difference(self.rows, edge.column))
            ds = self.K[:, self.columns] @ d + edge.sign * self.K[:, edge.column]
        passed, last = self._lowest(edge, d, ds, C)
        pairs = passed[passed >= 0]
        self.pull -= self._imbalance(pairs, self.side[pairs] * self.weight[pairs])
        self.side[pairs] *= -1
        for i in (-1 - passed[passed < 0]).tolist():
            self.signs[i] = -self.signs[i]
        if edge.row >= 0:  # let go upwards: nothing to pay; downwards: at its cap
            self._set_side(self.rows[edge.row], -1 if edge.sign > 0.0 else 1)
        if last >= 0:
            self._set_side(last, 0)
        self._exchange(edge, last)
        self.a = self.inverse @ self.goal[self.rows]
        self.s = self.K[:, self.columns] @ self.a
        if not np.isfinite(self.a).all():
            raise LostError

    def _lowest(self, edge: _Edge, d: Array, ds: Array, C: float) -> tuple[IntArray, int]:
        """Return what changes sides on the way down, coefficients as -1 - i, and what is met at the lowest point."""
        unit = float(np.abs(ds).max())
        falling = np.flatnonzero(np.array(self.signs) * d < -1e-12 * max(1.0, float(np.abs(d).max(initial=0.0))))
        zero = np.abs(self.a[falling] / d[falling])
        price = np.full(falling.size, np.inf) if self.positive else 2.0 * np.abs(d[falling])
        limit = 2.0 * self.reach
        weight = C * self.weight
        while True:
            shape = self.graph.head, self.graph.reach, self.s, ds / unit
            n, rise = _pairs.kinks(*shape, self.goal, weight, self.side, limit, self.edge, self.at)
            if rise * unit + price[zero * unit < limit].sum() >= edge.slope:
                break
            if limit > 1e12:
                raise LostError  # the objective cannot fall for ever: these are no digits
            limit *= 8.0
        near = zero * unit < limit
        at = np.concatenate([self.at[:n], zero[near] * unit])
        what = np.concatenate([self.edge[:n], -1 - falling[near]])
        order = np.argsort(at, kind="stable")
        edges = self.edge[:n]
        rate = np.abs(ds[self.better[edges]] - ds[self.graph.worse[edges]])
        rises = np.cumsum(np.concatenate([weight[edges] * rate, price[near]])[order])
        stop = min(int(np.searchsorted(rises, edge.slope)), order.size - 1)
        self.reach = max(float(at[order[stop]]), 1e-9)
        return what[order[:stop]], int(what[order[stop]])

    def _set_side(self, edge: int, side: int) -> None:
        change = float((side == 1) - int(self.side[edge] == 1)) * self.weight[edge]
        self.pull[self.better[edge]] += change
        self.pull[self.graph.worse[edge]] -= change
        self.side[edge] = side

    def _difference(self, rows: list[int] | IntArray | int, columns: list[int] | IntArray | int) -> Array:
        """Return entries of B K."""
        return self.K[self.better[rows], columns] - self.K[self.graph.worse[rows], columns]

    def _exchange(self, edge: _Edge, last: int) -> None:
        """Swap a row or a column of B_T K_S, add one of each, or take one of each away; update the inverse."""
        inverse = self.inverse
        if edge.row >= 0 and last >= 0:
            self.rows[edge.row] = last
            y = self._difference(last, self.columns) @ inverse
            scaled = inverse[:, edge.row] / y[edge.row]
            y[edge.row] -= 1.0
            inverse -= np.outer(scaled, y)
        elif edge.row >= 0:
            i = -1 - last
            inverse = inverse - np.outer(inverse[:, edge.row], inverse[i]) / inverse[i, edge.row]
            self.inverse = np.delete(np.delete(inverse, i, axis=0), edge.row, axis=1)
            del self.rows[edge.row], self.columns[i], self.signs[i]
        elif last >= 0:
            x = inverse @ self._difference(self.rows, edge.column)
            y = self._difference(last, self.columns) @ inverse
            pivot = self._difference(last, edge.column) - self._difference(last, self.columns) @ x
            top = np.hstack([inverse + np.outer(x, y) / pivot, -x[:, None] / pivot])
            self.inverse = np.vstack([top, np.append(-y, 1.0) / pivot])
            self.rows, self.columns, self.signs = (
                [*self.rows, last],
                [*self.columns, edge.column],
                [*self.signs, edge.sign],
            )
        else:
            i = -1 - last
            self.columns[i], self.signs[i] = edge.column, edge.sign
            x = inverse @ self._difference(self.rows, edge.column)
            scaled = inverse[i] / x[i]
            x[i] -= 1.0
            inverse -= np.outer(x, scaled)

    def _invert(self) -> None:
        if self.rows:
            held: Array = self._difference(np.array(self.rows)[:, None], np.array(self.columns)[None, :])
            self.inverse = np.asarray(np.linalg.inv(held), dtype=float)
            self.a = self.inverse @ self.goal[self.rows]
            self.s = self.K[:, self.columns] @ self.a
