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


def draw_groups(levels: Levels, groups: IntArray, share: float, rng: np.random.Generator) -> Drawn:
    """Draw whole groups until they have a share of the items of all.

    A group of one level has no pairs and is left out. A level that outnumbers the others of its group is thinned where
    enough remains: its many items meet the same few, so that more groups tell more. Each kept item then weighs more;
    a pair has one item of it at most, so that the sum over pairs is right on average.
    """
    if groups.size == 0:
        none = np.zeros(0, np.int64)
        return Drawn(none, none, np.zeros(0), is_even=True)
    ends, lengths = levels.runs
    sizes, of = np.diff(levels.starts), levels.group_of_run
    others, n_items = sizes[of] - lengths, share * sizes[groups].sum()
    kept = np.minimum(lengths, SURPLUS * others)
    per_group = np.bincount(of, kept, sizes.size)
    if per_group[groups].sum() < n_items:
        kept = np.where(others > 0, lengths, 0)
        per_group = np.bincount(of, kept, sizes.size)
    useful = groups[per_group[groups] > 0]
    chosen = rng.permutation(useful)
    chosen = chosen[: np.searchsorted(np.cumsum(per_group[chosen]), n_items) + 1]
    counts = per_group[chosen].astype(np.int64)
    # a pair's weight is a product: each item carries the root of (pairs there are / pairs drawn)
    boost = np.sqrt(sizes[useful].sum() / max(1, sizes[chosen].sum()))
    if np.array_equal(counts, sizes[chosen]):
        return Drawn(ranges(levels.starts[chosen], counts), counts, np.full(counts.sum(), boost), is_even=True)
    first = np.searchsorted(of, chosen)
    runs = ranges(first, np.searchsorted(of, chosen, side="right") - first)
    length, n = lengths[runs], kept[runs]
    # every so many items from a random one on: in whatever order they lie, each is as likely
    steps = ranges(np.zeros_like(n), n) + np.repeat(rng.random(n.size), n)
    ratio = np.repeat(length / np.maximum(n, 1), n)
    positions = np.repeat(ends[runs] - length, n) + (steps * ratio).astype(np.int64)
    return Drawn(positions, counts, boost * ratio, is_even=False)


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
