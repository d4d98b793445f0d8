"""Groups drawn at random to stand for all, without what tells little about the pairs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .comparisons import IntArray, Levels
from .solution import Array

PIECE = 256  # items of a large group, at least: fewer have few pairs
SURPLUS = 4  # items of a level for each item of another level in its group: more of them are thinned


class Drawn(NamedTuple):
    """Positions of items of some groups, group by group."""

    positions: IntArray
    counts: IntArray  # by group
    factor: Array  # of the items' weights, so that the pairs stand for all
    is_even: bool  # each pair for as many others


class Runs(NamedTuple):
    """The runs of items of one level in some groups, in the order in which these are given."""

    ends: IntArray
    lengths: IntArray
    kept: IntArray  # how many items of each are
    counts: IntArray  # the same by group

    @classmethod
    def of(cls, levels: Levels, groups: IntArray, *, is_thinned: bool) -> Runs:
        """Look at these groups only."""
        n_levels = levels.n_levels
        each, first = n_levels[groups], np.cumsum(n_levels[groups]) - n_levels[groups]
        ends = levels.run_ends[ranges((np.cumsum(n_levels) - n_levels)[groups], each)]
        lengths = np.diff(ends, prepend=0)
        lengths[first] = ends[first] - levels.starts[groups]
        others = np.repeat(np.diff(levels.starts)[groups], each) - lengths
        kept = np.minimum(lengths, SURPLUS * others) if is_thinned else lengths
        return cls(ends, lengths, kept, np.add.reduceat(kept, first))


def draw_groups(levels: Levels, groups: IntArray, share: float, rng: np.random.Generator) -> Drawn:
    """Draw whole groups until they have a share of the items of all.

    A group of one level has no pairs and is left out. A level that outnumbers the others of its group is thinned where
    enough remains: its many items meet the same few, so that more groups tell more. Each kept item then weighs more;
    a pair has one item of it at most, so that the sum over pairs is right on average.
    """
    sizes = np.diff(levels.starts)
    useful = groups[levels.rank[levels.starts[groups]] > 0]
    if useful.size == 0:
        none = np.zeros(0, np.int64)
        return Drawn(none, none, np.zeros(0), is_even=True)
    chosen, runs = _enough(levels, rng.permutation(useful), share * sizes[groups].sum())
    n, counts = runs.kept, runs.counts
    # a pair's weight is a product: each item carries the root of (pairs there are / pairs drawn)
    boost = np.sqrt(sizes[useful].sum() / sizes[chosen].sum())
    if np.array_equal(counts, sizes[chosen]):
        return Drawn(ranges(levels.starts[chosen], counts), counts, np.full(counts.sum(), boost), is_even=True)
    # every so many items from a random one on: in whatever order they lie, each is as likely
    steps = ranges(np.zeros_like(n), n) + np.repeat(rng.random(n.size), n)
    ratio = np.repeat(runs.lengths / np.maximum(n, 1), n)
    positions = np.repeat(runs.ends - runs.lengths, n) + (steps * ratio).astype(np.int64)
    return Drawn(positions, counts, boost * ratio, is_even=False)


def _enough(levels: Levels, groups: IntArray, n_items: float) -> tuple[IntArray, Runs]:
    """Return the first groups that have so many items, and their runs: thinned, if all groups have enough of them then.

    Groups beyond are not looked at where these are enough.
    """
    sizes = np.diff(levels.starts)[groups]
    n = least = min(int(np.searchsorted(np.cumsum(sizes), n_items)) + 1, groups.size)
    while True:
        runs = Runs.of(levels, groups[:n], is_thinned=True)
        enough = int(np.searchsorted(np.cumsum(runs.counts), n_items)) + 1
        if enough == n:
            return groups[:n], runs
        is_thinned = enough < n
        if is_thinned or n == groups.size:
            chosen = groups[: enough if is_thinned else least]
            return chosen, Runs.of(levels, chosen, is_thinned=is_thinned)
        n = min(2 * n, groups.size)


def draw_large(levels: Levels, groups: IntArray, share: float, rng: np.random.Generator) -> Drawn:
    """Draw some items of each group, of more than one level, until they have a share of the items of all.

    Where that is less than a piece of each group, some groups are left out: every so many of them by size, so that
    what remains has small and large ones alike.
    """
    starts, rank = levels.starts, levels.rank
    groups = groups[rank[starts[groups]] > 0]  # positions begin with the best level
    sizes = np.diff(starts)[groups]
    n_items, of_all = share * sizes.sum(), np.sum(sizes**2.0)
    counts = np.minimum(sizes, np.maximum(PIECE, np.rint(share * sizes).astype(np.int64)))
    n = max(1, round(n_items / PIECE))
    if counts.sum() > 1.5 * n_items and n < groups.size:
        by_size = np.argsort(sizes, kind="stable")
        chosen = np.sort(by_size[((np.arange(n) + rng.random()) * (groups.size / n)).astype(np.int64)])
        groups, sizes, counts = groups[chosen], sizes[chosen], np.minimum(sizes[chosen], PIECE)
    each = [_some(rank[starts[g] : starts[g + 1]], n, rng) for g, n in zip(groups, counts, strict=True)]
    boost = np.sqrt(of_all / max(1.0, np.sum(sizes**2.0)))
    positions = np.concatenate([np.zeros(0, np.int64), *each]) + np.repeat(starts[groups], counts)
    return Drawn(positions, counts, np.repeat(boost * sizes / counts, counts), is_even=False)


def _some(rank: IntArray, n: int, rng: np.random.Generator) -> IntArray:
    """Return n places of a group at random; of one level alone they would have no pairs, and one is exchanged."""
    some = rng.choice(rank.size, size=n, replace=False)
    if np.ptp(rank[some]) == 0:
        some[0] = rng.choice(np.flatnonzero(rank != rank[some[0]]))
    return some


def ranges(starts: IntArray, sizes: IntArray) -> IntArray:
    """Return start, start + 1, ... of each size, one after the other."""
    return np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
