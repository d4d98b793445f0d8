"""Level curves of a utility over two features, with the comparisons on them."""

from __future__ import annotations

import numpy as np

from .._unwrap import unwrap, utilities
from ..pairs import as_pairs
from ._axes import CMAP, INK, QUIET, axes_for, column_names, like_frame, two_columns


class UtilityDisplay:
    """Level curves of a learned utility over two features, with pairs, thresholds and items on them.

    Parameters
    ----------
    xs, ys : ndarray of shape (n,)
        The grid.
    utility : ndarray of shape (n, n)
        Utility on the grid; row i belongs to ys[i].
    pairs : Pairs, default=None
        Comparisons to draw.
    outcomes : ndarray of shape (n_pairs,), default=None
        +1, 0 or -1 for each pair.
    thresholds : ndarray, default=None
        Utilities drawn as rank boundaries.
    names : sequence of str
        Names of the two features.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from widemargin import ComparisonSVM
    >>> from widemargin.datasets import make_comparisons
    >>> from widemargin.plotting import UtilityDisplay
    >>> data = make_comparisons(60, random_state=0)
    >>> model = ComparisonSVM(kernel="rbf", gamma=0.2).fit(data.X, data.y)
    >>> UtilityDisplay.from_estimator(model, pairs=data.X, y=data.y).ax_.get_xlabel()
    'feature 1'
    """

    def __init__(
        self, *, xs, ys, utility, pairs=None, outcomes=None, thresholds=None, names=("feature 1", "feature 2")
    ):
        self.xs = xs
        self.ys = ys
        self.utility = utility
        self.pairs = pairs
        self.outcomes = outcomes
        self.thresholds = thresholds
        self.names = names

    @classmethod
    def from_estimator(cls, estimator, X=None, *, pairs=None, y=None, n_grid=100, max_pairs=60, ax=None):
        """Draw a fitted estimator's utility.

        Parameters
        ----------
        estimator : estimator
            Fitted on items with two features; a pipeline or a search is welcome.
        X : array-like of shape (n_items, 2), default=None
            Items that the picture must hold; None: those of `pairs`.
        pairs : Pairs or array-like of shape (n_pairs, 2, 2), default=None
            Comparisons to draw: an arrow to the preferred item, a grey line where there is no difference.
        y : array-like of shape (n_pairs,), default=None
            Outcomes of `pairs`; None: the first item of each won.
        n_grid : int, default=100
            Points along each side.
        max_pairs : int, default=60
            Of more pairs only this many, evenly spread over the list, are drawn.
        ax : matplotlib axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        UtilityDisplay
        """
        if X is None and pairs is None:
            raise ValueError("neither X nor pairs was given; pass the items or the pairs that the picture must hold.")
        pairs = None if pairs is None else as_pairs(pairs)
        shown = X if X is not None else pairs.items
        names = column_names(shown, estimator)
        items = two_columns(shown, cls.__name__)
        xs, ys = (_spread(items[:, k], n_grid) for k in range(2))
        mesh = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
        outcomes = None if pairs is None else np.ones(len(pairs)) if y is None else np.asarray(y)
        if pairs is not None and len(pairs) > max_pairs:
            kept = np.unique(np.linspace(0, len(pairs) - 1, max_pairs).astype(int))
            pairs, outcomes = pairs[kept], outcomes[kept]
        display = cls(
            xs=xs,
            ys=ys,
            utility=utilities(estimator, like_frame(mesh, shown, estimator)).reshape(n_grid, n_grid),
            pairs=pairs,
            outcomes=outcomes,
            thresholds=getattr(unwrap(estimator)[0], "thresholds_", None),
            names=names,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax=None, levels=12):
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None: a new figure.
        levels : int or sequence of float, default=12
            Number of level curves, or their utilities.

        Returns
        -------
        self
        """
        ax = axes_for(ax, figsize=(6, 5))
        filled = ax.contourf(self.xs, self.ys, self.utility, levels, cmap=CMAP, alpha=0.45)
        ax.contour(self.xs, self.ys, self.utility, levels, cmap=CMAP, linewidths=0.8)
        ax.figure.colorbar(filled, ax=ax, label="utility (larger is preferred)")
        handles = []
        if self.thresholds is not None and len(self.thresholds):
            ax.contour(self.xs, self.ys, self.utility, np.unique(self.thresholds), colors=INK, linestyles="--")
            handles += ax.plot([], [], color=INK, ls="--", label="boundary between ranks")
        if self.pairs is not None:
            handles += self._draw_pairs(ax)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        if handles:
            ax.legend(handles=handles, loc="upper right", fontsize=8, framealpha=0.9)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_pairs(self, ax):
        """Draw arrows to the preferred items and grey lines between equal ones; return what the legend shows."""
        items = np.asarray(self.pairs.items, dtype=float)
        for (i, j), outcome in zip(self.pairs.index, self.outcomes, strict=True):
            start, end = (items[j], items[i]) if outcome >= 0 else (items[i], items[j])
            style = (
                {"arrowstyle": "-", "color": QUIET, "lw": 2.0} if outcome == 0 else {"arrowstyle": "-|>", "color": INK}
            )
            ax.annotate("", xy=end, xytext=start, arrowprops=style | {"shrinkA": 0, "shrinkB": 0})
        handles = []
        if np.any(self.outcomes != 0):
            handles += ax.plot([], [], color=INK, marker=">", label="arrow to the preferred item")
        if np.any(self.outcomes == 0):
            handles += ax.plot([], [], color=QUIET, lw=2.0, label="no difference")
        return handles


def _spread(values, n):
    """Return n points over the range of the values and a twentieth beyond."""
    low, high = values.min(), values.max()
    room = 0.05 * (high - low) or 1.0
    return np.linspace(low - room, high + room, n)
