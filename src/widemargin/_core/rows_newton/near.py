"""Rows far from their margins are taken together: from a good start Newton need only look at the others.

Rows that all fall short have the hinge of their weighted mean; rows that are well within their margins have none. A
mean's hinge is never above the mean of the hinges: slopes of the small problem are slopes of the whole one, and what
they bound from below is the same number, whether a row has come to its margin since or not. The value from above is
computed from all rows. Over a Gram matrix this does not pay: copying a part of it costs as much as it saves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import numpy as np
from scipy import sparse

from .. import _csr, _rows
from ..comparisons import IntArray, Rows
from ..solution import Array
from .problem import Point, Problem
from .spaces import Columns, Vector

MOST = 0.6  # a larger share of near rows is not worth it
MOST_KNOWN = 0.25  # the same for rows of several items after a first solve: few steps are left, and each row is copied
FEWEST = 2000  # rows


class Far(NamedTuple):
    """Rows that fall short by far: their weights, zero for all other rows, and the sum of these."""

    weights: Array
    total: float

    def mean(self, values: Array) -> float:
        """Return the mean of the rows' values."""
        return float(self.weights @ values) / self.total

    def on_items(self, rows: Rows) -> Array:
        """Return the sum of the rows, as coefficients of the items."""
        return rows.pulled(self.weights)


@dataclass(frozen=True)
class Near:
    """A small problem: the near rows, then one for all that fall short by far, or one for each sign of the level."""

    problem: Problem
    start: Vector  # the function that the rows were seen from
    whole: Problem
    rows: IntArray
    far: list[Far]  # what the means are of

    def slopes(self, slope: Array) -> Array:
        """Return the slopes of all rows."""
        out = np.zeros(self.whole.rows.margin.size)
        for size, group in zip(slope[self.rows.size :], self.far, strict=True):
            out += (size / group.total) * group.weights
        out[self.rows] = slope[: self.rows.size]
        return out

    def seen(self, z: Array) -> Array:
        """Return what the values of all rows are in the small problem."""
        return _seen(z, self.rows, self.far)


def may_be_near(problem: Problem) -> bool:
    """Return whether some rows may stand for all: where they have hinges of their own, and X is dense."""
    rows, space = problem.rows, problem.space
    if problem.risk.loss.squared or rows.task is not None or rows.margin.size < FEWEST:
        return False
    return isinstance(space, Columns) and not sparse.issparse(space.X)


def near(problem: Problem, point: Point, radius: float, *, is_known: bool = False) -> Near | None:
    """Return the problem of the rows within a distance of their margins; None where it is not worth it or not exact."""
    rows = problem.rows
    if not may_be_near(problem):
        return None
    chosen, far = _split(rows, point.short, radius)
    most = MOST_KNOWN if is_known and not rows.is_single else MOST
    if chosen.size > most * rows.margin.size:
        return None
    E = np.column_stack([_seen(e, chosen, far) for e in rows.E.T] or [np.empty((chosen.size + len(far), 0))])
    weight = np.append(rows.weight[chosen], [group.total for group in far])
    small = Rows(rows.D, E, _seen(rows.margin, chosen, far), weight, constant=rows.constant)
    return _written_out(problem, point, small, chosen, far)


def _split(rows: Rows, short: Array, radius: float) -> tuple[IntArray, list[Far]]:
    """Return the rows within a distance of their margins, and those that fall short by more."""
    m = short.size
    sign = rows.E[:, 0] if rows.E.shape[1] else rows.weight
    chosen, up, down = np.empty(m, np.int64), np.empty(m), np.empty(m)
    n = _rows.split(short, rows.weight, sign, radius, chosen, up, down)
    far = [Far(c, float(c.sum())) for c in (up, down)]
    return chosen[:n].copy(), [group for group in far if group.total > 0.0]


def _seen(values: Array, chosen: IntArray, far: list[Far]) -> Array:
    return np.append(values[chosen], [group.mean(values) for group in far])


def _written_out(problem: Problem, point: Point, small: Rows, chosen: IntArray, far: list[Far]) -> Near:
    """Write the small problem out over the same columns: an item for each row."""
    rows, space = problem.rows, cast("Columns", problem.space)
    X = np.empty((small.margin.size, space.n_coordinates))
    _csr.times(rows.D.data, rows.D.indices, rows.D.indptr, chosen, space.X, X[: chosen.size])
    if far:
        X[chosen.size :] = space.pulled_each(np.stack([group.on_items(rows) / group.total for group in far]))
    small = replace(small, D=sparse.eye_array(len(X), format="csr"))
    part = replace(problem, risk=replace(problem.risk, rows=small), space=Columns(X))
    reach = small.margin - _seen(point.short, chosen, far) - small.shift(point.b)
    return Near(part, Vector(point.f.w, reach), problem, chosen, far)
