"""C chosen by cross-validation: each fold is scored along its path, and the best C is fitted on all data."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
from sklearn import config_context
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import indexable
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.parallel import Parallel, delayed

from . import metrics
from ._path import c_path, check_Cs
from .exceptions import CollapseWarning
from .model_selection import PairKFold, QueryKFold, deal_by_grade

OWN = ("Cs", "cv", "scoring", "n_jobs")  # parameters that the machine itself does not have


class PathCV:
    """What `...CV` estimators add to the machine that they inherit from: a `fit` that chooses C first."""

    def _fit_along_path(self, X, y, **given):
        """Choose C, fit the machine with it on all data, and take over what it learned."""
        Cs = check_Cs(self.Cs)
        params = {name: value for name, value in self.get_params(deep=False).items() if name not in OWN}
        machine = self._machine(C=float(Cs[0]), **params)
        scores = self._scores(machine, X, y, Cs, given)
        mean = np.nanmean(scores, axis=0) if np.any(np.isfinite(scores)) else np.zeros(Cs.size)
        best = float(np.min(Cs[mean == np.nanmax(mean)]))  # of equals the simplest
        machine.set_params(C=best).fit(X, y, **{name: value for name, value in given.items() if value is not None})
        own = machine.get_params(deep=False)  # parameters, not what was learned
        vars(self).update({name: value for name, value in vars(machine).items() if name not in own})
        self.Cs_, self.scores_, self.C_ = Cs, scores, best
        return self

    def _scores(self, machine, X, y, Cs, given):
        """Return the score of each fold at each C."""
        rows = dict(given)
        if isinstance(rows.get("qid"), str):
            X, rows["qid"] = self._split_qid(X, rows["qid"])
        rows = {name: np.asarray(value) for name, value in rows.items() if value is not None}
        X, y = indexable(X, y)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if n < 2 or (y is None and not self._machine_takes_pairs):
            machine.fit(X, y)  # which says what is wrong
        scorer, folds = _scorer(self.scoring), self._folds(X, y, n, rows.get("qid"))
        work = (delayed(_score_path)(machine, X, y, Cs, rows, scorer, *fold) for fold in folds)
        return np.array(Parallel(n_jobs=self.n_jobs)(work))

    def _folds(self, X, y, n, qid):
        """Return the (train, test) rows of each fold."""
        if self.cv is not None and not isinstance(self.cv, (int, np.integer)):
            return list(check_cv(self.cv).split(X, y, qid))
        n_folds = 5 if self.cv is None else int(self.cv)
        if self._machine_takes_pairs:
            return list(PairKFold(n_folds).split(X))
        if qid is not None and len(set(qid.tolist())) > 1:
            return list(QueryKFold(min(n_folds, len(set(qid.tolist())))).split(X, groups=qid))
        return list(deal_by_grade(np.asarray(y).reshape(n, -1)[:, 0], min(n_folds, n)))

    _machine_takes_pairs = False


def _score_path(machine, X, y, Cs, rows, scorer, train, test):
    """Return the scores on the test rows of the models along the training rows' path."""
    precomputed = machine.__sklearn_tags__().input_tags.pairwise
    known, new = (_take(X, part, train if precomputed else None) for part in (train, test))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)  # its score tells: such a C is not chosen
        path = c_path(machine, known, _take(y, train), Cs, **{name: value[train] for name, value in rows.items()})
    held_out = {name: value[test] for name, value in rows.items()}
    return [scorer(model, new, _take(y, test), held_out) for model in path.estimators]


def _scorer(scoring):
    """Return a function of (model, X, y, rows' metadata) from a name, a callable or None for the model's own."""
    if scoring is None:
        return _own_score
    if isinstance(scoring, str):
        ours = f"{scoring}_scorer"
        return _Scorer(getattr(metrics, ours) if ours in dir(metrics) else get_scorer(scoring))
    if not callable(scoring):
        raise TypeError(f"scoring={scoring!r} is not understood; expected None, a name, or a callable(model, X, y).")
    return _Scorer(scoring)


def _own_score(model, X, y, rows):
    return model.score(X, y, **rows)


class _Scorer:
    """A scorer that is handed the metadata it asks for."""

    def __init__(self, score):
        self.score = score

    def __call__(self, model, X, y, rows):
        with config_context(enable_metadata_routing=True):  # else scikit-learn's scorers refuse metadata
            if hasattr(self.score, "get_metadata_routing"):
                asked = get_routing_for_object(self.score).consumes("score", rows)
            else:
                asked = inspect.signature(self.score).parameters
            return self.score(model, X, y, **{name: value for name, value in rows.items() if name in asked})


def _take(data, rows, columns=None):
    """Return some rows of an array, a CSR matrix, a frame or pairs; and some columns where given."""
    if data is None:
        return None
    if hasattr(data, "iloc"):
        return data.iloc[rows] if columns is None else data.iloc[rows, columns]
    data = data if hasattr(data, "shape") else np.asarray(data)
    return data[rows] if columns is None else data[rows][:, columns]
