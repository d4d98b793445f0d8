"""Products with a kernel matrix: given whole, or kept as the lower half in float32 blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from ..comparisons import IntArray
from ..solution import Array

BLOCK = 256  # rows; an array per block: one large fresh array costs more in page faults than its products


class Gram(Protocol):
    """A symmetric matrix over the items."""

    @property
    def n_items(self) -> int:
        """Return the number of items."""

    def product(self, v: Array) -> Array:
        """Return K v, fast: in float32 where the matrix is."""

    def exact_product(self, v: Array) -> Array:
        """Return K v with float64 sums."""

    def corner(self, items: IntArray) -> NDArray:
        """Return the rows and columns of some items."""

    def columns(self, items: IntArray) -> NDArray:
        """Return the columns of some items."""


@dataclass(frozen=True)
class WholeGram:
    """A dense array, used as it is."""

    K: NDArray

    @property
    def n_items(self) -> int:
        """Return the number of items."""
        return self.K.shape[0]

    def product(self, v: Array) -> Array:
        """Return K v; the symmetric routine reads half of K."""
        symv = blas.ssymv if self.K.dtype == np.float32 else blas.dsymv
        K = self.K.T if self.K.flags.c_contiguous else self.K  # column-major for BLAS, without a copy
        return np.asarray(symv(1.0, K, v.astype(self.K.dtype, copy=False)), dtype=float)

    def exact_product(self, v: Array) -> Array:
        """Return K v with float64 sums."""
        if self.K.dtype == np.float64:
            return self.product(v)
        return np.concatenate([self.K[a : a + BLOCK].astype(float) @ v for a in range(0, self.n_items, BLOCK)])

    def corner(self, items: IntArray) -> NDArray:
        """Return the rows and columns of some items."""
        return self.K[np.ix_(items, items)]

    def columns(self, items: IntArray) -> NDArray:
        """Return the columns of some items."""
        return self.K[:, items]


@dataclass(frozen=True)
class HalfGram:
    """The lower half in float32: block b holds rows b*BLOCK to its end and all columns up to there."""

    blocks: list[NDArray]

    @classmethod
    def of(cls, kernel: Callable[[Any, Any], Array], X: Any) -> HalfGram:
        """Compute the blocks."""
        stops = [min(a + BLOCK, X.shape[0]) for a in range(0, X.shape[0], BLOCK)]
        starts = range(0, X.shape[0], BLOCK)
        return cls([kernel(X[a:b], X[:b]).astype(np.float32) for a, b in zip(starts, stops, strict=True)])

    @property
    def n_items(self) -> int:
        """Return the number of items."""
        return self.blocks[-1].shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        """Return (n_items, n_items): a map may hold this in place of an array."""
        return self.n_items, self.n_items

    def __matmul__(self, v: Array) -> Array:
        return self.exact_product(v)

    def product(self, v: Array) -> Array:
        """Return K v; sums within a block are float32."""
        return self._product(v.astype(np.float32), lambda block: block)

    def exact_product(self, v: Array) -> Array:
        """Return K v with float64 sums."""
        return self._product(v, lambda block: block.astype(float))

    def _product(self, v: NDArray, load: Callable[[NDArray], NDArray]) -> Array:
        out = np.zeros(self.n_items)
        for b, half in enumerate(self.blocks):
            a, rows = b * BLOCK, load(half)
            out[a : rows.shape[1]] += rows @ v[: rows.shape[1]]
            out[:a] += rows[:, :a].T @ v[a : rows.shape[1]]
        return out

    def corner(self, items: IntArray) -> NDArray:
        """Return the rows and columns of some items."""
        order = np.argsort(items)
        ascending = items[order]
        out = np.empty((items.size, items.size), np.float32)
        for b, half in enumerate(self.blocks):
            i, j = np.searchsorted(ascending, [b * BLOCK, half.shape[1]])
            part = half[np.ix_(ascending[i:j] - b * BLOCK, ascending[:j])]
            out[np.ix_(order[i:j], order[:j])] = part
            out[np.ix_(order[:i], order[i:j])] = part[:, :i].T
        return out

    def columns(self, items: IntArray) -> NDArray:
        """Return the columns of some items."""
        out = np.empty((self.n_items, items.size), np.float32)
        for b, half in enumerate(self.blocks):
            a, end = b * BLOCK, half.shape[1]
            before, inside = items < end, (items >= a) & (items < end)
            out[a:end, before] = half[:, items[before]]
            out[:a, inside] = half[items[inside] - a, :a].T
        return out


def as_gram(K: Any) -> Gram:
    """Return a dense array as a Gram; one of ours as it is."""
    return WholeGram(K) if isinstance(K, np.ndarray) else K
