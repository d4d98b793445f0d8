"""Newton for many explicit rows: `min 1/2 |f|^2 + C * sum of losses` to a certified relative gap.

Problem: rows D u + E b >= margin - slack, own slacks or one per task, hinge or squared; u of a map.
Steps: distinct differences (kernels); a start from a sample; Newton with exact line searches on a smoothed loss, the
smoothing driven down; bounds recomputed from the data.
Stops: at the gap `tol`, or without it: then the status says so, and an exact solver should be asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..comparisons import IntArray, Rows
from ..losses import Loss
from ..row_risk import RowsRisk
from ..solution import Array, Solution, Status
from .answer import Nothing, Verdict, verdict
from .differences import distinct_differences, shuffled_items
from .iterations import Run, from_sample, run
from .plan import Plan, Setting
from .problem import Problem
from .spaces import Columns, Space

FINE = 1e-5  # a smaller tol wants kernel values in float64
MOST_STEPS = 250  # Newton steps: whoever needs more does not converge
TRIES = 4
ROUNDS = 2  # solves of near rows alone, before all are asked
MOST_WIDER = 8.0  # times the last smoothing, after a round that left a larger gap
CAREFUL = 0.9  # of the gap is for the near rows
WIDE = 4000  # items up to which a kernel is written as features, which cost their cube
MANY_MORE = 6  # times as many differences as items, from which that pays
WHOLE = 8000  # items up to which their Gram matrix is whole

__all__ = ["Plan", "gram_bytes", "rows_newton"]


class Map(Protocol):
    """What Newton asks of a map."""

    @property
    def n_items(self) -> int:
        """Return the number of items."""

    def columns(self) -> Any | None:
        """Return X with u = X w, dense or CSR; None where weights belong to items."""

    def against(self, right: IntArray, dtype: np.dtype) -> Callable[[IntArray], NDArray]:
        """Return left -> kernel values between two lists of items."""

    def features(self) -> Array:
        """Return F with F F' the Gram matrix of the items."""

    def from_features(self, w: Array) -> Array:
        """Return the map's weights for w in the coordinates of F."""

    def adjoint_exact(self, g: Array) -> Array:
        """Return the map's weights of the function sum_i g_i k(x_i, .)."""


def rows_newton(
    rows: Rows,
    map_: Map,
    C: float,
    loss: Loss,
    *,
    tol: float,
    max_iter: int,
    report: Callable[[int, float], object] | None = None,
    plan: Plan | None = None,
) -> Solution:
    """Minimise 1/2 |f|^2 + C * sum of losses over explicit rows, C finite; `plan` is that of a neighbouring C."""
    plan = Plan() if plan is None else plan
    plan.nothing = nothing = plan.nothing or Nothing.of(RowsRisk(rows, loss))
    if nothing.is_free:
        return _constant(rows, map_, C, nothing)
    plan.setting = plan.setting or _setting(rows, map_, loss, tol, is_shared=plan.is_shared)
    setting = plan.write_out(plan.setting)
    problem = replace(setting.problem, C=C)
    found, said, n_iter = _solved(problem, nothing, plan, tol, min(max_iter, MOST_STEPS), report)
    plan.keep(C, found, said, n_iter)
    coefficients = setting.coefficients(said.slopes)
    if said.is_zero:
        weights, coefficients = setting.weights(np.zeros_like(said.f.w)), np.zeros_like(coefficients)
        return Solution(weights, coefficients, said.flat, said.zero, said.dual, n_iter, Status.CONVERGED)
    status = Status.STALLED if found.is_done else Status.MAX_ITER
    if not _unfinished(said, tol):
        status = Status.CONVERGED
    weights = setting.weights(said.f.w)
    solution = Solution(weights, coefficients, said.levels, said.primal, said.dual, n_iter, status)
    return replace(solution, squared_norm=said.norm, dual_norm=said.dual_norm)


def _solved(
    problem: Problem,
    nothing: Nothing,
    plan: Plan,
    tol: float,
    max_iter: int,
    report: Callable[[int, float], object] | None,
) -> tuple[Run, Verdict, int]:
    """Return the last run, what its end is worth, and all steps: near rows alone where the start is good, then all."""
    begin, goal, n_iter = plan.begin(problem), tol, 0
    if begin is None and plan.is_shared:
        sampled = from_sample(problem, tol, max_iter)
        begin = None if sampled[2] is None else sampled
    for k in range(ROUNDS + TRIES):
        point = None if begin is None or k >= ROUNDS else problem.point(*begin[:2])
        part = None if point is None else plan.near(problem, point)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if part is None or begin is None:
                found = run(problem, goal, max_iter, report, begin)
            else:
                found = run(part.problem, CAREFUL * goal, max_iter, report, (part.start, *begin[1:]))
        said = verdict(problem, found.best, nothing, part)
        n_iter += found.n_iter
        if point is not None:
            plan.keep_reach(point.short, said.short)
        if not (found.is_done and _unfinished(said, tol)):
            break
        if part is None:
            goal = 0.1 * min(goal, said.gap)
        wider = float(np.clip(np.sqrt(said.gap / tol), 1.0, MOST_WIDER))
        begin = said.f, found.best.point.b, None if part is None else wider * found.h
    return found, said, n_iter


def _unfinished(said: Verdict, tol: float) -> bool:
    """Whether rounding spoilt the gap, or the model zero is as good without being proved best."""
    return said.gap > tol or (said.zero <= said.primal and not said.is_zero)


def _constant(rows: Rows, map_: Map, C: float, nothing: Nothing) -> Solution:
    """Return the model zero: every margin is met without one."""
    zero, value = np.zeros(rows.shape[1]), C * rows.constant
    return Solution(map_.adjoint_exact(zero), zero, nothing.levels, value, value, 1, Status.CONVERGED)


def gram_bytes(rows: Rows, map_: Map, tol: float) -> int:
    """Return what the kernel values that Newton works on will take."""
    n, items, each = distinct_differences(rows).size, map_.n_items, _precision(tol).itemsize
    way = _way(rows, n, items)
    return (
        3 * 8 * items**2
        if way == "features"
        else each * items**2
        if way == "paired"
        else each * min(n, items) ** 2 // 2
    )


def _way(rows: Rows, n_differences: int, n_items: int) -> str:
    """Return how a kernel is used: over differences, by themselves or by way of the items, over items, or as features."""
    if n_differences <= n_items:
        return "differences"
    if n_items <= WIDE and (n_differences > MANY_MORE * n_items or rows.task is not None):
        return "features"
    return "paired" if n_items <= WHOLE and rows.task is None else "items"


def _precision(tol: float) -> np.dtype:
    return np.dtype(np.float32 if tol >= FINE else np.float64)


def _setting(rows: Rows, map_: Map, loss: Loss, tol: float, *, is_shared: bool) -> Setting:
    """Choose coordinates: the columns; or the distinct differences of items; or features of the items, if fewer."""
    X = map_.columns()
    if X is not None:
        return Setting(Problem(RowsRisk(rows, loss), Columns(X), np.nan), lambda w: w, lambda a: rows.adjoint @ a)
    found, dtype = distinct_differences(rows), _precision(tol)
    way = _way(rows, found.size, map_.n_items)
    if way == "features":
        problem = Problem(RowsRisk(rows, loss), Columns(map_.features()), np.nan)
        return Setting(problem, map_.from_features, lambda a: rows.adjoint @ a)
    if way == "paired":
        gram: Space = found.paired(map_.against, dtype)
    else:
        found = shuffled_items(rows) if way == "items" else found
        gram = found.gram(map_.against, dtype, is_shared=is_shared)
    problem = Problem(RowsRisk(found.rows, loss), gram, np.nan)
    return Setting(problem, found.on_items, lambda a: found.on_items(found.rows.D.T @ a))
