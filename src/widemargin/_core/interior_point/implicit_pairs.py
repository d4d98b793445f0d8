"""An interior point for all pairs of levels, to a moderate gap; pairs are not written out.

    min  1/2 |f|^2 + C sum_uv c_uv max(0, 1 - (s_u - s_v))^(1 or 2),   s the utilities that f gives

Everything is divided by C: f = C times the function with these coordinates, y are the multipliers of the pairs,
0 < y < c. A pair keeps two numbers, its multiplier and its surplus (`_barrier`). Squared slacks are y / 2c: multipliers
have no bound then, and a pair one product, not two. Newton's equation has the Laplacian
B'WB of the pairs' weights beside what the space of functions brings (`spaces`): under a kernel one factor of n^3 / 3
operations is all that an iteration needs.

Order of steps: look (weights, what the multipliers pull, bounds); stop at the gap; factor; Mehrotra's predictor and
corrector; a step. Few pairs of thousands are in the way of a long one: these are held back, and what their multipliers
do not do then is missing from the function, as it is at a start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from .. import _barrier
from ..lower_half import room
from ..solution import Array, Solution, Status, relative_gap

if TYPE_CHECKING:
    from ..comparisons import IntArray
    from ..risks import GroupedPairRisk
    from .spaces import Space

Report: TypeAlias = Callable[[int, float], object]  # called with (iteration, gap)

BEGIN_Y = 0.2  # multipliers at utilities of zero, in shares of the pairs' weights
BEGIN_T, BEGIN_T_SQUARED = 1.0, 3.0  # and surpluses: of a hinge, and of squared slacks
EARLY, FAR, LATE = 0.97, 0.1, 0.995  # shares of the longest step: above a gap of FAR, and below
LEAST_GOAL, MOST_GOAL, POWER = 1e-6, 0.05, 5  # share of the products that is aimed at: a power of what is left
THIN = 0.1  # share of a predictor that can be taken, below which products are too small: more may be aimed at
LENGTHS = np.array([1.0, 0.7, 0.45])  # of a step that holds some pairs back
HELD_BACK, UNDONE = 0.95, 0.05  # share of their way that these go at most, and of all moves that they leave undone
FALLS = 0.3  # share of its length by which such a step must lower the products
WORTH = 1.2  # times as long that such a step must be
CAREFUL = 8  # iterations in which the gap was not halved, after which nothing is held back
NEAR, NEAR_SQUARED = 15.0, 4.0  # times the objective that products sum up to where a solve begins at that for another C
NEAR_GAPS = 20.0  # the same for this C, in gaps of the point
NEARLY, STRETCHES = 100.0, np.logspace(-7, -3, 9)  # tolerated gaps from which on a little longer functions are tried
SHORTEST = 1e-8  # a step that is no step
PATIENCE = 30  # iterations in which the gap must halve
ENDED = 0.05  # share of the tolerated gap: products below it have nothing to give
CENTRED, MOST_CENTRED = 4.0, 3  # gaps that products sum up to where they were spent too early; how often that is mended
NOISE = 0.4  # share of the tolerated gap that is left to rounding of the kernel's values, which the bound is less by
MOST_ITEMS = 10_000  # a factor of so many takes some ten seconds
BYTES_MATRIX, BYTES_PAIR = 40, 16  # that a solve needs, for each entry of the matrix and for each pair
LEAST_WEIGHT = 1e-20  # of an item, the largest being 1: products of what belongs to pairs must not underflow


class Start(NamedTuple):
    """Coefficients of items, or weights of columns, near the solution, and how far around their margins pairs bend."""

    weights: Array
    h: float

    @classmethod
    def near(cls, weights: Array, objective: float, cost: float, *, squared: bool, gap: float = np.inf) -> Start:
        """Begin at the solution for another C, or near that for this one; `cost` is C times what all pairs weigh."""
        return cls(weights, min(NEAR_SQUARED if squared else NEAR, NEAR_GAPS * gap) * objective / cost)


@dataclass(frozen=True)
class ImplicitPairs:
    """The pairs and the space of functions, in the order of the sorted items: what solves for many C share."""

    risk: GroupedPairRisk
    space: Space
    weight: Array  # (n,) the largest is 1
    scale: float  # what products of weights were divided by

    @classmethod
    def of(cls, risk: GroupedPairRisk, make: Callable[[IntArray], Space | None]) -> ImplicitPairs | None:
        """Lay out the data, the space made for the items in their order; None where it or the weights do not serve."""
        weight = risk.levels.weight[risk.levels.order]
        largest = float(weight.max())
        if not weight.min() >= LEAST_WEIGHT * largest:
            return None
        space = make(risk.levels.order)
        return None if space is None else cls(risk, space, weight / largest, largest**2)

    @property
    def spans(self) -> tuple[IntArray, IntArray]:
        """Return where the worse items of each item begin and end."""
        return self.risk.levels.first, self.risk.levels.last

    def loss(self, s: Array) -> float:
        """Return the loss at utilities of the sorted items, pair by pair: sums over many items lose what is small."""
        return _barrier.short(*self.spans, s, self.weight, self.risk.loss.squared)

    def by_item(self, v: Array) -> Array:
        """Return numbers of the sorted items in the order of the items."""
        out = np.empty(v.size)
        out[self.risk.levels.order] = v
        return out

    def solve(
        self,
        C: float,
        *,
        tol: float,
        max_iter: int,
        start: Start | None = None,
        report: Report | None = None,
        is_careful: bool = False,
    ) -> Solution:
        """Minimise to a relative gap of tol; STALLED where rounding does not allow it.

        A careful solve holds no pair back and aims as high as the predictor says: slower, and surer.
        """
        point, allowed = _Point(self, C * self.scale, start), tol
        tol = (1.0 - NOISE) * tol if self.space.noise > 0.0 else tol
        last_gap, waited, n_centred, status = np.inf, 0, 0, Status.MAX_ITER
        for n_iter in range(1, max_iter + 1):
            product = point.look()
            if tol < point.best.gap <= NEARLY * tol:
                point.stretch(tol)
            gap = point.best.gap
            if report is not None:
                report(n_iter, gap)
            if gap <= tol:
                status = Status.CONVERGED
                break
            last_gap, waited = (gap, 0) if gap < 0.5 * last_gap else (last_gap, waited + 1)
            is_spent = product <= ENDED * tol * point.best.primal
            if is_spent and n_centred < MOST_CENTRED:
                point.centre(CENTRED * gap)
                n_centred += 1
                continue
            is_over = is_spent or waited > PATIENCE
            if is_over or not point.advance(product, is_careful=is_careful, is_slow=waited > CAREFUL) > SHORTEST:
                status = Status.STALLED
                break
        if status is not Status.CONVERGED:
            point.stretch(np.inf)
        return self._answer(C, point.best, n_iter, status, allowed)

    def _answer(self, C: float, best: _Best, n_iter: int, status: Status, tol: float) -> Solution:
        """Return the best points in the units of the data, the bound less what rounding may have added to it."""
        cost = C * self.scale
        pulled = self.by_item(cost * best.pull)
        objective, dual = cost * best.primal, cost * best.dual
        noise = 2.0 * self.space.noise * float(np.sum(np.abs(pulled))) ** 2  # of either norm
        if relative_gap(objective, dual - noise) <= tol:
            status = Status.CONVERGED
        elif status is Status.CONVERGED:
            status = Status.STALLED
        w = cost * best.w
        weights = self.by_item(self.space.by_items(w)) if self.space.is_by_item else w
        norms = {"squared_norm": cost * 2.0 * best.half_norm, "dual_norm": cost * 2.0 * best.half_dual_norm}
        u = self.by_item(best.utilities)
        return Solution(weights, pulled, np.zeros(0), objective, dual - noise, n_iter, status, u, **norms)


class _Best:
    """The best primal and the best dual point so far, divided by the cost."""

    def __init__(self, w: Array, n_items: int) -> None:
        self.w, self.utilities, self.pull = w, np.zeros(n_items), np.zeros(n_items)
        self.primal, self.half_norm = np.inf, 0.0
        self.dual, self.half_dual_norm = -np.inf, 0.0

    @property
    def gap(self) -> float:
        """Return the relative gap."""
        return relative_gap(self.primal, self.dual)


class _Point:
    """An interior point that moves: coordinates w of the function, its utilities s, and the pairs."""

    def __init__(self, task: ImplicitPairs, cost: float, start: Start | None) -> None:
        self.task, self.cost = task, cost
        n, m = task.weight.size, task.risk.levels.n_pairs
        self.w, self.s = np.zeros(task.space.n_coordinates), np.zeros(n)
        self.y, self.t = np.empty(m), np.empty(m)
        self.total = task.risk.levels.total_weight / task.scale
        self.kinds = 1.0 if task.risk.loss.squared else 2.0  # of products: squared slacks have no variable of their own
        if start is None:
            _barrier.fill(*task.spans, task.weight, BEGIN_Y, self.y)
            self.t[:] = BEGIN_T_SQUARED if task.risk.loss.squared else BEGIN_T
        else:
            order = task.risk.levels.order if task.space.is_by_item else slice(None)
            self.w = task.space.of_items(start.weights[order]) / cost
            self.s = cost * task.space.followed(self.w)
            self._centre(start.h)
        self.best = _Best(self.w * 0.0, n)
        self.matrix = room(n, n, np.float64).T
        self.right, self.missing = np.empty(n), np.empty(self.w.size)

    @property
    def _pairs(self) -> tuple[IntArray, IntArray, Array, Array, Array, Array, bool]:
        return *self.task.spans, self.s, self.task.weight, self.y, self.t, self.task.risk.loss.squared

    def look(self) -> float:
        """Weigh the pairs and offer both bounds; return the sum of the products."""
        n, space = self.s.size, self.task.space
        space.begin(self.cost, self.matrix)
        pull, self.right = np.zeros(n), np.zeros(n)
        product, total = _barrier.look(*self._pairs, self.matrix, pull, self.right, np.zeros(n))
        self.missing = space.pulled(pull) - self.w
        self._offer(pull, total)
        return product

    def _offer(self, pull: Array, total: float) -> None:
        best, cost, task = self.best, self.cost, self.task
        half = 0.5 * cost * task.space.square(task.space.pulled(pull))
        if total - half > best.dual:
            best.dual, best.half_dual_norm, best.pull = total - half, half, pull
        s = cost * task.space.utilities(self.w, self.s / cost)
        half = 0.5 * cost * task.space.square(self.w, s / cost)
        primal = half + task.loss(s)
        if half >= 0.0 and primal < best.primal:
            best.primal, best.half_norm, best.w, best.utilities = primal, half, self.w, s

    def stretch(self, tol: float) -> None:
        """Offer multiples of the best function, where the gap is then small enough.

        At a steep C what pairs fall short by rounding costs more than a little norm.
        """
        task, best = self.task, self.best
        primal, t = min((t * t * best.half_norm + task.loss(t * best.utilities), t) for t in 1.0 + STRETCHES)
        if primal < best.primal and relative_gap(primal, best.dual) <= tol:
            best.primal, best.half_norm = primal, t * t * best.half_norm
            best.w, best.utilities = t * best.w, t * best.utilities

    def centre(self, share: float) -> None:
        """Begin again at the best function, with products that sum up to a share of the objective."""
        task, best = self.task, self.best
        self.w, self.s = best.w, self.cost * task.space.followed(best.w)
        self._centre(share * best.primal / self.total)

    def _centre(self, h: float) -> None:
        """Set multipliers and surpluses so that all products of a pair sum up to h times its weight."""
        task = self.task
        _barrier.centre(*task.spans, self.s, task.weight, h / self.kinds, self.y, self.t, task.risk.loss.squared)

    def advance(self, product: float, *, is_careful: bool, is_slow: bool) -> float:
        """Take one step; return its length."""
        n, space = self.s.size, self.task.space
        solve = space.solver(self.cost, self.matrix)
        if solve is None:
            return 0.0
        ds = solve(self.right, self.missing)
        steepest, cross = _barrier.predict(*self._pairs, ds)
        length = 1.0 / steepest
        left = max(1.0 - length + length * length * cross / product, 0.0)
        goal = left**POWER if is_careful or length < THIN else min(left**POWER, MOST_GOAL)
        mu = product / (self.kinds * self.total) * max(goal, LEAST_GOAL)
        right, flow = np.zeros(n), np.zeros(n)
        _barrier.correct(*self._pairs, ds, mu, right)
        corrected = solve(right, self.missing)
        tried = np.empty((2, LENGTHS.size))
        steepest, size = _barrier.respond(*self._pairs, ds, mu, corrected, flow, LENGTHS, HELD_BACK, tried)
        share = EARLY if self.best.gap > FAR else LATE
        length, most = min(1.0, share / steepest) if steepest > 0.0 else 1.0, 1.0
        is_good = (tried[0] <= UNDONE * LENGTHS * size) & (tried[1] <= (1.0 - FALLS * LENGTHS) * product)
        longer = LENGTHS[is_good & (WORTH * length < LENGTHS)]
        if longer.size and not (is_careful or is_slow):
            length, most = float(longer[0]), HELD_BACK
        w = self.w + length * (self.missing + space.pulled(flow))
        if not (length > SHORTEST and np.isfinite(w).all()):
            return 0.0
        s = self.cost * space.followed(w)
        _barrier.step(*self._pairs, ds, mu, corrected, length, most, s)
        self.w, self.s = w, s
        return length
