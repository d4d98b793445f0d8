"""Groups drawn at random to stand for all, without what tells little about the pairs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .comparisons import IntArray, Levels
from .solution import Array

SURPLUS = 4  # items of a level for each item of another level in its group: more of them are thinned


class Drawn(NamedTuple):
    """Sorted positions of the items of some groups, group by group."""

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
    if np.bincount(of, kept, sizes.size)[groups].sum() < n_items:
        kept = np.where(others > 0, lengths, 0)
    per_group = np.bincount(of, kept, sizes.size).astype(np.int64)
    useful = groups[per_group[groups] > 0]
    chosen = rng.permutation(useful)
    chosen = chosen[: np.searchsorted(np.cumsum(per_group[chosen]), n_items) + 1]
    first = np.searchsorted(of, chosen)
    runs = _ranges(first, np.searchsorted(of, chosen, side="right") - first)
    length, n = lengths[runs], kept[runs]
    # every so many items from a random one on: in whatever order they lie, each is as likely
    steps = _ranges(np.zeros_like(n), n) + np.repeat(rng.random(n.size), n)
    ratio = np.repeat(length / np.maximum(n, 1), n)
    positions = np.repeat(ends[runs] - length, n) + (steps * ratio).astype(np.int64)
    # a pair's weight is a product: each item carries the root of (pairs there are / pairs drawn)
    boost = np.sqrt(sizes[useful].sum() / max(1, sizes[chosen].sum()))
    return Drawn(positions, per_group[chosen], boost * ratio, bool(np.all(n == length)))


def _ranges(starts: IntArray, sizes: IntArray) -> IntArray:
    """Return start, start + 1, ... of each size, one after the other."""
    return np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
