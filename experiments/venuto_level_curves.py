"""Venuto & Hocking, Fig. 3: level curves of the ranking functions that rank, rank2 and compare learn.

r(x) = ||x||_1^2 on [-3, 3]^2, 100 noisy pairs (sigma = 1/4), half of them ties. C and gamma are chosen among the
paper's 10 x 10 grid by the zero-one loss on 100 validation pairs. How well a learnt function recovers the true one is
measured by the share of the pairs of 2,000 fresh points that both order in the same way, and by its squared correlation
with the true one there (the machines do not fix the scale). The figure shows the first repetition.
"""

import numpy as np
import pandas as pd

from widemargin.metrics import concordance

from ._pairs import draw_pairs
from ._report import Check, Claim, Picture, Report, Table
from ._statistics import estimate, summary
from ._style import panels
from ._venuto import GRID, LABELS, MACHINES, QUICK_GRID, accuracy, choose, draw

CAPTION = (
    "Training pairs with the level curves of the true r, and those of the three learnt functions. Levels are at "
    "quantiles, so that the scale does not matter"
)


def run(quick, each):
    """Return the report."""
    n, repetitions, grid = (40, 2, QUICK_GRID) if quick else (100, 15, GRID)
    draws = [draw("l1", n, 0.5, number)[:2] for number in range(repetitions)]
    learnt = each(fit_all, [(*d, grid) for d in draws], "draws")
    rows = [(number, m, *recovery(model)) for number, models in enumerate(learnt) for m, model in models.items()]
    frame = pd.DataFrame(rows, columns=["draw", "machine", "concordance", "r_squared"])
    tables = (
        Table(
            "concordance", "Share of pairs of points ordered as by the true r", summary(frame, "machine", "concordance")
        ),
        Table("r_squared", "Squared correlation with the true r", summary(frame, "machine", "r_squared")),
    )
    picture = Picture("fig_3", CAPTION, plot(draws[0][0], learnt[0]))
    return Report(
        "Learnt level curves", "Venuto & Hocking, section 4.1", (claim(frame, repetitions),), tables, (picture,)
    )


def fit_all(train, validation, grid):
    """Return the chosen machines."""
    return {m: choose(m, train, validation, {"error": accuracy}, grid)["error"] for m in MACHINES}


def true_r(X):
    """Return the squared 1-norm."""
    return np.abs(X).sum(axis=1) ** 2


def recovery(model):
    """Return how well the learnt function orders fresh points, and its squared correlation with the true one."""
    X = np.random.default_rng(0).uniform(-3, 3, size=(2_000, 2))
    u, r = model.utility(X), true_r(X)
    spread = np.std(u)
    return concordance(r, u), np.corrcoef(u, r)[0, 1] ** 2 if spread > 0 else 0.0


def claim(frame, repetitions):
    """rank2 and compare recover the true function better than rank."""
    checks = []
    for measure in ("concordance", "r_squared"):
        table = frame.pivot_table(index="draw", columns="machine", values=measure)
        for m in ("rank2", "compare"):
            gain = estimate(table[m] - table["rank"])
            checks.append(Check(f"{m} has a higher {measure} than rank", gain.is_above(0), str(gain)))
    says = "rank does not recover the true function, because it ignores the ties; rank2 and compare come closer to it."
    return Claim("Fig. 3", says, tuple(checks), repetitions)


def plot(train, models):
    """Return the pairs, and the level curves of the three machines."""
    figure, axes = panels(4, width=3.4, height=3.9)
    side = np.linspace(-3, 3, 120)
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    surfaces = {"true r, and the training pairs": true_r(points)}
    surfaces |= {LABELS[m]: model.utility(points) for m, model in models.items()}
    for ax, (title, u) in zip(axes, surfaces.items(), strict=True):
        levels = np.unique(np.quantile(u, np.linspace(0.1, 0.9, 9)))
        ax.contour(side, side, u.reshape(120, 120), levels=levels, cmap="viridis", linewidths=1.3, zorder=3)
        ax.set(title=title, xlabel="$x_1$", ylabel="$x_2$")
    draw_pairs(axes[0], train.X, train.y, alpha=0.45)
    return figure
