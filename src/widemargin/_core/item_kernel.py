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

    def block(self, left: NDArray[np.int64], right: NDArray[np.int64], dtype: Any) -> NDArray:
        """Return kernel values between two lists of items, computed in the given precision."""
        X = self._in(np.dtype(dtype))
        return self.kernel.against(X[right])(X[left]).astype(dtype, copy=False)

    def _in(self, dtype: np.dtype) -> Any:
        return self._single if dtype == np.float32 and not sparse.issparse(self.X) else self.X

    @cached_property
    def _single(self) -> Any:
        return self.X.astype(np.float32, copy=False)

    def forward_exact(self, w: Array) -> Array:
        """Return the utilities of the items."""
        used = np.flatnonzero(w)
        return self.kernel.weighted_sum(self.X, self.X[used], w[used])

    def adjoint_exact(self, g: Array) -> Array:
        """Return the coefficients of sum_i g_i k(x_i, .): g itself."""
        return g

    def features(self) -> Array:
        """Return a factor of K."""
        return self.map.features()

    def from_features(self, w: Array) -> Array:
        """Return coefficients whose function has the coordinates w."""
        return self.map.from_features(w)
