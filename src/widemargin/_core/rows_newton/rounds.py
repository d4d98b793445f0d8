"""One solve: from a start with the rows near their margins alone, then with all rows until the exact gap is small."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .answer import Nothing, Verdict, verdict
from .iterations import Run, from_sample, run
from .near import Near, may_be_near
from .plan import Plan
from .problem import Problem, Start

NEAR_ROUNDS = 2
CAREFUL = 0.9  # of the gap is for the near rows
MOST_WIDER = 8.0  # times the last smoothing, after a round of near rows that left a larger gap
TRIES = 10  # each to a tenth of the last gap: the model zero is proved best, or a better one is found


class Goal(NamedTuple):
    """How far to go, and the model zero, which must not be mistaken for it."""

    tol: float
    max_iter: int
    report: Callable[[int, float], object] | None
    nothing: Nothing

    def is_met(self, said: Verdict) -> bool:
        """Whether the gap is small; not where the model zero is as good without being proved best."""
        return said.gap <= self.tol and (said.zero > said.primal or said.is_zero)


class Outcome(NamedTuple):
    """How a round ended, and how many steps all took."""

    found: Run
    said: Verdict
    part: Near | None
    n_iter: int


def solve(problem: Problem, plan: Plan, goal: Goal) -> Outcome:
    """Solve from where the plan's last solve leads, or from a sample."""
    begin, n_iter = plan.begin(problem), 0
    if begin is None and plan.is_shared:
        begin = _sampled(problem, goal)
    for _ in range(NEAR_ROUNDS if may_be_near(problem) else 0):
        tried = None if begin is None else _by_near_rows(problem, plan, goal, begin, n_iter)
        if tried is None or not tried.found.is_done:
            break
        if goal.is_met(tried.said):
            return tried
        wider = float(np.clip(np.sqrt(tried.said.gap / goal.tol), 1.0, MOST_WIDER))
        begin, n_iter = Start(tried.said.f, tried.found.best.point.b, wider * tried.found.h), tried.n_iter
    return _by_all_rows(problem, plan, goal, begin, n_iter)


def _sampled(problem: Problem, goal: Goal) -> Start | None:
    start = from_sample(problem, goal.tol, goal.max_iter)
    return None if start.h is None else start


def _by_near_rows(problem: Problem, plan: Plan, goal: Goal, begin: Start, n_iter: int) -> Outcome | None:
    point = problem.point(begin.f, begin.b)
    part = plan.near(problem, point)
    if part is None:
        return None
    found = run(part.problem, CAREFUL * goal.tol, goal.max_iter, goal.report, begin._replace(f=part.start))
    said = verdict(problem, found, goal.nothing, part)
    plan.keep_reach(point.short, said.short)
    return Outcome(found, said, part, n_iter + found.n_iter)


def _by_all_rows(problem: Problem, plan: Plan, goal: Goal, begin: Start | None, n_iter: int) -> Outcome:
    first, tol = None, goal.tol
    if begin is not None and may_be_near(problem):
        first = problem.point(begin.f, begin.b).short
    for _ in range(TRIES):
        found = run(problem, tol, goal.max_iter, goal.report, begin)
        said = verdict(problem, found, goal.nothing)
        n_iter += found.n_iter
        if not found.is_done or goal.is_met(said) or problem.space.is_rounded:  # exact values are needed
            break
        tol, begin = 0.1 * min(tol, said.gap), Start(said.f, found.best.point.b)
    if first is not None:
        plan.keep_reach(first, said.short)
    return Outcome(found, said, None, n_iter)
