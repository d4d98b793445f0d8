"""scikit-learn's LinearSVC on written-out differences.

R. Herbrich, T. Graepel and K. Obermayer, "Support vector learning for ordinal regression", 1999, as everybody does it;
R.-E. Fan and others, "LIBLINEAR: a library for large linear classification", 2008. The labels alternate: LIBLINEAR
asks for two classes, and a difference turned round is the same constraint.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from ..problem import Answer

EFFORTS = ({"tol": 1.0}, {"tol": 1e-1}, {"tol": 1e-2}, {"tol": 1e-3}, {"tol": 1e-5, "max_iter": 20_000})


def skip():
    """Return None: scikit-learn is always there."""


def needs(problem):
    """Return the bytes of the differences."""
    sizes = np.unique(problem.queries, return_counts=True)[1].astype(float)
    return 8.0 * problem.X.shape[1] * float(np.sum(sizes * (sizes - 1) / 2))


def written_out(y, qid):
    """Return all pairs with y_i > y_j of one query."""
    better, worse = [], []
    for rows in np.split(np.argsort(qid, kind="stable"), np.cumsum(np.unique(qid, return_counts=True)[1])[:-1]):
        i, j = np.nonzero(y[rows][:, None] > y[rows])
        better.append(rows[i])
        worse.append(rows[j])
    return np.concatenate(better), np.concatenate(worse)


def on_differences(D, problem, effort):
    """Return the weights that LinearSVC gives the rows of D, all of which should be positive."""
    sign = np.where(np.arange(len(D)) % 2, 1.0, -1.0)
    D = np.multiply(D, sign[:, None], out=D)
    model = LinearSVC(C=problem.C, loss=problem.loss, fit_intercept=False, dual=True, random_state=0, **effort)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(D, sign).coef_[0]


def fit(problem, effort):
    """Write the pairs out and fit."""
    better, worse = written_out(problem.y, problem.queries)
    X = np.asarray(problem.X, dtype=float)
    return Answer(on_differences(X[better] - X[worse], problem, effort))
