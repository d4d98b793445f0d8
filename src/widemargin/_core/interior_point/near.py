"""From a solution to a gap to the exact one, where most rows are known to be met or to fall short.

Hinge: rows far from their margin keep their multiplier, 0 or C * weight. With v the function of the latter,
1/2 |w|^2 - <v, w> = 1/2 |w - v|^2 - 1/2 |v|^2, so that what is left is the same problem in w - v over the rows near
their margin, whose margins are less by what v reaches. Where no far row turns out to be on the other side, the answer
is the optimum of all rows; else the rows near the new margins are taken, more of them, a few times.
Squared hinge: the equations of the active rows, solved until the active rows stay the same.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..comparisons import Rows
from ..losses import Loss
from ..solution import Array, Solution, Status
from .answer import finish
from .certificate import Bounds
from .iterations import interior_point
from .polish import polished
from .problem import FeatureMap, scaled_problem

ROUNDS, GROWTH = 4, 3.0
LEAST, PER_FEATURE = 100, 1.5  # rows that are near: at an optimum at most as many as features sit on the margin
MISPLACED = 1e-9  # how far beyond its margin a far row may be
EXACT = 1e-9  # a larger gap is no optimum
PART = 0.1  # of it, asked of the rows that are near: their objective may be several times that of all


def from_nearby(rows: Rows, map_: FeatureMap, C: float, loss: Loss, u: Array, max_iter: int) -> Solution | None:
    """Return the exact solution from utilities near its own; None where that fails. Rows have their own slacks."""
    if rows.task is not None or rows.E.shape[1] or not np.isfinite(C):
        return None
    found = _squared(rows, map_, C, loss, u) if loss.squared else _hinge(rows, map_, C, loss, u, max_iter)
    return found if found is not None and found.status is Status.CONVERGED and found.gap <= EXACT else None


def _hinge(rows: Rows, map_: FeatureMap, C: float, loss: Loss, u: Array, max_iter: int) -> Solution | None:
    reach = rows.D @ u
    n = max(LEAST, PER_FEATURE * map_.features().shape[1])
    for _ in range(ROUNDS):
        if 2 * n > rows.shape[0]:
            return None
        short = rows.margin - reach
        near = np.zeros(short.size, bool)
        near[np.argpartition(np.abs(short), int(n))[: int(n)]] = True
        loaded = ~near & (short > 0.0)
        found = _without_far(rows, map_, C, loss, near, loaded, max_iter)
        reach = rows.D @ map_.forward_exact(found.weights)
        over = np.where(loaded, reach - rows.margin, rows.margin - reach)
        if np.max(over[~near], initial=-np.inf) <= MISPLACED:
            return found
        n *= GROWTH
    return None


def _without_far(
    rows: Rows, map_: FeatureMap, C: float, loss: Loss, near: Array, loaded: Array, max_iter: int
) -> Solution:
    """Solve with the multipliers of the far rows as they are; the bounds are those of all rows."""
    fixed = C * (rows.D.T @ np.where(loaded, rows.weight, 0.0))
    v = map_.adjoint_exact(fixed)
    by_v = map_.forward_exact(v)
    part = Rows(rows.D[near], rows.E[near], rows.margin[near] - (rows.D @ by_v)[near], rows.weight[near])
    found = interior_point(part, map_, C, loss, tol=PART * EXACT, max_iter=max_iter)
    weights = v + found.weights
    u = map_.forward_exact(weights)
    norm = map_.squared_norm(weights)
    cost = C * float(rows.weight @ loss.value(rows.margin - rows.D @ u)) + C * rows.constant
    gain = C * float(rows.weight[loaded] @ rows.margin[loaded]) + C * rows.constant
    most = np.sqrt(max(0.0, float(fixed @ by_v))) + np.sqrt(found.dual_norm or 0.0)
    return replace(
        found,
        weights=weights,
        pulled=fixed + found.coefficients,
        objective=0.5 * norm + cost,
        dual=gain - 0.5 * float(fixed @ by_v) + found.dual,
        squared_norm=norm,
        dual_norm=None if np.any(found.coefficients) else most**2,
    )


def _squared(rows: Rows, map_: FeatureMap, C: float, loss: Loss, u: Array) -> Solution | None:
    problem = scaled_problem(rows, map_, C, loss)
    if problem is None or not problem.is_finite:
        return None
    short = (rows.margin - rows.D @ u) / problem.height
    xi = np.maximum(short, 0.0)
    nothing = Bounds(np.zeros(problem.design.shape[1]), np.inf, np.zeros(short.size), 0.0)
    bounds = polished(problem, nothing, 2.0 * problem.cost * xi, np.maximum(-short, 0.0), xi, np.zeros(short.size))
    if not np.isfinite(bounds.primal):
        return None
    return finish(rows, map_, C, problem, (bounds, 1, Status.CONVERGED), EXACT)
