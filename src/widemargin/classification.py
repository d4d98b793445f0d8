"""Support vector classification, hard and soft, exact to the last digit."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from ._core import comparisons
from ._estimator import PreferenceEstimator, check_choice
from ._task import Task
from ._threads import one_thread
from .exceptions import NoComparisonsError

__all__ = ["MarginClassifier"]


class MarginClassifier(ClassifierMixin, PreferenceEstimator):
    """Separate classes by the widest margin: Yu & Kim (6)-(44).

    Minimises ``1/2 ||w||^2 + C * sum_i c_i xi_i`` with ``y_i (u(x_i) + b) >= 1 - xi_i``. More than two classes
    are separated two by two, and vote.

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
    class_weight : dict or "balanced", default=None
        Weight of each class, with the meaning it has in :class:`sklearn.svm.SVC`.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        With more than two classes: one column per class (votes, ties broken by confidence), or one per pair of
        classes as in :class:`sklearn.svm.SVC`.
    tol, max_iter, verbose, C_scale, memory_limit, n_components
        As in :class:`RankingSVM`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        With two classes the positive side of `decision_function` is ``classes_[1]``.
    coef_ : ndarray of shape (n_features,) or (n_classes * (n_classes - 1) / 2, n_features)
        Weights of the features (linear kernel); the order of pairs of classes is that of SVC.
    intercept_ : float or ndarray of shape (n_classes * (n_classes - 1) / 2,)
        The middle of its optimal interval.
    dual_coef_ : ndarray of shape (n_support,) or (n_support, n_classes * (n_classes - 1) / 2)
        Coefficients of the support items.
    support_, support_vectors_, objective_, duality_gap_, n_iter_, solver_, converged_
        As in :class:`RankingSVM`; with several classes the objective is the sum over the binary problems.

    References
    ----------
    H. Yu and S. Kim, "SVM tutorial: classification, regression, and ranking", section 2.

    Examples
    --------
    >>> from widemargin import MarginClassifier
    >>> model = MarginClassifier(C=float("inf")).fit([[0.0], [1.0], [3.0]], ["no", "no", "yes"])
    >>> model.predict([[1.9], [2.1]])
    array(['no', 'yes'], dtype='<U3')
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
        class_weight=None,
        decision_function_shape="ovr",
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
        self.class_weight = class_weight
        self.decision_function_shape = decision_function_shape
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.C_scale = C_scale
        self.memory_limit = memory_limit
        self.n_components = n_components

    def fit(self, X, y, *, sample_weight=None):
        """Learn from labelled items.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Items.
        y : array-like of shape (n_samples,)
            Labels, numbers or strings.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each item's slack.

        Returns
        -------
        self
        """
        with one_thread():
            return self._learn(self._pose(X, y, sample_weight=sample_weight))

    def _pose(self, X, y, *, sample_weight=None):
        self._check_parameters()
        self._check_loss(("hinge", "squared_hinge"))
        check_choice("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))
        X, y, weight, _, kept = self._check_samples(X, y, sample_weight)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if self.classes_.size < 2:
            raise NoComparisonsError(f"y has one class ({self.classes_.tolist()[0]!r}); expected at least two classes.")
        class_weight = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        if np.any(class_weight <= 0) or not np.all(np.isfinite(class_weight)):
            raise ValueError(f"class_weight={self.class_weight!r} has a weight that is not positive and finite.")
        weight, items, found = weight * class_weight[codes], X, self._first_copies(X, lambda: (codes,))
        if found is not None:  # one stands for all of its class
            first, which = found
            items, kept, codes, weight = X[first], kept[first], codes[first], np.bincount(which, weight, first.size)
        return Task(items, kept, self._make_map(items, given=X), self._two_by_two(codes, weight))

    def _learn(self, task):
        found = [self._solve_rows(task, rows, part) for part, rows in enumerate(task.comparisons)]
        solvers, solutions = zip(*found, strict=True)
        self._keep_solution(solvers[0], solutions)
        self._keep_model(task, solutions)
        levels = np.array([s.levels[0] for s in solutions])
        self.intercept_ = float(levels[0]) if levels.size == 1 else levels
        return self

    def _two_by_two(self, codes, weight):
        """Return the rows of each pair of classes; items of other classes get none."""
        rows = []
        for i, j in combinations(range(self.classes_.size), 2):
            mine = (codes == i) | (codes == j)
            positive = codes == (j if self.classes_.size == 2 else i)  # SVC's signs: with two classes the second
            rows.append(comparisons.from_classes(np.where(positive, 1.0, -1.0), weight).subset(mine))
        return rows

    def decision_function(self, X):
        """Return utility plus intercept: positive on the side of ``classes_[1]``, or a column per class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Items.

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_classes * (n_classes - 1) / 2)
        """
        u = self.utility(X)
        values = u + self.intercept_
        if values.ndim == 1 or self.decision_function_shape == "ovo":
            return values
        return _votes(values, self.classes_.size)

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
        values = u + self.intercept_
        if values.ndim == 1:
            return self.classes_[(values > 0).astype(int)]
        return self.classes_[np.argmax(_votes(values, self.classes_.size), axis=1)]


def _votes(values, n_classes):
    """Return votes per class plus a confidence below 1/3 that breaks ties."""
    votes, confidence = np.zeros((2, len(values), n_classes))
    for column, (i, j) in enumerate(combinations(range(n_classes), 2)):
        votes[:, i] += values[:, column] >= 0
        votes[:, j] += values[:, column] < 0
        confidence[:, i] += values[:, column]
        confidence[:, j] -= values[:, column]
    return votes + confidence / (3.0 * (np.abs(confidence) + 1.0))
