"""Newton's method in the space of a kernel: `min_b 1/2 b'Kb + C * risk(K b)`, certified at every step.

With s = K b, g the gradient of the risk at s and R = b + C g, the slopes at s are the dual point -C g, and
for the squared hinge P - D = 1/2 R'KR exactly; the smoothed hinge adds what its smoothing costs.

Order of steps:
1. Many items: solve samples of growing size, each from the last one's solution. Few items, squared slacks and a steep
   C: solve for smaller C before, roughly; what is far from these another solver does.
2. Look: one product K R gives the gradient's norm and the certificate. Stop at (P - D) <= tol * P.
3. Newton's direction (I + C L K) x = -R by conjugate gradients in the inner product of K: one product a step.
   Many items: preconditioned by the Hessian of a sample, restricted to the span of a few of its items.
   What they leave, r'Kr, is the gap after the step. It need not fall: so the mean of all iterates that leaves least is
   kept beside them (minimal residual smoothing), and taken once that is enough for the certificate.
4. A step along x, shortened until the objective falls: utilities are linear in it, so only pairs are visited.
Products are float32 where the matrix is. Before a gap is reported it is computed again from float64 values of K; where
that misses the tolerance, steps go on: directions from float32 products, everything else in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import prices
from ..gram import Gram
from ..solution import Array, Solution, Status, relative_gap
from .kernel_goal import Direction, KernelGoal, Look, Seen
from .memory import FIRST_H, PLAIN, SMALLEST_START_H, Conditioner, Memory, most_steps

if TYPE_CHECKING:
    from ..risks import GroupedPairRisk

Say: TypeAlias = Callable[[int, float, float], None]  # of a step, an objective and a gap

SEED = 20100
FORCING, FORCING_EXACT = 0.3, 0.2  # share of the residual that conjugate gradients leave: smoothed, or squared slacks
SIZES = (1250, 3500)  # of the samples
SMOOTHING_SHARE = 0.4
ENOUGH, ENOUGH_SMOOTHED = 1.4, 0.6  # residuals, in gaps, that leave nothing to gain: a gap is half of one
ALMOST = 0.93  # of the gap that is allowed, where it is known by how much it is more than that half

NEXT = 1.5  # times the price of the last solve that the one for the next C will cost, at least
LOSSY, CROWDED = 0.9, 2.0  # times its price that an interior point costs more where all is loss, and levels are shared
SQUARED = 0.5  # times its price that it costs more for squared slacks, whatever they are
CROWD = 50  # items of a level that are many
FALLEN = 1e-6  # share of the highest objective, below which K b had better not be what steps from there sum up to
PATIENCE = 12  # steps in which rounded products must halve the gap
STEEP, GENTLE, RUNG = 1000.0, 100.0, 4.0  # C times what an item's pairs pull: where a ladder begins, ends; its rungs
ALIKE = 1e-10  # share of its square that is left of a vector which others sum up to
ROUGH = 1e-2  # the gap to which its rungs are solved
LONG, FEW = 5, 2  # rungs that another solver had better not wait for, and those that say whether loss is most of it


def forcing(goal: KernelGoal) -> float:
    """Return the share of R'KR that a direction may leave."""
    return (FORCING_EXACT if goal.risk.is_exact else FORCING) ** 2


def direction(
    goal: KernelGoal,
    at: Look,
    condition: Conditioner,
    enough: float,
    strips: list[NDArray] | None,
    known: Array | None = None,
) -> Direction:
    """Solve (I + C L K) x = -R in the inner product of K, from the best sum of known vectors, each over its K x.

    Where K has strips, and the preconditioner parts, steps are compiled.
    """
    r = -np.stack([at.R, at.KR])  # here and below: coefficients, and their values K b
    most = most_steps(goal.gram, condition)
    share = forcing(goal)
    known = np.empty((0, *r.shape)) if known is None else known
    if strips is not None and condition.parts is not None:
        by = condition.parts._replace(basis=condition.parts.basis.astype(strips[0].dtype, copy=False))
        x, n_steps, left = at.hessp.solve(strips, goal.C, r, by, known, share, enough, most)
        left = left if n_steps > 0 else np.inf
        return Direction(x[0], x[1], n_steps, left, is_enough=0.0 <= left <= enough)
    target = share * float(r[0] @ r[1])
    x = _best_sum(goal, at, r, known)
    least = float(r[0] @ r[1])
    if known.size and abs(least) <= max(target, enough):  # nothing to do, and rounding may be all
        return Direction(x[0], x[1], 1, least, is_enough=0.0 <= least <= enough)
    q, d = np.empty_like(r), condition(r).copy()  # r changes in place
    least_x, least_r = x.copy(), r.copy()
    rz, least = float(r[0] @ d[1]), float(r[0] @ r[1])
    for k in range(1, 1 + most):
        q[0] = d[0] + goal.C * at.hessp(d[1])
        q[1] = goal.gram.product(q[0])
        curvature = float(d[0] @ q[1])
        if not curvature > 0.0:
            break
        step = rz / curvature
        x += step * d
        r -= step * q
        rest, across = float(r[0] @ r[1]), float(r[0] @ least_r[1])
        apart = least - 2.0 * across + rest
        step = (least - across) / apart if apart > 0.0 else 1.0
        least_x += step * (x - least_x)
        least_r += step * (r - least_r)
        least = float(least_r[0] @ least_r[1])
        if 0.0 <= least <= enough:
            return Direction(least_x[0], least_x[1], k, least, is_enough=True)
        if not rest > target:
            return Direction(x[0], x[1], k, rest, is_enough=False)
        z = condition(r)
        rz, before = rest if z is r else float(r[0] @ z[1]), rz
        d = z + (rz / before) * d
    return Direction(x[0], x[1], 0, np.inf, is_enough=False)


def _best_sum(goal: KernelGoal, at: Look, r: Array, known: Array) -> Array:
    """Return the best sum of known vectors, over its K x, and take from r what that solves."""
    if not known.size:
        return np.zeros_like(r)
    moved = known[:, 0] + goal.C * np.array([at.hessp(v) for v in known[:, 1]])
    share = np.linalg.lstsq(known[:, 1] @ moved.T, known[:, 1] @ r[0], rcond=ALIKE)[0]
    r[0] -= share @ moved
    r[1] -= goal.gram.product(share @ moved)
    return np.tensordot(share, known, 1)


class Ascent:
    """Newton steps on one set of items until the certificate is good enough; a start needs no true one."""

    def __init__(self, goal: KernelGoal, b: Array, s: Array | None, tol: float, memory: Memory | None = None) -> None:
        self.goal, self.tol, self.memory = goal, tol, memory
        self.is_start = memory is None
        self.at = goal.start(b) if s is None else goal.look(b, s)
        self.best_dual, self.coefficients, self.dual_norm = -np.inf, np.zeros(b.size), 0.0
        self.target, self.patience, self.highest = np.inf, PATIENCE, 0.0
        self.known = None if memory is None or not memory.is_warm else memory.known(b.size)  # for the first direction
        self.sure: Look | None = None  # the last one that was from float64 values

    @property
    def gap(self) -> float:
        """Return the relative gap at the present point."""
        return relative_gap(self.at.primal, self.best_dual)

    def run(self, max_iter: int, say: Say, budget: float = np.inf) -> tuple[int, Status]:
        """Iterate, until steps or their price exceed what is allowed; return the number of steps and how it ended."""
        idle = 0
        for n_iter in range(max_iter + 1):
            primal = self._primal()
            self._offer()
            say(n_iter, primal, self.gap)
            if not np.isfinite(primal):
                return n_iter, Status.NOT_FINITE
            if self.gap <= self.tol and self._confirmed():
                return n_iter, Status.CONVERGED
            if self._is_stuck() and not (self.sharpen() or self._sharpen_directions(at_once=True)):
                return n_iter, Status.STALLED
            left = 0.5 * float(self.at.R @ self.at.KR)
            idle = idle + 1 if left <= 1e-14 * primal else 0
            if not self._lower_smoothing(left) and idle > 3:
                return n_iter, Status.STALLED
            if n_iter == max_iter or self._is_too_dear(budget, primal):
                break
            self._step(primal)
        return n_iter, Status.MAX_ITER

    def _primal(self) -> float:
        """Return the objective; where it has fallen far K b, which remembers its rounding, is computed anew."""
        primal = self.at.primal
        if primal < FALLEN * self.highest:
            self.refresh()
            self.highest = primal = self.at.primal
        self.highest = max(self.highest, primal)
        return primal

    def _is_too_dear(self, budget: float, primal: float) -> bool:
        """Return whether another solver had better go on, whose price this is.

        Where most pairs have room Newton's smoothing must become very thin. Where many fall short, and more so where
        many items share a level, interior points take two to three times as many steps.
        """
        spent = 0.0 if self.memory is None else self.memory.price + self.memory.made
        if self.memory is None or budget == np.inf:
            return False
        allowed = budget * (1.0 + self._delay(primal))
        self.memory.allowed, self.memory.is_near = allowed, self.memory.is_warm and NEXT * self.memory.price > allowed
        return self.memory.is_spent or spent > allowed

    def _delay(self, primal: float) -> float:
        """Return how many times its price more an interior point costs, where all is as here."""
        loss = min(max(0.0, 1.0 - 0.5 * float(self.at.b @ self.at.s) / primal), 1.0) if primal > 0.0 else 1.0
        if self.goal.risk.is_exact:
            return SQUARED + loss * LOSSY
        crowd = min(1.0, self.goal.risk.levels.n_items / (CROWD * self.goal.risk.levels.runs[1].size))
        return loss * (LOSSY + CROWDED * crowd)

    def sharpen(self) -> bool:
        """Look in float64 from now on; return whether that is news."""
        if self.goal.exact:
            return False
        self.goal = replace(self.goal, exact=True)
        self.refresh()
        self.target, self.patience = 0.5 * self.gap, PATIENCE
        return True

    def refresh(self) -> None:
        """Look from b anew: K b was summed up over the steps, or by another matrix, and rounding grows in it."""
        self.best_dual, self.at = -np.inf, self.goal.start(self.at.b)
        self._offer()

    def is_worse_than_zero(self) -> bool:
        """Return whether no function at all is better: samples of a steep kernel know little of the other items."""
        return not self.at.primal <= self.goal.C * self.goal.risk.evaluate(np.zeros(self.at.b.size))[0].loss

    def _offer(self) -> None:
        dual, square = self.goal.dual(self.at)
        dual -= self.goal.rounding(self.at)
        if dual > self.best_dual:
            self.best_dual, self.dual_norm, self.coefficients = dual, square, -self.goal.C * self.at.g

    def _is_stuck(self) -> bool:
        """Return whether the gap is not being halved any more: rounded products have given what they can."""
        if not self.goal.gram.is_rounded or self.is_start:
            return False
        self.patience -= 1
        if self.gap <= self.target:
            self.target, self.patience = 0.5 * self.gap, PATIENCE
        return self.patience < 0

    def _confirmed(self) -> bool:
        """Compute the certificate again from float64 values of K; where it fails, go on with those."""
        goal, at = self.goal, self.at
        if self.is_start or goal.exact or self.sure is at:
            return True
        if not goal.gram.is_rounded:
            self.refresh()
            return self.gap <= self.tol
        self.goal = replace(goal, exact=True)
        self._look_surely(at.b, (at.terms, at.g, at.hessp))
        if self.gap <= self.tol:
            return True
        self.at = self.goal.look(at.b, self.at.s)
        self._offer()
        return self.gap <= self.tol

    def _look_surely(self, b: Array, seen: Seen) -> None:
        """Look at b from float64 values of K: any slopes are a dual point, and those of rounded utilities serve."""
        goal, (terms, g, hessp) = self.goal, seen
        s, Kg = np.ascontiguousarray(goal.gram.exact_product(np.column_stack([b, g])).T)
        terms = terms._replace(loss=goal.risk.loss_near(s, terms.loss, g, hessp.u))
        self.at = self.sure = goal.looked(b, s, (terms, g, hessp), b + goal.C * g, s + goal.C * Kg)
        self.best_dual = -np.inf  # what rounded values said is forgotten
        self._offer()

    def _lower_smoothing(self, left: float) -> bool:
        """Lower the smoothing where it costs too much and this level is nearly solved."""
        goal, h = self.goal, self.goal.risk.h
        smallest = SMALLEST_START_H if self.is_start else 0.0
        if goal.risk.is_exact or h <= smallest:
            return False
        allowed = SMOOTHING_SHARE * self.tol * self.at.primal
        cost = goal.smoothing_cost(self.at)
        solved = max(0.2 * cost, 0.5 * ENOUGH_SMOOTHED * self.tol * self.at.primal)  # directions aim no lower
        if cost <= allowed or left > solved:
            return False
        least = goal.rounding(self.at) * h / allowed  # thinner, rounding would cost more than the smoothing may
        h = max(smallest, least, h * float(np.clip(np.sqrt(0.8 * allowed / cost), 0.3, 0.8)))
        if h >= goal.risk.h:
            return False
        self.goal = goal.smoothed(h)
        self.at = self.goal.look(self.at.b, self.at.s)
        return True

    def _step(self, primal: float) -> None:
        way = self._direction(self._enough(primal))
        goal, at = self.goal, self.at
        if self.memory is not None:
            self.memory.price += prices.newton_step(at.s.size)
        b, s, seen = goal.descend(at, way)
        if seen is not None and way.is_enough and self._may_be_last():
            self._look_surely(b, seen)
            if self.memory is not None:
                self.memory.learn((float(self.at.R @ self.at.KR) - way.left) / (self.tol * primal))
        else:
            self.at = goal.start(b) if goal.exact and goal.gram.is_rounded else goal.look(b, s, seen)

    def _enough(self, primal: float) -> float:
        """Return what a direction may leave of R'KR, of whose half the gap will be made."""
        allowed, is_exact = self.tol * primal, self.goal.risk.is_exact
        surely = (ENOUGH if is_exact else ENOUGH_SMOOTHED) * allowed
        if self.memory is None or self.memory.excess is None:
            return surely
        cost = 0.0 if is_exact else self.goal.smoothing_cost(self.at)
        return max(surely, 2.0 * (ALMOST * allowed - cost) - self.memory.excess * allowed)

    def _may_be_last(self) -> bool:
        """Return whether a certificate is due where a step that is enough ends: smoothing costs little."""
        goal, at = self.goal, self.at
        if self.is_start or goal.exact or not goal.gram.is_rounded:
            return False
        return goal.risk.is_exact or goal.smoothing_cost(at) <= SMOOTHING_SHARE * self.tol * at.primal

    def _sharpen_directions(self, *, at_once: bool) -> bool:
        """Go on with float64 values of K in directions too, if told or these are hard; return whether that is news."""
        if self.memory is None or not self.memory.may_sharpen(self.goal.gram, at_once=at_once):
            return False
        self.goal = replace(self.goal, gram=self.memory.gram or self.goal.gram)
        self.refresh()
        return True

    def _direction(self, enough: float) -> Direction:
        """Return Newton's direction; where that is hard, by float64 values or another preconditioner."""
        memory = self.memory
        if memory is None:
            return direction(self.goal, self.at, PLAIN, enough, self.goal.gram.strips)
        known, self.known = self.known, None
        self._sharpen_directions(at_once=False)
        while True:
            goal, at = self.goal, self.at
            condition, is_new, is_wide = memory.condition(goal, at.s), memory.is_new, memory.needs_wide
            way = direction(goal, at, condition, enough, goal.gram.strips, known)
            memory.saw(way.n_steps, goal.gram, condition)
            if self._sharpen_directions(at_once=way.n_steps == 0 and goal.exact):
                continue
            if way.n_steps > 0 or condition is PLAIN:
                return way
            if memory.needs_wide == is_wide and (is_new or memory.frozen is not None):
                memory.is_broken = True  # another one would do no better, or is too dear


def newton_kernel(
    gram: Gram,
    risk: GroupedPairRisk,
    C: float,
    *,
    tol: float,
    max_iter: int,
    say: Say,
    start: Array | None = None,
    memory: Memory | None = None,
    budget: float = np.inf,
) -> Solution:
    """Minimise 1/2 b'Kb + C * risk(K b) over one coefficient per item; a warm start replaces the samples.

    Ends with MAX_ITER where steps cost more than the budget, as `prices` has it.
    """
    memory = memory or Memory()
    memory.price, memory.made, memory.is_near, memory.is_spent, memory.allowed = 0.0, 0.0, False, False, np.inf
    memory.is_warm = start is not None
    how: dict[str, Any] = {"say": say, "memory": memory, "budget": budget}
    climb = Climb(start, 0, is_long=False)
    if start is None:
        climb = _climbed(gram, risk, C, tol, max_iter, **how)
    if climb.is_long:
        how["budget"] = 0.0
    found = _ascended(gram, risk, C, tol, max(0, max_iter - climb.n_iter), climb.start, **how)
    return replace(found, n_iter=max(1, climb.n_iter + found.n_iter))


def _ascended(
    gram: Gram,
    risk: GroupedPairRisk,
    C: float,
    tol: float,
    max_iter: int,
    start: Array | None,
    *,
    say: Say,
    memory: Memory,
    budget: float,
) -> Solution:
    """Minimise from a start, or from samples."""
    n, gram = gram.n_items, memory.gram or gram
    b, h = np.zeros(n), FIRST_H
    s: Array | None = b
    if start is not None:
        (b, s), h = memory.begin(C, start), memory.h
        s = s if gram.is_rounded else None  # computed anew at the end of each solve there; cheap to compute here
    for size in SIZES if start is None else ():
        if 2 * size > n:
            break
        sample = risk.sample(size, SEED)
        goal = KernelGoal(gram.corner(sample.items), sample.whole.smoothed(h), C)
        coarse = Ascent(goal, b[sample.items], s if s is None else s[sample.items], max(tol, 2e-2))
        coarse.run(min(max_iter, 30), lambda *_: None)
        b, s = np.zeros(n), None
        b[sample.items], h = coarse.at.b, coarse.goal.risk.h
    ascent = Ascent(KernelGoal(gram, risk.smoothed(h), C), b, s, tol, memory)
    if start is None and ascent.is_worse_than_zero():
        ascent = Ascent(KernelGoal(gram, risk.smoothed(FIRST_H), C), np.zeros(n), np.zeros(n), tol, memory)
    n_iter, status = ascent.run(max_iter, say, budget)
    if ascent.goal.gram.is_rounded:
        if ascent.sure is not ascent.at:
            ascent.sharpen()
    elif status is not Status.CONVERGED:
        ascent.refresh()
    memory.keep(C, ascent.at, ascent.goal.risk.h, n_iter)
    at, none = ascent.at, np.zeros(0)
    norms = [max(norm, 0.0) for norm in (float(at.b @ at.s), ascent.dual_norm)]
    return Solution(at.b, ascent.coefficients, none, at.primal, ascent.best_dual, n_iter, status, at.s, *norms)


class Climb(NamedTuple):
    """The solution for a smaller C, where one leads to C, and the steps that it took."""

    start: Array | None
    n_iter: int
    is_long: bool  # whether the rest of the way is for another solver


def _climbed(gram: Gram, risk: GroupedPairRisk, C: float, tol: float, max_iter: int, **how: Any) -> Climb:
    """Solve for smaller values of C that lead to C.

    Where squared slacks are steep most pairs change sides on the way, and steps are short; not where loss is most of
    the objective. Where steps have cost the budget the last rung is left as it is.
    """
    start, n_iter = None, 0
    rungs, is_long = _ladder(gram, risk, C), False
    if len(rungs) > LONG and how["budget"] < np.inf:
        rungs, is_long = rungs[:FEW], True
    for rung in rungs:
        if n_iter >= max_iter:
            break
        found = _ascended(gram, risk, rung, max(tol, ROUGH), max_iter - n_iter, start, **how)
        start, n_iter = found.weights, n_iter + max(1, found.n_iter)
        if not (found.squared_norm or 0.0) > found.objective:
            return Climb(start, n_iter, is_long=False)
        if found.status is Status.MAX_ITER:
            break
    return Climb(start, n_iter, is_long)


def _ladder(gram: Gram, risk: GroupedPairRisk, C: float) -> list[float]:
    """Return smaller values of C, ascending; none where C is not steep, or samples lead there."""
    pull = float(np.mean(gram.diagonal)) * risk.levels.total_weight / risk.levels.n_items
    if not risk.is_exact or not STEEP < C * pull < np.inf or 2 * SIZES[0] <= gram.n_items:
        return []
    n = int(np.ceil(np.log(C * pull / GENTLE) / np.log(RUNG)))
    return [C / RUNG**k for k in range(n, 0, -1)]
