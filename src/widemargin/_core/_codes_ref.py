"""What the loops of `_codes` compute, in plain NumPy: their documentation and their oracle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .comparisons import IntArray


def dense(x: NDArray) -> IntArray:
    """Return the place of each value among the distinct ones."""
    return np.unique(x, return_inverse=True)[1].astype(np.int64)


def sort_levels(level: IntArray, group: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the items by (group, level descending, index), their level counted from 0 in its group, and the bounds."""
    order = np.lexsort((-level, group)).astype(np.int64)
    g, v = group[order], level[order]
    rank = np.concatenate([dense(v[g == one]) for one in np.unique(g)])
    return order, rank, np.append(np.unique(g, return_index=True)[1], g.size)


def level_runs(rank: IntArray, starts: IntArray) -> IntArray:
    """Return where the runs of sorted items of one group and one level end."""
    is_bound = np.append(np.diff(rank, prepend=-1) != 0, True)
    is_bound[starts] = True
    return np.flatnonzero(is_bound)[1:].astype(np.int64)


def runs(x: IntArray) -> IntArray | None:
    """Return where runs of equal numbers begin, and the end; None where they do not ascend."""
    change = np.diff(x)
    return None if np.any(change < 0) else np.concatenate([[0], np.flatnonzero(change) + 1, [x.size]])
