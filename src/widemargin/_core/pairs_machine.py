"""The 1-norm ranking SVM, 004 (94)-(96): a coefficient for every pair, solved in as many variables as items.

    min sum_ij |alpha_ij| + C sum_uv c_uv max(0, 1 - (s_u - s_v)),   s = K b,   b = B'alpha   (positive: alpha >= 0)

The printed K(x_i - x_j, x_u - x_v) stands for the kernel of feature differences,
K_iu - K_iv - K_ju + K_jv, which is what s_u - s_v contains. Utilities depend on alpha through b alone, and the
cheapest alpha for a b is a flow along the levels (see `one_norm.chains`); weights of pairs only change their caps.
"""

from __future__ import annotations

import numpy as np

from .comparisons import IntArray, Levels
from .one_norm import MachinePath, chains, machine, pair_graph
from .one_norm.pair_graph import PairGraph
from .solution import Array, Solution, Status


def ranking_pairs(
    K: Array, levels: Levels, C: float, *, positive: bool, tol: float, max_iter: int
) -> tuple[Solution, IntArray, Array]:
    """Fit one coefficient per pair; parameters as in `ranking_vectors`.

    Returns
    -------
    solution : Solution
        Its weights are b = B'alpha over the items; the objective counts |alpha|.
    pairs : array of shape (k, 2)
        The pairs that are used: better item, worse item. Less than one per nonzero of b.
    alpha : array of shape (k,)
        Their coefficients.
    """
    return PairPath(K, levels, positive=positive, is_path=False).solve(C, tol, max_iter)


class PairPath:
    """One coefficient per pair, for one C after the other."""

    def __init__(self, K: Array, levels: Levels, *, positive: bool, is_path: bool = True) -> None:
        self.graph, self.n_items = pair_graph.from_levels(levels), levels.n_items
        if self.graph.n_edges > 0:
            self.routing = chains.from_graph(self.graph, positive=positive)
            posed = machine.pose(self.graph, _doubly_grounded(K, self.graph), self.routing)
            self.answers = MachinePath(posed, is_path=is_path)

    def solve(self, C: float, tol: float, max_iter: int) -> tuple[Solution, IntArray, Array]:
        """Return what `ranking_pairs` returns."""
        coefficients = np.zeros(self.n_items)
        if self.graph.n_edges == 0:
            answer = machine.Answer(np.zeros(0), 0.0, 0.0, 1, Status.CONVERGED)
            return answer.solution(coefficients), np.zeros((0, 2), dtype=np.int64), np.zeros(0)
        answer = self.answers.solve(C, tol, max_iter)
        pairs, alpha = self.routing.pairs(answer.x)
        coefficients[self.graph.item] = self.routing.settle(answer.x)[1]
        return answer.solution(coefficients), self.graph.item[pairs], alpha


def _doubly_grounded(K: Array, graph: PairGraph) -> Array:
    """Return K at the nodes, rows and columns measured from the last item of their query.

    Columns too, because b sums to 0 in every query.
    """
    grounded = graph.grounded(K)[:, graph.item]
    for query in graph.queries:
        grounded[:, query.nodes] -= grounded[:, [query.ground]]
    return grounded
