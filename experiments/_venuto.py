"""What Venuto & Hocking's experiments share: the tasks, the three machines, and the choice by a validation set."""

import warnings

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch

from widemargin import CollapseWarning, ComparisonSVM
from widemargin.datasets import fetch_sushi, make_comparisons
from widemargin.metrics import comparison_auc
from widemargin.model_selection import c_path

from ._seeds import generator

MACHINES = {"rank": "threshold", "rank2": "both_ways", "compare": "margin"}  # the paper's names, and `ties=`
LABELS = {
    "rank": "rank (ignores ties)",
    "rank2": "rank2 (ties both ways)",
    "compare": "compare (SVMcompare)",
    "truth": "true r",
    "ids": "sushi ids alone",
}
NORMS = {"l1": 1, "l2": 2, "linf": np.inf}
SUSHI = {"sushi": "id", "sushi_random": "random"}
TITLES = {
    "l1": r"$r(x) = \|x\|_1^2$",
    "l2": r"$r(x) = \|x\|_2^2$",
    "linf": r"$r(x) = \|x\|_\infty^2$",
    "sushi": "sushi, the paper's pairs",
    "sushi_random": "sushi, ties broken at random",
}
NAMES = {
    "l1": "squared 1-norm",
    "l2": "squared 2-norm",
    "linf": "squared maximum norm",
    "sushi": "sushi, the paper's pairs",
    "sushi_random": "sushi, ties broken at random",
}
N_TEST = {**dict.fromkeys(NORMS, 10_000), **dict.fromkeys(SUSHI, 2_000)}
GRID = {"C": np.logspace(-3, 3, 10), "gamma": np.logspace(-7, 4, 10, base=2)}
QUICK_GRID = {"C": [0.1, 10.0], "gamma": [0.125]}
TOL = 1e-3


def draw(task, n, tie_share, number):
    """Return training, validation (n pairs each) and test pairs, all with the same share of ties."""
    rng = generator(list(TITLES).index(task), n, round(100 * tie_share), number)
    sizes = n, n, N_TEST[task]
    if task in NORMS:
        return [make_comparisons(m, norm=NORMS[task], tie_share=tie_share, random_state=rng) for m in sizes]
    data = fetch_sushi(break_ties=SUSHI[task], random_state=rng)
    ties, others = (rng.permutation(np.flatnonzero(kind)) for kind in (data.y == 0, data.y != 0))
    counts = [(round(tie_share * m), m - round(tie_share * m)) for m in sizes]
    a, b = (np.cumsum([0, *c]) for c in zip(*counts, strict=True))
    rows = [np.append(ties[a[k] : a[k + 1]], others[b[k] : b[k + 1]]) for k in range(3)]
    scale = StandardScaler().fit(data.X[rows[0]].reshape(-1, 14))
    X = scale.transform(data.X.reshape(-1, 14)).reshape(data.X.shape)
    return [Bunch(X=X[r], y=data.y[r], ids=data.sushi[r]) for r in rows]


def choose(machine, train, validation, scores, grid):
    """Return for each score the machine that is best on the validation pairs; of equals the smallest C, then gamma."""
    best = dict.fromkeys(scores, ((-np.inf,), None))
    for gamma in grid["gamma"]:
        for model in path(machine, train, gamma, grid["C"]):
            for name, score in scores.items():
                key = score(model, validation), -model.C, -gamma
                best[name] = max(best[name], (key, model), key=lambda found: found[0])
    return {name: model for name, (_, model) in best.items()}


def path(machine, train, gamma, Cs):
    """Return a machine with a Gaussian kernel, learnt for each C; that u = 0 is an optimum is no warning here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        one = ComparisonSVM(kernel="rbf", gamma=gamma, ties=MACHINES[machine], tol=TOL)
        return c_path(one, train.X, train.y, Cs).estimators


def error(model, data):
    """Return the zero-one loss."""
    return 1.0 - model.score(data.X, data.y)


def auc(model, data):
    """Return the AUC of telling differences from ties."""
    return comparison_auc(data.y, model.decision_function(data.X))


def accuracy(model, data):
    """Return the share of pairs predicted right."""
    return model.score(data.X, data.y)


def judge(task, n, tie_share, number, grid):
    """Yield test error and test AUC of each machine, chosen by the same on the validation pairs, on one draw."""
    train, validation, test = draw(task, n, tie_share, number)
    here = {"task": task, "pairs": n, "tie_share": tie_share, "draw": number}
    for machine in MACHINES:
        chosen = choose(machine, train, validation, {"error": accuracy, "auc": auc}, grid)
        yield here | {"machine": machine, "error": error(chosen["error"], test), "auc": auc(chosen["auc"], test)}
    yield here | ({"machine": "truth", **truth(test)} if task in NORMS else {"machine": "ids", "auc": ids_alone(test)})


def ids_alone(test):
    """Return the AUC of a utility that falls with the number of the sushi in the list, and knows nothing else."""
    return comparison_auc(test.y, (test.ids[:, 1] - test.ids[:, 0]).astype(float))


def truth(test):
    """Return the error and the AUC of the utility that made the data, with its own tie width."""
    s = test.utility[:, 0] - test.utility[:, 1]
    predicted = np.where(np.abs(s) <= test.tie_width, 0, np.sign(s))
    return {"error": float(np.mean(predicted != test.y)), "auc": comparison_auc(test.y, s)}
