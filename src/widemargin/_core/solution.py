"""What a solver returns: a model, a true lower bound, and the way it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


class Status(Enum):
    """How a solver ended; the value is the advice that the user reads."""

    CONVERGED = ""
    MAX_ITER = (
        "stopped at max_iter={max_iter} with duality gap {gap:.1e} > tol={tol:.1e}; "
        "scale the features, raise max_iter or loosen tol."
    )
    STALLED = (
        "rounding stopped the solver at duality gap {gap:.1e} > tol={tol:.1e}: the objective is at most that far "
        "from the optimum; scale the features, lower C or loosen tol."
    )
    NOT_FINITE = "the objective became inf or nan; look for huge values in X, y and the weights."
    INFEASIBLE = (
        "no hard margin: a separating w would need a margin below {bound:.0e} of the data radius; use a finite C."
    )


@dataclass(frozen=True)
class Solution:
    """A point, its value, and a bound on how far it is from the optimum.

    `objective` and `dual` are in the papers' scale; `dual` is a true lower bound.
    """

    weights: Array  # the map's parameters
    pulled: Array | Callable[[], Array]  # the coefficients, or what makes them: those of many items are seldom read
    levels: Array  # bias, tie width: the free columns of the rows
    objective: float
    dual: float
    n_iter: int
    status: Status
    utilities: Array | None = None  # of the items, where the solver has them in float64
    squared_norm: float | None = None  # of the weights, where the solver has it in float64
    dual_norm: float | None = None  # of the weights that the dual point makes, squared, where the solver has a bound

    @cached_property
    def coefficients(self) -> Array:
        """Return one coefficient per item: the dual point pulled back to the items, D'a."""
        return self.pulled() if callable(self.pulled) else self.pulled

    @property
    def gap(self) -> float:
        """Return the relative duality gap: an upper bound on (P - P*) / P."""
        return relative_gap(self.objective, self.dual)

    def is_within(self, tol: float) -> bool:
        """Return whether the gap is small, however the solver ended; a negative objective is none."""
        return self.status is Status.CONVERGED or (self.objective >= 0.0 and self.gap <= tol)


def relative_gap(primal: float, dual: float) -> float:
    """Return (primal - dual) / primal, 0 when both are 0, never negative; infinite where either is not a number."""
    if not primal > 0.0:
        return 0.0 if dual >= primal else float("inf")
    gap = float((primal - dual) / primal)
    return float("inf") if np.isnan(gap) else max(0.0, gap)
