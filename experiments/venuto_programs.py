"""Venuto & Hocking, Fig. 2 and Lemma 1: the linear and the quadratic program for separable pairs.

Pairs with r(x) = w.x for a random w of length 1; differences of r between 0.8 and 1.2 are left out, so that the 30
pairs with a winner and the 30 ties are separable; the second feature is in a unit ten times smaller. The linear
program (7) is `ComparisonSVM(formulation="lp")`, the quadratic one (9) `ComparisonSVM(C=inf)`; Lemma 1 makes of the
latter's u and beta the point w = -u / beta, mu = -1 / beta. Both are solved for many sets of 2 and of 10 features, as
they are and with the features of the items standardised.
"""

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch

from widemargin import ComparisonSVM

from ._pairs import draw_differences, draw_levels, legend_below
from ._report import Check, Claim, Picture, Report, Table
from ._seeds import generator
from ._style import COLOURS, panels

EQUAL = 1e-4  # margins that differ by less, relatively, count as equal; the programs are solved to 1e-9
CAPTION = (
    "Differences of separable pairs with the boundaries and margins of both programs, for the set whose margins differ "
    "most. Left: features as they are. Right: the same pairs, standardised. Equal margins would be equal solutions"
)


def run(quick, each):
    """Return the report."""
    n_sets = 5 if quick else 100
    work = [(p, scaled, number) for p in (2, 10) for scaled in (False, True) for number in range(n_sets)]
    rows = [(*task, *found) for task, found in zip(work, each(margins, work, "sets"), strict=True)]
    found = pd.DataFrame(rows, columns=["features", "scaled", "set", "mu_lp", "mu_qp", "violation"])
    found["equal"] = found.mu_lp - found.mu_qp <= EQUAL * found.mu_lp
    shares = found.groupby(["features", "scaled"], as_index=False)[["equal", "mu_lp", "mu_qp"]].mean()
    return Report(
        "The linear and the quadratic program",
        "Venuto & Hocking, section 3.1",
        (lemma_claim(found, n_sets), equivalence_claim(shares, n_sets)),
        (
            Table("shares", "Share of sets with equal margins, and mean margins of the two programs", shares),
            Table("margins", "Margins of both programs in every set", found),
        ),
        (Picture("fig_2", CAPTION, plot(most_different(found))),),
    )


def separable(p, scaled, number):
    """Return 30 pairs with a winner and 30 ties that a linear r separates."""
    rng = generator(number, p)
    X, w = rng.standard_normal((2_000, 2, p)), rng.standard_normal(p)
    s = (X[:, 0] - X[:, 1]) @ w / np.linalg.norm(w)
    keep = np.append(np.flatnonzero(np.abs(s) < 0.8)[:30], np.flatnonzero(np.abs(s) > 1.2)[:30])
    X = X[keep] * np.where(np.arange(p) == 1, 10.0, 1.0)
    if scaled:
        X = StandardScaler().fit_transform(X.reshape(-1, p)).reshape(X.shape)
    return Bunch(X=X, y=np.where(np.abs(s[keep]) < 1, 0, np.sign(s[keep])).astype(int))


def solve(data):
    """Return w and mu of the linear program, and those that Lemma 1 makes of the quadratic one."""
    lp = ComparisonSVM(formulation="lp", tol=1e-9).fit(data.X, data.y)
    qp = ComparisonSVM(C=np.inf, tol=1e-9).fit(data.X, data.y)
    return {
        "linear program": (lp.coef_, lp.margin_),
        "quadratic program": (-qp.coef_ / qp.intercept_, -1 / qp.intercept_),
    }


def margins(p, scaled, number):
    """Return mu of both programs, and by how much Lemma 1's point violates a constraint of (7) at the worst."""
    data = separable(p, scaled, number)
    (_, mu_lp), (w, mu_qp) = solve(data).values()
    s = (data.X[:, 0] - data.X[:, 1]) @ w
    room = np.where(data.y == 0, 1 - np.abs(s), data.y * s - 1) - mu_qp
    return mu_lp, mu_qp, max(0.0, -room.min())


def lemma_claim(found, n_sets):
    """Lemma 1: the quadratic program's solution is feasible for the linear one."""
    worst = found.violation.max()
    check = Check("feasible in every set (to 1e-6)", worst <= 1e-6, f"the largest violation is {worst:.1g}")
    return Claim("Lemma 1", "-u / beta and -1 / beta are feasible for the linear program (7).", (check,), n_sets)


def equivalence_claim(shares, n_sets):
    """The programs differ in general, and are equivalent when the features are scaled."""
    share = shares.set_index(["features", "scaled"])["equal"]
    words = {False: ("as they are: the margins differ in some set", lambda s: s < 1)}
    words[True] = ("scaled: the margins are equal in every set", lambda s: s == 1)
    checks = [
        Check(
            f"{p} features, {words[scaled][0]}", words[scaled][1](share[p, scaled]), f"equal in {share[p, scaled]:.0%}"
        )
        for scaled in words
        for p in (2, 10)
    ]
    says = "The two programs differ in general; when the features are scaled, their solutions are equivalent."
    note = "In the plane the two often coincide, which is what the paper's panel shows; with more features they do not."
    return Claim("Fig. 2", says, tuple(checks), n_sets, note)


def most_different(found):
    """Return the set in the plane whose margins differ most, as they are."""
    plane = found[(found.features == 2) & ~found.scaled]
    return int(plane["set"].loc[(plane.mu_qp / plane.mu_lp).idxmin()])


def plot(number):
    """Return the differences of one set with both solutions, unscaled and scaled."""
    figure, axes = panels(2, width=4.8, height=4.8)
    for ax, scaled in zip(axes, (False, True), strict=True):
        data = separable(2, scaled, number)
        draw_differences(ax, data.X, data.y)
        looks = {"color": "k", "linestyle": "-"}, {"color": COLOURS[2], "linestyle": "--"}
        for (name, (w, mu)), look in zip(solve(data).items(), looks, strict=True):
            draw_levels(ax, w, (-1, 1), **look, label=f"{name}: margin {mu:.3f}")
            draw_levels(ax, w, (-1 - mu, -1 + mu, 1 - mu, 1 + mu), **look, linewidth=0.6)
        ax.set_title("features standardised" if scaled else "features as they are")
        legend_below(ax)
    return figure
