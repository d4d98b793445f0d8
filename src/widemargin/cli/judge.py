"""The metrics that fit a kind, overall with bootstrap intervals, and per query."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from .. import metrics
from .kinds import Kind
from .tables import DataError


def predictions(model, kind, X):
    """Return what the metrics of a kind compare with the target."""
    return model.decision_function(X) if kind is Kind.pairs else model.predict(X)


def measures(kind, k, classes, width):
    """Return the metrics of a kind by name; each takes the target, the predictions and qid."""
    ranked = {
        f"NDCG@{k}": lambda y, u, qid: metrics.ndcg_score(y, u, qid=qid, k=k),
        "MAP": lambda y, u, qid: metrics.map_score(y, u, qid=qid),
        "MRR": lambda y, u, qid: metrics.mrr_score(y, u, qid=qid),
        "concordance": lambda y, u, qid: metrics.concordance(y, u, qid=qid),
    }
    right = {"accuracy": lambda y, p, _: accuracy_score(y, p)}
    return {
        Kind.ranking: ranked,
        Kind.choice: {
            "right choices": lambda y, u, qid: 1.0 - metrics.top1_risk(y, u, qid=qid),
            "MRR": ranked["MRR"],
        },
        Kind.ordinal: right | {
            "mean error in ranks": lambda y, p, _: metrics.mean_absolute_error(y, p, labels=classes),
            "quadratic kappa": lambda y, p, _: metrics.quadratic_weighted_kappa(y, p, labels=classes),
        },
        Kind.classes: right,
        Kind.value: {
            "R^2": lambda y, p, _: r2_score(y, p),
            "mean absolute error": lambda y, p, _: float(np.mean(np.abs(y - p))),
        },
        Kind.pairs: {
            "accuracy": lambda y, s, _: accuracy_score(y, np.where(np.abs(s) <= width, 0, np.sign(s)).astype(int)),
            "AUC of comparisons": lambda y, s, _: metrics.comparison_auc(y, s),
        },
    }[kind]  # fmt: skip


def evaluate(functions, y, predicted, qid, *, n_bootstrap, progress, level=0.95, seed=0):
    """Return for each metric its value and an interval from resampled queries (rows, where there are none)."""
    units = np.arange(y.size) if qid is None else np.unique(qid, return_inverse=True)[1]
    order = np.argsort(units, kind="stable")
    bounds = np.append(np.flatnonzero(np.append(True, np.diff(units[order]) != 0)), units.size)
    members = [order[a:b] for a, b in pairwise(bounds)]
    rng = np.random.default_rng(seed)
    drawn = {name: [] for name in functions}
    for _ in progress(range(n_bootstrap if len(members) > 1 else 0), "bootstrap"):
        picked = [members[m] for m in rng.integers(len(members), size=len(members))]
        rows = np.concatenate(picked)
        again = None if qid is None else np.repeat(np.arange(len(picked)), [p.size for p in picked])
        for name, value in _values(functions, y[rows], predicted[rows], again).items():
            drawn[name].append(value)
    overall = _values(functions, y, predicted, qid)
    tail = 100 * (1 - level) / 2
    return {
        name: {"value": overall[name], "lower": low, "upper": high}
        for name in functions
        for low, high in [_percentiles(drawn[name], tail)]
    }


def per_query(functions, y, predicted, qid):
    """Return the metrics of each query, as columns."""
    if qid is None:
        raise DataError("--per-query needs query ids; the data have none.")
    ids = np.array(list(dict.fromkeys(qid.tolist())))
    rows = [_values(functions, y[qid == q], predicted[qid == q], np.zeros(int(np.sum(qid == q)))) for q in ids]
    return {"qid": ids} | {name: np.array([row[name] for row in rows]) for name in functions}


def _values(functions, y, predicted, qid):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an undefined metric is nan, which the output shows
        return {name: float(function(y, predicted, qid)) for name, function in functions.items()}


def _percentiles(values, tail):
    kept = np.array(values)[~np.isnan(values)] if len(values) else np.array([])
    return (float("nan"),) * 2 if kept.size == 0 else tuple(np.percentile(kept, [tail, 100 - tail]).tolist())
