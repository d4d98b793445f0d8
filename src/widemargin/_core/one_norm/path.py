"""A 1-norm machine for many C: prepared once, and walked from vertex to vertex while that is cheap.

For the next C, in this order: (1) the last model, where it is certified there too: a larger C leaves its multipliers
feasible, so where no pair is violated nothing changes any more; (2) a walk along vertices, after a leap where it would
be long, given up for good where it needs too many pivots; (3) the interior point. Each answer is judged by a bracket,
whoever found it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..comparisons import Levels
from ..solution import Array, Solution, Status
from . import optimal_face
from .leap import leap
from .machine import Answer, Machine, pose_vectors
from .problem import Bracket
from .vertex_walk import LostError, VertexWalk

# a walk of so many pivots costs as much as an interior point, from 100 to 400 items; over pairs three times as many do
FEW, PER_NODE, MANY, OVER_PAIRS = 500, 10, 5000, 3
FAR = 1.4  # what a pivot of a long walk costs, in pivots: it passes more pairs
LEFT, FORGET = 2.5, 0.9  # pivots for each coefficient that are left after a leap; how soon a bad leap is forgotten
EXACT = 1e-8  # a vertex that is the only optimum needs no more digits
TIGHT = 1e-6  # an answer that was not solved for has at most this gap, however loose tol is


@dataclass(frozen=True)
class Carried:
    """The answer for one C, as seen from a larger one."""

    C: float
    cost: float  # of its coefficients
    answer: Answer

    def at(self, C: float, tol: float) -> Answer | None:
        """Return the answer with its objective and a true bound for a larger C; None where its gap is too large."""
        old = self.answer
        if not (self.C <= C < np.inf and old.status is Status.CONVERGED):
            return None
        slacks = max(0.0, old.objective - self.cost) / self.C
        found = replace(old, objective=self.cost + C * slacks, n_iter=1)
        return found if found.gap <= min(tol, TIGHT) else None


class MachinePath:
    """The answers of a machine for one C after the other."""

    def __init__(self, machine: Machine, *, is_path: bool = True) -> None:
        self.machine = machine
        self.is_path = is_path  # whether more than one C will be asked for
        self.last: Carried | None = None
        self.walk: VertexWalk | None = None
        self.is_lost = False
        # pivots for each coefficient: for each unit of log C, in the last walk without a leap; and after the last leap
        self.pace, self.left = 0.0, LEFT

    def solve(self, C: float, tol: float, max_iter: int) -> Answer:
        """Return the answer for C; a lone one is that of the machine."""
        found = None if self.last is None else self.last.at(C, tol)
        if found is None and self.is_path:
            found = self._walked(C, tol)
        if found is None:
            overlap = not self.machine.arcs.over_pairs and self._has_overlap()
            found = self.machine.solve(C, tol, max_iter, overlap=overlap)
        self.last = Carried(C, self.machine.arcs.settle(found.x)[0], found)
        return found

    def _has_overlap(self) -> bool:
        """Return whether slacks are most of the last objective."""
        return self.last is not None and 0.0 < 2.0 * self.last.cost < self.last.answer.objective

    def _walked(self, C: float, tol: float) -> Answer | None:
        """Return the vertex for C, None where the walk is lost or its vertex not certified."""
        machine = self.machine
        if self.is_lost or not (0.0 < machine.kappa * C < np.inf) or machine.graph.n_edges == 0:
            return None
        bracket = Bracket(machine.problem(C))
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                is_answer = self._walk_to(C * machine.kappa, bracket, tol)
        except (LostError, np.linalg.LinAlgError):
            self.is_lost, is_answer = True, False
        if self.is_lost:
            self.walk = None
        if not (is_answer and bracket.gap <= min(tol, TIGHT)):
            return None
        return machine.answer(bracket, 1, Status.CONVERGED)

    def _walk_to(self, C: float, bracket: Bracket, tol: float) -> bool:
        """Walk to the vertex for C and offer it, say whether it may be the answer; the last time if it was too far."""
        if self.walk is None:
            self.walk = VertexWalk(bracket.problem)
        before, over_pairs = self.walk.n_pivots, self.machine.arcs.over_pairs
        limit = min(FEW + PER_NODE * bracket.problem.graph.n_nodes, MANY) * (OVER_PAIRS if over_pairs else 1)
        from_C, is_far = self.walk.C, self._is_far(self.walk, C)
        has_leapt = is_far and leap(self.walk, C)
        self.walk.to(C, limit)
        per_vector = (self.walk.n_pivots - before) / max(self.walk.at.k, 1)
        self.left = max(LEFT, per_vector if is_far else FORGET * self.left)
        if not has_leapt and 0.0 < from_C < C:
            self.pace = per_vector / np.log(C / from_C)
        self.is_lost = self.walk.n_pivots - before > 0.8 * limit
        is_only = self.walk.offer(bracket)
        if over_pairs:  # where there are other optima, the one of least norm is not looked for
            self.is_lost |= not is_only
            return is_only
        if not (is_only and bracket.gap <= min(tol, EXACT)):
            optimal_face.jump(bracket, self.walk.iterate(bracket))
        return True

    def _is_far(self, walk: VertexWalk, C: float) -> bool:
        """Return whether a walk to C would cost more than a leap and what is left to walk then."""
        if walk.over_pairs or walk.positive or not 0.0 < walk.C < C:
            return False
        k, m, foreseen = walk.at.k, len(walk.K), self.pace * walk.at.k * np.log(C / walk.C)
        return bool((FAR * foreseen - self.left * k) * _pivot_price(k, m) > _leap_price(k, m))


def _pivot_price(k: int, m: int) -> float:
    """Return about how many microseconds a pivot takes, with k coefficients and m items."""
    return 4.0 + 0.025 * m + 2.2e-4 * m * k


def _leap_price(k: int, m: int) -> float:
    """Return about how many microseconds a leap takes."""
    return 2000.0 + 0.01 * m**2 + 1e-3 * m * k**2


class VectorPath:
    """One coefficient per item, for one C after the other."""

    def __init__(self, K: Array, levels: Levels, *, positive: bool, is_path: bool = True) -> None:
        self.vectors = pose_vectors(K, levels, positive=positive)
        self.answers = MachinePath(self.vectors.machine, is_path=is_path)

    def solve(self, C: float, tol: float, max_iter: int) -> Solution:
        """Return the solution for C; a lone one is that of `ranking_vectors`."""
        return self.vectors.solution(self.answers.solve(C, tol, max_iter))
