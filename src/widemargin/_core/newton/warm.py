"""Starts from the solutions for nearby values of C."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .curvature import Factor
from .goals import Goal, minimise, within
from .samples import Helper, Start

if TYPE_CHECKING:
    from ..solution import Array
    from .plan import Plan, Trace

WARM_H = 0.1
WARM_RTOL = 0.1  # of tol: a sample is corrected to the gradient of all pairs, so that precision pays
STAY = 0.8  # of the tolerated gap: so much may the last solution miss and be kept
FARTHEST = 2.0  # steps in log C that are extrapolated from the last one


def warm_start(goal: Goal, plan: Plan, sizes: list[int], tol: float, max_iter: int, w: Array) -> Start:
    """Go on from where the last solve on these data ended; or from any other w, the solution for a nearby C or data.

    Then a sample is solved whose gradient is made that of all pairs: unlike a step this follows pairs that become
    active on the way.
    """
    near = plan.last if plan.last is not None and np.array_equal(plan.last.given, w) else None
    if near is not None:
        goal = goal.smoothed(near.h)
        return _along(goal, plan, near, sizes[-1] if sizes else None, tol)
    if not sizes:
        return Start(w, WARM_H, None, None)
    goal = goal.smoothed(WARM_H)
    helper = Helper.draw(goal, plan, sizes[-1])
    seen = helper.whole.data.look(w)
    whole = replace(helper.whole, centre=goal.C * (seen.pull - goal.data.look(w).pull))
    end = minimise(whole, w, within(WARM_RTOL * tol, whole), min(max_iter, 20), None, seen)
    return Start(end.w, WARM_H, helper, end.curvature, end.is_fresh)


def _on_curve(goal: Goal, plan: Plan, near: Trace, curvature: Factor | None) -> Start:
    """Begin where the solution should be by now; what changed on the way there corrects the Hessian."""
    w = goal.data.representable(_ahead(plan, near, goal.C, curvature))
    look = goal.data.look(w)
    if not goal.value(w, look) <= goal.value(near.w, near.look):
        w, look = near.w, near.look
    learned = curvature and curvature.learned(w - near.w, goal.C * (look.pull - near.look.pull))
    return Start(w, near.h, None, learned, look=look)


def _along(goal: Goal, plan: Plan, near: Trace, size: int | None, tol: float) -> Start:
    """Stay where the last solution nearly does, by the bound of a sample; else begin farther on."""
    curvature = Factor(goal.C * near.gram) if near.gram is not None else None
    if size is None:
        return _on_curve(goal, plan, near, curvature)
    helper = Helper.draw(goal, plan, size)
    if curvature is not None:
        missed = curvature.decrement(goal.gradient(near.w, near.look)) * (1.0 + 1.0 / helper.share)
        if not goal.data.risk.is_exact:
            missed += goal.smoothing_cost(near.w, near.look)
        if missed <= STAY * tol * goal.primal(near.w, near.look):
            is_seen = near.seen is not None and near.seen.n_items == helper.items.size
            seen = near.seen if is_seen else helper.whole.data.look(near.w)
            return Start(near.w, near.h, helper, curvature, look=near.look, seen=seen, lift=near.lift, noise=near.noise)
    return _on_curve(goal, plan, near, curvature)._replace(helper=helper)


def _ahead(plan: Plan, near: Trace, C: float, curvature: Factor | None) -> Array:
    """Return weights for C: half of the way by the tangent in log C, half as if the loss were quadratic.

    At the minimum for c, w = -c r'(w): dw / dlog c = H^-1 w with H = I + c r''. Were r'' constant, w(C) - w(c) would be
    (C / c - 1) (I + C r'')^-1 w. The hinge's r'' falls as margins grow: the first is mostly too long, the
    second too short.
    Without a Hessian: the line through the last two solutions, where they are near.
    """
    ratio = C / near.C
    if curvature is not None and near.tangent is not None:
        return near.end + 0.5 * (np.log(ratio) * near.tangent + (ratio - 1.0) * curvature.solve(near.end))
    before, plan.before = plan.before, (near.C, near.w)
    if before is None or before[0] == near.C:
        return near.w
    ahead = float(np.log(ratio) / np.log(near.C / before[0]))
    return near.w + ahead * (near.w - before[1]) if 0.0 < ahead <= FARTHEST else near.w
