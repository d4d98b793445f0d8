"""Spaces of functions in which an interior point over pairs moves: coefficients of items, or weights of columns.

With cost C and the Laplacian L of the pairs' weights, Newton's equation for the utilities s = C K w is

    items:    ((C K)^-1 + L) ds = r + m,         w coefficients, m what they miss of the multipliers' pull
    columns:  ds = X (I / C + X'LX)^-1 (X'r + m),  K = X X', w weights

The inverse of K is made once for all iterations and all C. It is that of K + ridge, so small that answers are as good
for K; squares and utilities that are reported are those of K itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
from scipy import sparse
from scipy.linalg import blas, lapack

from ..comparisons import IntArray
from ..lower_half import room
from ..solution import Array

Solver: TypeAlias = Callable[[Array, Array], Array]  # of right sides by item, and by coordinate

RIDGE, LARGEST_RIDGE = 1e-10, 1e-6  # shares of the mean diagonal: the first that has a factor is taken
HALF_EPS = 0.5 * float(np.finfo(float).eps)


class Space(Protocol):
    """What an interior point over pairs asks of its functions, divided by the cost."""

    is_by_item: ClassVar[bool]

    @property
    def n_coordinates(self) -> int:
        """Return the number of coordinates."""

    @property
    def noise(self) -> float:
        """Return what rounding may make of the squared norm of a function whose coefficients have sum of sizes 1."""

    def of_items(self, b: Array) -> Array:
        """Return the coordinates of a function with these coefficients of the items, where it is by those."""

    def by_items(self, w: Array) -> Array:
        """Return such coefficients."""

    def pulled(self, flow: Array) -> Array:
        """Return the coordinates of what multipliers pull."""

    def followed(self, w: Array) -> Array:
        """Return the utilities that iterations follow."""

    def utilities(self, w: Array, followed: Array) -> Array:
        """Return the utilities themselves, from those that are followed."""

    def square(self, w: Array, utilities: Array | None = None) -> float:
        """Return the squared norm."""

    def begin(self, cost: float, matrix: Array) -> None:
        """Set the lower half of a matrix to which the Laplacian will be added."""

    def solver(self, cost: float, matrix: Array) -> Solver | None:
        """Return what solves Newton's equation, in place of the matrix; None where it has no factor."""


@dataclass(frozen=True)
class ItemSpace:
    """Functions under a kernel, by coefficients of the sorted items."""

    K: Array  # by columns
    ridge: float
    inverse: Array  # the lower half of (K + ridge)^-1
    is_by_item: ClassVar[bool] = True

    @classmethod
    def of(cls, K: Array) -> ItemSpace | None:
        """Invert the matrix of the sorted items, by columns; None where no small ridge makes it positive definite."""
        n, share = len(K), RIDGE
        mean = float(np.trace(K)) / n
        while share <= LARGEST_RIDGE and mean > 0.0:
            matrix = room(n, n, np.float64).T
            matrix[:] = K
            matrix[np.diag_indices(n)] += share * mean
            factor, info = lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
            if info == 0:
                return cls(K, share * mean, lapack.dpotri(factor, lower=1, overwrite_c=1)[0])
            share *= 10.0
        return None

    @property
    def n_coordinates(self) -> int:
        """Return the number of items."""
        return len(self.K)

    @property
    def noise(self) -> float:
        """Return what rounding of the kernel's values may be: their sums may cancel."""
        return HALF_EPS * float(np.max(np.abs(self.K)))

    def of_items(self, b: Array) -> Array:
        """Return the coefficients as they are."""
        return b

    by_items = pulled = of_items

    def followed(self, w: Array) -> Array:
        """Return (K + ridge) w."""
        return blas.dsymv(1.0, self.K, w, lower=1) + self.ridge * w

    def utilities(self, w: Array, followed: Array) -> Array:
        """Return K w."""
        return followed - self.ridge * w

    def square(self, w: Array, utilities: Array | None = None) -> float:
        """Return w'Kw."""
        return float(w @ (blas.dsymv(1.0, self.K, w, lower=1) if utilities is None else utilities))

    def begin(self, cost: float, matrix: Array) -> None:
        """Set the inverse of cost times the kernel."""
        np.multiply(self.inverse, 1.0 / cost, out=matrix)

    def solver(self, cost: float, matrix: Array) -> Solver | None:  # noqa: ARG002 (begin took it)
        """Factor the whole."""
        factor, info = lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
        return None if info != 0 else lambda r, m: lapack.dpotrs(factor, r + m, lower=1)[0]


@dataclass(frozen=True)
class ColumnSpace:
    """Linear functions, by the weights of columns."""

    X: Array  # of the sorted items, by columns
    is_by_item: ClassVar[bool] = False

    @classmethod
    def of(cls, X: Any, order: IntArray) -> ColumnSpace:
        """Sort the rows."""
        rows = X[order]
        return cls(np.asfortranarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=float))

    @property
    def n_coordinates(self) -> int:
        """Return the number of columns."""
        return self.X.shape[1]

    @property
    def noise(self) -> float:
        """Return nothing: squares are summed, and do not cancel."""
        return 0.0

    def of_items(self, b: Array) -> Array:
        """Return the weights as they are: nobody has coefficients of items."""
        return b

    by_items = of_items

    def pulled(self, flow: Array) -> Array:
        """Return X' flow."""
        return self.X.T @ flow

    def followed(self, w: Array) -> Array:
        """Return X w."""
        return self.X @ w

    def utilities(self, w: Array, followed: Array) -> Array:  # noqa: ARG002
        """Return the same."""
        return followed

    def square(self, w: Array, utilities: Array | None = None) -> float:  # noqa: ARG002
        """Return w'w."""
        return float(w @ w)

    def begin(self, cost: float, matrix: Array) -> None:  # noqa: ARG002
        """Set nothing."""
        matrix[:] = 0.0

    def solver(self, cost: float, matrix: Array) -> Solver | None:
        """Factor I / cost + X'LX."""
        hessian = self.X.T @ blas.dsymm(1.0, matrix, self.X, lower=1)
        hessian[np.diag_indices_from(hessian)] += 1.0 / cost
        factor, info = lapack.dpotrf(np.asfortranarray(hessian), lower=1, clean=0, overwrite_a=1)
        return None if info != 0 else lambda r, m: self.X @ lapack.dpotrs(factor, self.X.T @ r + m, lower=1)[0]
