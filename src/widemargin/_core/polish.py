"""From an interior point's answer to the optimum itself: solve the equations of the active rows.

At a hinge optimum each row is satisfied (a = 0), violated (a = cost) or exactly on the margin. Given that split,
    min 1/2 |w|^2 - g'w - h'b   s.t.  B_F x = margin_F,     g, h = sum over violated rows of cost * row,
is linear algebra, done in the null space of B_F so that no terms of the size of C cancel.
Rows that turn out misplaced change sides, a few times; the result is kept only if the certified gap fell.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .certificate import Bounds, dual_value, primal_value
from .problem import Problem
from .solution import Array

ROUNDS = 6
ACTIVE_LIMIT = 2000  # rows on the margin beyond which the factorisation costs more than it gives


def polished(problem: Problem, bounds: Bounds, a: Array, s: Array) -> Bounds:
    """Return bounds at least as tight, from the exact solution on the active set."""
    if problem.slacks.task is not None or (problem.loss.squared and not problem.hard):
        return bounds
    relative = a / np.max(a) if problem.hard else a / problem.cost
    short = problem.margin - problem.design.dot(bounds.x)
    active = relative > s
    violated = active & (relative > 0.5) & (short > 1e-6) & (not problem.hard)
    on_margin = active & ~violated
    for _ in range(ROUNDS):
        if on_margin.sum() > ACTIVE_LIMIT:
            return bounds
        x, a_try = _on_face(problem, on_margin, violated, a)
        bounds = _accepted(problem, bounds, x, a_try)
        on_margin, violated, changed = _exchanged(problem, x, a_try, on_margin, violated)
        if not changed:
            break
    return bounds


def _on_face(problem: Problem, on: NDArray[np.bool_], above: NDArray[np.bool_], a: Array) -> tuple[Array, Array]:
    """Return x and a that solve the equations of the split exactly."""
    p, k = problem.p, problem.design.shape[1]
    fixed = np.zeros(a.size)
    fixed[above] = problem.cost[above]
    pull = problem.design.tdot(fixed)
    A = problem.design.rows(on)
    U, S, Vt = np.linalg.svd(A, full_matrices=True)
    rank = int(np.sum(S > 1e-12 * max(1.0, S.max(initial=0.0))))
    x = Vt[:rank].T @ ((U[:, :rank].T @ problem.margin[on]) / S[:rank])
    N = Vt[rank:].T
    weighted = np.concatenate([np.ones(p), np.zeros(k - p)])
    if N.shape[1]:
        curve = N[:p].T @ N[:p]
        x = x + N @ np.linalg.lstsq(curve, N.T @ (pull - weighted * x), rcond=1e-13)[0]
    a_new = fixed.copy()
    missing = weighted * x - pull - A.T @ a[on]  # what the margin rows' own multipliers leave open
    a_new[on] = a[on] + U[:, :rank] @ ((Vt[:rank] @ missing) / S[:rank])
    return x, a_new


def _accepted(problem: Problem, bounds: Bounds, x: Array, a: Array) -> Bounds:
    """Keep each side only where its certified bound improved."""
    bounds = bounds.with_dual(*dual_value(problem, a))
    return bounds.with_primal(*primal_value(problem, x))


def _exchanged(
    problem: Problem, x: Array, a: Array, on: NDArray[np.bool_], above: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], bool]:
    """Move rows whose multiplier or margin contradicts their side."""
    short = problem.margin - problem.design.dot(x)
    leave = on & (a < -1e-12 * np.max(a, initial=1e-300))
    rise = on & (a > problem.cost * (1 + 1e-12))
    enter = ~on & ~above & (short > 1e-11)
    fall = above & (short < -1e-11)
    on_new = (on & ~leave & ~rise) | enter | fall
    above_new = (above & ~fall) | rise
    return on_new, above_new, bool(np.any(on_new != on) or np.any(above_new != above))
