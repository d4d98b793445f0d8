"""A preconditioner for many items: Newton's equation, solved on the span of a few of them as a sample sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from ..risks import Block, Parts
from ..solution import Array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..comparisons import IntArray
    from ..risks import GroupedPairRisk
    from ..span import Span

LEAST_SEEN, LEAST_SEEN_SHARED, SEED = 1200, 4000, 20102  # items of the sample, for one solve and for several
WIDEST = 1e4  # entries of the Hessian beside which float32 still knows the identity
ACROSS = 3.0  # eigenvalues that matter across the span, in means of them


def _across(risk: GroupedPairRisk, C: float, s: Array, rest: float) -> float:
    """Return the inverse of I + C L K across the span, as one number: L is its mean degree, K the mean of the rest."""
    degree = float(np.mean(risk.degrees(s, Block(0, s.size, np.arange(risk.starts.size - 1)))))
    return 1.0 / (1.0 + ACROSS * C * degree * max(rest, 0.0))


def summed(risk: GroupedPairRisk, s: Array, Y: NDArray, largest: float) -> Array:
    """Return A with A + A' = Y' L Y: in the precision of Y, unless entries are larger than that can hold beside 1."""
    with np.errstate(over="ignore", invalid="ignore"):
        LY = risk.laplacian_all(s, Y)
        if Y.dtype == np.float64 or np.max(np.einsum("ij,ij->j", LY, Y), initial=0.0) <= largest:
            return (LY.T @ Y).astype(float, copy=False)
    return summed(risk, s, Y.astype(float), largest)


@dataclass(frozen=True)
class Identity:
    """No preconditioner."""

    is_wide = False
    parts = Parts(np.zeros(0, np.int64), np.zeros((0, 0)), np.zeros((0, 0)), np.zeros((0, 0)), 1.0)

    def __call__(self, q: Array) -> Array:
        """Return q."""
        return q


@dataclass(frozen=True)
class Galerkin:
    """The inverse of I + C L K on the span of some items S, the identity across it.

    With K_SS = U'U and Y = U^-T K_ST, the Hessian on that span, seen by a sample T, is G = I + C Y L_T Y'. All of the
    Laplacian L_T is kept: with its diagonal alone the constant function would look steep, which is worse than nothing.
    """

    items: IntArray  # S
    columns: NDArray  # K[:, S]
    change: NDArray  # U^-1 (G^-1 - across) U^-T
    across: float
    near = 3.5  # ratio of C, or of smoothings, over which this is kept
    is_wide = False
    parts = None  # steps with it are not compiled

    @classmethod
    def of(cls, span: Span, risk: GroupedPairRisk, C: float, s: Array) -> Galerkin:
        """Build it at utilities s."""
        items, columns, inverse = span.items, span.columns_at_hand, span.inverse
        sample = risk.sample(max(LEAST_SEEN, 2 * items.size), SEED)
        Yt = columns[sample.items] @ inverse.astype(columns.dtype)
        half = sample.whole.laplacian_all(s[sample.items], Yt).T @ Yt
        G = C * (half + half.T).astype(float)
        diagonal = slice(None, None, items.size + 1)
        G.flat[diagonal] += 1.0
        G = linalg.lapack.dpotri(linalg.cholesky(G))[0]
        G = np.triu(G) + np.triu(G, 1).T
        rest = float(np.mean(span.diagonal[sample.items] - np.einsum("ij,ij->i", Yt, Yt)))
        across = _across(sample.whole, C, s[sample.items], rest)
        G.flat[diagonal] -= across
        return cls(items, columns, (inverse @ G @ inverse.T).astype(columns.dtype), across)

    def __call__(self, q: Array) -> Array:
        """Return z near the solution of (I + C L K) z = q, and K z, from q and K q."""
        d = self.change @ q[1, self.items].astype(self.change.dtype)
        z = self.across * q
        z[0, self.items] += d
        z[1] += self.columns @ d
        return z


@dataclass(frozen=True)
class Steady:
    """The same inverse by the coordinates of functions in an orthonormal basis.

    U^-1 is large where items are nearly dependent. Here it makes coefficients only, in float64, and no values K z: at a
    large C nothing cancels. The basis costs as much as many products, so that this pays where several solves share it.
    """

    items: IntArray
    inverse: Array  # U^-1
    basis: NDArray  # values at all items
    change: Array  # G^-1 - across
    across: float
    is_wide: bool  # whether it is on the span of many items
    near = 100.0  # ratio of C, or of smoothings, over which this is kept: it is dear

    @classmethod
    def of(cls, span: Span, risk: GroupedPairRisk, C: float, s: Array) -> Steady:
        """Build it at utilities s."""
        n_seen = s.size if span.is_wide else max(LEAST_SEEN_SHARED, 2 * span.items.size)
        diagonal = span.diagonal
        if n_seen < s.size:
            sample = risk.sample(n_seen, SEED)
            risk, s, Y = sample.whole, s[sample.items], span.basis[sample.items]
            diagonal = diagonal[sample.items]
        else:
            Y = span.basis
        across = _across(risk, C, s, float(np.mean(diagonal - np.einsum("ij,ij->i", Y, Y))))
        half = summed(risk, s, Y, WIDEST / C)
        G = C * (half + half.T)
        G.flat[:: span.items.size + 1] += 1.0
        change = linalg.lapack.dpotri(linalg.cholesky(G, overwrite_a=True, check_finite=False), overwrite_c=True)[0]
        change.T.flat[:: span.items.size + 1] -= across
        return cls(span.items, span.inverse, span.basis, change, across, span.is_wide)

    @property
    def parts(self) -> Parts:
        """Return what compiled steps ask for."""
        return Parts(self.items, self.inverse, self.change, self.basis, self.across)

    def __call__(self, q: Array) -> Array:
        """Return z near the solution of (I + C L K) z = q, and K z, from q and K q."""
        c = blas.dtrmv(self.inverse, q[1, self.items], trans=1)
        c = blas.dsymv(1.0, self.change, c)
        z = self.across * q
        z[0, self.items] += blas.dtrmv(self.inverse, c)
        z[1] += self.basis @ c.astype(self.basis.dtype)
        return z
