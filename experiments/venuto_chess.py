"""Venuto & Hocking, Fig. 6: predicting chess games by SVMcompare, Elo and Glicko.

The games of the Kaggle competition of 2010, by the author of the paper's own file, which is not to be had. As in the
paper twelve months are one repetition: four to learn from, eight to test on; C and the kernel's parameter are chosen by
the mean AUC over four splits (50, 75, 80, 85 % of the games first) of the first three months. A player has 16 features
from earlier months: Elo by FIDE's rules from 1200 on, Glicko, who has White, numbers and shares of wins, draws, losses
and upsets, the strength of opponents, form. The order of games within a month is not known, so ratings are updated once
a month. Games count if both players have ten earlier ones, which leaves seven years. AUC is that of the paper's Table
3: chance is 1/4, not 1/2. Machines have `class_weight="balanced"` but those named "unweighted", which are the paper's.
"""

import warnings

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from widemargin import CollapseWarning, ComparisonSVM, OnItems
from widemargin.metrics import comparison_auc

from ._chess import FEATURES, games, months
from ._report import Check, Claim, Picture, Report, Table
from ._statistics import estimate, summary
from ._style import COLOURS, panels

KERNELS = {
    "linear": [{"C": C} for C in np.logspace(-5, 1, 7)],
    "polynomial": [
        {"C": C, "kernel": "poly", "degree": degree, "coef0": 1.0, "gamma": "auto"}
        for degree in (2, 3)
        for C in np.logspace(-3, -1, 3)
    ],
    "Gaussian": [{"C": C, "kernel": "rbf", "gamma": g} for g in (0.01, 0.1) for C in np.logspace(-2, 0, 3)],
}
SETS = {"ratings": [0, 1], "ratings, colour": [0, 1, 3], "all 16": list(range(len(FEATURES)))}
COLLAPSE = "The linear machine's optimum is u = 0 in each year, whatever C: see `venuto_tiny_c`."
MODELS = [
    ("linear", "ratings", "balanced"),
    ("linear", "ratings, colour", "balanced"),
    ("linear", "all 16", "balanced"),
    ("linear", "all 16", None),
    ("polynomial", "ratings", "balanced"),
    ("polynomial", "all 16", "balanced"),
    ("polynomial", "all 16", None),
    ("Gaussian", "all 16", "balanced"),
]


def run(quick, each):
    """Return the report."""
    data, years = games(), (6, 7) if quick else range(1, 8)
    models = [model for model in MODELS if model[0] == "linear"] if quick else MODELS
    cases = [(data, year, models, quick) for year in years]
    return report(pd.DataFrame(each(one_year, cases, "years")), models)


def report(frame, models):
    """Return what the test AUCs of the years say."""
    long = frame.melt("year", var_name="model", value_name="auc")
    tables = (
        Table("means", "Test AUC of each model: mean over the years", summary(long, "model", "auc")),
        Table("years", "Test AUC in each year", frame),
    )
    caption = (
        "Test AUC of each year (dots), its mean and 95 % interval; the dashed line is chance. 0 is u = 0, no model"
    )
    return Report(
        "Chess",
        "Venuto & Hocking, section 4.3",
        (*svm_claims(frame, models), features_claim(frame, models)),
        tables,
        (Picture("fig_6", caption, plot(frame)),),
    )


def one_year(data, year, models, quick):
    """Return the test AUC of the ratings and of the chosen machines."""
    early, train, test = (months(data, year, *span) for span in ((1, 3), (1, 4), (5, 12)))
    areas = {"year": year + 1} | {
        name: comparison_auc(data.y[test], data.X[test, 0, j] - data.X[test, 1, j])
        for j, name in enumerate(("Elo", "Glicko"))
    }
    for kernel, columns, weight in models:
        X = data.X[:, :, SETS[columns]]
        options = KERNELS[kernel][::3] if quick else KERNELS[kernel]
        scores = [mean_auc(option | {"class_weight": weight}, X[early], data.y[early]) for option in options]
        best = options[int(np.argmax(scores))] | {"class_weight": weight}
        areas[label(kernel, columns, weight)] = comparison_auc(
            data.y[test], fit(best, X[train], data.y[train]).decision_function(X[test])
        )
    return areas


def label(kernel, columns, weight):
    """Return the name of a model."""
    return f"{kernel}, {columns}" + ("" if weight else ", unweighted")


def fit(options, X, y):
    """Return a machine on standardised features; that u = 0 is the optimum is a result here, not a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        return make_pipeline(OnItems(StandardScaler()), ComparisonSVM(tol=1e-3, **options)).fit(X, y)


def mean_auc(options, X, y):
    """Return the mean AUC over splits of the games into earlier and later ones."""
    cuts = [int(share * len(y)) for share in (0.50, 0.75, 0.80, 0.85)]
    return np.mean([comparison_auc(y[cut:], fit(options, X[:cut], y[:cut]).decision_function(X[cut:])) for cut in cuts])


def gains(frame, pairs):
    """Return a check for each (better, worse) pair of models: the paired gain in AUC is surely positive."""
    found = {pair: estimate(frame[pair[0]] - frame[pair[1]]) for pair in pairs}
    return tuple(Check(f"{a} beats {b}", e.is_above(0), str(e)) for (a, b), e in found.items())


def svm_claims(frame, models):
    """Linear and polynomial SVMs beat the ratings: with balanced weights, and as in the paper."""
    says = "Linear and polynomial SVMs with all features have higher test AUC than Elo and Glicko."
    for item, weight in (("Fig. 6, balanced", "balanced"), ("Fig. 6, unweighted as in the paper", None)):
        machines = [label(*m) for m in models if m[0] != "Gaussian" and m[1] == "all 16" and m[2] == weight]
        checks = gains(frame, [(a, b) for a in machines for b in ("Elo", "Glicko")])
        yield Claim(item, says, checks, len(frame), "" if weight else COLLAPSE)


def features_claim(frame, models):
    """All features beat the ratings alone."""
    kernels = [m[0] for m in models if m[1] == "ratings"]
    pairs = [(label(k, "all 16", "balanced"), label(k, "ratings", "balanced")) for k in kernels]
    pairs.append((label("linear", "all 16", "balanced"), label("linear", "ratings, colour", "balanced")))
    says = "With all features the SVMs are better than with Elo and Glicko alone: the other features matter."
    note = "The paper's two ratings do not know who has White. The last check grants them that."
    return Claim("Fig. 6, features", says, gains(frame, pairs), len(frame), note)


def plot(frame):
    """Return a row for each model."""
    figure, ax = panels(width=7.5, height=4.8, says="dots: years; bars: mean, 95 % interval; dashed: chance")
    names = [c for c in frame.columns if c != "year"][::-1]
    for place, name in enumerate(names):
        e, colour = estimate(frame[name]), COLOURS[1] if name in {"Elo", "Glicko"} else COLOURS[0]
        ax.plot(frame[name], np.full(len(frame), place), "o", color=colour, alpha=0.4)
        ax.errorbar(e.mean, place, xerr=e.half_width, fmt="|", color="k", capsize=4, markersize=12)
    ax.axvline(0.25, color="0.5", linestyle="--")
    ax.set_yticks(range(len(names)), names)
    ax.set(xlabel="test AUC", ylabel="model", xlim=(-0.02, 0.6))
    return figure
