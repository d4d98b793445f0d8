"""Venuto & Hocking, section 4.3: why the grid of C goes down to 10^-20.

Each draw enters SVMcompare's problem (8) twice, as +d and as -d. On chess games the draws can cancel the pull of the
wins exactly, whatever C: u = 0 is then the optimum. `ComparisonSVM` returns it, and warns. A solver that stops at a
tolerance returns what its steps left. To show it, the same rows go to LIBSVM (scikit-learn's `SVC`, linear, tolerance
10^-3) for the paper's grid of C: its objective is compared with the optimum, its direction with the mean difference of
the winners (the "centroid", a model that needs no C), and its test AUC is recorded. Below C = 10^-11 the optimum's u is
zero up to rounding (10^-14). Years and features are those of Fig. 6.
"""

import warnings
from itertools import chain

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from widemargin import CollapseWarning, ComparisonSVM
from widemargin.metrics import comparison_auc

from ._chess import games, months
from ._report import Check, Claim, Picture, Report, Table
from ._statistics import estimate, side_by_side, summary
from ._style import BANDS, curve, panels

GRID = 10.0 ** np.arange(-20, 1, 2)


def run(quick, each):
    """Return the report."""
    data, years, grid = games(), (6, 7) if quick else range(1, 8), GRID[::5] if quick else GRID
    cases = [(data, year, grid) for year in years]
    return report(pd.DataFrame(chain.from_iterable(each(one_year, cases, "years"))))


def report(frame):
    """Return what the fits say."""
    long = frame.melt(["year", "C"], ["libsvm_auc", "centroid_auc", "balanced_auc"], "model", "auc")
    means = summary(long, ["model", "C"], "auc")
    caption = (
        "Test AUC, direction of LIBSVM's u, and how far LIBSVM's objective is above the optimum, against C: means over "
        "the years, with 95 % intervals for the first two"
    )
    return Report(
        "Why C = 1e-20",
        "Venuto & Hocking, section 4.3",
        (claim(frame, frame.year.nunique()),),
        (
            Table("means", "Test AUC against C", side_by_side(means, ["C"], ["model"])),
            Table("fits", "Every fit", frame),
        ),
        (Picture("tiny_c", caption, plot(frame, means)),),
    )


def one_year(data, year, grid):
    """Yield a row for each C."""
    for C in grid:
        yield one_fit(data, year, C)


def one_fit(data, year, C):
    """Return what the exact optimum, LIBSVM and the balanced machine are for one year and C."""
    train, test = months(data, year, 1, 4), months(data, year, 5, 12)
    scale = StandardScaler().fit(data.X[train].reshape(-1, 16))
    learn, judge = (scale.transform(data.X[r].reshape(-1, 16)).reshape(-1, 2, 16) for r in (train, test))
    y, difference = data.y[train], learn[:, 0] - learn[:, 1]
    winners, ties = y[y != 0, None] * difference[y != 0], difference[y == 0]
    rows, side = np.concatenate([winners, ties, -ties]), np.repeat([1, -1], [len(winners), 2 * len(ties)])
    svc = SVC(kernel="linear", C=C).fit(rows, side)
    u, centroid = svc.coef_[0], winners.mean(axis=0)
    objective = u @ u / 2 + C * np.maximum(0, 1 - side * svc.decision_function(rows)).sum()
    exact, balanced = (machine(weight, learn, y, C) for weight in (None, "balanced"))
    area = lambda w: comparison_auc(data.y[test], (judge[:, 0] - judge[:, 1]) @ w)  # noqa: E731
    return {
        "year": year + 1,
        "C": C,
        "exact_norm": np.linalg.norm(exact.coef_),
        "exact_gap": exact.duality_gap_,
        "libsvm_norm": np.linalg.norm(u),
        "libsvm_excess": objective / exact.objective_ - 1,
        "cosine": u @ centroid / np.linalg.norm(u) / np.linalg.norm(centroid),
        "libsvm_auc": area(u),
        "centroid_auc": area(centroid),
        "balanced_auc": area(balanced.coef_),
    }


def machine(weight, X, y, C):
    """Return the optimum; that it is u = 0 is a result here, not a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        return ComparisonSVM(C, class_weight=weight).fit(X, y)


def claim(frame, repetitions):
    """What the solver's tolerance makes of a problem whose optimum is zero."""
    tiny, large = (part.groupby("year").mean() for part in (frame[frame.C < 1e-9], frame[frame.C > 1e-5]))
    zero, gain = int((frame.exact_norm <= 1e-14).sum()), estimate(tiny.libsvm_auc - large.libsvm_auc)
    cosines = estimate(tiny.cosine - large.cosine)
    numbers = (
        f"cosine {tiny.cosine.mean():.2f} for C < 1e-9, {large.cosine.mean():.2f} for C > 1e-5; difference {cosines}"
    )
    checks = (
        Check(
            "the optimum is u = 0, up to rounding, in each year for each C",
            zero == len(frame),
            f"{zero} of {len(frame)}",
        ),
        Check(
            "LIBSVM's u is another one, and no better",
            bool((frame.libsvm_norm > 0).all() and (frame.libsvm_excess >= -1e-9).all()),
            f"its objective is up to {frame.libsvm_excess.max():.1g} (relative) above",
        ),
        Check("for tiny C LIBSVM's u points along the centroid, for large C it does not", cosines.is_above(0), numbers),
        Check("and predicts better for tiny C than for large C", gain.is_above(0), f"AUC gain {gain}"),
    )
    says = "Our reading of the paper's grid: only for tiny C does a solver with a tolerance return a useful direction."
    note = (
        "For tiny C the solver stops once every multiplier is at its bound, which leaves the sum of the winners' "
        "differences: the centroid, not SVMcompare. class_weight='balanced' makes the problem itself worth solving."
    )
    return Claim("C = 1e-20", says, checks, repetitions, note)


def plot(frame, means):
    """Return AUC, LIBSVM's direction, and LIBSVM's excess, against C."""
    figure, (left, middle, right) = panels(3, width=4.4, says=BANDS)
    names = {"libsvm_auc": "LIBSVM, unweighted", "centroid_auc": "centroid", "balanced_auc": "optimum, balanced"}
    for k, (name, text) in enumerate(names.items()):
        part = means[means.model == name]
        curve(left, part.C, part["mean"], part.low, part.high, k=k, label=text)
    left.axhline(0.25, color="0.5", linestyle="--", label="chance")
    left.axhline(0.0, color="k", linewidth=2, label="optimum, unweighted: u = 0")
    left.set(title="what the models are worth", ylabel="test AUC", ylim=(-0.02, 0.75))
    left.legend(fontsize="small")
    cosine = summary(frame, "C", "cosine")
    curve(middle, cosine.C, cosine["mean"], cosine.low, cosine.high)
    middle.set(title="LIBSVM's u: cosine to the centroid", ylabel="cosine", ylim=(-0.1, 1.05))
    excess = frame.groupby("C").libsvm_excess.mean().clip(lower=1e-17)
    curve(right, excess.index, excess)
    right.set(title="LIBSVM's objective, relative to the optimum", ylabel="relative excess", yscale="log")
    for ax in (left, middle, right):
        ax.set(xscale="log", xlabel="C")
    return figure
