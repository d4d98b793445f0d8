"""From the optimal vertex of one C to that of another, by pivots with long steps: for models of few vectors.

At a vertex k coefficients are not zero and k pairs are held at margin 1: B_T K_S a_S = 1, and every other pair is
below (its multiplier at its cap) or above (multiplier 0). The multipliers of the held pairs make the k vectors worth
their cost. Where one of them leaves its box, or another vector is worth more than its cost, the objective falls
along an edge; it is piecewise linear there, and the walk goes on past pairs that change sides and coefficients that
change signs until it would rise: a pivot moves hundreds of pairs.

A pivot (see `_walk`) costs a pass over a table of k edges and some candidates. Kernels of low rank need a few dozen
pivots from one C to the next, others hundreds: the caller sets a limit. Margins are asked a little
above 1, by another share for each pair, so that no two are met at once; the answer forgets it.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import lapack
from scipy.sparse import csgraph

from .. import _walk
from ..comparisons import IntArray
from ..solution import Array
from . import pair_barrier
from .pair_graph import sums
from .problem import Bracket, Iterate, Problem

SPREAD = 1e-6  # of the margins asked: above their rounding, below what changes an optimal basis
SLACK = 1e-9  # by which the gain of a vector may miss its cost
SURE = 1e-6  # a vertex whose other prices are that far from their bounds is the only optimum
REFINEMENTS = 2  # of a vertex's multipliers, which are small differences of large numbers
WORK = 64  # columns of an inverse that are made together: SciPy gives LAPACK room for three
REFRESH = 1500  # pivots between two inversions: as many digits as after 300, and as many pivots


class LostError(Exception):
    """The walk has met its limit, or a vertex without digits."""


class VertexWalk:
    """A vertex that moves; it starts at the zero model, optimal for small C."""

    def __init__(self, problem: Problem) -> None:
        graph = problem.graph
        self.graph, self.positive = graph, problem.routing.positive
        self.over_pairs = problem.routing.over_pairs
        self.better, self.worse = graph.better, graph.worse
        self.goal = 1.0 + SPREAD * np.random.default_rng(0).random(graph.n_edges)
        blocks = np.append(0, graph.grounds + 1)
        sizes = np.diff(blocks)
        # utilities are measured from their mean, so that the length of their change does not depend on the origin
        means = np.add.reduceat(problem.K, blocks[:-1]) / sizes[:, None]
        self.K = np.asfortranarray(problem.K - np.repeat(means, sizes, axis=0))
        pairs = blocks, graph.head, graph.reach, self.better, self.worse, graph.weight, self.goal
        self.at = _walk.Walk(self.K, *pairs, self.positive, problem.routing.over_pairs)
        self.at.pull[:] = graph.imbalance(graph.weight)
        self.C, self.fresh = 0.0, 0  # how many pivots there were when edges were computed

    @property
    def n_pivots(self) -> int:
        """Return how many pivots were taken so far."""
        return self.at.n_pivots

    def to(self, C: float, limit: int) -> None:
        """Walk to the optimal vertex for C in at most `limit` pivots; raise `LostError` else."""
        self.C = C
        end = self.at.n_pivots + limit
        while True:
            arrived = self.at.walk(C, min(self.fresh + REFRESH, end) - self.at.n_pivots)
            if arrived is None or (not arrived and self.at.n_pivots >= end):
                raise LostError
            if arrived and (self.at.blur < SLACK or self.at.n_pivots == self.fresh):  # so with all digits
                return
            self.refresh()

    def refresh(self) -> None:
        """Compute again, from the vertex's sets, what the pivots have updated."""
        self._locate()
        self._freshen()

    def _freshen(self) -> None:
        """Compute the pull from the sides, and forget the candidates."""
        at = self.at
        at.n_candidates, self.fresh = 0, at.n_pivots
        at.pull[:] = self.graph.imbalance(np.where(at.side == 1, self.graph.weight, 0.0))

    def _locate(self) -> None:
        """Compute the edges, the coefficients and the utilities from the columns in use and the held pairs."""
        at, k, m = self.at, self.at.k, len(self.K)
        vectors, held = self._in_use()
        inverse = _inverse(held)
        at.edges[:k, :m] = inverse @ vectors
        at.edges[:k, m : m + k] = inverse
        at.coefficients[:k] = self.goal[at.rows[:k]] @ inverse
        at.s[:] = at.coefficients[:k] @ vectors
        if not np.isfinite(at.s).all():
            raise LostError

    def start(self, columns: IntArray, rows: IntArray) -> None:
        """Go to the vertex where these coefficients, of items, are not zero and these pairs are held."""
        at, k = self.at, columns.size
        at.k = k
        at.columns[:k], at.minus[:k], at.rows[:k] = columns, self.K.shape[1], rows
        at.place()
        self._locate()
        at.signs[:k] = np.where(at.coefficients[:k] < 0.0, -1.0, 1.0)
        at.side[:] = np.where(self.graph.difference(at.s) < self.goal, 1, -1)
        at.side[rows] = 0
        self._freshen()

    def _in_use(self) -> tuple[Array, Array]:
        """Return what each column in use does to the utilities, one in a row, and to the margins of the held pairs."""
        at, k = self.at, self.at.k
        vectors = self.K.T[at.columns[:k]]
        if self.over_pairs:
            vectors = vectors - self.K.T[at.minus[:k]]
        return vectors, self.margins(vectors, at.rows[:k])

    def margins(self, vectors: Array, pairs: IntArray) -> Array:
        """Return what each vector of utilities, one in a row, does to the margins of these pairs."""
        out = vectors.take(self.better[pairs], axis=1)  # an index in brackets takes ten times as long
        out -= vectors.take(self.worse[pairs], axis=1)
        return out

    def prices(self) -> tuple[Array, Array, Array]:
        """Return the coefficients for margins of 1, the held pairs' multipliers, and the gain K'B'y of every vector."""
        at, k, m = self.at, self.at.k, len(self.K)
        vectors, held = self._in_use()
        inverse = at.edges[:k, m : m + k]
        y = _refined(held, inverse, at.signs[:k] - self.C * (vectors @ at.pull))
        pull = self.C * at.pull + sums(self.better[at.rows[:k]], y, m) - sums(self.worse[at.rows[:k]], y, m)
        return _refined(held.T, inverse.T, np.ones(k)), y, self.K.T @ pull

    def offer(self, bracket: Bracket) -> bool:
        """Offer the bracket the vertex for the last C and its multipliers; say whether it is the only optimum."""
        at, cap, k = self.at, bracket.problem.cap, self.at.k
        assert cap is not None
        a, y, gain = self.prices()
        rows = at.rows[:k]
        multipliers = np.where(at.side == 1, cap, 0.0)
        multipliers[rows] = np.clip(y, 0.0, cap[rows])
        bracket.offer_multipliers(multipliers)
        bracket.offer_point(bracket.problem.routing.carry(at.columns[:k], at.minus[:k], a))
        share = y / cap[rows]
        return bool(np.all((share > SURE) & (share < 1.0 - SURE))) and self._has_all(gain)

    def _has_all(self, gain: Array) -> bool:
        """Return whether nothing that is worth its cost would add to what the columns in use can reach."""
        columns, minus, n = self.at.columns[: self.at.k], self.at.minus[: self.at.k], gain.size
        size = self.graph.difference(gain) if self.over_pairs else gain
        worth = (size if self.positive else np.abs(size)) > 1.0 - SURE
        if not self.over_pairs:
            worth[columns] = False
            return not worth.any()
        # a pair is an edge between its items, and adds nothing within a component of the pairs in use
        edges = sparse.csr_array((np.ones(columns.size), (columns, minus)), shape=(n, n))
        _, label = csgraph.connected_components(edges, directed=False)
        return bool(np.all(label[self.better[worth]] == label[self.worse[worth]]))

    def iterate(self, bracket: Bracket) -> Iterate:
        """Return the bracket's vertex as an interior point shows it, with every vector that is worth its cost."""
        cap, violated = bracket.problem.cap, self.at.side == 1
        assert cap is not None
        gain = self.prices()[2]
        worth = bracket.problem.routing.charge(gain) > 1.0 - SLACK
        pairs = pair_barrier.soft(self.graph, cap, bracket.y, 0.0)
        pairs.t[:] = np.where((self.at.side == 0) | violated, 0.0, 1.0)
        pairs.xi[:] = violated
        x = bracket.x
        return Iterate(x, np.where(worth | (x > 0.0), -1.0, 1.0), np.zeros(0), pairs)


def _inverse(A: Array) -> Array:
    """Return A^-1, in half the time of NumPy's."""
    if A.size == 0:
        return A
    factor, swaps, failed = lapack.dgetrf(A.T)
    if not failed:
        factor, failed = lapack.dgetri(factor, swaps, lwork=WORK * len(A), overwrite_lu=1)
    if failed:
        raise np.linalg.LinAlgError
    return np.asarray(factor.T, dtype=float)


def _refined(A: Array, inverse: Array, b: Array) -> Array:
    """Return the solution of A x = b, to more digits than those of the inverse."""
    x = inverse @ b
    for _ in range(REFINEMENTS):
        x += inverse @ (b - A @ x)
    return np.asarray(x, dtype=float)
