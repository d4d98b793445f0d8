"""Products with a kernel matrix: given whole, or its lower half in float32 with the float64 values at hand anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import blas

from .comparisons import IntArray
from .kernels import Kernel
from .lower_half import STRIP, LowerHalf, mirrored
from .solution import Array
from .span import Span

TILE = 256  # rows and columns computed, or rows multiplied, while they are in the processor's cache
BYTES_WHOLE, BYTES_HALF = 24, 4  # that a fit needs for an entry of the matrix: whole, half
BYTES_ROOMY = 64  # the same with a preconditioner of all items
KEPT_ITEMS = 4000  # up to which float64 values are kept where they are needed again: 64 MB
KEPT_ALONG = 1500  # up to which they are kept from the start for several solves: caches hold them beside float32 ones
FINE_ITEMS = 7000  # up to which float32 values have their rest beside them: 49 MB
FLUSH, TINY = 1e-21, 1e-36  # float64 beside the first knows nothing below 2e-37; above the other all is well
PIVOTED_ITEMS = 1500  # items up to which all are searched for a span


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
    def strips(self) -> list[NDArray] | None:
        """Return the matrix by strips of columns from the diagonal down, or one of all; None where there are none."""

    def whole(self) -> Gram | None:
        """Return the float64 matrix, computed if need be; None where it is not worth it, and where this is it."""

    @property
    def full_span(self) -> Span | None:
        """Return all items that matter; None where these are too many of many."""

    @property
    def diagonal(self) -> Array:
        """Return the diagonal."""

    @property
    def span(self) -> Span:
        """Return a sample of the items for preconditioners, the same one whenever it is asked for."""

    @property
    def wide_span(self) -> Span:
        """Return a larger one."""


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
    def strips(self) -> list[NDArray] | None:
        """Return the matrix, by rows."""
        by_rows = self.K if self.K.flags.c_contiguous else self.K.T
        return [by_rows] if by_rows.flags.c_contiguous else None

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
    def wide_span(self) -> Span:
        """Return more of them."""
        return Span.drawn(self, is_wide=True)

    @cached_property
    def full_span(self) -> Span | None:
        """Return all items that matter."""
        if self.n_items > KEPT_ITEMS:
            return None
        return self.span if self.n_items <= PIVOTED_ITEMS else Span.best(self.K)


@dataclass(frozen=True)
class HalfGram:
    """The lower half in float32 strips of columns, from the diagonal down; exact values come from the kernel again."""

    kernel: Kernel
    X: Any
    half: LowerHalf
    is_shared: bool = False  # whether several solves ask for float64 values
    kept: list[LowerHalf] = field(default_factory=list)  # those
    asked: list[None] = field(default_factory=list)  # grows with every exact product that strips do not give
    is_rounded = True

    @classmethod
    def of(cls, kernel: Kernel, X: Any, *, is_shared: bool = False, is_exact: bool = True) -> HalfGram:
        """Compute the strips; for several solves the float64 values of few items are kept, for a start none."""
        n = X.shape[0]
        kept = [LowerHalf.room(n, np.float64, STRIP)] if is_shared and n <= KEPT_ALONG else []
        half = LowerHalf.room(n, np.float32, STRIP, is_fine=is_exact and not kept and n <= FINE_ITEMS)

        def store(rows: slice, columns: slice, K: Array) -> None:
            half.put(rows.start, columns.start, _without_subnormals(K))
            if kept:
                kept[0].put(rows.start, columns.start, K)

        lower_tiles(kernel, X, store)
        return cls(kernel, X, half, is_shared, kept)

    @property
    def n_items(self) -> int:
        """Return the number of items."""
        return self.half.n_items

    def product(self, v: Array) -> Array:
        """Return K v; sums within some hundred rows are float32."""
        return self.half.product(v)

    def exact_product(self, v: Array) -> Array:
        """Return K v from the kernel's float64 values: computed again, and kept where few items are asked for again."""
        found = self.half.fine_product(v)
        if found is not None:
            return found
        if self.asked or self.is_shared:
            self._keep()
        self.asked.append(None)
        if not self.kept:
            return streamed_product(self.kernel, self.X, v)
        return self.kept[0].product(v)

    def _keep(self) -> None:
        """Keep the float64 values of few items from now on."""
        if self.kept or self.n_items > KEPT_ITEMS:
            return
        kept = LowerHalf.room(self.n_items, np.float64, STRIP)
        lower_tiles(self.kernel, self.X, lambda rows, columns, K: kept.put(rows.start, columns.start, K))
        self.kept.append(kept)

    def corner(self, items: IntArray) -> HalfGram:
        """Return the matrix over some items."""
        return HalfGram.of(self.kernel, self.X[items], is_exact=False)

    def columns(self, items: IntArray) -> NDArray:
        """Return the columns of some items."""
        out = np.empty((self.n_items, items.size), np.float32)
        for a in range(0, items.size, STRIP):
            values = self.kernel.against(_float64(self.X[items[a : a + STRIP]]))
            for i in range(0, self.n_items, TILE):
                out[i : i + TILE, a : a + STRIP] = _without_subnormals(values(_float64(self.X[i : i + TILE])))
        return out

    @property
    def strips(self) -> list[NDArray] | None:
        """Return the strips."""
        return self.half.strips

    def whole(self) -> Gram | None:
        """Return the float64 matrix: an array of few items, the lower half of many where some are all that matter."""
        if self.n_items > KEPT_ITEMS:
            return None if self.full_span is None else FineGram.of(self.kernel, self.X, self.full_span)
        self._keep()
        return WholeGram(mirrored(self.kept[0].joined(), TILE))

    @cached_property
    def full_span(self) -> Span | None:
        """Return all items that matter, of many."""
        return Span.found(self.kernel, _float64(self.X)) if self.n_items > KEPT_ITEMS else None

    @property
    def diagonal(self) -> Array:
        """Return the diagonal."""
        return np.asarray(self.kernel.diag(self.X), dtype=float)

    @cached_property
    def span(self) -> Span:
        """Return a sample of the items for preconditioners."""
        return Span.drawn(self)

    @cached_property
    def wide_span(self) -> Span:
        """Return a larger one."""
        return Span.drawn(self, is_wide=True)


@dataclass(frozen=True)
class FineGram:
    """The lower half of the matrix of many items in float64 strips, and all of them that matter."""

    kernel: Kernel
    X: Any
    half: LowerHalf
    full_span: Span
    is_rounded = False

    @classmethod
    def of(cls, kernel: Kernel, X: Any, full_span: Span) -> FineGram:
        """Compute the strips."""
        half = LowerHalf.room(X.shape[0], np.float64, STRIP)
        lower_tiles(kernel, X, lambda rows, columns, K: half.put(rows.start, columns.start, K))
        return cls(kernel, X, half, full_span)

    @property
    def n_items(self) -> int:
        """Return the number of items."""
        return self.half.n_items

    def product(self, v: Array) -> Array:
        """Return K v, or K times the columns of v."""
        return self.half.product(v)

    exact_product = product

    def corner(self, items: IntArray) -> HalfGram:
        """Return the matrix over some items."""
        return HalfGram.of(self.kernel, self.X[items], is_exact=False)

    def columns(self, items: IntArray) -> NDArray:
        """Return the columns of some items."""
        return self.kernel(_float64(self.X), _float64(self.X[items]))

    @property
    def strips(self) -> list[NDArray] | None:
        """Return the strips."""
        return self.half.strips

    def whole(self) -> Gram | None:
        """Return None: it is what it is."""
        return None

    @property
    def diagonal(self) -> Array:
        """Return the diagonal."""
        return np.asarray(self.kernel.diag(self.X), dtype=float)

    @property
    def span(self) -> Span:
        """Return all that matter."""
        return self.full_span

    @property
    def wide_span(self) -> Span:
        """Return all that matter."""
        return self.full_span


def lower_tiles(kernel: Kernel, X: Any, use: Callable[[slice, slice, Array], None]) -> None:
    """Call use with rows, columns and the kernel's values there: by columns, from the diagonal down, in float64.

    The next tile is made in the same memory.
    """
    n, spare = X.shape[0], np.empty(TILE**2)
    for a in range(0, n, TILE):
        columns = slice(a, min(a + TILE, n))
        values = kernel.against(_float64(X[columns]))
        for i in range(a, n, TILE):
            rows = slice(i, min(i + TILE, n))
            use(rows, columns, _finite(values(_float64(X[rows]), spare)))


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
