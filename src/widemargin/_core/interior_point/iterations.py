"""Primal-dual interior point for explicit rows (Mehrotra's predictor-corrector), exact to rounding.

Problem (scaled, see `problem`): min 1/2 |w|^2 + sum cost * loss(xi), B (w, b) + xi[task] - s = margin, s, xi >= 0.
Optimality: w = D'a, E'a = 0, S'a + beta = cost, a s = 0, xi beta = 0.
Steps: scale; a start on the central path's side of large C; predictor and corrector with one Cholesky of
p + q dimensions; true bounds at every iteration; a polish on the active set.
Stops: at the relative duality gap `tol`; where steps die of rounding, the honest gap is returned.
Pairs under a kernel have a quicker way to a moderate gap: `implicit_pairs`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import itemgetter
from typing import TypeAlias

import numpy as np

from ..comparisons import Rows
from ..losses import HINGE, SQUARED_HINGE, Loss
from ..solution import Solution, Status
from .answer import constant, finish, without_model
from .certificate import Bounds, dual_value, infeasibility, level_columns, primal_value
from .polish import polished
from .problem import FeatureMap, Problem, Slacks, scaled_problem
from .system import State, System, complementarity

Report: TypeAlias = Callable[[int, float], object]  # called with (iteration, gap)

NO_MARGIN = 1e-9  # hard margins below this share of the data radius are refused
EXACT = 1e-13  # what small problems are solved to, whatever tol: it costs two or three iterations
EXTRA = 12  # iterations spent after that so that a tiny w is as exact as a large one
LOST = 100.0  # times the least complementarity that it may come to before rounding is all there is
PATIENCE = 25  # iterations in which a bound must improve visibly
LOOSE = 1e-6  # a tol that needs no polish
SMALL = 2_000_000  # rows x features that count as small


def interior_point(
    rows: Rows,
    map_: FeatureMap,
    C: float,
    loss: Loss,
    *,
    tol: float,
    max_iter: int,
    report: Report | None = None,
) -> Solution:
    """Minimise 1/2 |w|^2 + C * sum of losses over explicit rows; `C=inf` forbids slacks.

    Small problems are solved to rounding.
    """
    if loss not in {HINGE, SQUARED_HINGE}:
        raise TypeError(f"the interior point solves the hinge and its square; got {loss!r}")
    with np.errstate(over="ignore", invalid="ignore"):
        problem = scaled_problem(rows, map_, C, loss)
    if problem is not None and not problem.is_finite:
        return without_model(map_, rows, 1, Status.NOT_FINITE)
    if problem is None or _zero_is_free(problem):
        return constant(rows, map_, C, loss)
    small = problem.design.shape[0] * problem.design.shape[1] <= SMALL
    bounds, state, n_iter, status = _iterate(problem, min(tol, EXACT) if small else tol, max_iter, report)
    if status in {Status.INFEASIBLE, Status.NOT_FINITE}:
        return without_model(map_, rows, n_iter, status)
    if bounds.gap > tol and not problem.hard:
        bounds = _from_hard_margin(problem, bounds, max_iter)
    if small or tol < LOOSE:
        bounds = polished(problem, bounds, state.a, state.s, state.xi, state.beta)
    return finish(rows, map_, C, problem, (bounds, n_iter, status), tol)


def _iterate(problem: Problem, goal: float, max_iter: int, report: Report | None) -> tuple[Bounds, State, int, Status]:
    """Run predictor-corrector steps until the gap, the steps or the patience end."""
    state = _start(problem)
    bounds = Bounds(state.x, float("inf"), np.zeros_like(state.a), 0.0)
    before, mu_before = bounds, float("inf")
    idle = extra = 0
    mu = reached = float("inf")
    finest = reached, state  # of least complementarity: rounding may make later ones worse
    for k in range(1, max_iter + 1):
        try:
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # a dead step is noticed below
                system = System(problem, state)
                moved, step, mu = *system.advance(), system.mu
        except ArithmeticError:  # a factor that does not exist, or complementarity that vanished
            moved, step = state, 0.0
        if not all(np.all(np.isfinite(part)) for part in (moved.x, moved.s, moved.a, moved.xi, moved.beta)):
            moved, step = state, 0.0  # keep the last usable point: the polish starts from it
        state, reached = moved, complementarity(problem, moved)
        finest = min(finest, (reached, state), key=itemgetter(0))
        bounds = _tightened(problem, bounds, state)
        if report is not None:
            report(k, bounds.gap)
        if problem.hard and infeasibility(problem, state.a) < NO_MARGIN:
            return bounds, state, k, Status.INFEASIBLE
        idle += 1
        far = bounds.gap > LOOSE  # there complementarity may fall long before the bounds move
        if bounds.improves(before) or (far and mu < 0.5 * mu_before):
            idle, before, mu_before = 0, bounds, min(mu_before, mu)
        extra += bounds.gap <= goal
        is_fine = extra > EXTRA or reached > LOST * finest[0] or _separates(problem, state, mu)
        if bounds.gap <= goal and (goal > EXACT or is_fine):
            return bounds, finest[1], k, Status.CONVERGED
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
    return mu * state.s.size <= 1e-12 * problem.design.square(w)


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


def _zero_is_free(problem: Problem) -> bool:
    """Whether w = 0 with some level meets every margin."""
    if problem.design.shape[1] == problem.p:
        return bool(np.all(problem.margin <= 0))
    e = level_columns(problem)[:, 0]
    low = np.max((problem.margin / e)[e > 0], initial=-np.inf)
    high = np.min((problem.margin / e)[e < 0], initial=np.inf)
    return bool(low <= high)
