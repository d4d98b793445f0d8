"""Products with a kernel matrix: given whole, or its lower half in float32 with the float64 values at hand anew."""

from __future__ import annotations

import mmap
from collections.abc import Callable
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
SQUARE_ITEMS = 4000  # items up to which there is one strip: the symmetric routine reads its lower half, once
TILE = 256  # rows and columns computed, or rows multiplied, while they are in the processor's cache
BYTES_WHOLE, BYTES_HALF = 24, 4  # that a fit needs for each entry of the matrix, whole or half
BYTES_ROOMY = 64  # the same with a preconditioner of all items
SPAN_SHARE, LEAST_SPAN, LARGEST_SPAN = 0.08, 250, 1200  # items of the span
SPAN_SEED = 20101
KEPT_ITEMS, KEPT_SHARED_ITEMS = 4000, 6000  # up to which float64 values are kept, asked for twice or shared: 144 MB
FLUSH, TINY = 1e-21, 1e-36  # float64 beside the first knows nothing below 2e-37; above the other all is well
LARGE = 1 << 22  # bytes from which NumPy asks for huge pages: where memory is in pieces they take longer than a fit
PIVOTED_ITEMS = 1500  # items up to which all are searched for a span
LEFT_OUT = 1e-4  # of the mean of the diagonal, that a span may leave of an item
RIDGE, LEFT_OUT_DRAWN = 1e-4, 1e-5  # added to float32 values, and left of the items that were drawn


@dataclass(frozen=True)
class Span:
    """Some items, and an orthonormal basis of the functions that they span."""

    items: IntArray
    columns: NDArray | None  # K[:, items], where the basis is not at hand
    inverse: Array  # U^-1, with K[items, items] = U'U
    diagonal: Array  # of K
    values: Array | None = None  # of the basis at all items, where they are at hand

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
        ridge = RIDGE if gram.is_rounded else 0.0
        pivots, inverse, _ = _independent(columns[items].astype(float), LEFT_OUT_DRAWN, ridge)
        return cls(items[pivots], columns.take(pivots, axis=1), inverse, gram.diagonal)

    @classmethod
    def best(cls, K: Array) -> Span:
        """Choose among all items."""
        items, inverse, values = _independent(K, LEFT_OUT)
        return cls(items, None, inverse, np.diag(K), values)

    @cached_property
    def basis(self) -> NDArray:
        """Return the values of the basis at all items, K[:, items] U^-1, as exact as the columns are."""
        if self.values is not None:
            return self.values
        columns = self.columns_at_hand
        out = np.empty(columns.shape, columns.dtype)
        for a in range(0, len(out), STRIP):
            out[a : a + STRIP] = columns[a : a + STRIP].astype(float) @ self.inverse
        return out

    @property
    def is_full(self) -> bool:
        """Return whether items were chosen from all."""
        return self.columns is None

    @property
    def columns_at_hand(self) -> NDArray:
        """Return the columns of items that were drawn."""
        if self.columns is None:
            raise ValueError("a span of all items has its basis at hand, and no columns")
        return self.columns


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
    def square(self) -> NDArray | None:
        """Return the matrix as one array by rows, of which the lower half is there; None where there is none."""

    def whole(self) -> WholeGram | None:
        """Return the float64 matrix of few items, computed if need be; None of many, and where this is it."""

    @property
    def diagonal(self) -> Array:
        """Return the diagonal."""

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

    @property
    def square(self) -> NDArray | None:
        """Return the matrix, by rows."""
        return self.K if self.K.flags.c_contiguous else self.K.T if self.K.flags.f_contiguous else None

    def whole(self) -> WholeGram | None:
        """Return None: it is what it is."""
        return None

    @property
    def diagonal(self) -> Array:
        """Return the diagonal."""
        return np.diag(self.K)

    @cached_property
    def span(self) -> Span:
        """Return some items for preconditioners."""
        return Span.best(self.K) if self.n_items <= PIVOTED_ITEMS else Span.drawn(self)

    @cached_property
    def full_span(self) -> Span:
        """Return all items that matter."""
        return self.span if self.n_items <= PIVOTED_ITEMS else Span.best(self.K)


@dataclass(frozen=True)
class HalfGram:
    """The lower half in float32 strips of columns, from the diagonal down; exact values come from the kernel again."""

    kernel: Kernel
    X: Any
    strips: list[NDArray]
    kept: list[Array] = field(default_factory=list)  # the float64 matrix, of which the lower half is there
    asked: list[None] = field(default_factory=list)  # grows with every exact product
    is_rounded = True

    @classmethod
    def of(cls, kernel: Kernel, X: Any, *, is_shared: bool = False) -> HalfGram:
        """Compute the strips; for several solves the float64 values of few items are kept at once."""
        n = X.shape[0]
        width = n if n <= SQUARE_ITEMS else STRIP
        strips = [_room(n - a, min(width, n - a), np.float32) for a in range(0, n, width)]
        kept = [_room(n, n, np.float64)] if is_shared and n <= KEPT_SHARED_ITEMS else []

        def store(rows: slice, columns: slice, K: Array) -> None:
            k = columns.start // width
            a = k * width
            strips[k][rows.start - a : rows.stop - a, columns.start - a : columns.stop - a] = _without_subnormals(K)
            if kept:
                kept[0][rows, columns] = K

        lower_tiles(kernel, X, store)
        return cls(kernel, X, strips, kept)

    @property
    def n_items(self) -> int:
        """Return the number of items."""
        return self.strips[0].shape[0]

    def product(self, v: Array) -> Array:
        """Return K v; sums within a tile are float32."""
        v = v.astype(np.float32)
        out, a = np.zeros(self.n_items), 0
        for strip in self.strips:
            width = strip.shape[1]
            here, own = v[a : a + width], out[a : a + width]
            own += blas.ssymv(1.0, strip[:width].T, here)  # row-major lower is column-major upper
            for i in range(width, strip.shape[0], TILE):
                tile, rows = strip[i : i + TILE], slice(a + i, a + i + TILE)
                out[rows] += tile @ here
                own += v[rows] @ tile
            a += width
        return out

    def exact_product(self, v: Array) -> Array:
        """Return K v from the kernel's float64 values: computed again, and kept where few items are asked for again."""
        if self.asked:
            self._keep()
        self.asked.append(None)
        if not self.kept:
            return streamed_product(self.kernel, self.X, v)
        return np.stack([blas.dsymv(1.0, self.kept[0].T, x) for x in np.atleast_2d(v.T)]).T.reshape(v.shape)

    def _keep(self) -> None:
        """Keep the float64 values of few items from now on."""
        if self.kept or self.n_items > KEPT_ITEMS:
            return
        kept = _room(self.n_items, self.n_items, np.float64)
        lower_tiles(self.kernel, self.X, lambda rows, columns, K: kept.__setitem__((rows, columns), K))
        self.kept.append(kept)

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

    @property
    def square(self) -> NDArray | None:
        """Return the only strip."""
        return self.strips[0] if len(self.strips) == 1 else None

    def whole(self) -> WholeGram | None:
        """Return the float64 matrix of few items."""
        self._keep()
        if not self.kept:
            return None
        K, n = self.kept[0], self.n_items
        for a in range(0, n, TILE):
            b = min(a + TILE, n)
            K[a:b, b:] = K[b:, a:b].T
            K[a:b, a:b] = np.tril(K[a:b, a:b]) + np.tril(K[a:b, a:b], -1).T
        return WholeGram(K)

    @property
    def diagonal(self) -> Array:
        """Return the diagonal."""
        return np.asarray(self.kernel.diag(self.X), dtype=float)

    @cached_property
    def span(self) -> Span:
        """Return a sample of the items for preconditioners."""
        return Span.drawn(self)


def _independent(K: Array, left_out: float, ridge: float = 0.0) -> tuple[IntArray, Array, Array]:
    """Return items that leave no more than a share of any other, U^-1 with K + ridge = U'U there, and U' of all."""
    scale = np.trace(K) / len(K)
    K = K + ridge * scale * np.eye(len(K)) if ridge else K
    factor, pivots, rank, _ = linalg.lapack.dpstrf(K, tol=(ridge + left_out) * scale)
    factor, values = np.triu(factor[:rank]), np.empty((len(K), rank))
    values[pivots - 1] = factor.T
    return pivots[:rank].astype(np.int64) - 1, linalg.lapack.dtrtri(factor[:, :rank])[0], values


def _room(n: int, m: int, dtype: Any) -> NDArray:
    """Return an array that is not filled; pages that are never written to take no memory."""
    size = n * m * np.dtype(dtype).itemsize
    if size < LARGE:
        return np.empty((n, m), dtype)
    return np.frombuffer(mmap.mmap(-1, size, access=mmap.ACCESS_COPY), dtype).reshape(n, m)


def lower_tiles(kernel: Kernel, X: Any, use: Callable[[slice, slice, Array], None]) -> None:
    """Call use with rows, columns and the kernel's values there: by columns, from the diagonal down, in float64.

    A tile is forgotten before the next one is made, in the same memory.
    """
    n = X.shape[0]
    for a in range(0, n, TILE):
        columns = slice(a, min(a + TILE, n))
        values = kernel.against(_float64(X[columns]))
        for i in range(a, n, TILE):
            rows = slice(i, min(i + TILE, n))
            use(rows, columns, _finite(values(_float64(X[rows]))))


def _finite(K: Array) -> Array:
    if not np.isfinite(K.sum()):
        raise ValueError("the kernel gave NaN or infinite values; look at gamma, degree and the scale of X.")
    return K


def streamed_product(kernel: Kernel, X: Any, v: Array) -> Array:
    """Return K v, or K times the columns of v; a tile of K exists at a time."""
    out = np.zeros(v.shape)

    def add(rows: slice, columns: slice, K: Array) -> None:
        out[rows] += K @ v[columns]
        if rows.start >= columns.stop:
            out[columns] += K.T @ v[rows]

    lower_tiles(kernel, X, add)
    return out


def _without_subnormals(K: Array) -> Array:
    """Round what float32 holds only as subnormal numbers, which are ten times slower, to zero; in place."""
    if K.min() > TINY:
        return K
    K += FLUSH
    K -= FLUSH
    return K


def _float64(X: Any) -> Any:
    return X if sparse.issparse(X) else np.asarray(X, dtype=float)
