"""The ranking vector machine, 004 (102)-(104), with positive or signed coefficients.

    min sum_i |a_i| + C sum_uv c_uv max(0, 1 - (s_u - s_v)),   s = K a,   (positive: a >= 0)

over all pairs of different level in a query, c_uv the product of the items' weights; C = inf asks for every margin.
K may be any square matrix. Before solving: the pairs are written out in sorted order, rows of K are measured from the
last item of their query (margins do not change, a constant added to K disappears), and K is divided by its largest
remaining entry kappa; a solution of the scaled problem is kappa times ours. A zero model is recognised beforehand: it
is optimal exactly as long as C max_i |K'B'c|_i <= 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..comparisons import IntArray, Levels
from ..solution import Array, Solution, Status
from . import iterations, pair_graph, routing
from .pair_graph import PairGraph
from .problem import Bracket, Problem
from .routing import Routing


@dataclass(frozen=True)
class Answer:
    """A solution in the units of the data, as a flow on the arcs of a routing."""

    x: Array
    objective: float
    dual: float
    n_iter: int
    status: Status

    @property
    def gap(self) -> float:
        """Return (objective - dual) / objective."""
        return self.solution(self.x).gap

    def solution(self, coefficients: Array) -> Solution:
        """Return the solver's result for these coefficients of the items."""
        return Solution(
            weights=coefficients,
            pulled=coefficients,
            levels=np.zeros(0),
            objective=self.objective,
            dual=self.dual,
            n_iter=self.n_iter,
            status=self.status,
        )


def ranking_vectors(K: Array, levels: Levels, C: float, *, positive: bool, tol: float, max_iter: int) -> Solution:
    """Fit one coefficient per item.

    Parameters
    ----------
    K : array of shape (n, n)
        Utilities are K a: row u holds the kernel between item u and every item.
    levels : Levels
        The comparisons.
    C : float
        Weight of the slacks; inf is the hard machine. It is `INFEASIBLE` when every a that satisfies it has
        sum |a| > 1e9 / kappa: a margin 1 / sum |a| below 1e-9 of the kernel's range. `dual` proves it.
    positive : bool
        Whether coefficients must be >= 0, as in the paper.
    tol : float
        Relative duality gap.
    max_iter : int
        Bound on interior-point iterations.
    """
    return pose_vectors(K, levels, positive=positive).solve(C, tol, max_iter)


@dataclass(frozen=True)
class Vectors:
    """A ranking vector machine without its C."""

    columns: IntArray  # the items that may become vectors
    n_items: int
    machine: Machine

    def solve(self, C: float, tol: float, max_iter: int) -> Solution:
        """Fit one coefficient per item."""
        return self.solution(self.machine.solve(C, tol, max_iter))

    def solution(self, answer: Answer) -> Solution:
        """Return the solver's result for an answer."""
        coefficients = np.zeros(self.n_items)
        coefficients[self.columns] = self.machine.arcs.settle(answer.x)[1]
        return answer.solution(coefficients)


def pose_vectors(K: Array, levels: Levels, *, positive: bool) -> Vectors:
    """Prepare what does not depend on C; parameters as in `ranking_vectors`."""
    graph = pair_graph.from_levels(levels)
    grounded = graph.grounded(K)
    # columns in sorted order too: without ties a permutation of the items then changes nothing at all;
    # an item whose column is constant in every query cannot help
    columns = levels.order[np.any(grounded[:, levels.order] != 0.0, axis=0)]
    arcs = routing.direct(columns.size, positive=positive)
    return Vectors(columns, levels.n_items, pose(graph, grounded[:, columns], arcs))


@dataclass(frozen=True)
class Machine:
    """A grounded and scaled problem without its C."""

    graph: PairGraph
    K: Array
    kappa: float
    arcs: Routing

    def problem(self, C: float) -> Problem:
        """Return the problem for C, in the units of the scaled kernel."""
        cap = None if np.isinf(C) else C * self.kappa * self.graph.weight
        return Problem(self.graph, self.K, cap, self.arcs)

    def solve(self, C: float, tol: float, max_iter: int, *, overlap: bool = False) -> Answer:
        """See the cases that need no iteration, solve, and scale back; `overlap`: many pairs will stay violated."""
        graph, arcs, kappa = self.graph, self.arcs, self.kappa
        still = np.zeros(arcs.cost.size)
        largest_cap = 0.0 if np.isinf(C) else C * kappa * float(graph.weight.max(initial=0.0))
        if not np.isfinite(kappa + largest_cap):
            return Answer(still, np.nan, -np.inf, 1, Status.NOT_FINITE)
        if graph.n_edges == 0:
            return Answer(still, 0.0, 0.0, 1, Status.CONVERGED)
        if kappa == 0.0:
            return _constant(still, C, graph)
        problem = self.problem(C)
        if problem.cap is not None and arcs.steepest(problem.gain(graph.imbalance(problem.cap))) <= 1.0:
            value = C * float(graph.weight.sum())
            return Answer(still, value, value, 1, Status.CONVERGED)
        # a problem that overflows ends as a gap that does not close: the bracket ignores what is not a number
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            outcome = iterations.solve(problem, tol, max_iter, overlap=overlap)
        return self.answer(outcome.bracket, outcome.n_iter, _status(outcome, tol, max_iter))

    def answer(self, bracket: Bracket, n_iter: int, status: Status) -> Answer:
        """Return what a bracket knows in the units of the data."""
        if status is Status.INFEASIBLE:
            return Answer(np.zeros_like(bracket.x), np.inf, bracket.lower / self.kappa, max(1, n_iter), status)
        scaled = bracket.x / self.kappa, bracket.upper / self.kappa, bracket.lower / self.kappa
        return Answer(*scaled, max(1, n_iter), status)


def pose(graph: PairGraph, K: Array, arcs: Routing) -> Machine:
    """Scale a grounded problem."""
    kappa = float(np.abs(K).max(initial=0.0))
    scaled = K / kappa if np.isfinite(kappa) and kappa > 0.0 else K
    return Machine(graph, np.asfortranarray(scaled), kappa, arcs)


def _constant(still: Array, C: float, graph: PairGraph) -> Answer:
    """Every model ranks all items alike."""
    value = C * float(graph.weight.sum())
    return Answer(still, value, value, 1, Status.INFEASIBLE if np.isinf(C) else Status.CONVERGED)


def _status(outcome: iterations.Outcome, tol: float, max_iter: int) -> Status:
    if outcome.bracket.gap <= tol:
        return Status.CONVERGED
    if iterations.is_out_of_reach(outcome.bracket):
        return Status.INFEASIBLE
    return Status.MAX_ITER if outcome.n_iter >= max_iter else Status.STALLED
