"""A kernel map that computes what is asked for: the matrix over all items only where a solver cannot do without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .kernels import Kernel
from .maps import KernelMap
from .solution import Array


@dataclass(frozen=True)
class ItemKernelMap:
    """u = K b, K over the items X; `whole` gives K, checks included."""

    kernel: Kernel
    X: Any
    whole: Callable[[], Array]
    is_gram = True

    @cached_property
    def map(self) -> KernelMap:
        """Return the map that holds K."""
        return KernelMap(self.whole())

    @property
    def n_items(self) -> int:
        """Return the number of items."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Return the number of columns that `features` has at most."""
        return self.n_items

    def gram(self) -> Array:
        """Return the Gram matrix of the items."""
        return self.map.gram()

    def kernel_block(self) -> Array:
        """Return the kernel's own values, to be tested for convexity."""
        return self.map.kernel_block()

    def columns(self) -> None:
        """Return None: weights belong to items, not to columns."""
        return

    def against(self, right: NDArray[np.int64], dtype: np.dtype) -> Callable[[NDArray[np.int64]], NDArray]:
        """Return left -> kernel values between two lists of items, in the given precision."""
        X = self._single if dtype == np.float32 else self.X
        values = self.kernel.against(X[right])
        return lambda left: values(X[left]).astype(dtype, copy=False)

    @cached_property
    def _single(self) -> Any:
        return self.X if sparse.issparse(self.X) else self.X.astype(np.float32, copy=False)

    def forward_exact(self, w: Array) -> Array:
        """Return the utilities of the items."""
        if "map" in vars(self):  # K is there already
            return self.map.forward_exact(w)
        used = np.flatnonzero(w)
        return self.kernel.weighted_sum(self.X, self.X[used], w[used])

    def forward(self, w: Array) -> Array:
        """Return the utilities of the items."""
        return self.map.forward(w)

    def adjoint(self, g: Array) -> Array:
        """Return K g."""
        return self.map.adjoint(g)

    def metric(self, w: Array) -> Array:
        """Return R w; here R = K."""
        return self.map.metric(w)

    def squared_norm(self, w: Array) -> float:
        """Return w' K w, never below zero."""
        return max(0.0, float(w @ self.forward_exact(w)))

    def adjoint_exact(self, g: Array) -> Array:
        """Return the coefficients of sum_i g_i k(x_i, .): g itself."""
        return g

    def features(self) -> Array:
        """Return a factor of K."""
        return self.map.features()

    def from_features(self, w: Array) -> Array:
        """Return coefficients whose function has the coordinates w."""
        return self.map.from_features(w)
