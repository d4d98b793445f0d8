"""Back to the user's scale: the weights that are returned, their best level, what they cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import rules
from ..comparisons import Rows
from ..losses import Loss
from ..solution import Array, Solution, Status, relative_gap
from .certificate import ROUNDING, Bounds, cancelled, loss_value
from .problem import FeatureMap, Problem


def constant(rows: Rows, map_: FeatureMap, C: float, loss: Loss) -> Solution:
    """Return w = 0 with its best level: nothing distinguishes the items, or nothing needs to."""
    weights = map_.adjoint_exact(np.zeros(rows.D.shape[1]))
    zero = np.zeros(rows.D.shape[0])
    levels = rules.best_levels(rows, zero, C, loss)
    value = loss_value(rows, zero, levels, C, loss)
    status = Status.CONVERGED if np.isfinite(value) else Status.INFEASIBLE
    return Solution(weights, np.zeros(rows.D.shape[1]), levels, value, value, 1, status)


def without_model(map_: FeatureMap, rows: Rows, n_iter: int, status: Status) -> Solution:
    weights = map_.adjoint_exact(np.zeros(rows.D.shape[1]))
    inf = float("inf")
    zero = np.zeros(rows.D.shape[1])
    return Solution(weights, zero, np.zeros(rows.E.shape[1]), inf, 0.0, n_iter, status)


def finish(
    rows: Rows, map_: FeatureMap, C: float, problem: Problem, end: tuple[Bounds, int, Status], tol: float
) -> Solution:
    """Return to the user's scale, with the best level for the weights that are returned."""
    bounds, n_iter, status = end
    coefficients = rows.D.T @ (problem.pull * bounds.a)
    dual = problem.stretch**2 * bounds.dual + (0.0 if problem.hard else C * rows.constant)
    w_image, w, b = problem.design.tdot(bounds.a)[: problem.p], bounds.x[: problem.p], bounds.x[problem.p :]
    image = _point(rows, map_, problem, (map_.adjoint_exact(coefficients), w_image, b), C)
    other = _point(rows, map_, problem, (problem.weights(w), w, b), C)
    # the image of the multipliers is sparse over the items: it wins unless the other is visibly better
    point = image if image.value <= max(other.value * (1 + 1e-10), dual / (1 - 0.5 * min(tol, 1e-9))) else other
    if cancelled(problem, bounds.a):
        zero = _point(rows, map_, problem, (np.zeros_like(point.weights), np.zeros(problem.p), b), C)
        if relative_gap(zero.value, dual) <= max(tol, 1e-9):
            point, coefficients = zero, np.zeros_like(coefficients)
    if relative_gap(point.value, dual) <= tol:
        status = Status.CONVERGED
    elif status is Status.CONVERGED:
        status = Status.STALLED
    # of the multipliers, whose bound this is, whatever the point
    norm = problem.stretch**2 * problem.design.square(w_image)
    return Solution(point.weights, coefficients, point.levels, point.value, dual, n_iter, status, dual_norm=norm)


@dataclass(frozen=True)
class _Point:
    """A candidate for the answer: the map's weights, levels, and what they cost."""

    weights: Array
    levels: Array
    value: float


def _point(rows: Rows, map_: FeatureMap, problem: Problem, at: tuple[Array, Array, Array], C: float) -> _Point:
    """Return weights with their best level, stretched where the shortfalls are only rounding.

    Differences are taken from the map's own weights, as a user would; the norm from the solver's coordinates: in the
    map's it may cancel.
    """
    weights, w, b = at
    z, norm = rows.D @ map_.forward_exact(weights), 0.5 * problem.stretch**2 * problem.design.square(w)
    middle, levels = rules.best_levels(rows, z, C, problem.loss), problem.levels(b, w)
    value = norm + loss_value(rows, z, middle, C, problem.loss)
    by_solver = norm + loss_value(rows, z, levels, C, problem.loss)
    if value <= by_solver * (1 + 1e-12):  # the middle of the optimal interval, whatever the last digits say
        levels = middle
    value = min(value, by_solver)
    eta = float(np.max(1.0 - (z + rows.E @ levels) / rows.margin)) if np.all(rows.margin > 0) else 0.0
    if 0.0 < eta < ROUNDING:
        stretch = (1.0 + 1e-15) / (1.0 - eta)
        stretched = norm * stretch**2 + loss_value(rows, z * stretch, levels * stretch, C, problem.loss)
        if stretched < value or problem.hard:
            return _Point(weights * stretch, levels * stretch, stretched)
    return _Point(weights, levels, value)
