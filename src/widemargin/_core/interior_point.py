"""Primal-dual interior point for explicit rows (Mehrotra's predictor-corrector), exact to rounding.

Problem (scaled, see `problem`): min 1/2 |w|^2 + sum cost * loss(xi), B (w, b) + xi[task] - s = margin, s, xi >= 0.
Optimality: w = D'a, E'a = 0, S'a + beta = cost, a s = 0, xi beta = 0.
Steps: scale; a start on the central path's side of large C; predictor and corrector with one Cholesky of
p + q dimensions; true bounds at every iteration; a polish on the active set.
Stops: at the relative duality gap `tol`; where steps die of rounding, the honest gap is returned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy import linalg

from . import rules
from .certificate import (
    ROUNDING,
    Bounds,
    cancelled,
    dual_value,
    infeasibility,
    level_columns,
    loss_value,
    primal_value,
)
from .comparisons import Rows
from .losses import Loss
from .polish import polished
from .problem import FeatureMap, Problem, Slacks, scaled_problem
from .solution import Array, Solution, Status, relative_gap

Report: TypeAlias = Callable[[int, float], object]  # called with (iteration, gap)

NO_MARGIN = 1e-9  # hard margins below this share of the data radius are refused
EXACT = 1e-13  # what small problems are solved to, whatever tol: it costs two or three iterations
EXTRA = 12  # iterations spent after that so that a tiny w is as exact as a large one
PATIENCE = 25  # iterations in which a bound must improve visibly
LOOSE = 1e-6  # a tol that needs no polish
SMALL = 2_000_000  # rows x features that count as small


@dataclass(frozen=True)
class State:
    """An interior point: x = (w, b), slacks xi of tasks, surplus s and multipliers a of rows, beta of slacks."""

    x: Array
    xi: Array
    s: Array
    a: Array
    beta: Array


def interior_point(
    rows: Rows, map_: FeatureMap, C: float, loss: Loss, *, tol: float, max_iter: int, report: Report | None = None
) -> Solution:
    """Minimise 1/2 |w|^2 + C * sum of losses over explicit rows; `C=inf` forbids slacks."""
    with np.errstate(over="ignore", invalid="ignore"):
        problem = scaled_problem(rows, map_, C, loss)
    if problem is not None and not problem.is_finite:
        return _without_model(map_, rows, 1, Status.NOT_FINITE)
    if problem is None or _zero_is_free(problem):
        return _constant(rows, map_, C, loss)
    small = problem.design.shape[0] * problem.design.shape[1] <= SMALL
    bounds, state, n_iter, status = _iterate(problem, min(tol, EXACT) if small else tol, max_iter, report)
    if status in {Status.INFEASIBLE, Status.NOT_FINITE}:
        return _without_model(map_, rows, n_iter, status)
    if bounds.gap > tol and not problem.hard:
        bounds = _from_hard_margin(problem, bounds, max_iter)
    if small or tol < LOOSE:
        bounds = polished(problem, bounds, state.a, state.s, state.xi, state.beta)
    return _finish(rows, map_, C, problem, (bounds, n_iter, status), tol)


def _iterate(
    problem: Problem, goal: float, max_iter: int, report: Report | None
) -> tuple[Bounds, State, int, Status]:
    """Run predictor-corrector steps until the gap, the steps or the patience end."""
    state = _start(problem)
    bounds = Bounds(state.x, float("inf"), np.zeros_like(state.a), 0.0)
    before, mu_before = bounds, float("inf")
    idle = extra = 0
    for k in range(1, max_iter + 1):
        try:
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # a dead step is noticed below
                system = _System(problem, state)
                moved, step = system.advance()
        except FloatingPointError:
            moved, step = state, 0.0
        state = moved
        bounds = _tightened(problem, bounds, state)
        if report is not None:
            report(k, bounds.gap)
        if problem.hard and infeasibility(problem, state.a) < NO_MARGIN:
            return bounds, state, k, Status.INFEASIBLE
        idle += 1
        if bounds.improves(before) or system.mu < 0.5 * mu_before:
            idle, before, mu_before = 0, bounds, min(mu_before, system.mu)
        extra += bounds.gap <= goal
        if bounds.gap <= goal and (goal > EXACT or extra > EXTRA or _separates(problem, state, system.mu)):
            return bounds, state, k, Status.CONVERGED
        if not np.isfinite(bounds.primal) and not np.all(np.isfinite(state.x)):
            return bounds, state, k, Status.NOT_FINITE
        if not step > 1e-12 or idle > PATIENCE:
            return bounds, state, k, Status.CONVERGED if bounds.gap <= goal else Status.STALLED
    return bounds, state, max_iter, Status.CONVERGED if bounds.gap <= goal else Status.MAX_ITER


def _from_hard_margin(problem: Problem, bounds: Bounds, max_iter: int) -> Bounds:
    """Try the hard margin's solution: where its multipliers stay within their costs it is optimal here too.

    This is what a huge C on separable data comes to, where the soft problem's numbers span too many decades.
    """
    m = problem.margin.size
    hard = replace(problem, cost=np.full(m, np.inf), slacks=Slacks(m, None, None), hard=True)
    found, state, _, status = _iterate(hard, EXACT, max_iter, None)
    if status is Status.INFEASIBLE or not np.isfinite(found.primal):
        return bounds
    found = polished(hard, found, state.a, state.s, state.xi, state.beta)
    return bounds.with_dual(*dual_value(problem, found.a)).with_primal(*primal_value(problem, found.x))


def _separates(problem: Problem, state: State, mu: float) -> bool:
    """Whether complementarity is small against |w|^2 too.

    With a tiny C the objective is nearly all loss, so that a small relative gap says nothing about w.
    """
    w = state.x[: problem.p]
    return mu * state.s.size <= 1e-12 * float(w @ w)


def _tightened(problem: Problem, bounds: Bounds, state: State) -> Bounds:
    """Try the iterate and its dual image (D'a, b) as primal points, its multipliers as dual point."""
    a, dual = dual_value(problem, state.a)
    bounds = bounds.with_dual(a, dual)
    image = np.concatenate([problem.design.tdot(a)[: problem.p], state.x[problem.p :]])
    for x in (state.x, image):
        bounds = bounds.with_primal(*primal_value(problem, x))
    return bounds


def _start(problem: Problem) -> State:
    """Return a start with large multipliers: from small ones C = 1e6 needs four times the iterations."""
    m, k = problem.design.shape
    slacks, cost = problem.slacks, problem.cost
    if problem.hard:
        a = np.full(m, 1.0 / np.sqrt(m))
        x = np.concatenate([problem.design.tdot(a)[: problem.p], np.zeros(k - problem.p)])
        return State(x, np.zeros(slacks.n), np.ones(m), a, np.zeros(slacks.n))
    xi = 1.0 + np.maximum(slacks.worst(problem.margin), 0.0)
    s = slacks.spread(xi) - problem.margin
    share = slacks.spread(cost / slacks.size())
    if problem.loss.squared:
        return State(np.zeros(k), xi, s, 2.0 * share * slacks.spread(xi), np.zeros(slacks.n))
    return State(np.zeros(k), xi, s, 0.5 * share, 0.5 * cost)


class _System:
    """One iteration's Newton system: residuals and factor shared by predictor and corrector."""

    def __init__(self, problem: Problem, state: State) -> None:
        self.problem, self.state = problem, state
        slacks, p = problem.slacks, problem.p
        self.boxed = not (problem.hard or problem.loss.squared)
        image = problem.design.tdot(state.a)
        self.r_x = image - np.concatenate([state.x[:p], np.zeros(image.size - p)])
        self.r_row = problem.margin - problem.design.dot(state.x) - slacks.spread(state.xi) + state.s
        self.r_box = problem.cost - slacks.total(state.a) - state.beta if self.boxed else np.zeros(slacks.n)
        self.mu = self._mu(state)
        self.block = (_OwnBlock if slacks.task is None else _SharedBlock)(problem, state)
        self.solve = _Factor(problem, self.block)

    def advance(self) -> tuple[State, float]:
        """Return the next state and the step length taken."""
        state = self.state
        affine = self._direction(-state.s * state.a, -state.xi * state.beta)
        alpha = _longest(state, affine)
        sigma = (self._mu(_moved(state, affine, alpha)) / self.mu) ** 3
        target = sigma * self.mu
        step = self._direction(
            target - state.s * state.a - affine.a * affine.s, target - state.xi * state.beta - affine.xi * affine.beta
        )
        alpha = min(1.0, 0.995 * _longest(state, step))
        moved = _moved(state, step, alpha)
        if self.problem.loss.squared and not self.problem.hard:
            moved = replace(moved, xi=self.problem.slacks.total(moved.a) / (2.0 * self.problem.cost))
        return moved, alpha

    def _mu(self, state: State) -> float:
        total = float(state.s @ state.a) + float(state.xi @ state.beta)
        return total / (state.s.size + (state.xi.size if self.boxed else 0))

    def _direction(self, c_row: Array, c_box: Array) -> State:
        """Return the Newton direction for the complementarity targets."""
        problem, state = self.problem, self.state
        shift = (c_box - state.xi * self.r_box) / state.beta if self.boxed else np.zeros(problem.slacks.n)
        rho = self.r_row - problem.slacks.spread(shift) + c_row / state.a
        rhs = problem.design.tdot(self.block.apply(rho)) + self.r_x
        dx = self.solve(rhs)
        da = self.block.apply(rho - problem.design.dot(dx))
        ds = (c_row - state.s * da) / state.a
        free = self.r_row + c_row / state.a - problem.design.dot(dx)
        dxi, dbeta = self.block.slack_step(da, free, self.r_box, c_box)
        return State(dx, dxi, ds, da, dbeta)


class _OwnBlock:
    """T^-1 where each row has its own slack: a diagonal."""

    def __init__(self, problem: Problem, state: State) -> None:
        self.boxed = not (problem.hard or problem.loss.squared)
        self.state = state
        self.theta = _theta(problem, state)
        self.omega = 1.0 / (state.s / state.a + self.theta)

    def apply(self, v: Array) -> Array:
        """Return T^-1 v."""
        return self.omega * v

    def gram(self, problem: Problem) -> Array:
        """Return B' T^-1 B."""
        return problem.design.gram(self.omega)

    def slack_step(self, da: Array, free: Array, r_box: Array, c_box: Array) -> tuple[Array, Array]:  # noqa: ARG002
        """Return the steps of xi and beta."""
        if not self.boxed:
            return self.theta * da, np.zeros_like(da)
        dbeta = r_box - da
        return (c_box - self.state.xi * dbeta) / self.state.beta, dbeta


class _SharedBlock:
    """T^-1 where the rows of a task share a slack: diagonal plus one rank per task, without cancellation.

    With A = a/s, sigma = sum A and v the A-mean of a task's rows,
    B'T^-1 B = sum A (B - v)(B - v)' + sum_t sigma / (1 + theta sigma) v v'.
    """

    def __init__(self, problem: Problem, state: State) -> None:
        self.boxed = not problem.loss.squared
        self.slacks, self.state = problem.slacks, state
        self.A = state.a / state.s
        self.sigma = self.slacks.total(self.A)
        self.theta = _theta(problem, state)
        self.loaded = self.theta * self.sigma > 1.0  # the slack, not the surplus, gives way
        largest = self.slacks.spread(self.slacks.worst(self.A))
        self.is_top = np.zeros(self.A.size, bool)
        tops = np.flatnonzero(largest == self.A)
        first = np.unique(self.slacks.tasks[tops], return_index=True)[1]
        self.is_top[tops[first]] = True

    def apply(self, v: Array) -> Array:
        """Return T^-1 v; in a loaded task the largest row is what the others leave of the total."""
        total = self.slacks.total(self.A * v) / (1.0 + self.theta * self.sigma)
        out = self.A * (v - self.slacks.spread(self.theta * total))
        others = self.slacks.total(np.where(self.is_top, 0.0, out))
        rest = self.slacks.spread(total - others)
        return np.where(self.is_top & self.loaded[self.slacks.tasks], rest, out)

    def gram(self, problem: Problem) -> Array:
        """Return B' T^-1 B."""
        B = problem.design.rows(np.ones(self.A.size, bool))
        mean = self.slacks.total(self.A[:, None] * B) / self.sigma[:, None]
        spread = np.sqrt(self.A)[:, None] * (B - mean[self.slacks.tasks])
        shared = np.sqrt(self.sigma / (1.0 + self.theta * self.sigma))[:, None] * mean
        return spread.T @ spread + shared.T @ shared

    def slack_step(self, da: Array, free: Array, r_box: Array, c_box: Array) -> tuple[Array, Array]:
        """Return the steps of xi and beta, each from the side that carries its digits."""
        if not self.boxed:
            return self.theta * self.slacks.total(da), np.zeros_like(r_box)
        xi, beta = self.state.xi, self.state.beta
        dxi = (self.slacks.total(self.A * free) - r_box + c_box / xi) / (self.sigma + beta / xi)
        return dxi, np.where(self.loaded, (c_box - beta * dxi) / xi, r_box - self.slacks.total(da))


def _theta(problem: Problem, state: State) -> Array:
    """Return how far a slack gives way per unit of its multiplier."""
    if problem.hard:
        return np.zeros(problem.slacks.n)
    return 1.0 / (2.0 * problem.cost) if problem.loss.squared else state.xi / state.beta


class _Factor:
    """Cholesky of diag(I, 0) + B'T^-1 B, scaled to unit diagonal, with refinement by the operator."""

    def __init__(self, problem: Problem, block: _OwnBlock | _SharedBlock) -> None:
        self.problem, self.block = problem, block
        matrix = block.gram(problem)
        self.identity = np.concatenate([np.ones(problem.p), np.zeros(matrix.shape[0] - problem.p)])
        matrix[np.diag_indices_from(matrix)] += self.identity
        self.scale = 1.0 / np.sqrt(np.maximum(np.diag(matrix), 1e-300))
        self.factor = _cholesky(matrix * self.scale[:, None] * self.scale)

    def __call__(self, rhs: Array) -> Array:
        """Return the solution after two refinements."""
        x = self._apply(rhs)
        for _ in range(2):
            product = self.problem.design.tdot(self.block.apply(self.problem.design.dot(x)))
            x = x + self._apply(rhs - self.identity * x - product)
        return x

    def _apply(self, rhs: Array) -> Array:
        return self.scale * linalg.cho_solve(self.factor, self.scale * rhs, check_finite=False)


def _cholesky(matrix: Array) -> tuple[Array, bool]:
    """Factor a unit-diagonal matrix, adding no more to its diagonal than it takes."""
    jitter = 1e-15
    while jitter < 1.0:
        try:
            shifted = matrix + jitter * np.eye(matrix.shape[0])
            return linalg.cho_factor(shifted, lower=True, check_finite=False)
        except linalg.LinAlgError:
            jitter *= 30.0
    raise FloatingPointError("the Newton system is not finite")


def _longest(state: State, step: State) -> float:
    """Return the largest step (at most 1) that keeps everything non-negative."""
    steepest = 1.0  # the fastest relative decrease
    for v, dv in ((state.s, step.s), (state.a, step.a), (state.xi, step.xi), (state.beta, step.beta)):
        steepest = max(steepest, -float(np.min(dv / np.maximum(v, 1e-300), initial=0.0)))
    return 1.0 / steepest


def _moved(state: State, step: State, alpha: float) -> State:
    return State(
        state.x + alpha * step.x,
        state.xi + alpha * step.xi,
        state.s + alpha * step.s,
        state.a + alpha * step.a,
        state.beta + alpha * step.beta,
    )


def _zero_is_free(problem: Problem) -> bool:
    """Whether w = 0 with some level meets every margin."""
    if problem.design.shape[1] == problem.p:
        return bool(np.all(problem.margin <= 0))
    e = level_columns(problem)[:, 0]
    low = np.max((problem.margin / e)[e > 0], initial=-np.inf)
    high = np.min((problem.margin / e)[e < 0], initial=np.inf)
    return bool(low <= high)


def _constant(rows: Rows, map_: FeatureMap, C: float, loss: Loss) -> Solution:
    """Return w = 0 with its best level: nothing distinguishes the items, or nothing needs to."""
    weights = map_.adjoint_exact(np.zeros(rows.D.shape[1]))
    zero = np.zeros(rows.D.shape[0])
    levels = rules.best_levels(rows, zero, C, loss)
    value = loss_value(rows, zero, levels, C, loss)
    status = Status.CONVERGED if np.isfinite(value) else Status.INFEASIBLE
    return Solution(weights, np.zeros(rows.D.shape[1]), levels, value, value, 1, status)


def _without_model(map_: FeatureMap, rows: Rows, n_iter: int, status: Status) -> Solution:
    weights = map_.adjoint_exact(np.zeros(rows.D.shape[1]))
    inf = float("inf")
    zero = np.zeros(rows.D.shape[1])
    return Solution(weights, zero, np.zeros(rows.E.shape[1]), inf, 0.0, n_iter, status)


def _finish(
    rows: Rows, map_: FeatureMap, C: float, problem: Problem, end: tuple[Bounds, int, Status], tol: float
) -> Solution:
    """Return to the user's scale, with the best level for the weights that are returned."""
    bounds, n_iter, status = end
    coefficients = rows.D.T @ (problem.pull * bounds.a)
    dual = problem.stretch**2 * bounds.dual + (0.0 if problem.hard else C * rows.constant)
    w_image, w, b = problem.design.tdot(bounds.a)[: problem.p], bounds.x[: problem.p], bounds.x[problem.p :]
    image = _point(rows, map_, problem, (map_.adjoint_exact(coefficients), w_image, b), C)
    other = _point(rows, map_, problem, (problem.weights(w), w, b), C)
    # the image of the multipliers is sparse over the items: it wins unless the other is visibly better
    point = image if image.value <= max(other.value * (1 + 1e-10), dual / (1 - 0.5 * min(tol, 1e-9))) else other
    if cancelled(problem, bounds.a):
        zero = _point(rows, map_, problem, (np.zeros_like(point.weights), np.zeros(problem.p), b), C)
        if relative_gap(zero.value, dual) <= max(tol, 1e-9):
            point, coefficients = zero, np.zeros_like(coefficients)
    if relative_gap(point.value, dual) <= tol:
        status = Status.CONVERGED
    elif status is Status.CONVERGED:
        status = Status.STALLED
    return Solution(point.weights, coefficients, point.levels, point.value, dual, n_iter, status)


@dataclass(frozen=True)
class _Point:
    """A candidate for the answer: the map's weights, levels, and what they cost."""

    weights: Array
    levels: Array
    value: float


def _point(
    rows: Rows, map_: FeatureMap, problem: Problem, at: tuple[Array, Array, Array], C: float
) -> _Point:
    """Return weights with their best level, stretched where the shortfalls are only rounding.

    Differences are taken from the map's own weights, as a user would; the norm from the solver's coordinates: in the
    map's it may cancel.
    """
    weights, w, b = at
    z, norm = rows.D @ map_.forward_exact(weights), 0.5 * problem.stretch**2 * float(w @ w)
    middle, levels = rules.best_levels(rows, z, C, problem.loss), problem.levels(b)
    value = norm + loss_value(rows, z, middle, C, problem.loss)
    by_solver = norm + loss_value(rows, z, levels, C, problem.loss)
    if value <= by_solver * (1 + 1e-12):  # the middle of the optimal interval, whatever the last digits say
        levels = middle
    value = min(value, by_solver)
    eta = float(np.max(1.0 - (z + rows.E @ levels) / rows.margin)) if np.all(rows.margin > 0) else 0.0
    if 0.0 < eta < ROUNDING:
        stretch = (1.0 + 1e-15) / (1.0 - eta)
        stretched = norm * stretch**2 + loss_value(rows, z * stretch, levels * stretch, C, problem.loss)
        if stretched < value or problem.hard:
            return _Point(weights * stretch, levels * stretch, stretched)
    return _Point(weights, levels, value)
