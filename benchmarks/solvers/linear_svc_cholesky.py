"""scikit-learn's LinearSVC on differences of the rows of a Cholesky factor of K.

O. Chapelle and S. S. Keerthi, "Efficient algorithms for ranking with SVMs", 2010, section 5: kernel ranking as linear
ranking; R.-E. Fan and others, "LIBLINEAR", 2008.
"""

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.metrics.pairwise import rbf_kernel

from ..problem import Answer
from .linear_svc_pairs import EFFORTS, on_differences, skip, written_out

__all__ = ["EFFORTS", "fit", "needs", "skip"]


def needs(problem):
    """Return the bytes of the differences."""
    return 8.0 * len(problem.y) ** 3 / 2


def fit(problem, effort):
    """Factorise K, write the pairs out and fit."""
    K = rbf_kernel(problem.X, gamma=problem.gamma)
    L = np.linalg.cholesky(K + 1e-10 * np.eye(len(K)))
    better, worse = written_out(problem.y, problem.queries)
    w = on_differences(L[better] - L[worse], problem, effort)
    return Answer(solve_triangular(L.T, w))
