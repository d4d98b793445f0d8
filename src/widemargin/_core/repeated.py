"""Rows that occur several times, found by a hash of their values and then by the values themselves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .comparisons import IntArray

MOST = 0.95  # share of the rows that may be different if the others are to be left out
SOME_ROWS = 4096
SEED = 20105


def first_copies(X: NDArray, *codes: IntArray) -> tuple[IntArray, IntArray] | None:
    """Return where each different row with its codes occurs first, ascending, and which of those each row is.

    None where nearly all are different.
    """
    hashed = _hashed([*codes, *X.T])
    if hashed is None:
        return None
    order = np.argsort(hashed, kind="stable")
    is_copy = np.zeros(order.size, dtype=bool)  # of the one before it in this order
    is_copy[1:] = hashed[order[1:]] == hashed[order[:-1]]
    for rows in np.array_split(np.flatnonzero(is_copy), 1 + order.size // SOME_ROWS):
        one, other = order[rows - 1], order[rows]
        is_copy[rows] = np.all(X[one] == X[other], axis=1) & np.all([c[one] == c[other] for c in codes], axis=0)
    first = order[~is_copy]
    which = np.empty(order.size, dtype=np.int64)
    which[order] = np.cumsum(~is_copy) - 1
    place = np.argsort(first)
    back = np.empty_like(place)
    back[place] = np.arange(place.size)
    return first[place], back[which]


def _hashed(columns: list[NDArray]) -> NDArray[np.uint64] | None:
    """Return a number of 64 bits for each row; None as soon as those of some columns tell nearly all rows apart.

    High bits, which small integers differ in, are mixed into the others.
    """
    out = np.zeros(columns[0].size, dtype=np.uint64)
    factors = np.random.default_rng(SEED).integers(0, 2**63, len(columns), dtype=np.uint64)
    for k, (factor, column) in enumerate(zip(factors, columns, strict=True), 1):
        out ^= _bits(column)
        out ^= out >> np.uint64(32)
        out *= factor * np.uint64(2) + np.uint64(1)
        out ^= out >> np.uint64(29)
        if k & (k - 1) == 0 or k == len(columns):  # a power of two: sorts are few
            ascending = np.sort(out)
            if 1 + np.count_nonzero(ascending[1:] != ascending[:-1]) > MOST * out.size:
                return None
    return out


def _bits(column: NDArray) -> NDArray[np.uint64]:
    """Return numbers of 64 bits, the same for the same values: -0.0 is 0.0, as which rounding leaves small ones."""
    if column.dtype.kind != "f":
        return column.astype(np.uint64)
    values = column + 0.0
    return values.view(np.uint32 if values.itemsize == 4 else np.uint64).astype(np.uint64)
