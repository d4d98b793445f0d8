"""What Newton's last point is worth: exact sums, the exact best level, a feasible dual point, and the model zero."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import rules
from ..comparisons import Rows
from ..losses import Loss
from ..solution import Array, relative_gap
from .iterations import Run
from .problem import Problem

COLLAPSED = 1e-9  # the model zero must be proved to this


class Verdict(NamedTuple):
    """A model and its bounds; `slopes` are the multipliers of the rows."""

    w: Array
    levels: Array
    primal: float
    dual: float
    slopes: Array
    zero: float  # the objective of the model that is zero, and its levels
    flat: Array

    @property
    def gap(self) -> float:
        """Return the relative gap."""
        return relative_gap(self.primal, self.dual)


def verdict(problem: Problem, found: Run) -> Verdict:
    """Recompute both bounds from the data."""
    rows, C = problem.rows, problem.C
    f = problem.space.exactly(found.point.f.w)
    z = problem.reach(f)
    levels = rules.best_levels(rows, z, C, problem.risk.loss)
    primal = 0.5 * problem.space.inner(f, f) + C * loss_at(problem, z, levels)
    slopes, dual = _dual(problem, found.view.look.slope)
    nothing = np.zeros_like(z)
    flat = rules.best_levels(rows, nothing, C, problem.risk.loss)
    return Verdict(found.point.f.w, levels, primal, dual, slopes, C * loss_at(problem, nothing, flat), flat)


def loss_at(problem: Problem, z: Array, levels: Array) -> float:
    """Return the exact loss at differences z."""
    rows = problem.rows
    return problem.risk.look(rows.margin - z - rows.E @ levels).loss + rows.constant


def _dual(problem: Problem, slope: Array) -> tuple[Array, float]:
    """Return balanced multipliers in their box, at their best multiple, and the dual value."""
    rows, risk, C = problem.rows, problem.risk, problem.C
    if rows.E.shape[1]:
        slope = balanced(slope, rows.E[:, 0], rows.weight, risk.loss)
    image = problem.space.exactly(problem.space.pulled(rows.D.T @ (C * slope)))
    gain, norm = C * float(slope @ rows.margin), problem.space.inner(image, image)
    curve, most = norm, np.inf
    if risk.loss.squared:
        curve += 2.0 * C * risk.slope_cost(slope)
    else:
        total = risk.totals(slope)
        most = float(np.min(rows.weight[total > 0.0] / total[total > 0.0], initial=np.inf))
    t = min(max(0.0, gain / curve), most) if curve > 0.0 else min(1.0, most)
    return t * C * slope, t * gain - 0.5 * t * t * curve + C * rows.constant


def balanced(slope: Array, e: Array, weight: Array, loss: Loss) -> Array:
    """Return slopes with e'slope = 0 to rounding: what has most room moves most, then the heavier side shrinks."""
    for _ in range(3):
        room = slope if loss.squared else np.maximum(np.minimum(slope, weight - slope), 0.0)
        curve = float(room @ e**2)
        if curve > 0.0:
            slope = np.clip(slope - room * e * (float(e @ slope) / curve), 0.0, None if loss.squared else weight)
    up, down = float(e[e > 0] @ slope[e > 0]), -float(e[e < 0] @ slope[e < 0])
    if min(up, down) <= 0.0:
        return np.zeros_like(slope)
    return np.where(e > 0, slope * min(1.0, down / up), slope * min(1.0, up / down))


def is_free(rows: Rows, C: float, loss: Loss) -> bool:
    """Whether the model zero with its best level meets every margin."""
    levels = rules.best_levels(rows, np.zeros(rows.margin.size), C, loss)
    return bool(np.all(rows.margin - rows.E @ levels <= 0.0))
