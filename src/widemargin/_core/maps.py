"""From weights to utilities: linear in the features, or a kernel over the items.

Contract: `forward(w) -> u`, `adjoint(g) -> w-like`, `metric(w) -> R w` with ||f||^2 = <w, R w>;
`features() -> F` with F F' the Gram matrix of the items, for solvers that work in p dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from .solution import Array


@dataclass(frozen=True)
class LinearMap:
    """u = X w, with X dense (float32 or float64, never copied) or CSR."""

    X: Array | sparse.csr_array

    @property
    def n_items(self) -> int:
        """Return the number of items."""
        return self.X.shape[0]

    def forward(self, w: Array) -> Array:
        """Return the utilities of the items."""
        return np.asarray(self.X @ w.astype(self.X.dtype, copy=False), dtype=float)

    def adjoint(self, g: Array) -> Array:
        """Return X' g."""
        return np.asarray(self.X.T @ g.astype(self.X.dtype, copy=False), dtype=float)

    def metric(self, w: Array) -> Array:
        """Return R w; here R = I."""
        return w


@dataclass(frozen=True)
class KernelMap:
    """u = K b: one coefficient per item, norm b' K b."""

    K: Array  # (n, n)

    @property
    def n_items(self) -> int:
        """Return the number of items."""
        return self.K.shape[0]

    def forward(self, w: Array) -> Array:
        """Return the utilities of the items."""
        return self.K @ w

    def adjoint(self, g: Array) -> Array:
        """Return K g."""
        return self.K @ g

    def metric(self, w: Array) -> Array:
        """Return R w; here R = K."""
        return self.K @ w
