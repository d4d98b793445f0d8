"""Newton's equations of the 1-norm interior point, reduced to one square system over the coefficients.

With theta = x / z, G the conductance of the routing at theta, W the pairs' weights and L = B'WB their Laplacian,

    db = h + G K'B'dy,   dy = W (rho - B K db)     =>     (I + F'K'L K F) c = F^-1 h + F'K'B'W rho,   db = F c,

where F F' = G. With R R' = L the matrix is I + T'T, T = R'K F: positive definite by construction. Its Cholesky
factor serves until refinement stops converging; from then on the triangular factor comes from a QR decomposition of
T stacked on I, which never squares the condition number and needs about twice the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import blas, lapack

from ..solution import Array
from .pair_barrier import Move, PairBarrier, Response
from .pair_graph import cholesky
from .problem import Problem

REFINEMENTS = 6


@dataclass(frozen=True)
class Arcs:
    """The arcs' side of an iterate, and what it still lacks of dual and of flow feasibility."""

    x: Array
    z: Array
    missing_cost: Array  # cost - U'g - A'potential - z
    missing_flow: Array  # -A x


@dataclass(frozen=True)
class Direction:
    """A direction for arcs and hubs, and how far the first primal and dual variables are from 0 along it."""

    x: Array
    z: Array
    potential: Array
    primal: float
    dual: float

    @property
    def reach(self) -> float:
        """Return the sum of both step lengths, full steps counting 1."""
        return min(1.0, self.primal) + min(1.0, self.dual)


@dataclass(frozen=True)
class Workspace:
    """The square matrices of a system, used again at every iterate: fresh pages cost as much as the arithmetic."""

    squares: list[Array]
    T: Array
    M: Array


def workspace(problem: Problem) -> Workspace:
    """Return room for the systems of a problem."""
    k = problem.K.shape[1]
    return Workspace(problem.graph.squares(), np.empty_like(problem.K, order="F"), np.empty((k, k), order="F"))


class System:
    """The factored equations at one iterate."""

    def __init__(self, problem: Problem, arcs: Arcs, pairs: PairBarrier, room: Workspace, *, careful: bool) -> None:
        self.problem, self.arcs, self.pairs = problem, arcs, pairs
        self.careful = careful
        self.theta = arcs.x / arcs.z
        self.metric = problem.routing.metric(self.theta, careful=careful)
        self.T = self._half_laplacian(self.metric.spread(problem.K, room.T), room.squares)
        self.factor = self._factor_by_qr() if careful else cholesky(partial(self._fill, room.M))

    def _half_laplacian(self, M: Array, squares: list[Array]) -> Array:
        """Return R'M; the ground's row of M is 0 and stays so."""
        graph = self.problem.graph
        degree = self.pairs.weigh()
        factors = graph.laplacian_factors(self.pairs.W, degree, squares, careful=self.careful)
        if len(factors) == 1:
            return blas.dtrmm(1.0, factors[0], M, lower=1, trans_a=1, overwrite_b=1)
        for query, R in zip(graph.queries, factors, strict=True):
            M[query.nodes] = blas.dtrmm(1.0, R, M[query.nodes], lower=1, trans_a=1)
        return M

    def _fill(self, M: Array, jitter: float) -> Array:
        """Write the lower triangle of I + T'T."""
        M = blas.dsyrk(1.0, self.T, trans=1, lower=1, beta=0.0, c=M, overwrite_c=1)
        np.fill_diagonal(M, (1.0 + M.diagonal()) * (1.0 + jitter))
        return M

    def _factor_by_qr(self) -> Array:
        n = self.T.shape[1]
        R, _, _, _ = lapack.dtpqrt(0, min(32, n), np.asfortranarray(np.eye(n)), self.T)
        return np.asfortranarray(R.T)

    def _solve(self, v: Array) -> Array:
        return lapack.dpotrs(self.factor, v, lower=1)[0]

    def direction(self, aim: Array, flow: Array, mu: float, move: Move) -> Direction:
        """Return the direction for these right sides and fill the pairs' `move`; `flow` is B'(W rho)."""
        arcs, routing = self.arcs, self.problem.routing
        free = (aim - arcs.x * arcs.missing_cost) / arcs.z
        lift = self.metric.hub_potentials(arcs.missing_flow - routing.inflow(free))
        free += self.theta * routing.lift(lift)
        dx, tension, potential, response = self._arcs_and_pairs(free, flow, mu, move)
        dz = arcs.missing_cost - tension - routing.lift(lift)
        primal = max(response.primal, -float((dx / arcs.x).min()))
        dual = max(response.dual, -float((dz / arcs.z).min()))
        return Direction(dx, dz, lift + potential, 1.0 / max(1e-9, primal), 1.0 / max(1e-9, dual))

    def _arcs_and_pairs(self, free: Array, flow: Array, mu: float, move: Move) -> tuple[Array, Array, Array, Response]:
        """Solve for dx, the tension of the arcs, the potentials of the hubs, and the pairs.

        W reaches 1e9 and more, so dy = W (rho - B K db) amplifies the rounding of K db until dx from dy and db
        disagree. The disagreement is measured with the dy in hand and solved for again. What is left goes into
        the products x z, never into feasibility.
        """
        problem, metric, routing = self.problem, self.metric, self.problem.routing
        rhs = metric.half_solve(routing.deliver(free)) + metric.half_transposed(problem.gain(flow))
        db = metric.half(self._solve(rhs))
        response = self.pairs.respond(problem.K @ db, move)
        last = np.inf
        for trial in range(REFINEMENTS + 1):
            tension, potential = self._tension(problem.gain(response.flow))
            dx = self._conserving(free + self.theta * tension)
            wrong = db - routing.deliver(dx)
            extra, _ = self._tension(metric.half_solve_transposed(metric.half_solve(wrong)))
            error = float(np.max(np.abs(extra) * self.arcs.x))
            stuck = trial >= 3 and error > 0.5 * last
            if error <= 1e-3 * mu or stuck or trial == REFINEMENTS:
                break
            last = error
            if trial >= 1 and not self.careful:
                self.factor, self.careful = self._factor_by_qr(), True
            change = metric.half(self._solve(-metric.half_solve(wrong)))
            db += change
            response = self.pairs.respond(problem.K @ change, move, again=True)
        return self._conserving(dx + self.theta * extra), tension, potential, response

    def _conserving(self, dx: Array) -> Array:
        """Return dx after sending away from the hubs what rounding, times a theta of 1e12, has left there."""
        routing, missing = self.problem.routing, self.arcs.missing_flow
        if missing.size == 0:
            return dx
        return dx + self.theta * routing.lift(self.metric.hub_potentials(missing - routing.inflow(dx)))

    def _tension(self, charge: Array) -> tuple[Array, Array]:
        """Return the potential difference along each arc when the items are held at `charge`, and the hubs'."""
        routing = self.problem.routing
        along = routing.charge(charge)
        potential = -self.metric.hub_potentials(routing.inflow(self.theta * along))
        return along + routing.lift(potential), potential
