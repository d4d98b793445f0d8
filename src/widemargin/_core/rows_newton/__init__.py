"""Newton for many explicit rows: `min 1/2 |f|^2 + C * sum of losses` to a certified relative gap.

Problem: rows D u + E b >= margin - slack, own slacks or one per task, hinge or squared; u of a map.
Steps: distinct differences (kernels); a start from a sample; Newton with exact line searches on a smoothed loss, the
smoothing driven down; bounds recomputed from the data.
Stops: at the gap `tol`, or without it: then the status says so, and an exact solver should be asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..comparisons import IntArray, Rows
from ..losses import Loss
from ..row_risk import RowsRisk
from ..solution import Array, Solution, Status
from .answer import Nothing, Verdict, verdict
from .differences import distinct_differences, shuffled_items
from .iterations import Run, run
from .problem import Problem
from .spaces import Columns, Vector

FINE = 1e-5  # a smaller tol wants kernel values in float64
MOST_STEPS = 250  # Newton steps: whoever needs more does not converge
TRIES = 4
NEXT, NEXT_RANGE = 0.5, (1.0, 16.0)  # the last smoothing times this and its steps begins the solve for another C
FARTHEST = 2.0  # steps in log C that are extrapolated from the last one
MOST_ENTRIES = 1 << 23  # of the differences of all rows, where they are written out for a path
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


class _Setting(NamedTuple):
    """A problem without its C, and the way back to the map's weights, and to the items' coefficients."""

    problem: Problem
    weights: Callable[[Array], Array]
    coefficients: Callable[[Array], Array]  # of multipliers


Start: TypeAlias = tuple[Vector, Array, float | None]  # function, levels, smoothing


@dataclass
class Plan:
    """What solves of the same rows share, and where the last ones ended: only C may change between them."""

    setting: _Setting | None = None
    nothing: Nothing | None = None
    trail: list[tuple[float, Vector, Array]] = field(default_factory=list)  # C, function, levels
    h: float = 0.0
    is_written: bool = False  # or need not be

    def begin(self, C: float) -> Start | None:
        """Return the line through the last two solutions, in log C; the last one where they are far."""
        if not self.trail:
            return None
        C1, f1, b1 = self.trail[-1]
        if len(self.trail) > 1:
            C0, f0, b0 = self.trail[0]
            ahead = float(np.log(C / C1) / np.log(C1 / C0)) if C1 != C0 else 0.0
            if abs(ahead) <= FARTHEST:
                return f1.moved(ahead, f1.moved(-1.0, f0)), b1 + ahead * (b1 - b0), self.h
        return f1, b1, self.h

    def write_out(self) -> None:
        """Write the rows' differences out, by columns: for many solves that is quicker than by way of items."""
        if self.is_written or not self.trail or self.setting is None:
            return
        self.is_written, problem = True, self.setting.problem
        rows, space = problem.rows, problem.space
        if not isinstance(space, Columns) or sparse.issparse(space.X):
            return
        X = space.X
        if rows.shape[0] * X.shape[1] > min(MOST_ENTRIES, 2 * X.size):
            return
        space = Columns(np.asfortranarray(rows.D @ X.astype(float, copy=False)))
        own = replace(rows, D=sparse.eye_array(rows.shape[0], format="csr"))
        problem = Problem(replace(problem.risk, rows=own), space, np.nan)
        self.setting = self.setting._replace(problem=problem)
        self.trail = [(C, space.vector(f.w), b) for C, f, b in self.trail]

    def keep(self, C: float, found: Run) -> None:
        """Remember where a solve ended; one that did not is not followed."""
        point = found.best.point
        self.trail = [*self.trail[-1:], (C, point.f, point.b)] if found.is_done else []
        self.h = found.h * float(np.clip(NEXT * found.n_iter, *NEXT_RANGE))


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
    plan.write_out()
    plan.setting = setting = plan.setting or _setting(rows, map_, loss, tol)
    problem, goal, n_iter = replace(setting.problem, C=C), tol, 0
    begin = plan.begin(C)
    for _ in range(TRIES):
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            found = run(problem, goal, min(max_iter, MOST_STEPS), report, begin)
        said = verdict(problem, found.best, nothing)
        n_iter += found.n_iter
        if not (found.is_done and _unfinished(said, tol)):
            break
        goal, begin = 0.1 * min(goal, said.gap), (found.best.point.f, found.best.point.b, None)
    plan.keep(C, found)
    coefficients = setting.coefficients(said.slopes)
    if said.is_zero:
        weights, coefficients = setting.weights(np.zeros_like(said.w)), np.zeros_like(coefficients)
        return Solution(weights, coefficients, said.flat, said.zero, said.dual, n_iter, Status.CONVERGED)
    status = Status.STALLED if found.is_done else Status.MAX_ITER
    if not _unfinished(said, tol):
        status = Status.CONVERGED
    weights = setting.weights(said.w)
    bounds = said.primal, said.dual
    return Solution(weights, coefficients, said.levels, *bounds, n_iter, status, squared_norm=said.norm)


def _unfinished(said: Verdict, tol: float) -> bool:
    """Whether rounding spoilt the gap, or the model zero is as good without being proved best."""
    return said.gap > tol or (said.zero <= said.primal and not said.is_zero)


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


def _setting(rows: Rows, map_: Map, loss: Loss, tol: float) -> _Setting:
    """Choose coordinates: the columns; or the distinct differences of items; or features of the items, if fewer."""
    X = map_.columns()
    if X is not None:
        return _Setting(Problem(RowsRisk(rows, loss), Columns(X), np.nan), lambda w: w, lambda a: rows.D.T @ a)
    found = distinct_differences(rows)
    if found.size > map_.n_items:
        if map_.n_items <= WIDE:
            problem = Problem(RowsRisk(rows, loss), Columns(map_.features()), np.nan)
            return _Setting(problem, map_.from_features, lambda a: rows.D.T @ a)
        found = shuffled_items(rows)
    dtype = _precision(tol)
    gram = found.gram(map_.against, dtype)
    problem = Problem(RowsRisk(found.rows, loss), gram, np.nan)
    return _Setting(problem, found.on_items, lambda a: found.on_items(found.rows.D.T @ a))
