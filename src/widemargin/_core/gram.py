"""Products with a kernel matrix: given whole, or its lower half in float32 with the float64 values at hand anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.linalg import blas

from .comparisons import IntArray
from .kernels import Kernel
from .solution import Array

STRIP = 512  # columns; an array per strip: one large fresh array costs more in page faults than its products
TILE, PRODUCT_TILE = 128, 256  # rows of a strip computed, or multiplied, while they are in the processor's cache
FLUSH = 1e-21  # float64 beside this knows nothing below 2e-37
BYTES_WHOLE, BYTES_HALF = 24, 4  # that a fit needs for each entry of the matrix, whole or half
SPAN_SHARE, LEAST_SPAN, LARGEST_SPAN = 0.08, 400, 1200  # items of the span; too few are worse than none
SPAN_SEED = 20101
KEPT_ITEMS = 4000  # items up to which float64 values asked for twice are kept: 64 MB
PIVOTED_ITEMS = 1500  # items up to which all are searched for a span
LEFT_OUT = 1e-4  # of the mean of the diagonal, that a span may leave of an item
RIDGE, LEFT_OUT_DRAWN = 1e-4, 1e-5  # added to float32 values, and left of the items that were drawn


@dataclass(frozen=True)
class Span:
    """Some items, and an orthonormal basis of the functions that they span."""

    items: IntArray
    columns: NDArray  # K[:, items]
    inverse: Array  # U^-1, with K[items, items] = U'U

    @property
    def size(self) -> int:
        """Return the number of those items."""
        return self.items.size

    @classmethod
    def drawn(cls, gram: Gram) -> Span:
        """Draw items at random, and leave out those that depend on the others."""
        n = int(np.clip(SPAN_SHARE * gram.n_items, LEAST_SPAN, LARGEST_SPAN))
        items = np.random.default_rng(SPAN_SEED).permutation(gram.n_items)[:n].astype(np.int64)
        columns = gram.columns(items)
        pivots, inverse = _independent(columns[items].astype(float), LEFT_OUT_DRAWN, RIDGE)
        return cls(items[pivots], columns.take(pivots, axis=1), inverse)

    @classmethod
    def best(cls, K: Array) -> Span:
        """Choose among all items."""
        items, inverse = _independent(K, LEFT_OUT)
        return cls(items, K[:, items], inverse)

    @cached_property
    def basis(self) -> NDArray:
        """Return the values of the basis at all items, K[:, items] U^-1, as exact as the columns are."""
        out = np.empty(self.columns.shape, self.columns.dtype)
        for a in range(0, len(out), STRIP):
            out[a : a + STRIP] = self.columns[a : a + STRIP].astype(float) @ self.inverse
        return out


class Gram(Protocol):
    """A symmetric matrix over the items."""

    @property
    def n_items(self) -> int:
        """Return the number of items."""

    @property
    def is_rounded(self) -> bool:
        """Return whether `product` is less exact than `exact_product`."""

    def product(self, v: Array) -> Array:
        """Return K v, fast: in float32 where the matrix is."""

    def exact_product(self, v: Array) -> Array:
        """Return K v, or K times the columns of v, in float64."""

    def corner(self, items: IntArray) -> Gram:
        """Return the matrix over some items."""

    def columns(self, items: IntArray) -> NDArray:
        """Return the columns of some items."""

    @property
    def span(self) -> Span:
        """Return a sample of the items for preconditioners, the same one whenever it is asked for."""


@dataclass(frozen=True)
class WholeGram:
    """A dense array, used as it is."""

    K: NDArray

    @property
    def n_items(self) -> int:
        """Return the number of items."""
        return self.K.shape[0]

    @property
    def is_rounded(self) -> bool:
        """Return whether sums are float32."""
        return self.K.dtype == np.float32

    def product(self, v: Array) -> Array:
        """Return K v; the symmetric routine reads half of K."""
        symv = blas.ssymv if self.is_rounded else blas.dsymv
        K = self.K.T if self.K.flags.c_contiguous else self.K  # column-major for BLAS, without a copy
        return np.asarray(symv(1.0, K, v.astype(self.K.dtype, copy=False)), dtype=float)

    def exact_product(self, v: Array) -> Array:
        """Return K v with float64 sums."""
        if not self.is_rounded:
            return self.product(v) if v.ndim == 1 else self.K @ v
        return np.concatenate([self.K[a : a + TILE].astype(float) @ v for a in range(0, self.n_items, TILE)])

    def corner(self, items: IntArray) -> WholeGram:
        """Return the matrix over some items."""
        return WholeGram(self.K[np.ix_(items, items)])

    def columns(self, items: IntArray) -> NDArray:
        """Return the columns of some items."""
        return self.K[:, items]

    @cached_property
    def span(self) -> Span:
        """Return some items for preconditioners."""
        return Span.best(self.K) if self.n_items <= PIVOTED_ITEMS else Span.drawn(self)


@dataclass(frozen=True)
class HalfGram:
    """The lower half in float32 strips of columns, from the diagonal down; exact values come from the kernel again."""

    kernel: Kernel
    X: Any
    strips: list[NDArray]
    kept: list[tuple[slice, slice, Array]] = field(default_factory=list)  # float64 tiles
    asked: list[None] = field(default_factory=list)  # grows with every exact product
    is_rounded = True

    @classmethod
    def of(cls, kernel: Kernel, X: Any, *, is_shared: bool = False) -> HalfGram:
        """Compute the strips; for several solves the float64 values of few items are kept at once."""
        n, strips, kept = X.shape[0], [], []
        for rows, columns, K in lower_tiles(kernel, X):
            if rows.start == columns.start:
                strips.append(np.empty((n - columns.start, K.shape[1]), np.float32))
            strips[-1][rows.start - columns.start : rows.stop - columns.start] = _without_subnormals(K)
            if is_shared and n <= KEPT_ITEMS:
                kept.append((rows, columns, K))
        return cls(kernel, X, strips, kept)

    @property
    def n_items(self) -> int:
        """Return the number of items."""
        return self.strips[0].shape[0]

    def product(self, v: Array) -> Array:
        """Return K v; sums within a tile are float32."""
        v = v.astype(np.float32)
        out = np.zeros(self.n_items)
        for k, strip in enumerate(self.strips):
            a, width = k * STRIP, strip.shape[1]
            here, own = v[a : a + width], out[a : a + width]
            own += strip[:width] @ here
            for i in range(width, strip.shape[0], PRODUCT_TILE):
                tile, rows = strip[i : i + PRODUCT_TILE], slice(a + i, a + i + PRODUCT_TILE)
                out[rows] += tile @ here
                own += v[rows] @ tile
        return out

    def exact_product(self, v: Array) -> Array:
        """Return K v from the kernel's float64 values: computed again, and kept where few items are asked for again."""
        if not self.kept and self.asked and self.n_items <= KEPT_ITEMS:
            self.kept.extend(lower_tiles(self.kernel, self.X))
        self.asked.append(None)
        return tiled_product(self.kept or lower_tiles(self.kernel, self.X), v)

    def corner(self, items: IntArray) -> HalfGram:
        """Return the matrix over some items."""
        return HalfGram.of(self.kernel, self.X[items])

    def columns(self, items: IntArray) -> NDArray:
        """Return the columns of some items."""
        out = np.empty((self.n_items, items.size), np.float32)
        for a in range(0, items.size, STRIP):
            values = self.kernel.against(_float64(self.X[items[a : a + STRIP]]))
            for i in range(0, self.n_items, TILE):
                out[i : i + TILE, a : a + STRIP] = _without_subnormals(values(_float64(self.X[i : i + TILE])))
        return out

    @cached_property
    def span(self) -> Span:
        """Return a sample of the items for preconditioners."""
        return Span.drawn(self)


def _independent(K: Array, left_out: float, ridge: float = 0.0) -> tuple[IntArray, Array]:
    """Return items that leave no more than a share of any other, and U^-1 with K + ridge = U'U there."""
    scale = np.trace(K) / len(K)
    K = K + ridge * scale * np.eye(len(K))
    factor, pivots, rank, _ = linalg.lapack.dpstrf(K, tol=(ridge + left_out) * scale, overwrite_a=True)
    return pivots[:rank].astype(np.int64) - 1, linalg.lapack.dtrtri(np.triu(factor[:rank, :rank]))[0]


def lower_tiles(kernel: Kernel, X: Any) -> Iterator[tuple[slice, slice, Array]]:
    """Yield rows, columns and the kernel's values there: strips of columns, from the diagonal down, in float64."""
    n = X.shape[0]
    for a in range(0, n, STRIP):
        columns = slice(a, min(a + STRIP, n))
        values = kernel.against(_float64(X[columns]))
        for i in range(a, n, TILE):
            rows = slice(i, min(i + TILE, n))
            K = values(_float64(X[rows]))
            if not np.isfinite(K.sum()):
                raise ValueError("the kernel gave NaN or infinite values; look at gamma, degree and the scale of X.")
            yield rows, columns, K


def streamed_product(kernel: Kernel, X: Any, v: Array) -> Array:
    """Return K v, or K times the columns of v; a tile of K exists at a time."""
    return tiled_product(lower_tiles(kernel, X), v)


def tiled_product(tiles: Iterable[tuple[slice, slice, Array]], v: Array) -> Array:
    """Return K v, or K times the columns of v, from the tiles of the lower half."""
    out = np.zeros(v.shape)
    for rows, columns, K in tiles:
        out[rows] += K @ v[columns]
        if rows.start >= columns.stop:
            out[columns] += K.T @ v[rows]
    return out


def _without_subnormals(K: Array) -> Array:
    """Round what float32 holds only as subnormal numbers, which are ten times slower, to zero; in place."""
    K += FLUSH
    K -= FLUSH
    return K


def _float64(X: Any) -> Any:
    return X if sparse.issparse(X) else np.asarray(X, dtype=float)
