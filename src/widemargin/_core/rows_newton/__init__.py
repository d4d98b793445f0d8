"""Newton for many explicit rows: `min 1/2 |f|^2 + C * sum of losses` to a certified relative gap.

Problem: rows D u + E b >= margin - slack, own slacks or one per task, hinge or squared; u of a map.
Steps: distinct differences (kernels); a start from a sample; Newton with exact line searches on a smoothed loss, the
smoothing driven down; bounds recomputed from the data.
Stops: at the gap `tol`, or without it: then the status says so, and an exact solver should be asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..comparisons import Rows
from ..losses import Loss
from ..row_risk import RowsRisk
from ..solution import Solution, Status
from .answer import Nothing
from .layout import Map, gram_bytes, lay_out, precision
from .plan import Plan
from .rounds import Goal, solve

MOST_STEPS, MOST_SHARED = 250, 500  # Newton steps, of own slacks or of tasks': whoever needs more does not converge

__all__ = ["Plan", "gram_bytes", "rows_newton"]


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
    dtype = precision(rows, map_, plan, tol, C)
    if plan.setting is None or plan.setting.is_rougher(dtype):
        plan.setting = lay_out(rows, map_, loss, dtype, plan)
    if plan.setting.problem.space.n_coordinates == 0:  # a kernel that is zero
        return _constant(rows, map_, C, nothing)
    setting = plan.write_out(plan.setting)
    most = MOST_STEPS if rows.task is None else MOST_SHARED
    problem, goal = replace(setting.problem, C=C), Goal(tol, min(max_iter, most), report, nothing)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        found, said, part, n_iter = solve(problem, plan, goal)
        plan.keep(problem, found, said, part, n_iter)
    coefficients = setting.coefficients(said.slopes)
    if said.is_zero:
        weights, coefficients = setting.weights(np.zeros_like(said.f.w)), np.zeros_like(coefficients)
        flat = Solution(weights, coefficients, said.flat, said.zero, said.dual, n_iter, Status.CONVERGED)
        return replace(flat, squared_norm=0.0, dual_norm=said.dual_norm)  # the bound is of multipliers, not of zero
    status = Status.STALLED if found.is_done else Status.MAX_ITER
    status = Status.CONVERGED if goal.is_met(said) else status
    solution = Solution(setting.weights(said.f.w), coefficients, said.levels, said.primal, said.dual, n_iter, status)
    return replace(solution, squared_norm=said.norm, dual_norm=said.dual_norm)


def _constant(rows: Rows, map_: Map, C: float, nothing: Nothing) -> Solution:
    """Return the model zero: every margin is met without one, or there is no other."""
    zero, value = np.zeros(rows.shape[1]), C * nothing.loss
    return Solution(map_.adjoint_exact(zero), zero, nothing.levels, value, value, 1, Status.CONVERGED)
