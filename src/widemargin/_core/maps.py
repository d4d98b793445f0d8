"""From weights to utilities: linear in the features, or a kernel over the items.

Contract: `forward(w) -> u`, `adjoint(g) -> w-like`, `metric(w) -> R w` with |f|^2 = <w, R w>. Solvers that work
in p dimensions ask for `features() -> F` with F F' = `gram()`, and `from_features` leads back; `is_gram` says that the
Gram matrix is what the map has at hand, `in_columns` is a map with columns for the same functions, where one is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.linalg import lapack

from .gram import HalfGram, WholeGram, streamed_product
from .kernels import Kernel, Linear
from .low_rank import MOST, LowRankMap
from .solution import Array

BLOCK = 4096  # rows converted to float64 at a time
WRITTEN_OUT = 10**7  # entries of a sparse X that may be made dense


def pivoted_cholesky(K: Array) -> tuple[Array, NDArray[np.int64]]:
    """Return L (n, rank) in pivot order, and the pivots: K[pivots][:, pivots] = L L' to rounding."""
    factor, pivots, rank, _ = lapack.dpstrf(0.5 * (K + K.T), lower=1)
    return np.tril(factor)[:, :rank], pivots.astype(np.int64) - 1


def landmarks(K: Array, rank: int) -> NDArray[np.int64]:
    """Return the items that span the others best in the greedy order of pivoted Cholesky, at most `rank`."""
    rest, F = np.diag(K).astype(float), np.zeros((len(K), rank))
    chosen: list[int] = []
    for j in range(rank):
        i = int(np.argmax(rest))
        if rest[i] <= 0.0:
            break
        F[:, j] = (K[:, i] - F[:, :j] @ F[i, :j]) / np.sqrt(rest[i])
        rest = rest - F[:, j] ** 2
        rest[i] = -np.inf
        chosen.append(i)
    return np.array(chosen, dtype=np.int64)


@dataclass(frozen=True)
class LinearMap:
    """u = X w, with X dense (float32 or float64, never copied) or CSR."""

    X: NDArray | sparse.csr_array
    is_rounded = False
    in_columns = None

    @property
    def n_items(self) -> int:
        """Return the number of items."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Return the number of columns that `features` has at most."""
        return min(self.X.shape) if self.is_gram else self.X.shape[1]

    def diag(self) -> Array:
        """Return the squared norm of each item."""
        return Linear().diag(self.X)

    def gram(self) -> Array:
        """Return the Gram matrix of the items."""
        if self.is_gram:
            return self._gram.K
        F = self.features()
        return F @ F.T

    def columns(self) -> NDArray | sparse.csr_array | None:
        """Return X, with u = X w."""
        return self.X

    def forward(self, w: Array) -> Array:
        """Return the utilities of the items, computed in the precision of X."""
        return np.asarray(self.X @ w.astype(self.X.dtype, copy=False), dtype=float)

    def adjoint(self, g: Array) -> Array:
        """Return X' g, computed in the precision of X."""
        return np.asarray(self.X.T @ g.astype(self.X.dtype, copy=False), dtype=float)

    def metric(self, w: Array) -> Array:
        """Return R w; here R = I."""
        return w

    def squared_norm(self, w: Array) -> float:
        """Return |w|^2."""
        return float(w @ w)

    def forward_exact(self, w: Array) -> Array:
        """Return the utilities in float64, whatever the precision of X."""
        if sparse.issparse(self.X) or self.X.dtype == np.float64:
            return self.X @ w
        starts = range(0, self.n_items, BLOCK)
        return np.concatenate([self.X[i : i + BLOCK].astype(float) @ w for i in starts])

    def adjoint_exact(self, g: Array) -> Array:
        """Return X' g in float64, whatever the precision of X."""
        if sparse.issparse(self.X) or self.X.dtype == np.float64:
            return self.X.T @ g
        starts = range(0, self.n_items, BLOCK)
        return np.sum([self.X[i : i + BLOCK].astype(float).T @ g[i : i + BLOCK] for i in starts], axis=0)

    @property
    def is_gram(self) -> bool:
        """Whether the Gram matrix is the smaller thing: X is sparse, wide, and too large to be written out."""
        n, p = self.X.shape
        return sparse.issparse(self.X) and p > n and n * p > WRITTEN_OUT

    @cached_property
    def _gram(self) -> KernelMap:
        return KernelMap((self.X @ self.X.T).toarray().astype(float))

    def features(self) -> Array:
        """Return X in float64, or a factor of its Gram matrix where that is smaller."""
        if self.is_gram:
            return self._gram.features()
        X: Any = self.X
        return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=float)

    def from_features(self, w: Array) -> Array:
        """Return the weights of the columns of X."""
        return self.X.T @ self._gram.from_features(w) if self.is_gram else w


@dataclass(frozen=True)
class KernelMap:
    """u = K b: one coefficient per item, norm b' K b."""

    K: Array  # (n, n)
    is_gram = True
    is_rounded = False
    in_columns = None

    @property
    def n_items(self) -> int:
        """Return the number of items."""
        return self.K.shape[0]

    @property
    def n_features(self) -> int:
        """Return the number of columns that `features` has at most."""
        return self.n_items

    def diag(self) -> Array:
        """Return the squared norm of each item."""
        return np.diag(self.K)

    def gram(self) -> Array:
        """Return the Gram matrix of the items."""
        return self.K

    def quick_gram(self, *, is_shared: bool = False) -> WholeGram:  # noqa: ARG002 (it is at hand)
        """Return the Gram matrix for many products."""
        return WholeGram(self.K)

    def kernel_block(self) -> Array:
        """Return the kernel's own values, to be tested for convexity."""
        return self.K

    def against(self, right: NDArray[np.int64], dtype: np.dtype) -> Callable[..., NDArray]:
        """Return (left, spare) -> kernel values between two lists of items, in the given precision."""
        return lambda left, spare: self.K[np.ix_(left, right)].astype(dtype, copy=False)  # noqa: ARG005

    def columns(self) -> None:
        """Return None: weights belong to items, not to columns."""
        return

    def forward(self, w: Array) -> Array:
        """Return the utilities of the items."""
        return self.K @ w

    def adjoint(self, g: Array) -> Array:
        """Return K g."""
        return self.K @ g

    def metric(self, w: Array) -> Array:
        """Return R w; here R = K."""
        return self.K @ w

    def squared_norm(self, w: Array) -> float:
        """Return w' K w, never below zero."""
        return max(float(w @ (self.K @ w)), 0.0)

    def forward_exact(self, w: Array) -> Array:
        """Return the utilities of the items."""
        return self.K @ w

    def adjoint_exact(self, g: Array) -> Array:
        """Return the coefficients of sum_i g_i k(x_i, .): g itself."""
        return g

    def item_coefficients(self, w: Array) -> Array:
        """Return w."""
        return w

    @cached_property
    def _cholesky(self) -> tuple[Array, NDArray[np.int64]]:
        return pivoted_cholesky(self.K)

    def features(self) -> Array:
        """Return a factor of K, by pivoted Cholesky: as many columns as K has rank."""
        L, pivots = self._cholesky
        F = np.empty_like(L)
        F[pivots] = L
        return F

    def from_features(self, w: Array) -> Array:
        """Return coefficients on the pivot items whose function has the coordinates w."""
        L, pivots = self._cholesky
        b = np.zeros(self.n_items)
        b[pivots[: w.size]] = linalg.solve_triangular(L[: w.size], w, lower=True, trans="T")
        return b


@dataclass(frozen=True)
class ItemsMap:
    """u = K b as in `KernelMap`, for many items: float64 values of K are computed whenever they are asked for.

    Solvers that need products only, work on the lower half in float32, built once; the whole K in float64 comes into
    being with the first solver that needs it.
    """

    kernel: Kernel  # positive semi-definite by its form
    X: Any
    most_columns: int = MOST  # that a small rank may have
    half: list[HalfGram] = field(default_factory=list)
    is_gram = True
    is_rounded = True  # the quick Gram matrix is

    @property
    def n_items(self) -> int:
        """Return the number of items."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Return the number of columns that `features` has at most."""
        return self.n_items

    @cached_property
    def _whole(self) -> KernelMap:
        return KernelMap(self.kernel(self.X, self.X))

    def diag(self) -> Array:
        """Return the squared norm of each item."""
        return self.kernel.diag(self.X)

    def gram(self) -> Array:
        """Return the Gram matrix of the items, whole."""
        return self._whole.K

    def quick_gram(self, *, is_shared: bool = False) -> HalfGram:
        """Return the Gram matrix for many products, made once; say at first whether several solves will share it."""
        if not self.half:
            self.half.append(HalfGram.of(self.kernel, self.X, is_shared=is_shared))
        return self.half[0]

    @cached_property
    def in_columns(self) -> LowRankMap | None:
        """Return the same functions by the columns of a few items, where those span all others; else None."""
        return LowRankMap.exact(self.kernel, self.X, self.most_columns)

    def exact(self) -> KernelMap:
        """Return the map with the whole float64 matrix."""
        return self._whole

    def columns(self) -> None:
        """Return None: weights belong to items, not to columns."""
        return

    def against(self, right: NDArray[np.int64], dtype: np.dtype) -> Callable[..., NDArray]:
        """Return (left, spare) -> kernel values between two lists of items, in the given precision."""
        values = self.kernel.against(self.X[right].astype(dtype, copy=False))
        return lambda left, spare: values(self.X[left].astype(dtype, copy=False), spare).astype(dtype, copy=False)

    def forward(self, w: Array) -> Array:
        """Return the utilities of the items."""
        used = np.flatnonzero(w)
        if used.size < w.size / 2 and self.X.dtype == np.float64:
            return self.kernel.weighted_sum(self.X, self.X[used], w[used])
        return streamed_product(self.kernel, self.X, w)

    adjoint = metric = forward_exact = forward

    def adjoint_exact(self, g: Array) -> Array:
        """Return the coefficients of sum_i g_i k(x_i, .): g itself."""
        return g

    def squared_norm(self, w: Array) -> float:
        """Return w' K w, never below zero."""
        return max(float(w @ self.forward(w)), 0.0)

    def features(self) -> Array:
        """Return a factor of K."""
        return self._whole.features()

    def from_features(self, w: Array) -> Array:
        """Return coefficients on the items whose function has the coordinates w."""
        return self._whole.from_features(w)
