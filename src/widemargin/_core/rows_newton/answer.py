"""What Newton's points are worth: exact sums, the exact best level, and the model zero beside them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import rules
from ..row_risk import RowsRisk
from ..solution import Array, relative_gap
from .bounds import dual_value, feasible
from .iterations import Run
from .near import Near
from .problem import Problem
from .spaces import Vector

COLLAPSED = 1e-9  # the model zero must be proved to this
WIDTH = 0.2  # times the smoothing: the exact level is that near the smooth one, most likely


class Verdict(NamedTuple):
    """A model and its bounds; `slopes` are the multipliers of the rows."""

    f: Vector
    levels: Array
    short: Array  # of each row
    primal: float
    dual: float
    slopes: Array
    norm: float  # of f, squared
    dual_norm: float  # of the function of the multipliers, squared
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
        return cls(levels, risk.exact_loss(short) + rows.constant, bool(np.all(short <= 0.0)))


def verdict(problem: Problem, found: Run, nothing: Nothing, part: Near | None = None) -> Verdict:
    """Recompute both bounds from the data; the run may be one of near rows."""
    rows, C, loss = problem.rows, problem.C, problem.risk.loss
    small = problem if part is None else part.problem
    point, slope, g = found.best.point, found.best.slope, found.best.image
    if g is None:
        slope = feasible(small.risk, slope)
        g = small.pulled(slope)
    f, image = problem.space.exact(point.f.w, g, point.f.u if part is None else None)
    z = problem.reach(f)
    around = (float(point.b[0]) - WIDTH * found.h, float(point.b[0]) + WIDTH * found.h) if point.b.size else None
    levels = rules.best_levels(small.rows, z if part is None else part.seen(z), C, loss, around)
    short = rows.margin - z
    short -= rows.shift(levels)
    norm = max(problem.space.inner(f, f), 0.0)  # in this order: nan stays nan
    primal = 0.5 * norm + C * (problem.risk.exact_loss(short) + rows.constant)
    v2 = max(problem.space.inner(image, image), 0.0)
    t, dual = dual_value(small, slope, v2)
    slope = C * t * (slope if part is None else part.slopes(slope))
    return Verdict(f, levels, short, primal, dual, slope, norm, t * t * v2, C * nothing.loss, nothing.levels)
