"""The metrics that fit a kind, overall with bootstrap intervals, and per query."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from .. import metrics
from . import show
from .kinds import Kind
from .tables import DataError


@dataclass(frozen=True)
class OfQueries:
    """A metric of queries: over all of them, or of each; of a risk what is left of 1."""

    metric: Callable
    options: dict = field(default_factory=dict)
    is_risk: bool = False

    def __call__(self, y, u, qid):
        """Return the metric over all queries."""
        return self._good(self.metric(y, u, qid=qid, **self.options))

    def each(self, y, u, qid):
        """Return the metric of each query."""
        return self._good(metrics.by_query(self.metric, y, u, qid=qid, **self.options)[1])

    def _good(self, value):
        return 1.0 - value if self.is_risk else value


def predictions(model, kind, X):
    """Return what the metrics of a kind compare with the target."""
    return model.decision_function(X) if kind is Kind.pairs else model.predict(X)


def measures(kind, k, classes, width):
    """Return the metrics of a kind by name; each takes the target, the predictions and qid."""
    ranked = {
        f"NDCG@{k}": OfQueries(metrics.ndcg_score, {"k": k}),
        "MAP": OfQueries(metrics.map_score),
        "MRR": OfQueries(metrics.mrr_score),
        "concordance": OfQueries(metrics.concordance),
    }
    right = {"accuracy": lambda y, p, _: accuracy_score(y, p)}
    return {
        Kind.ranking: ranked,
        Kind.choice: {
            "right choices": OfQueries(metrics.top1_risk, is_risk=True),
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
    rng = np.random.default_rng(seed)
    overall = _values(functions, y, predicted, qid)
    drawn = _from_rows if qid is None else _from_queries
    samples = drawn(functions, y, predicted, qid, n_bootstrap, rng, progress)
    tail = 100 * (1 - level) / 2
    return {
        name: {"value": overall[name], "lower": low, "upper": high}
        for name in functions
        for low, high in [_percentiles(samples[name], tail)]
    }


def text(found):
    """Return metrics and intervals as a table."""
    rows = [("metric", "value", "95 % interval")]
    for name, at in found.items():
        interval = "" if np.isnan(at["lower"]) else f"{at['lower']:.4f} to {at['upper']:.4f}"
        rows.append((name, f"{at['value']:.4f}", interval))
    return show.table(rows, right=(1,))


def per_query(functions, y, predicted, qid, progress):
    """Return the metrics of each query, as columns."""
    if qid is None:
        raise DataError("--per-query needs query ids; the data have none.")
    codes, ids = _queries(qid)
    columns = {"qid": ids}
    for name, function in functions.items():
        if isinstance(function, OfQueries):
            columns[name] = function.each(y, predicted, codes)
        else:
            order = np.argsort(codes, kind="stable")
            members = np.split(order, np.cumsum(np.bincount(codes))[:-1])
            rows = [_values({name: function}, y[m], predicted[m], None) for m in progress(members, name)]
            columns[name] = np.array([row[name] for row in rows])
    return columns


def _from_queries(functions, y, predicted, qid, n_bootstrap, rng, progress):
    """Return resampled values: each metric is a mean over queries, the concordance one that counts their pairs."""
    columns = per_query(functions, y, predicted, qid, progress)
    codes, ids = _queries(qid)
    grades = np.unique(y, return_inverse=True)[1]
    same = np.bincount(codes * (grades.max() + 1) + grades, minlength=ids.size * (grades.max() + 1))
    pairs = (np.bincount(codes).astype(float) ** 2 - (same.reshape(ids.size, -1).astype(float) ** 2).sum(axis=1)) / 2
    picked = rng.multinomial(ids.size, np.full(ids.size, 1.0 / ids.size), size=n_bootstrap if ids.size > 1 else 0)
    samples = {}
    for name in functions:
        weight = np.where(np.isnan(columns[name]), 0.0, pairs if name == "concordance" else 1.0)
        whole = picked @ weight
        samples[name] = (picked @ (weight * np.nan_to_num(columns[name])))[whole > 0] / whole[whole > 0]
    return samples


def _from_rows(functions, y, predicted, _, n_bootstrap, rng, progress):
    """Return the metrics of resampled rows."""
    draws = (rng.integers(y.size, size=y.size) for _ in range(n_bootstrap))
    found = [_values(functions, y[r], predicted[r], None) for r in progress(draws, "bootstrap", n_bootstrap)]
    return {name: np.array([row[name] for row in found]) for name in functions}


def _queries(qid):
    """Return codes of the queries in order of first appearance, and their ids."""
    first, inverse = np.unique(qid, return_index=True, return_inverse=True)[1:]
    place = np.empty_like(first)
    place[np.argsort(first)] = np.arange(first.size)
    return place[inverse], np.asarray(qid)[np.sort(first)]


def _values(functions, y, predicted, qid):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an undefined metric is nan, which the output shows
        return {name: float(function(y, predicted, qid)) for name, function in functions.items()}


def _percentiles(values, tail):
    kept = values[~np.isnan(values)]
    return (float("nan"),) * 2 if kept.size == 0 else tuple(np.percentile(kept, [tail, 100 - tail]).tolist())
