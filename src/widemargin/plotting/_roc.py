"""The ROC curve of telling differences from ties."""

from __future__ import annotations

import numpy as np

from .._unwrap import unwrap
from ..metrics import comparison_auc
from ._axes import INK, QUIET, axes_for


class ComparisonRocDisplay:
    """Share of winners found, with the right sign, against the share of ties called a difference.

    Each point is a tie width: a pair is called different where |u(first) - u(second)| exceeds it. A difference of the
    wrong sign is never a hit, so that the curve of a random scorer ends near (1, 1/2) and its area is 1/4.

    Parameters
    ----------
    false_positive_rate, true_positive_rate : ndarray of shape (n_points,)
        The curve.
    auc : float
        Area, :func:`widemargin.metrics.comparison_auc`.
    point : tuple of float, default=None
        Where the estimator's own tie width stands.
    name : str, default=None
        For the legend.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from widemargin import ComparisonSVM
    >>> from widemargin.datasets import make_comparisons
    >>> from widemargin.plotting import ComparisonRocDisplay
    >>> data = make_comparisons(60, noise=0.0, random_state=0)
    >>> model = ComparisonSVM(kernel="rbf", gamma=0.2).fit(data.X, data.y)
    >>> bool(ComparisonRocDisplay.from_estimator(model, data.X, data.y).auc > 0.9)
    True
    """

    def __init__(self, *, false_positive_rate, true_positive_rate, auc, point=None, name=None):
        self.false_positive_rate = false_positive_rate
        self.true_positive_rate = true_positive_rate
        self.auc = auc
        self.point = point
        self.name = name

    @classmethod
    def from_estimator(cls, estimator, X, y, *, name=None, ax=None):
        """Draw the curve of a fitted ComparisonSVM.

        Parameters
        ----------
        estimator : estimator
            A fitted ComparisonSVM, or a pipeline or search that ends in one.
        X : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs.
        y : array-like of shape (n_pairs,)
            +1, 0 or -1.
        name : str, default=None
            For the legend; None: the estimator's name.
        ax : matplotlib axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        ComparisonRocDisplay
        """
        model = unwrap(estimator)[0]
        width = getattr(model, "tie_width_", None)
        display = cls.from_predictions(y, estimator.decision_function(X), tie_width=width, draw=False)
        display.name = type(model).__name__ if name is None else name
        return display.plot(ax=ax)

    @classmethod
    def from_predictions(cls, y, s, *, tie_width=None, name=None, ax=None, draw=True):
        """Draw the curve of given differences.

        Parameters
        ----------
        y : array-like of shape (n_pairs,)
            +1, 0 or -1.
        s : array-like of shape (n_pairs,)
            u(first) - u(second).
        tie_width : float, default=None
            The width to mark on the curve.
        name : str, default=None
            For the legend.
        ax : matplotlib axes, default=None
            Where to draw; None: a new figure.
        draw : bool, default=True
            Whether to draw at once.

        Returns
        -------
        ComparisonRocDisplay
        """
        auc = comparison_auc(y, s)
        y, s = np.asarray(y), np.asarray(s, dtype=float)
        hits, alarms = np.sort((y * s)[y != 0]), np.sort(np.abs(s[y == 0]))
        widths = np.concatenate([[np.inf], np.unique(np.abs(s))[::-1]])

        def rates(width):
            return (_share_above(alarms, width), _share_above(hits, width))

        fpr, tpr = rates(widths)
        # below the smallest |s| every tie is an alarm, and every hit of positive sign is found: the curve's last point
        fpr, tpr = np.append(fpr, 1.0), np.append(tpr, _share_above(hits, 0.0))
        point = None if tie_width is None else tuple(float(v) for v in rates(tie_width))
        display = cls(false_positive_rate=fpr, true_positive_rate=tpr, auc=auc, point=point, name=name)
        return display.plot(ax=ax) if draw else display

    def plot(self, *, ax=None, **line):
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None: a new figure.
        **line
            Of matplotlib's `plot`.

        Returns
        -------
        self
        """
        ax = axes_for(ax, figsize=(5, 4.6))
        label = f"{self.name or 'curve'} (AUC {self.auc:.3f})"
        (drawn,) = ax.plot(self.false_positive_rate, self.true_positive_rate, label=label, **({"color": INK} | line))
        if self.point is not None:
            ax.plot(*self.point, "o", mec=INK, color=drawn.get_color(), ms=7, label="at the learned tie width")
        ax.plot([0, 1], [0, 0.5], color=QUIET, ls=":", label="random scores (AUC 0.25)")
        ax.set(
            xlabel="ties called a difference (share of ties)",
            ylabel="winners found, right sign (share of differences)",
            xlim=(-0.02, 1.02),
            ylim=(-0.02, 1.02),
        )
        ax.legend(loc="lower right", fontsize=8, framealpha=0.9)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _share_above(ordered, widths):
    """Return the share of the ordered values that exceed each width."""
    return 1.0 - np.searchsorted(ordered, widths, side="right") / ordered.size
