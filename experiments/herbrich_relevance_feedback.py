"""Herbrich, Graepel & Obermayer, Fig. 3: ranks of the remaining documents after 6 to 24 were judged.

OHSUMED's query 1 asks for "adverse effects on lipids when progesterone is given with estrogen replacement therapy";
its documents have three ranks: not, partially, definitely relevant. A training set of 6 to 24 documents is drawn until
every rank is in it; the machines of Fig. 2 (kernel (x.x' + 1)^2, C = 10^6) rank the rest. Two things differ from the
paper. LETOR gives the counts of the query's seven terms only (title and abstract together), so the bag of words,
scaled to unit length, has seven words, where the paper had all; and it has 138 judged documents where the paper
says 107. Draws are from one query: the intervals say how sure the mean over draws is, not what another query gives.
"""

import numpy as np
import pandas as pd
from sklearn.preprocessing import normalize

from widemargin import MarginClassifier, OrdinalSVM
from widemargin.datasets import fetch_ohsumed_terms
from widemargin.metrics import pref_risk_ranks, pref_risk_utility

from ._report import Check, Claim, Picture, Report, Table
from ._statistics import all_above_zero, estimate, summary
from ._style import curve, panels
from .herbrich_learning_curves import MACHINE, split

NAMES = {
    "ordinal": "ordinal SVM",
    "classes": "multi-class SVM (one vs one)",
    "utility": "ordinal SVM's utility, not cut into ranks",
}
BY_CHANCE = 2 / 3  # of two ranks drawn at random from three, the share that is not in strictly the right order


def run(quick, track):
    """Return the report."""
    data = fetch_ohsumed_terms()
    X = normalize(data.X)
    sizes, n_draws = ((6, 24), 3) if quick else (range(6, 25, 3), 200)
    work = [(size, draw) for size in sizes for draw in range(n_draws)]
    wide = pd.DataFrame(
        [(size, draw, *risks(X, data.y, size, draw)) for size, draw in track(work, "draws")],
        columns=["size", "draw", *NAMES],
    )
    long = wide.melt(["size", "draw"], var_name="machine", value_name="risk")
    means = summary(long, ["machine", "size"], "risk")
    caption = f"R_pref on the documents not judged, against the number judged: mean of {n_draws} draws, 95 % intervals"
    return Report(
        "Relevance feedback",
        "Herbrich, Graepel & Obermayer, section 4.2",
        (claim(wide, n_draws),),
        (Table("means", "R_pref: mean, standard error and 95 % interval", means),),
        (Picture("fig_3", caption, plot(means)),),
    )


def risks(X, y, size, draw):
    """Return R_pref of the ordinal SVM's ranks, of the classes, and of the ordinal SVM's utilities, on one draw."""
    train, test = split(y, size, np.random.default_rng([draw, size]))
    ordinal = OrdinalSVM(**MACHINE).fit(X[train], y[train])
    classes = MarginClassifier(**MACHINE).fit(X[train], y[train])
    by_rank = (pref_risk_ranks(y[test], model.predict(X[test])) for model in (ordinal, classes))
    return *by_rank, pref_risk_utility(y[test], ordinal.utility(X[test]))


def claim(wide, n_draws):
    """Ordinal regression beats classification, and learns."""
    by_size = wide.groupby("size")
    gains = [estimate(part.classes - part.ordinal) for _, part in by_size]
    ordinal = [estimate(part.ordinal) for _, part in by_size]
    first, last = ordinal[0], ordinal[-1]
    return Claim(
        "Fig. 3",
        "The ordinal machine generalises very well compared with the multi-class SVM, which takes each rank for a "
        "class of its own.",
        (
            Check("lower risk than the multi-class SVM at every number of documents", *all_above_zero(gains)),
            Check("its risk falls as documents are judged", last.high < first.low, f"from {first} to {last}"),
            Check(
                "it is better than ranks drawn at random at every number of documents",
                all(e.is_below(BY_CHANCE) for e in ordinal),
                f"{sum(e.is_below(BY_CHANCE) for e in ordinal)} of {len(ordinal)} are below 2/3",
            ),
        ),
        n_draws,
    )


def plot(means):
    """Return the learning curves."""
    figure, ax = panels(width=6)
    for k, (name, label) in enumerate(NAMES.items()):
        part = means[means.machine == name]
        curve(ax, part["size"], part["mean"], part.low, part.high, k=k, label=label)
    ax.axhline(BY_CHANCE, color="0.4", linewidth=1, label="ranks drawn at random")
    ax.set(xlabel="documents judged", ylabel="R_pref: share of pairs ranked wrong", title="OHSUMED, query 1")
    ax.legend()
    return figure
