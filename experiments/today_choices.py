"""Choices from a set: ways to travel and heating systems, TopRankSVM against a multinomial logit.

Swissmetro: 10,719 stated choices between train, Swissmetro and car by 1,191 people; time, cost, headway and seats, and
a constant for each way. Heating: 900 households, five systems; installation and operating cost, and constants. Features
are divided by their standard deviation in the training sets. Ten folds of whole people (or households), so that nobody
is in both training and test; folds are the repetitions. `TopRankSVM` with one slack per set and with one per pair
(C = 1), with quadratic features, and a conditional logit on the same features, fitted by maximum likelihood. The
measure is the share of choices that the best row gets right. Only the logit gives probabilities of choices.
"""

from itertools import chain

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import PolynomialFeatures

from widemargin import TopRankSVM
from widemargin.datasets import fetch_heating, fetch_swissmetro
from widemargin.metrics import top1_risk

from ._report import Check, Claim, Picture, Report, Table
from ._seeds import seed
from ._statistics import estimate, side_by_side, summary
from ._style import BARS, dots, panels

DATA = {"Swissmetro": fetch_swissmetro, "heating": fetch_heating}
MARGIN = 0.01  # of the share of choices: what counts as worse
LOGIT = "multinomial logit"
POPULAR = "the most popular one"
SQUARES = "quadratic features"


def run(quick, each):
    """Return the report."""
    n, most = (2, 300) if quick else (10, None)
    sets = {name: load(fetch(), most) for name, fetch in DATA.items()}
    deal = GroupKFold(n, shuffle=True, random_state=seed())
    work = [(name, k, d, *fold) for name, d in sets.items() for k, fold in enumerate(deal.split(d[0], groups=d[3]))]
    frame = pd.DataFrame(chain.from_iterable(each(one_fold, work, "folds")))
    means = summary(frame, ["data", "model"], "hits")
    tables = (
        Table("by_model", "Share of choices predicted: mean ± standard error", side_by_side(means, "model", ["data"])),
        Table("folds", "Every fold", frame),
    )
    caption = "Share of choices predicted right, mean over folds and 95 % interval"
    claims = tuple(claim(frame[frame.data == name], name, n) for name in DATA)
    return Report("Travel and heating", "Data of today", claims, tables, (Picture("choices", caption, plot(means)),))


def load(data, most):
    """Return features with constants for the alternatives, choices, sets, who chose, and which alternative a row is."""
    X = np.column_stack([data.X, np.eye(data.alternative.max() + 1)[data.alternative][:, 1:]])
    person = data.get("person", data.qid)
    rows = slice(None) if most is None else data.qid < most
    return X[rows], data.y[rows], data.qid[rows], person[rows], data.alternative[rows]


def one_fold(name, k, data, train, test):
    """Yield the share of test choices that each model predicts."""
    X, y, qid, _, which = data
    X = X / np.where(X[train].std(axis=0) > 0, X[train].std(axis=0), 1.0)
    for kind, Z in {"": X, f", {SQUARES}": PolynomialFeatures(2, include_bias=False).fit_transform(X)}.items():
        for slack in ("task", "pair") if kind == "" else ("task",):
            model = TopRankSVM(slack=slack, tol=1e-3).fit(Z[train], y[train], qid=qid[train])
            yield hits(name, k, f"TopRankSVM, slack per {slack}{kind}", Z[test] @ model.coef_, y[test], qid[test])
        w = logit(Z[train], y[train], qid[train])
        yield hits(name, k, LOGIT + kind, Z[test] @ w, y[test], qid[test])
    share = pd.Series(y[train]).groupby(which[train]).sum()
    yield hits(name, k, POPULAR, share.reindex(which[test]).to_numpy(), y[test], qid[test])


def hits(name, k, model, u, y, qid):
    """Return the share of sets whose best row was chosen."""
    return {"data": name, "fold": k, "model": model, "hits": 1 - top1_risk(y, u, qid=qid)}


def logit(X, y, qid):
    """Return the weights of McFadden's conditional logit; the ridge of 1e-6 only keeps collinear features finite."""
    start = np.flatnonzero(np.diff(qid, prepend=-1))
    set_of = np.cumsum(np.diff(qid, prepend=-1) != 0) - 1

    def loss(w):
        u = X @ w
        log_sum = np.logaddexp.reduceat(u, start)
        p = np.exp(u - log_sum[set_of])
        n = start.size
        return (log_sum.sum() - y @ u) / n + 1e-6 * w @ w / 2, X.T @ (p - y) / n + 1e-6 * w

    return minimize(loss, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 500}).x


def claim(frame, name, n):
    """The margin machine predicts as many choices as the logit."""
    table = frame.pivot_table(index="fold", columns="model", values="hits")
    ours, squares = "TopRankSVM, slack per task", f", {SQUARES}"
    found = {"linear": (ours, LOGIT), SQUARES: (ours + squares, LOGIT + squares)}
    checks = []
    for what, (a, b) in found.items():
        e = estimate(table[a] - table[b])
        winner = "the SVM is better" if e.is_above(0) else "the logit is better" if e.is_below(0) else "no sure winner"
        checks.append(Check(f"{what}: not worse by {MARGIN} or more", e.is_above(-MARGIN), f"difference {e}: {winner}"))
    e = estimate(table[ours] - table[POPULAR])
    checks.append(Check("better than the most popular alternative", e.is_above(0), f"difference {e}"))
    says = (
        "TopRankSVM predicts as many choices as a multinomial logit on the same features, and learns something at all."
    )
    return Claim(name, says, tuple(checks), n)


def plot(means):
    """Return the shares for both sets."""
    figure, axes = panels(2, width=5.6, says=BARS)
    for ax, name in zip(axes, DATA, strict=True):
        part = means[means.data == name].sort_values("mean")
        dots(
            ax,
            part,
            of="model",
            ours=[m for m in part.model if m.startswith("Top")],
            xlabel="share of choices predicted",
        )
        ax.set_title(name)
    return figure
