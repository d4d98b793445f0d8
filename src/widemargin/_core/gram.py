"""Products with a kernel matrix: given whole, or its lower half in float32 with the float64 values at hand anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

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
RIDGE = 1e-4  # of the mean of the diagonal: those items may be nearly dependent


class Span(NamedTuple):
    """Some items drawn at random, and an orthonormal basis of the functions that they span."""

    items: IntArray
    columns: NDArray  # K[:, items]
    inverse: Array  # U^-1, with K[items, items] = U'U

    @classmethod
    def of(cls, gram: Gram) -> Span:
        """Draw the items."""
        n = int(np.clip(SPAN_SHARE * gram.n_items, LEAST_SPAN, LARGEST_SPAN))
        items = np.random.default_rng(SPAN_SEED).permutation(gram.n_items)[:n].astype(np.int64)
        columns = gram.columns(items)
        K = columns[items].astype(float)
        K.flat[:: items.size + 1] += RIDGE * np.trace(K) / items.size
        return cls(items, columns, linalg.lapack.dtrtri(linalg.cholesky(K))[0])


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
        """Return a sample of the items for preconditioners."""
        return Span.of(self)


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
    def of(cls, kernel: Kernel, X: Any) -> HalfGram:
        """Compute the strips."""
        n, strips = X.shape[0], []
        for rows, columns, K in lower_tiles(kernel, X):
            if rows.start == columns.start:
                strips.append(np.empty((n - columns.start, K.shape[1]), np.float32))
            strips[-1][rows.start - columns.start : rows.stop - columns.start] = _without_subnormals(K)
        return cls(kernel, X, strips)

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
        return Span.of(self)


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
