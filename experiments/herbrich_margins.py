"""Herbrich, Graepel & Obermayer, Fig. 1: objects on the axis of the utility, coupled boundaries, margins.

Fifteen points of three ranks in the plane, and `OrdinalSVM(C=inf)` with a linear kernel: one direction w, two parallel
boundaries w.x = theta_k, each in the middle between the closest objects of neighbouring ranks (12). Beside it the
same with the kernel (x.x' + 1)^2 on the task of Fig. 2, where the boundaries are curves, coupled by one utility.
"""

import numpy as np

from widemargin import OrdinalSVM
from widemargin.datasets import make_ordinal

from ._report import Check, Claim, Picture, Report
from ._style import COLOURS, panels
from .herbrich_learning_curves import MACHINE

MARKS = "x", "o", "^", "s", "D"
CAPTION = (
    "(a) Three ranks in the plane, the direction of the utility, its boundaries (full) and margins (dashed). "
    "(b) The same objects on the axis of the utility. (c) The task of Fig. 2 with its kernel, 200 points and little "
    "noise (variance 0.01): boundaries learnt (full) and true (dotted)"
)


def run(quick, each):  # noqa: ARG001 -- nothing to wait for
    """Return the report."""
    plane = make_ordinal(15, utility="linear", thresholds=3, noise=0.0, random_state=109)
    X, y = plane.X, plane.y
    model = OrdinalSVM(C=np.inf, tol=1e-10).fit(X, y)
    task = make_ordinal(60 if quick else 200, noise=0.01, random_state=0)
    curved = OrdinalSVM(**MACHINE).fit(task.X, task.y)
    figure, axes = panels(3)
    draw_plane(axes[0], model, X, y)
    draw_axis(axes[1], model, X, y)
    draw_curves(axes[2], curved, task)
    return Report(
        "Utilities, boundaries and margins",
        "Herbrich, Graepel & Obermayer, section 3",
        (claim(model, X, y),),
        pictures=(Picture("fig_1", CAPTION, figure),),
    )


def claim(model, X, y):
    """The smallest difference of utilities is the margin, and sits at the boundaries."""
    u, cuts = model.utility(X), model.thresholds_
    differences = np.abs(u[:, None] - u)[y[:, None] > y]
    gaps = [(u[y == k].max(), u[y == k + 1].min()) for k in (1, 2)]
    off = max(abs(cut - (low + high) / 2) for cut, (low, high) in zip(cuts, gaps, strict=True))
    return Claim(
        "Fig. 1",
        "One utility maps objects to an axis; the ranks are its intervals; the margin is the smallest difference of "
        "utilities between ranks, and it is met at the rank boundaries.",
        (
            Check(
                "the smallest difference between objects of different rank is 1 (canonical, to 1e-6)",
                abs(differences.min() - 1) <= 1e-6,
                f"{differences.min():.9f}, so the margin in the plane is 1 / ||w|| = "
                f"{1 / np.linalg.norm(model.coef_):.4f}",
            ),
            Check(
                "no w of a fine grid of directions has a larger margin",
                best_margin(X, y) <= (1 + 1e-6) / np.linalg.norm(model.coef_),
                f"the best of 100,000 directions has {best_margin(X, y):.4f}",
            ),
            Check(
                "each boundary lies in the middle between the closest objects of neighbouring ranks (to 1e-6)",
                off <= 1e-6,
                f"off by at most {off:.1e}",
            ),
        ),
        1,
        "An illustration: the data are ours, since the paper's figure has none.",
    )


def best_margin(X, y):
    """Return the largest margin over directions of the plane."""
    angle = np.linspace(0, 2 * np.pi, 100_001)
    u = X @ [np.cos(angle), np.sin(angle)]
    return max(np.min([u[y == k + 1].min(axis=0) - u[y == k].max(axis=0) for k in (1, 2)], axis=0))


def scatter(ax, X, y):
    """Draw the objects, a mark for each rank."""
    for k in np.unique(y):
        ax.plot(*X[y == k].T, MARKS[k - 1], color=COLOURS[k - 1], fillstyle="none", label=f"rank {k}", zorder=3)


def draw_plane(ax, model, X, y):
    """Draw the objects, the boundaries, their margins and the direction of the utility."""
    grid = np.stack(np.meshgrid(np.linspace(-0.05, 1.05, 200), np.linspace(-0.05, 1.05, 200)), axis=-1)
    u = model.utility(grid.reshape(-1, 2)).reshape(200, 200)
    ax.contour(*np.moveaxis(grid, -1, 0), u, model.thresholds_, colors="k")
    half = np.sort(np.concatenate([model.thresholds_ - 0.5, model.thresholds_ + 0.5]))
    ax.contour(*np.moveaxis(grid, -1, 0), u, half, colors="0.5", linestyles="--", linewidths=1)
    tip = 0.22 * model.coef_ / np.linalg.norm(model.coef_)
    ax.annotate("", tip, (0, 0), arrowprops={"arrowstyle": "-|>", "color": "k"})
    ax.annotate("w", tip + 0.01, fontsize=12)
    scatter(ax, X, y)
    ax.set(title="(a) objects, boundaries, margins", xlabel="feature x1", ylabel="feature x2", aspect="equal")


def draw_axis(ax, model, X, y):
    """Draw the objects over their utilities, with the thresholds and the margin around each."""
    u = model.utility(X)
    scatter(ax, np.column_stack([u, y]), y)
    for k, cut in enumerate(model.thresholds_, 1):
        ax.axvspan(cut - 0.5, cut + 0.5, color="0.85", zorder=0, label="margin" if k == 1 else None)
        ax.axvline(cut, color="k")
        ax.annotate(f" theta({k})", (cut, 3.35))
    ax.set(title="(b) on the axis of the utility", xlabel="utility U(x)", ylabel="rank", yticks=[1, 2, 3])
    ax.set_ylim(0.5, 3.6)
    ax.legend(loc="lower right")


def draw_curves(ax, model, task):
    """Draw learnt and true boundaries of the task of Fig. 2."""
    side = np.linspace(0, 1, 200)
    x1, x2 = np.meshgrid(side, side)
    u = model.utility(np.column_stack([x1.ravel(), x2.ravel()])).reshape(x1.shape)
    ax.contour(x1, x2, u, np.unique(model.thresholds_), colors="k", linestyles="-")
    ax.contour(x1, x2, 10 * (x1 - 0.5) * (x2 - 0.5), task.thresholds, colors="0.4", linestyles=":")
    scatter(ax, task.X, task.y)
    ax.set(title="(c) a curved utility", xlabel="feature x1", ylabel="feature x2", aspect="equal")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
