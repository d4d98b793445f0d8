"""True bounds from any point: a primal value from weights and levels, a dual value from feasible multipliers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..comparisons import IntArray, Rows
from ..losses import Loss
from ..solution import Array
from .problem import Problem

FEASIBLE = 1e-10  # a hard constraint holds if its shortfall is below this share of the largest margin
ROUNDING = 1e-4  # a shortfall below this may be rounding: stretching the point can cost less than C times it


@dataclass(frozen=True)
class Bounds:
    """The best primal and dual points so far. They need not belong together."""

    x: Array  # (w, b)
    primal: float
    a: Array
    dual: float

    @property
    def gap(self) -> float:
        """Return the relative gap; inf while one of the bounds is missing."""
        if not np.isfinite(self.primal):
            return float("inf")
        return (self.primal - self.dual) / self.primal if self.primal > 0 else 0.0

    def improves(self, before: Bounds) -> bool:
        """Whether one of the bounds moved by a tenth, or the gap halved."""
        moved = self.primal < 0.9 * before.primal or self.dual > 1.1 * before.dual
        return moved or self.gap < 0.5 * before.gap

    def with_primal(self, x: Array, primal: float, *, slack: float = 0.0) -> Bounds:
        """Return these bounds, or with the better primal point; `slack` is what a preferred point may lose."""
        return Bounds(x, primal, self.a, self.dual) if primal < self.primal + slack else self

    def with_dual(self, a: Array, dual: float, *, slack: float = 0.0) -> Bounds:
        """Return these bounds, or with the better dual point; `slack` is what a preferred point may lose."""
        return Bounds(self.x, self.primal, a, dual) if dual > self.dual - slack else self


def primal_value(problem: Problem, x: Array) -> tuple[Array, float]:
    """Return the point, stretched where that is cheaper than its rounding-size shortfalls, and its objective."""
    norm = 0.5 * problem.design.square(x[: problem.p])
    reached = problem.design.dot(x)
    value = norm + _loss(problem, problem.margin - reached)
    if np.all(problem.margin > 0):
        eta = float(np.max(1.0 - reached / problem.margin))
        if 0.0 < eta < (1.0 if problem.hard else ROUNDING):
            stretch = (1.0 + 1e-15) / (1.0 - eta)
            loss = 0.0 if problem.hard else _loss(problem, problem.margin - stretch * reached)
            if norm * stretch**2 + loss < value:
                return x * stretch, norm * stretch**2 + loss
    return x, value


def _loss(problem: Problem, short: Array) -> float:
    if problem.hard:
        return 0.0 if np.max(short, initial=0.0) <= FEASIBLE else float("inf")
    xi = np.maximum(problem.slacks.worst(short), 0.0)
    return float(problem.cost @ problem.loss.value(xi))


def dual_value(problem: Problem, a: Array) -> tuple[Array, float]:
    """Return the nearest feasible multipliers and their dual objective."""
    a = _feasible(problem, np.maximum(a, 0.0))
    w = problem.design.tdot(a)[: problem.p]
    gain, norm = float(problem.margin @ a), problem.design.square(w)
    if not (problem.hard or problem.loss.squared):
        return a, gain - 0.5 * norm
    curve = norm
    if not problem.hard:
        curve += float(np.sum(problem.slacks.total(a) ** 2 / (2.0 * problem.cost)))
    t = max(gain / curve, 0.0) if curve > 0 else 1.0  # the best multiple of a: no box stands in the way
    return t * a, t * gain - 0.5 * t * t * curve


def _feasible(problem: Problem, a: Array) -> Array:
    """Put a into its box and onto E'a = 0, moving most what has most room."""
    boxed = not (problem.hard or problem.loss.squared)
    slacks = problem.slacks
    if boxed:
        a = a * slacks.spread(problem.cost / np.maximum(slacks.total(a), problem.cost))
    if problem.design.shape[1] == problem.p:
        return a
    e = level_columns(problem)[:, 0]
    for _ in range(3):
        room = np.maximum(np.minimum(a, problem.cost - a), 0.0) if boxed else a
        curve = float(room @ e**2)
        if curve > 0:
            a = np.clip(a - room * e * (float(e @ a) / curve), 0.0, problem.cost if boxed else np.inf)
    return _balanced(a, e)


def _balanced(a: Array, e: Array) -> Array:
    """Return a with e'a = 0 to rounding, by shrinking the heavier side."""
    up, down = float(e[e > 0] @ a[e > 0]), -float(e[e < 0] @ a[e < 0])
    if min(up, down) <= 0.0:
        return np.zeros_like(a)
    return np.where(e > 0, a * min(1.0, down / up), a * min(1.0, up / down))


def level_columns(problem: Problem) -> Array:
    """Return E: what the free levels add to each row."""
    m, k = problem.design.shape
    return np.column_stack([problem.design.dot(np.eye(k)[j]) for j in range(problem.p, k)]).reshape(m, -1)


def infeasibility(problem: Problem, a: Array) -> float:
    """Return |D'a| / m'a for balanced a >= 0: any feasible w has norm at least its inverse."""
    a, _ = dual_value(problem, a)
    gain = float(problem.margin @ a)
    return problem.norm(problem.design.tdot(a)[: problem.p]) / gain if gain > 0 else float("inf")


def cancelled(problem: Problem, a: Array) -> bool:
    """Whether the multipliers cancel to the last digits: then w = D'a = 0 is the optimum, not a small model.

    Margins and rows have size 1 here, and rounding leaves a w of 1e-16 to 1e-13 of one that cancels, whatever
    C. With a tiny C an honest one may be as small, but its multipliers do not cancel.
    """
    w = problem.norm(problem.design.tdot(a)[: problem.p])
    whole = float(a @ problem.design.row_norms())
    return w <= 1e-7 * whole or (w <= 1e-12 and w <= 0.01 * whole)


def loss_value(rows: Rows, z: Array, levels: Array, C: float, loss: Loss) -> float:
    """Return C * sum of weighted losses at differences z, in the user's scale; the rows' constant included."""
    short = rows.margin - z - rows.E @ levels
    if np.isinf(C):
        return 0.0 if np.max(short, initial=0.0) <= 1e-6 * np.max(np.abs(rows.margin), initial=0.0) else C
    worst = short if rows.task is None else np.maximum.reduceat(short, _starts(rows.task))
    return C * (float(rows.weight @ loss.value(worst)) + rows.constant)


def _starts(task: IntArray) -> IntArray:
    return np.flatnonzero(np.concatenate([[True], task[1:] != task[:-1]]))
