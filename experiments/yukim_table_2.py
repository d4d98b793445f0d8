"""Yu & Kim, Table 2: the RVM and the ranking SVM on OHSUMED's first three queries.

LETOR 2.0's 25 features, scaled to [0, 1] on the training documents; three grades of relevance; 138, 153 and 235
documents (the paper prints 134, 128, 182). The documents of a query are dealt into three folds, each the test of a
machine trained on the other two, and the whole is repeated. The paper reports the best of its parameters on the test
folds; we choose C (0.01, 1, 100) and gamma (0.1, 1) by three folds *within* the training documents. A repetition is a
new deal of the same documents (nine, after six could not tell; the margin of 0.03 is the same): intervals do not
say what other queries would give; `yukim_ohsumed` does. Accuracy is the share of pairs of different grade in the right
order; a failed check on it may mean a difference, or an interval that is too wide to tell: its numbers say which.
"Vectors" of the SVM are documents in support pairs, as in the paper. Seconds are processor time.
"""

import time
import warnings
from itertools import chain, product

import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from widemargin import CollapseWarning, ConeWarning
from widemargin.datasets import fetch_ohsumed

from . import _yukim
from ._report import Check, Claim, Picture, Report, Table
from ._seeds import seed
from ._statistics import all_above_zero, estimate, summary
from ._style import COLOURS, LINES, MARKERS, panels

QUERIES, KERNELS = (1, 2, 3), ("linear", "rbf")
CS, GAMMAS = (0.01, 1.0, 100.0), (0.1, 1.0)
PAPER = {  # accuracy of RVM and SVM
    (1, "linear"): (0.5484, 0.5621),
    (1, "rbf"): (0.5055, 0.5490),
    (2, "linear"): (0.6730, 0.6723),
    (2, "rbf"): (0.6637, 0.6762),
    (3, "linear"): (0.6611, 0.6588),
    (3, "rbf"): (0.6723, 0.6710),
}
KEYS = ["query", "kernel", "machine"]


def run(quick, each):
    """Return the report."""
    data, n = fetch_ohsumed("2.0"), 1 if quick else 9
    queries = QUERIES[:1] if quick else QUERIES
    work = product([data], queries, range(n), ("linear",) if quick else KERNELS, _yukim.MACHINES, [quick])
    rows = chain.from_iterable(each(folds, work, "machines"))
    frame = pd.DataFrame(rows).groupby([*KEYS, "repetition"], as_index=False).mean()
    means = {v: summary(frame, KEYS, v) for v in ("accuracy", "seconds", "vectors", "pairs")}
    table = means["accuracy"][[*KEYS, "mean", "se"]].rename(columns={"mean": "accuracy"})
    for v in ("seconds", "vectors", "pairs"):
        table = table.merge(means[v][[*KEYS, "mean"]].rename(columns={"mean": v}), how="left")
    return Report(
        "OHSUMED's first three queries",
        "Yu & Kim, section 5.3.2",
        tuple(claims(frame, n)),
        (Table("table_2", "Means over the repetitions", table), Table("repetitions", "Every repetition", frame)),
        (
            Picture(
                "table_2",
                "Accuracy with 95 % intervals over deals; crosses: the paper's numbers",
                plot(means["accuracy"]),
            ),
        ),
    )


def folds(data, query, repetition, kernel, name, quick):
    """Yield accuracy, time and vectors on each of three folds."""
    X, y = data.X[data.qid == query], data.y[data.qid == query]
    for train, test in StratifiedKFold(3, shuffle=True, random_state=seed(repetition)).split(X, y):
        search = tuned(name, kernel, quick=quick)
        with warnings.catch_warnings():
            for kind in (CollapseWarning, ConeWarning, ConvergenceWarning):
                warnings.simplefilter("ignore", kind)
            search.fit(X[train], y[train])
            start = time.process_time()
            model = search.best_estimator_.fit(X[train], y[train])
            seconds = time.process_time() - start
        key = {"query": query, "repetition": repetition, "kernel": kernel, "machine": name}
        counts = _yukim.vectors(name, model[-1], (model[0].transform(X[train]), y[train]))
        yield key | {"accuracy": model.score(X[test], y[test]), "seconds": seconds, **counts}


def tuned(name, kernel, *, quick):
    """Return a search over the parameters by three folds of what it is given."""
    machine = _yukim.machine(name, kernel=kernel)
    step = type(machine).__name__.lower()
    grid = {f"{step}__C": CS[::2] if quick else CS} | ({f"{step}__gamma": GAMMAS} if kernel == "rbf" else {})
    inner = StratifiedKFold(3, shuffle=True, random_state=seed())
    return GridSearchCV(make_pipeline(MinMaxScaler(), machine), grid, cv=inner, refit=True)


def claims(frame, n):
    """Yield what the paper reads off the table."""
    wide = frame.pivot_table(index="repetition", columns=["machine", "query", "kernel"])
    gap = wide["accuracy"]["svm"] - wide["accuracy"]["positive"]
    comparable = {key: estimate(gap[key]) for key in gap.columns}
    checks = [
        Check(f"query {q}, {k}: within 0.03", e.is_within(0.03), f"SVM - RVM = {e}") for (q, k), e in comparable.items()
    ]
    yield Claim("Table 2, accuracy", "RVM and SVM are comparable in accuracy.", tuple(checks), n)
    fewer = [estimate(wide["vectors"]["svm"][key] - wide["vectors"]["positive"][key]) for key in gap.columns]
    most = frame[frame.machine == "positive"].vectors.mean()
    less = [estimate(wide["seconds"]["svm"][key] - wide["seconds"]["positive"][key]) for key in gap.columns]
    told = f"the RVM has {most:.1f} on average, the SVM {frame[frame.machine == 'svm'].vectors.mean():.0f} documents"
    held, words = all_above_zero(fewer)
    check = Check("fewer, for each query and kernel", held, f"{told}; {words}")
    yield Claim("Table 2, vectors", "The RVM has far fewer vectors.", (check,), n)
    check = Check("less time, for each query and kernel", *all_above_zero(less))
    note = "Of our own two solvers; the paper compares SVM-light with CPLEX."
    yield Claim("Table 2, time", "The RVM trains much faster.", (check,), n, note)


def plot(means):
    """Return accuracies by query, with the paper's."""
    figure, axes = panels(2, sharey=True, says="bars: 95 % intervals over deals; dashed: orders at random")
    for ax, kernel in zip(axes, KERNELS, strict=True):
        for k, (name, label) in enumerate(_yukim.MACHINES.items()):
            part = means[(means.kernel == kernel) & (means.machine == name)]
            x = part["query"].to_numpy(dtype=float) + 0.18 * (k - 1)
            ax.errorbar(
                x, part["mean"], yerr=part.high - part["mean"], fmt=MARKERS[k], capsize=3, color=COLOURS[k], label=label
            )
        for (query, which), values in PAPER.items():
            if which == kernel:
                ax.plot([query + 0.18, query - 0.18], values, "kx", label="the paper's" if query == 1 else None)
        ax.axhline(0.5, color="0.5", linestyle=LINES[1])
        ax.set(xlabel="query", ylabel="share of test pairs in the right order", title=kernel, xticks=QUERIES)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
