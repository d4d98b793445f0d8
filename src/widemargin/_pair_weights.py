"""The weight of the pairs that utilities order as the grades do, query by query, without a list of pairs."""

import numpy as np


def pair_weights(y, u, group, weight):
    """Return for each query the weight of the pairs of different y that u orders right, that u ties, and of all.

    `group` holds codes 0, 1, ...; integer weights give exact counts.
    """
    level, value = dense(y), dense(u)
    n = group.max() + 1
    total = _different_weight(group, level, weight, group, n)
    tied = _different_weight(group * (value.max() + 1) + value, level, weight, group, n)
    # pairs of one level, of one value or of two groups must not rise: the orders run against each other there
    order = np.lexsort((-value, level, group))
    rising = np.lexsort((-np.arange(order.size), value[order], -group[order]))
    return _sums(_rising_weight(rising, weight[order]), group[order], n), tied, total


def _different_weight(outer, inner, weight, group, n):
    """Return by group the weight of the pairs with the same `outer` (which lies within a group), other `inner`."""
    order = np.lexsort((inner, outer))
    new_outer = np.append(True, np.diff(outer[order]) != 0)
    new_inner = np.append(True, np.diff(inner[order]) != 0) | new_outer
    before = np.append(0, np.cumsum(weight[order]))
    found = weight[order] * (before[run_start(new_inner)] - before[run_start(new_outer)])
    return _sums(found, group[order], n)


def _rising_weight(places, weight):
    """Return for each q the sum of weight[p] * weight[q] over p < q that stand before q in the permutation `places`.

    Merge sort upside down: at each level the aligned blocks of 2 * half places lie together, each in the
    permutation's order; right halves count the left ones before them, then each block is split, stably.
    """
    index, half = np.arange(places.size), 1 << (places.size - 1).bit_length() >> 1
    found = np.zeros_like(weight)
    while half:
        is_right, start, w = (places & half) != 0, places & (-2 * half), weight[places]
        before = np.append(0, np.cumsum(np.where(is_right, 0, w)))
        found[places] += np.where(is_right, w, 0) * (before[:-1] - before[start])
        n_left = np.append(0, np.cumsum(~is_right))
        n_left = n_left[:-1] - n_left[start]
        split = np.empty_like(places)
        split[np.where(is_right, index + half - n_left, start + n_left)] = places
        places, half = split, half >> 1
    return found


def _sums(values, group, n):
    """Return the sums by group, of integers exactly; `group` is sorted and every group has a value."""
    return np.add.reduceat(values, np.searchsorted(group, np.arange(n)))


def dense(values):
    """Return dense integer codes in the order of the values."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def run_start(is_start):
    """Return for each position where its run begins."""
    return np.maximum.accumulate(np.where(is_start, np.arange(is_start.size), 0))
