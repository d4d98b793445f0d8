"""Venuto & Hocking, Fig. 1: what comparisons look like, and the boundaries that tell winners from ties.

Noiseless pairs with r(x) = ||x||^2, of which half are ties. In the features (x1^2, x2^2) r is linear, and in the space
of differences two parallel lines separate the pairs with a winner from the ties: `ComparisonSVM(C=inf)` finds the
widest such strip. Each repetition is a new set of 40 pairs.
"""

import numpy as np

from widemargin import ComparisonSVM
from widemargin.datasets import make_comparisons

from ._pairs import draw_differences, draw_levels, draw_pairs, legend_below
from ._report import Check, Claim, Picture, Report
from ._seeds import generator
from ._style import panels

CAPTION = (
    "Left: pairs, and level curves of r. Middle: the same in the squares of the features, where r is linear; grey "
    "lines are levels of the learnt utility. Right: differences, the learnt boundaries (solid) and margins (dotted)"
)


def run(quick, each):  # noqa: ARG001 -- nothing to wait for
    """Return the report."""
    draws = range(3 if quick else 50)
    errors = [np.mean(model.predict(data.X**2) != data.y) for data, model in map(learnt, draws)]
    check = Check("no training pair is on the wrong side", max(errors) == 0, f"largest error {max(errors):.2g}")
    says = (
        "Pairs are arrows and segments; in an enlarged feature space r is linear, and two symmetric hyperplanes in the "
        "space of differences are the decision boundaries."
    )
    return Report(
        "The geometry of comparisons",
        "Venuto & Hocking, section 1",
        (Claim("Fig. 1", says, (check,), len(draws)),),
        pictures=(Picture("fig_1", CAPTION, plot(*learnt(0))),),
    )


def learnt(draw):
    """Return some pairs, and the hard-margin machine on the squares of their features."""
    data = make_comparisons(40, norm=2, noise=0.0, random_state=generator(draw))
    return data, ComparisonSVM(C=np.inf).fit(data.X**2, data.y)


def plot(data, model):
    """Return the three spaces."""
    figure, (left, middle, right) = panels(3, width=4.2, height=4.6)
    grid = np.linspace(-3, 3, 100)
    left.contour(grid, grid, grid[:, None] ** 2 + grid**2, levels=8, colors="0.7", linewidths=0.8)
    draw_pairs(left, data.X, data.y)
    left.set(title="pairs, and levels of $r(x) = \\|x\\|^2$", xlabel="$x_1$", ylabel="$x_2$")
    w = model.coef_ / model.tie_width_
    draw_pairs(middle, data.X**2, data.y)
    draw_levels(middle, w, range(1, 20), color="0.7", linewidth=0.8, zorder=0)
    middle.set(title="squares, and levels of the learnt utility", xlabel="$x_1^2$", ylabel="$x_2^2$")
    draw_differences(right, data.X**2, data.y)
    mu = 1.0 / model.tie_width_
    draw_levels(right, w, (-1, 1), color="k", label="boundary")
    draw_levels(right, w, (-1 - mu, -1 + mu, 1 - mu, 1 + mu), color="k", linestyle=":", label="margin")
    right.set(title="differences", xlabel="difference of $x_1^2$", ylabel="difference of $x_2^2$")
    legend_below(right)
    return figure
