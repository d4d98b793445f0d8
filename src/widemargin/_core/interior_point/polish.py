"""From an interior point's answer to the optimum itself: solve the equations of the active rows.

At an optimum each task is met (no multiplier), tight (its active rows sit exactly on the margin) or loaded (its slack
is positive and its active rows fall short by the same amount). One row of a loaded task, its reference r, carries the
slack: xi = m_r - B_r x. The others must fall short as much: (B_k - B_r) x = m_k - m_r. What is left is

    min 1/2 |w|^2 + sum over loaded tasks of cost * loss(m_r - B_r x)    s.t.  A x = c,

linear algebra, done in the null space of A so that no terms of the size of C cancel. Rows that turn out misplaced
change sides, a few times; a point is kept only if it tightens the certified bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ..comparisons import IntArray
from ..solution import Array
from .certificate import Bounds, dual_value, primal_value
from .problem import Problem

ROUNDS = 6
ACTIVE_LIMIT = 1500  # active rows beyond which the factorisation costs more than it gives
ROUNDING = 1e-13  # what a point with exact zeros and exact margins may lose against the interior one
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Split:
    """A guess of the optimum's shape: which rows are active, which tasks have a positive slack."""

    active: Mask  # rows
    loaded: Mask  # tasks


def polished(problem: Problem, bounds: Bounds, a: Array, s: Array, xi: Array, beta: Array) -> Bounds:
    """Return bounds at least as tight, from the exact solution on the active set."""
    task = problem.slacks.tasks
    split = _first_split(problem, a, s, xi, beta)
    for _ in range(ROUNDS):
        reference = _references(split, a, task)
        tied = split.active.copy()
        tied[reference] = False
        if tied.sum() > ACTIVE_LIMIT:
            return bounds
        try:
            x, a = _on_face(problem, tied, reference, a, task)
        except linalg.LinAlgError:  # no decomposition converged
            return bounds
        slack = ROUNDING * bounds.primal
        bounds = bounds.with_dual(*dual_value(problem, a), slack=slack)
        bounds = bounds.with_primal(*primal_value(problem, x), slack=slack)
        changed = _exchanged(problem, x, a, split, task)
        if np.array_equal(changed.active, split.active) and np.array_equal(changed.loaded, split.loaded):
            break
        split = changed
    return bounds


def _first_split(problem: Problem, a: Array, s: Array, xi: Array, beta: Array) -> Split:
    """Read the split off an interior point: which of the two complementary numbers is the larger."""
    if problem.hard:
        return Split(a / np.max(a) > s, np.zeros(problem.slacks.n, bool))
    if problem.loss.squared:
        active = a / (2.0 * problem.slacks.spread(problem.cost)) > s
        return Split(active, problem.slacks.total(active.astype(float)) > 0)
    active = a / problem.slacks.spread(problem.cost) > s
    loaded = xi > beta / problem.cost
    return Split(active, loaded & (problem.slacks.total(active.astype(float)) > 0))


def _references(split: Split, a: Array, task: IntArray) -> IntArray:
    """Return one active row of each loaded task: the one with the largest multiplier."""
    rows = np.flatnonzero(split.active & split.loaded[task])
    if np.all(task[rows][1:] > task[rows][:-1]):  # one row a task
        return rows
    order = rows[np.lexsort((-a[rows], task[rows]))]
    first = np.concatenate([[True], task[order][1:] != task[order][:-1]]) if order.size else np.zeros(0, bool)
    return order[first]


def _on_face(problem: Problem, tied: Mask, reference: IntArray, a: Array, task: IntArray) -> tuple[Array, Array]:
    """Return x and the multipliers that solve the equations of the split."""
    A, c, carrier = _tied_rows(problem, tied, reference, task)
    cost, m_ref = problem.cost[task[reference]], problem.margin[reference]
    metric = np.diag(np.concatenate([np.ones(problem.p), np.zeros(problem.design.shape[1] - problem.p)]))
    squared = problem.loss.squared and not problem.hard
    if squared:
        gram: Any = problem.design.gram(_scattered(2.0 * cost, reference, a.size))
        metric += gram.toarray() if sparse.issparse(gram) else gram
    pull = problem.design.tdot(_scattered(2.0 * cost * m_ref if squared else cost, reference, a.size))
    x, U, S, Vt = _constrained(metric, pull, A, c)
    missing = metric @ x - pull - A.T @ a[tied]  # what the tied rows' own multipliers leave open
    a_new = np.zeros(a.size)
    a_new[tied] = a[tied] + U @ ((Vt @ missing) / S)
    load = 2.0 * cost * (m_ref - problem.design.dot(x)[reference]) if squared else cost
    carried = carrier >= 0
    a_new[reference] = load - np.bincount(carrier[carried], a_new[tied][carried], minlength=reference.size)
    return x, a_new


def _tied_rows(problem: Problem, tied: Mask, reference: IntArray, task: IntArray) -> tuple[Array, Array, IntArray]:
    """Return the equations A x = c of the tied rows, and which reference each leans on (-1: its task is tight)."""
    of_task = np.full(problem.slacks.n, -1)
    of_task[task[reference]] = np.arange(reference.size)
    carrier = of_task[task[tied]]
    A, c = problem.design.rows(tied), problem.margin[tied]
    lean = carrier >= 0
    if np.any(lean):
        used, which = np.unique(reference[carrier[lean]], return_inverse=True)
        mask = np.zeros(tied.size, bool)
        mask[used] = True
        A[lean] -= problem.design.rows(mask)[which]
        c[lean] -= problem.margin[used][which]
    return A, c, carrier


def _scattered(v: Array, rows: IntArray, n: int) -> Array:
    out = np.zeros(n)
    out[rows] = v
    return out


def _constrained(metric: Array, pull: Array, A: Array, c: Array) -> tuple[Array, Array, Array, Array]:
    """Minimise 1/2 x'metric x - pull'x over A x = c; return x and the singular triplets of A."""
    U, S, Vt = _singular(A)
    floor = 1e-12 * max(1.0, S.max(initial=0.0))
    rank = int(np.sum(floor < S))
    U, S, V, N = U[:, :rank], S[:rank], Vt[:rank], Vt[rank:].T
    x = V.T @ ((U.T @ c) / S)
    if N.shape[1]:
        x = x + N @ np.linalg.lstsq(N.T @ metric @ N, N.T @ (pull - metric @ x), rcond=1e-15)[0]
    return x, U, S, V


def _singular(A: Array) -> tuple[Array, Array, Array]:
    """Return all singular triplets; LAPACK's quicker routine may not converge where rows depend on each other."""
    try:
        return np.linalg.svd(A, full_matrices=True)
    except linalg.LinAlgError:
        if not np.isfinite(A).all():
            raise
        return linalg.svd(A, lapack_driver="gesvd")


def _exchanged(problem: Problem, x: Array, a: Array, split: Split, task: IntArray) -> Split:
    """Move what contradicts its side: negative multipliers, uncovered shortfalls, overfull or empty slacks."""
    z = problem.design.dot(np.concatenate([x[: problem.p], np.zeros(x.size - problem.p)]))
    short = problem.margin - problem.design.dot(x)
    eps = 1e-14 + 1e-11 * min(1.0, float(np.max(np.abs(z))))
    worst = problem.slacks.worst(np.where(split.active, short, -np.inf))
    slack = np.where(split.loaded, np.maximum(worst, 0.0), 0.0)
    leave = split.active & (a < -1e-12 * np.max(np.abs(a), initial=1e-300))
    enter = ~split.active & (short > slack[task] + eps)
    active = (split.active & ~leave) | enter
    if problem.hard:
        return Split(active, split.loaded)
    occupied = problem.slacks.total(active.astype(float)) > 0
    if problem.loss.squared:
        return Split(active, occupied)
    over = problem.slacks.total(np.maximum(a, 0.0)) > problem.cost * (1 + 1e-12)
    return Split(active, ((split.loaded & (worst > -eps)) | over) & occupied)
