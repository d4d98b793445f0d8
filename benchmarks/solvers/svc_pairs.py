"""scikit-learn's SVC on the precomputed kernel of pairs, a tie as two rows.

D. Venuto, T. D. Hocking and others, "Support vector comparison machines", section 4, whose R package does the same;
C.-C. Chang and C.-J. Lin, "LIBSVM: a library for support vector machines", 2011.
"""

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from ..problem import Answer

EFFORTS = ({"tol": 1.0}, {"tol": 3e-1}, {"tol": 1e-1}, {"tol": 1e-2}, {"tol": 1e-3}, {"tol": 1e-5})


def skip():
    """Return None: scikit-learn is always there."""


def needs(problem):
    """Return the bytes of the kernel of pairs and of its parts."""
    return 8.0 * 3.0 * (1.5 * len(problem.y)) ** 2


def rows_of(problem):
    """Return first and second item of each row, and on which side of the level it belongs."""
    first, second, y = problem.index[:, 0], problem.index[:, 1], problem.y
    better, worse = np.where(y < 0, second, first), np.where(y < 0, first, second)
    won, tied = y != 0, y == 0
    a = np.concatenate([better[won], first[tied], second[tied]])
    b = np.concatenate([worse[won], second[tied], first[tied]])
    return a, b, np.concatenate([np.ones(won.sum()), -np.ones(2 * tied.sum())])


def fit(problem, effort):
    """Compute the kernel of pairs and fit."""
    a, b, side = rows_of(problem)
    X, gamma = problem.X, problem.gamma
    G = rbf_kernel(X[a], X[a], gamma=gamma)
    G -= rbf_kernel(X[a], X[b], gamma=gamma)
    G -= rbf_kernel(X[b], X[a], gamma=gamma)
    G += rbf_kernel(X[b], X[b], gamma=gamma)
    model = SVC(C=problem.C, kernel="precomputed", cache_size=1000, **effort).fit(G, side)
    weights = np.zeros(len(X))
    np.add.at(weights, a[model.support_], model.dual_coef_[0])
    np.add.at(weights, b[model.support_], -model.dual_coef_[0])
    return Answer(weights, float(model.intercept_[0]))
