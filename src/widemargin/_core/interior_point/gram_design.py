"""Pairs of items under a kernel: functions by their coefficients, and Newton's matrix from the Laplacian's factor.

Coefficients that meet pairs only sum to zero over each connected set of compared items. All but one item of each set
are free, and k_i - k_r takes the place of k_i, r being the one left out. With P the kernel of those, z'Pz is the
squared norm and D P z what the pairs reach. Newton's equation (I + L P) z = r has the Laplacian L = D' Omega D over the
free items, positive definite, a block for each set. With L = G G',

    (I + L P)^-1 = I - G (I + G' P G)^-1 G' P,

where G' P G costs little if sets are many, and the factor of I + G' P G a third of a product of two matrices. What it
loses, where omega spans many decades, refinement finds; to the last digits features are better (`ItemDesign`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import blas, lapack
from scipy.sparse import csgraph

from ..comparisons import IntArray, Rows
from ..solution import Array

REFINED, PASSES = 1e-10, 4  # the residual's share of the right side that is small enough, and passes to get there


@dataclass(frozen=True)
class GramDesign:
    """B = D P by its factors."""

    D: sparse.csr_array  # over the free items, set by set
    P: Array  # by columns
    sets: list[slice]  # of free items
    free: IntArray  # items
    left_out: IntArray  # the item that stands behind each free one
    n_items: int
    scale: float = 1.0  # that rows are divided by

    @classmethod
    def of(cls, rows: Rows, K: Array) -> GramDesign:
        """Lay out the sets."""
        n = rows.D.shape[1]
        _, label = csgraph.connected_components(abs(rows.D).T @ abs(rows.D), directed=False)
        order = np.argsort(label, kind="stable")
        ends = np.cumsum(np.bincount(label))
        is_free = np.ones(n, bool)
        is_free[ends - 1] = False
        free, left_out = order[is_free], order[ends - 1][label[order[is_free]]]
        stops = ends - np.arange(1, ends.size + 1)
        sets = [slice(int(a), int(b)) for a, b in zip(np.append(0, stops[:-1]), stops, strict=True) if b > a]
        half = K[free]
        for at in sets:
            half[at] -= K[left_out[at.start]]
        P = np.take(half, free, axis=1)
        for at in sets:
            P[:, at] -= half[:, left_out[at.start], None]
        return cls(sparse.csr_array(rows.D[:, free]), P.T, sets, free, left_out, n)  # symmetric: rows are columns

    @property
    def shape(self) -> tuple[int, int]:
        """Return (rows, free items)."""
        return self.D.shape

    def dot(self, x: Array) -> Array:
        """Return B x."""
        return self.D @ self.function(x) / self.scale

    def function(self, x: Array) -> Array:
        """Return P x."""
        return blas.dsymv(1.0, self.P, x, lower=1)

    def tdot(self, a: Array) -> Array:
        """Return the coefficients of what the multipliers pull."""
        return self.D.T @ a / self.scale

    def square(self, x: Array) -> float:
        """Return the squared norm of a function."""
        return float(x @ self.function(x))

    def row_norms(self) -> Array:
        """Return the norm of each row's function."""
        first, second, is_pair = self._ends
        diagonal = np.diag(self.P)
        square = diagonal[first]
        square[is_pair] += diagonal[second[is_pair]] - 2.0 * self.P[first[is_pair], second[is_pair]]
        return np.sqrt(np.maximum(square, 0.0)) / self.scale

    @property
    def _ends(self) -> tuple[IntArray, IntArray, NDArray[np.bool_]]:
        """Return the free items of each row: one where the other is left out, else two."""
        start, stop, items = self.D.indptr[:-1], self.D.indptr[1:], self.D.indices.astype(np.int64)
        return items[start], items[stop - 1], stop - start > 1

    def shrunk(self, length: float) -> GramDesign:
        """Return B divided by `length`."""
        return replace(self, scale=self.scale * length)

    def coefficients(self, x: Array) -> Array:
        """Return the coefficients of all items."""
        out = np.zeros(self.n_items)
        out[self.free] = x
        out -= np.bincount(self.left_out, x, minlength=self.n_items)
        return out

    def solver(self, omega: Array) -> Callable[[Array], Array]:
        """Return the product with (I + L P)^-1."""
        L = self._laplacian(omega / self.scale**2)
        G = [_cholesky(block.copy(order="F")) for block in L]
        M = np.empty(self.P.shape, order="F")
        for at, g in zip(self.sets, G, strict=True):
            M[:, at] = blas.dtrmm(1.0, g, self.P[:, at], side=1, lower=1)
        for at, g in zip(self.sets, G, strict=True):
            M[at] = blas.dtrmm(1.0, g, np.asfortranarray(M[at]), side=0, lower=1, trans_a=1)
        M.flat[:: self.free.size + 1] += 1.0
        factor = _cholesky(M)

        def times_G(v: Array, *, trans: int = 0) -> Array:
            parts = [blas.dtrmv(g, v[at], lower=1, trans=trans) for at, g in zip(self.sets, G, strict=True)]
            return np.concatenate(parts)

        def once(r: Array) -> Array:
            return r - times_G(lapack.dpotrs(factor, times_G(self.function(r), trans=1), lower=1)[0])

        def solve(rhs: Array) -> Array:
            x, r = np.zeros_like(rhs), rhs
            enough = REFINED * float(np.linalg.norm(rhs))
            for _ in range(PASSES):
                x = x + once(r)
                u = self.function(x)
                pulled = np.concatenate([block @ u[at] for at, block in zip(self.sets, L, strict=True)])
                r = rhs - x - pulled
                if not float(np.linalg.norm(r)) > enough:
                    break
            return x

        return solve

    def _laplacian(self, omega: Array) -> list[Array]:
        """Return D' diag(omega) D, a block for each set."""
        sizes = np.array([at.stop - at.start for at in self.sets])
        begin, offset = np.cumsum(sizes) - sizes, np.cumsum(sizes**2) - sizes**2
        which = np.repeat(np.arange(sizes.size), sizes)
        own = np.arange(which.size) - begin[which]
        first, second, is_pair = self._ends
        at = offset[which[first]] + own[first] * sizes[which[first]] + own[second]
        off = np.bincount(at, np.where(is_pair, -omega, 0.0), minlength=int(np.sum(sizes**2)))
        degree = np.bincount(first, omega, minlength=which.size)
        degree += np.bincount(second, np.where(is_pair, omega, 0.0), minlength=which.size)
        blocks: list[Array] = []
        for k, size in enumerate(sizes):
            half = off[offset[k] : offset[k] + size**2].reshape(size, size)
            block: Array = np.asfortranarray(half + half.T, dtype=float)
            block.flat[:: size + 1] += degree[begin[k] : begin[k] + size]
            blocks.append(block)
        return blocks


def _cholesky(A: Array) -> Array:
    """Return the factor of a positive definite matrix below the diagonal, adding no more to that than it takes.

    A is overwritten; its upper half, as it was, is left above the diagonal.
    """
    diagonal, jitter = np.diag(A).copy(), 0.0
    while jitter < 1.0:
        factor, info = lapack.dpotrf(A, lower=1, clean=0, overwrite_a=1)
        if info == 0:
            return factor
        jitter = max(1e-15, 30.0 * jitter)
        A[:] = np.triu(A, 1).T + np.triu(A, 1)
        A.flat[:: A.shape[0] + 1] = diagonal * (1.0 + jitter)
    raise FloatingPointError("the Newton system is not finite")
