"""Kernels: the Gram matrix of the distinct differences that rows speak of, never of the rows themselves.

A tie is two rows of one difference, and so is a target; a comparison made often is one difference too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from ..comparisons import IntArray, Rows
from ..solution import Array
from .spaces import BLOCK, Gram

Against: TypeAlias = Callable[[IntArray], Callable[[IntArray], NDArray]]  # right items -> left items -> kernel values
TILE = 2 * BLOCK


class Differences(NamedTuple):
    """Distinct differences in random order, and the rows in terms of them."""

    ends: IntArray  # (n, 1 or 2): the first item less the second
    rows: Rows  # one entry a row: the sign with which it takes its difference
    n_items: int

    @property
    def size(self) -> int:
        """Return how many there are."""
        return len(self.ends)

    def gram(self, against: Against, dtype: DTypeLike) -> Gram:
        """Return the Gram matrix of the differences, in tiles that stay in the processor's cache."""
        starts = range(0, self.size, BLOCK)
        ends, stops = self.ends.T, [min(a + BLOCK, self.size) for a in starts]
        blocks = [np.empty((b - a, b), dtype) for a, b in zip(starts, stops, strict=True)]
        for c in range(0, self.size, TILE):
            values = [against(right[c : c + TILE]) for right in ends]
            for a, b, block in zip(starts, stops, blocks, strict=True):
                if b <= c:
                    continue
                tile = block[:, c : c + TILE]
                for i, left in enumerate(ends):
                    for j, of in enumerate(values):
                        part = of(left[a:b])[:, : tile.shape[1]]
                        if i == j == 0:
                            tile[:] = part
                        else:
                            (np.add if i == j else np.subtract)(tile, part, out=tile)
        return Gram(blocks)

    def on_items(self, w: Array) -> Array:
        """Return coefficients of items from those of differences."""
        out = np.bincount(self.ends[:, 0], w, minlength=self.n_items).astype(float)
        return out - np.bincount(self.ends[:, 1], w, minlength=self.n_items) if self.ends.shape[1] == 2 else out


def distinct_differences(rows: Rows) -> Differences:
    """Return the distinct differences of rows that have one entry each, or two: +1 and -1."""
    m, n = rows.shape
    width = rows.D.nnz // max(m, 1)
    ends = rows.D.indices.reshape(m, width).astype(np.int64)
    sign = rows.D.data.reshape(m, width)[:, 0].copy()
    if width == 2:
        sign[ends[:, 0] > ends[:, 1]] *= -1.0
        ends = np.sort(ends, axis=1)
    distinct, which = np.unique(ends @ (n ** np.arange(width)[::-1]), return_inverse=True)
    shuffled = np.random.default_rng(0).permutation(distinct.size)
    place = np.empty_like(shuffled)
    place[shuffled] = np.arange(distinct.size)
    D = sparse.csr_array((sign, place[which], np.arange(m + 1)), shape=(m, distinct.size))
    listed = distinct[shuffled]
    pairs = listed[:, None] if width == 1 else np.column_stack([listed // n, listed % n])
    return Differences(pairs.astype(np.int64), replace(rows, D=D), n)


def shuffled_items(rows: Rows) -> Differences:
    """Return the items themselves in random order: where there are more differences than items."""
    n = rows.shape[1]
    shuffled = np.random.default_rng(0).permutation(n)
    place = np.empty_like(shuffled)
    place[shuffled] = np.arange(n)
    D = sparse.csr_array((rows.D.data, place[rows.D.indices], rows.D.indptr), shape=rows.D.shape)
    return Differences(shuffled[:, None].astype(np.int64), replace(rows, D=D), n)
