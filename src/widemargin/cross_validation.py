"""Machines that choose C by cross-validation along the path, as scikit-learn's `...CV` estimators do."""

from __future__ import annotations

from ._path_cv import PathCV
from .comparison import ComparisonSVM
from .ordinal import OrdinalSVM
from .ranking import RankingSVM

__all__ = ["ComparisonSVMCV", "OrdinalSVMCV", "RankingSVMCV"]


class RankingSVMCV(PathCV, RankingSVM):
    """A `RankingSVM` that chooses C by query-wise cross-validation.

    Each fold is fitted along its whole path of C, the mean score over the folds chooses C (of equals the smallest),
    and all data are then fitted with it.

    Parameters
    ----------
    Cs : int or array-like of shape (n_Cs,), default=10
        Values of C to try; an integer asks for so many from 1e-4 to 1e4, evenly in the logarithm.
    cv : int, splitter or iterable of (train, test), default=None
        Folds; None: five. An integer deals whole queries to so many folds, or without `qid` the rows in the order
        of y. A splitter gets the queries as `groups`.
    scoring : str or callable, default=None
        What the held-out queries are scored with; None: concordance. A name is one of this package's metrics
        ("ndcg", "concordance", "neg_top1_risk", ...) or of scikit-learn's; a callable takes (model, X, y), and what
        else it names or requests of the metadata.
    n_jobs : int, default=None
        Folds fitted at the same time.
    kernel, gamma, degree, coef0, loss, tol, max_iter, verbose, C_scale, memory_limit, n_components
        As in :class:`RankingSVM`.

    Attributes
    ----------
    C_ : float
        The chosen C.
    Cs_ : ndarray of shape (n_Cs,)
        The values tried.
    scores_ : ndarray of shape (n_folds, n_Cs)
        Score of each fold at each C; nan where a fold has nothing to compare.
    and those of :class:`RankingSVM`, fitted with `C_` on all data.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin import RankingSVMCV
    >>> X = np.arange(24.0).reshape(12, 2) % 7
    >>> model = RankingSVMCV(Cs=[0.01, 1.0], cv=3).fit(X, X[:, 0], qid=np.repeat([1, 2, 3], 4))
    >>> model.scores_.shape, model.C_
    ((3, 2), 0.01)
    """

    _machine = RankingSVM

    def __init__(
        self,
        Cs=10,
        *,
        cv=None,
        scoring=None,
        n_jobs=None,
        kernel="linear",
        gamma="scale",
        degree=3,
        coef0=0.0,
        loss="hinge",
        tol=1e-4,
        max_iter=1000,
        verbose=False,
        C_scale="sum",
        memory_limit=None,
        n_components=None,
    ):
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.C_scale = C_scale
        self.memory_limit = memory_limit
        self.n_components = n_components

    def fit(self, X, y, *, qid=None, sample_weight=None):
        """Choose C and learn.

        Parameters
        ----------
        X, y, qid, sample_weight
            As in :class:`RankingSVM`.

        Returns
        -------
        self
        """
        return self._fit_along_path(X, y, qid=qid, sample_weight=sample_weight)


class OrdinalSVMCV(PathCV, OrdinalSVM):
    """An `OrdinalSVM` that chooses C by cross-validation.

    Each fold is fitted along its whole path of C, the mean score over the folds chooses C (of equals the smallest),
    and all data are then fitted with it.

    Parameters
    ----------
    Cs : int or array-like of shape (n_Cs,), default=10
        Values of C to try; an integer asks for so many from 1e-4 to 1e4, evenly in the logarithm.
    cv : int, splitter or iterable of (train, test), default=None
        Folds; None: five. An integer deals the rows in the order of y to so many folds.
    scoring : str or callable, default=None
        What the held-out rows are scored with; None: accuracy. A name is one of this package's metrics
        ("ndcg", "concordance", "neg_top1_risk", ...) or of scikit-learn's; a callable takes (model, X, y), and what
        else it names or requests of the metadata.
    n_jobs : int, default=None
        Folds fitted at the same time.
    kernel, gamma, degree, coef0, loss, thresholds, classes, tol, max_iter, verbose, C_scale, memory_limit,
    n_components
        As in :class:`OrdinalSVM`.

    Attributes
    ----------
    C_ : float
        The chosen C.
    Cs_ : ndarray of shape (n_Cs,)
        The values tried.
    scores_ : ndarray of shape (n_folds, n_Cs)
        Score of each fold at each C; nan where a fold has nothing to compare.
    and those of :class:`OrdinalSVM`, fitted with `C_` on all data.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin import OrdinalSVMCV
    >>> X = np.arange(12.0)[:, None]
    >>> OrdinalSVMCV(Cs=[0.1, 10.0], cv=2).fit(X, X[:, 0] // 4).predict([[0.0], [5.0], [20.0]])
    array([0., 1., 2.])
    """

    _machine = OrdinalSVM

    def __init__(
        self,
        Cs=10,
        *,
        cv=None,
        scoring=None,
        n_jobs=None,
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
    ):
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
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

    def fit(self, X, y, *, sample_weight=None):
        """Choose C and learn.

        Parameters
        ----------
        X, y, sample_weight
            As in :class:`OrdinalSVM`.

        Returns
        -------
        self
        """
        return self._fit_along_path(X, y, sample_weight=sample_weight)


class ComparisonSVMCV(PathCV, ComparisonSVM):
    """A `ComparisonSVM` that chooses C by cross-validation.

    Each fold is fitted along its whole path of C, the mean score over the folds chooses C (of equals the smallest),
    and all data are then fitted with it.

    Parameters
    ----------
    Cs : int or array-like of shape (n_Cs,), default=10
        Values of C to try; an integer asks for so many from 1e-4 to 1e4, evenly in the logarithm.
    cv : int, splitter or iterable of (train, test), default=None
        Folds; None: five. An integer deals the pairs of items, with all their repeats, to so many folds.
    scoring : str or callable, default=None
        What the held-out pairs are scored with; None: accuracy. A name is one of this package's metrics
        ("ndcg", "concordance", "neg_top1_risk", ...) or of scikit-learn's; a callable takes (model, X, y), and what
        else it names or requests of the metadata.
    n_jobs : int, default=None
        Folds fitted at the same time.
    kernel, gamma, degree, coef0, loss, ties, formulation, class_weight, tol, max_iter, verbose, C_scale,
    memory_limit, n_components
        As in :class:`ComparisonSVM`.

    Attributes
    ----------
    C_ : float
        The chosen C.
    Cs_ : ndarray of shape (n_Cs,)
        The values tried.
    scores_ : ndarray of shape (n_folds, n_Cs)
        Score of each fold at each C; nan where a fold has nothing to compare.
    and those of :class:`ComparisonSVM`, fitted with `C_` on all data.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin import ComparisonSVMCV, Pairs
    >>> pairs = Pairs(np.arange(8.0)[:, None], [(a, b) for a in range(8) for b in range(a)])
    >>> y = [1 if a - b > 2 else 0 for a, b in pairs.index]
    >>> ComparisonSVMCV(Cs=[0.001, 1.0], cv=2).fit(pairs, y).C_
    1.0
    """

    _machine = ComparisonSVM
    _machine_takes_pairs = True

    def __init__(
        self,
        Cs=10,
        *,
        cv=None,
        scoring=None,
        n_jobs=None,
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
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
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
        """Choose C and learn.

        Parameters
        ----------
        X, y, sample_weight
            As in :class:`ComparisonSVM`.

        Returns
        -------
        self
        """
        return self._fit_along_path(X, y, sample_weight=sample_weight)
