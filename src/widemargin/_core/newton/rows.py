"""Some rows of X, dense or CSR: the two products, and the rows written out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import _counting, _csr
from ..comparisons import IntArray
from ..products import times
from ..solution import Array

EVERY = np.zeros(0, np.int64)


class Rows(Protocol):
    """What a pass asks of a range of rows."""

    def product(self, w: Array) -> Array:
        """Return X w."""

    def adjoint(self, g: Array) -> Array:
        """Return X' g."""

    def squares(self, g: Array) -> Array:
        """Return the sum of g times the squared entries, by column."""

    def dense(self) -> NDArray:
        """Return the rows as a C-contiguous array."""


@dataclass(frozen=True)
class DenseRows:
    """An array, multiplied in its own precision."""

    X: NDArray

    def product(self, w: Array) -> Array:
        """Return X w."""
        return np.asarray(times(self.X, w), dtype=float)

    def adjoint(self, g: Array) -> Array:
        """Return X' g."""
        return np.asarray(times(self.X.T, g), dtype=float)

    def squares(self, g: Array) -> Array:
        """Return the sum of g times the squared entries, by column."""
        return np.asarray(g.astype(self.X.dtype, copy=False) @ self.X**2, dtype=float)

    def dense(self) -> NDArray:
        """Return the rows as a C-contiguous array."""
        return np.ascontiguousarray(self.X)


@dataclass(frozen=True)
class SparseRows:
    """Rows start:stop of a CSR matrix, or rows which[start:stop], where they lie; sums are float64."""

    X: Any
    which: IntArray
    start: int
    stop: int

    def product(self, w: Array) -> Array:
        """Return X w."""
        out = np.empty(self.stop - self.start)
        _csr.product(*self._parts(), w, out)
        return out

    def adjoint(self, g: Array) -> Array:
        """Return X' g."""
        out = np.zeros(self.X.shape[1])
        _csr.adjoint(*self._parts(), g, out, False)
        return out

    def squares(self, g: Array) -> Array:
        """Return the sum of g times the squared entries, by column."""
        out = np.zeros(self.X.shape[1])
        _csr.adjoint(*self._parts(), g, out, True)
        return out

    def dense(self) -> NDArray:
        """Return the rows as a C-contiguous array."""
        rows = slice(self.start, self.stop)
        return self.X[self.which[rows] if self.which.size else rows].toarray()

    def _parts(self) -> tuple[NDArray, NDArray, NDArray, IntArray, int, int]:
        return self.X.data, self.X.indices, self.X.indptr, self.which, self.start, self.stop


def gathered(X: NDArray, which: IntArray) -> NDArray:
    """Return X[which], written without the GIL."""
    out = np.empty((which.size, X.shape[1]), X.dtype)
    _counting.gather(X, which, out)
    return out


def load(X: Any, which: IntArray | None, start: int, stop: int, *, wide: bool) -> Rows:
    """Return rows start:stop, or which[start:stop]; dense ones are a view where they can be, float64 where asked."""
    if sparse.issparse(X):
        return SparseRows(X, EVERY if which is None else which, start, stop)
    rows = X[start:stop] if which is None else gathered(X, which[start:stop])
    return DenseRows(rows.astype(float, copy=False) if wide or rows.dtype.itemsize < 4 else rows)
