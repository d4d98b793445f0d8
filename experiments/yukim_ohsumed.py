"""Beside Yu & Kim's Table 2: the whole of OHSUMED, five folds, against pointwise models and boosted trees.

All 106 queries of LETOR 2.0 in its five folds: three parts to train, one to choose parameters by NDCG@10, one to test.
The 25 features are scaled to [0, 1] within each query. A query is tested once, so that queries are the repetitions:
differences of models are paired over queries. Pointwise models predict the grade. Grids are small: two or three values
of C or alpha, two learning rates with 60 or 100 trees; a longer search may lift any of them. XGBoost and LightGBM are
optional: without them their rows are absent, and the page says so.
"""

from importlib import import_module
from itertools import chain

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge

from widemargin import RankingSVM, RankingVectorMachine
from widemargin.datasets import fetch_ohsumed
from widemargin.metrics import map_score, ndcg_score

from ._report import Check, Claim, Picture, Report, Table
from ._statistics import estimate, summary
from ._style import BARS, dots, panels

OURS = "RankingSVM, linear"
MARGIN = 0.02  # of NDCG@10: what counts as worse
ONE = {"n_estimators": 100, "random_state": 0, "n_jobs": 1}


def models(quick):
    """Return {name: (unfitted models of which the validation part chooses, what fit needs to know)}."""
    rvm = [RankingVectorMachine(C, kernel="rbf", n_components=40, tol=1e-3) for C in (1e-3,)]
    found = {
        OURS: ([RankingSVM(C) for C in (1e-4, 1e-3, 1e-2)], "qid"),
        "RankingSVM, RBF": ([RankingSVM(C, kernel="rbf", n_components=200, tol=1e-3) for C in (1e-4, 1e-3)], "qid"),
        "RankingVectorMachine, RBF": (rvm, "qid"),
        "ridge regression (scikit-learn)": ([Ridge(a) for a in (1, 10, 100)], None),
        "boosted trees (scikit-learn)": (
            [HistGradientBoostingRegressor(max_iter=60, learning_rate=r, random_state=0) for r in (0.03, 0.1)],
            None,
        ),
        "XGBoost, rank:ndcg": (trees("xgboost", "XGBRanker", objective="rank:ndcg", max_depth=4), "qid"),
        "LightGBM, lambdarank": (trees("lightgbm", "LGBMRanker", num_leaves=15, verbose=-1), "group"),
    }
    kept = (OURS, "ridge regression (scikit-learn)") if quick else found
    return {name: found[name] for name in kept}


def trees(package, ranker, **options):
    """Return rankers of an optional package with two learning rates; none where it is not installed."""
    try:
        made = getattr(import_module(package), ranker)
    except ImportError:
        return []
    return [made(learning_rate=rate, **ONE, **options) for rate in (0.03, 0.1)]


def run(quick, each):
    """Return the report."""
    data = fetch_ohsumed("2.0")
    X, known = within_query(data.X, data.qid), models(quick)
    missing = [name for name, (options, _) in known.items() if not options]
    folds = data.folds[: 1 if quick else 5]
    cases = [(X, data, fold, name, *known[name]) for fold in folds for name in known if name not in missing]
    frame = pd.DataFrame(chain.from_iterable(each(tested, cases, "fits")))
    means = {v: summary(frame, "model", v).sort_values("mean", ascending=False) for v in ("ndcg_10", "map")}
    tables = (
        Table("ndcg_10", "NDCG@10 (gain 2^grade - 1): mean over queries", means["ndcg_10"]),
        Table("map", "MAP (partially relevant counts): mean over queries", means["map"]),
        Table("queries", "Every query", frame),
    )
    caption = "Mean over OHSUMED's queries and 95 % interval of each model; differences are paired, see the checks"
    claims = claim(frame, "ndcg_10", "NDCG@10", missing), claim(frame, "map", "MAP", missing)
    return Report(
        "OHSUMED in five folds",
        "Beside Yu & Kim, section 5.3.2",
        claims,
        tables,
        (Picture("folds", caption, plot(means)),),
    )


def within_query(X, qid):
    """Return features scaled to [0, 1] within each query; constant ones are 0."""
    groups = pd.DataFrame(X).groupby(np.asarray(qid))
    low, high = groups.transform("min").to_numpy(), groups.transform("max").to_numpy()
    return (X - low) / np.where(high > low, high - low, 1.0)


def tested(X, data, fold, name, options, needs):
    """Yield the scores of each test query, by the model that the validation part prefers."""
    train, validation, test = fold
    train = train[np.argsort(data.qid[train], kind="stable")]  # rankers of trees want whole queries
    qid = data.qid[train]
    told = {"qid": {"qid": qid}, "group": {"group": np.unique(qid, return_counts=True)[1]}, None: {}}[needs]
    fitted = [model.fit(X[train], data.y[train], **told) for model in options]
    scores = [ndcg_score(data.y[validation], m.predict(X[validation]), qid=data.qid[validation], k=10) for m in fitted]
    u = fitted[int(np.argmax(scores))].predict(X[test])
    for query in np.unique(data.qid[test]):
        rows = data.qid[test] == query
        if np.any(data.y[test][rows]):
            y, v = data.y[test][rows], u[rows]
            yield {"query": query, "model": name, "ndcg_10": ndcg_score(y, v, k=10), "map": map_score(y, v)}


def claim(frame, value, title, missing):
    """The linear ranking SVM holds its own."""
    table = frame.pivot_table(index="query", columns="model", values=value)
    checks, winners = [], []
    for name in (n for n in table.columns if n != OURS):
        e = estimate(table[OURS] - table[name])
        checks.append(Check(f"not worse than {name} by {MARGIN} or more", e.is_above(-MARGIN), f"difference {e}"))
        winners += [name] if e.is_below(0) else []
    note = f"Surely better than the linear ranking SVM: {', '.join(winners) or 'none'}."
    note += f" Not installed, so absent: {', '.join(missing)}." if missing else ""
    return Claim(
        f"OHSUMED, {title}",
        "A linear ranking SVM is a match for what users pick today.",
        tuple(checks),
        len(table),
        note,
    )


def plot(means):
    """Return the means of both scores."""
    figure, axes = panels(2, sharey=True, width=5.0, says=BARS)
    names = means["ndcg_10"].model.tolist()[::-1]
    for ax, (value, label) in zip(axes, (("ndcg_10", "NDCG@10"), ("map", "MAP")), strict=True):
        part = means[value].set_index("model").loc[names].reset_index()
        dots(ax, part, of="model", ours=[n for n in names if n.startswith("Ranking")], xlabel=label)
    return figure
