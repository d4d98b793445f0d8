"""SVMcompare: learn from pairs, some of which show no difference."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from . import _core
from ._core import comparisons, rules
from ._core.solution import Status
from ._estimator import LOSSES, PreferenceEstimator, check_choice, check_weight
from ._queries import query_codes
from ._task import Task
from ._threads import one_thread
from .exceptions import NoComparisonsError
from .pairs import as_pairs

__all__ = ["ComparisonSVM"]


class ComparisonSVM(ClassifierMixin, PreferenceEstimator):
    """Learn a utility from pairs labelled +1 (first preferred), 0 (no difference) or -1.

    ``ties="margin"`` separates significant from insignificant differences, Venuto & Hocking (8)-(9), (15): with
    ``s = u(better) - u(worse)`` it minimises ``1/2 ||w||^2 + C * sum c xi`` over ``beta + s >= 1 - xi`` for pairs with
    a winner and ``-(beta + s), -(beta - s) >= 1 - xi`` for ties, and predicts 0 iff ``|s| <= max(-beta, 0)``.
    ``"threshold"`` learns from the winners alone, (3), and then takes the exact best threshold, (6).
    ``"both_ways"`` enters each pair as two inequalities, ties in both directions (rank2 in Table 2).

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
    loss : {"hinge", "squared_hinge"}, default="hinge"
        ``xi`` or ``xi^2``.
    ties : {"margin", "threshold", "both_ways"}, default="margin"
        What ties say about the utility.
    formulation : {"qp", "lp"}, default="qp"
        "lp" is the maximum-margin linear program (7): separable data with ties, linear kernel, no slacks.
    class_weight : dict with keys -1, 0, 1, or "balanced", default=None
        "balanced" gives both sides of (8) the same total weight: rows / (2 * rows of the side); a tie is two rows.
    tol, max_iter, verbose, C_scale, memory_limit, n_components
        As in :class:`RankingSVM`.

    Attributes
    ----------
    tie_width_ : float
        Differences of utility up to this are ties.
    intercept_ : float
        beta of (9); minus the tie width for the other formulations.
    margin_ : float
        mu of (7), with ``formulation="lp"``.
    classes_ : ndarray
        [-1, 0, 1].
    coef_, support_, support_vectors_, dual_coef_, objective_, duality_gap_, n_iter_, solver_, converged_
        As in :class:`RankingSVM`, over the items; for an array (n, 2, p) these are its 2n rows in order.

    Notes
    -----
    In the paper +1 means that the *second* item is better; here it is the first. The kernel is over items.

    References
    ----------
    D. Venuto, T. D. Hocking and others, "Support vector comparison machines".

    Examples
    --------
    >>> from widemargin import ComparisonSVM, Pairs
    >>> pairs = Pairs([[0.0], [0.1], [2.0], [4.0]], [(2, 0), (0, 1), (3, 2), (1, 3)])
    >>> model = ComparisonSVM(C=10).fit(pairs, [1, 0, 1, -1])
    >>> model.predict(Pairs([[0.0], [0.2], [9.0]], [(0, 1), (2, 0)]))
    array([0, 1])
    """

    def __init__(
        self,
        C=1.0,
        *,
        kernel="linear",
        gamma="scale",
        degree=3,
        coef0=0.0,
        loss="hinge",
        ties="margin",
        formulation="qp",
        class_weight=None,
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
        self.ties = ties
        self.formulation = formulation
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.C_scale = C_scale
        self.memory_limit = memory_limit
        self.n_components = n_components

    def fit(self, X, y=None, *, sample_weight=None):
        """Learn from labelled pairs.

        Parameters
        ----------
        X : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs of items.
        y : array-like of shape (n_pairs,), default=None
            +1, 0 or -1; None: the first item of every pair won.
        sample_weight : array-like of shape (n_pairs,), default=None
            Weight of each pair.

        Returns
        -------
        self
        """
        with one_thread():
            return self._learn(self._pose(X, y, sample_weight=sample_weight))

    def _pose(self, X, y=None, *, sample_weight=None):
        self._check_parameters()
        self._check_loss(("hinge", "squared_hinge"))
        check_choice("ties", self.ties, ("margin", "threshold", "both_ways"))
        check_choice("formulation", self.formulation, ("qp", "lp"))
        items, index, y, weight = self._check_comparisons(X, y, sample_weight)
        self.classes_ = np.array([-1, 0, 1])
        cost = weight * self._class_weights(y)
        few, kept, which = self._items(items, np.arange(items.shape[0]))
        index = which[index]
        rows = self._rows(index, y, cost, few.shape[0]) if self.formulation == "qp" else None
        rest = {"index": index, "y": y, "weight": weight}
        return Task(few, kept, self._make_map(few, given=items), rows, rest)

    def _learn(self, task):
        if self.formulation == "lp":
            return self._learn_lp(task)
        solver, solution = self._solve_rows(task, task.comparisons)
        self._keep_solution(solver, [solution])
        self._keep_model(task, [solution])
        self._keep_tie_width(task.map_, solution, **task.rest)
        self._warn_if_collapsed(_collapse_advice(task.rest["y"]))
        return self

    def _rows(self, index, y, weight, n_items):
        """Return the rows of the chosen treatment of ties."""
        first, second = index[:, 0], index[:, 1]
        if self.ties == "margin":
            return comparisons.from_ties_as_margin(first, second, y, weight, n_items)
        if self.ties == "both_ways":
            closed = not (LOSSES[self.loss].squared or np.isinf(self.C))
            return comparisons.from_ties_both_ways(first, second, y, weight, n_items, closed_form=closed)
        won = y != 0
        if not np.any(won):
            raise NoComparisonsError(
                "y has only ties, one class, so ties='threshold' has nothing to order; give pairs with a winner."
            )
        better, worse = np.where(y < 0, second, first), np.where(y < 0, first, second)
        return comparisons.from_pairs(better[won], worse[won], weight[won], n_items)

    def _class_weights(self, y):
        """Return the class weight of each pair; "balanced" counts the rows of the flipped problem (8)."""
        if self.class_weight is None:
            return np.ones(y.size)
        if isinstance(self.class_weight, str):
            check_choice("class_weight", self.class_weight, ("balanced",))
            ties = max(2 * int(np.sum(y == 0)), 1)
            wins = max(int(np.sum(y != 0)), 1)
            total = 2 * int(np.sum(y == 0)) + int(np.sum(y != 0))
            return np.where(y == 0, total / (2.0 * ties), total / (2.0 * wins))
        unknown = set(self.class_weight) - {-1, 0, 1}
        if unknown:
            raise ValueError(f"class_weight has the key {unknown.pop()!r}; expected keys among -1, 0, 1.")
        weights = np.array([float(self.class_weight.get(k, 1.0)) for k in (-1, 0, 1)])
        if np.any(weights <= 0) or not np.all(np.isfinite(weights)):
            raise ValueError(f"class_weight={self.class_weight!r} has a weight that is not positive and finite.")
        return weights[y + 1]

    def _keep_tie_width(self, map_, solution, index, y, weight):
        """Set the tie width: max(-beta, 0), or the best threshold on the training pairs."""
        if self.ties == "margin":
            self.intercept_ = float(solution.levels[0])
            self.tie_width_ = max(-self.intercept_, 0.0)
            return
        u = map_.forward_exact(solution.weights)
        self.tie_width_ = rules.tie_threshold(u[index[:, 0]] - u[index[:, 1]], y, weight)
        self.intercept_ = -self.tie_width_

    def _learn_lp(self, task):
        """Solve the maximum-margin linear program (7)."""
        map_, index, y = task.map_, task.rest["index"], task.rest["y"]
        if not self._is_linear:
            raise ValueError(f"formulation='lp' is linear; got kernel={self.kernel!r}. Use kernel='linear' or 'qp'.")
        better, worse = np.where(y < 0, index[:, 1], index[:, 0]), np.where(y < 0, index[:, 0], index[:, 1])
        F = map_.features()
        differences = F[better] - F[worse]
        try:
            found = _core.linear_program.comparison_margin(differences[y != 0], differences[y == 0], tol=self.tol)
        except _core.linear_program.NotSeparableError as error:
            raise ValueError(
                "formulation='lp': the pairs are not separable, so (7) has no solution; use 'qp'."
            ) from error
        except _core.linear_program.UnboundedMarginError as error:
            raise ValueError("formulation='lp': y has no ties, so the margin of (7) is unbounded; use 'qp'.") from error
        self.coef_ = map_.from_features(found.w)
        self.objective_ = self.margin_ = found.mu
        self.duality_gap_, self.n_iter_, self.solver_ = found.gap, max(1, found.n_iter), "linear_program"
        self.converged_ = found.gap <= self.tol
        if not self.converged_:
            text = Status.STALLED.value.format(gap=found.gap, tol=self.tol)
            warnings.warn(f"{type(self).__name__}: {text}", ConvergenceWarning, stacklevel=4)
        self.intercept_, self.tie_width_ = -1.0, 1.0
        self._warn_if_collapsed(_collapse_advice(y))
        return self

    def decision_function(self, X):
        """Return u(first) - u(second) of each pair.

        Parameters
        ----------
        X : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs of items.

        Returns
        -------
        ndarray of shape (n_pairs,)
        """
        pairs = as_pairs(X)
        u, index = self.utility(pairs.items), pairs.index
        return u[index[:, 0]] - u[index[:, 1]]

    def predict(self, X):
        """Return +1 (first preferred), 0 (no difference) or -1 for each pair.

        Parameters
        ----------
        X : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs of items.

        Returns
        -------
        ndarray of int of shape (n_pairs,)
        """
        return rules.tie_zone(self.decision_function(X), self.tie_width_)

    def score(self, X, y=None, sample_weight=None):
        """Return the share of pairs predicted right.

        Parameters
        ----------
        X : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs of items.
        y : array-like of shape (n_pairs,), default=None
            +1, 0 or -1; None: the first item of every pair won.
        sample_weight : array-like of shape (n_pairs,), default=None
            Weight of each pair.

        Returns
        -------
        float
        """
        predicted = self.predict(X)
        y = np.ones(predicted.size, dtype=np.int64) if y is None else _check_outcomes(y, predicted.size)
        weight = check_weight(sample_weight, y.size)
        return float(np.average(predicted == y, weights=weight))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = False  # splitters take pairs, never rows and columns of a kernel matrix
        tags.target_tags.required = False
        return tags

    def rank(self, X, qid=None):
        """Return the rank of each item (not pair): 1 is the best, equal utilities share the smallest rank.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_items, n_features)
            Items.
        qid : array-like of shape (n_items,) or str, default=None
            Group of each item, or the name of a column of X; None: one group.

        Returns
        -------
        ndarray of int of shape (n_items,)
        """
        X, qid = self._split_qid(X, qid)
        u = self.utility(X)
        return rules.rank_in_groups(u, query_codes(qid, u.size))

    def _check_comparisons(self, X, y, sample_weight):
        """Return items, index, labels and weights; pairs of weight zero are left out."""
        pairs = as_pairs(X)
        items, index = self._check_items(pairs.items, reset=True), pairs.index
        n = index.shape[0]
        if n == 0:
            raise ValueError("X has 0 pairs; expected at least one (found array with 0 sample(s)).")
        y = np.ones(n, dtype=np.int64) if y is None else _check_outcomes(y, n)
        weight = check_weight(sample_weight, n)
        kept = weight > 0
        return items, index[kept], y[kept], weight[kept]


def _collapse_advice(y):
    """Say why the utility is constant, and what helps."""
    if np.all(y):
        return "y has no ties, so ties='margin' has nothing to separate the differences from; use ties='threshold'."
    if not np.any(y):
        return "y has only ties; give pairs with a winner."
    return (
        "The ties pull both ways and outweigh the pairs with a winner, or the features do not tell the items apart; "
        "try class_weight='balanced', ties='threshold' or another kernel."
    )


def _check_outcomes(y, n):
    """Return y as integers -1, 0, 1."""
    y = np.asarray(y)
    if y.shape != (n,):
        raise ValueError(f"y has shape {y.shape}; expected {(n,)}: one outcome per pair.")
    known = (y == 0) | (y == 1) | (y == -1)
    if not np.all(known):
        odd = y[~known].tolist()[0]
        raise ValueError(f"y has the value {odd!r}; expected +1 (first preferred), 0 (no difference) and -1.")
    return y.astype(np.int64)
