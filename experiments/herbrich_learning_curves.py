"""Herbrich, Graepel & Obermayer, Fig. 2: learning curves of ordinal regression, classification and regression.

Points are uniform on the unit square, U(x) = 10 (x1 - 0.5)(x2 - 0.5), and U(x) + noise is cut at -1, -0.1, 0.25 and 1
into five ranks. From 1,000 points a training set of 5 to 45 is drawn at random until every rank is in it; the rest
is the test set. All machines have the kernel (x.x' + 1)^2 and C = 10^6: `OrdinalSVM`, `MarginClassifier` (ten
hyperplanes, one against one) and `MarginRegressor` with epsilon = 0.5, whose answer is rounded to the nearest rank (the
paper prints five numbers for the four cuts 1.5, ..., 4.5). R_pref is the share of test pairs of different rank whose
predicted ranks are not in strictly the right order. Each draw has 1,000 points of its own, so that repetitions are
independent (the paper draws all its training sets from one thousand points), and the three machines share it.
N(0, 0.125) is run both ways: 0.125 as the variance of the noise, and as its standard deviation.
"""

from functools import partial

import numpy as np
import pandas as pd

from widemargin import MarginClassifier, MarginRegressor, OrdinalSVM
from widemargin.datasets import make_ordinal
from widemargin.metrics import pref_risk_ranks

from ._report import Check, Claim, Picture, Report, Table
from ._seeds import generator
from ._statistics import all_above_zero, estimate, side_by_side, summary
from ._style import BANDS, curve, panels

MACHINE = {"C": 1e6, "kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}
NAMES = {"ordinal": "ordinal SVM", "regression": "SV regression, rounded", "classes": "multi-class SVM (one vs one)"}
READINGS = {"variance": "0.125 is the variance", "std": "0.125 is the standard deviation"}
CLOSE = 0.02  # two curves coincide if their paired difference is surely below this


def run(quick, each):
    """Return the report."""
    sizes, n_draws = ((5, 25), 3) if quick else (range(5, 50, 5), 100)
    work = [(reading, size, draw) for reading in READINGS for size in sizes for draw in range(n_draws)]
    rows = [(*task, *found.values()) for task, found in zip(work, each(risks, work, "draws"), strict=True)]
    wide = pd.DataFrame(rows, columns=["noise_is", "size", "draw", *NAMES])
    long = wide.melt(["noise_is", "size", "draw"], var_name="machine", value_name="risk")
    means = summary(long, ["noise_is", "machine", "size"], "risk")
    return Report(
        "Learning curves for ordinal regression",
        "Herbrich, Graepel & Obermayer, section 4.1",
        tuple(claim(reading, wide[wide.noise_is == reading], n_draws) for reading in READINGS),
        (
            Table("by_size", "R_pref: mean ± standard error", side_by_side(means, "size", ["noise_is", "machine"])),
            Table("means", "R_pref: mean, standard error and 95 % interval", means),
            Table("draws", "R_pref of every draw", wide),
        ),
        (Picture("fig_2", f"R_pref against training size, mean of {n_draws} draws and 95 % intervals", plot(means)),),
    )


def risks(reading, size, draw):
    """Return R_pref of the three machines on one draw."""
    rng = generator(draw, size, list(READINGS).index(reading))
    pool = make_ordinal(1000, noise_is=reading, random_state=rng)
    train, test = split(pool.y, size, rng)
    fitted = {name: fit(pool.X[train], pool.y[train]) for name, fit in machines().items()}
    return {name: pref_risk_ranks(pool.y[test], predict(pool.X[test])) for name, predict in fitted.items()}


def split(y, size, rng):
    """Return training and test rows, drawn until the training set has every rank."""
    while True:
        order = rng.permutation(y.size)
        if np.unique(y[order[:size]]).size == np.unique(y).size:
            return order[:size], order[size:]


def machines():
    """Return for each machine a function that learns and gives a function from points to ranks."""
    svr = MarginRegressor(epsilon=0.5, **MACHINE)
    return {
        "ordinal": lambda X, y: OrdinalSVM(**MACHINE).fit(X, y).predict,
        "regression": lambda X, y: partial(rounded, svr.fit(X, y), y.max()),
        "classes": lambda X, y: MarginClassifier(**MACHINE).fit(X, y).predict,
    }


def rounded(model, highest, X):
    """Return the nearest ranks."""
    return np.clip(np.rint(model.predict(X)), 1, highest)


def claim(reading, wide, n_draws):
    """Ordinal regression beats classification, and is close to regression."""
    gain = wide.assign(gain=wide.classes - wide.ordinal, apart=wide.regression - wide.ordinal)
    gains = gain.groupby("size").gain.apply(estimate)
    aparts = gain.groupby("size").apart.apply(estimate)
    mean_gain, mean_apart = (estimate(gain.groupby("draw")[name].mean()) for name in ("gain", "apart"))
    close = sum(e.is_within(CLOSE) for e in aparts)
    furthest = max(aparts.index, key=lambda size: abs(aparts[size].mean))
    return Claim(
        f"Fig. 2, {READINGS[reading]}",
        "Ordinal regression generalises much faster than the multi-class SVM, and its curve is very close to that of "
        "SV regression.",
        (
            Check("lower risk than the multi-class SVM, mean over sizes", mean_gain.is_above(0), f"by {mean_gain}"),
            Check("lower risk than the multi-class SVM at every size", *all_above_zero(gains, at=gains.index)),
            Check(
                f"within {CLOSE} of SV regression, mean over sizes",
                mean_apart.is_within(CLOSE),
                f"regression - ordinal is {mean_apart}",
            ),
            Check(
                f"within {CLOSE} of SV regression at every size",
                close == len(aparts),
                f"{close} of {len(aparts)} are; the largest difference is {aparts[furthest]} at {furthest}",
            ),
        ),
        n_draws,
        "The checks on means over sizes were added after a first run, with other seeds, had shown how sizes differ.",
    )


def plot(means):
    """Return one panel for each reading of the noise."""
    figure, axes = panels(2, sharey=True, says=BANDS)
    for ax, (reading, title) in zip(axes, READINGS.items(), strict=True):
        for k, (name, label) in enumerate(NAMES.items()):
            part = means[(means.noise_is == reading) & (means.machine == name)]
            curve(ax, part["size"], part["mean"], part.low, part.high, k=k, label=label)
        ax.set(title=f"noise N(0, 0.125): {title}", xlabel="training points", ylim=(0, None))
        ax.set_ylabel("R_pref: share of pairs ranked wrong")
    axes[1].legend()
    return figure
