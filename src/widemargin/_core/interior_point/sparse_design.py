"""Rows of very few entries, such as votes on items without features: B and its Gram matrix stay sparse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from ..comparisons import Rows
from ..solution import Array

ENTRIES = 4  # of a row, on average, up to which the Gram matrix is that of a sparse graph
MANY_COLUMNS = 5000  # beyond which its factor may fill up
ROWS_PER_COLUMN = 4  # up to which the factor stays sparse; beyond, a dense one is quicker


@dataclass(frozen=True)
class SparseDesign:
    """B = [D X, E] by rows."""

    B: sparse.csr_array
    p: int

    @classmethod
    def of(cls, rows: Rows, X: Any) -> SparseDesign | None:
        """Return B where it is worth it."""
        if not sparse.issparse(X) or rows.task is not None or X.shape[1] > MANY_COLUMNS:
            return None
        inner = rows.D @ X
        if inner.nnz > ENTRIES * rows.shape[0]:
            return None
        return cls(sparse.csr_array(sparse.hstack([inner, sparse.csr_array(rows.E)], format="csr")), X.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Return (rows, features and levels)."""
        return self.B.shape

    def dot(self, x: Array) -> Array:
        """Return B x."""
        return self.B @ x

    def tdot(self, a: Array) -> Array:
        """Return B' a."""
        return self.B.T @ a

    def gram(self, omega: Array) -> Array | sparse.csc_array:
        """Return B' diag(omega) B: sparse where its factor is likely sparse too."""
        gram = sparse.csc_array(self.B.T @ (sparse.diags_array(omega) @ self.B))
        return gram if self.shape[0] <= ROWS_PER_COLUMN * self.shape[1] else np.asarray(gram.toarray())

    def square(self, x: Array) -> float:
        """Return the squared norm of w."""
        return float(x @ x)

    def row_norms(self) -> Array:
        """Return the norm of each row's feature part."""
        return np.sqrt(np.asarray(self.B[:, : self.p].power(2).sum(axis=1)).ravel())

    def shrunk(self, length: float) -> SparseDesign:
        """Return B with its feature part divided by `length`."""
        scale = np.where(np.arange(self.shape[1]) < self.p, 1.0 / length, 1.0)
        return SparseDesign(sparse.csr_array(self.B @ sparse.diags_array(scale)), self.p)

    def rows(self, keep: NDArray[np.bool_]) -> Array:
        """Return the chosen rows of B, written out."""
        return np.asarray(self.B[np.flatnonzero(keep)].toarray())


def sparse_solver(matrix: sparse.csc_array) -> Callable[[Array], Array]:
    """Return the product with the inverse of a positive definite matrix of unit diagonal."""
    jitter, eye = 1e-15, sparse.eye_array(matrix.shape[0], format="csc")
    while jitter < 1.0:
        try:
            how = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
            solve: Callable[[Array], Array] = splu(sparse.csc_array(matrix + jitter * eye), **how).solve
        except RuntimeError:  # exactly singular
            jitter *= 30.0
        else:
            return solve
    raise FloatingPointError("the Newton system is not finite")
