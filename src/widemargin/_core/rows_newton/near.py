"""Rows far from their margins are taken together: from a good start Newton need only look at the others.

Rows that all fall short have the hinge of their weighted mean; rows that are well within their margins have none. A
mean's hinge is never above the mean of the hinges: slopes of the small problem are slopes of the whole one, and what
they bound from below is the same number, whether a row has come to its margin since or not. The value from above is
computed from all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import numpy as np
from scipy import sparse

from .. import _rows
from ..comparisons import IntArray, Rows
from ..solution import Array
from .problem import Point, Problem
from .spaces import Coefficients, Columns, Gram, Vector

MOST = 0.6  # a larger share of near rows is not worth it
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
        return self.weights if rows.is_plain else rows.adjoint @ self.weights


@dataclass(frozen=True)
class Near:
    """A small problem: the near rows, then one for all rows that fall short by far, or one for each sign of the level.

    Over a Gram matrix its items are those of the near rows, then some functions: the means, and the start.
    """

    problem: Problem
    start: Vector  # the function that the rows were seen from
    whole: Problem
    rows: IntArray
    far: list[Far]  # what the means are of
    items: IntArray | None = None  # of the near rows, over a Gram matrix
    functions: tuple[Vector, ...] = ()  # there

    def weights(self, w: Array) -> Array:
        """Return the coordinates in the whole space."""
        if self.items is None:
            return w
        out = self.whole.space.spread(w[: self.items.size], self.items)
        for size, f in zip(w[self.items.size :], self.functions, strict=True):
            out += size * f.w
        return out

    def slopes(self, slope: Array) -> Array:
        """Return the slopes of all rows."""
        out = np.zeros(self.whole.rows.margin.size)
        for size, group in zip(slope[self.rows.size :], self.far, strict=True):
            out += (size / group.total) * group.weights
        out[self.rows] = slope[: self.rows.size]
        return out

    def given(self, slope: Array) -> Array:
        """Return slopes of all rows as those of the small problem."""
        return np.append(slope[self.rows], [group.total for group in self.far])

    def seen(self, z: Array) -> Array:
        """Return what the values of all rows are in the small problem."""
        return _seen(z, self.rows, self.far)


def near(problem: Problem, point: Point, radius: float) -> Near | None:
    """Return the problem of the rows within a distance of their margins; None where it is not worth it or not exact."""
    rows, space = problem.rows, problem.space
    if problem.risk.loss.squared or rows.task is not None or rows.margin.size < FEWEST:
        return None
    if sparse.issparse(space.X) if isinstance(space, Columns) else rows.D.nnz != rows.D.shape[0]:
        return None
    chosen, far = _split(rows, point.short, radius)
    if chosen.size > MOST * rows.margin.size:
        return None
    E = np.column_stack([_seen(e, chosen, far) for e in rows.E.T] or [np.empty((chosen.size + len(far), 0))])
    weight = np.append(rows.weight[chosen], [group.total for group in far])
    small = Rows(rows.D, E, _seen(rows.margin, chosen, far), weight, constant=rows.constant)
    return (_in_columns if isinstance(space, Columns) else _in_gram)(problem, point, small, chosen, far)


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


def _in_columns(problem: Problem, point: Point, small: Rows, chosen: IntArray, far: list[Far]) -> Near:
    """Write the small problem out over the same columns: an item for each row."""
    rows, space = problem.rows, cast("Columns", problem.space)
    X = np.empty((small.margin.size, space.n_coordinates), order="F")
    X[: chosen.size] = space.X[chosen] if rows.is_plain else rows.D[chosen] @ space.X
    for i, group in enumerate(far, chosen.size):
        X[i] = space.pulled(group.on_items(rows)) / group.total
    small = replace(small, D=_entries(np.arange(len(X)), np.ones(len(X)), len(X)))
    part = replace(problem, risk=replace(problem.risk, rows=small), space=Columns(X))
    return Near(part, part.space.vector(point.f.w), problem, chosen, far)


def _in_gram(problem: Problem, point: Point, small: Rows, chosen: IntArray, far: list[Far]) -> Near:
    """Take the near rows' items, and the functions that matter besides."""
    rows, space = problem.rows, cast("Coefficients", problem.space)
    items, place = np.unique(rows.D.indices[chosen], return_inverse=True)
    place = np.append(place, items.size + np.arange(len(far)))
    functions = (*(space.vector(group.on_items(rows) / group.total) for group in far), point.f)
    gram = _with_functions(space, items, functions)
    sign = np.append(rows.D.data[chosen], np.ones(len(far)))
    small = replace(small, D=_entries(place, sign, gram.n_items))
    start = np.zeros(gram.n_items)
    start[-1] = 1.0
    part = replace(problem, risk=replace(problem.risk, rows=small), space=gram)
    return Near(part, gram.vector(start), problem, chosen, far, items, functions)


def _entries(place: IntArray, sign: Array, n: int) -> sparse.csr_array:
    """Return rows of one entry each."""
    m = place.size
    return sparse.csr_array((sign, place, np.arange(m + 1)), shape=(m, n))


def _with_functions(space: Coefficients, items: IntArray, functions: tuple[Vector, ...]) -> Gram:
    """Return the Gram matrix of some items and of a few functions."""
    n, k = items.size, len(functions)
    M = np.empty((n + k, n + k), space.dtype)
    M[:n, :n] = space.square(items)
    for j, f in enumerate(functions, n):
        M[j, :n] = M[:n, j] = f.u[items]
        M[j, n:] = [space.inner(other, f) for other in functions]
    return Gram([M])
