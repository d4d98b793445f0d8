"""What Newton minimises in the space of w, and plain Newton on a small set of pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ..solution import Array

if TYPE_CHECKING:
    from .curvature import Curvature
    from .passes import LinearPairs, Look

Stop: TypeAlias = Callable[["Look", Array, float], bool]  # of a look, its gradient and its decrement

POOR = 0.1  # a step that leaves more than this share of the decrement was poor
PATIENT = 1.0  # the same where the Hessian learns from steps: a sample's costs as much as five looks at it
SHORTEST = 1e-6  # share of a step below which none is taken
LINE_STEPS, LINE_GOAL = 16, 0.1  # looks along a step, and the share of its slope that may remain
ROUNDINGS, NO_ROUNDING = 16.0, 1e-6  # of sums over pairs, in units of the last place; and a share of room that is none
PROXY_H = 0.3  # least smoothing of a sample's Hessian: it has few pairs in a thinner zone, and steps cross it


@dataclass(frozen=True)
class Goal:
    """1/2 ||w - centre||^2 + C * risk: what is minimised on a set of pairs."""

    data: LinearPairs
    C: float
    centre: Array
    proxy: LinearPairs | None = None  # pairs whose Hessian, times share, stands for that of data
    share: float = 1.0

    def value(self, w: Array, look: Look) -> float:
        """Return the smooth objective."""
        return 0.5 * _square(w - self.centre) + self.C * look.terms.value

    def primal(self, w: Array, look: Look) -> float:
        """Return the objective of the problem, with the exact loss."""
        return 0.5 * _square(w - self.centre) + self.C * look.terms.loss

    def gradient(self, w: Array, look: Look) -> Array:
        """Return the gradient of the smooth objective."""
        return w - self.centre + self.C * look.pull

    def dual(self, look: Look) -> float:
        """Return the dual value of the slopes at this look, 1/2 ||centre||^2 included."""
        return self.C * look.terms.conjugate - 0.5 * _square(self.centre - self.C * look.pull)

    def smoothing_cost(self, w: Array, look: Look) -> float:
        """Return what the smoothing adds to the duality gap: sum of C (hinge - slope * shortfall) >= 0."""
        return self.C * (look.terms.loss - look.terms.conjugate - float(w @ look.pull))

    def rounding(self, w: Array, room: float) -> float:
        """Return what rounding may add to the dual value: slopes are differences of sums over all pairs, over h.

        Nothing, where that is nothing beside the room.
        """
        risk = self.data.risk
        if risk.is_exact:
            return 0.0
        least = ROUNDINGS * float(np.finfo(float).eps) * self.C * risk.levels.total_weight / risk.h
        return least * (1.0 + self.data.largest(w)) if least > NO_ROUNDING * room else 0.0

    def curvature(self, w: Array) -> Curvature:
        """Return the Hessian at w."""
        if self.proxy is None or not self.data.is_explicit:  # a product visits all pairs as fast as fewer
            return self.data.curvature(w, self.C)
        return self.proxy.curvature(w, self.share * self.C)

    def widened(self) -> Goal:
        """Return the same goal with all products in float64."""
        return replace(self, data=self.data.widened(), proxy=self.proxy and self.proxy.widened())

    def smoothed(self, h: float) -> Goal:
        """Return the same goal under another smoothing; the proxy keeps a zone that has enough pairs."""
        if h == self.data.risk.h and self.proxy is None:
            return self
        return replace(self, data=self.data.smoothed(h), proxy=self.proxy and self.proxy.smoothed(max(h, PROXY_H)))

    @property
    def zone(self) -> float:
        """Return the smoothing that the Hessian is made with."""
        return (self.data if self.proxy is None else self.proxy).risk.h


def _square(v: Array) -> float:
    return float(v @ v)


class Point(NamedTuple):
    """A place, what was seen there, and the Hessian that was used last."""

    w: Array
    look: Look
    curvature: Curvature
    is_fresh: bool  # the Hessian is of this place


def descend(goal: Goal, w: Array, look: Look, direction: Array) -> tuple[Array, Look, float]:
    """Go along the direction, shortening the step until the objective falls as the slope promises; its length too.

    Nowhere, where it falls for no length that moves w: the Hessian knows nothing of some rows, or rounding is all.
    Where the slope is nearly gone the objective, which is convex, has fallen, whatever rounding makes of it.
    """
    value, slope = goal.value(w, look), float(goal.gradient(w, look) @ direction)
    noise = 1e-14 * abs(value)  # below rounding nothing can be promised: a step that does no harm is taken
    step = 1.0
    while True:
        trial = goal.data.representable(w + step * direction)
        if step < SHORTEST or np.array_equal(trial, w):
            return w, look, 0.0
        seen = goal.data.look(trial)
        is_lower = goal.value(trial, seen) <= value + 1e-3 * step * slope + noise
        if is_lower or abs(float(goal.gradient(trial, seen) @ direction)) <= -LINE_GOAL * slope:
            return trial, seen, step
        step *= 0.5 if step > 0.2 else 0.25


def descend_far(goal: Goal, w: Array, look: Look, direction: Array) -> tuple[Array, Look, float]:
    """Go along the direction to where the objective is lowest, about: the slope's sign is bracketed; the length too.

    Where few pairs bend, their corners stop a step, and one that ends before them never sees that they bend.
    """
    start, lowest = float(goal.gradient(w, look) @ direction), goal.value(w, look)
    noise = 1e-14 * abs(lowest)
    low, high, step, best = (0.0, start), (np.inf, np.inf), 1.0, (w, look, 0.0)
    for _ in range(LINE_STEPS if start < 0.0 else 0):
        trial = goal.data.representable(w + step * direction)
        seen = goal.data.look(trial)
        slope, value = float(goal.gradient(trial, seen) @ direction), goal.value(trial, seen)
        if abs(slope) <= -LINE_GOAL * start:
            return trial, seen, step
        if value <= lowest + noise:
            lowest, best = min(lowest, value), (trial, seen, step)
        if not np.isfinite(slope) or np.array_equal(trial, w):
            break
        low, high = (low, (step, slope)) if slope > 0.0 else ((step, slope), high)
        share = -low[1] / (high[1] - low[1]) if np.isfinite(high[0]) else np.inf
        most = 0.9 if low[0] > 0.0 else 0.25  # a corner near by is not seen from afar
        step = low[0] + (high[0] - low[0]) * float(np.clip(share, 0.1, most)) if np.isfinite(share) else 2.0 * step
    return best


def within(rtol: float, goal: Goal) -> Stop:
    """Return the stop where what is left is within rtol of the loss."""
    return lambda look, _, left: left <= rtol * goal.C * look.terms.value


def minimise(
    goal: Goal,
    w: Array,
    is_done: Stop,
    max_iter: int,
    curvature: Curvature | None = None,
    look: Look | None = None,
    *,
    learns: bool = False,
) -> Point:
    """Minimise on a small set of pairs; a Hessian is kept, and learns from steps if told, as long as they are good."""
    look = look or goal.data.look(w)
    poor = PATIENT if learns else POOR
    hessian, is_fresh, before = curvature or goal.curvature(w), curvature is None, np.inf
    for _ in range(max_iter):
        gradient = goal.gradient(w, look)
        left = hessian.decrement(gradient)
        if left > poor * before and not is_done(look, gradient, left):
            hessian, is_fresh = goal.curvature(w), True
            left = hessian.decrement(gradient)
        if not np.isfinite(left) or is_done(look, gradient, left):
            break
        before, here, seen = left, w, look
        w, look, length = descend(goal, w, look, -hessian.solve(gradient))
        if length == 0.0 and is_fresh:
            break
        if learns:
            hessian = hessian.learned(w - here, goal.C * (look.pull - seen.pull))
        is_fresh = False
    return Point(w, look, hessian, is_fresh)
