"""The problem that Newton sees: rows over the items of a space, and a smaller one of the same kind to start from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..comparisons import IntArray, Rows
from ..row_risk import RowLook, RowsRisk
from ..solution import Array
from .spaces import Space, Vector

SHARE = 8  # a sample has this part of the rows, or of the items of a kernel
FEW_ROWS, FEW_ITEMS = 2000, 500  # no sample is smaller: what it misses would mislead
ROWS_PER_COLUMN = 5


@dataclass(frozen=True)
class Point:
    """A function, its levels, and how far each row falls short."""

    f: Vector
    b: Array
    short: Array


class Start(NamedTuple):
    """Where a solve begins."""

    f: Vector
    b: Array
    h: float | None = None  # the smoothing
    slope: Array | None = None  # of the rows, where they are better known than by the function


@dataclass(frozen=True)
class View:
    """What a point looks like under a smoothing: slopes, the function they make, and the parts of the gap.

    That function is a product with the data, made when it is asked for.
    """

    problem: Problem
    f: Vector
    look: RowLook
    primal: float
    excess: float  # of the smoothing; error + excess = primal - dual
    ahead: Array | None = None  # where the look's slopes are not those at the point: the difference
    given: Vector | None = None  # instead of the residual
    image: Array | None = None  # coordinates of the function that the slopes make, where they are known

    @cached_property
    def residual(self) -> Vector:
        """Return f less the function that the slopes make."""
        problem = self.problem
        image = problem.pulled(self.look.slope) if self.image is None else self.image
        return self.given or problem.space.gradient(self.f.w - image)

    @property
    def error(self) -> float:
        """Return 1/2 |residual|^2."""
        return 0.5 * max(self.problem.space.inner(self.residual, self.residual), 0.0)

    @property
    def gap(self) -> float:
        """Return primal - dual: true while the slopes balance the levels; infinite where they are not the point's."""
        return self.error + self.excess if self.ahead is None else np.inf


@dataclass(frozen=True)
class Problem:
    """min 1/2 |f|^2 + C * risk(f, b)."""

    risk: RowsRisk
    space: Space
    C: float

    @property
    def rows(self) -> Rows:
        """Return the rows."""
        return self.risk.rows

    def smoothed(self, h: float) -> Problem:
        """Return the problem under another smoothing."""
        return replace(self, risk=self.risk.smoothed(h))

    def reach(self, f: Vector) -> Array:
        """Return each row's difference of utilities."""
        return self.rows.times(f.u)

    def pulled(self, slope: Array) -> Array:
        """Return the coordinates of the function that slopes make."""
        return self.space.pulled(self.rows.pulled(self.C * slope))

    def point(self, f: Vector, b: Array) -> Point:
        """Return the point (f, b)."""
        return Point(f, b, self.rows.margin - self.reach(f) - self.rows.shift(b))

    def view(self, point: Point) -> View:
        """Look at a point."""
        return self.seen(point, self.risk.look(point.short))

    def seen(self, point: Point, look: RowLook) -> View:
        """Return the view of a point by slopes and curvatures."""
        norm = self.space.inner(point.f, point.f)
        primal = 0.5 * norm + self.C * (look.loss + self.rows.constant)
        return View(self, point.f, look, primal, self.C * look.excess)

    def sample(self) -> tuple[Problem, IntArray] | None:
        """Return a part that weighs as much as the whole, and its items; None where the whole is small."""
        if self.space.is_gram:
            n = max(FEW_ITEMS, self.space.n_items // SHARE)
            if self.space.n_items < 2 * n:
                return None
            last = np.maximum.reduceat(self.rows.D.indices, self.rows.D.indptr[:-1])
            leading = np.flatnonzero(last < n)  # items come in random order
            return self._part(leading, np.arange(n)), np.arange(n)
        chosen = self._some_rows()
        if chosen is None:
            return None
        items = np.unique(self.rows.D[chosen].indices).astype(np.int64)
        return self._part(chosen, items), items

    def _some_rows(self) -> IntArray | None:
        """Return rows at random, whole tasks; None where there are few."""
        m, p = self.rows.margin.size, self.space.n_coordinates
        n_slacks = self.rows.weight.size
        n = max(FEW_ROWS, ROWS_PER_COLUMN * p, m // SHARE) * n_slacks // m
        if n_slacks < 4 * n:
            return None
        is_in = np.zeros(n_slacks, bool)
        is_in[np.random.default_rng(0).permutation(n_slacks)[:n]] = True
        return np.flatnonzero(is_in if self.rows.task is None else is_in[self.rows.task])

    def _part(self, chosen: IntArray, items: IntArray) -> Problem:
        rows, task, weight = self.rows, None, self.rows.weight
        if rows.task is None:
            weight = weight[chosen]
        else:
            tasks, task = np.unique(rows.task[chosen], return_inverse=True)
            weight = weight[tasks]
        if weight.sum() > 0:
            weight = weight * (rows.weight.sum() / weight.sum())
        D = _columns(rows.D[chosen], items)
        part = Rows(D, rows.E[chosen], rows.margin[chosen], weight, task, rows.constant)
        return Problem(replace(self.risk, rows=part), self.space.at(items), self.C)


def _columns(D: sparse.csr_array, items: IntArray) -> sparse.csr_array:
    """Return D over some items; it has no entries elsewhere."""
    return sparse.csr_array((D.data, np.searchsorted(items, D.indices), D.indptr), shape=(D.shape[0], items.size))
