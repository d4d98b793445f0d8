"""Newton on a smoothed loss, the smoothing driven down until the duality gap is small.

At a point (f, b) with the level b best for f, the slopes balance the levels and
primal - dual = 1/2 |f - (function of the slopes)|^2 + (what the slopes miss of the loss):
the first part is Newton's to remove, the second the smoothing's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..solution import Array
from .bounds import Best, is_balanced, lower_bound
from .curved_sums import pulled_by_sums
from .directions import direction
from .held import Held
from .problem import Point, Problem, Start, View
from .spaces import Vector

ROUGH = 2e-2  # the gap to which a sample is solved
SAMPLE_STEPS = 40
FITTING = 0.6  # of the gap that smoothing may make where a solve begins near its end
WIDER = 2.0  # a sample's last smoothing times this begins the whole: its active rows are not yet known
NEAR = 2.0  # the likely gap, in units of the goal, from which Newton's own prediction is tried as a dual point
ROUNDING_SHARE = 1e-4  # of the goal that rounding may make of sums
LINE_STEPS, LINE_GOAL = 20, 0.02  # evaluations of a line search, and the share of the slope that may remain
LEVEL_STEPS, LEVEL_GOAL = 60, 1e-13
TINY = 1e-15


@dataclass(frozen=True)
class Run:
    """How a run ended."""

    best: Best
    n_iter: int
    is_done: bool
    problem: Problem  # with its last smoothing
    view: View  # of the last point
    fitting: float  # the smoothing that would have been enough

    @property
    def h(self) -> float:
        """Return the last smoothing."""
        return self.problem.risk.h

    def tangent(self) -> tuple[Vector, Array]:
        """Return the derivatives of the function and of the levels in log C, under the last smoothing.

        Where f = C * (function of the slopes): (I + C B'HB) (df, db) = (f, 0).
        """
        f = self.best.point.f
        return direction(self.problem, replace(self.view, given=f.moved(-2.0, f)))


def run(
    problem: Problem,
    tol: float,
    max_iter: int,
    report: Callable[[int, float], object] | None = None,
    start: Start | None = None,
) -> Run:
    """Minimise to a relative gap from a start, or from a sample where there is none."""
    start = start or from_sample(problem, tol, max_iter)
    point = problem.point(start.f, start.b)
    problem = problem.smoothed(start.h or _first_smoothing(problem, point))
    point = best_level(problem, point)
    held = None if start.slope is None else Held.of(problem, start.slope)
    view = _view(problem, point, held, tol, is_new=True)
    if start.slope is None:
        held = Held.of(problem, view.look.slope)
    best = Best(point, view.primal, *_seen(view))
    left = np.inf  # what the smooth objective could lose before the last step, as Newton saw it
    for k in range(1, max_iter + 1):
        if report is not None:
            report(k, min(best.gap / best.primal, 1.0) if best.primal > 0.0 else 0.0)  # 0 is a bound, too
        if not 0.0 <= view.primal < np.inf or best.is_within(tol):
            break
        room = tol * view.primal
        if view.excess > 0.7 * room and left <= view.excess:
            problem = problem.smoothed(problem.risk.h * _shrink(room / view.excess, is_held=held is not None))
            point = best_level(problem, point)
            view = _view(problem, point, held, tol)
        step, db = direction(problem, view)
        dz = problem.reach(step) + problem.rows.shift(db)
        slope = _slope(problem, view, (step, db, dz))
        left = -0.5 * slope if slope < 0.0 or view.ahead is None else np.inf
        if left + view.excess <= NEAR * room and view.image is None:
            best = best.with_dual(*_predicted(problem, view, dz))
        s = _length(problem, point, (step, dz), slope)
        point = best_level(problem, Point(point.f.moved(s, step), point.b + s * db, point.short - s * dz))
        held = held and (held.moved(view, dz, s) if s else held.given_up(problem, point))
        view = _view(problem, point, held, tol)
        best = best.with_primal(point, view.primal)
        if not best.is_within(tol):  # else what was predicted is enough
            best = best.with_dual(*_seen(view))
    fitting = problem.risk.h * _widen(tol * view.primal, view.excess)
    return Run(best, k, best.is_within(tol), problem, view, fitting)


def _widen(room: float, excess: float) -> float:
    """Return the factor for h that would leave smoothing a good part of the gap."""
    return float(np.clip(np.sqrt(FITTING * max(0.0, room) / excess), 1.0, 4.0)) if excess > 0.0 else 4.0


def _shrink(room: float, *, is_held: bool) -> float:
    """Return the factor for h: the excess falls with it where rows are held, with its square where they are dense."""
    if is_held:
        return float(np.clip(0.5 * room, 0.1, 0.5))
    return float(np.clip(np.sqrt(0.3 * room), 0.2, 0.5))


def _predicted(problem: Problem, view: View, dz: Array) -> tuple[Array, float, Array]:
    """Return the slopes at the end of Newton's step, as its model has them: their function is where it leads.

    Where the Hessian is large, the slopes at a point make a function far from it, and these do not.
    """
    return lower_bound(problem, view.look.slope - problem.risk.hessian_in_rows(view.look)(dz))


def from_sample(problem: Problem, tol: float, max_iter: int) -> Start:
    """Return a start: the answer of a sample, or zero."""
    sample = problem.sample()
    if sample is None:
        return Start(problem.space.zero(), np.zeros(problem.rows.E.shape[1]))
    part, items = sample
    found = run(part, max(tol, ROUGH), min(max_iter, SAMPLE_STEPS))
    if not found.is_done:  # a large C on nearly separable data: an unfinished sample would mislead
        return Start(problem.space.zero(), np.zeros(problem.rows.E.shape[1]))
    point = found.best.point
    return Start(problem.space.vector(problem.space.spread(point.f.w, items)), point.b, WIDER * found.h)


def _first_smoothing(problem: Problem, point: Point) -> float:
    """Return a smoothing that curves every row."""
    if problem.risk.loss.squared:
        return 1.0
    rows = problem.rows
    middle = 0.0
    if rows.E.shape[1]:
        middle = float(np.median(point.short / rows.E[:, 0]))
    return 2.0 * float(np.mean(np.abs(point.short - rows.E.sum(axis=1) * middle))) + TINY


def best_level(problem: Problem, point: Point) -> Point:
    """Return the point with the level that is best under the smoothing: the slopes then balance."""
    if point.b.size == 0:
        return point
    e = np.ascontiguousarray(problem.rows.E[:, 0])
    size = float(problem.rows.weight @ np.abs(e))
    low, high, step = -np.inf, np.inf, 0.0
    for _ in range(LEVEL_STEPS):
        first, second = problem.risk.along(point.short, e, step)
        if abs(first) <= LEVEL_GOAL * size:
            break
        low, high = (low, step) if first > 0.0 else (step, high)
        tried = step - first / second if second > 0.0 else np.inf
        if not low < tried < high:
            low, high = _bracket(point.short / e, 2.0 * problem.risk.h, low, high)
            tried = 0.5 * (low + high)
        step = tried
    return Point(point.f, point.b + step, point.short - step * e)


def _bracket(target: Array, h: float, low: float, high: float) -> tuple[float, float]:
    """Return finite bounds of the best level."""
    return max(low, float(target.min()) - h), min(high, float(target.max()) + h)


def _view(problem: Problem, point: Point, held: Held | None, tol: float, *, is_new: bool = False) -> View:
    if held is not None:
        return held.view(problem, point)
    view = problem.view(point)
    if not problem.risk.is_exact:  # a hinge's slopes are not linear in shortfalls
        return view
    allowed = ROUNDING_SHARE * tol * view.primal
    image = pulled_by_sums(problem, point, view.look, allowed, is_new=is_new)
    return view if image is None else replace(view, image=image)


def _seen(view: View) -> tuple[Array, float, Array | None]:
    """Return a point's slopes as a dual point, and their function where it is known and they need no repair."""
    slope, image = view.look.slope, view.image
    if image is not None and not is_balanced(view.problem.rows, slope):
        image = None
    return slope, view.primal - view.gap, image


def _slope(problem: Problem, view: View, along: tuple[Vector, Array, Array]) -> float:
    """Return the derivative of the smooth objective along a step."""
    step, db, dz = along
    slope = problem.space.inner(step, view.residual) - problem.C * float(db @ (problem.rows.E.T @ view.look.slope))
    return slope if view.ahead is None else slope + problem.C * float(view.ahead @ dz)


def _length(problem: Problem, point: Point, along: tuple[Vector, Array], slope: float) -> float:
    """Return how far to go along a step: the smooth objective is piecewise quadratic there."""
    (step, dz), space, C = along, problem.space, problem.C
    across, square = space.inner(step, point.f), space.inner(step, step)
    if not slope < 0.0:  # rounding: there is nothing to gain
        return 0.0
    low, high, s = 0.0, np.inf, 1.0
    for _ in range(LINE_STEPS):
        first, second = problem.risk.along(point.short, dz, s)
        first, second = across + s * square + C * first, square + C * second
        if abs(first) <= -LINE_GOAL * slope:
            break
        low, high = (low, s) if first > 0.0 else (s, high)
        tried = s - first / second if second > 0.0 else np.inf
        s = tried if low < tried < high else 0.5 * (low + high) if np.isfinite(high) else 4.0 * s
    return s
