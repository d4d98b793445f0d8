"""One Newton step of the interior point: residuals, the blocks that eliminate the slacks, one Cholesky factor."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, sparse

from ..solution import Array
from .problem import Problem
from .sparse_design import sparse_solver

CORRECTORS = 4


@dataclass(frozen=True)
class State:
    """An interior point: x = (w, b), slacks xi of tasks, surplus s and multipliers a of rows, beta of slacks."""

    x: Array
    xi: Array
    s: Array
    a: Array
    beta: Array


def complementarity(problem: Problem, state: State) -> float:
    """Return the mean product of multipliers and what they belong to."""
    total, size = float(state.s @ state.a) + float(state.xi @ state.beta), state.s.size
    return total / (size if problem.hard or problem.loss.squared else size + state.xi.size)


class System:
    """One iteration's Newton system: residuals and factor shared by predictor and corrector."""

    def __init__(self, problem: Problem, state: State) -> None:
        self.problem, self.state = problem, state
        slacks, p = problem.slacks, problem.p
        self.boxed = not (problem.hard or problem.loss.squared)
        image = problem.design.tdot(state.a)
        self.r_x = image - np.concatenate([state.x[:p], np.zeros(image.size - p)])
        self.r_row = problem.margin - problem.design.dot(state.x) - slacks.spread(state.xi) + state.s
        self.r_box = problem.cost - slacks.total(state.a) - state.beta if self.boxed else np.zeros(slacks.n)
        self.mu = complementarity(self.problem, state)
        self.block = (_OwnBlock if slacks.task is None else _SharedBlock)(problem, state)
        self.solve = _Factor(problem, self.block)

    def advance(self) -> tuple[State, float]:
        """Return the next state and the step length taken."""
        state = self.state
        affine = self._direction(-state.s * state.a, -state.xi * state.beta)
        alpha = _longest(state, affine)
        target = (complementarity(self.problem, _moved(state, affine, alpha)) / self.mu) ** 3 * self.mu
        c_row = target - state.s * state.a - affine.a * affine.s
        c_box = target - state.xi * state.beta - affine.xi * affine.beta
        step = self._centred(self._direction(c_row, c_box), c_row, c_box, target)
        alpha = min(1.0, 0.995 * _longest(state, step))
        moved = _moved(state, step, alpha)
        if self.problem.loss.squared and not self.problem.hard:
            moved = replace(moved, xi=self.problem.slacks.total(moved.a) / (2.0 * self.problem.cost))
        return moved, alpha

    def _centred(self, step: State, c_row: Array, c_box: Array, target: float) -> State:
        """Return the step with a few products pulled back to the others (Gondzio), while that lengthens it.

        A handful of badly centred rows among many would otherwise hold all of them to short steps.
        """
        alpha = _longest(self.state, step)
        for _ in range(CORRECTORS):
            if alpha > 0.9:
                break
            ahead = _moved(self.state, step, min(1.0, 1.3 * alpha + 0.1))
            c_row = c_row + _pull(ahead.s * ahead.a, target)
            c_box = c_box + _pull(ahead.xi * ahead.beta, target)
            tried = self._direction(c_row, c_box)
            longer = _longest(self.state, tried)
            if longer < alpha + 0.02:
                break
            step, alpha = tried, longer
        return step

    def _direction(self, c_row: Array, c_box: Array) -> State:
        """Return the Newton direction for the complementarity targets."""
        problem, state = self.problem, self.state
        shift = (c_box - state.xi * self.r_box) / state.beta if self.boxed else np.zeros(problem.slacks.n)
        rho = self.r_row - problem.slacks.spread(shift) + c_row / state.a
        dx = self.solve(problem.design.tdot(self.block.apply(rho)) + self.r_x)
        reach = problem.design.dot(dx)
        da = self.block.apply(rho - reach)
        ds = (c_row - state.s * da) / state.a
        free = self.r_row + c_row / state.a - reach
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

    def gram(self, problem: Problem) -> Array | sparse.csc_array:
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
    """A factor of diag(I, 0) + B'T^-1 B, scaled to unit diagonal, with refinement by the operator."""

    def __init__(self, problem: Problem, block: _OwnBlock | _SharedBlock) -> None:
        self.problem, self.block = problem, block
        matrix = block.gram(problem)
        self.identity = np.concatenate([np.ones(problem.p), np.zeros(matrix.shape[0] - problem.p)])
        diagonal = matrix.diagonal() + self.identity
        self.scale = 1.0 / np.sqrt(np.maximum(diagonal, 1e-300))
        if sparse.issparse(matrix):
            unit = sparse.diags_array(self.scale)
            self.solve = sparse_solver(unit @ (matrix + sparse.diags_array(self.identity)) @ unit)
            return
        matrix[np.diag_indices_from(matrix)] = diagonal
        factor = _cholesky(matrix * self.scale[:, None] * self.scale)
        self.solve = lambda rhs: linalg.cho_solve(factor, rhs, check_finite=False)

    def __call__(self, rhs: Array) -> Array:
        """Return the solution after two refinements."""
        x = self._apply(rhs)
        for _ in range(2):
            product = self.problem.design.tdot(self.block.apply(self.problem.design.dot(x)))
            x = x + self._apply(rhs - self.identity * x - product)
        return x

    def _apply(self, rhs: Array) -> Array:
        return self.scale * self.solve(self.scale * rhs)


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


def _pull(products: Array, target: float) -> Array:
    """Return what brings complementarity products into [0.1, 10] times the target, large ones not at once."""
    return np.maximum(np.clip(products, 0.1 * target, 10.0 * target) - products, -10.0 * target)


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
