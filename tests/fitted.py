"""Fitted models of every estimator and kernel, on small seeded data; each is made once."""

from functools import cache

import numpy as np
from sklearn.base import BaseEstimator

import generators
import widemargin
from widemargin import ComparisonSVM, OrdinalSVM, Pairs
from widemargin.calibration import CalibratedComparison, CalibratedOrdinal
from widemargin.kernels import RBF, Linear, Polynomial

NAMES = sorted(
    name
    for name in widemargin.__all__
    if issubclass(getattr(widemargin, name), BaseEstimator) and hasattr(getattr(widemargin, name), "predict")
)
DATA = {
    "MarginClassifier": generators.classes,
    "MarginRegressor": generators.targets,
    "OrdinalSVM": generators.ordered_labels,
    "ComparisonSVM": generators.pairs_with_ties,
    "TopRankSVM": generators.choices,
}
KERNELS = {
    "linear": {},
    "rbf": {"kernel": "rbf"},
    "poly": {"kernel": "poly", "degree": 2, "coef0": 1.0},
    "sum": {"kernel": RBF(0.3) + Linear()},
    "product": {"kernel": (RBF(0.1) + Polynomial(2, "scale", 1.0)) * Linear()},
    "low_rank": {"kernel": "rbf", "n_components": 5},
    "precomputed": {"kernel": "precomputed"},
}
EXTRAS = [  # (estimator, parameters): what only some of them have
    ("RankingVectorMachine", {"kernel": "sigmoid", "gamma": 0.2, "coef0": 0.1}),
    ("RankingVectorMachine", {"kernel": "rbf", "vectors": "pairs"}),
    ("ComparisonSVM", {"ties": "threshold"}),
    ("MarginClassifier", {"class_weight": {0: 2.0, 1: 1.0}}),
    ("TopRankSVM", {"slack": "pair"}),
]
CASES = [(name, kernel) for name in NAMES for kernel in KERNELS]


def data_of(name, **options):
    """Return data of the kind that an estimator takes; graded queries where nothing else is said."""
    return DATA.get(name.removesuffix("CV"), generators.graded_queries)(**options)


def fit(model, data, X=None):
    """Fit a model, or a pipeline of one, on the data as it takes them; X stands in for the data's own."""
    X = data.X if X is None else X
    if data.index is not None:
        return model.fit(Pairs(X, data.index), data.y)
    last = model.steps[-1][0] + "__qid" if hasattr(model, "steps") else "qid"
    return model.fit(X, data.y, **({} if data.qid is None else {last: data.qid}))


@cache
def fitted(name, kernel="linear", **parameters):
    """Return a fitted model and rows to score that it has not seen."""
    data = data_of(name)
    few = {"Cs": [0.1, 1.0], "cv": 2} if name.endswith("CV") else {}
    model = getattr(widemargin, name)(**few, **KERNELS[kernel], **parameters)
    if kernel != "precomputed":
        return fit(model, data), data.new
    return fit(model, data, data.X @ data.X.T), data.new @ data.X.T


@cache
def calibrated(name):
    """Return a model with probabilities and rows to score."""
    data = data_of(name)
    wrapper = CalibratedComparison if name == "ComparisonSVM" else CalibratedOrdinal
    base = ComparisonSVM(kernel="rbf") if name == "ComparisonSVM" else OrdinalSVM(kernel="rbf")
    return fit(wrapper(base, cv=3), data), data.new


def answers(model, rows):
    """Return everything that a model says about rows, by method; pairs are each row against the next."""
    paired = np.column_stack([np.arange(len(rows)), np.roll(np.arange(len(rows)), -1)])
    inner = getattr(model, "estimator_", model)
    X = Pairs(rows, paired) if hasattr(inner, "tie_width_") else rows
    said = {"utility": inner.utility(rows), "predict": model.predict(X)}
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            said[method] = getattr(model, method)(X)
    return said
