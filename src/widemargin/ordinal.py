"""Ordinal regression with large-margin rank boundaries."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ._core import comparisons, rules
from ._estimator import PreferenceEstimator, check_choice
from ._queries import is_missing
from ._task import Task
from ._threads import one_thread
from .exceptions import NoComparisonsError

__all__ = ["OrdinalSVM"]

EXACT_PAIRS = 150_000  # thresholds ask which pairs sit exactly on the margin: worth an exact solution up to here


class OrdinalSVM(ClassifierMixin, PreferenceEstimator):
    """Learn ordered labels: one utility, and thresholds that cut it into ranks.

    Minimises ``1/2 ||w||^2 + C * sum over pairs with y_i > y_j of xi_ij``, where
    ``u(x_i) - u(x_j) >= 1 - xi_ij``: Herbrich, Graepel & Obermayer (9)-(11), with the factor 1/2 and without
    the equality constraint printed in (10), which does not belong there. The thresholds come afterwards, from
    the closest correctly ordered objects of neighbouring ranks, (12). They are always monotone.

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
    thresholds : {"closest_pair", "fewest_errors"}, default="closest_pair"
        (12): the middle between the closest objects of neighbouring ranks whose margin is at least 1, falling
        back to the other rule where there are none; or the cut with the least weight of misplaced items.
    classes : array-like, default=None
        The labels from worst to best. Needed for strings without an order; may name ranks that y lacks.
    tol, max_iter, verbose, C_scale, memory_limit, n_components, n_jobs
        As in :class:`RankingSVM`.
    warm_start : bool, default=False
        Whether a linear fit on implicit pairs starts from `coef_` of the last fit. The model is certified to `tol` as
        without it. It pays where C, or a few rows, changed: a refit then takes a third to two thirds of the time.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, from worst to best.
    thresholds_ : ndarray of shape (n_classes - 1,)
        Label k is predicted iff thresholds_[k - 1] < u <= thresholds_[k].
    coef_, support_, support_vectors_, dual_coef_, objective_, duality_gap_, n_iter_, solver_, converged_
        As in :class:`RankingSVM`.

    References
    ----------
    R. Herbrich, T. Graepel and K. Obermayer, "Support vector learning for ordinal regression", 1999.

    Examples
    --------
    >>> from widemargin import OrdinalSVM
    >>> model = OrdinalSVM(classes=["bad", "fair", "good"])
    >>> model.fit([[0.0], [2.0], [4.0]], ["bad", "fair", "good"]).predict([[0.5], [3.9]])
    array(['bad', 'good'], dtype='<U4')
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
        thresholds="closest_pair",
        classes=None,
        tol=1e-4,
        max_iter=1000,
        verbose=False,
        C_scale="sum",
        memory_limit=None,
        n_components=None,
        n_jobs=None,
        warm_start=False,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.thresholds = thresholds
        self.classes = classes
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.C_scale = C_scale
        self.memory_limit = memory_limit
        self.n_components = n_components
        self.n_jobs = n_jobs
        self.warm_start = warm_start

    def fit(self, X, y, *, sample_weight=None):
        """Learn from ordered labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Items.
        y : array-like of shape (n_samples,)
            Numbers, an ordered categorical (pandas, polars), or labels whose order `classes` gives.
        sample_weight : array-like of shape (n_samples,), default=None
            A pair weighs the product of its items' weights.

        Returns
        -------
        self
        """
        with one_thread():
            return self._learn(self._pose(X, y, sample_weight=sample_weight))

    def _pose(self, X, y, *, sample_weight=None):
        self._check_parameters()
        self._check_loss(("hinge", "squared_hinge"))
        check_choice("thresholds", self.thresholds, ("closest_pair", "fewest_errors"))
        order = self._order_of(y)
        X, labels, weight, _, kept = self._check_samples(X, np.asarray(y), sample_weight)
        codes = self._codes(labels, order)
        levels = comparisons.from_levels(codes, np.zeros_like(codes), weight)
        items, rows, levels = self._different(X, levels)
        of_level = [np.flatnonzero(codes[rows] == k) for k in range(len(self.classes_))]
        return Task(items, kept[rows], self._make_map(items, implicit=True, given=X), levels, {"items": of_level})

    def _learn(self, task):
        exact_pairs = EXACT_PAIRS // 4 if task.map_.is_gram else EXACT_PAIRS
        solver, solution = self._solve_levels(task, exact_pairs=exact_pairs)
        self._keep_solution(solver, [solution])
        self._keep_model(task, [solution])
        self._warn_if_collapsed("The labels contradict each other, or the features do not tell the items apart.")
        u = solution.utilities
        if u is None:
            u = task.map_.forward_exact(solution.weights)
        blur = 0.0 if solver == "interior_point" else np.sqrt(2.0 * self.duality_gap_)
        closest_pair = self.thresholds == "closest_pair"
        self.thresholds_ = rules.thresholds(
            u, task.rest["items"], task.comparisons.weight, closest_pair=closest_pair, blur=blur
        )
        return self

    def predict(self, X):
        """Return the label of each item.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Items.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        u = self.utility(X)
        return self.classes_[rules.by_thresholds(u, self.thresholds_)]

    def _order_of(self, y):
        """Return the labels from worst to best as the user or the column's type gives them; None: by number."""
        if self.classes is not None:
            order = column_or_1d(np.asarray(self.classes))
            if np.unique(order).size != order.size:
                raise ValueError(f"classes={list(order)} names a label twice; expected each once, from worst to best.")
            return order
        return _categories(y)

    def _codes(self, labels, order):
        """Return each label's position in classes_."""
        labels = column_or_1d(labels, warn=True)
        if labels.dtype == object and any(map(is_missing, labels)):
            raise ValueError("y has missing labels (None, nan, NA), expected a label in every row; drop those rows.")
        if order is None:
            check_classification_targets(labels)
            if labels.dtype.kind in "OUS":
                raise ValueError(
                    f"y holds strings without an order, such as {str(labels[0])!r}; expected numbers or an ordered "
                    "categorical. Pass classes=[...] with the labels from worst to best."
                )
            order = np.unique(labels)
        position = {label: i for i, label in enumerate(order.tolist())}
        unknown = [label for label in np.unique(labels).tolist() if label not in position]
        if unknown:
            raise ValueError(
                f"y has the label {unknown[0]!r}, which is not among the classes {order.tolist()}; add it."
            )
        codes = np.array([position[label] for label in labels.tolist()], dtype=np.int64)
        if np.unique(codes).size < 2:
            raise NoComparisonsError(
                f"y has one class ({labels[0]}) and {labels.size} sample(s), so there is nothing to compare; "
                "give items of at least two ranks."
            )
        self.classes_ = order
        return codes

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # unordered classes, as in scikit-learn's checks, have no utility
        return tags


def _categories(y):
    """Return the categories of an ordered pandas or polars column, from worst to best; else None."""
    columns = getattr(y, "columns", ())
    dtype = getattr(y[columns[0]] if len(columns) == 1 else y, "dtype", None)
    if getattr(dtype, "ordered", False):
        return np.asarray(dtype.categories)
    if type(dtype).__name__ == "Enum":
        return np.asarray(dtype.categories)
    return None
