"""Items under a kernel of which some are the same: one coefficient for all copies of an item.

The matrix of all items is singular then, and its inverse, which needs a ridge, large along the differences of copies:
rounding would be what iterations see there. With E the copies (row i has a 1 at the item that i is) it is

    ((C K)^-1 + E'LE) du = E'r + m,     ds = E du

over the different items, as many as there are, however often they occur.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from ..comparisons import IntArray
from ..lower_half import room
from ..solution import Array
from .spaces import ItemSpace, Solver, Space

ROWS = 64


def kernel_space(K: Array, order: IntArray, which: IntArray | None = None) -> Space | None:
    """Return the functions of the items in their order; None where no small ridge makes K positive definite.

    Items are counted as `which` of the different ones they are, or are all different.
    """
    if which is None:
        return ItemSpace.of(chosen(K, order))
    _, first, which = np.unique(which[order], return_index=True, return_inverse=True)
    items = ItemSpace.of(chosen(K, order[first]))
    return None if items is None else CopySpace(items, first.astype(np.int64), which.astype(np.int64))


def chosen(K: Array, items: IntArray) -> Array:
    """Return the symmetric matrix of some items in their order, by columns; some rows at a time, which caches hold."""
    out = room(items.size, items.size, np.float64)
    for a in range(0, items.size, ROWS):
        some = K[items[a : a + ROWS]].astype(float, copy=False)  # a user's kernel may be float32
        np.take(some, items, axis=1, out=out[a : a + ROWS], mode="clip")
    return out.T


@dataclass(frozen=True)
class CopySpace:
    """Functions under a kernel, by coefficients of the different ones of the sorted items."""

    items: ItemSpace
    first: IntArray  # where each occurs first
    which: IntArray  # of them each item is
    is_by_item: ClassVar[bool] = True

    @property
    def n_coordinates(self) -> int:
        """Return the number of different items."""
        return self.first.size

    @property
    def noise(self) -> float:
        """Return that of the different items."""
        return self.items.noise

    def of_items(self, b: Array) -> Array:
        """Return the sums over copies."""
        return np.bincount(self.which, b, self.first.size).astype(float, copy=False)

    pulled = of_items

    def by_items(self, w: Array) -> Array:
        """Return the coefficients, each at the first copy."""
        out = np.zeros(self.which.size)
        out[self.first] = w
        return out

    def followed(self, w: Array) -> Array:
        """Return (K + ridge) w, for all copies."""
        return self.items.followed(w)[self.which]

    def utilities(self, w: Array, followed: Array) -> Array:
        """Return K w."""
        return self.items.utilities(w, followed[self.first])[self.which]

    def square(self, w: Array, utilities: Array | None = None) -> float:
        """Return w'Kw."""
        return self.items.square(w, None if utilities is None else utilities[self.first])

    def begin(self, cost: float, matrix: Array) -> None:  # noqa: ARG002
        """Set nothing."""
        matrix[:] = 0.0

    def solver(self, cost: float, matrix: Array) -> Solver | None:
        """Sum up the Laplacian of the copies, of which the lower half is given, and factor."""
        n, d = self.which.size, self.first.size
        copies = sparse.csr_array((np.ones(n), (self.which, np.arange(n))), shape=(d, n))
        lower = copies @ (copies @ matrix.T).T  # rows of what comes by columns: SciPy copies it else
        hessian = np.empty((d, d), order="F")
        self.items.begin(cost, hessian)
        hessian += lower + lower.T
        hessian[np.diag_indices(d)] -= self.of_items(np.diag(matrix))
        factor, info = lapack.dpotrf(hessian, lower=1, clean=0, overwrite_a=1)
        if info != 0:
            return None
        return lambda r, m: lapack.dpotrs(factor, self.of_items(r) + m, lower=1)[0][self.which]
