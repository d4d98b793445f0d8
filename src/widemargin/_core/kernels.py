"""Kernels over items. A kernel is `k(X, Z)`, `diag(X)` and `resolve(X)`; sums and products come for free."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import comb, inf
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import lapack

from . import _rbf
from .products import times
from .solution import Array

TILE_ROWS, TILE_COLUMNS = 128, 1024  # one megabyte of kernel values

FEW_FEATURES = 64  # up to which products and exponentials in one pass are quicker than a matrix product and they

Values: TypeAlias = Callable[..., Array]  # (X, spare) -> k(X, Z)


class Kernel(ABC):
    """A similarity of items. `is_psd` says whether every matrix it makes is positive semi-definite."""

    is_psd: bool = True

    @abstractmethod
    def __call__(self, X: Any, Z: Any) -> Array:
        """Return the matrix of k(x, z)."""

    @abstractmethod
    def diag(self, X: Any) -> Array:
        """Return k(x, x) for each row."""

    def against(self, Z: Any) -> Values:
        """Return the function X -> k(X, Z), with what depends on Z alone computed once.

        It takes an array beside X that the values may be written into: tiles in fresh memory cost a quarter more.
        """
        return lambda X, spare=None: self(X, Z)  # noqa: ARG005

    def weighted_sum(self, X: Any, Z: Any, v: Array) -> Array:
        """Return k(X, Z) @ v in tiles that stay in the processor's cache; the matrix is never whole.

        Dense float32 rows are evaluated in float32.
        """
        out = np.zeros((X.shape[0], *v.shape[1:]))
        spare = np.empty(min(TILE_ROWS, X.shape[0]) * min(TILE_COLUMNS, Z.shape[0]), X.dtype)
        for j in range(0, Z.shape[0], TILE_COLUMNS):
            k, part = self.against(_like(Z[j : j + TILE_COLUMNS], X)), v[j : j + TILE_COLUMNS]
            for i in range(0, X.shape[0], TILE_ROWS):
                K = k(X[i : i + TILE_ROWS], spare)
                out[i : i + TILE_ROWS] += times(K, part)
        return out

    def rank(self, n_features: int) -> float:  # noqa: ARG002
        """Return the most that the rank of a kernel matrix can be by the kernel's form."""
        return inf

    def resolve(self, X: Any) -> Kernel:  # noqa: ARG002
        """Return the kernel with what it takes from the training items, such as gamma="scale", made a number."""
        return self

    def __add__(self, other: Kernel) -> Kernel:
        return Sum(self, other)

    def __mul__(self, other: Kernel) -> Kernel:
        return Product(self, other)


def _in_one_pass(origin: Array, right: NDArray) -> Values:
    """Return X -> exp([x, |x|^2, 1] . right), x less the origin, in the precision of `right`."""
    (p, n), dtype, pack = right.shape, right.dtype, _rbf.PACK // right.itemsize
    packed = np.zeros((p, -(-n // pack) * pack), dtype)
    packed[:, :n] = right
    packed = np.ascontiguousarray(packed.reshape(p, -1, pack).swapaxes(0, 1))

    def values(X: Any, spare: NDArray | None = None) -> Array:
        X = np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X, dtype=dtype)
        out = _room(spare, (len(X), n), dtype)
        out = np.empty((len(X), n), dtype) if out is None else out
        _rbf.values(X, origin, packed, out)
        return out

    return values


def _by_blas(origin: Array, right: NDArray) -> Values:
    """Do the same by a matrix product, which is quicker where x has many entries."""

    def values(X: Any, spare: NDArray | None = None) -> Array:
        X = (X.toarray() if sparse.issparse(X) else X) - origin
        left = np.column_stack([X, np.einsum("ij,ij->i", X, X), np.ones(len(X), X.dtype)])
        E = np.matmul(left, right, out=_room(spare, (len(X), right.shape[1]), np.result_type(left, right)))
        if E.max(initial=0.0) > 0.0:
            np.minimum(E, 0.0, out=E)
        return np.exp(E, out=E)

    return values


def _room(spare: NDArray | None, shape: tuple[int, int], dtype: np.dtype) -> NDArray | None:
    """Return an array of this shape in memory that is at hand, or None."""
    size = shape[0] * shape[1]
    return spare[:size].reshape(shape) if spare is not None and spare.dtype == dtype and spare.size >= size else None


@dataclass(frozen=True)
class Linear(Kernel):
    """k(x, z) = x.z"""

    def __call__(self, X: Any, Z: Any) -> Array:
        return _dot(X, Z)

    def rank(self, n_features: int) -> float:
        """Return the number of features."""
        return n_features

    def diag(self, X: Any) -> Array:
        """Return k(x, x) for each row."""
        return _squared_norms(X)


@dataclass(frozen=True)
class RBF(Kernel):
    """k(x, z) = exp(-gamma |x - z|^2); gamma may be "scale" or "auto", as in scikit-learn."""

    gamma: float | str = "scale"

    def __post_init__(self) -> None:
        if not isinstance(self.gamma, str) and not self.gamma > 0:
            raise ValueError(f"gamma={self.gamma!r} is out of range; expected a number above 0, 'scale' or 'auto'.")

    def __call__(self, X: Any, Z: Any) -> Array:
        return self.against(np.asarray(Z, dtype=float) if not sparse.issparse(Z) else Z)(X)

    def against(self, Z: Any) -> Values:
        """Return X -> k(X, Z); one matrix product gives -gamma |x - z|^2 = [x, |x|^2, 1] . [2 gamma z, -gamma, ...]."""
        gamma = _number(self.gamma)
        if sparse.issparse(Z):
            norms = _squared_norms(Z)
            return lambda X, spare=None: np.exp(  # noqa: ARG005
                -gamma * np.maximum(_squared_norms(X)[:, None] + norms[None, :] - 2.0 * _dot(X, Z), 0.0)
            )
        origin = Z.mean(axis=0, dtype=float).astype(Z.dtype)  # distances do not move with it, their rounding does
        Z = Z - origin
        norms = np.einsum("ij,ij->i", Z, Z)
        right = np.vstack([2.0 * gamma * Z.T, np.full(len(Z), -gamma), -gamma * norms]).astype(Z.dtype)
        return _in_one_pass(origin, right) if origin.size <= FEW_FEATURES else _by_blas(origin, right)

    def diag(self, X: Any) -> Array:
        """Return k(x, x) for each row."""
        return np.ones(X.shape[0])

    def resolve(self, X: Any) -> Kernel:
        """Return the kernel with a number for gamma."""
        return replace(self, gamma=_gamma(self.gamma, X))


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(x, z) = (gamma x.z + coef0)^degree"""

    degree: int = 3
    gamma: float | str = "scale"
    coef0: float = 0.0

    @property
    def is_psd(self) -> bool:  # type: ignore[override]
        """Whether all coefficients of the polynomial are non-negative."""
        positive = isinstance(self.gamma, str) or self.gamma > 0
        return positive and self.coef0 >= 0 and float(self.degree).is_integer()

    def __call__(self, X: Any, Z: Any) -> Array:
        return (_number(self.gamma) * _dot(X, Z) + self.coef0) ** self.degree

    def rank(self, n_features: int) -> float:
        """Return the number of monomials: up to the degree, or of the degree itself."""
        if not float(self.degree).is_integer():
            return inf
        return comb(n_features + int(self.degree) - (self.coef0 == 0.0), int(self.degree))

    def diag(self, X: Any) -> Array:
        """Return k(x, x) for each row."""
        return (_number(self.gamma) * _squared_norms(X) + self.coef0) ** self.degree

    def resolve(self, X: Any) -> Kernel:
        """Return the kernel with a number for gamma."""
        return replace(self, gamma=_gamma(self.gamma, X))


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """k(x, z) = tanh(gamma x.z + coef0): rarely positive semi-definite."""

    gamma: float | str = "scale"
    coef0: float = 0.0
    is_psd = False

    def __call__(self, X: Any, Z: Any) -> Array:
        return np.tanh(_number(self.gamma) * _dot(X, Z) + self.coef0)

    def diag(self, X: Any) -> Array:
        """Return k(x, x) for each row."""
        return np.tanh(_number(self.gamma) * _squared_norms(X) + self.coef0)

    def resolve(self, X: Any) -> Kernel:
        """Return the kernel with a number for gamma."""
        return replace(self, gamma=_gamma(self.gamma, X))


@dataclass(frozen=True)
class Function(Kernel):
    """A user's function of two matrices."""

    function: Callable[[Any, Any], Any]
    is_psd = False

    def __call__(self, X: Any, Z: Any) -> Array:
        K = np.asarray(self.function(X, Z), dtype=float)
        if K.shape != (X.shape[0], Z.shape[0]):
            raise ValueError(
                f"the kernel function returned an array of shape {K.shape} for {X.shape[0]} and {Z.shape[0]} rows; "
                f"expected {(X.shape[0], Z.shape[0])}."
            )
        return K

    def diag(self, X: Any) -> Array:
        """Return k(x, x) for each row."""
        return np.array([float(self(X[i : i + 1], X[i : i + 1])[0, 0]) for i in range(X.shape[0])])


@dataclass(frozen=True)
class Sum(Kernel):
    """The sum of two kernels."""

    left: Kernel
    right: Kernel

    @property
    def is_psd(self) -> bool:  # type: ignore[override]
        """Whether both parts are."""
        return self.left.is_psd and self.right.is_psd

    def __call__(self, X: Any, Z: Any) -> Array:
        return self.left(X, Z) + self.right(X, Z)

    def rank(self, n_features: int) -> float:
        """Return at most the sum of both."""
        return self.left.rank(n_features) + self.right.rank(n_features)

    def diag(self, X: Any) -> Array:
        """Return k(x, x) for each row."""
        return self.left.diag(X) + self.right.diag(X)

    def resolve(self, X: Any) -> Kernel:
        """Resolve both parts."""
        return Sum(self.left.resolve(X), self.right.resolve(X))


@dataclass(frozen=True)
class Product(Kernel):
    """The elementwise product of two kernels."""

    left: Kernel
    right: Kernel

    @property
    def is_psd(self) -> bool:  # type: ignore[override]
        """Whether both parts are."""
        return self.left.is_psd and self.right.is_psd

    def __call__(self, X: Any, Z: Any) -> Array:
        return self.left(X, Z) * self.right(X, Z)

    def rank(self, n_features: int) -> float:
        """Return at most the product of both."""
        return self.left.rank(n_features) * self.right.rank(n_features)

    def diag(self, X: Any) -> Array:
        """Return k(x, x) for each row."""
        return self.left.diag(X) * self.right.diag(X)

    def resolve(self, X: Any) -> Kernel:
        """Resolve both parts."""
        return Product(self.left.resolve(X), self.right.resolve(X))


def _like(Z: Any, X: Any) -> Any:
    """Return Z in the precision of X."""
    return Z if sparse.issparse(Z) or sparse.issparse(X) else Z.astype(X.dtype, copy=False)


def lowest_eigenvalue_ratio(K: Array, negligible: float = -1e-8) -> float:
    """Return the smallest eigenvalue of a symmetric matrix as a share of the largest in size.

    Where a Cholesky factor shows that the share is not below `negligible`, this is what is returned: it takes a tenth
    of the time, and nobody asks further.
    """
    S = 0.5 * (K + K.T)
    if is_nearly_psd(S, negligible):
        return negligible
    values = np.linalg.eigvalsh(S)
    return float(values[0] / max(np.abs(values).max(), 1e-300))


def is_nearly_psd(S: Array, negligible: float) -> bool:
    """Return whether a Cholesky factor shows that no eigenvalue is below this share of the largest."""
    size = float(np.linalg.norm(S)) / np.sqrt(max(1, len(S)))  # at most the largest eigenvalue
    shifted = np.array(S, dtype=float)
    shifted.flat[:: len(S) + 1] -= 0.5 * negligible * size
    return bool(lapack.dpotrf(shifted, overwrite_a=1)[1] == 0)


def _dot(X: Any, Z: Any) -> Array:
    """Return X Z', dense, in float64: kernels of float32 rows are not rounded to float32."""
    if sparse.issparse(X) or sparse.issparse(Z):
        product = X.astype(float) @ Z.T.astype(float)
        return product.toarray() if sparse.issparse(product) else np.asarray(product)
    return np.asarray(X, dtype=float) @ np.asarray(Z, dtype=float).T


def _squared_norms(X: Any) -> Array:
    if sparse.issparse(X):
        X = X.astype(float, copy=False)
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=float)


def _number(gamma: float | str) -> float:
    if isinstance(gamma, str):
        raise TypeError(f"gamma={gamma!r} is a rule, not a number yet; call kernel.resolve(X) with the training items.")
    return float(gamma)


def _gamma(gamma: float | str, X: Any) -> float:
    """Return scikit-learn's "scale" (1 / (p var)) or "auto" (1 / p) as a number."""
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma != "scale":
        raise ValueError(f"gamma={gamma!r} is not understood; expected 'scale', 'auto' or a number.")
    var = float(X.multiply(X).mean() - X.mean() ** 2) if sparse.issparse(X) else float(np.var(X, dtype=float))
    return 1.0 / (X.shape[1] * var) if var > 0 else 1.0
