"""What a relative gap does not see: a model that is too small to matter to the objective, and sums that cancelled."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..solution import Array, Solution, Status

if TYPE_CHECKING:
    from ..risks import GroupedPairRisk

SAMPLE = 500  # items whose utilities stand for all when their size is needed


class Map(Protocol):
    """What the last look asks of a map."""

    def columns(self) -> Any | None:
        """Return X with u = X w, or None."""

    def forward_exact(self, w: Array) -> Array:
        """Return the utilities in float64."""

    def adjoint_exact(self, g: Array) -> Array:
        """Return the weights of the function sum_i g_i k(x_i, .)."""

    def squared_norm(self, w: Array) -> float:
        """Return <w, R w>."""


def nonzero(risk: GroupedPairRisk, map_: Map, C: float, solution: Solution) -> Solution:
    """Return the image of the multipliers where w = 0 passed as good enough.

    With a tiny C nearly all of the objective is loss, and zero is within any tolerance; but the order that w gives
    does not depend on its length.
    """
    if np.any(solution.weights) or not np.any(solution.coefficients):
        return solution
    w = map_.adjoint_exact(solution.coefficients)
    for _ in range(60):
        value = 0.5 * map_.squared_norm(w) + C * risk.evaluate(map_.forward_exact(w))[0].loss
        if value <= solution.objective:
            return replace(solution, weights=w, objective=value, utilities=None, squared_norm=None)
        w = 0.5 * w
    return solution


def honest(
    risk: GroupedPairRisk, map_: Map, C: float, solution: Solution, tol: float, largest: float = 0.0
) -> Solution:
    """Lower the bound by what rounding may have added; say so where that spoils the gap.

    Losses are differences of sums over all sorted items, so that their error is that of the sums: of the size of
    weight * (1 + |u|)^2 for squared slacks, however small the losses are. Utilities under a kernel are sums of its
    values, up to `largest`, times coefficients, which may cancel; the multipliers say what an error of them costs.
    """
    known = solution.utilities
    u = _some_utilities(map_, solution.weights) if known is None else known
    size = 1.0 + float(np.abs(u).max(initial=0.0))
    power = 2 if risk.loss.squared else 1
    cancelled = 0.0
    if largest > 0.0:
        cancelled = largest * float(np.abs(solution.weights).sum()) * float(np.abs(solution.coefficients).sum())
    rounding = np.finfo(float).eps * (4.0 * C * risk.levels.total_weight * size**power + cancelled)
    if rounding <= 0.1 * tol * solution.objective:
        return solution
    return replace(solution, dual=min(solution.dual, solution.objective) - rounding, status=Status.STALLED)


def _some_utilities(map_: Map, w: Array) -> Array:
    X = map_.columns()
    if X is None:
        return map_.forward_exact(w)
    return np.asarray(X[:: max(1, X.shape[0] // SAMPLE)] @ w)
