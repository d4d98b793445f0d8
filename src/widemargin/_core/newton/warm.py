"""Starts from the solutions for nearby values of C."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .curvature import Factor
from .goals import PATIENT, Goal, minimise, within
from .samples import Helper, Start

if TYPE_CHECKING:
    from ..solution import Array
    from .plan import Plan, Trace

WARM_H = 0.1
WARM_RTOL = 0.1  # of tol: a warm start is corrected to the gradient of all pairs, so that precision pays
STAY, STAY_ON = 0.5, 0.8  # of the tolerated gap: so much may the last solution miss and be kept; and kept again
NOISE = 0.5  # of what the sample missed at the last C: no use in solving it better
FARTHEST = 2.0  # steps in log C that are extrapolated from the last one


def warm_start(goal: Goal, plan: Plan, sizes: list[int], tol: float, max_iter: int, w: Array) -> Start:
    """Move w, the solution for a nearby C, by solving a sample whose gradient is made that of all pairs.

    Unlike a step this follows pairs that become active on the way.
    """
    near = plan.last if plan.last is not None and np.array_equal(plan.last.w, w) else None
    if near is not None:
        goal = goal.smoothed(near.h)
        return _along(goal, plan, near, sizes[-1], tol, max_iter) if sizes else _on_line(goal, plan, near)
    if not sizes:
        return Start(w, WARM_H, None, None)
    goal = goal.smoothed(WARM_H)
    helper = Helper.draw(goal, plan, sizes[-1])
    seen = helper.whole.data.look(w)
    whole = replace(helper.whole, centre=goal.C * (seen.pull - goal.data.look(w).pull))
    end = minimise(whole, w, within(WARM_RTOL * tol, whole), min(max_iter, 20), None, seen)
    return Start(end.w, WARM_H, helper, end.curvature, end.is_fresh)


def _on_line(goal: Goal, plan: Plan, near: Trace) -> Start:
    """Begin on the line through the last two solutions; what changed on the way there corrects the Hessian."""
    ahead = _ahead(plan, near, goal.C)
    w = goal.data.representable(ahead)
    look = near.look if ahead is near.w else goal.data.look(w)
    curvature = Factor(goal.C * near.gram) if near.gram is not None else None
    learned = curvature and curvature.learned(w - near.w, goal.C * (look.pull - near.look.pull))
    return Start(w, near.h, None, learned, look=look)


def _along(goal: Goal, plan: Plan, near: Trace, size: int, tol: float, max_iter: int) -> Start:
    """Stay where the last solution nearly does; else solve the sample from the line through the last two."""
    helper = Helper.draw(goal, plan, size)
    seen = near.seen if near.seen is not None and near.seen.g.size == helper.items.size else None
    seen = helper.whole.data.look(near.w) if seen is None else seen
    ahead = _ahead(plan, near, goal.C)
    curvature = Factor(goal.C * near.gram) if near.gram is not None else None
    if curvature is not None:
        missed = curvature.decrement(goal.gradient(near.w, near.look)) * (1.0 + 1.0 / helper.share)
        if not goal.data.risk.is_exact:
            missed += goal.smoothing_cost(near.w, near.look)
        if missed <= (STAY if near.lift is None else STAY_ON) * tol * goal.primal(near.w, near.look):
            start = Start(near.w, near.h, helper, curvature, look=near.look, seen=seen)
            return start._replace(lift=near.lift, noise=near.noise)
    whole = replace(helper.whole, centre=goal.C * (seen.pull - near.look.pull))
    rtol = float(np.clip(NOISE * near.first, WARM_RTOL * tol, tol))
    begun = seen if ahead is near.w else None
    end = minimise(
        whole, goal.data.representable(ahead), within(rtol, whole), min(max_iter, 20), curvature, begun, PATIENT
    )
    return Start(end.w, near.h, helper, end.curvature, end.is_fresh, seen=end.look)


def _ahead(plan: Plan, near: Trace, C: float) -> Array:
    """Return weights on the line through the last two solutions, in log C; the last ones where they are far."""
    before, plan.before = plan.before, (near.C, near.w)
    if before is None or before[0] == near.C:
        return near.w
    ahead = float(np.log(C / near.C) / np.log(near.C / before[0]))
    return near.w + ahead * (near.w - before[1]) if 0.0 < ahead <= FARTHEST else near.w
