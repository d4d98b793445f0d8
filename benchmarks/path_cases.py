"""What `python -m benchmarks.paths` measures: estimators, data, and the loss that the referee recomputes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels

from widemargin import (
    ComparisonSVM,
    MarginClassifier,
    MarginRegressor,
    OrdinalSVM,
    Pairs,
    RankingSVM,
    RankingVectorMachine,
    TopRankSVM,
)
from widemargin.datasets import make_choices, make_comparisons, make_graded_queries, make_ordinal

from .datasets import WORKLOADS
from .datasets.graded import queries
from .objective import PairSums
from .solvers.ours import estimator as ours

SOFT, HARD = np.logspace(-4, 2, 20), np.logspace(-6, 0, 20)  # HARD: for many pairs, whose sum C multiplies
WIDE = np.geomspace(1e-4, 1e4, 20)  # what c_path takes if not told


@dataclass(frozen=True)
class Case:
    """An estimator with its data; `slack(u, intercept)` gives the shortfalls whose (squared) sum C multiplies."""

    estimator: Any
    X: Any
    y: np.ndarray
    slack: Callable
    items: np.ndarray
    more: dict = field(default_factory=dict)
    Cs: np.ndarray = field(default_factory=lambda: SOFT)
    scale: float = 1.0  # what C is divided by
    one_norm: Callable | None = None  # the coefficients whose 1-norm takes the place of 1/2 |w|^2

    def objective(self, model):
        """Return 1/2 |w|^2, or the 1-norm, + C * loss in float64, from the model's parameters and the data."""
        items = np.asarray(self.items, dtype=float)
        if model.kernel == "linear":
            u, norm = items @ model.coef_, float(model.coef_ @ model.coef_)
        else:
            how = {"gamma": model.gamma, "degree": model.degree, "coef0": model.coef0, "filter_params": True}
            weights = model.dual_coef_
            u = pairwise_kernels(items, metric=model.kernel, **how)[:, model.support_] @ weights
            norm = float(weights @ u[model.support_])
        loss = getattr(model, "loss", "hinge")
        regulariser = np.abs(self.one_norm(model)).sum() if self.one_norm else 0.5 * norm
        return regulariser + model.C / self.scale * self.slack(u, getattr(model, "intercept_", 0.0), loss)


def _summed(short, loss, weight=1.0):
    short = np.maximum(short, 0.0)
    return float(np.sum(weight * (short**2 if loss.startswith("squared") else short)))


def ranking(estimator, X, y, qid=None, **more):
    """All pairs of a query; ordinal labels are one query."""
    sums = PairSums(y, np.zeros(len(y), dtype=np.int64) if qid is None else qid)

    def slack(u, _, loss):
        at = sums(u, 1.0)
        return at.square if loss.startswith("squared") else at.linear

    if estimator.get_params()["C_scale"] == "mean":
        more["scale"] = sums(np.zeros(len(y)), 1.0).n_pairs
    return Case(estimator, X, y, slack, X, {} if qid is None else {"qid": qid}, **more)


def vectors(n, quick, Cs=SOFT, **how):
    """Few vectors by a 1-norm, over points or over pairs."""
    estimator = RankingVectorMachine(**how)
    name = "pair_coef_" if estimator.vectors == "pairs" else "dual_coef_"
    return ranking(estimator, *_curved(40 if quick else n), Cs=Cs, one_norm=lambda model: getattr(model, name))


def comparison(estimator, n, **more):
    """Pairs of points, half of them ties."""
    made = make_comparisons(n, norm=1, noise=0.1, random_state=0)
    points = made.X.reshape(-1, 2)
    if estimator.kernel == "linear":  # the utility is no linear function of the points themselves
        points = np.hstack([points, points**2, np.abs(points[:, :1] * points[:, 1:])])
    return compared(estimator, Pairs(points, np.arange(2 * n).reshape(-1, 2)), made.y, **more)


def compared(estimator, pairs, y, **more):
    """Pairs with ties: wins beyond the level and ties within it, wins alone, or ties in both directions."""
    wins, (first, second) = y != 0, pairs.index.T

    def slack(u, level, loss):
        s = u[first] - u[second]
        win, tie = y[wins] * s[wins], s[~wins]
        if estimator.ties == "threshold":
            return _summed(1.0 - win, loss)
        if estimator.ties == "both_ways":
            return 2.0 * _summed(1.0 - win, loss) + _summed(1.0 - tie, loss) + _summed(1.0 + tie, loss)
        parts = (1.0 - level - win, 1.0 + level + tie, 1.0 + level - tie)
        return sum(_summed(part, loss) for part in parts)

    return Case(estimator, pairs, y, slack, pairs.items, **more)


def choice(estimator, n):
    """One slack per set."""
    made = make_choices(n, noise=0.5, random_state=0)
    chosen, qid = made.y > 0, np.unique(made.qid, return_inverse=True)[1]

    def slack(u, _, loss):
        rivals = np.full(int(qid.max()) + 1, -np.inf)
        np.maximum.at(rivals, qid[~chosen], u[~chosen])
        return _summed(1.0 - u[chosen] + rivals[qid[chosen]], loss)

    return Case(estimator, made.X, made.y, slack, made.X, {"qid": made.qid})


def classes(estimator, X, u, **more):
    """Two classes that overlap."""
    y = np.where(u > np.median(u), 1, -1)
    return Case(estimator, X, y, lambda u, b, loss: _summed(1.0 - y * (u + b), loss), X, **more)


def values(estimator, X, y, **more):
    """Noisy targets."""
    return Case(estimator, X, y, lambda u, b, loss: _summed(np.abs(y - u - b) - estimator.epsilon, loss), X, **more)


def _curved(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)


def _straight(kind, quick, **how):
    """Classes or targets by 60 columns and noise."""
    n, rng = 500 if quick else 50_000, np.random.default_rng(0)
    X, w = rng.normal(size=(n, 60)), rng.normal(size=60)
    make = values if kind is MarginRegressor else classes
    return make(kind(**how), X, X @ w / 8.0 + rng.normal(size=n), Cs=np.logspace(0, 4, 20) / n)


def _steep(n, n_queries):
    """Graded queries that a kernel can separate, up to a C where it nearly does."""
    X, u = _curved(n)
    y = np.digitize(u, np.quantile(u, [0.2, 0.4, 0.6, 0.8]))
    return ranking(_rbf(RankingSVM), X, y, np.arange(n) % n_queries, Cs=np.logspace(-3, 3, 20))


def _of_table(name, quick):
    """A workload of the table, two decades of C to either side of its own."""
    problem = WORKLOADS[name].make(quick)
    Cs = problem.C * np.logspace(-2, 2, 20)
    if problem.kind == "comparison":
        return compared(ours(problem), Pairs(problem.X, problem.index), problem.y, Cs=Cs)
    more = {"one_norm": lambda model: model.dual_coef_} if problem.kind == "vectors" else {}
    return ranking(ours(problem), problem.X, problem.y, problem.qid, Cs=Cs, **more)


def _graded(estimator, n_queries, size, p, **more):
    made = make_graded_queries(n_queries, docs_per_query=size, n_features=p, noise=1.0, random_state=0)
    return ranking(estimator, made.X, made.y, made.qid, **more)


def _many(estimator, n, **more):
    made = queries(n, 136, n // 100, quick=n == 2_000)
    return ranking(estimator, made.X, made.y, made.qid, **more)


def _ordinal(estimator, n, **more):
    made = make_ordinal(n, random_state=0)
    return ranking(estimator, made.X, made.y, **more)


def _rbf(kind, gamma=0.1, **how):
    return kind(kernel="rbf", gamma=gamma, **how)


SQUARED = {"loss": "squared_hinge"}
RBF = {"kernel": "rbf", "gamma": 0.1}
TABLE = (
    "graded-10k",
    "badly-scaled",
    "kernel-600-hinge",
    "kernel-1k",
    "kernel-3k",
    "ordinal-5k",
    "compare-5k",
    "votes-100k",
    "signed-200",
    "signed-400",
)
POLY = {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 1.0}
CASES = {  # name: n (1 for a smoke test) -> Case
    "ranking 300": lambda q: _graded(RankingSVM(), 4 if q else 20, 15, 10),
    "ranking 2000": lambda q: _graded(RankingSVM(), 5 if q else 100, 20, 20),
    "ranking 2000 squared": lambda q: _graded(RankingSVM(**SQUARED), 5 if q else 100, 20, 20),
    "ranking 3000 x 136": lambda q: _many(RankingSVM(), 2_000 if q else 3_000, Cs=SOFT),
    "ranking 10k x 136": lambda q: _many(RankingSVM(), 2_000 if q else 10_000, Cs=HARD),
    "ranking 100k": lambda q: _many(RankingSVM(), 2_000 if q else 100_000, Cs=HARD),
    "ranking 100k squared": lambda q: _many(RankingSVM(**SQUARED), 2_000 if q else 100_000, Cs=HARD),
    "ranking 100k mean": lambda q: _many(RankingSVM(C_scale="mean"), 2_000 if q else 100_000, Cs=1e4 * SOFT),
    "ranking 30k wide": lambda q: _many(RankingSVM(), 2_000 if q else 30_000, Cs=WIDE),
    "kernel ranking 200": lambda q: ranking(_rbf(RankingSVM), *_curved(60 if q else 200)),
    "kernel ranking 600": lambda q: ranking(_rbf(RankingSVM), *_curved(80 if q else 600)),
    "kernel ranking 600 squared": lambda q: ranking(_rbf(RankingSVM, **SQUARED), *_curved(80 if q else 600)),
    "kernel ranking 3000": lambda q: ranking(_rbf(RankingSVM), *_curved(100 if q else 3000), Cs=HARD),
    "kernel ranking 3000 squared": lambda q: ranking(
        _rbf(RankingSVM, **SQUARED), *_curved(100 if q else 3000), Cs=HARD
    ),
    "steep kernel ranking 300": lambda q: _steep(60 if q else 300, 1),
    "steep kernel ranking 600": lambda q: _steep(60 if q else 600, 20),
    "ordinal 200": lambda q: _ordinal(OrdinalSVM(), 50 if q else 200),
    "ordinal 200 poly": lambda q: _ordinal(OrdinalSVM(**POLY), 50 if q else 200),
    "ordinal 200 poly squared": lambda q: _ordinal(OrdinalSVM(**POLY, **SQUARED), 50 if q else 200),
    "ordinal 200 rbf": lambda q: _ordinal(_rbf(OrdinalSVM, 1.0), 50 if q else 200),
    "ordinal 2000": lambda q: _ordinal(OrdinalSVM(), 60 if q else 2000),
    "ordinal 2000 poly": lambda q: _ordinal(OrdinalSVM(**POLY), 60 if q else 2000, Cs=HARD),
    "ordinal 2000 rbf": lambda q: _ordinal(_rbf(OrdinalSVM, 1.0), 60 if q else 2000, Cs=HARD),
    "comparison 1000": lambda q: comparison(ComparisonSVM(), 80 if q else 1000),
    "comparison 1000 threshold": lambda q: comparison(ComparisonSVM(ties="threshold"), 80 if q else 1000),
    "comparison 1000 both ways": lambda q: comparison(ComparisonSVM(ties="both_ways"), 80 if q else 1000),
    "comparison 1000 wide": lambda q: comparison(ComparisonSVM(), 80 if q else 1000, Cs=WIDE),
    "comparison 20k": lambda q: comparison(ComparisonSVM(), 100 if q else 20_000),
    "kernel comparison 600": lambda q: comparison(_rbf(ComparisonSVM, 0.2), 60 if q else 600),
    "kernel comparison 600 squared": lambda q: comparison(_rbf(ComparisonSVM, 0.2, **SQUARED), 60 if q else 600),
    "kernel comparison 600 threshold": lambda q: comparison(
        _rbf(ComparisonSVM, 0.2, ties="threshold"), 60 if q else 600
    ),
    "kernel comparison 600 both ways": lambda q: comparison(
        _rbf(ComparisonSVM, 0.2, ties="both_ways"), 60 if q else 600
    ),
    "kernel comparison 2000": lambda q: comparison(_rbf(ComparisonSVM, 0.2), 60 if q else 2000),
    "choice 500": lambda q: choice(TopRankSVM(), 40 if q else 500),
    "classes 600": lambda q: classes(MarginClassifier(), *_curved(60 if q else 600)),
    "classes 600 rbf": lambda q: classes(_rbf(MarginClassifier), *_curved(60 if q else 600)),
    "classes 50k": partial(_straight, MarginClassifier),
    "classes 50k squared": partial(_straight, MarginClassifier, **SQUARED),
    "values 600": lambda q: values(MarginRegressor(), *_curved(60 if q else 600)),
    "one norm 200": lambda q: vectors(200, q),
    "one norm 400": lambda q: vectors(400, q),
    "one norm 400 pairs": lambda q: vectors(400, q, vectors="pairs"),
    "one norm 100 rbf": lambda q: vectors(100, q, **RBF),
    "one norm 200 rbf": lambda q: vectors(200, q, **RBF),
    "one norm 400 rbf": lambda q: vectors(400, q, **RBF),
    "one norm 400 rbf near": lambda q: vectors(400, q, Cs=10 / 400 * np.logspace(-1, 1, 20), **RBF),
    "one norm 400 rbf positive": lambda q: vectors(400, q, positive=True, **RBF),
    "one norm 200 rbf pairs": lambda q: vectors(200, q, vectors="pairs", **RBF),
    "one norm 200 rbf pairs positive": lambda q: vectors(200, q, vectors="pairs", positive=True, **RBF),
    "values 600 rbf": lambda q: values(_rbf(MarginRegressor), *_curved(60 if q else 600)),
    "values 50k": partial(_straight, MarginRegressor),
    "values 50k squared": partial(_straight, MarginRegressor, loss="squared_epsilon_insensitive"),
    **{name: partial(_of_table, name) for name in TABLE},
}
