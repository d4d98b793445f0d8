"""What solves on one Gram matrix share: the last solutions, and what helps to find directions.

Directions are found by conjugate gradients. How they are helped depends on what they cost so far:
1. Not at all, as long as they take few steps.
2. By a preconditioner on the span of some items drawn at random, where there are more than 1,500; where that fails and
   there are more than 4,000, on the span of more of them, seen by all items.
3. By one on the span of all that matter, from float64 values: once as much was spent as it costs to find the span, or
   will be on the way to the last C, where directions are dearer than with it, and where another solver that is cheaper
   leaves room for it. How many items matter is asked of a sample before they are looked for. Kernels of full rank gain
   nothing; of more than 4,000 items a quarter at most may matter.
A preconditioner is made anew where steps are many and have cost as much.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from scipy import linalg

from .. import prices
from ..gram import Gram
from ..solution import Array
from ..span import MOST_SPAN, RANK_ITEMS, WIDE_SHARE, WIDEST_SPAN, Span, likely_rank
from .galerkin import Galerkin, Identity, Steady

if TYPE_CHECKING:
    from .kernel_goal import KernelGoal, Look

NARROW_CG = 30  # steps of conjugate gradients for which many items may have a wider span
STALE_CG = 20  # steps of conjugate gradients for which a new preconditioner is made
EASY_ALONE_CG = 24  # steps to do without one, for one solve of some thousand items
EASY_MANY_CG, SPAN_OF_A_STEP = 2, 100  # the same for many items: what a preconditioner costs depends on its span
MOST_CG, MOST_ROUNDED_CG = 200, 60  # a preconditioner that needs more is spoilt: float32 cancels at a large C
MOST_WIDE_CG = 120  # the same of a wide span, beyond which there is nothing but steps without help
FEW_ITEMS, LITTLE = 4000, 1500  # items above which a preconditioner pays for any solve, and up to which none drawn does
MOST_LEFT_OUT = 0.3  # of a wide span: across it items differ too much for one number
MANY_ITEMS = 12_000  # up to which all of them may be searched for those that matter
FIRST_H, SMALLEST_START_H, WARM_H = 2.0, 0.1, 0.5  # smoothings; at the first all pairs are curved before any step
TRAIL, WORTH_KNOWING = 3, 6  # solutions that are remembered, and steps to one that make it worth to know the last ways
FARTHEST = 2.0  # steps in log C that are extrapolated from the last one
GROWS = 1.0  # times the price of the last solve that each one for a larger C will cost on a path, about
ROOM = 2.0  # times its price that must be left for a preconditioner of all items on a path; else that it costs
LATE = 0.3  # weight of the last direction in what is usual
IN_VAIN = 1.5  # times its price that a direction counts which was given up: the next ones will be more

Conditioner: TypeAlias = Identity | Galerkin | Steady
PLAIN = Identity()


def most_steps(gram: Gram, condition: Conditioner) -> int:
    """Return after how many steps of conjugate gradients a direction is given up."""
    if not gram.is_rounded or condition is PLAIN:
        return MOST_CG
    return MOST_WIDE_CG if condition.is_wide else MOST_ROUNDED_CG


class Frozen(NamedTuple):
    """A preconditioner, and what it was built for."""

    condition: Galerkin | Steady
    span: Span
    C: float
    h: float

    def serves(self, goal: KernelGoal, span: Span) -> bool:
        """Return whether the Hessian is near enough: its scale is that of C, and smoothing moves it little."""
        near = self.condition.near
        return span is self.span and 1 / near <= goal.C / self.C <= near and 1 / near <= goal.risk.h / self.h <= near


@dataclass
class Memory:
    """What solves on one Gram matrix and one risk share: the last solutions, and the last preconditioner."""

    is_roomy: bool = True  # whether there is memory for float64 values and a preconditioner of all items
    trail: list[tuple[float, Array, Array]] = field(default_factory=list)  # C, b, K b
    excess: float | None = None  # of R'KR where this solve will end over what is left of it, in gaps
    is_learnt: bool = False  # whether this solve told
    frozen: Frozen | None = None
    h: float = SMALLEST_START_H
    end_h: float = SMALLEST_START_H  # where the last solve ended
    n_steps: int = 0  # of conjugate gradients that this solve took
    last_steps: int = 0  # and the solve before
    most_steps: int = 0  # that a direction took
    price: float = 0.0  # of this solve's steps
    made: float = 0.0  # and of what it made for others too
    allowed: float = np.inf  # what all of that may be, before another solver had better go on
    is_warm: bool = False  # whether this solve began at a solution
    is_near: bool = False  # whether the price of steps is near to it
    is_spent: bool = False  # whether the next help would be more
    n_ahead: int = 0  # solves for larger C that will follow this one
    toil: float = 0.0  # the price of this solve's directions
    last_toil: float = 0.0  # and of those of the solve before
    usual: float = 0.0  # that of one, of late, without a preconditioner of all items
    needs_wide: bool = False  # whether directions need a wider span than that of a few items
    needs_all: bool = False  # whether directions need one
    rank: int = 0  # about how many items matter, once that was asked
    spent: float = 0.0  # that of those with this preconditioner
    is_broken: bool = False  # whether preconditioning failed
    gram: Gram | None = None  # the float64 matrix, once it was needed
    asked: Gram | None = None  # the same of few items, once its rank was asked for

    def begin(self, C: float, start: Array) -> tuple[Array, Array | None]:
        """Return (b, K b) on the line through the last two solutions, in log C, where start is the last one."""
        if not self.trail or not np.array_equal(start, self.trail[-1][1]):
            return start, None
        C1, b, s = self.trail[-1]
        C0, b0, s0 = self.trail[-2:][0]
        ahead = np.log(C / C1) / np.log(C1 / C0) if C1 != C0 else 0.0
        return (b + (b - b0) * ahead, s + (s - s0) * ahead) if abs(ahead) <= FARTHEST else (b, s)

    def learn(self, excess: float) -> None:
        """Expect what a solve's first certificate shows."""
        if not self.is_learnt:
            self.excess, self.is_learnt = max(0.0, excess), True

    def known(self, n: int) -> Array:
        """Return the ways between the last solutions, each over its product with K, where directions take steps."""
        if self.last_steps < WORTH_KNOWING:
            return np.empty((0, 2, n))
        return np.array([[b - b0, s - s0] for (_, b0, s0), (_, b, s) in pairwise(self.trail)]).reshape(-1, 2, n)

    def keep(self, C: float, at: Look, h: float, n_iter: int) -> None:
        """Remember a solution; where it took many steps, many pairs move, and the next solve begins smoother."""
        self.last_toil, self.toil, self.end_h = self.toil, 0.0, h
        self.n_steps, self.last_steps, self.is_learnt = 0, self.n_steps, False
        self.trail, self.h = [*self.trail[1 - TRAIL :], (C, at.b, at.s)], min(WARM_H, h * max(1.0, 0.5 * n_iter))

    def may_sharpen(self, gram: Gram, *, at_once: bool) -> bool:
        """Take the float64 matrix from now on, if told or directions are hard; return whether that is news."""
        at_once = at_once and gram.n_items <= FEW_ITEMS
        if not (self.is_roomy and gram.is_rounded and (at_once or self._are_hard(gram))):
            return False
        self.gram = self._whole(gram)
        if self.gram is None:
            return False
        self.frozen, self.is_broken = None, False
        return True

    def forget(self) -> None:
        """Give back the memory of what helps directions."""
        self.frozen = self.gram = self.asked = None

    def _whole(self, gram: Gram) -> Gram | None:
        """Return the float64 matrix, this one if it is."""
        if not gram.is_rounded:
            return gram
        if self.asked is None:
            self.asked = gram.whole()
        return self.asked

    def _span(self, gram: Gram) -> Span:
        """Return the span of a preconditioner: of all items where they were needed."""
        full = gram.full_span if not gram.is_rounded and self._are_hard(gram) else None
        return full or (gram.wide_span if self.needs_wide else gram.span)

    def _are_hard(self, gram: Gram) -> bool:
        """Return whether directions toil, or will, and would be cheaper with a preconditioner of all items."""
        n, toil = gram.n_items, max(self.toil, self.last_toil * (1.0 + GROWS * self.n_ahead))
        if self.needs_all or not self.is_roomy or n > MANY_ITEMS:
            return self.needs_all
        price, is_known = self._foreseen(gram, toil), n <= FEW_ITEMS
        if toil <= price:
            return False
        room = ROOM if self.n_ahead > 0 else 1.0
        if is_known and self.price + self.made + room * price > self.allowed:
            self.is_spent = self.n_ahead == 0
        elif not is_known or self.usual > prices.direction(n, self.rank or n, toil / self.usual):
            seen = self._whole(gram) if is_known else gram
            span = None if seen is None else seen.full_span
            self.needs_all = span is not None and self.usual > prices.direction(n, span.size, toil / self.usual)
        return self.needs_all

    def _foreseen(self, gram: Gram, toil: float) -> float:
        """Return the price of a preconditioner of all items, as far as it is known before their span is.

        Of more than some thousand it is what it may be at most: their span is looked for first.
        """
        n = gram.n_items
        if n > FEW_ITEMS:
            return prices.preconditioner(n, int(MOST_SPAN * n))
        if self.rank == 0 and toil > prices.preconditioner(n, min(n, RANK_ITEMS)):
            self.rank = likely_rank(gram)
        return prices.preconditioner(n, self.rank or n)

    def saw(self, n_steps: int, gram: Gram, condition: Conditioner) -> None:
        """Learn from a direction that took so many steps, 0 if it was given up."""
        span = None if condition is PLAIN or self.frozen is None else self.frozen.span
        n, rank = gram.n_items, 0 if span is None else span.size
        taken = n_steps or most_steps(gram, condition)
        price = prices.cg_step(n, rank, is_rounded=gram.is_rounded) * taken
        self.n_steps += taken
        self.most_steps = max(self.most_steps, n_steps or MOST_CG)
        self.price, self.spent = self.price + price, self.spent + price
        counted = price * (1.0 if n_steps else IN_VAIN)
        self.toil += counted
        if span is None or not span.is_full:
            self.usual += LATE * (counted - self.usual)
        is_wide = span is not None and span.is_wide
        if n <= FEW_ITEMS or is_wide:
            is_stale = self.spent > prices.preconditioner(n, rank) and not 0 < n_steps <= STALE_CG
            if is_stale or (n > FEW_ITEMS and n_steps == 0):
                self.frozen = None
        elif span is not None and self._is_narrow(n, n_steps):
            self.needs_wide, self.frozen = True, None

    def _is_narrow(self, n: int, n_steps: int) -> bool:
        """Return whether directions for many items had better have a wider span, after one of so many steps."""
        wide = prices.preconditioner(n, int(min(WIDE_SHARE * n, WIDEST_SPAN)))
        return self.is_roomy and (n_steps == 0 or (n_steps > NARROW_CG and self.toil > wide))

    def _pays(self, gram: Gram) -> bool:
        """Return whether a preconditioner saves more than it costs: for several solves, many items, or many steps."""
        if gram.n_items > FEW_ITEMS:
            return True
        if gram.n_items <= LITTLE:
            return self._are_hard(gram)
        if not self.trail:
            return self._are_hard(gram) or self.most_steps > EASY_ALONE_CG
        return self.most_steps > EASY_MANY_CG and self.most_steps > EASY_MANY_CG + gram.span.size / SPAN_OF_A_STEP

    def condition(self, goal: KernelGoal, s: Array) -> Conditioner:
        """Return a preconditioner for the goal at utilities s."""
        gram = goal.gram
        if self.is_broken or not self._pays(gram):
            return PLAIN
        span = self._span(gram)
        if span.is_wide and span.left_out > MOST_LEFT_OUT:
            self.is_broken = True
            return PLAIN
        if self.frozen is None or not self.frozen.serves(goal, span):
            build = Steady.of if self.trail or span.is_wide or gram.n_items <= FEW_ITEMS else Galerkin.of
            try:
                made = build(span, goal.risk, goal.C, s)
            except linalg.LinAlgError:  # numbers that span too many decades
                self.is_broken = True
                return PLAIN
            self.frozen, self.spent = Frozen(made, span, goal.C, goal.risk.h), 0.0
            self.made += prices.preconditioner(gram.n_items, span.size)
        return self.frozen.condition

    @property
    def is_new(self) -> bool:
        """Return whether the preconditioner was not used yet."""
        return self.spent == 0.0
