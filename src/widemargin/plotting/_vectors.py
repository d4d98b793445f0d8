"""Which items carry a model: its vectors, their coefficients, on the utility that they make."""

from __future__ import annotations

import numpy as np

from .._unwrap import unwrap
from ._axes import INK, axes_for, two_columns
from ._utility import UtilityDisplay


class RankingVectorsDisplay:
    """The vectors of a model over two features: circles as large as |coefficient|, filled where it is positive.

    Parameters
    ----------
    vectors : ndarray of shape (n_vectors, 2)
        Support vectors.
    coefficients : ndarray of shape (n_vectors,)
        Their coefficients.
    items : ndarray of shape (n_items, 2)
        All items.
    utility : UtilityDisplay
        Level curves under the vectors.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from widemargin import RankingVectorMachine
    >>> from widemargin.datasets import make_ranking
    >>> from widemargin.plotting import RankingVectorsDisplay
    >>> data = make_ranking(40, n_features=2, random_state=0)
    >>> model = RankingVectorMachine(kernel="rbf", gamma=0.5).fit(data.X, data.y)
    >>> display = RankingVectorsDisplay.from_estimator(model, data.X)
    >>> display.vectors.shape[1]
    2
    """

    def __init__(self, *, vectors, coefficients, items, utility):
        self.vectors = vectors
        self.coefficients = coefficients
        self.items = items
        self.utility = utility

    @classmethod
    def from_estimator(cls, estimator, X, *, ax=None):
        """Draw the vectors of a fitted kernel model among the items it was trained on.

        Parameters
        ----------
        estimator : estimator
            A fitted model with `support_`, such as RankingVectorMachine or a kernel RankingSVM.
        X : array-like of shape (n_items, 2)
            The items that it was fitted on, in their order.
        ax : matplotlib axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        RankingVectorsDisplay
        """
        model = unwrap(estimator)[0]
        if getattr(model, "support_", None) is None or np.ndim(model.dual_coef_) != 1:
            raise TypeError(
                f"this {type(model).__name__} has no vectors; expected a model with one utility in kernel form."
            )
        ax = axes_for(ax, figsize=(6, 5))
        items = two_columns(X, cls.__name__)
        utility = UtilityDisplay.from_estimator(estimator, X, ax=ax)
        display = cls(vectors=items[model.support_], coefficients=model.dual_coef_, items=items, utility=utility)
        return display.plot(ax=ax)

    def plot(self, *, ax=None):
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None: a new figure, with the level curves.

        Returns
        -------
        self
        """
        ax = self.utility.plot().ax_ if ax is None else ax
        ax.plot(*self.items.T, ".", color=INK, ms=3, label="item")
        size = 250 * np.abs(self.coefficients) / max(np.abs(self.coefficients).max(initial=0.0), np.finfo(float).tiny)
        for sign, face, label in ((1, INK, "raises the utility near it"), (-1, "white", "lowers the utility near it")):
            mask = np.sign(self.coefficients) == sign
            if np.any(mask):
                ax.scatter(
                    *self.vectors[mask].T, s=12 + size[mask], facecolor=face, edgecolor=INK, alpha=0.75, label=label
                )
        legend = ax.legend(loc="upper right", fontsize=8, framealpha=0.9, title=f"{self.coefficients.size} vectors")
        for handle in legend.legend_handles[1:]:
            handle.set_sizes([40])
        self.ax_, self.figure_ = ax, ax.figure
        return self
