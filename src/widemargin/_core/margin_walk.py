"""Exact solutions of hinge rows along C: from one to the next by the rows that come to their margins or leave them.

Between two values of C the multipliers of the rows on their margins move in straight pieces (Hastie, Rosset, Tibshirani
and Zhu 2004, for a classifier; here rows are differences of items, with a level or none). A walk takes an event for
each row that changes sides: few at a large C, where Newton and interior points begin anew for every C.

Problem: min 1/2 |f|^2 + C * sum of weight * hinge(margin - D u - E b), own slacks, at most one level.
Starts: from any utilities. Rows as near to their margins as the gap leaves room for are held on them; what the others'
multipliers then miss is added to their margins, and taken back on the way. So is rounding, at every C.
Stops: at C, certified. None where events are many or rounding takes over: the caller has other solvers.
"""

from __future__ import annotations

import numpy as np

from . import rules
from ._margins import Margins
from .comparisons import IntArray, Rows
from .interior_point.problem import FeatureMap
from .losses import HINGE
from .row_risk import RowsRisk
from .rows_newton.bounds import feasible
from .solution import Array, Solution, Status

FREE, HELD, LOADED = 0, 1, 2  # sides of a margin
PLAIN, CUBE, ROW = 1000, 1e-5, 0.25  # events as dear as an interior point: any, of n^3 and of rows, ...
GROWTH = 4e-5  # ... where each held row times the items adds so much of one
TURNS = 8  # times that a walk begins anew where rounding ended it
SMOOTH = 8.0  # rows within h of their margins cost about h / 8 each where the hinge is smoothed
MOST_NEAR = 3  # times the items: rows to choose from
WIDER = 2  # times as many rows are looked at until these are right
INSIDE, APART = 0.1, 0.01  # by which multipliers and gaps are pushed off their bounds at a start, or events coincide
NEAR, LEAST = 0.05, 1e-6  # share of the rows that are looked at to begin with, and their least distance
FAR = 1e200  # what no walk reaches
ROUNDING = 1e-12  # by which a level in the middle of an interval may be worse


class MarginWalk:
    """The exact solution for one C, which walks to the next."""

    def __init__(self, rows: Rows, map_: FeatureMap) -> None:
        self.rows, self.map_ = rows, map_
        self.K = np.ascontiguousarray(map_.gram() if map_.is_gram else map_.features())
        self.e = np.ascontiguousarray(rows.E[:, 0]) if rows.E.shape[1] else np.zeros(rows.shape[0])
        self.scale = float(np.max(np.abs(rows.margin), initial=0.0))
        self.seen: IntArray | None = None  # rows that are looked at first
        self.push = np.random.default_rng(0).random(rows.shape[0])
        starts, items = (np.asarray(part, np.int32) for part in (rows.D.indptr, rows.D.indices))
        self.core = Margins(starts, items, rows.D.data, self.e, self.K, map_.is_gram, self.scale)

    def begin(self, C: float, u: Array, levels: Array, excess: float) -> bool:
        """Take up utilities and levels whose objective is at most `excess` above the best; False where they say little.

        That is where many more rows are near their margins than can be held on them, or no margin has a size.
        """
        rows, core, cost = self.rows, self.core, C * self.rows.weight
        self.C, self.is_rough, core.level = C, True, float(levels.sum())
        gap = rows.times(u) + self.e * core.level - rows.margin
        order = np.argsort(np.abs(gap))
        smoothing = np.abs(gap)[order] * np.cumsum(rows.weight[order])
        n_near = int(np.searchsorted(smoothing, SMOOTH * excess / C))
        if n_near > MOST_NEAR * self.K.shape[0] or self.scale == 0.0:
            return False
        near, self.seen = order[:n_near], order[: WIDER * n_near]
        core.side[:] = np.where(gap < 0.0, LOADED, FREE)
        near = near[core.hold(near)]
        core.a[:] = np.where(core.side == LOADED, cost, 0.0)
        core.a[near] = 0.0
        missing = rows.margin - self._reach()
        inside = INSIDE * self.push[near] * cost[near]
        core.a[near] = np.clip(core.solve(missing[near]), inside, cost[near] - inside)
        return True

    def _reach(self) -> Array:
        """Return what the rows reach by the multipliers and the level."""
        g = self.rows.pulled(self.core.a)
        u = self.K @ g if self.map_.is_gram else self.K @ (self.K.T @ g)
        return self.rows.times(u) + self.e * self.core.level

    def to(self, C: float, tol: float) -> Solution | None:
        """Return the solution for another C; None where the walk ends before."""
        limit = left = self._limit()
        events = 0
        for _ in range(TURNS):
            is_start = self.is_rough  # many margins move: first to where they belong, with a limit of its own
            taken = self._walk(self.C if is_start else C, left)
            events, left = events + taken, limit if is_start and not self.is_rough else left - taken
            found = None if self.is_rough or self.C < C else self._solution(C, events)
            if found is not None and found.gap <= tol:
                return found
            if left <= 0:
                break
        return None

    def _limit(self) -> int:
        """Return how many events cost as much as solving anew; in columns both look at all rows, however many."""
        if not self.map_.is_gram:
            return PLAIN
        m, n = self.rows.shape[0], self.K.shape[0]
        return int((PLAIN + CUBE * n**3 + ROW * m) / (1.0 + GROWTH * self.core.k * n))

    def _walk(self, C: float, limit: int) -> int:
        """Go towards C, as far as the limit and rounding allow; returns the number of events."""
        rows, core = self.rows, self.core
        cost, rise = self.C * rows.weight, (C - self.C) * rows.weight
        self._hold_again(cost)
        true = self._reach() - rows.margin
        apart = APART * self.scale * self.push if self.is_rough else 0.0
        sides = [core.side == LOADED, core.side == FREE]
        gap = np.select(sides, [np.minimum(true, -apart), np.maximum(true, apart)])
        shift, radius = gap - true, self._radius(gap)
        if self.seen is not None:  # the others stay on their sides meanwhile
            others = core.side != HELD
            others[self.seen] = False
            gap[others], shift[others], radius = np.where(sides[0], -FAR, FAR)[others], 0.0, 0.5 * FAR
        core.gap[:] = gap
        share, events = core.walk(rise, shift, cost, float(self.e @ core.a), limit, radius)
        self.C = C if share == 1.0 else self.C + share * (C - self.C)
        self.is_rough, self.seen = share < 1.0 or self.seen is not None, None
        return events

    def _radius(self, gap: Array) -> float:
        """Return the distance within which rows are looked at to begin with."""
        at = int(NEAR * gap.size)
        return max(LEAST * self.scale, float(np.partition(np.abs(gap), at)[at]))

    def _hold_again(self, cost: Array) -> None:
        """Factor the held rows anew; those that turn out to be sums of others go to the nearer side."""
        core = self.core
        members = core.members[: core.k].copy()
        lost = members[~core.hold(members)]
        core.side[lost] = np.where(core.a[lost] > 0.5 * cost[lost], LOADED, FREE)
        core.a[lost] = np.where(core.side[lost] == LOADED, cost[lost], 0.0)

    def _solution(self, C: float, n_events: int) -> Solution:
        """Return the model of the multipliers, with its best level and true bounds."""
        rows = self.rows
        a = C * feasible(RowsRisk(rows, HINGE), self.core.a / C)
        g = rows.pulled(a)
        weights = self.map_.adjoint_exact(g)
        u = self.map_.forward_exact(weights)
        z, norm = rows.times(u), max(float(g @ u), 0.0) if self.map_.is_gram else self.map_.squared_norm(weights)
        middle, own = rules.best_levels(rows, z, C, HINGE), np.full(rows.E.shape[1], self.core.level)
        costs = [float(rows.weight @ HINGE.value(rows.margin - z - rows.E @ b)) for b in (middle, own)]
        levels = middle if costs[0] <= costs[1] * (1.0 + ROUNDING) else own  # rows of little weight pass for none there
        loss = min(costs) + rows.constant
        dual = float(a @ rows.margin) - 0.5 * norm + C * rows.constant
        primal, n_iter = 0.5 * norm + C * loss, max(1, n_events)
        return Solution(
            weights, g, levels, primal, dual, n_iter, Status.CONVERGED, u, squared_norm=norm, dual_norm=norm
        )
