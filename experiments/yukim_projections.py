"""Yu & Kim, Fig. 6 and Corollaries 1 and 2: the ranking SVM's w keeps the projections furthest apart.

Four points of the plane, ordered x1 > x2 > x3 > x4. Many directions project them in this order; the hard margin
machine, `RankingSVM(C=inf)`, takes the one whose smallest difference is largest. We draw it (w1) beside another one
(w2), and compare it with 100,000 directions on random sets of points that a direction orders.
"""

import numpy as np

from widemargin import RankingSVM

from ._report import Check, Claim, Picture, Report
from ._seeds import generator
from ._style import COLOURS, panels

POINTS = np.array([[2.6, 1.9], [2.0, 2.3], [0.9, 1.3], [0.7, 0.3]])
PLACES = np.array([4, 3, 2, 1])
OTHER = np.array([1.0, 1.2])
CAPTION = (
    "Four points and their projections on the ranking SVM's w1 (left) and on w2 (right), which orders them alike. "
    "delta is the smallest difference in ranking: the closest pair of projections"
)


def run(quick, each):
    """Return the report."""
    tasks = [(POINTS, PLACES), *(random_task(draw) for draw in range(3 if quick else 100))]
    angles = np.linspace(0, 2 * np.pi, 2_000 if quick else 100_000, endpoint=False)
    found = np.array(each(compare, [(*task, angles) for task in tasks], "sets of points"))
    return Report(
        "Projections",
        "Yu & Kim, section 4.1",
        (claim(found),),
        pictures=(Picture("fig_6", CAPTION, plot(hard_margin(POINTS, PLACES).coef_)),),
    )


def random_task(draw):
    """Return four to eight points of the plane in the order of a random direction."""
    rng = generator(draw)
    X = rng.uniform(0, 3, size=(rng.randint(4, 9), 2))
    return X, (X @ rng.normal(size=2)).argsort().argsort()


def hard_margin(X, y):
    """Return the machine of the corollaries."""
    return RankingSVM(C=np.inf, tol=1e-8).fit(X, y)


def smallest_difference(w, X, y):
    """Return the smallest difference in ranking along w, or along each column of w."""
    steps = X[np.argsort(y)] @ (w / np.linalg.norm(w, axis=0))
    return np.diff(steps, axis=0).min(axis=0)


def compare(X, y, angles):
    """Return delta of the machine, its 1 / ||w||, the best delta of many directions, and its least margin."""
    model = hard_margin(X, y)
    best = smallest_difference(np.array([np.cos(angles), np.sin(angles)]), X, y).max()
    least = np.diff(np.sort(model.predict(X))).min()
    return smallest_difference(model.coef_, X, y), 1 / np.linalg.norm(model.coef_), best, least


def claim(found):
    """The machine's delta is the largest, and is that of its support pairs."""
    delta, inverse, best, least = found.T
    other = smallest_difference(OTHER, POINTS, PLACES)
    checks = (
        Check(
            "on the drawn points w2 gives the same order with a smaller difference than w1",
            bool(0 < other < delta[0]),
            f"{other:.2f} against {delta[0]:.2f}",
        ),
        Check(
            "no direction has a larger smallest difference",
            bool(np.all(best <= delta * (1 + 1e-4))),
            f"the best of many is at most {np.max(best / delta):.6f} times the machine's",
        ),
        Check(
            "it is delta = 1 / ||w||",
            bool(np.allclose(delta, inverse, rtol=1e-4)),
            f"off by {np.max(np.abs(delta / inverse - 1)):.1g}, relatively",
        ),
        Check(
            "the closest pairs are the support pairs, with w.(xi - xj) = 1",
            bool(np.allclose(least, 1, atol=1e-4)),
            f"the least difference of utilities is {least.min():.6f} to {least.max():.6f}",
        ),
    )
    says = "The hard margin machine maximises the smallest difference in ranking; its support pairs are the closest."
    return Claim("Fig. 6, Corollaries 1 and 2", says, checks, len(found))


def plot(w):
    """Return the points with their feet on both directions."""
    figure, axes = panels(2, sharex=True, sharey=True)
    for ax, direction, name, colour in ((axes[0], w, "w1", COLOURS[0]), (axes[1], OTHER, "w2", COLOURS[1])):
        unit = direction / np.linalg.norm(direction)
        feet = np.outer(POINTS @ unit, unit)
        ax.annotate("", 3.6 * unit, (0, 0), arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1.5})
        ax.annotate(name, 3.65 * unit, color=colour)
        for k, (point, foot) in enumerate(zip(POINTS, feet, strict=True)):
            ax.plot(*np.array([point, foot]).T, ":", color="0.5")
            ax.annotate(f"x{k + 1}", point, xytext=(5, 4), textcoords="offset points")
        ax.plot(*POINTS.T, "ko")
        ax.plot(*feet.T, "o", color=colour)
        closest = np.argmin(-np.diff(POINTS @ unit))
        ax.plot(*feet[closest : closest + 2].T, color=colour, linewidth=5, alpha=0.5)
        delta = smallest_difference(direction, POINTS, PLACES)
        ax.set(xlabel="feature 1", ylabel="feature 2", aspect="equal", title=f"{name}: delta = {delta:.2f}")
    axes[0].set(xlim=(-0.2, 3.8), ylim=(-0.2, 3.8))
    return figure
