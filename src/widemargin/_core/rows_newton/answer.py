"""What Newton's points are worth: exact sums, the exact best level, and the model zero beside them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import rules
from ..comparisons import Rows
from ..losses import Loss
from ..solution import Array, relative_gap
from .bounds import Best, dual_value, feasible, pulled
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

    @property
    def is_zero(self) -> bool:
        """Whether the model zero is no worse, and proved best."""
        return self.zero <= self.primal and relative_gap(self.zero, self.dual) <= COLLAPSED


def verdict(problem: Problem, best: Best) -> Verdict:
    """Recompute both bounds from the data."""
    rows, C, loss = problem.rows, problem.C, problem.risk.loss
    slope = feasible(problem.risk, best.slope)
    f, image = problem.space.exact(best.point.f.w, pulled(problem, slope))
    z = problem.reach(f)
    levels = rules.best_levels(rows, z, C, loss)
    primal = 0.5 * problem.space.inner(f, f) + C * _loss(problem, z, levels)
    slope, dual = dual_value(problem, slope, problem.space.inner(image, image))
    nothing = np.zeros_like(z)
    flat = rules.best_levels(rows, nothing, C, loss)
    return Verdict(f.w, levels, primal, dual, C * slope, C * _loss(problem, nothing, flat), flat)


def _loss(problem: Problem, z: Array, levels: Array) -> float:
    rows = problem.rows
    return problem.risk.look(rows.margin - z - rows.E @ levels).loss + rows.constant


def is_free(rows: Rows, C: float, loss: Loss) -> bool:
    """Whether the model zero with its best level meets every margin."""
    levels = rules.best_levels(rows, np.zeros(rows.margin.size), C, loss)
    return bool(np.all(rows.margin - rows.E @ levels <= 0.0))
