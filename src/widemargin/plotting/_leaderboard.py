"""A leaderboard: items in order of utility, with intervals."""

from __future__ import annotations

import numpy as np

from .._unwrap import unwrap, utilities
from ._axes import INK, QUIET, axes_for


class LeaderboardDisplay:
    """Items from best to worst along their utility, with intervals and the tie width.

    Parameters
    ----------
    names : sequence of str
        Items.
    utility : ndarray of shape (n_items,)
        Utilities.
    lower, upper : ndarray of shape (n_items,), default=None
        Intervals.
    tie_width : float, default=None
        Differences up to this are ties.
    level : float, default=None
        Level of the intervals, for the legend.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from widemargin.plotting import LeaderboardDisplay
    >>> board = LeaderboardDisplay(names=["a", "b"], utility=[0.2, 1.0], lower=[0.1, 0.8], upper=[0.4, 1.1]).plot()
    >>> [label.get_text() for label in board.ax_.get_yticklabels()]
    ['b', 'a']
    """

    def __init__(self, *, names, utility, lower=None, upper=None, tie_width=None, level=None):
        self.names = names
        self.utility = utility
        self.lower = lower
        self.upper = upper
        self.tie_width = tie_width
        self.level = level

    @classmethod
    def from_frame(cls, board, *, item="item", max_items=40, tie_width=None, level=None, ax=None):
        """Draw a frame with the columns item, utility and, if there are intervals, lower and upper.

        Parameters
        ----------
        board : pandas or polars DataFrame
            A leaderboard.
        item : str, default="item"
            Column with the items' names.
        max_items : int, default=40
            Of more items the best are drawn.
        tie_width : float, default=None
            Differences up to this are ties.
        level : float, default=None
            Level of the intervals, for the legend.
        ax : matplotlib axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        LeaderboardDisplay
        """
        columns = {name: np.asarray(board[name]) for name in board.columns}
        missing = [name for name in (item, "utility") if name not in columns]
        if missing:
            raise ValueError(f"the frame has no column {missing[0]!r}; it has {list(columns)}.")
        best = np.argsort(-columns["utility"], kind="stable")[:max_items]
        sides = {side: columns[side][best] for side in ("lower", "upper") if side in columns}
        display = cls(
            names=columns[item][best], utility=columns["utility"][best], tie_width=tie_width, level=level, **sides
        )
        return display.plot(ax=ax)

    @classmethod
    def from_estimator(cls, estimator, X, *, names=None, lower=None, upper=None, level=None, ax=None):
        """Draw the utilities that a fitted estimator gives to items.

        Parameters
        ----------
        estimator : estimator
            Fitted; a pipeline or a search is welcome.
        X : array-like of shape (n_items, n_features)
            Items.
        names : sequence of str, default=None
            Names of the items; None: their positions.
        lower, upper : array-like of shape (n_items,), default=None
            Intervals.
        level : float, default=None
            Level of the intervals, for the legend.
        ax : matplotlib axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        LeaderboardDisplay
        """
        u = utilities(estimator, X)
        names = np.arange(u.size) if names is None else names
        width = getattr(unwrap(estimator)[0], "tie_width_", None)
        return cls(names=names, utility=u, lower=lower, upper=upper, tie_width=width, level=level).plot(ax=ax)

    def plot(self, *, ax=None):
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        self
        """
        u = np.asarray(self.utility, dtype=float)
        order = np.argsort(-u, kind="stable")
        ax = axes_for(ax, figsize=(6.5, 1.2 + 0.28 * u.size))
        places = np.arange(u.size)
        if self.lower is not None and self.upper is not None:
            lower, upper = np.asarray(self.lower, dtype=float)[order], np.asarray(self.upper, dtype=float)[order]
            label = "interval" if self.level is None else f"{self.level:.0%} interval"
            ax.hlines(places, lower, upper, color=QUIET, lw=3, label=label)
        ax.plot(u[order], places, "o", color=INK, ms=5, label="utility")
        if self.tie_width:
            best = u[order[0]]
            ax.axvspan(best - self.tie_width, best, color="0.88", zorder=0, label="within a tie of the best")
        ax.set(xlabel="utility (larger is preferred)", yticks=places, ylim=(u.size - 0.5, -0.5))
        ax.set_yticklabels([str(np.asarray(self.names)[k]) for k in order])
        ax.grid(axis="x", color="0.9")
        ax.legend(loc="lower right", fontsize=8, framealpha=0.9)
        self.ax_, self.figure_ = ax, ax.figure
        return self
