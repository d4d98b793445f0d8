"""What Newton minimises in the space of a kernel, seen at a point: objective, bound, and the way down."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ..gram import Gram
from ..solution import Array

if TYPE_CHECKING:
    from ..risks import GroupedPairRisk, Hessian, Terms

Seen: TypeAlias = "tuple[Terms, Array, Hessian]"  # what the risk says of utilities

LINE_STEPS, LINE_GOAL = 12, 0.1  # looks along a step, and the share of its slope that may remain
ROUNDINGS = 4.0  # of the sums over pairs, in units of the last place


class Look(NamedTuple):
    """Everything known at b."""

    b: Array
    s: Array  # K b
    terms: Terms
    g: Array
    hessp: Hessian
    R: Array
    KR: Array
    primal: float  # the objective of the problem


class Direction(NamedTuple):
    """Newton's, about."""

    x: Array
    Kx: Array
    n_steps: int  # of conjugate gradients, 0 if they were too few
    left: float  # of r'Kr
    is_enough: bool  # whether what is left, by Newton's model, is enough for the certificate


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
        seen = seen or self.risk.evaluate(s)
        R = b + self.C * seen[1]
        return self.looked(b, s, seen, R, self.gram.exact_product(R) if self.exact else self.gram.product(R))

    def looked(self, b: Array, s: Array, seen: Seen, R: Array, KR: Array) -> Look:
        """Return what was seen, with the objective."""
        return Look(b, s, *seen, R, KR, float(0.5 * (b @ s) + self.C * seen[0].loss))

    def dual(self, at: Look) -> tuple[float, float]:
        """Return the dual value of the slopes, and the squared norm of their function K (b - R)."""
        square = self.C * float(at.g @ (at.KR - at.s))
        return self.C * at.terms.conjugate - 0.5 * square, square

    def smoothing_cost(self, at: Look) -> float:
        """Return what the smoothing adds to the gap."""
        return self.C * (at.terms.loss - at.terms.conjugate - float(at.s @ at.g))

    def rounding(self, at: Look) -> float:
        """Return what rounding may add to the dual value: slopes are differences of sums over all pairs, over h."""
        if self.risk.is_exact:
            return 0.0
        size = 1.0 + float(np.max(np.abs(at.s), initial=0.0))
        return ROUNDINGS * np.finfo(float).eps * self.C * self.risk.levels.total_weight * size / self.risk.h

    def smoothed(self, h: float) -> KernelGoal:
        """Return the same goal under another smoothing."""
        return replace(self, risk=self.risk.smoothed(h))

    def descend(self, at: Look, way: Direction) -> tuple[Array, Array, Seen | None]:
        """Return b, K b and its pairs near the lowest point along x: the slope's sign is bracketed.

        A direction that is enough is taken whole unless it leads too far: farther on is lower, but the gap is larger.
        After a sure look squared slacks go on from the rounded utilities, whose slopes are known; slopes of a hinge are
        too steep for that, and rounding would grow.
        """
        u = at.hessp.u if self.risk.is_exact else at.s
        x, Kx = way.x, way.Kx
        across, square, slope = float(at.b @ Kx), float(x @ Kx), float(at.R @ Kx)
        low, high, step = (0.0, slope), (np.inf, np.inf), 1.0
        for _ in range(LINE_STEPS if slope < 0.0 else 0):
            s = u + step * Kx
            seen = self.risk.evaluate(s)
            first = across + step * square + self.C * float(seen[1] @ Kx)
            if (first if way.is_enough and step == 1.0 else abs(first)) <= -LINE_GOAL * slope:
                return at.b + step * x, s, seen
            low, high = (low, (step, first)) if first > 0.0 else ((step, first), high)
            share = np.clip(-low[1] / (high[1] - low[1]), 0.1, 0.9) if np.isfinite(high[0]) else np.inf
            step = low[0] + (high[0] - low[0]) * float(share) if np.isfinite(share) else 2.0 * step
        return at.b + step * x, u + step * Kx, None
