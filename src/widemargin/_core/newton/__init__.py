"""Newton's method: `min_w 1/2 <w, R w> + C * risk(map(w))` for pairs that are never written out.

The way depends on the map: weights of columns (`newton_linear`), or coefficients of items (`newton_kernel`).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .finish import Map as FinishMap
from .finish import honest, nonzero
from .kernel import newton_kernel
from .linear import newton_linear
from .plan import Plan

if TYPE_CHECKING:
    from ..gram import Gram
    from ..risks import GroupedPairRisk
    from ..solution import Array, Solution

__all__ = ["Map", "Plan", "newton", "nonzero"]


def newton(
    risk: GroupedPairRisk,
    map_: Map,
    C: float,
    *,
    tol: float = 1e-4,
    max_iter: int = 1000,
    verbose: bool = False,
    n_threads: int = 1,
    start: Array | None = None,
    plan: Plan | None = None,
    budget: float = np.inf,
) -> Solution:
    """Minimise 1/2 <w, R w> + C * risk(map(w)) to a relative gap of tol; max_iter counts Newton steps.

    Over a kernel, steps end as well where they cost more than the budget, in the seconds of `prices`.

    `start` takes the weights of a nearby problem: another C, more rows. Solves that differ in C or tol only share
    the layout of the data, the samples and the last Hessian through `plan = Plan.of(risk, map_, n_threads)`:

        plan, w = Plan.of(risk, map_), None
        for C in sorted(Cs):
            solution = newton(risk, map_, C, plan=plan, start=w)
            w = solution.weights

    A plan belongs to its risk and its map, and brings its own n_threads. Started where its last solve ended, a
    solve reads the data once less. Plans change the way, never the certificate.
    """
    say = _say if verbose else _silent
    plan = plan or Plan.of(risk, map_, n_threads)
    largest = 0.0
    if plan.gram is not None:
        largest = float(np.max(np.abs(plan.gram.diagonal)))
        solution = newton_kernel(
            plan.gram, risk, C, tol=tol, max_iter=max_iter, say=say, start=start, memory=plan.memory, budget=budget
        )
    else:
        solution = newton_linear(plan, C, tol=tol, max_iter=max_iter, say=say, start=start)
    return honest(risk, map_, C, nonzero(risk, map_, C, solution), tol, largest)


class Map(FinishMap, Protocol):
    """What Newton asks of a map: the matrix that makes utilities of weights, or the items' Gram matrix."""

    def columns(self) -> Any | None:
        """Return X with u = X w and norm ||w||, dense or CSR; None where weights belong to items."""

    def quick_gram(self, *, is_shared: bool = False) -> Gram:
        """Return the Gram matrix of the items for many products; asked for only where there are no columns."""


def _say(n_iter: int, objective: float, gap: float) -> None:
    sys.stderr.write(f"newton {n_iter}: objective {objective:.9g}, gap {gap:.2e}\n")


def _silent(n_iter: int, objective: float, gap: float) -> None:
    pass
