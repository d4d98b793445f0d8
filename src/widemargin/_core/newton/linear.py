"""Newton's method for implicit pairs: `min_w 1/2 ||w||^2 + C * risk(X w)`, with a certificate at every stop.

Order of steps:
1. Solve samples of growing size, each from the last one's solution: a start that is right to a few per cent.
2. Look at all data (one pass over X: value, gradient, dual value).
3. Raise the dual value: solve again for the slopes of the sample's pairs while the others stay as they are.
   The plain bound P - D = 1/2 ||gradient||^2 is loose by the largest eigenvalue of the Hessian; repaired it
   is loose by (all pairs / the sample's pairs) only.
4. Stop at (P - D) <= tol * P. Otherwise a step with the Hessian of the sample, or of all pairs where a sample
   is no use (little data, or the last step contracted badly), and on to 2.
The hinge is smoothed by h, which falls until the smoothing costs less than the tolerance; P is always exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..solution import Array, Solution, Status, relative_gap
from .curvature import Factor
from .goals import POOR, Goal, Point, descend, descend_far, minimise, within
from .plan import Trace
from .samples import Helper, Slopes, Start, raised_dual
from .warm import warm_start

if TYPE_CHECKING:
    from .curvature import Curvature
    from .passes import LinearPairs, Look
    from .plan import Plan

Say: TypeAlias = Callable[[int, float, float], None]  # of a step, an objective and a gap

ROUNDING_SHARE = 0.1  # of the tolerated gap that float32 products may cost
SMOOTHING_SHARE = 0.3  # of the tolerated gap that the smoothing of the hinge may cost
STALE = 0.1  # share of the decrement beyond which a new Hessian of a sample is made: it costs less than another pass
WORSE, OLD = 1.5, 12  # the same, and steps, where it is one of all pairs that learns: it costs as much as many passes
PER_FEATURE = 130  # items of a sample whose Hessian is that of all pairs, nearly
FIRST_H, ALL_H = 1.0, 2.0  # smoothings; at the latter every pair is curved before any step
SMALLEST_START_H = 0.06  # samples have few pairs in a thinner zone, and their solutions move on by more than it
THINNEST = 2e-14  # smoothing, in units of the pairs' weight over the tolerated gap, of which rounding then is a part
START_RTOL = 0.002
TRUST = 0.01  # the same where nothing is smoothed: a last step, not looked at, then leaves less than a tenth of it
HOPELESS = 0.01  # share of the objective: a step that promised more, and fell for no length, begins anew
SHORT, MOST_SHORT = 0.25, 6  # share of a step, and such steps one after the other, that show a start was too thin
MOST_ANEW = 5  # times that it begins anew
HOPE = 1.2  # times the tolerated gap: beyond, raising the dual value is not tried
STALL, STALL_NARROW = 1e-13, 1e-7  # shares of the objective that rounding may hide: of float64, of float32 products


def cold_start(goal: Goal, plan: Plan, sizes: list[int], tol: float, max_iter: int) -> Start:
    """Solve samples of growing size, each a part of the next; the last sample and its smoothing are kept."""
    w, h = np.zeros(goal.data.n_features), FIRST_H
    curvature, start = None, Start(w, h, None, None)
    is_trusted = goal.data.risk.is_exact
    for helper in nested_samples(goal, plan, sizes):
        while True:
            whole = helper.whole.smoothed(h)
            end = minimise(whole, w, within(TRUST if is_trusted else START_RTOL, whole), min(max_iter, 20), curvature)
            w, is_fresh = _with_trust(whole, end) if is_trusted else (end.w, end.is_fresh)
            start = Start(w, h, helper, None if end.curvature is curvature else end.curvature, is_fresh)
            curvature = end.curvature
            lower = max(next_smoothing(whole, w, end.look, tol), SMALLEST_START_H)
            if lower >= h:
                break
            h, curvature = lower, None
    return start


def nested_samples(goal: Goal, plan: Plan, sizes: list[int]) -> list[Helper]:
    """Return samples of ascending size, each drawn from the next."""
    helpers: list[Helper] = []
    for size in reversed(sizes):
        helpers.append(helpers[-1].smaller(size) if helpers else Helper.draw(goal, plan, size))
    return helpers[::-1]


def _with_trust(goal: Goal, end: Point) -> tuple[Array, bool]:
    """Take a step unseen where what is left is small, but no rounding; return w and whether the Hessian is of it."""
    gradient = goal.gradient(end.w, end.look)
    step = end.curvature.solve(gradient)
    share = 0.5 * float(gradient @ step) / (goal.C * end.look.terms.value or 1.0)
    if STALL < share <= TRUST:
        return goal.data.representable(end.w - step), False
    return end.w, end.is_fresh


def next_smoothing(goal: Goal, w: Array, look: Look, tol: float) -> float:
    """Return the h whose cost is within its share of the tolerated gap; the cost falls as h^2."""
    h = goal.data.risk.h
    if goal.data.risk.is_exact:
        return h
    primal = goal.primal(w, look)
    allowed, cost = SMOOTHING_SHARE * tol * primal, goal.smoothing_cost(w, look)
    if cost <= allowed:
        return h
    lower = h * float(np.clip(np.sqrt(0.8 * allowed / cost), 0.2, 0.8))
    # slopes divide by h: stop where the rounding of the pairs' sums would spoil the bound
    return min(h, max(lower, THINNEST * goal.C * goal.data.risk.levels.total_weight / (tol * primal)))


class Best:
    """The best primal and the best dual point so far; they need not come from the same look."""

    def __init__(self, w: Array, look: Look) -> None:
        self.primal, self.dual = np.inf, -np.inf
        self.w, self.slopes, self.dual_norm = w, Slopes(look), 0.0

    @property
    def gap(self) -> float:
        """Return the relative gap between the two."""
        return relative_gap(self.primal, self.dual)

    def offer_primal(self, value: float, w: Array) -> None:
        """Keep a primal point if it is better."""
        if value < self.primal:
            self.primal, self.w = value, w

    def offer_dual(self, value: float, slopes: Slopes, norm: float) -> None:
        """Keep a dual point, whose weights have this squared norm, if it is better."""
        if value > self.dual:
            self.dual, self.slopes, self.dual_norm = value, slopes, norm

    def solution(self, C: float, n_iter: int, status: Status) -> Solution:
        """Return the two as a solution."""
        slopes, none, bounds = self.slopes, np.zeros(0), (self.primal, self.dual)
        pulled = partial(slopes.coefficients, C)
        return Solution(self.w, pulled, none, *bounds, max(1, n_iter), status, dual_norm=self.dual_norm)


class Climb:
    """The full problem: steps with a sampled or an exact Hessian, until the certificate is good enough."""

    def __init__(self, goal: Goal, plan: Plan, start: Start, tol: float) -> None:
        self.goal, self.plan, self.w, self.tol = goal.smoothed(start.h), plan, start.w, tol
        self.helper = start.helper and start.helper.smoothed(start.h)
        self.look = start.look or self.goal.data.look(self.w)
        self.seen, self.lift, self.noise = start.seen, start.lift, start.noise
        self.best = Best(self.w, self.look)
        self.before, self.last_gap, self.idle = np.inf, np.inf, 0
        self.n_anew = self.n_short = 0
        self.age, self.length = 0, 1.0  # steps with this Hessian, and how much of the last one was taken
        self.rounding = 0.0  # what float32 products may add to the dual value
        self._check_rounding(start.noise)
        self.is_fresh = start.is_fresh or start.curvature is None
        self.curvature = start.curvature or self._hessian()
        of_zero = goal.C * goal.data.risk.levels.total_weight
        if not self.goal.primal(self.w, self.look) <= of_zero:
            self._begin_anew()

    def _begin_anew(self) -> None:
        """Begin at zero, or where that was done before go on, with the Hessian of all pairs, as many curved as can be.

        Some rows are like no sample's.
        """
        self.goal, self.helper, self.w = self.goal.smoothed(ALL_H), None, self.w * (self.n_anew > 0)
        self.look = self.goal.data.look(self.w)
        self.seen = self.lift = None
        self.curvature, self.is_fresh, self.age, self.n_anew = self._hessian(), True, 0, self.n_anew + 1
        self.before, self.length = np.inf, 1.0

    def run(self, max_iter: int, say: Say) -> Solution:
        """Iterate: certify, stop or lower the smoothing, step."""
        for n_iter in range(max_iter + 1):
            left = self._left()
            self._certify(left)
            best = self.best
            say(n_iter, best.primal, best.gap)
            if not np.isfinite(left):
                return best.solution(self.goal.C, n_iter, Status.NOT_FINITE)
            if best.gap <= self.tol:
                return best.solution(self.goal.C, n_iter, Status.CONVERGED)
            if self._is_stalled(left):
                return best.solution(self.goal.C, n_iter, Status.STALLED)
            self.n_short = self.n_short + 1 if self.length < SHORT else 0
            is_lost = self.length == 0.0 and left > HOPELESS * best.primal and self.is_fresh
            if is_lost and self.n_anew >= MOST_ANEW:
                return best.solution(self.goal.C, n_iter, Status.STALLED)
            if is_lost or (self.n_short > MOST_SHORT and self.n_anew == 0):
                self._begin_anew()
                left = self._left()
            if n_iter < max_iter:
                self._step(left)
        return self.best.solution(self.goal.C, max_iter, Status.MAX_ITER)

    def _left(self) -> float:
        """Return what Newton's model promises: how far we seem above the minimum; what it learned may spoil it."""
        gradient = self.goal.gradient(self.w, self.look)
        with np.errstate(over="ignore", invalid="ignore"):
            left = self.curvature.decrement(gradient)
        if np.isfinite(left) or self.is_fresh:
            return left
        self.curvature, self.is_fresh, self.age = self._hessian(), True, 0
        return self.curvature.decrement(gradient)

    def _certify(self, left: float) -> None:
        """Offer this point to the best, with its dual value raised where that may suffice."""
        goal, w, look = self.goal, self.w, self.look
        self.best.offer_primal(goal.primal(w, look), w)
        self._offer(goal.dual(look), Slopes(look), float(np.sum((goal.C * look.pull) ** 2)))
        allowed = self.tol * self.best.primal
        if self.helper is None or self.best.gap <= self.tol:
            return
        promised = left * (1.0 + 1.0 / self.helper.share) + goal.smoothing_cost(w, look) * (not goal.data.risk.is_exact)
        if promised > HOPE * allowed:
            return
        point = Point(w, look, self.curvature, self.is_fresh)
        target = self.best.primal - 0.98 * allowed + self.rounding + goal.rounding(w, allowed)
        raised = raised_dual(goal, self.helper, point, target, self.seen, self.lift)
        self.lift = raised.lift
        self._offer(raised.value, raised.slopes, raised.norm)

    def _offer(self, dual: float, slopes: Slopes, norm: float) -> None:
        """Offer a dual point, less what rounding may have added to it."""
        rounding = self.rounding + self.goal.rounding(self.w, self.tol * self.best.primal)
        self.best.offer_dual(dual - rounding, slopes, norm + 2.0 * rounding)

    def _is_stalled(self, left: float) -> bool:
        """Return whether rounding is all that is left: looks at the minimum without a better certificate."""
        is_wide = self.goal.data.is_wide
        is_left = self.length > 0.0 and left > (STALL if is_wide else STALL_NARROW) * self.best.primal
        moves = self.best.gap < 0.5 * self.last_gap or is_left
        self.idle = 0 if moves else self.idle + 1
        self.last_gap = min(self.last_gap, self.best.gap)
        if self.idle >= 2 and not is_wide:
            self._widen()
        return self.idle >= 4

    def _step(self, left: float) -> None:
        """Take a step, with a better Hessian where the last step was poor."""
        poor = left > POOR * self.before
        zone = self._source.zone
        left = self._left() if self._lower_smoothing(left) else left
        # without a sample a thinner zone has pairs enough: their density, which the Hessian is, is nearly the same
        if (self.helper is not None and self._source.zone < zone) or self._is_stale(left):
            if poor and self.is_fresh:
                self._grow()
            self.curvature, self.is_fresh, self.age = self._hessian(), True, 0
            left = self._left()
        elif self.before < np.inf:
            self.is_fresh = False
        self.before, self.age = left, self.age + 1
        direction = -self.curvature.solve(self.goal.gradient(self.w, self.look))
        w, look = self.w, self.look
        go = descend_far if self.length < SHORT else descend
        self.w, self.look, self.length = go(self.goal, w, look, direction)
        self.curvature = self.curvature.learned(self.w - w, self.goal.C * (self.look.pull - look.pull))
        self.seen = self.lift = self.noise = None

    def _is_stale(self, left: float) -> bool:
        """Return whether a new Hessian pays: one of all pairs only where steps with what it learned fail."""
        is_good = self.helper is None and self.age < OLD and self.length == 1.0
        return left > (WORSE if is_good else STALE) * self.before

    def _lower_smoothing(self, left: float) -> bool:
        """Lower the smoothing where it costs too much and this level is nearly solved."""
        goal = self.goal
        lower = next_smoothing(goal, self.w, self.look, self.tol)
        if not goal.data.is_explicit:  # a guess then: the certificate's own bound is safer
            left = 0.5 * float(np.sum(goal.gradient(self.w, self.look) ** 2))
        is_due = lower < goal.data.risk.h and left <= 0.3 * goal.smoothing_cost(self.w, self.look)
        if is_due:
            self.goal = goal.smoothed(lower)
            self.helper = self.helper and self.helper.smoothed(lower)
            self.look = self.goal.data.look(self.w)
            self.seen = self.lift = self.noise = None
        return is_due

    @property
    def _source(self) -> Goal:
        return self.goal if self.helper is None else self.helper.whole

    def _hessian(self) -> Curvature:
        return self._source.curvature(self.w)

    def _grow(self) -> None:
        """Use four times the sample; all pairs where that is most of the data and their Hessian is cheap."""
        if self.helper is None:
            return
        data = self.goal.data
        n = 4 * self.helper.items.size
        if 2 * n > data.n_items and data.is_gram_cheap:
            self.helper = None
        elif self.helper.items.size < data.n_items:
            self.helper, self.seen, self.lift = Helper.draw(self.goal, self.plan, min(n, data.n_items)), None, None

    def trace(self) -> Trace:
        """Return what a solve for a nearby C can start from."""
        goal, end, gram, tangent = self.goal, self.w, None, None
        if isinstance(self.curvature, Factor):
            end = self.w - self.curvature.solve(goal.gradient(self.w, self.look))
            tangent, gram = self.curvature.solve(end), self.curvature.gram / goal.C
        if self.lift is not None and self.helper is not None:
            gram = self.lift.gram / self.helper.share
        known = self.seen, self.lift, self.noise
        return Trace(goal.C, self.w, goal.data.risk.h, self.look, end, tangent, gram, *known, self.best.w)

    def _check_rounding(self, noise: tuple[float, float] | None) -> None:
        """Widen float32 products where their rounding would spoil the certificate."""
        goal, data, C = self.goal, self.goal.data, self.goal.C
        if data.is_wide:
            return
        self.noise = loss, pull = noise or data.rounding(self.w, self.look)
        norm = float(np.linalg.norm(C * self.look.pull))
        error = C * loss + C * pull * (norm + 0.5 * C * pull)
        if error <= ROUNDING_SHARE * self.tol * goal.primal(self.w, self.look):
            self.rounding = 3.0 * error
        else:
            self._widen()

    def _widen(self) -> None:
        """Go on with all products in float64; values that float32 products gave are forgotten."""
        self.goal, self.helper = self.goal.widened(), self.helper and self.helper.widened()
        self.look = self.goal.data.look(self.w)
        self.best, self.last_gap, self.idle = Best(self.w, self.look), np.inf, 0
        self.seen, self.lift, self.noise, self.rounding = None, None, None, 0.0


def sample_sizes(data: LinearPairs) -> list[int]:
    """Return the sizes of the samples that lead to all data: enough items per feature, or none at all."""
    n, p = data.n_items, data.n_features
    if not data.is_explicit:
        return [n // 8] if n > 40 * p else []  # a sample of fewer rows than columns learns nothing of use
    per_feature = PER_FEATURE if data.is_gram_cheap else 160  # pieces of a large group see few of its pairs
    largest = max(4000, per_feature * p, n // 20)
    if 3 * largest > n and data.is_gram_cheap:
        largest = n
    sizes = [max(1000, 15 * p)]
    while 3 * sizes[-1] < largest:
        sizes.append(5 * sizes[-1])
    sizes[-1] = largest
    return [size for size in sizes if size < n]


def _for_bounds(data: LinearPairs, sizes: list[int]) -> list[int]:
    """Return the size of the one sample that serves on a path: it gives bounds, not starts, and is not too small.

    Little data have none: a sample's Hessian is poor and its bound needs many, where one of all pairs learns.
    """
    if not data.is_explicit or data.risk.is_exact:
        return sizes
    enough = PER_FEATURE * data.n_features
    return [max(sizes[-1], min(data.n_items // 4, enough))] if sizes and data.n_items > enough else []


def newton_linear(plan: Plan, C: float, *, tol: float, max_iter: int, say: Say, start: Array | None = None) -> Solution:
    """Minimise 1/2 ||w||^2 + C * risk(Xw) over the weights of the columns of X."""
    data = plan.data
    assert data is not None  # a kernel's plan goes elsewhere
    goal = Goal(data, C, np.zeros(data.n_features))
    if plan.sizes is None:
        sizes = sample_sizes(data)
        plan.sizes = sizes, _for_bounds(data, sizes)
    sizes = plan.sizes[start is not None and plan.last is not None]
    if start is None:
        begin = cold_start(goal, plan, sizes, tol, max_iter)
    else:
        begin = warm_start(goal, plan, sizes, tol, max_iter, start)
    if sizes and (
        (3 * sizes[-1] > data.n_items and data.is_gram_cheap) or not data.is_explicit
    ):  # the last sample was a start, and no help for the rest
        begin = begin._replace(helper=None, curvature=None)
    climb = Climb(goal, plan, begin, tol)
    solution = climb.run(max_iter, say)
    plan.last = climb.trace()
    plan.data = climb.goal.data if climb.goal.data.precise else data  # float32 that failed once is not tried again
    return replace(solution, pulled=lambda: data.by_item(solution.coefficients))
