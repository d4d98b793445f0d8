"""Curves over C and over the amount of data, each with the gap that certifies it."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from .._unwrap import unwrap
from ..model_selection import QueryKFold
from ._axes import INK, QUIET, axes_for


class CPathDisplay:
    """Objective and certified gap along a path of C, and scores where there are some.

    Parameters
    ----------
    Cs : ndarray of shape (n_Cs,)
        Values of C.
    gaps : ndarray of shape (n_Cs,)
        Relative duality gaps.
    scores : ndarray of shape (n_folds, n_Cs), default=None
        Scores; the mean is drawn with a band of one standard error.
    objectives : ndarray of shape (n_Cs,), default=None
        Drawn where there are no scores.
    score_name : str, default="score"
        Label of the scores.

    Attributes
    ----------
    ax_, gap_ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from widemargin.plotting import CPathDisplay
    >>> display = CPathDisplay(Cs=[0.1, 1.0, 10.0], gaps=[1e-5, 2e-5, 8e-5], scores=[[0.6, 0.8, 0.7]]).plot()
    >>> display.ax_.get_xscale()
    'log'
    """

    def __init__(self, *, Cs, gaps, scores=None, objectives=None, score_name="score"):
        self.Cs = Cs
        self.gaps = gaps
        self.scores = scores
        self.objectives = objectives
        self.score_name = score_name

    @classmethod
    def from_path(cls, path, *, scores=None, score_name="score", ax=None):
        """Draw what `model_selection.c_path` returned.

        Parameters
        ----------
        path : CPath
            A path.
        scores : array-like of shape (n_Cs,) or (n_folds, n_Cs), default=None
            Scores of its estimators on data of your choice; None: the objective is drawn.
        score_name : str, default="score"
            Label of the scores.
        ax : matplotlib axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        CPathDisplay
        """
        display = cls(Cs=path.Cs, gaps=path.gaps, scores=scores, objectives=path.objectives, score_name=score_name)
        return display.plot(ax=ax)

    def plot(self, *, ax=None):
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        self
        """
        ax = axes_for(ax, figsize=(6, 4))
        if self.scores is not None:
            _draw_band(ax, self.Cs, np.atleast_2d(self.scores), self.score_name)
            ax.set_ylabel(self.score_name)
        else:
            ax.plot(self.Cs, self.objectives, "o-", color=INK, ms=4, label="objective")
            ax.set(yscale="log", ylabel="objective")
        ax.set(xscale="log", xlabel="C (weight of the errors)")
        self.gap_ax_ = draw_gaps(ax, self.Cs, self.gaps)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class LearningCurveDisplay:
    """Score on held-out queries against the number of training queries, with the gap of each fit.

    Parameters
    ----------
    sizes : ndarray of shape (n_sizes,)
        Numbers of training queries, or rows where there is one query.
    scores : ndarray of shape (n_folds, n_sizes)
        Held-out scores.
    gaps : ndarray of shape (n_sizes,)
        Largest gap over the folds.
    unit : str, default="queries"
        What was counted.

    Attributes
    ----------
    ax_, gap_ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from widemargin import RankingSVM
    >>> from widemargin.datasets import make_graded_queries
    >>> from widemargin.plotting import LearningCurveDisplay
    >>> data = make_graded_queries(30, random_state=0)
    >>> curve = LearningCurveDisplay.from_estimator(RankingSVM(C=0.1), data.X, data.y, qid=data.qid, sizes=[4, 16])
    >>> curve.scores.shape
    (5, 2)
    """

    def __init__(self, *, sizes, scores, gaps, unit="queries"):
        self.sizes = sizes
        self.scores = scores
        self.gaps = gaps
        self.unit = unit

    @classmethod
    def from_estimator(cls, estimator, X, y, *, qid=None, sizes=None, cv=5, random_state=0, ax=None):
        """Fit on growing numbers of queries and score on held-out ones.

        Parameters
        ----------
        estimator : estimator
            Unfitted; it has `fit(X, y, qid=...)` and `score(X, y, qid=...)` where qid is given, else without.
        X : array-like of shape (n_samples, n_features)
            Items.
        y : array-like of shape (n_samples,)
            Grades or labels.
        qid : array-like of shape (n_samples,), default=None
            Queries; None: rows are counted.
        sizes : sequence of int, default=None
            Numbers of training queries; None: five, evenly spread on a log scale.
        cv : int, default=5
            Folds of whole queries.
        random_state : int, RandomState or None, default=0
            Of the folds and of the order in which queries are added.
        ax : matplotlib axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        LearningCurveDisplay
        """
        X, y = X if hasattr(X, "shape") else np.asarray(X), np.asarray(y)
        units = np.arange(y.size) if qid is None else np.unique(np.asarray(qid), return_inverse=True)[1]
        folds = list(QueryKFold(cv, shuffle=True, random_state=random_state).split(X, y, qid=units))
        most = min(np.unique(units[train]).size for train, _ in folds)
        sizes = np.unique(np.geomspace(max(2, most / 16), most, 5).astype(int) if sizes is None else sizes)
        if sizes[0] < 1 or sizes[-1] > most:
            raise ValueError(f"sizes={sizes.tolist()}; expected numbers from 1 to {most}, the smallest training fold.")
        rng = np.random.default_rng(random_state)
        scores, gaps = np.empty((len(folds), sizes.size)), np.zeros(sizes.size)
        for f, (train, test) in enumerate(folds):
            order = rng.permutation(np.unique(units[train]))
            for k, size in enumerate(sizes):
                rows = train[np.isin(units[train], order[:size])]
                model = clone(estimator).fit(_rows(X, rows), y[rows], **_qid(qid, rows))
                scores[f, k] = model.score(_rows(X, test), y[test], **_qid(qid, test))
                gaps[k] = max(gaps[k], unwrap(model)[0].duality_gap_)
        return cls(sizes=sizes, scores=scores, gaps=gaps, unit="rows" if qid is None else "queries").plot(ax=ax)

    def plot(self, *, ax=None):
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        self
        """
        ax = axes_for(ax, figsize=(6, 4))
        _draw_band(ax, self.sizes, self.scores, "held-out score")
        ax.set(xscale="log", xlabel=f"training {self.unit}", ylabel="held-out score")
        ax.set_xticks(self.sizes, [str(size) for size in self.sizes])
        ax.minorticks_off()
        self.gap_ax_ = draw_gaps(ax, self.sizes, self.gaps)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def draw_gaps(ax, xs, gaps):
    """Draw the gaps on an axis of their own, on the right, and one legend for both."""
    right = ax.twinx()
    gaps = np.maximum(np.asarray(gaps, dtype=float), 1e-16)  # a gap of exactly 0 has no place on a log axis
    right.plot(xs, gaps, "s:", color=QUIET, ms=3, label="certified gap (right axis)")
    right.set(yscale="log", ylabel="relative duality gap")
    right.set_ylim(min(1e-9, gaps.min() / 3), 1.0)
    handles = [h for a in (ax, right) for h in a.get_legend_handles_labels()[0]]
    ax.legend(handles=handles, loc="best", fontsize=8, framealpha=0.9)
    return right


def _draw_band(ax, xs, scores, name):
    """Draw the mean over folds and, where there are several, one standard error on each side."""
    mean = scores.mean(axis=0)
    if scores.shape[0] > 1:
        error = scores.std(axis=0, ddof=1) / np.sqrt(scores.shape[0])
        ax.fill_between(xs, mean - error, mean + error, color="0.85", label="one standard error over folds")
    ax.plot(xs, mean, "o-", color=INK, ms=4, label=name)


def _rows(X, rows):
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _qid(qid, rows):
    return {} if qid is None else {"qid": np.asarray(qid)[rows]}
