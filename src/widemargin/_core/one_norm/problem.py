"""The 1-norm ranking problem in its own units, and the bracket around its optimum.

    min cost'x + sum_uv cap_uv max(0, 1 - (s_u - s_v)),   s = K U x,  A x = 0,  x >= 0      (cap = None: no slack)
    max sum y,   0 <= y <= cap,   U'K'B'y <= cost on every route

Both bounds are computed from the data, never from a solver's state: any x that a routing has settled is feasible,
and any y is, after division by the steepest gain of K'B'y. K is divided by its largest entry after grounding, so
that thresholds mean the same for every kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _pairs
from ..solution import Array
from .pair_barrier import PairBarrier
from .pair_graph import PairGraph
from .routing import Routing


@dataclass(frozen=True)
class Problem:
    """The data of a 1-norm machine, grounded and scaled."""

    graph: PairGraph
    K: Array  # (nodes, coefficients), Fortran order, largest entry 1
    cap: Array | None  # (P,) C c_uv; None: hard
    routing: Routing

    def utilities(self, x: Array) -> Array:
        """Return K U x."""
        return self.K @ self.routing.deliver(x)

    def gain(self, flow: Array) -> Array:
        """Return K' flow: what each coefficient gains."""
        return self.K.T @ flow

    def upper(self, x: Array) -> tuple[float, float]:
        """Return the objective of x, and by what to multiply x to attain it."""
        cost, b = self.routing.settle(x)
        hinge, lowest = self._margins(self.K @ b)
        return self.best_scale(cost, hinge, lowest)

    def best_scale(self, cost: float, hinge: float, lowest: float) -> tuple[float, float]:
        """Return the better of keeping a point and of stretching it until no margin is missed.

        The second is the only feasible choice in the hard problem, and removes violations of rounding size, which
        a huge C would otherwise turn into cost.
        """
        kept = np.inf if self.cap is None else cost + hinge
        # two roundings up: a margin of 1 - 1e-16 is a violation
        stretch = (1.0 + 4e-16) / lowest if lowest > 0.0 else np.inf
        return (kept, 1.0) if kept <= cost * stretch or cost == 0.0 else (cost * stretch, stretch)

    def dual_value(self, total: float, flow: Array) -> float:
        """Return the dual value of the feasible multiple of y, from sum y and B'y; y must be inside its box."""
        return total / max(1.0, self.routing.steepest(self.gain(flow)))

    def _margins(self, s: Array) -> tuple[float, float]:
        if not np.isfinite(s).all():
            return np.inf, -np.inf
        cap = np.empty(0) if self.cap is None else self.cap
        return _pairs.hinge(self.graph.head, self.graph.reach, s, cap)


@dataclass(frozen=True)
class Iterate:
    """An interior point: arcs x against reduced costs z, the potentials of the hubs, and the pairs."""

    x: Array
    z: Array
    potential: Array
    pairs: PairBarrier


class Bracket:
    """The best point and the best lower bound so far."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.upper = np.inf
        self.lower = 0.0
        self.x: Array = np.zeros(problem.routing.cost.size)
        self.y: Array = np.zeros(problem.graph.n_edges)

    @property
    def gap(self) -> float:
        """Return (upper - lower) / upper, 1 as long as there is no point."""
        return (self.upper - self.lower) / self.upper if np.isfinite(self.upper) else 1.0

    def offer_point(self, x: Array, *, clean: bool = False) -> bool:
        """Keep x if it is better; a clean point (exact zeros) may cost a little more, far less than the gap."""
        value, scale = self.problem.upper(x)
        slack = 0.0
        if clean and np.isfinite(self.upper):
            slack = self.upper * min(max(0.3 * self.gap, 1e-12), 1e-9)
        return self.offer_value(value, scale, x, slack)

    def offer_value(self, value: float, scale: float, x: Array, slack: float = 0.0) -> bool:
        """Keep `scale` x, whose value is known, if it is better."""
        if not value < self.upper + slack:
            return False
        self.upper, self.x = value, x * scale
        return True

    def offer_bound(self, value: float, y: Array) -> None:
        """Keep a lower bound if it is better."""
        if value > self.lower:
            self.lower, self.y = value, y.copy()

    def offer_multipliers(self, y: Array) -> float:
        """Keep the lower bound of y, clipped to its box, if it is better; return by how much it overpays an arc."""
        inside = np.clip(y, 0.0, self.problem.cap)
        steepest = self.problem.routing.steepest(self.problem.gain(self.problem.graph.imbalance(inside)))
        self.offer_bound(float(inside.sum()) / max(1.0, steepest), inside)
        return steepest - 1.0
