"""True lower bounds: any slopes, made feasible, have a dual value."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..comparisons import Rows
from ..row_risk import RowsRisk
from ..solution import Array
from .problem import Point, Problem

ROUNDS, BALANCED = 3, 1e-12


class Best(NamedTuple):
    """The best points so far; they need not belong together."""

    point: Point
    primal: float
    slope: Array
    dual: float
    image: Array | None = None  # coordinates of the function that the slopes make, where they are feasible as they are

    @property
    def gap(self) -> float:
        """Return primal - dual."""
        return self.primal - self.dual

    def is_within(self, tol: float) -> bool:
        """Whether the gap is small; where rounded kernel values make squared norms negative nothing is."""
        return bool(self.primal >= 0.0 and self.gap <= tol * self.primal)

    def with_primal(self, point: Point, primal: float) -> Best:
        """Return the better of this and another primal point."""
        return self._replace(point=point, primal=primal) if primal < self.primal else self

    def with_dual(self, slope: Array, dual: float, image: Array | None = None) -> Best:
        """Return the better of this and another dual point."""
        return self._replace(slope=slope, dual=dual, image=image) if dual > self.dual else self


def lower_bound(problem: Problem, slope: Array) -> tuple[Array, float, Array]:
    """Return feasible slopes at their best multiple, the dual value and their function: one product with the data."""
    slope = feasible(problem.risk, slope)
    image = problem.space.gradient(problem.pulled(slope))
    t, dual = dual_value(problem, slope, problem.space.inner(image, image))
    return t * slope, dual, t * image.w


def dual_value(problem: Problem, slope: Array, norm: float) -> tuple[float, float]:
    """Return the best factor of feasible slopes whose function has this squared norm, and their dual value."""
    rows, risk, C = problem.rows, problem.risk, problem.C
    gain, curve, most = C * float(slope @ rows.margin), norm, np.inf
    if risk.loss.squared:
        curve += 2.0 * C * risk.slope_cost(slope)
    else:
        total = risk.totals(slope)
        used = np.max(np.divide(total, rows.weight, out=np.zeros_like(total), where=rows.weight > 0.0), initial=0.0)
        most = 1.0 / float(used) if used > 0.0 else np.inf
    t = min(max(gain / curve, 0.0), most) if curve > 0.0 else min(1.0, most)
    return t, t * gain - 0.5 * t * t * curve + C * rows.constant


def is_balanced(rows: Rows, slope: Array) -> bool:
    """Return whether E'slope = 0, but for rounding; slopes are none below zero."""
    if rows.E.shape[1] == 0:
        return True
    e = rows.E[:, 0]
    return abs(float(e @ slope)) <= BALANCED * float(np.abs(e) @ slope)


def feasible(risk: RowsRisk, slope: Array) -> Array:
    """Put slopes into their box, and onto E'slope = 0: what has most room moves most, then the heavier side shrinks."""
    rows, boxed = risk.rows, not risk.loss.squared
    slope = np.maximum(slope, 0.0)
    if boxed and rows.task is None:
        slope = np.minimum(slope, rows.weight)
    elif boxed:
        total = risk.totals(slope)
        slope = slope * (rows.weight / np.maximum(total, rows.weight))[rows.task]
    if rows.E.shape[1] == 0:
        return slope
    e, most = rows.E[:, 0], rows.weight if boxed else np.inf
    for _ in range(ROUNDS):
        if is_balanced(rows, slope):
            break
        room = np.maximum(np.minimum(slope, most - slope), 0.0)
        curve = float(room @ e**2)
        if curve > 0.0:
            slope = np.clip(slope - room * e * (float(e @ slope) / curve), 0.0, most)
    up, down = float(np.maximum(e, 0.0) @ slope), -float(np.minimum(e, 0.0) @ slope)
    if min(up, down) <= 0.0:
        return np.zeros_like(slope)
    slope *= np.where(e > 0, min(1.0, down / up), min(1.0, up / down))
    return slope
