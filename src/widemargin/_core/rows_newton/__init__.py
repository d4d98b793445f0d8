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
from .answer import Nothing
from .differences import distinct_differences, shuffled_items
from .plan import Plan, Setting
from .problem import Problem
from .rounds import Goal, solve
from .spaces import Columns

FINE = 1e-5  # a smaller tol wants kernel values in float64
MOST_STEPS = 250  # Newton steps: whoever needs more does not converge
WIDE = 4000  # items up to which a kernel over fewer items than differences is written as features

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
    problem, goal = replace(setting.problem, C=C), Goal(tol, min(max_iter, MOST_STEPS), report, nothing)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        found, said, part, n_iter = solve(problem, plan, goal)
        plan.keep(problem, found, said, part, n_iter)
    coefficients = setting.coefficients(said.slopes)
    if said.is_zero:
        weights, coefficients = setting.weights(np.zeros_like(said.f.w)), np.zeros_like(coefficients)
        return Solution(weights, coefficients, said.flat, said.zero, said.dual, n_iter, Status.CONVERGED)
    status = Status.STALLED if found.is_done else Status.MAX_ITER
    status = Status.CONVERGED if goal.is_met(said) else status
    solution = Solution(setting.weights(said.f.w), coefficients, said.levels, said.primal, said.dual, n_iter, status)
    return replace(solution, squared_norm=said.norm, dual_norm=said.dual_norm)


def _constant(rows: Rows, map_: Map, C: float, nothing: Nothing) -> Solution:
    """Return the model zero: every margin is met without one."""
    zero, value = np.zeros(rows.shape[1]), C * rows.constant
    return Solution(map_.adjoint_exact(zero), zero, nothing.levels, value, value, 1, Status.CONVERGED)


def gram_bytes(rows: Rows, map_: Map, tol: float) -> int:
    """Return what the kernel values that Newton works on will take."""
    n = distinct_differences(rows).size
    if n > map_.n_items and map_.n_items <= WIDE:
        return 3 * 8 * map_.n_items**2
    return _precision(tol).itemsize * min(n, map_.n_items) ** 2 // 2


def _precision(tol: float) -> np.dtype:
    return np.dtype(np.float32 if tol >= FINE else np.float64)


def _setting(rows: Rows, map_: Map, loss: Loss, tol: float, *, is_shared: bool) -> Setting:
    """Choose coordinates: the columns; or the distinct differences of items; or features of the items, if fewer."""
    X = map_.columns()
    if X is not None:
        return Setting(Problem(RowsRisk(rows, loss), Columns(X), np.nan), lambda w: w, lambda a: rows.adjoint @ a)
    found = distinct_differences(rows)
    if found.size > map_.n_items:
        if map_.n_items <= WIDE:
            problem = Problem(RowsRisk(rows, loss), Columns(map_.features()), np.nan)
            return Setting(problem, map_.from_features, lambda a: rows.adjoint @ a)
        found = shuffled_items(rows)
    dtype = _precision(tol)
    gram = found.gram(map_.against, dtype, is_shared=is_shared)
    problem = Problem(RowsRisk(found.rows, loss), gram, np.nan)
    return Setting(problem, found.on_items, lambda a: found.on_items(found.rows.D.T @ a))
