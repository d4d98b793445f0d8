"""The last resort of the 1-norm machines: small linear programs around the optimal face, for HiGHS.

`improve` refines a bracket around an interior point. Pairs that are safely satisfied or safely violated keep their
linear piece (0, or the whole of 1 - margin); the others and the arcs in use make a small program. Each piece lies
below the hinge, so nothing is cut off; pairs that end on the wrong side and arcs that turn out to pay are added.
Both of its answers are judged by the bracket: HiGHS is not asked to be right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import OptimizeResult, linprog

from ..solution import Array
from .problem import Bracket, Iterate, Problem

ROUNDS = 8
LARGEST = 200_000  # entries of the dense part
# HiGHS can cycle for minutes on kernels that are nearly singular: it is given two seconds per round
LIMITS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "time_limit": 2.0}


BoolArray: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class _Piece:
    """Which arcs may carry flow, which pairs may be on either side, which are safely violated."""

    arcs: BoolArray
    undecided: BoolArray
    violated: BoolArray

    @property
    def size(self) -> int:
        """Return the number of entries of the dense part."""
        return int(self.arcs.sum()) * int(self.undecided.sum())


def improve(bracket: Bracket, iterate: Iterate, tol: float) -> None:
    """Offer the bracket the solutions of small programs around the iterate, until tol or no progress."""
    piece = _piece_around(iterate)
    reach = 4.0 * float(iterate.x.max())
    for _ in range(ROUNDS):
        if not 0 < piece.size <= LARGEST:
            return
        result = _solve_piece(bracket.problem, piece, reach)
        if result.x is None:
            return
        x, y, potential = _unpack(bracket.problem, piece, result)
        bracket.offer_point(x, clean=True)
        bracket.offer_multipliers(y)
        grown = _grown(bracket.problem, piece, x, y, potential)
        if bracket.gap <= tol or grown.size == piece.size:
            return
        piece = grown


def _piece_around(iterate: Iterate) -> _Piece:
    """Read the sides off an interior point, leaving open what it has not separated by three decades."""
    pairs, arcs = iterate.pairs, iterate.x > 1e-3 * iterate.z
    if pairs.cap is None:
        share = pairs.y / pairs.y.max()
        undecided = (pairs.t < 0.05) & (pairs.t < 1e3 * share)
        return _Piece(arcs, undecided, np.zeros_like(undecided))
    violated = pairs.xi > pairs.room / pairs.cap
    distance = np.where(violated, pairs.xi, pairs.t)
    share = np.where(violated, pairs.room, pairs.y) / pairs.cap
    undecided = (distance < 0.05) & (distance < 1e3 * share)
    return _Piece(arcs, undecided, violated & ~undecided)


def _solve_piece(problem: Problem, piece: _Piece, reach: float) -> OptimizeResult:
    """Minimise over arcs in [0, reach] and the slacks of the undecided pairs."""
    graph, routing, cap = problem.graph, problem.routing, problem.cap
    reached = problem.K @ routing.U[:, piece.arcs]
    margin = reached[graph.better[piece.undecided]] - reached[graph.worse[piece.undecided]]
    cost = routing.cost[piece.arcs]
    hubs = routing.A[:, piece.arcs]
    bounds = np.tile([0.0, reach], (cost.size, 1))
    if cap is not None:
        flow = graph.imbalance(np.where(piece.violated, cap, 0.0))
        n = len(margin)
        # in units of the largest cap, so that a huge C leaves HiGHS with ordinary numbers
        cost = np.concatenate([cost - reached.T @ flow, cap[piece.undecided]]) / _unit(cap)
        margin = sparse.hstack([sparse.csr_array(margin), sparse.eye_array(n)], format="csr")
        hubs = sparse.hstack([hubs, sparse.csr_array((hubs.shape[0], n))], format="csr")
        bounds = np.vstack([bounds, np.tile([0.0, np.inf], (n, 1))])
    equations = {"A_eq": hubs, "b_eq": np.zeros(hubs.shape[0])} if hubs.shape[0] else {}
    ones = np.ones(margin.shape[0])
    return linprog(cost, A_ub=-margin, b_ub=-ones, bounds=bounds, method="highs", options=LIMITS, **equations)


def _unit(cap: Array | None) -> float:
    return 1.0 if cap is None else max(1.0, float(cap.max()))


def _unpack(problem: Problem, piece: _Piece, result: OptimizeResult) -> tuple[Array, Array, Array]:
    """Return the arcs, the multipliers of all pairs, and the potentials of the hubs."""
    unit = _unit(problem.cap)
    x, y = np.zeros(piece.arcs.size), np.zeros(piece.undecided.size)
    x[piece.arcs] = np.maximum(result.x[: int(piece.arcs.sum())], 0.0)
    y[piece.undecided] = -unit * result.ineqlin.marginals
    if problem.cap is not None:
        y[piece.violated] = problem.cap[piece.violated]
    has_hubs = problem.routing.A.shape[0] > 0
    return x, y, unit * result.eqlin.marginals if has_hubs else np.zeros(0)


def _grown(problem: Problem, piece: _Piece, x: Array, y: Array, potential: Array) -> _Piece:
    """Add the pairs that ended on the wrong side and the arcs that would pay."""
    graph, routing = problem.graph, problem.routing
    margin = graph.difference(problem.utilities(x))
    crossed = ~piece.undecided & np.where(piece.violated, margin > 1.0 + 1e-9, margin < 1.0 - 1e-9)
    gain = routing.charge(problem.gain(graph.imbalance(y))) + routing.lift(potential)
    paying = gain > routing.cost + 1e-9
    return _Piece(piece.arcs | paying, piece.undecided | crossed, piece.violated & ~crossed)
