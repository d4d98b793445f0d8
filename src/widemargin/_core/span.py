"""Some items of a kernel matrix, and the functions that they span: what preconditioners work on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import blas

from .comparisons import IntArray
from .kernels import Kernel
from .landmarks import Columns, columns_at_hand, greedy_columns
from .lower_half import STRIP
from .solution import Array

if TYPE_CHECKING:
    from .gram import Gram

SPAN_SHARE, LEAST_SPAN, LARGEST_SPAN = 0.08, 250, 1200  # items of the span
WIDE_SHARE, WIDEST_SPAN = 0.2, 1200  # the same where that one fails
SPAN_SEED = 20101
LEFT_OUT = 1e-4  # of the mean of the diagonal, that a span may leave of an item
RANK_ITEMS = 300  # that tell how many of all items matter
LEFT_OUT_MANY, MOST_SPAN = 1e-3, 0.25  # the most that it may leave of many, and the share of them that it may need
RIDGE, LEFT_OUT_DRAWN = 1e-4, 1e-5  # added to float32 values, and left of the items that were drawn


@dataclass(frozen=True)
class Span:
    """Some items, and an orthonormal basis of the functions that they span."""

    items: IntArray
    columns: NDArray | None  # K[:, items], where the basis is not at hand
    inverse: Array  # U^-1, with K[items, items] = U'U
    diagonal: Array  # of K
    values: Array | None = None  # of the basis at all items, where they are at hand
    is_wide: bool = False  # whether a sample tells too little of functions on it

    @property
    def size(self) -> int:
        """Return the number of those items."""
        return self.items.size

    @classmethod
    def drawn(cls, gram: Gram, *, is_wide: bool = False) -> Span:
        """Draw items at random, and leave out those that depend on the others."""
        share, most = (WIDE_SHARE, WIDEST_SPAN) if is_wide else (SPAN_SHARE, LARGEST_SPAN)
        n = int(np.clip(share * gram.n_items, LEAST_SPAN, most))
        items = np.random.default_rng(SPAN_SEED).permutation(gram.n_items)[:n].astype(np.int64)
        columns = gram.columns(items)
        ridge = RIDGE if gram.is_rounded else 0.0
        pivots, inverse = _independent(columns[items].astype(float), LEFT_OUT_DRAWN, ridge)
        return cls(items[pivots], columns.take(pivots, axis=1), inverse, gram.diagonal, is_wide=is_wide)

    @classmethod
    def best(cls, K: Array) -> Span:
        """Choose among all items."""
        return cls._of(columns_at_hand(K, LEFT_OUT), np.diag(K))

    @classmethod
    def found(cls, kernel: Kernel, X: Any) -> Span | None:
        """Choose among all of many items, whose matrix is not at hand; None where that takes too many."""
        diagonal = kernel.diag(X).astype(float)
        columns = greedy_columns(kernel, X, int(MOST_SPAN * X.shape[0]), LEFT_OUT)
        return None if columns.rest.max() > LEFT_OUT_MANY * diagonal.mean() else cls._of(columns, diagonal)

    @classmethod
    def _of(cls, columns: Columns, diagonal: Array) -> Span:
        F, items, _ = columns
        inverse = linalg.lapack.dtrtri(np.asfortranarray(np.triu(F[items].T)))[0]
        return cls(items, None, inverse, diagonal, np.ascontiguousarray(F), is_wide=True)

    @cached_property
    def basis(self) -> NDArray:
        """Return the values of the basis at all items, K[:, items] U^-1, as exact as the columns are."""
        if self.values is not None:
            return self.values
        columns = self.columns_at_hand
        out = np.empty(columns.shape, columns.dtype)
        for a in range(0, len(out), STRIP):
            rows = np.asfortranarray(columns[a : a + STRIP].T, dtype=float)
            out[a : a + STRIP] = blas.dtrmm(1.0, self.inverse, rows, trans_a=1, overwrite_b=1).T
        return out

    @cached_property
    def left_out(self) -> float:
        """Return the share of the diagonal that the span leaves."""
        return 1.0 - float(np.einsum("ij,ij->", self.basis, self.basis)) / float(np.sum(self.diagonal))

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


def likely_rank(gram: Gram) -> int:
    """Return how many items leave little of the others, about and rather too many, from a sample of them.

    A kernel of full rank knows no item from the others; with one that does not, their number grows more slowly than
    that of all items.
    """
    n, size = gram.n_items, min(RANK_ITEMS, gram.n_items // 2)
    strips = gram.corner(np.random.default_rng(SPAN_SEED).permutation(n)[:size]).strips
    if strips is None or size < 2:
        return n
    upper = np.tril(strips[0]).T.astype(float, order="F")  # LAPACK counts by columns
    half, all_ = (
        linalg.lapack.dpstrf(upper[:k, :k], tol=LEFT_OUT * float(np.mean(np.diag(upper))))[2] for k in (size // 2, size)
    )
    return min(n, int(np.ceil(all_ * (n / size) ** np.log2(all_ / half)))) if half > 0 else n


def _independent(K: Array, left_out: float, ridge: float) -> tuple[IntArray, Array]:
    """Return items that leave no more than a share of any other, and U^-1 with K + ridge = U'U there."""
    scale = np.trace(K) / len(K)
    K = K + ridge * scale * np.eye(len(K)) if ridge else K
    factor, pivots, rank, _ = linalg.lapack.dpstrf(K, tol=(ridge + left_out) * scale)
    return pivots[:rank].astype(np.int64) - 1, linalg.lapack.dtrtri(np.triu(factor[:rank, :rank]))[0]
