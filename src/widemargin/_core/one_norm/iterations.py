"""Structured interior point for the 1-norm machines, with an exact finish.

Steps: (1) Mehrotra's predictor and corrector with a few of Gondzio's centrality corrections, on one factored
system per iteration; (2) at every iteration both bounds of the bracket, from the data; (3) once the gap is small, a
jump to the optimal face, where the answer has exact zeros, and a few more iterations if that fails; (4) where
rounding has stopped all this short of tol, a small linear program around the face.
Stop: relative gap <= tol and a jump; or steps and gap no longer move; or max_iter. The hard problem also stops when
its lower bound passes `OUT_OF_REACH`: every solution would need a margin below 1e-9 of the kernel's range.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import face_program, optimal_face, pair_barrier
from .pair_barrier import State, correction
from .problem import Bracket, Iterate, Problem
from .system import Arcs, Direction, System, workspace

JUMP_AT = 1e-7  # from 1e-5 a jump often meets the wrong face
JUMPS = 4
OUT_OF_REACH = 1e9
HARD_FIRST = 1e4  # caps from here on rarely bind, and the hard problem needs fewer iterations
CEILING = 1e8  # caps beyond it leave few digits for the coefficients' cost
SHORTEST = 1e-8  # a shorter step means that the direction is rounding, and is not taken
LONGEST = 200  # iterations from one start: what needs more needs another one
NEAR = 1e-4  # a gap that another start would not improve
CORRECTIONS = 2  # more save fewer iterations than they cost, from 100 to 1000 items;
MANY, MORE_CORRECTIONS = 1000, 4  # from there on a factorisation costs as much as a dozen of them


@dataclass(frozen=True)
class Start:
    """Where an interior point begins: multipliers at half their caps but at most `y`, surplus `t`, arcs `x`."""

    y: float
    t: float
    x: float = 0.0  # 0: so that all products are alike


@dataclass(frozen=True)
class Outcome:
    """The bracket at the end, the last interior point, and the number of iterations."""

    bracket: Bracket
    iterate: Iterate | None
    n_iter: int


def solve(problem: Problem, tol: float, max_iter: int, *, overlap: bool = False) -> Outcome:
    """Bracket the optimum to a relative width of `tol`, or as far as max_iter and rounding allow.

    With `overlap` many pairs are known to stay violated.
    """
    outcome = _interior_point(problem, tol, max_iter, overlap=overlap)
    bracket, iterate = outcome.bracket, outcome.iterate
    if bracket.gap > tol and not is_out_of_reach(bracket) and iterate is not None and outcome.n_iter < max_iter:
        face_program.improve(bracket, iterate, tol)
    return outcome


def _interior_point(problem: Problem, tol: float, max_iter: int, *, overlap: bool = False) -> Outcome:
    """Run from one start after the other until one comes near the optimum."""
    bracket = Bracket(problem)
    iterate, used = _hard_first(bracket, tol, max_iter)
    if problem.cap is not None and problem.cap.max() > CEILING and bracket.gap > NEAR:
        used += _below_ceiling(bracket, tol, max_iter - used)
    for start in _starts(problem, overlap=overlap):
        if bracket.gap <= NEAR or used >= max_iter or is_out_of_reach(bracket):
            break
        iterate, n_iter = _run(bracket, start, tol, min(max_iter - used, LONGEST))
        used += n_iter
    return Outcome(bracket, iterate, used)


def is_out_of_reach(bracket: Bracket) -> bool:
    """Return whether the hard problem has no solution of reasonable size."""
    return bracket.problem.cap is None and bracket.lower > OUT_OF_REACH


def _starts(problem: Problem, *, overlap: bool = False) -> list[Start]:
    """Return the starts to try, the likeliest first.

    Multipliers end at their caps where many pairs stay violated: always with positive coefficients, and where the
    hard problem has just failed. Otherwise most end near 0, and half a large cap is far away.
    """
    if problem.cap is None:
        return [Start(10.0, 100.0), Start(1.0, 1.0)]
    half = 0.5 * float(problem.cap.mean())
    at_caps = Start(np.inf, 1.0 if problem.routing.positive else 10.0)
    inside = Start(100.0, min(max(half, 1.0), 100.0))
    if half > CEILING:
        return [at_caps]
    if overlap and half <= HARD_FIRST:  # saves a third of the iterations where C is large, costs some without overlap
        return [Start(0.2 * half, 0.3, float(np.clip((2.0 * half) ** 0.75, 0.3, 1e3))), inside, at_caps]
    violated = problem.routing.positive or half > HARD_FIRST
    return [at_caps, inside, Start(1.0, 10.0)] if violated else [inside, at_caps, Start(1.0, 10.0)]


def _hard_first(bracket: Bracket, tol: float, max_iter: int) -> tuple[Iterate | None, int]:
    """Try the problem without slack: if its multipliers respect the caps, it has the same solution."""
    problem = bracket.problem
    if problem.cap is None or problem.cap.min() < HARD_FIRST:
        return None, 0
    hard = solve(Problem(problem.graph, problem.K, None, problem.routing), tol, max_iter)
    if hard.bracket.gap < NEAR:
        bracket.offer_point(hard.bracket.x)
        bracket.offer_multipliers(hard.bracket.y)
    return hard.iterate, hard.n_iter


def _below_ceiling(bracket: Bracket, tol: float, max_iter: int) -> int:
    """Solve with smaller caps and carry the face over: from some C on, the optimal face no longer changes."""
    problem = bracket.problem
    assert problem.cap is not None
    factor = CEILING / float(problem.cap.max())
    lowered = Problem(problem.graph, problem.K, problem.cap * factor, problem.routing)
    outcome = _interior_point(lowered, tol, max_iter)
    bracket.offer_point(outcome.bracket.x)
    last = outcome.iterate
    if last is not None and last.pairs.cap is not None:
        pairs = last.pairs.rescaled(problem.cap, 1.0 / factor)
        optimal_face.jump(bracket, Iterate(last.x, last.z, last.potential / factor, pairs))
    return outcome.n_iter


def _run(bracket: Bracket, start: Start, tol: float, max_iter: int) -> tuple[Iterate, int]:
    """Iterate from one start; return the last point and the number of iterations."""
    point, patience, jumps, n_iter = _Point(bracket.problem, start), _Patience(), 0, 0
    while n_iter < max_iter:
        arcs, mu = point.inspect(bracket)
        if is_out_of_reach(bracket):
            return point.iterate, n_iter
        if bracket.gap <= JUMP_AT:
            jumps += bracket.gap <= tol
            if optimal_face.jump(bracket, point.iterate) or jumps == JUMPS:
                return point.iterate, n_iter
        n_iter += 1
        if patience.is_over(bracket.gap, point.advance(arcs, mu, bracket.gap)):
            break
    point.inspect(bracket)
    if bracket.gap < NEAR:
        optimal_face.jump(bracket, point.iterate)
    return point.iterate, n_iter


class _Patience:
    """Says when to stop: the steps have died, or a small gap no longer falls."""

    def __init__(self) -> None:
        self.gap, self.waited = 1.0, 0

    def is_over(self, gap: float, step: float) -> bool:
        """Take note of an iteration."""
        if gap > 1e-3 or gap < 0.7 * self.gap:
            self.gap, self.waited = gap, 0
        else:
            self.waited += 1
        return step == 0.0 or self.waited >= 8


class _Point:
    """A strictly positive point that moves: arcs x against reduced costs z, hub potentials, and the pairs."""

    def __init__(self, problem: Problem, start: Start) -> None:
        self.problem = problem
        if problem.cap is None:
            y = np.full(problem.graph.n_edges, start.y)
            pairs = pair_barrier.hard(problem.graph, y, start.t)
        else:
            y = np.minimum(0.5 * problem.cap, start.y)
            pairs = pair_barrier.soft(problem.graph, problem.cap, y, start.t)
        # all products alike; reduced costs at their natural size 1, unless margins would then lose their digits
        mu = max(1.0, float(y.mean()) * start.t)
        k, n_hubs = problem.routing.cost.size, problem.routing.A.shape[0]
        x, z = np.full(k, start.x or min(mu, 1e4)), np.full(k, max(1.0, 1e-4 * mu))
        self.iterate = Iterate(x, z, np.zeros(n_hubs), pairs)
        self.moves, self.room = (pairs.move(), pairs.move()), workspace(problem)
        self.careful = False

    def inspect(self, bracket: Bracket) -> tuple[Arcs, float]:
        """Restore exact feasibility of the pairs, offer both bounds, and return what is missing and mu."""
        problem, routing, now = self.problem, self.problem.routing, self.iterate
        state = now.pairs.restore(problem.utilities(now.x))
        bracket.offer_bound(problem.dual_value(state.total, state.flow), now.pairs.y)
        self._offer_points(bracket, state)
        missing = routing.cost - routing.charge(problem.gain(state.flow)) - routing.lift(now.potential) - now.z
        arcs = Arcs(now.x, now.z, missing, -routing.inflow(now.x))
        return arcs, (float(now.x @ now.z) + state.product) / (now.x.size + now.pairs.size)

    def _offer_points(self, bracket: Bracket, state: State) -> None:
        x, z = self.iterate.x, self.iterate.z
        if self.problem.routing.A.shape[0] == 0:  # the margins are those that the pass has just seen
            cost, _ = self.problem.routing.settle(x)
            bracket.offer_value(*self.problem.best_scale(cost, state.hinge, state.lowest), x)
        else:
            bracket.offer_point(x)
        if bracket.gap < 0.1:
            bracket.offer_point(np.where(x > z, x, 0.0))

    def advance(self, arcs: Arcs, mu: float, gap: float) -> float:
        """Take one step and return its length."""
        system = System(self.problem, arcs, self.iterate.pairs, self.room, careful=self.careful)
        d = self._corrected(system, mu)
        was_careful, self.careful = self.careful, system.careful
        share = 0.97 if gap > 0.1 else 0.995  # early steps to the very boundary cost later ones
        primal, dual = min(1.0, share * d.primal), min(1.0, share * d.dual)
        if not (max(primal, dual) > SHORTEST and np.isfinite(d.x).all() and np.isfinite(d.z).all()):
            self.careful = True
            return 0.0 if was_careful else SHORTEST
        now = self.iterate
        now.pairs.step(self.moves[0], primal, dual)
        potential = now.potential + dual * d.potential
        self.iterate = Iterate(now.x + primal * d.x, now.z + dual * d.z, potential, now.pairs)
        return max(primal, dual)

    def _corrected(self, system: System, mu: float) -> Direction:
        """Return a direction with second-order and centrality corrections; the pairs' is self.moves[0]."""
        x, z, pairs = self.iterate.x, self.iterate.z, self.iterate.pairs
        d = system.direction(-x * z, pairs.aim(0.0), mu, self.moves[0])
        primal, dual = min(1.0, d.primal), min(1.0, d.dual)
        product = float((x + primal * d.x) @ (z + dual * d.z)) + pairs.product_after(self.moves[0], primal, dual)
        goal = mu * max((product / (mu * (x.size + pairs.size))) ** 3, 1e-6)
        aim = goal - x * z - d.x * d.z
        d = system.direction(aim, pairs.aim(goal, self.moves[0]), goal, self.moves[0])
        for _ in range(CORRECTIONS if self.problem.graph.n_nodes < MANY else MORE_CORRECTIONS):
            primal, dual = min(1.0, 1.3 * d.primal + 0.1), min(1.0, 1.3 * d.dual + 0.1)
            aim = aim + correction((x + primal * d.x) * (z + dual * d.z), goal)
            flow = pairs.recentre(goal, self.moves[0], primal, dual)
            other = system.direction(aim, flow, goal, self.moves[1])
            if other.reach < d.reach + 0.02:
                break
            d, self.moves = other, self.moves[::-1]
        return d
