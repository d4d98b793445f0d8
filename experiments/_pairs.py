"""Drawing pairs: arrows point to the better item, segments join items without a difference."""

import numpy as np

from ._style import COLOURS

BETTER, TIE = COLOURS[1], COLOURS[0]


def draw_pairs(ax, X, y, *, alpha=1.0):
    """Draw pairs (n, 2, 2) of labels y: arrows to the better item, segments for ties."""
    for pair, label in zip(X, y, strict=True):
        worse, better = pair[::-1] if label > 0 else pair
        if label:
            arrow = {"arrowstyle": "-|>", "color": BETTER, "linewidth": 0.9, "alpha": alpha, "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", better, worse, arrowprops=arrow)
        else:
            ax.plot(*pair.T, color=TIE, linewidth=1.2, alpha=alpha)
    ax.plot(*X.reshape(-1, 2).T, " ")  # arrows do not count for the limits of the axes
    ax.plot([], [], color=BETTER, marker=">", label="points to the better one")
    ax.plot([], [], color=TIE, label="no difference")
    legend_below(ax)


def legend_below(ax):
    """Put the legend where it hides nothing."""
    ax.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)


def draw_differences(ax, X, y):
    """Draw first - second of every pair, marked by its label."""
    difference = X[:, 0] - X[:, 1]
    for label, (name, marker, colour) in {
        1: ("first is better", "^", BETTER),
        0: ("no difference", "o", TIE),
        -1: ("second is better", "v", COLOURS[3]),
    }.items():
        ax.plot(*difference[y == label].T, marker, color=colour, markersize=4, alpha=0.8, label=name)
    ax.set(xlabel="first - second, feature 1", ylabel="first - second, feature 2")


def draw_levels(ax, w, levels, **look):
    """Draw the lines w.x = level, without changing the limits of the axes."""
    limits = ax.get_xlim(), ax.get_ylim()
    along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
    far = 2 * np.abs(limits).max()
    for level in levels:
        foot = level * w / (w @ w)
        ends = foot + np.outer([-far, far], along)
        ax.plot(*ends.T, **look)
        look.pop("label", None)
    ax.set(xlim=limits[0], ylim=limits[1])
