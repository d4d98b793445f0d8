"""Which rows Newton takes for curved: those at their margins by their slopes, not by their shortfalls alone.

Where a kernel can put every row on its margin, a thin smoothing shows few of the rows that belong there: a step moves
others across, their slopes are then at the other end, and the next step moves them back. So slopes are followed
beside the function, and a row is held at its margin until its slope comes to a bound (a primal-dual active set).

A row's slope and its shortfall weigh as in a step of this row alone, which would move the slope by what it misses over
C k(row, row); where the smoothing is wide, over 2h, and that is Newton's own rule.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..solution import Array
from .problem import Point, Problem, View

TINY = 1e-300


@dataclass(frozen=True)
class Held:
    """The slopes that Newton has come to; they may be beyond their bounds."""

    slope: Array
    own: Array  # C k(row, row)

    @classmethod
    def of(cls, problem: Problem, slope: Array) -> Held | None:
        """Return slopes to begin with; None where rows have no kinks of their own, or no kernel that can hold them."""
        rows, space = problem.rows, problem.space
        if not space.is_gram or problem.risk.loss.squared or rows.task is not None or not rows.is_single:
            return None
        return cls(slope, problem.C * space.diag()[rows.D.indices] * rows.D.data**2)  # type: ignore[union-attr]

    def view(self, problem: Problem, point: Point) -> View:
        """Look at a point; held rows have the slopes that their shortfalls call for, beyond their bounds too."""
        look, w, h = problem.risk.look(point.short), problem.rows.weight, problem.risk.h
        width, t = 2.0 * h / np.maximum(w, TINY), point.short + h
        alone = self.slope + (t - width * self.slope) / np.maximum(self.own, width)
        is_held, is_short = (alone > 0.0) & (alone < w), alone >= w
        if np.array_equal(is_held, look.curvature > 0.0) and np.array_equal(is_short, t >= 2.0 * h):
            return problem.seen(point, look)
        slope = np.where(is_held, t / width, np.where(is_short, w, 0.0))
        held = look._replace(slope=slope, curvature=np.where(is_held, 1.0 / width, 0.0))
        return replace(problem.seen(point, held), ahead=slope - look.slope)

    def given_up(self, problem: Problem, point: Point) -> Held:
        """Return the slopes at a point, where following them led nowhere."""
        return replace(self, slope=problem.risk.look(point.short).slope)

    def moved(self, view: View, dz: Array, step: float) -> Held:
        """Return the slopes after a part of Newton's step; they follow its model."""
        end = view.look.slope - view.look.curvature * dz
        return replace(self, slope=np.where(view.look.curvature > 0.0, self.slope + step * (end - self.slope), end))
