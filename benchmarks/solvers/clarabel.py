"""Clarabel on the quadratic program of TopRanking, one slack per set.

P. J. Goulart and Y. Chen, "Clarabel: an interior-point solver for conic programs with quadratic objectives", 2024;
K. Pelckmans and J. Suykens, "TopRanking: predicting the most relevant element of a set", problem (6).
"""

import numpy as np
from scipy import sparse

from ..problem import Answer
from . import absent
from .linear_svc_pairs import written_out

EFFORTS = ({"tol_gap_rel": 1e-3}, {"tol_gap_rel": 1e-8})


def skip():
    """Return why it cannot run here, or None."""
    return absent("clarabel")


def fit(problem, effort):
    """Minimise 1/2 |w|^2 + C sum xi over 1 - xi_t - D w <= 0 and xi >= 0."""
    import clarabel  # noqa: PLC0415 (optional)

    better, worse = written_out(problem.y, problem.qid)
    D, task = problem.X[better] - problem.X[worse], problem.qid[better]
    (n, d), n_sets = D.shape, int(problem.qid.max()) + 1
    S = sparse.csc_array((np.ones(n), (np.arange(n), task)), shape=(n, n_sets))
    A = sparse.block_array([[-sparse.csc_array(D), -S], [None, -sparse.eye_array(n_sets)]], format="csc")
    P = sparse.diags_array(np.concatenate([np.ones(d), np.zeros(n_sets)]), format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = effort["tol_gap_rel"]
    cost = np.concatenate([np.zeros(d), np.full(n_sets, problem.C)])
    right = np.concatenate([-np.ones(n), np.zeros(n_sets)])
    cones = [clarabel.NonnegativeConeT(n + n_sets)]
    P, A = sparse.csc_matrix(P), sparse.csc_matrix(A)
    return Answer(np.array(clarabel.DefaultSolver(P, cost, A, right, cones, settings).solve().x[:d]))
