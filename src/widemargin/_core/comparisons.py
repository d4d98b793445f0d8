"""Who is compared with whom: explicit rows, or levels within groups whose pairs stay implicit.

A row asks `u[better] - u[worse] (+ free levels) >= margin - slack`. The bias and the tie width are *free levels*:
columns after the items' own, which the regulariser does not see. Larger utility means preferred, everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from . import _codes
from .pool import Pool, room
from .solution import Array

SPARSE = 16  # counters per item up to which items are sorted by counting
MANY = 200_000  # items that two threads sort, each its half
IntArray: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """Explicit comparisons: D u + E b >= margin - slack[task].

    `weight` has one entry per slack: per row where `task` is None, else per task.
    `constant` is a loss that no model can avoid; it is part of the paper's objective.
    """

    D: sparse.csr_array  # (m, n_items)
    E: Array  # (m, n_free)
    margin: Array  # (m,)
    weight: Array  # (m,) or (n_tasks,)
    task: IntArray | None = None
    constant: float = 0.0

    @property
    def shape(self) -> tuple[int, int]:
        """Return (number of rows, number of items)."""
        return self.D.shape

    @cached_property
    def adjoint(self) -> sparse.csc_array:
        """Return D', made once: SciPy takes longer to wrap it than to multiply a few thousand rows."""
        return self.D.T

    @cached_property
    def is_plain(self) -> bool:
        """Return whether D is the identity: every row speaks of an item of its own."""
        m, n = self.shape
        is_diagonal = m == n == self.D.nnz and bool(np.all(self.D.indices == np.arange(m)))
        return is_diagonal and bool(np.all(self.D.data == 1.0))

    @cached_property
    def is_single(self) -> bool:
        """Return whether every row speaks of one item, its own or not."""
        return bool(np.all(np.diff(self.D.indptr) == 1))

    def times(self, u: Array) -> Array:
        """Return D u; SciPy takes longer to begin than a few rows take."""
        if self.is_plain:
            return u
        return self.D.data * u[self.D.indices] if self.is_single else self.D @ u

    def pulled(self, a: Array) -> Array:
        """Return D'a."""
        if self.is_plain:
            return a
        if self.is_single:
            return np.bincount(self.D.indices, self.D.data * a, minlength=self.D.shape[1]).astype(float, copy=False)
        return self.adjoint @ a

    def shift(self, b: Array) -> Array:
        """Return E b."""
        return self.E[:, 0] * b[0] if b.size == 1 else self.E @ b

    @cached_property
    def merged(self) -> Rows:
        """Return each comparison once, with the weight of all its repetitions; tasks stay as they are."""
        m, n = self.shape
        if self.task is not None or self.D.nnz != 2 * m or m <= n:
            return self
        ends = self.D.indices.reshape(m, 2).astype(np.int64) @ [n, 1]
        if np.count_nonzero(np.diff(np.sort(ends))) > 0.8 * m:  # too few repetitions to pay for a sort by all keys
            return self
        keys = [*self.D.data.reshape(m, 2).T, *self.E.T, self.margin, ends]
        order = np.lexsort(keys)
        new = np.any([np.diff(key[order], prepend=np.nan) != 0 for key in keys], axis=0)
        start = np.flatnonzero(new)
        first, weight = order[start], np.add.reduceat(self.weight[order], start)
        return Rows(self.D[first], self.E[first], self.margin[first], weight, constant=self.constant)

    def subset(self, keep: NDArray[np.bool_]) -> Rows:
        """Return the chosen rows; each has its own slack."""
        return Rows(self.D[keep], self.E[keep], self.margin[keep], self.weight[keep])


@dataclass(frozen=True)
class Levels:
    """Implicit comparisons: every pair of different level within a group, weighted by the product of weights.

    Items are sorted by (group, level descending, index): group j is `order[starts[j]:starts[j + 1]]`, and the
    partners that item `order[k]` beats are the contiguous range `order[first[k]:last[k]]`.
    """

    weight: Array  # (n,), of any stride
    order: IntArray  # (n,) sorted position -> item
    rank: IntArray  # (n,) by sorted position: the level counted from 0 in its group
    starts: IntArray  # (n_groups + 1,) where each group begins, and the end
    is_sorted: bool  # groups lie one after the other

    @property
    def n_items(self) -> int:
        """Return the number of items."""
        return self.order.size

    @property
    def level(self) -> IntArray:
        """Return the level of each item, counted from 0 in its group."""
        out = np.empty_like(self.order)
        out[self.order] = self.rank
        return out

    @property
    def group(self) -> IntArray:
        """Return the group of each item."""
        out = np.empty_like(self.order)
        out[self.order] = np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))
        return out

    @cached_property
    def first(self) -> IntArray:
        """Return for each sorted position the start of the worse items of its group."""
        ends, sizes = self.runs
        return np.repeat(ends, sizes)

    @cached_property
    def last(self) -> IntArray:
        """Return for each sorted position the end of its group."""
        return np.repeat(self.starts[1:], np.diff(self.starts))

    @cached_property
    def spans(self) -> tuple[IntArray, IntArray]:
        """Return the first and the last item of each group."""
        starts = self.starts[:-1]
        if self.is_sorted:
            return starts, self.starts[1:] - 1
        return np.minimum.reduceat(self.order, starts), np.maximum.reduceat(self.order, starts)

    @cached_property
    def runs(self) -> tuple[IntArray, IntArray]:
        """Return the ends and the sizes of the runs of sorted items of one group and one level."""
        return self.run_ends, np.diff(self.run_ends, prepend=0)

    @property
    def run_ends(self) -> IntArray:
        """Return the ends of these runs alone."""
        return self._counted[0]

    @cached_property
    def _counted(self) -> tuple[IntArray, int]:
        """Return where runs end, and the number of pairs."""
        ends = np.empty(int(self.n_levels.sum()), np.int64)
        return ends, _codes.level_runs(self.rank, self.starts, ends)

    @property
    def n_levels(self) -> IntArray:
        """Return how many levels each group has."""
        return self.rank[self.starts[:-1]] + 1

    @property
    def n_pairs(self) -> int:
        """Return the number of pairs, a Python integer: it may exceed 2^31."""
        return self._counted[1]

    @property
    def is_plain(self) -> bool:
        """Return whether all items weigh 1: one number may stand for all."""
        return bool(np.all(self.weight[:1] == 1.0) and (self.weight.strides == (0,) or np.all(self.weight == 1.0)))

    @cached_property
    def total_weight(self) -> float:
        """Return the sum of the pairs' weights."""
        if self.is_plain:
            return float(self.n_pairs)
        weight = self.weight[self.order]
        reach = np.concatenate([[0.0], np.cumsum(weight)])
        return float(weight @ (reach[self.last] - reach[self.first]))

    def pairs(self) -> tuple[IntArray, IntArray]:
        """Return all pairs written out: (better items, worse items)."""
        sizes = self.last - self.first
        better = np.repeat(self.order, sizes)
        offset = np.arange(better.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return better, self.order[np.repeat(self.first, sizes) + offset]

    def rows(self) -> Rows:
        """Return all pairs as explicit rows of margin 1."""
        better, worse = self.pairs()
        return Rows(
            D=_differences(better, worse, self.n_items),
            E=np.zeros((better.size, 0)),
            margin=np.ones(better.size),
            weight=self.weight[better] * self.weight[worse],
        )


def from_levels(level: IntArray, group: IntArray, weight: Array, *, n_threads: int = 1) -> Levels:
    """Compare every two items of different level in the same group: 000 (4), 004 (85)."""
    n_levels, n_groups = (int(codes.max(initial=0)) + 1 for codes in (level, group))
    if max(n_levels, n_groups) > SPARSE * (level.size + 1):  # of a small part of the data: made dense first
        level, group = (np.unique(codes, return_inverse=True)[1] for codes in (level, group))
        return from_levels(level, group, weight)
    starts = starts_of(group)
    if starts is not None:
        return from_runs(level, starts, weight, n_threads=n_threads)
    starts, order, rank = np.empty(n_groups + 1, np.int64), np.empty_like(group), np.empty_like(level)
    at = _codes.sort_levels(level, group, n_levels, n_groups, order, rank, starts)
    return Levels(weight, order, rank, starts[at:], is_sorted=False)


def starts_of(group: IntArray) -> IntArray | None:
    """Return where groups begin that lie one after the other, and the end; None where they do not."""
    starts = np.empty(group.size + 1, np.int64)  # memory that is not written to costs nothing
    n = _codes.runs(group, starts)
    return starts[: n + 1].copy() if n > 0 else None


def from_runs(value: NDArray, starts: IntArray, weight: Array, *, n_threads: int = 1) -> Levels:
    """Compare every two items of different value in the same group, of groups that lie one after the other.

    Values are int64 or float64, and finite.
    """
    order, rank = room(value.size, np.int64, n_threads), room(value.size, np.int64, n_threads)
    middle, n_groups = int(np.searchsorted(starts, value.size // 2)), starts.size - 1
    halves = [slice(0, middle + 1), slice(middle, n_groups + 1)]
    if n_threads == 1 or value.size < MANY or not 0 < middle < n_groups:
        _codes.sort_runs(value, starts, order, rank)
    else:
        Pool(2).map(lambda groups: _codes.sort_runs(value, starts[groups], order, rank), halves)
    return Levels(weight, order, rank, starts, is_sorted=True)


def from_pairs(first: IntArray, second: IntArray, weight: Array, n_items: int) -> Rows:
    """Ask that each first item beats its second by 1: 002 (3)."""
    m = first.size
    return Rows(_differences(first, second, n_items), np.zeros((m, 0)), np.ones(m), weight)


def from_ties_as_margin(first: IntArray, second: IntArray, y: IntArray, weight: Array, n_items: int) -> Rows:
    """Separate significant from insignificant differences: the flipped problem 002 (8), level beta."""
    won, tied = y != 0, y == 0
    better, worse = np.where(y < 0, second, first), np.where(y < 0, first, second)
    a = np.concatenate([better[won], second[tied], first[tied]])
    b = np.concatenate([worse[won], first[tied], second[tied]])
    significant = np.repeat([1.0, -1.0], [won.sum(), 2 * tied.sum()])
    # an insignificant row asks -(beta + s) >= 1: the same row with a and b swapped
    return Rows(
        D=_differences(a, b, n_items),
        E=significant[:, None],
        margin=np.ones(a.size),
        weight=np.concatenate([weight[won], weight[tied], weight[tied]]),
    )


def from_ties_both_ways(
    first: IntArray, second: IntArray, y: IntArray, weight: Array, n_items: int, *, closed_form: bool
) -> Rows:
    """Enter every pair as two inequalities, ties in both directions: rank2 of 002, Table 2.

    For the hinge, hinge(1 - s) + hinge(1 + s) = 2 + max(0, |s| - 1): with `closed_form` a tie becomes
    two rows of margin -1, at most one of them ever active, and the constant 2.
    """
    won, tied = y != 0, y == 0
    better, worse = np.where(y < 0, second, first), np.where(y < 0, first, second)
    a = np.concatenate([better[won], first[tied], second[tied]])
    b = np.concatenate([worse[won], second[tied], first[tied]])
    margin = np.repeat([1.0, -1.0 if closed_form else 1.0], [won.sum(), 2 * tied.sum()])
    return Rows(
        D=_differences(a, b, n_items),
        E=np.zeros((a.size, 0)),
        margin=margin,
        weight=np.concatenate([2.0 * weight[won], weight[tied], weight[tied]]),
        constant=2.0 * float(weight[tied].sum()) if closed_form else 0.0,
    )


def from_choices(
    chosen: IntArray, other: IntArray, task: IntArray, weight: Array, n_items: int, *, shared_slack: bool
) -> Rows:
    """Ask that the chosen item beats each other of its set: 003 (6) with one slack per task, or one per pair.

    `weight` is per task with `shared_slack`, else per pair.
    """
    rows = from_pairs(chosen, other, weight, n_items)
    return Rows(rows.D, rows.E, rows.margin, weight, task if shared_slack else None)


def from_classes(sign: Array, weight: Array) -> Rows:
    """Separate two classes with a bias: 004 (35)-(36)."""
    n = sign.size
    D = sparse.csr_array((sign, np.arange(n), np.arange(n + 1)), shape=(n, n))
    return Rows(D, sign[:, None].copy(), np.ones(n), weight)


def from_targets(y: Array, epsilon: float, weight: Array, item: IntArray | None = None, n_items: int = 0) -> Rows:
    """Keep f(x) + b within epsilon of y, from below and from above: 004 (60)-(63); of an item for each y, or of few."""
    n = y.size
    item, n_items = (np.arange(n), n) if item is None else (item, n_items)
    sign = np.repeat([1.0, -1.0], n)
    D = sparse.csr_array((sign, np.tile(item, 2), np.arange(2 * n + 1)), shape=(2 * n, n_items))
    return Rows(D, sign[:, None].copy(), sign * np.tile(y, 2) - epsilon, np.tile(weight, 2))


def _differences(better: IntArray, worse: IntArray, n_items: int) -> sparse.csr_array:
    """Return the matrix with +1 at `better` and -1 at `worse` in each row; 0 twice where both are the same item."""
    m, is_same = better.size, better == worse
    entries = np.tile([1.0, -1.0], (m, 1))
    entries[is_same] = 0.0
    columns = np.column_stack([better, np.where(is_same, (worse + 1) % n_items, worse)])
    return sparse.csr_array((entries.ravel(), columns.ravel(), 2 * np.arange(m + 1)), shape=(m, n_items))
