"""A ranking vector machine for many C: prepared once, and walked from vertex to vertex while that is cheap.

For the next C, in this order: (1) the last model, where it is certified there too: a larger C leaves its multipliers
feasible, so where no pair is violated nothing changes any more; (2) a walk along vertices, given up for good where it
needs too many pivots; (3) the interior point. Each answer is judged by a bracket, whoever found it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..comparisons import Levels
from ..solution import Array, Solution, Status
from . import optimal_face
from .machine import Vectors, pose_vectors
from .problem import Bracket
from .vertex_walk import LostError, VertexWalk

# a walk of so many pivots costs as much as an interior point, from 100 to 400 items
FEW, PER_NODE = 500, 2.5
TIGHT = 1e-6  # an answer that was not solved for has at most this gap, however loose tol is


@dataclass(frozen=True)
class Carried:
    """The solution for one C, as seen from a larger one."""

    C: float
    cost: float  # of its coefficients
    solution: Solution

    def at(self, C: float, tol: float) -> Solution | None:
        """Return the solution with its objective and a true bound for a larger C; None where its gap is too large."""
        old = self.solution
        if not (self.C <= C < np.inf and old.status is Status.CONVERGED):
            return None
        slacks = max(0.0, old.objective - self.cost) / self.C
        found = replace(old, objective=self.cost + C * slacks, n_iter=1)
        return found if found.gap <= min(tol, TIGHT) else None


class VectorPath:
    """One coefficient per item, for one C after the other."""

    def __init__(self, K: Array, levels: Levels, *, positive: bool, is_path: bool = True) -> None:
        self.vectors: Vectors = pose_vectors(K, levels, positive=positive)
        self.is_path = is_path  # whether more than one C will be asked for
        self.last: Carried | None = None
        self.walk: VertexWalk | None = None
        self.is_lost = False

    def solve(self, C: float, tol: float, max_iter: int) -> Solution:
        """Return the solution for C; a lone one is that of `ranking_vectors`."""
        found = None if self.last is None else self.last.at(C, tol)
        if found is None and self.is_path:
            found = self._walked(C, tol)
        if found is None:
            overlap = self.last is not None and 0.0 < 2.0 * self.last.cost < self.last.solution.objective
            found = self.vectors.solve(C, tol, max_iter, overlap=overlap)
        self.last = Carried(C, float(np.abs(found.weights).sum()), found)
        return found

    def _walked(self, C: float, tol: float) -> Solution | None:
        """Return the vertex for C, None where the walk is lost or its vertex not certified."""
        machine = self.vectors.machine
        if self.is_lost or not (0.0 < machine.kappa * C < np.inf) or machine.graph.n_edges == 0:
            return None
        bracket = Bracket(machine.problem(C))
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                self._walk_to(C * machine.kappa, bracket)
        except (LostError, np.linalg.LinAlgError):
            self.is_lost = True
        if self.is_lost:
            self.walk = None
        if not bracket.gap <= min(tol, TIGHT):
            return None
        return self.vectors.solution(machine.answer(bracket, 1, Status.CONVERGED))

    def _walk_to(self, C: float, bracket: Bracket) -> None:
        """Walk to the vertex for C and offer it; where pivots become too many this was the last time."""
        if self.walk is None:
            self.walk = VertexWalk(bracket.problem)
        before, limit = self.walk.n_pivots, FEW + int(PER_NODE * bracket.problem.graph.n_nodes)
        self.walk.to(C, limit)
        if not (self.walk.offer(bracket) and bracket.gap <= optimal_face.EXACT):
            optimal_face.jump(bracket, self.walk.iterate(bracket))
        self.is_lost = self.walk.n_pivots - before > 0.8 * limit
