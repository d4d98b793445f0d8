"""Probabilities of win, tie and loss, and of ordered labels, from utilities on held-out data.

The estimators learn a utility and a rule, no probabilities. The wrappers here fit the estimator on all data and on each
fold, take the utilities of what a fold left out in units of the final model, and fit a logistic curve with cuts to what
happened there. So probabilities are monotone in the final model's utility.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.metrics import accuracy_score
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ._core.links import fit_cumulative_logit, smoothed_targets
from ._estimator import check_weight
from ._unwrap import utilities
from .model_selection import PairKFold
from .pairs import as_pairs

__all__ = ["CalibratedComparison", "CalibratedOrdinal"]


class _Calibrated(ClassifierMixin, MetaEstimatorMixin, BaseEstimator, ABC):
    """What both wrappers share: utilities out of fold, the fit of the link, the attributes."""

    def __init__(self, estimator, *, cv=5):
        self.estimator = estimator
        self.cv = cv

    @abstractmethod
    def _utility(self, model, X):
        """Return what the link is a function of: a utility, or a difference of two."""

    def _fit_estimator(self, X, y, sample_weight):
        """Fit the estimator on all rows, and take over what it knows of the features."""
        self.estimator_ = clone(self.estimator).fit(X, y, **_weights(sample_weight))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))

    def _fit_link(self, X, y, codes, sample_weight, cv, *, symmetric):
        """Fit the curve to utilities out of fold."""
        weight = check_weight(sample_weight, codes.size)
        s, tested = self._out_of_fold(X, y, sample_weight, weight, cv, symmetric=symmetric)
        present, level = np.unique(codes[tested], return_inverse=True)
        if symmetric:  # win and loss are two ends of one thing: one of them is enough to know of both
            present = np.array([0, 1, 2] if np.any(codes[tested] == 1) else [0, 2])
            level = np.searchsorted(present, codes[tested])
        targets = smoothed_targets(level.astype(np.int64), weight[tested], present.size, symmetric=symmetric)
        self.link_, self._present = fit_cumulative_logit(s, targets, symmetric=symmetric), present
        if self.link_.slope == 0.0:
            warnings.warn(
                f"{type(self).__name__}: the utilities tell nothing about the folds that were left out, so the "
                "probabilities are the same for all; look at the features, the kernel and C.",
                UserWarning,
                stacklevel=3,
            )

    def _out_of_fold(self, X, y, sample_weight, weight, cv, *, symmetric):
        """Return utilities of rows that were left out of a fit, in units of the final model, and their positions."""
        pairwise = get_tags(self.estimator).input_tags.pairwise
        final = self._utility(self.estimator_, X)
        s, rows = [], []
        for train, test in cv.split(X, y):
            columns = train if pairwise else None
            seen = _take(X, train, columns)
            model = clone(self.estimator).fit(
                seen,
                None if y is None else _take(y, train),
                **_weights(None if sample_weight is None else weight[train]),
            )
            units = _units(self._utility(model, seen), final[train], weight[train], symmetric=symmetric)
            s.append(units(self._utility(model, _take(X, test, columns))))
            rows.append(test)
        return np.concatenate(s), np.concatenate(rows)

    def _probabilities(self, s):
        found = np.zeros((s.size, self.classes_.size))
        found[:, self._present] = self.link_.probabilities(s)
        return found

    def predict(self, X):
        """Return the most probable class of each row; of equals the first.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        best = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[best]

    def __sklearn_tags__(self):
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags.sparse, tags.input_tags.pairwise = inner.input_tags.sparse, inner.input_tags.pairwise
        tags.target_tags.required = inner.target_tags.required
        tags.classifier_tags.poor_score = True
        return tags


class CalibratedComparison(_Calibrated):
    """Probabilities of loss, tie and win of the first item of a pair.

    With ``d`` the difference of utilities ``P(win) = sigmoid(a d - t)``, ``P(loss) = sigmoid(-a d - t)`` and a tie is
    the rest: Rao & Kupper [1]_. ``a, t >= 0`` maximise the likelihood of pairs that were left out of the fit. The
    three sum to one, are monotone in ``d``, and swap when the pair is swapped.

    Parameters
    ----------
    estimator : estimator
        `ComparisonSVM`, or a pipeline or search that ends in one. It is cloned. A `FrozenEstimator` is taken as it
        is, and calibrated on the data given.
    cv : int, cross-validation splitter or iterable, default=5
        An integer is that many folds of `PairKFold`: repeats of a pair stay together. `ItemDisjointKFold` gives the
        probabilities that hold for items never seen.

    Attributes
    ----------
    estimator_ : estimator
        Fitted on all pairs.
    link_ : object
        With `slope` a and `cuts` (-t, t); one cut, 0, where there were no ties.
    classes_ : ndarray
        [-1, 0, 1], the order of the columns of `predict_proba`.
    n_features_in_ : int
        Number of features of the items, where the estimator knows it.

    Notes
    -----
    Targets are smoothed as Platt [2]_ does, which keeps a finite where every pair left out came out right.
    Weights count votes: weight 2 is a pair given twice.

    References
    ----------
    .. [1] P. V. Rao and L. L. Kupper, "Ties in paired-comparison experiments", JASA 62 (1967).
    .. [2] J. Platt, "Probabilistic outputs for support vector machines", 1999.

    Examples
    --------
    >>> from widemargin import ComparisonSVM
    >>> from widemargin.calibration import CalibratedComparison
    >>> from widemargin.datasets import make_comparisons
    >>> data = make_comparisons(400, random_state=0)
    >>> model = CalibratedComparison(ComparisonSVM(kernel="poly", degree=2)).fit(data.X, data.y)
    >>> loss, tie, win = model.predict_proba(data.X[:1])[0]
    >>> bool(abs(loss + tie + win - 1) < 1e-12)
    True
    """

    def fit(self, X, y=None, *, sample_weight=None):
        """Fit the estimator on each fold, the curve on what was left out, and the estimator on all pairs.

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
        pairs = as_pairs(X)
        outcome = np.ones(len(pairs), dtype=np.int64) if y is None else np.asarray(y)
        if outcome.shape != (len(pairs),) or not np.all(np.isin(outcome, (-1, 0, 1))):
            raise ValueError(
                f"y has shape {outcome.shape} and values {np.unique(outcome)[:5]}; expected {(len(pairs),)} of +1 "
                "(first preferred), 0 (no difference) and -1."
            )
        cv = PairKFold(self.cv) if isinstance(self.cv, int) else check_cv(self.cv)
        self.classes_ = np.array([-1, 0, 1])
        self._fit_estimator(pairs, y, sample_weight)
        self._fit_link(pairs, y, outcome.astype(np.int64) + 1, sample_weight, cv, symmetric=True)
        return self

    def _utility(self, model, X):
        return model.decision_function(X)

    def decision_function(self, X):
        """Return u(first) - u(second) of each pair, as the fitted estimator does.

        Parameters
        ----------
        X : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs of items.

        Returns
        -------
        ndarray of shape (n_pairs,)
        """
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    def predict_proba(self, X):
        """Return the probabilities of -1, 0 and +1 of each pair.

        Parameters
        ----------
        X : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs of items.

        Returns
        -------
        ndarray of shape (n_pairs, 3)
        """
        return self._probabilities(self.decision_function(X))

    def score(self, X, y=None, sample_weight=None):
        """Return the share of pairs whose outcome was the most probable.

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
        found = self.predict(X)
        return accuracy_score(np.ones_like(found) if y is None else y, found, sample_weight=sample_weight)


class CalibratedOrdinal(_Calibrated):
    """Probabilities of ordered labels.

    ``P(label <= k) = sigmoid(cut_k - a u)`` with ``a >= 0`` and increasing cuts, McCullagh's proportional odds [1]_ on
    the utility u, of the largest likelihood on rows that were left out of the fit.

    Parameters
    ----------
    estimator : estimator
        `OrdinalSVM`, or a pipeline or search that ends in one. It is cloned. A `FrozenEstimator` is taken as it is,
        and calibrated on the data given.
    cv : int, cross-validation splitter or iterable, default=5
        An integer is that many stratified folds.

    Attributes
    ----------
    estimator_ : estimator
        Fitted on all rows.
    link_ : object
        With `slope` and `cuts`; labels that no row had get probability 0 and no cut.
    classes_ : ndarray of shape (n_classes,)
        The labels from worst to best, the order of the columns of `predict_proba`.
    n_features_in_ : int
        Number of features, where the estimator knows it.

    References
    ----------
    .. [1] P. McCullagh, "Regression models for ordinal data", JRSS B 42 (1980).

    Examples
    --------
    >>> from widemargin import OrdinalSVM
    >>> from widemargin.calibration import CalibratedOrdinal
    >>> from widemargin.datasets import make_ordinal
    >>> data = make_ordinal(300, utility="linear", random_state=0)
    >>> model = CalibratedOrdinal(OrdinalSVM(C=0.01)).fit(data.X, data.y)
    >>> model.predict_proba(data.X).shape == (300, len(model.classes_))
    True
    """

    def fit(self, X, y, *, sample_weight=None):
        """Fit the estimator on each fold, the curve on what was left out, and the estimator on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Items.
        y : array-like of shape (n_samples,)
            Ordered labels, as in `OrdinalSVM`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        self
        """
        labels = column_or_1d(np.asarray(y), warn=True)
        X = X.tocsr() if sparse.issparse(X) else X if hasattr(X, "shape") else np.asarray(X)
        cv = StratifiedKFold(self.cv) if isinstance(self.cv, int) else check_cv(self.cv, labels, classifier=True)
        self._fit_estimator(X, y, sample_weight)
        self.classes_ = self.estimator_.classes_
        position = {label: k for k, label in enumerate(self.classes_.tolist())}
        codes = np.array([position[label] for label in labels.tolist()], dtype=np.int64)
        self._fit_link(X, y, codes, sample_weight, cv, symmetric=False)
        return self

    def _utility(self, model, X):
        return utilities(model, X)

    def utility(self, X):
        """Return the utility of each item, as the fitted estimator does.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Items.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return utilities(self.estimator_, X)

    def predict_proba(self, X):
        """Return the probability of each label, in the order of `classes_`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Items.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._probabilities(self.utility(X))


def _units(u, final, weight, *, symmetric):
    """Return the change of units, labels unseen, that gives u the spread of the final model's utilities of those rows.

    A model of fewer rows is regularised more, relatively: its utilities are a little smaller, and a curve fitted to
    them would be too steep for the final model. Differences of pairs are scaled only; a utility also has an offset.
    """
    centre, target = (0.0, 0.0) if symmetric else (np.average(v, weights=weight) for v in (u, final))
    spread, wanted = (np.sqrt(np.average((v - c) ** 2, weights=weight)) for v, c in ((u, centre), (final, target)))
    scale = wanted / spread if spread > 0 and wanted > 0 else 1.0
    return lambda v: target + scale * (v - centre)


def _weights(sample_weight):
    return {} if sample_weight is None else {"sample_weight": sample_weight}


def _take(X, rows, columns=None):
    """Return some rows of an array, frame, series, list or Pairs; of a kernel matrix some columns too."""
    if columns is not None:
        return X[np.ix_(rows, columns)]
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]
