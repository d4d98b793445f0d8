"""Kernels: the Gram matrix of the distinct differences that rows speak of, never of the rows themselves.

A tie is two rows of one difference, and so is a target; a comparison made often is one difference too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from ..comparisons import IntArray, Rows
from ..lower_half import STRIP, LowerHalf
from ..solution import Array
from .spaces import Gram, Paired

# (right items, precision) -> (left items, memory at hand) -> kernel values
Against: TypeAlias = Callable[[IntArray, np.dtype], Callable[[IntArray, NDArray], NDArray]]
TILE_BYTES = 1 << 19  # of a tile: it stays in the second-level cache
FINE = 7000  # differences up to which float32 values have their rest beside them: 49 MB
KEPT = 4000  # differences up to which float64 values asked for twice are kept: 64 MB


class Differences(NamedTuple):
    """Distinct differences in random order, and the rows in terms of them."""

    ends: IntArray  # (n, 1 or 2): the first item less the second
    rows: Rows  # one entry a row: the sign with which it takes its difference
    n_items: int

    @property
    def size(self) -> int:
        """Return how many there are."""
        return len(self.ends)

    def gram(self, against: Against, dtype: DTypeLike, *, keep: int = 0, known: LowerHalf | None = None) -> Gram:
        """Return the Gram matrix of the differences; its exact products are computed anew where it is rounded.

        Several solves share the exact values of so many to `keep`: then those are `known` to the next.
        """
        if dtype == np.float64:
            return Gram(known or self.half(against))
        exact = LowerHalf.room(self.size, np.float64, STRIP) if self.size <= keep else None
        is_fine = exact is None and self.size <= FINE
        half = LowerHalf.room(self.size, dtype, STRIP, is_fine=is_fine)
        for a, c, tile in self.tiles(against, np.dtype(float if exact or is_fine else dtype)):
            half.put(a, c, tile)
            if exact:
                exact.put(a, c, tile)
        return Gram(half, _Products(self, against, half, exact), exact)

    def half(self, against: Against) -> LowerHalf:
        """Return the matrix in float64."""
        half = LowerHalf.room(self.size, np.float64, STRIP)
        for a, c, tile in self.tiles(against, np.dtype(np.float64)):
            half.put(a, c, tile)
        return half

    def paired(self, against: Against, dtype: DTypeLike, *, keep: int = 0) -> Paired:
        """Return the same matrix by way of the items', where those are fewer."""
        items = Differences(np.arange(self.n_items)[:, None], self.rows, self.n_items)
        gram = items.gram(against, dtype, keep=keep)
        K = gram.square(np.arange(self.n_items))
        if gram.products is None:
            return Paired(K, self.ends)
        exact, (first, second) = gram.products, self.ends.T

        def products(V: Array) -> Array:
            U = exact(np.column_stack([self.on_items(v) for v in V.T]))
            return U[first] - U[second]

        return Paired(K, self.ends, products)

    def products(self, tiles: Iterable[tuple[int, int, NDArray]], V: Array) -> Array:
        """Return K V for the Gram matrix K by its tiles."""
        out = np.zeros_like(V)
        for a, c, tile in tiles:
            b, d = a + tile.shape[0], c + tile.shape[1]
            above = min(a, d)  # columns before the diagonal block stand for their mirror image too
            out[a:b] += tile @ V[c:d]
            if above > c:
                out[c:above] += tile[:, : above - c].T @ V[a:b]
        return out

    def tiles(self, against: Against, dtype: np.dtype) -> Iterator[tuple[int, int, NDArray]]:
        """Yield (row, column, values) of the tiles that cover the lower half, each in the memory of the one before.

        A tile ends with the block of the diagonal: within it the values are complete.
        """
        n = max(1, TILE_BYTES // (STRIP * dtype.itemsize))
        spare = np.empty((2, n * STRIP), dtype)
        for c in range(0, self.size, STRIP):
            values = [against(right[c : c + STRIP], dtype) for right in self.ends.T]
            for a in range(c, self.size, n):
                yield a, c, self._tile(values, slice(a, a + n), spare)[:, : a + n - c]

    def _tile(self, values: list[Callable[[IntArray, NDArray], NDArray]], rows: slice, spare: NDArray) -> NDArray:
        """Return the inner products of some differences with those of a tile: four kernel values, or one."""
        ends = self.ends[rows].T
        tile = values[0](ends[0], spare[0])
        if len(ends) == 2:
            tile -= values[1](ends[0], spare[1])
            tile -= values[0](ends[1], spare[1])
            tile += values[1](ends[1], spare[1])
        return tile

    def on_items(self, w: Array) -> Array:
        """Return coefficients of items from those of differences."""
        out = np.bincount(self.ends[:, 0], w, minlength=self.n_items).astype(float)
        return out - np.bincount(self.ends[:, 1], w, minlength=self.n_items) if self.ends.shape[1] == 2 else out


@dataclass
class _Products:
    """K V in float64: the values are computed again, and kept where few differences are asked for again."""

    differences: Differences
    against: Against
    half: LowerHalf
    kept: LowerHalf | None = None
    is_asked: bool = False

    def __call__(self, V: Array) -> Array:
        found = self.half.fine_product(V)
        if found is not None:
            return found
        if self.kept is None and self.is_asked and self.differences.size <= KEPT:
            self.kept = self.differences.half(self.against)
        self.is_asked = True
        if self.kept is not None:
            return self.kept.product(V)
        return self.differences.products(self.differences.tiles(self.against, np.dtype(np.float64)), V)


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
