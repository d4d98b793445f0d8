"""Ranking Vector Machine and 1-norm ranking SVM: few vectors, chosen by a linear program."""

from __future__ import annotations

import warnings

import numpy as np

from . import _core
from ._core.maps import landmarks
from ._estimator import check_choice
from ._ranker import Ranker
from ._task import Task
from ._threads import one_thread
from .exceptions import ConeWarning

__all__ = ["RankingVectorMachine"]


class RankingVectorMachine(Ranker):
    """Rank with few vectors: a 1-norm instead of a margin in feature space.

    ``vectors="points"`` minimises ``sum_i |alpha_i| + C * sum xi_uv`` with ``u(x) = sum_i alpha_i k(x_i, x)`` and
    ``u(x_u) - u(x_v) >= 1 - xi_uv`` for y_u > y_v: Yu & Kim (102)-(104). ``vectors="pairs"`` puts the coefficients on
    pairs, ``u(x) = sum_ij alpha_ij (k(x_i, x) - k(x_j, x))``: (94)-(96), with the four-term kernel in place of the
    printed kernel of differences.

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
    vectors : {"points", "pairs"}, default="points"
        Where the coefficients sit.
    positive : bool, default=False
        The tutorial's ``alpha >= 0``. It restricts the model to a cone that moves with the origin of the data, so
        that a linear kernel may be unable to express the order at all; the signed machine has no such limit.
    tol, max_iter, verbose, C_scale, memory_limit
        As in :class:`RankingSVM`.
    n_components : int, default=None
        With ``vectors="points"``: only this many items, chosen to span the others best, may become vectors.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_support,)
        Coefficients over the support items, whatever `vectors` is.
    pairs_, pair_coef_ : ndarray of shape (n_pairs, 2) and (n_pairs,)
        With ``vectors="pairs"``: positions (preferred, other) of the pairs, and their coefficients.
    coef_, support_, support_vectors_, objective_, duality_gap_, n_iter_, solver_, converged_
        As in :class:`RankingSVM`; `objective_` is the 1-norm plus C times the slacks.

    Notes
    -----
    Any kernel is allowed, symmetric or not positive semi-definite ones too. Where several models are optimal
    (duplicate items), the one of least norm is returned, so that duplicates get equal coefficients.

    References
    ----------
    H. Yu and S. Kim, "SVM tutorial: classification, regression, and ranking", section 5.

    Examples
    --------
    >>> from widemargin import RankingVectorMachine
    >>> model = RankingVectorMachine(kernel="rbf", gamma=0.5).fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    >>> model.rank([[0.2], [1.8]])
    array([2, 1])
    """

    def __init__(
        self,
        C=1.0,
        *,
        kernel="linear",
        gamma="scale",
        degree=3,
        coef0=0.0,
        vectors="points",
        positive=False,
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
        self.vectors = vectors
        self.positive = positive
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.C_scale = C_scale
        self.memory_limit = memory_limit
        self.n_components = n_components

    def fit(self, X, y, *, qid=None, sample_weight=None):
        """Learn from graded items.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Items.
        y : array-like of shape (n_samples,)
            Grades or real values; larger is preferred.
        qid : array-like of shape (n_samples,) or str, default=None
            Query of each row. None: one query.
        sample_weight : array-like of shape (n_samples,), default=None
            A pair's slack weighs the product of its items' weights.

        Returns
        -------
        self
        """
        with one_thread():
            return self._learn(self._pose(X, y, qid=qid, sample_weight=sample_weight))

    def _pose(self, X, y, *, qid=None, sample_weight=None):
        self._check_parameters()
        check_choice("vectors", self.vectors, ("points", "pairs"))
        if self.n_components is not None and self.vectors == "pairs":
            raise ValueError(f"n_components={self.n_components!r} limits the points; with vectors='pairs' pass None.")
        if not isinstance(self.positive, (bool, np.bool_)):
            raise TypeError(f"positive={self.positive!r} is a {type(self.positive).__name__}; expected True or False.")
        self._warn_on_cone()
        X, levels, kept = self._check_graded(X, y, qid, sample_weight)
        return Task(X, kept, self._candidates(X), levels)

    def _learn(self, task):
        solution = self._solve_levels_one_norm(task)
        self._keep_solution("linear_program", [solution])
        if self._is_linear:
            self.coef_ = np.asarray(task.X.T @ solution.weights, dtype=float)
        self._keep_support(task, task.X, solution.weights[:, None], task.kept, single=True)
        self._warn_if_collapsed("C is too small for any vector to pay, or the grades contradict each other; raise C.")
        return self

    def _candidates(self, X):
        """Return the kernel matrix; columns of items that may not become vectors are zero, which never pays."""
        self._resolve_kernel(X)
        K = self._make_gram(X)
        if self.n_components is None or self.n_components >= X.shape[0]:
            return K
        chosen = landmarks(K, self.n_components)
        return np.where(np.isin(np.arange(X.shape[0]), chosen), K, 0.0)

    def _solve_levels_one_norm(self, task):
        """Solve the linear program of the chosen machine, with what the last C on a path has left in `task.rest`."""
        C, K, levels = self._scaled_C(task.comparisons.total_weight), task.map_, task.comparisons
        if "path" not in task.rest:
            kind = _core.one_norm.VectorPath if self.vectors == "points" else _core.pairs_machine.PairPath
            task.rest["path"] = kind(K, levels, positive=bool(self.positive), is_path=task.is_path)
        found = task.rest["path"].solve(C, self.tol, self.max_iter)
        if self.vectors == "points":
            return found
        solution, pairs, self.pair_coef_ = found
        self.pairs_ = task.kept[pairs]
        return solution

    def _warn_on_cone(self):
        if self.positive and self.vectors == "points" and self._is_linear:
            warnings.warn(
                "positive=True with a linear kernel can only express weights inside the cone of the items, which moves "
                "with the origin of the data; use positive=False, vectors='pairs' or another kernel unless that is "
                "what you want.",
                ConeWarning,
                stacklevel=4,
            )
