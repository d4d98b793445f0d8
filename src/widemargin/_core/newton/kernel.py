"""Newton's method in the space of a kernel: `min_b 1/2 b'Kb + C * risk(K b)`, certified at every step.

With s = K b, g the gradient of the risk at s and R = b + C g, the slopes at s are the dual point -C g, and
for the squared hinge P - D = 1/2 R'KR exactly; the smoothed hinge adds what its smoothing costs.

Order of steps:
1. Many items: solve samples of growing size, each from the last one's solution.
2. Look: one product K R gives the gradient's norm and the certificate. Stop at (P - D) <= tol * P.
3. Newton's direction (I + C L K) x = -R by conjugate gradients in the inner product of K: one product a step.
   Many items: preconditioned by the Hessian of a sample, restricted to the span of a few of its items.
4. A step along x, shortened until the objective falls: utilities are linear in it, so only pairs are visited.
Products are float32 where the matrix is. Before a gap is reported it is computed again from float64 values of K; where
that misses the tolerance, steps go on: directions from float32 products, everything else in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..gram import Gram
from ..solution import Array, Solution, Status, relative_gap
from .galerkin import Galerkin, Identity, Steady

if TYPE_CHECKING:
    from ..risks import GroupedPairRisk, Hessian, Terms

Product: TypeAlias = Callable[[Array], Array]
Say: TypeAlias = Callable[[str], None]
Seen: TypeAlias = "tuple[Terms, Array, Hessian]"  # what the risk says of utilities

SEED = 20100
FORCING, FORCING_EXACT = 0.3, 0.2  # share of the residual that conjugate gradients leave: smoothed, or squared slacks
EASY_CG, STALE_CG = 14, 20  # steps of conjugate gradients: to do without a preconditioner, or to make a new one
EASY_ALONE_CG = 24  # the same for one solve of some thousand items
EASY_MANY_CG, SPAN_OF_A_STEP = 2, 100  # the same for many items: what a preconditioner costs depends on its span
MOST_CG, MOST_CONDITIONED_CG = 200, 60  # a preconditioner that needs more is spoilt: float32 cancels at a large C
SIZES = (1250, 3500)  # of the samples
FEW_ITEMS, FEW_SHARED_ITEMS = 4000, 1500  # above, a preconditioner pays for any solve; below, for several alone
SMOOTHING_SHARE = 0.4
FIRST_H, SMALLEST_START_H = 0.5, 0.1
ENOUGH, ENOUGH_SMOOTHED = 1.4, 0.6  # residuals, in gaps, that leave nothing to gain: a gap is half of one
FARTHEST = 2.0  # steps in log C that are extrapolated from the last one
LINE_STEPS, LINE_GOAL = 12, 0.1  # looks along a step, and the share of its slope that may remain
PATIENCE = 12  # steps in which rounded products must halve the gap


class Look(NamedTuple):
    """Everything known at b."""

    b: Array
    s: Array  # K b
    terms: Terms
    g: Array
    hessp: Hessian
    R: Array
    KR: Array


@dataclass(frozen=True)
class KernelGoal:
    """1/2 b'Kb + C * risk(K b)."""

    gram: Gram
    risk: GroupedPairRisk
    C: float
    exact: bool = False  # whether looks take float64 values of K

    def start(self, b: Array) -> Look:
        """Look at b; two products."""
        return self.look(b, self.gram.exact_product(b) if self.exact else self.gram.product(b))

    def look(self, b: Array, s: Array, seen: Seen | None = None) -> Look:
        """Visit the pairs at s = K b, unless they were seen; one product."""
        terms, g, hessp = seen or self.risk.evaluate(s)
        R = b + self.C * g
        KR = self.gram.exact_product(R) if self.exact else self.gram.product(R)
        return Look(b, s, terms, g, hessp, R, KR)

    def primal(self, at: Look) -> float:
        """Return the objective of the problem."""
        return 0.5 * float(at.b @ at.s) + self.C * at.terms.loss

    def dual(self, at: Look) -> float:
        """Return the dual value of the slopes: their function is s - K R."""
        return self.C * at.terms.conjugate + 0.5 * self.C * float(at.g @ (at.s - at.KR))

    def smoothing_cost(self, at: Look) -> float:
        """Return what the smoothing adds to the gap."""
        return self.C * (at.terms.loss - at.terms.conjugate - float(at.s @ at.g))

    def smoothed(self, h: float) -> KernelGoal:
        """Return the same goal under another smoothing."""
        return replace(self, risk=self.risk.smoothed(h))

    def descend(self, at: Look, x: Array, Kx: Array) -> tuple[Array, Array, Seen | None]:
        """Return b, K b and its pairs near the lowest point along x: the slope's sign is bracketed."""
        across, square, slope = float(at.b @ Kx), float(x @ Kx), float(at.R @ Kx)
        low, high, step = (0.0, slope), (np.inf, np.inf), 1.0
        for _ in range(LINE_STEPS if slope < 0.0 else 0):
            s = at.s + step * Kx
            seen = self.risk.evaluate(s)
            first = across + step * square + self.C * float(seen[1] @ Kx)
            if abs(first) <= -LINE_GOAL * slope:
                return at.b + step * x, s, seen
            low, high = (low, (step, first)) if first > 0.0 else ((step, first), high)
            share = np.clip(-low[1] / (high[1] - low[1]), 0.1, 0.9) if np.isfinite(high[0]) else np.inf
            step = low[0] + (high[0] - low[0]) * float(share) if np.isfinite(share) else 2.0 * step
        return at.b + step * x, at.s + step * Kx, None


Conditioner: TypeAlias = Identity | Galerkin | Steady
PLAIN = Identity()


def direction(
    goal: KernelGoal, at: Look, condition: Conditioner, enough: float, K: NDArray | None
) -> tuple[Array, Array, int]:
    """Solve (I + C L K) x = -R in the inner product of K; return x, K x and the number of steps, 0 if too few.

    Where K is one array, steps are compiled.
    """
    r = -np.stack([at.R, at.KR])  # here and below: coefficients, and their values K b
    most = MOST_CG if condition is PLAIN else MOST_CONDITIONED_CG
    share = (FORCING_EXACT if goal.risk.is_exact else FORCING) ** 2
    if K is not None and condition.parts is not None:
        by = condition.parts._replace(basis=condition.parts.basis.astype(K.dtype, copy=False))
        x, n_steps = at.hessp.solve(K, goal.C, r, by, share, enough, most)
        return x[0], x[1], n_steps
    x, q, d = np.zeros_like(r), np.empty_like(r), condition(r).copy()  # r changes in place
    rz, rest = float(r[0] @ d[1]), float(r[0] @ r[1])
    target = max(share * rest, enough)
    for k in range(1, 1 + most):
        q[0] = d[0] + goal.C * at.hessp(d[1])
        q[1] = goal.gram.product(q[0])
        curvature = float(d[0] @ q[1])
        if not curvature > 0.0:
            break
        step = rz / curvature
        x += step * d
        r -= step * q
        rest = float(r[0] @ r[1])
        if not rest > target:
            return x[0], x[1], k
        z = condition(r)
        rz, before = rest if z is r else float(r[0] @ z[1]), rz
        d = z + (rz / before) * d
    return x[0], x[1], 0


class Frozen(NamedTuple):
    """A preconditioner, and what it was built for."""

    condition: Galerkin | Steady
    C: float
    h: float

    def serves(self, goal: KernelGoal) -> bool:
        """Return whether the Hessian is near enough: its scale is that of C, and smoothing moves it little."""
        near = self.condition.near
        return 1 / near <= goal.C / self.C <= near and 1 / near <= goal.risk.h / self.h <= near


@dataclass
class Memory:
    """What solves on one Gram matrix and one risk share: the last solutions, and the last preconditioner."""

    trail: list[tuple[float, Array, Array]] = field(default_factory=list)  # C, b, K b
    frozen: Frozen | None = None
    h: float = SMALLEST_START_H
    most_steps: int = 0  # that a direction took
    is_broken: bool = False  # whether preconditioning failed
    gram: Gram | None = None  # the float64 matrix, once float32 directions failed and it was at hand

    def begin(self, C: float, start: Array) -> tuple[Array, Array | None]:
        """Return (b, K b) on the line through the last two solutions, in log C, where start is the last one."""
        if not self.trail or not np.array_equal(start, self.trail[-1][1]):
            return start, None
        C1, b, s = self.trail[-1]
        C0, b0, s0 = self.trail[0]
        ahead = np.log(C / C1) / np.log(C1 / C0) if C1 != C0 else 0.0
        return (b + (b - b0) * ahead, s + (s - s0) * ahead) if abs(ahead) <= FARTHEST else (b, s)

    def keep(self, C: float, at: Look, h: float, n_iter: int) -> None:
        """Remember a solution; where it took many steps, many pairs move, and the next solve begins smoother."""
        self.trail, self.h = [*self.trail[-1:], (C, at.b, at.s)], min(FIRST_H, h * max(1.0, 0.5 * n_iter))

    def may_sharpen(self, gram: Gram) -> bool:
        """Take the float64 matrix from now on; return whether there is one."""
        self.gram = gram.whole() or self.gram
        self.frozen = self.frozen if self.gram is None else None
        return self.gram is not None and self.gram is not gram

    def saw(self, n_steps: int, n_items: int) -> None:
        """Learn from a direction that took so many steps, 0 if it was given up."""
        self.most_steps = max(self.most_steps, n_steps or MOST_CG)
        if n_items <= FEW_SHARED_ITEMS and not 0 < n_steps <= STALE_CG:
            self.frozen = None

    def _pays(self, gram: Gram) -> bool:
        """Return whether a preconditioner saves more than it costs: for several solves only, or many items."""
        if gram.n_items > FEW_ITEMS:
            return True
        if not self.trail:
            return gram.n_items > FEW_SHARED_ITEMS and self.most_steps > EASY_ALONE_CG
        if gram.n_items <= FEW_SHARED_ITEMS:
            return self.most_steps > EASY_CG
        return self.most_steps > EASY_MANY_CG and self.most_steps > EASY_MANY_CG + gram.span.size / SPAN_OF_A_STEP

    def condition(self, goal: KernelGoal, s: Array) -> Conditioner:
        """Return a preconditioner for the goal at utilities s."""
        if self.is_broken or not self._pays(goal.gram):
            return PLAIN
        if self.frozen is None or not self.frozen.serves(goal):
            build = Steady.of if self.trail or goal.gram.n_items <= FEW_ITEMS else Galerkin.of
            self.frozen = Frozen(build(goal.gram.span, goal.risk, goal.C, s), goal.C, goal.risk.h)
        return self.frozen.condition


class Ascent:
    """Newton steps on one set of items until the certificate is good enough; a start needs no true one."""

    def __init__(self, goal: KernelGoal, b: Array, s: Array | None, tol: float, memory: Memory | None = None) -> None:
        self.goal, self.tol, self.memory = goal, tol, memory
        self.is_start = memory is None
        self.at = goal.start(b) if s is None else goal.look(b, s)
        self.best_dual, self.coefficients = -np.inf, np.zeros(b.size)
        self.target, self.patience = np.inf, PATIENCE

    @property
    def gap(self) -> float:
        """Return the relative gap at the present point."""
        return relative_gap(self.goal.primal(self.at), self.best_dual)

    def run(self, max_iter: int, say: Say) -> tuple[int, Status]:
        """Iterate; return the number of steps and how it ended."""
        idle = 0
        for n_iter in range(max_iter + 1):
            primal = self.goal.primal(self.at)
            self._offer()
            say(f"newton {n_iter}: objective {primal:.9g}, gap {self.gap:.2e}")
            if not np.isfinite(primal):
                return n_iter, Status.NOT_FINITE
            if self.gap <= self.tol and self._confirmed():
                return n_iter, Status.CONVERGED
            if self._is_stuck() and not self.sharpen():
                return n_iter, Status.STALLED
            left = 0.5 * float(self.at.R @ self.at.KR)
            idle = idle + 1 if left <= 1e-14 * primal else 0
            if not self._lower_smoothing(left) and idle > 3:
                return n_iter, Status.STALLED
            if n_iter < max_iter:
                self._step(primal)
        return max_iter, Status.MAX_ITER

    def sharpen(self) -> bool:
        """Look in float64 from now on; return whether that is news."""
        if self.goal.exact:
            return False
        self.goal, self.best_dual = replace(self.goal, exact=True), -np.inf
        self.at = self.goal.start(self.at.b)
        self._offer()
        self.target, self.patience = 0.5 * self.gap, PATIENCE
        return True

    def _offer(self) -> None:
        dual = self.goal.dual(self.at)
        if dual > self.best_dual:
            self.best_dual, self.coefficients = dual, -self.goal.C * self.at.g

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
        if self.is_start or goal.exact or not goal.gram.is_rounded:
            return True
        s, Kg = np.ascontiguousarray(goal.gram.exact_product(np.column_stack([at.b, at.g])).T)
        self.goal = replace(goal, exact=True)
        # any slopes are a dual point: those of the rounded utilities serve, with the exact norm of their function
        self.best_dual = goal.C * at.terms.conjugate - 0.5 * goal.C**2 * float(at.g @ Kg)
        self.at = at._replace(s=s, terms=goal.risk.evaluate(s)[0])
        if self.gap <= self.tol:
            return True
        self.at = self.goal.look(at.b, s)
        self._offer()
        return self.gap <= self.tol

    def _lower_smoothing(self, left: float) -> bool:
        """Lower the smoothing where it costs too much and this level is nearly solved."""
        goal, h = self.goal, self.goal.risk.h
        smallest = SMALLEST_START_H if self.is_start else 0.0
        if goal.risk.is_exact or h <= smallest:
            return False
        allowed = SMOOTHING_SHARE * self.tol * goal.primal(self.at)
        cost = goal.smoothing_cost(self.at)
        solved = max(0.2 * cost, 0.5 * ENOUGH_SMOOTHED * self.tol * goal.primal(self.at))  # directions aim no lower
        if cost <= allowed or left > solved:
            return False
        h = max(smallest, h * float(np.clip(np.sqrt(0.8 * allowed / cost), 0.3, 0.8)))
        self.goal = goal.smoothed(h)
        self.at = self.goal.look(self.at.b, self.at.s)
        return True

    def _step(self, primal: float) -> None:
        goal, at = self.goal, self.at
        condition = PLAIN if self.memory is None else self.memory.condition(goal, at.s)
        enough = (ENOUGH if goal.risk.is_exact else ENOUGH_SMOOTHED) * self.tol * primal
        x, Kx, n_steps = direction(goal, at, condition, enough, goal.gram.square)
        if self.memory is not None:
            self.memory.saw(n_steps, at.s.size)
            if n_steps == 0 and self.memory.may_sharpen(goal.gram):
                self.goal = goal = replace(goal, gram=self.memory.gram or goal.gram)
                self.at = at = goal.start(at.b)
                self.best_dual, condition = -np.inf, self.memory.condition(goal, at.s)
                x, Kx, n_steps = direction(goal, at, condition, enough, goal.gram.square)
            if n_steps == 0 and condition is not PLAIN:
                self.memory.is_broken = True
                x, Kx, _ = direction(goal, at, PLAIN, enough, goal.gram.square)
        b, s, seen = goal.descend(at, x, Kx)
        self.at = goal.start(b) if goal.exact and goal.gram.is_rounded else goal.look(b, s, seen)


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
) -> Solution:
    """Minimise 1/2 b'Kb + C * risk(K b) over one coefficient per item; a warm start replaces the samples."""
    n = gram.n_items
    memory = memory or Memory()
    gram = memory.gram or gram
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
        coarse.run(min(max_iter, 30), lambda _: None)
        b, s = np.zeros(n), None
        b[sample.items], h = coarse.at.b, coarse.goal.risk.h
    ascent = Ascent(KernelGoal(gram, risk.smoothed(h), C), b, s, tol, memory)
    n_iter, status = ascent.run(max_iter, say)
    if gram.is_rounded:
        ascent.sharpen()
    memory.keep(C, ascent.at, ascent.goal.risk.h, n_iter)
    at, primal, none = ascent.at, ascent.goal.primal(ascent.at), np.zeros(0)
    norm = max(0.0, float(at.b @ at.s))
    return Solution(at.b, ascent.coefficients, none, primal, ascent.best_dual, max(1, n_iter), status, at.s, norm)
