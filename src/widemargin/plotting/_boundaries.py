"""Where items fall on the utility, and the boundaries between ranks."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from .._unwrap import unwrap, utilities
from ._axes import CMAP, INK, axes_for


class RankBoundaryDisplay:
    """Utilities of labelled items, one line of points per true label, with the thresholds between labels.

    Parameters
    ----------
    utility : ndarray of shape (n_items,)
        Utilities.
    codes : ndarray of int of shape (n_items,)
        Positions of the true labels in `classes`.
    classes : ndarray
        Labels from worst to best.
    thresholds : ndarray of shape (n_classes - 1,)
        Boundaries.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from widemargin import OrdinalSVM
    >>> from widemargin.datasets import make_ordinal
    >>> from widemargin.plotting import RankBoundaryDisplay
    >>> data = make_ordinal(50, random_state=0)
    >>> model = OrdinalSVM(kernel="poly", degree=2, coef0=1.0).fit(data.X, data.y)
    >>> len(RankBoundaryDisplay.from_estimator(model, data.X, data.y).thresholds)
    4
    """

    def __init__(self, *, utility, codes, classes, thresholds):
        self.utility = utility
        self.codes = codes
        self.classes = classes
        self.thresholds = thresholds

    @classmethod
    def from_estimator(cls, estimator, X, y, *, ax=None, random_state=0):
        """Draw labelled items on the utility of a fitted OrdinalSVM.

        Parameters
        ----------
        estimator : estimator
            A fitted OrdinalSVM, or a pipeline or search that ends in one.
        X : array-like of shape (n_items, n_features)
            Items.
        y : array-like of shape (n_items,)
            Their true labels.
        ax : matplotlib axes, default=None
            Where to draw; None: a new figure.
        random_state : int, RandomState or None, default=0
            Of the vertical jitter that keeps points apart.

        Returns
        -------
        RankBoundaryDisplay
        """
        model = unwrap(estimator)[0]
        if not hasattr(model, "thresholds_"):
            raise TypeError(f"{type(model).__name__} has no thresholds_; expected a fitted OrdinalSVM.")
        place = {label: k for k, label in enumerate(model.classes_.tolist())}
        labels = np.asarray(y).tolist()
        unknown = [label for label in labels if label not in place]
        if unknown:
            raise ValueError(f"y holds {unknown[0]!r}; expected labels among classes_ = {list(place)}.")
        codes = np.array([place[label] for label in labels])
        display = cls(
            utility=utilities(estimator, X), codes=codes, classes=model.classes_, thresholds=model.thresholds_
        )
        return display.plot(ax=ax, random_state=random_state)

    def plot(self, *, ax=None, random_state=0):
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None: a new figure.
        random_state : int, RandomState or None, default=0
            Of the vertical jitter.

        Returns
        -------
        self
        """
        ax = axes_for(ax, figsize=(6.5, 4))
        jitter = check_random_state(random_state).uniform(-0.28, 0.28, self.codes.size)
        right = np.searchsorted(self.thresholds, self.utility, side="left") == self.codes
        for mask, marker, label in ((right, "o", "in its own band"), (~right, "X", "in another label's band")):
            if np.any(mask):
                ax.scatter(
                    self.utility[mask], self.codes[mask] + jitter[mask], c=self.codes[mask], cmap=CMAP, vmin=0,
                    vmax=len(self.classes) - 1, marker=marker, s=22, edgecolor=INK, linewidth=0.4, label=label,
                )  # fmt: skip
        for k, cut in enumerate(self.thresholds):
            ax.axvline(cut, color=INK, ls="--", lw=1, label=None if k else "threshold")
        ax.set(xlabel="utility", ylabel="true label", yticks=range(len(self.classes)))
        ax.set_yticklabels([str(label) for label in self.classes])
        ax.legend(loc="best", fontsize=8, framealpha=0.9)
        self.ax_, self.figure_ = ax, ax.figure
        return self
