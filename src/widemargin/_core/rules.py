"""Decisions from utilities: levels, thresholds, labels, ties, the best of a set. Pure functions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .comparisons import IntArray, Rows
from .losses import Loss
from .solution import Array

FLAT = 1e-7  # a slope below this share of the total weight is zero: the optimal levels form an interval
MANY = 4096  # targets of which not all are sorted
NEWTON_STEPS = 30  # towards a level that squared slacks have; beyond, the targets are sorted after all
SAME = 1e-9  # utilities closer than this share of the largest are equal
ON_MARGIN = 1e-6  # utilities are trusted to this when a margin of 1 is tested


def best_levels(rows: Rows, z: Array, C: float, loss: Loss, around: tuple[float, float] | None = None) -> Array:
    """Return the level that is best for the differences z: the middle of the optimal interval.

    `around` are bounds that most likely hold it, in their middle: they save a sort.
    """
    if rows.E.shape[1] == 0:
        return np.zeros(0)
    e = rows.E[:, 0]
    target = (rows.margin - z) / e
    if np.isinf(C) or loss.squared:
        weight = np.ones(z.size) if np.isinf(C) else rows.weight * e**2
        low, high = _squared_interval(target, e, weight, around)
    else:
        low, high = level_interval(target, e, rows.weight * np.abs(e), around)
    return np.array([_middle(low, high)])


def level_interval(
    target: Array, e: Array, weight: Array, around: tuple[float, float] | None = None
) -> tuple[float, float]:
    """Return the minimisers b of sum_{e>0} weight (target - b)_+ + sum_{e<0} weight (b - target)_+."""
    first, flat = -float(weight @ (e > 0)), FLAT * float(np.sum(weight))
    if target.size > MANY:
        found = None if around is None else _flat_part(target, weight, first, flat, *around)
        found = found or _flat_part(target, weight, first, flat, *_around(target, weight, first))
        if found is not None:
            return found
    return _flat_part(target, weight, first, flat, -np.inf, np.inf) or (-np.inf, np.inf)


def _around(target: Array, weight: Array, first: float) -> tuple[float, float]:
    """Return bounds that most likely hold the zero of the slope, from a part of the targets."""
    step = target.size // (MANY // 4)
    some, heavy = target[::step], weight[::step]
    order = np.argsort(some)
    k = int(np.searchsorted(np.cumsum(heavy[order]), -first * float(np.sum(heavy)) / float(np.sum(weight))))
    few = 2 * int(np.sqrt(some.size))
    return float(some[order[max(0, k - few)]]), float(some[order[min(some.size - 1, k + few)]])


def _flat_part(
    target: Array, weight: Array, first: float, flat: float, low: float, high: float
) -> tuple[float, float] | None:
    """Return where the slope, `first` at the far left, is zero; None where that is not between two bounds."""
    inside = np.flatnonzero((target >= low) & (target <= high))
    inside = inside[np.argsort(target[inside], kind="stable")]
    before = first + float(weight @ (target < low))
    slope = np.concatenate([[before], before + np.cumsum(weight[inside])])
    bounds = np.concatenate([[-np.inf], target[inside], [np.inf]])
    k = int(np.argmax(slope >= -flat))
    end = k + 1 if abs(slope[k]) <= flat else k
    is_whole = low == -np.inf and high == np.inf
    if not is_whole and (slope[k] < -flat or k == 0 or end > inside.size):
        return None
    return float(bounds[k]), float(bounds[end])


def _squared_interval(
    target: Array, e: Array, weight: Array, around: tuple[float, float] | None = None
) -> tuple[float, float]:
    """Return the minimisers of the squared version; where no loss remains, the whole interval."""
    low, high = np.max(target[e > 0], initial=-np.inf), np.min(target[e < 0], initial=np.inf)
    if low <= high:
        return float(low), float(high)
    if target.size > MANY:
        begin = 0.5 * (around[0] + around[1]) if around is not None else float(weight @ target / weight.sum())
        found = _squared_level(target, e < 0, weight, begin)
        if found is not None:
            return found, found
    order = np.argsort(target, kind="stable")
    t, c, below = target[order], weight[order], (e < 0)[order]
    n_left, s_left = np.cumsum(c * below), np.cumsum(c * below * t)  # e < 0 rows left of b pull down
    n_right = np.sum(c * ~below) - np.cumsum(c * ~below)  # e > 0 rows right of b pull up
    s_right = np.sum(c * ~below * t) - np.cumsum(c * ~below * t)
    derivative = n_left * t - s_left - (s_right - n_right * t)
    k = max(int(np.argmax(derivative >= 0)) - 1, 0)
    b = (s_left[k] + s_right[k]) / (n_left[k] + n_right[k])
    return float(b), float(b)


def _squared_level(target: Array, below: NDArray[np.bool_], weight: Array, b: float) -> float | None:
    """Return the minimiser by Newton's method, which is exact once the same rows pull twice; None where it is not."""
    last = None
    for _ in range(NEWTON_STEPS):
        pulls = (target < b) == below
        if last is not None and np.array_equal(pulls, last):
            return b
        size = float(weight @ pulls)
        if size <= 0.0:
            return None
        b, last = float((weight * pulls) @ target) / size, pulls
    return None


def _middle(low: float, high: float) -> float:
    """Return the midpoint, or the finite end."""
    if np.isinf(low) or np.isinf(high):
        return high if np.isinf(low) and np.isfinite(high) else low if np.isfinite(low) else 0.0
    return 0.5 * (low + high)


def thresholds(u: Array, items: list[IntArray], weight: Array, *, closest_pair: bool, blur: float = 0.0) -> Array:
    """Return monotone cuts between neighbouring levels, the items of each given: 000 (12), or the fewest errors.

    `blur` says how far utilities of size 1 may be from the optimum's; a margin of 1 is tested to that.
    """
    by_level, slack = [np.sort(u[those]) for those in items], max(ON_MARGIN, blur)
    cuts, errors, is_low = np.empty(len(items) - 1), None, np.zeros(u.size, bool)
    for k in range(cuts.size):
        is_low[items[k]] = True
        cut = _closest_pair(by_level[k], by_level[k + 1], slack) if closest_pair else None
        if cut is None:
            errors = errors or _Errors.of(u, weight)
            cut = errors.fewest(is_low)
        cuts[k] = cut
    return _beside(pooled(cuts), u)


def _beside(cuts: Array, u: Array) -> Array:
    """Return the cuts, above the utilities that they equal but for rounding: those are below whatever it says."""
    same = SAME * float(np.max(np.abs(u), initial=0.0))
    is_on = [bool(np.any(np.abs(u - cut) <= same)) for cut in cuts]
    return np.maximum.accumulate(np.where(is_on, cuts + 2.0 * same, cuts))


def _closest_pair(lower: Array, upper: Array, slack: float) -> float | None:
    """Return the middle between the closest objects of two neighbouring ranks, ascending, with margin at least 1.

    Among pairs within `slack` of the smallest difference: the middle between the lowest and the highest midpoint.
    """
    first = upper.searchsorted(lower + (1.0 - slack))
    n = int(first.searchsorted(upper.size))  # the lowest ones have a partner
    if n == 0:
        return None
    difference = upper[first[:n]] - lower[:n]
    most = difference.min() + slack
    near = np.flatnonzero(difference <= most)
    a, b = near[0], near[-1]  # all ascend: the lowest midpoint is of the first, the highest of the last
    last = max(int(upper.searchsorted(lower[b] + most, side="right")) - 1, int(first[b]))
    return float(0.25 * (lower[a] + upper[first[a]] + lower[b] + upper[last]))


class _Errors(NamedTuple):
    """Utilities in their order, for cuts with the fewest errors."""

    order: IntArray
    v: Array  # ascending
    last: NDArray[np.bool_]  # of equal ones: a cut at v keeps all items with u <= v below it
    weight: Array

    @classmethod
    def of(cls, u: Array, weight: Array) -> _Errors:
        """Sort the utilities."""
        order = np.argsort(u)
        v = u[order]
        return cls(order, v, np.append(np.diff(v) > SAME * np.abs(v).max(), True), weight)

    def fewest(self, is_low: NDArray[np.bool_]) -> float:
        """Return the middle of the lowest interval of cuts with the least weight of misplaced items."""
        change = np.where(is_low, -self.weight, self.weight)[self.order]
        none = self.weight[is_low].sum()
        errors = np.concatenate([[none], (none + np.cumsum(change))[self.last]])
        edges = np.concatenate([[self.v[0] - 1.0], self.v[self.last], [np.inf]])  # below all items: one margin away
        return _middle(*_lowest_run(-errors / self.weight.sum(), edges))


def pooled(cuts: Array) -> Array:
    """Return the nearest non-decreasing sequence, by pooling adjacent violators."""
    means: list[float] = []
    sizes: list[int] = []
    for cut in cuts:
        means.append(float(cut))
        sizes.append(1)
        while len(means) > 1 and means[-2] > means[-1]:
            total = sizes[-2] + sizes[-1]
            means[-2:] = [(sizes[-2] * means[-2] + sizes[-1] * means[-1]) / total]
            sizes[-2:] = [total]
    return np.repeat(means, sizes)


def by_thresholds(u: Array, cuts: Array) -> IntArray:
    """Return the level k with cuts[k - 1] < u <= cuts[k]."""
    return np.searchsorted(cuts, u, side="left").astype(np.int64)


def tie_threshold(s: Array, y: IntArray, weight: Array) -> float:
    """Return the exact best tau of 002 (6): predict 0 iff |s| <= tau; the middle of the lowest optimal interval."""
    right = np.where(y == 0, weight, np.where(np.sign(s) == y, -weight, 0.0))  # gain of calling a tie
    size = np.abs(s)
    order = np.argsort(size, kind="stable")
    v = size[order]
    last = np.append(np.diff(v) > SAME * v[-1], True)  # pairs on the margin have equal |s|: rounding must not decide
    gain = np.concatenate([[0.0], np.cumsum(right[order])[last]])
    edges = np.concatenate([[-np.inf], v[last], [np.inf]])
    if v[0] == 0.0:  # tau >= 0 always calls s = 0 a tie
        gain, edges = gain[1:], edges[1:]
    else:
        edges[0] = 0.0
    low, high = _lowest_run(gain / weight.sum(), edges)
    return float(v[-1]) if np.isinf(high) else _middle(low, high)


def _lowest_run(gain: Array, edges: Array) -> tuple[float, float]:
    """Return the ends of the lowest run of neighbouring segments that share the largest gain."""
    best = gain >= gain.max() - 1e-12
    k = int(np.argmax(best))
    end = k + int(np.argmin(np.append(best[k:], False)))
    return float(edges[k]), float(edges[end])


def tie_zone(s: Array, tau: float) -> IntArray:
    """Return +1, 0, -1: 0 iff |s| <= tau, 002 (4)."""
    return np.where(np.abs(s) <= tau, 0, np.sign(s)).astype(np.int64)


def argmax_in_groups(u: Array, group: IntArray) -> IntArray:
    """Return the position of the largest u of each group, groups in order of first appearance; ties: the first."""
    order = np.lexsort((np.arange(u.size), -u, group))
    first = np.concatenate([[True], group[order][1:] != group[order][:-1]])
    appearance = np.unique(group, return_index=True)[1]
    return order[first][np.argsort(appearance)].astype(np.int64)


def rank_in_groups(u: Array, group: IntArray) -> IntArray:
    """Return 1 for the best of each group; equal utilities share the smallest rank."""
    order = np.lexsort((-u, group))
    g, v = group[order], u[order]
    position = np.arange(u.size)
    new_group = np.concatenate([[True], g[1:] != g[:-1]])
    new_value = new_group | np.concatenate([[True], v[1:] != v[:-1]])
    start = np.maximum.accumulate(np.where(new_group, position, 0))
    value_start = np.maximum.accumulate(np.where(new_value, position, 0))
    rank = np.empty(u.size, dtype=np.int64)
    rank[order] = value_start - start + 1
    return rank
