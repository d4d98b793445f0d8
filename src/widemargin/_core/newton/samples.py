"""Samples of the pairs: they stand for all in steps, and their slopes are solved again for a better bound."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..solution import Array
from .curvature import Factor
from .goals import Goal, Point, minimise
from .plan import Draw, Lift

if TYPE_CHECKING:
    from ..comparisons import IntArray
    from .curvature import Curvature
    from .passes import Look
    from .plan import Plan

SEED = 20100


class Helper(NamedTuple):
    """A sample of the pairs: as they are, and weighted to stand for all."""

    items: IntArray
    own: Goal
    whole: Goal
    share: float  # of all pairs
    is_even: bool  # every pair stands for as many others

    @classmethod
    def draw(cls, goal: Goal, plan: Plan, n_items: int) -> Helper:
        """Draw about n_items items with a fixed seed."""
        return cls.of(goal, plan.draw(goal.data, n_items, SEED))

    @classmethod
    def of(cls, goal: Goal, draw: Draw) -> Helper:
        """Return a sample of the pairs of a goal."""
        own, whole = (replace(goal, data=data, proxy=draw.pieces) for data in (draw.own, draw.whole))
        helper = cls(draw.items, replace(own, share=draw.share), whole, draw.share, draw.is_even)
        helper = helper.smoothed(goal.data.risk.h)
        return helper.widened() if goal.data.precise else helper

    def smaller(self, n_items: int) -> Helper:
        """Return a sample of this one: what is drawn from fewer costs less."""
        return Helper.of(self.whole, Draw.of(self.whole.data, n_items, SEED))

    def smoothed(self, h: float) -> Helper:
        """Return the same sample under another smoothing."""
        return self._replace(own=self.own.smoothed(h), whole=self.whole.smoothed(h))

    def widened(self) -> Helper:
        """Return the same sample with all products in float64."""
        return self._replace(own=self.own.widened(), whole=self.whole.widened())

    def look(self, w: Array, whole: Look | None) -> Look:
        """Return the look at the pairs as they are; nothing is spent where that of the weighted ones says it."""
        return whole.scaled(self.share) if whole is not None and self.is_even else self.own.data.look(w)


class Slopes(NamedTuple):
    """A dual point by items: g of a look, at some of them another one's. Arrays of all items are made when needed."""

    look: Look
    items: IntArray | None = None
    before: Look | None = None  # at these items
    after: Look | None = None

    def coefficients(self, C: float) -> Array:
        """Return the dual point pulled back to the items."""
        out = self.look.g * -C
        if self.before is not None and self.after is not None:
            out[self.items] -= C * (self.after.g - self.before.g)
        return out


class Raised(NamedTuple):
    """A dual value, the squared norm of its weights, its point, and where the sample's slopes are from."""

    value: float
    norm: float
    slopes: Slopes
    lift: Lift | None


def raised_dual(
    goal: Goal, helper: Helper, point: Point, target: float, seen: Look | None = None, lift: Lift | None = None
) -> Raised:
    """Return a better dual value than the slopes at a point have, and its point.

    The slopes of the helper's pairs are solved again: min_u 1/2 ||u - rest||^2 + C risk_S(u), where `rest`
    is the weight vector of all other slopes. Any u gives a feasible dual point, so any stop is valid: we stop
    where the target is reached, or where the gradient could not add another tenth of what is missing.
    `seen` is the look of the weighted helper at the point, `lift` where this ended for the same point and another C.
    """
    C, (w, look, curvature, _) = goal.C, point
    own = helper.look(w, seen)
    base = C * (look.terms.conjugate - own.terms.conjugate)
    part = replace(helper.own, centre=C * (own.pull - look.pull))

    def is_done(look: Look, gradient: Array, _left: float) -> bool:
        missing = target - base - part.dual(look)
        return missing <= 0.0 or 5.0 * float(gradient @ gradient) <= missing

    if lift is None:
        end = minimise(part, w, is_done, 6, curvature.scaled(helper.share), own, learns=True)
    else:
        end = minimise(part, lift.w, is_done, 6, Factor(C * lift.gram), learns=True)
    gram = end.curvature.gram / C if isinstance(end.curvature, Factor) else None
    norm = float(np.sum((part.centre - C * end.look.pull) ** 2))
    slopes = Slopes(look, helper.items, own, end.look)
    return Raised(base + part.dual(end.look), norm, slopes, None if gram is None else Lift(end.w, gram))


class Start(NamedTuple):
    """What the samples hand to the full problem."""

    w: Array
    h: float
    helper: Helper | None
    curvature: Curvature | None  # of the helper, at w or near it
    is_fresh: bool = False
    look: Look | None = None  # at w, where it is known
    seen: Look | None = None  # the same by the weighted helper
    lift: Lift | None = None
    noise: tuple[float, float] | None = None  # what float32 products cost at w, where that is known
