"""A preconditioner for many items: Newton's equation, solved on the span of a few of them as a sample sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from ..solution import Array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..comparisons import IntArray
    from ..gram import Span
    from ..risks import GroupedPairRisk

LEAST_SEEN, SEED = 1200, 20102  # items of the sample


@dataclass(frozen=True)
class Galerkin:
    """The inverse of I + C L K on the span of some items S, the identity across it.

    With K_SS = U'U and Y = U^-T K_ST, the Hessian on that span, seen by a sample T, is G = I + C Y L_T Y'. All of the
    Laplacian L_T is kept: with its diagonal alone the constant function would look steep, which is worse than nothing.
    """

    items: IntArray  # S
    columns: NDArray  # K[:, S]
    change: NDArray  # U^-1 (G^-1 - I) U^-T

    @classmethod
    def of(cls, span: Span, risk: GroupedPairRisk, C: float, s: Array) -> Galerkin:
        """Build it at utilities s."""
        items, columns, inverse = span
        sample = risk.sample(max(LEAST_SEEN, 2 * items.size), SEED)
        Yt = columns[sample.items] @ inverse.astype(columns.dtype)
        half = sample.whole.laplacian_all(s[sample.items], Yt).T @ Yt
        G = C * (half + half.T).astype(float)
        diagonal = slice(None, None, items.size + 1)
        G.flat[diagonal] += 1.0
        G = linalg.lapack.dpotri(linalg.cholesky(G))[0]
        G = np.triu(G) + np.triu(G, 1).T
        G.flat[diagonal] -= 1.0
        return cls(items, columns, (inverse @ G @ inverse.T).astype(columns.dtype))

    def __call__(self, q: Array, Kq: Array) -> tuple[Array, Array]:
        """Return z near the solution of (I + C L K) z = q, and K z."""
        d = self.change @ Kq[self.items].astype(self.change.dtype)
        z = q.copy()
        z[self.items] += d
        return z, Kq + self.columns @ d
