"""What Newton's points are worth: exact sums, the exact best level, and the model zero beside them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import rules
from ..row_risk import RowsRisk
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
    norm: float  # of w, squared
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


class Nothing(NamedTuple):
    """The model zero: its levels, its loss, and whether it meets every margin. C does not matter."""

    levels: Array
    loss: float
    is_free: bool

    @classmethod
    def of(cls, risk: RowsRisk) -> Nothing:
        """Find the best levels."""
        rows = risk.rows
        levels = rules.best_levels(rows, np.zeros(rows.margin.size), 1.0, risk.loss)
        short = rows.margin - rows.E @ levels
        return cls(levels, risk.look(short).loss + rows.constant, bool(np.all(short <= 0.0)))


def verdict(problem: Problem, best: Best, nothing: Nothing) -> Verdict:
    """Recompute both bounds from the data."""
    rows, C, loss = problem.rows, problem.C, problem.risk.loss
    slope = feasible(problem.risk, best.slope)
    f, image = problem.space.exact(best.point.f.w, pulled(problem, slope))
    z = problem.reach(f)
    levels = rules.best_levels(rows, z, C, loss)
    norm = max(0.0, problem.space.inner(f, f))
    primal = 0.5 * norm + C * _loss(problem, z, levels)
    slope, dual = dual_value(problem, slope, problem.space.inner(image, image))
    return Verdict(f.w, levels, primal, dual, C * slope, norm, C * nothing.loss, nothing.levels)


def _loss(problem: Problem, z: Array, levels: Array) -> float:
    rows = problem.rows
    return problem.risk.look(rows.margin - z - rows.E @ levels).loss + rows.constant
