"""From a nearly optimal interior point to the optimal face: exact zeros and a unique answer.

At the end an interior point knows which arcs carry flow, which pairs are violated (y = cap), satisfied (y = 0), or
tied (margin exactly 1). On the face those choices describe, A x = 0 and B_T K U x = 1 are linear equations, and the
objective is constant. Their minimum-norm solution is the answer: it treats equal items equally and does not depend
on the order of the data. If that point leaves the face (a wrong sign, a margin on the other side), the sets are
exchanged a few times; if that fails too, the solution nearest to the iterate is tried. A multiplier correction of
minimum norm makes the lower bound exact in the same way. Whatever does not improve the bracket is refused.

The tied pairs enter through the Laplacian of their own graph, R R' = B_T'B_T: a level against a level gives as many
ties as it has pairs, but never more equations than nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import solve_triangular, svd
from scipy.sparse import csgraph

from ..comparisons import IntArray
from ..solution import Array
from .pair_graph import cholesky, sums
from .problem import Bracket, Iterate, Problem

BoolArray = NDArray[np.bool_]

EXCHANGES = 5
RANK = 1e-11  # singular values below this share of the largest are zero
EXACT = 1e-10  # a jump that ends here needs no second one


@dataclass(frozen=True)
class Face:
    """Which arcs carry flow, which pairs are tied, which are violated."""

    arcs: BoolArray
    tied: BoolArray
    violated: BoolArray


def jump(bracket: Bracket, iterate: Iterate) -> bool:
    """Offer the bracket exact points of the face that the iterate points at; say whether it has one and is exact."""
    face = _classify(iterate)
    try:
        equations = _Equations(bracket.problem, face)
        _offer_multipliers(bracket, equations, iterate)
        taken = _offer_least(bracket, face, equations)
        if not taken:
            taken = bracket.offer_point(np.maximum(equations.point(iterate.x), 0.0), clean=True)
    except np.linalg.LinAlgError:  # the decomposition did not converge: no jump
        return False
    return taken and bracket.gap <= EXACT


def _offer_multipliers(bracket: Bracket, equations: _Equations, iterate: Iterate) -> None:
    """Offer multipliers that make the face's arcs worth their cost, then a little less than rounding adds.

    Multipliers near a cap of 1e8 carry errors of 1e-8, and the arcs' worth of 1 with them; giving up that share of
    the arcs' cost is cheap where caps are large, scaling all multipliers down is not.
    """
    worth = 1.0
    for _ in range(4):
        excess = bracket.offer_multipliers(equations.multipliers(iterate, worth=worth))
        if not 0.0 < excess < 0.1 or bracket.gap <= EXACT:
            return
        worth -= 2.0 * excess


def _offer_least(bracket: Bracket, face: Face, equations: _Equations) -> bool:
    """Offer the minimum-norm point of the face, after exchanges where it is not one; say whether it was taken."""
    for _ in range(EXCHANGES):
        x = equations.point(np.zeros(face.arcs.size))
        if bracket.offer_point(np.maximum(x, 0.0), clean=True):
            return True
        exchanged = _exchange(bracket.problem, face, x)
        if exchanged is None:
            return False
        face = exchanged
        equations = _Equations(bracket.problem, face)
    return False


def _classify(iterate: Iterate) -> Face:
    """Read the face off an interior point: of two complementary numbers the larger is the one that stays."""
    pairs = iterate.pairs
    if pairs.cap is None:
        violated = np.zeros(pairs.y.size, dtype=bool)
        tied = pairs.t <= pairs.y / pairs.y.max()
    else:
        violated = pairs.xi > pairs.room / pairs.cap
        tied = ~violated & (pairs.t <= pairs.y / pairs.cap)
    return Face(iterate.x > iterate.z, tied, violated)


def _exchange(problem: Problem, face: Face, x: Array) -> Face | None:
    """Return the face after dropping arcs of the wrong sign and tying pairs that changed sides."""
    margin = problem.graph.difference(problem.utilities(x))
    slack = 1e-9 * max(1.0, 1e-3 * float(np.abs(margin).max()))
    satisfied = ~face.tied & ~face.violated
    crossed = (satisfied & (margin < 1.0 - slack)) | (face.violated & (margin > 1.0 + slack))
    if not crossed.any() and not (x < 0.0).any():
        return None
    return Face(face.arcs & (x >= 0.0), face.tied | crossed, face.violated & ~crossed)


class _Equations:
    """A x = 0 and R'(K U x) = R'heights on the arcs of a face, decomposed once for points and multipliers."""

    def __init__(self, problem: Problem, face: Face) -> None:
        self.problem = problem
        self.arcs = np.flatnonzero(face.arcs)
        self.tied = face.tied
        self.violated = face.violated
        self.better, self.worse = problem.graph.better[face.tied], problem.graph.worse[face.tied]
        self.R, self.nodes, bases = _forest_factor(self.better, self.worse, problem.graph.n_nodes)
        reach = (problem.K[self.nodes] - problem.K[bases]) @ problem.routing.U[:, self.arcs]
        self.n_hubs = problem.routing.A.shape[0]
        M = np.vstack([problem.routing.A[:, self.arcs].toarray(), self.R.T @ reach])
        left, size, right = svd(M, full_matrices=False) if M.size else (M, np.zeros(0), M)
        kept = size > RANK * size.max(initial=0.0)
        self.left, self.size, self.right = left[:, kept], size[kept], right[kept]

    def point(self, near: Array) -> Array:
        """Return the solution nearest to `near` (on the arcs of the face), refined against rounding."""
        problem = self.problem
        x = np.zeros_like(near)
        x[self.arcs] = near[self.arcs]
        for _ in range(3 if self.size.size else 0):
            s = problem.utilities(x)
            lack = self._imbalance(1.0 - (s[self.better] - s[self.worse]))
            rhs = np.concatenate([-problem.routing.inflow(x), self._solve(lack[self.nodes])])
            x[self.arcs] += self.right.T @ ((self.left.T @ rhs) / self.size)
        return x

    def multipliers(self, iterate: Iterate, worth: float) -> Array:
        """Return the multipliers nearest to the iterate's that make the face's arcs worth this share of their cost."""
        problem, routing, cap = self.problem, self.problem.routing, self.problem.cap
        y = np.where(self.tied, iterate.pairs.y, 0.0)
        if cap is not None:
            y[self.violated] = cap[self.violated]
        potential = iterate.potential.copy()
        for _ in range(3 if self.size.size else 0):
            gain = problem.gain(problem.graph.imbalance(y))
            lack = (worth * routing.cost - routing.charge(gain) - routing.lift(potential))[self.arcs]
            change = self.left @ ((self.right @ lack) / self.size)
            potential += change[: self.n_hubs]
            height = np.zeros(problem.graph.n_nodes)
            height[self.nodes] = self._solve(change[self.n_hubs :], trans="T")
            y[self.tied] += height[self.better] - height[self.worse]
        return y

    def _imbalance(self, y: Array) -> Array:
        n = self.problem.graph.n_nodes
        return sums(self.better, y, n) - sums(self.worse, y, n)

    def _solve(self, v: Array, trans: str = "N") -> Array:
        return solve_triangular(self.R, v, lower=True, trans=trans) if v.size else v


def _forest_factor(better: IntArray, worse: IntArray, n: int) -> tuple[Array, IntArray, IntArray]:
    """Return R with R R' = B_T'B_T without one base node per component, the other nodes, and their bases."""
    edges = sparse.csr_array((np.ones(better.size), (better, worse)), shape=(n, n))
    _, label = csgraph.connected_components(edges, directed=False)
    base = np.zeros(n, dtype=np.int64)
    base[label] = np.arange(n)  # the last node of each component wins
    base = base[label]
    nodes = np.flatnonzero(base != np.arange(n))
    place = np.full(n, -1)
    place[nodes] = np.arange(nodes.size)
    inner = (place[better] >= 0) & (place[worse] >= 0)
    L = np.zeros((nodes.size, nodes.size), order="F")
    L[place[worse[inner]], place[better[inner]]] = -1.0  # worse comes later: the lower triangle
    degree = (np.bincount(better, minlength=n) + np.bincount(worse, minlength=n))[nodes].astype(float)
    return np.tril(cholesky(partial(_raised, L, degree))) if nodes.size else L, nodes, base[nodes]


def _raised(L: Array, degree: Array, jitter: float) -> Array:
    out = L.copy(order="F")
    np.fill_diagonal(out, degree * (1.0 + jitter))
    return out
