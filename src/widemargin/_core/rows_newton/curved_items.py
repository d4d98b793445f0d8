"""Solves over the curved items of a Gram matrix K: (K + ridge) y = right, by a Cholesky factor U'U.

Between two steps few items change: the last factor is kept, and what has changed is solved for beside it. With B the
items of the factor, G those of them that are gone and N the new ones, t are the multipliers of y_G = 0, and y_N:

    (K + ridge)_BB y_B + Z t = right_B,   Z = [I_BG, K_BN],   Z'y_B + [0, (K + ridge)_NN] t = [0, right_N].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ..comparisons import IntArray
from ..solution import Array
from .spaces import Coefficients

MOST_RIDGES = 12  # times ten each, from the rounding of K on
SOME_CURVED = 300  # up to which float64 costs nothing that matters, and neither does a new factor
SAFE = 4e-4  # of a ridge that is above the rounding of float32 values: directions by its factors are as good
CHANGED = 0.15  # of the items, up to which the last factor serves


def solved(space: Coefficients, items: IntArray, ridge: Array, right: Array) -> Array:
    """Return y over some items, given in ascending order, for each column of `right`."""
    if items.size == 0:
        return right
    for factor in space.factors:
        change = factor.change(items, ridge)
        if change is not None:
            return factor.solve_changed(space, change, right)
    space.factors.clear()  # before there is another
    factor = Factor.of(space, items, ridge)
    if factor is None:
        return right / (ridge + space.diag()[items])[:, None]
    space.factors.append(factor)
    return factor.solve(right)


class Change(NamedTuple):
    """Items and ridge of another system, and what the factor has of it."""

    items: IntArray
    ridge: Array
    is_same: NDArray[np.bool_]
    same: IntArray  # where those are in the factor
    gone: IntArray  # and all others there


class Factor(NamedTuple):
    """U with U'U = (K + ridge) over some items, in ascending order."""

    items: IntArray
    ridge: Array
    U: NDArray

    @classmethod
    def of(cls, space: Coefficients, items: IntArray, ridge: Array) -> Factor | None:
        """Factor K made anew for each try, with more of a ridge: rounding may spoil its sign. None where nothing helps.

        Many items in float32 where the ridge is not small: half the time, and as many steps.
        """
        largest = float(space.diag()[items].max())
        is_short = items.size > SOME_CURVED and ridge.min() * SAFE > np.finfo(np.float32).eps * largest
        more, dtype = 0.0, np.float32 if is_short else np.float64
        rounding = max(space.rounding, float(np.finfo(dtype).eps))
        for _ in range(MOST_RIDGES):
            M = space.corner(items, dtype)
            np.einsum("ii->i", M)[:] += ridge + more * largest
            U, failed = linalg.get_lapack_funcs("potrf", (M,))(M.T, lower=0, overwrite_a=1)
            if not failed:
                return cls(items, ridge, U)
            more = max(10.0 * more, rounding)
        return None

    def solve(self, right: Array) -> Array:
        """Return y for each column of `right`."""
        potrs = linalg.get_lapack_funcs("potrs", (self.U,))
        return potrs(self.U, right.astype(self.U.dtype), lower=0)[0].astype(float)

    def change(self, items: IntArray, ridge: Array) -> Change | None:
        """Return what is different from another system; None where it is too much, or float32 would spoil it."""
        if self.items.size <= SOME_CURVED or self.U.dtype != np.float64:
            return None
        place = np.minimum(np.searchsorted(self.items, items), self.items.size - 1)
        is_same = (self.items[place] == items) & (self.ridge[place] == ridge)
        same = place[is_same]
        if self.items.size + items.size - 2 * same.size > CHANGED * self.items.size:
            return None
        return Change(items, ridge, is_same, same, np.delete(np.arange(self.items.size), same))

    def solve_changed(self, space: Coefficients, change: Change, right: Array) -> Array:
        """Return y of another system."""
        items, ridge, is_same, same, gone = change
        new = np.flatnonzero(~is_same)
        k, n_gone = gone.size + new.size, gone.size
        Z = np.zeros((self.items.size, k + right.shape[1]), order="F")
        Z[gone, np.arange(n_gone)] = 1.0
        Z[:, n_gone:k] = space.between(self.items, items[new])
        Z[same, k:] = right[is_same]
        Z = linalg.lapack.dtrtrs(self.U, Z, trans=1, overwrite_b=1)[0]
        V, v = Z[:, :k], Z[:, k:]
        S, c = -V.T @ V, -V.T @ v
        S[n_gone:, n_gone:] += space.between(items[new], items[new]) + np.diag(ridge[new])
        c[n_gone:] += right[new]
        t = np.linalg.solve(S, c)
        y = np.empty(right.shape)
        y[is_same] = linalg.lapack.dtrtrs(self.U, v - V @ t, overwrite_b=1)[0][same]
        y[new] = t[n_gone:]
        return y
