"""Fit with C chosen by cross-validation along the path of C."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from ..exceptions import CollapseWarning
from ..items import OnItems
from ..model_selection import c_path, deal_by_grade
from ..pairs import Pairs
from . import show
from .kinds import RECIPES, Kind
from .tables import DataError, is_sparse

CS = np.logspace(-3, 3, 7)  # with C_scale="mean" and scaled features the useful values do not move with the data


def fit(kind, X, y, qid, *, C, folds, scale, progress, **options):
    """Return a fitted pipeline, and the cross-validation as a dict (None where C was given)."""
    recipe = RECIPES[kind]
    model = recipe.estimator(C_scale="mean", **options)
    scaler = None if not scale else MaxAbsScaler() if is_sparse(_items(kind, X)) else StandardScaler()
    if scaler is not None and kind is Kind.pairs:
        scaler = OnItems(scaler)
    extra = {"qid": qid} if recipe.needs_qid else {}
    report = None
    if C is None:
        report = _cross_validate(recipe, model, scaler, X, y, extra, folds, progress)
        C = report["C"]
    pipeline = make_pipeline(scaler, model) if scaler is not None else make_pipeline(model)
    pipeline[-1].set_params(C=C)
    step = pipeline.steps[-1][0]
    ready = pipeline[:-1].fit_transform(X) if scaler is not None else X
    pipeline.steps[-1] = (step, pipeline[-1].fit(ready, y, **extra))
    return pipeline, report


def fit_pairs(pairs, y, *, ties=None, **how):
    """Fit votes; where `ties` is not given, learn from them in the way that cross-validates better.

    Without ties in the data there is one way, "threshold": "margin" separates wins from ties, and has none. With C
    given nothing is cross-validated, and ties are the paper's margin.
    """
    has_ties, has_wins = bool(np.any(y == 0)), bool(np.any(y != 0))
    ways = ("margin", "threshold") if how["C"] is None else ("margin",)
    ways = (ties,) if ties else ways if has_ties and has_wins else ("threshold",) if has_wins else ("margin",)
    if len(ways) == 1:
        return fit(Kind.pairs, pairs, y, None, ties=ways[0], **how)
    found = []
    for way in ways:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            found.append((*fit(Kind.pairs, pairs, y, None, ties=way, **how), heard))
    model, report, heard = max(found, key=lambda one: one[1]["score"])
    for warning in heard:  # of the way that is kept
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return model, report


def _cross_validate(recipe, model, scaler, X, y, extra, folds, progress):
    """Score each C on held-out folds: whole queries, whole pairs, or rows."""
    scores = []
    for train, test in progress(_folds(folds, X, y, recipe, extra), "cross-validation"):
        ready = (X[train], X[test])
        if scaler is not None:
            ready = (scaler.fit_transform(ready[0]), scaler.transform(ready[1]))
        with warnings.catch_warnings():  # what is tried may fail; the model that is kept still warns
            warnings.simplefilter("ignore", CollapseWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            path = c_path(model, ready[0], y[train], CS, **_rows(extra, train))
        scores.append([fitted.score(ready[1], y[test], **_rows(extra, test)) for fitted in path.estimators])
    mean = np.nanmean(scores, axis=0)
    equal = np.flatnonzero(mean >= np.nanmax(mean) - 1e-12)
    best = int(equal[np.argmin(np.abs(np.log(CS[equal])))])  # of equals the most moderate
    if CS[best] in CS[[0, -1]] and mean[best] > mean[best - 1 if best else 1]:
        which, beyond = ("smallest", CS[0] / 10) if best == 0 else ("largest", CS[-1] * 10)
        show.note(f"C = {CS[best]:g} is the {which} value tried and the best; --C {beyond:g} may be better still")
    error = np.nanstd(scores, axis=0, ddof=1)[best] / np.sqrt(len(scores))
    return {"C": float(CS[best]), "score": float(mean[best]), "standard_error": float(error), "Cs": CS, "scores": mean}


def _folds(folds, X, y, recipe, extra):
    """Return the (train, test) rows of each fold; the rows of a single list are dealt by grade."""
    n_pairs_of_rows = X.shape[0] // 2
    if recipe is RECIPES[Kind.ranking] and np.unique(extra["qid"]).size == 1 and n_pairs_of_rows > 1:
        return list(deal_by_grade(y, min(folds, n_pairs_of_rows)))
    splitter = recipe.folds(_checked_folds(folds, X, y, recipe, extra), shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)  # it is in as many folds as it can
        return list(splitter.split(X, y, **extra))


def _checked_folds(folds, X, y, recipe, extra):
    """Return the number of folds: at most one for each query, pair of items, row, or row of the largest class."""
    if isinstance(X, Pairs):
        units, name = len(np.unique(np.sort(X.index, axis=1), axis=0)), "pair of items"
    elif recipe.folds is StratifiedKFold:
        units, name = int(np.unique(y, return_counts=True)[1].max()), "row of each label"
    else:
        units, name = (np.unique(extra["qid"]).size, "query") if extra else (X.shape[0], "row")
    if units < 2:
        raise DataError(f"there is {units} {name}, so C cannot be cross-validated; pass --C, for example --C 1.")
    return min(folds, units)


def _items(kind, X):
    return X.items if kind is Kind.pairs else X


def _rows(extra, rows):
    return {name: values[rows] for name, values in extra.items()}
