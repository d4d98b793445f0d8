"""Support vector regression: a tube around the targets."""

from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin

from ._core import comparisons
from ._estimator import PreferenceEstimator, check_number
from ._task import Task
from ._threads import one_thread

__all__ = ["MarginRegressor"]


class MarginRegressor(RegressorMixin, PreferenceEstimator):
    """Learn real targets to within a tube of width epsilon: Yu & Kim (57)-(82).

    Minimises ``1/2 ||w||^2 + C * sum_i c_i (xi_i + xi'_i)`` with ``-epsilon - xi'_i <= y_i - u(x_i) - b <= epsilon
    + xi_i``. The tutorial prints squared slacks in (60) and derives the dual of linear ones: both are here, by name.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the errors; ``inf`` asks for a hard margin.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, callable or kernel object, default="linear"
        Kernel over items.
    gamma : {"scale", "auto"} or float, default="scale"
        Of "rbf", "poly" and "sigmoid".
    degree : int, default=3
        Of "poly".
    coef0 : float, default=0.0
        Of "poly" and "sigmoid".
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        ``xi`` or ``xi^2``.
    epsilon : float, default=0.1
        Half-width of the tube in which errors cost nothing.
    tol, max_iter, verbose, C_scale, memory_limit, n_components
        As in :class:`RankingSVM`.

    Attributes
    ----------
    intercept_ : float
        The middle of its optimal interval.
    coef_, support_, support_vectors_, dual_coef_, objective_, duality_gap_, n_iter_, solver_, converged_
        As in :class:`RankingSVM`.

    References
    ----------
    H. Yu and S. Kim, "SVM tutorial: classification, regression, and ranking", section 3.

    Examples
    --------
    >>> from widemargin import MarginRegressor
    >>> model = MarginRegressor(C=float("inf"), epsilon=0.5).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([0.5]), 0.5)
    """

    def __init__(
        self,
        C=1.0,
        *,
        kernel="linear",
        gamma="scale",
        degree=3,
        coef0=0.0,
        loss="epsilon_insensitive",
        epsilon=0.1,
        tol=1e-4,
        max_iter=1000,
        verbose=False,
        C_scale="sum",
        memory_limit=None,
        n_components=None,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.epsilon = epsilon
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.C_scale = C_scale
        self.memory_limit = memory_limit
        self.n_components = n_components

    def fit(self, X, y, *, sample_weight=None):
        """Learn from real targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Items.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each item's slacks.

        Returns
        -------
        self
        """
        with one_thread():
            return self._learn(self._pose(X, y, sample_weight=sample_weight))

    def _pose(self, X, y, *, sample_weight=None):
        self._check_parameters()
        self._check_loss(("epsilon_insensitive", "squared_epsilon_insensitive"))
        check_number("epsilon", self.epsilon, at_least=0)
        X, y, weight, _, kept = self._check_samples(X, y, sample_weight, y_numeric=True)
        items, kept, which = self._items(X, kept)
        y = np.asarray(y, dtype=float)
        rows = comparisons.from_targets(y, float(self.epsilon), weight, which, items.shape[0])
        return Task(items, kept, self._make_map(items, given=X), rows)

    def _learn(self, task):
        solver, solution = self._solve_rows(task, task.comparisons)
        self._keep_solution(solver, [solution])
        self._keep_model(task, [solution])
        self.intercept_ = float(solution.levels[0])
        return self

    def predict(self, X):
        """Return utility plus intercept.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Items.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        u = self.utility(X)
        return u + self.intercept_
