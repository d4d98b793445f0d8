"""What the experiments of Yu & Kim share: their machines, C chosen on points of its own, and counts of vectors."""

import time
import warnings
from itertools import chain

import numpy as np
import pandas as pd

from widemargin import CollapseWarning, ConeWarning, RankingSVM, RankingVectorMachine
from widemargin.datasets import make_ranking
from widemargin.metrics import concordance

from ._seeds import generator
from ._style import BANDS, curve, panels

MACHINES = {"svm": "ranking SVM", "signed": "RVM, signed", "positive": "RVM, positive (the paper's)"}
SETTINGS = {
    "linear": ("linear, w in [0, 1]", {"utility": "linear"}),
    "rbf": ("RBF", {"utility": "rbf"}),
    "mixed": ("linear, w of both signs", {"utility": "linear", "weights": "normal"}),
}
N_TEST, N_VALIDATION = 1000, 50
ON_MARGIN = 1.001  # a difference of utilities up to this is a support pair; the margin is 1, fits are good to 1e-3


def machine(name, **options):
    """Return an unfitted machine by the name it has in the tables."""
    options = {"tol": 1e-3} | options
    return RankingSVM(**options) if name == "svm" else RankingVectorMachine(positive=name == "positive", **options)


def fit(model, X, y, qid=None):
    """Return the fitted model; what positive coefficients or a small C make of it is a result here, not a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        warnings.simplefilter("ignore", ConeWarning)
        return model.fit(X, y, qid=qid)


def kernel_of(setting):
    """Return the kernel for a setting: gamma is the one of the true F."""
    return {"kernel": "rbf", "gamma": 1.0} if setting == "rbf" else {"kernel": "linear"}


def draw(setting, m, repetition, n_swaps=0):
    """Return training, validation and test points of one F, the same for any noise, which is in the training order."""
    task, rng = SETTINGS[setting][1], generator(list(SETTINGS).index(setting), m, repetition, 0)
    train = make_ranking(m, n_swaps=n_swaps, random_state=rng, **task)
    fresh = make_ranking(N_VALIDATION + N_TEST, random_state=rng, **task | {"weights": train.coef})
    validation, test = slice(None, N_VALIDATION), slice(N_VALIDATION, None)
    return (train.X, train.y), *((fresh.X[rows], fresh.y[rows]) for rows in (validation, test))


def chosen(name, Cs, train, validation, **options):
    """Return the machine whose C ranks the validation points best (of equal ones the smallest), and its seconds."""
    best = None
    for C in Cs:
        start = time.process_time()
        model = fit(machine(name, C=C, **options), *train)
        seconds = time.process_time() - start
        score = concordance(validation[1], model.predict(validation[0]))
        if best is None or score > best[0]:
            best = score, model, seconds
    return best[1:]


def one_row(name, setting, parts, Cs):
    """Return accuracy, time and size of a machine."""
    train, validation, test = parts
    model, seconds = chosen(name, Cs, train, validation, **kernel_of(setting))
    return {"accuracy": concordance(test[1], model.predict(test[0])), "seconds": seconds, **vectors(name, model, train)}


def vectors(name, model, train):
    """Return the number of ranking vectors; of an SVM, the points that occur in support pairs, and these pairs."""
    if name != "svm":
        return {"vectors": model.support_.size, "pairs": np.nan}
    X, y = train
    u = model.predict(X)
    close = (y[:, None] > y) & (u[:, None] - u <= ON_MARGIN)
    return {"vectors": int((close.any(axis=0) | close.any(axis=1)).sum()), "pairs": int(close.sum())}


def sweep(points, Cs, each):
    """Return a row for each machine at each point: a dict of setting, m, repetition and, maybe, swaps."""
    return pd.DataFrame(chain.from_iterable(each(at_point, [(p, Cs) for p in points], "draws")))


def at_point(point, Cs):
    """Yield a row for each machine."""
    parts = draw(point["setting"], point["m"], point["repetition"], point.get("swaps", 0))
    for name in MACHINES:
        yield point | {"machine": name} | one_row(name, point["setting"], parts, Cs)


def paired(frame, value, settings, at, by="m", better="svm", worse="positive"):
    """Return for each setting the differences of two machines at one point, repetition by repetition."""
    part = frame[frame[by] == at].pivot_table(index="repetition", columns=["setting", "machine"], values=value)
    return {s: part[s, better] - part[s, worse] for s in settings}


def plot(means, x, xlabel, ylabel, *, sharey=True, **axes):
    """Return a panel for each setting, a curve for each machine."""
    settings = list(dict.fromkeys(means.setting))
    figure, panes = panels(len(settings), sharey=sharey, width=4.2, squeeze=False, says=BANDS)
    for ax, setting in zip(panes[0], settings, strict=True):
        for k, (name, label) in enumerate(MACHINES.items()):
            part = means[(means.setting == setting) & (means.machine == name)]
            curve(ax, part[x], part["mean"], part.low, part.high, k=k, label=label)
        ax.set(xlabel=xlabel, ylabel=ylabel, title=SETTINGS[setting][0], **axes)
    figure.legend(*panes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
