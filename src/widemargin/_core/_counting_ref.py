"""What the loops of `_counting` compute, in plain NumPy over all pairs: their documentation and their oracle.

Pairs are written out here, so this is for small data only. z = u[better] - u[worse].
"""

from __future__ import annotations

import numpy as np

from .comparisons import Levels
from .solution import Array


def sums(levels: Levels, u: Array, t: float) -> tuple[float, float, float]:
    """Return H(t), phi(t) and the weight of the active pairs: sums of c (t - z)+, c (t - z)+^2 and c."""
    better, worse = levels.pairs()
    c, gap = levels.weight[better] * levels.weight[worse], t - (u[better] - u[worse])
    active = gap > 0.0  # strict: a margin of exactly t is not a violation
    return float(c[active] @ gap[active]), float(c[active] @ gap[active] ** 2), float(c[active].sum())


def gradient(levels: Levels, u: Array, t: float) -> Array:
    """Return the gradient of phi(t)."""
    better, worse = levels.pairs()
    slope = 2.0 * levels.weight[better] * levels.weight[worse] * np.maximum(t - (u[better] - u[worse]), 0.0)
    g = np.zeros_like(u)
    np.add.at(g, worse, slope)
    np.add.at(g, better, -slope)
    return g


def laplacian(levels: Levels, u: Array, t: float) -> Array:
    """Return the Hessian of phi(t): twice the graph Laplacian of the active pairs."""
    better, worse = levels.pairs()
    curvature = np.where(u[better] - u[worse] < t, 2.0 * levels.weight[better] * levels.weight[worse], 0.0)
    L = np.zeros((u.size, u.size))
    np.add.at(L, (better, better), curvature)
    np.add.at(L, (worse, worse), curvature)
    np.add.at(L, (better, worse), -curvature)
    np.add.at(L, (worse, better), -curvature)
    return L
