"""What the loops of `_codes` compute, in plain NumPy: their documentation and their oracle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .comparisons import IntArray


def dense(x: NDArray) -> IntArray:
    """Return the place of each value among the distinct ones."""
    return np.unique(x, return_inverse=True)[1].astype(np.int64)


def sort_levels(level: IntArray, group: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the items by (group, level descending, index), and where the worse items of each begin and end."""
    order = np.lexsort((-level, group)).astype(np.int64)
    g, v = group[order], level[order]
    same = g[:, None] == g
    size = np.cumsum(same, axis=1)[:, -1:]
    begin = np.argmax(same, axis=1)[:, None]
    at_least = np.sum(same & (v >= v[:, None]), axis=1, keepdims=True)
    return order, (begin + at_least).ravel(), (begin + size).ravel()


def ranks(level: IntArray, group: IntArray) -> tuple[IntArray, IntArray]:
    """Return the level of each sorted item counted from 0 in its group, and where groups begin."""
    order = np.lexsort((-level, group))
    rank = np.concatenate([dense(level[order][group[order] == g]) for g in np.unique(group)])
    return rank, np.unique(group[order], return_index=True)[1]
