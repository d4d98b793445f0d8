"""A minute with widemargin: four kinds of preference, one table, one picture.

Run `python -m widemargin.demo`; it trains on generated data and on a set that scikit-learn ships.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from . import ComparisonSVM, OrdinalSVM, RankingSVM, TopRankSVM
from .datasets import make_choices, make_comparisons, make_graded_queries
from .metrics import mean_absolute_error, ndcg_score, top1_risk


def graded_queries():
    """Rank documents within queries; the baseline regresses on the grades and ignores the queries."""
    data = make_graded_queries(400, docs_per_query=(10, 60), n_features=20, noise=1.0, random_state=0)
    train = data.qid < 200
    model, seconds = _timed(lambda: RankingSVM(C=1e-3).fit(data.X[train], data.y[train], qid=data.qid[train]))
    naive = LinearRegression().fit(data.X[train], data.y[train])
    scores = [ndcg_score(data.y[~train], m.predict(data.X[~train]), qid=data.qid[~train], k=10) for m in (naive, model)]
    return "graded queries", "RankingSVM", "NDCG@10, higher is better", "regression on grades", *scores, model, seconds


def ordered_labels():
    """Predict a disease's progression in five ordered steps; the baseline always says the most frequent one."""
    X, y = load_diabetes(return_X_y=True)
    labels = np.digitize(y, np.quantile(y, [0.2, 0.4, 0.6, 0.8])) + 1
    X, X_test, y, y_test = train_test_split(X, labels, random_state=0)
    pipe, seconds = _timed(lambda: make_pipeline(StandardScaler(), OrdinalSVM(C=1e-4)).fit(X, y))
    naive = DummyClassifier().fit(X, y)
    errors = [mean_absolute_error(y_test, m.predict(X_test)) for m in (naive, pipe)]
    return (
        "ordered labels",
        "OrdinalSVM",
        "mean error in steps, lower is better",
        "most frequent",
        *errors,
        pipe[-1],
        seconds,
    )


def pairs_with_ties():
    """Say better, same or worse; the baseline always says the most frequent outcome."""
    train, test = (make_comparisons(400, norm=1, noise=0.1, random_state=seed) for seed in (0, 1))
    model, seconds = _timed(lambda: ComparisonSVM(C=10.0, kernel="rbf", gamma=0.2).fit(train.X, train.y))
    naive = DummyClassifier().fit(np.zeros((train.y.size, 1)), train.y)
    guess = naive.predict(np.zeros((test.y.size, 1)))
    scores = [accuracy_score(test.y, guess), accuracy_score(test.y, model.predict(test.X))]
    return "pairs with ties", "ComparisonSVM", "accuracy, higher is better", "most frequent", *scores, model, seconds


def choices():
    """Pick the product a customer takes; the baseline picks at random."""
    data = make_choices(600, random_state=0)
    train = data.qid < 300
    model, seconds = _timed(lambda: TopRankSVM(C=1.0).fit(data.X[train], data.y[train], qid=data.qid[train]))
    X, y, qid = data.X[~train], data.y[~train], data.qid[~train]
    naive = np.random.default_rng(0).random(y.size)
    risks = [top1_risk(y, naive, qid=qid), top1_risk(y, model.utility(X), qid=qid)]
    return "choices from a set", "TopRankSVM", "wrong choices, lower is better", "random", *risks, model, seconds


def main(argv=None):
    """Run the demo: print the table, draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", default="demo.png", help="where to write the picture")
    path = parser.parse_args(argv).picture
    head = ("data", "estimator", "measure", "baseline", "baseline's", "ours", "gap", "seconds")
    line = "{:<19} {:<14} {:<37} {:<21} {:>10} {:>7} {:>9} {:>8}"
    sys.stdout.write(line.format(*head) + "\n" + "-" * 132 + "\n")
    for run in (graded_queries, ordered_labels, pairs_with_ties, choices):
        kind, name, measure, baseline, theirs, ours, model, seconds = run()
        row = (
            kind,
            name,
            measure,
            baseline,
            f"{theirs:.3f}",
            f"{ours:.3f}",
            f"{model.duality_gap_:.0e}",
            f"{seconds:.2f}",
        )
        sys.stdout.write(line.format(*row) + "\n")
    sys.stdout.write(
        "\nThe gap is a certificate: the objective is at most that far, relatively, from the best possible one.\n"
    )
    try:
        draw(path)
    except ImportError:
        sys.stdout.write("No picture: it needs matplotlib; pip install 'widemargin[plot]' brings it.\n")
    else:
        sys.stdout.write(f"Picture: {path}\n")


def draw(path):
    """Draw the utility learned from pairs with ties, and the utility and thresholds learned from ordered labels."""
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
    _draw_pairs(left)
    _draw_thresholds(right)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _draw_pairs(axes):
    """Draw level curves of the learned utility under the pairs: arrows point to the preferred item."""
    data = make_comparisons(400, norm=1, noise=0.1, random_state=0)
    model = ComparisonSVM(C=10.0, kernel="rbf", gamma=0.2).fit(data.X, data.y)
    grid = np.linspace(-3.2, 3.2, 80)
    mesh = np.stack(np.meshgrid(grid, grid), axis=-1)
    levels = model.utility(mesh.reshape(-1, 2)).reshape(80, 80)
    axes.contour(grid, grid, levels, 12, cmap="cividis", linewidths=1.0)
    near = np.flatnonzero(np.linalg.norm(data.X[:, 0] - data.X[:, 1], axis=1) < 2.0)
    shown = np.concatenate([near[data.y[near] == 0][:14], near[data.y[near] != 0][:18]])
    for (a, b), outcome in zip(data.X[shown], data.y[shown], strict=True):
        style = {"arrowstyle": "-", "color": "0.55", "lw": 1.6} if outcome == 0 else {"arrowstyle": "-|>", "color": "k"}
        start, end = (b, a) if outcome >= 0 else (a, b)
        axes.annotate("", xy=end, xytext=start, arrowprops=style)
    axes.plot([], [], color="0.55", lw=1.6, label="no difference")
    axes.plot([], [], color="k", marker=">", label="arrow to the preferred")
    axes.plot([], [], color="#7c7b78", lw=1.0, label="equal learned utility")
    axes.set(
        title=f"Pairs with ties: the learned utility, {shown.size} of 400 pairs",
        xlabel="feature 1",
        ylabel="feature 2",
        aspect="equal",
    )
    axes.legend(loc="upper right", fontsize=8, framealpha=0.9)


def _draw_thresholds(axes):
    """Draw where items of each label fall on the utility, and the thresholds between the labels."""
    X, y = load_diabetes(return_X_y=True)
    labels = np.digitize(y, np.quantile(y, [0.2, 0.4, 0.6, 0.8])) + 1
    pipe = make_pipeline(StandardScaler(), OrdinalSVM(C=1e-4)).fit(X, labels)
    utility = pipe[-1].utility(pipe[:-1].transform(X))
    jitter = np.random.default_rng(0).uniform(-0.3, 0.3, labels.size)
    axes.scatter(utility, labels + jitter, c=labels, cmap="cividis", s=12, edgecolor="k", linewidth=0.2)
    for k, cut in enumerate(pipe[-1].thresholds_):
        axes.axvline(cut, color="k", ls="--", lw=1, label="threshold between neighbouring labels" if k == 0 else None)
    axes.set(
        title="Diabetes as ordered labels: utility and thresholds",
        xlabel="learned utility",
        ylabel="true label (1 = mildest)",
    )
    axes.set_yticks(range(1, 6))
    axes.legend(loc="lower right", fontsize=8, framealpha=0.9)


def _timed(fit):
    start = time.perf_counter()
    model = fit()
    return model, time.perf_counter() - start


if __name__ == "__main__":
    main()
