"""Transformers of items inside a pipeline whose X is pairs."""

from __future__ import annotations

from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from .pairs import Pairs, as_pairs

__all__ = ["OnItems"]


class OnItems(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):
    """Fit a scikit-learn transformer on the items of pairs, and return pairs of transformed items.

    Parameters
    ----------
    transformer : estimator
        Any transformer of a feature matrix, such as `StandardScaler()`. It is cloned.

    Attributes
    ----------
    transformer_ : estimator
        The fitted clone.
    n_features_in_ : int
        Number of features of the items.

    Notes
    -----
    Each item counts once, however many pairs it is in; items in no training pair are left out of the fit.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from widemargin import ComparisonSVM, OnItems, Pairs
    >>> pairs = Pairs([[0.0], [100.0], [300.0]], [(1, 0), (2, 1)])
    >>> model = make_pipeline(OnItems(StandardScaler()), ComparisonSVM(ties="threshold"))
    >>> model.fit(pairs, [1, 1]).predict(pairs)
    array([1, 1])
    """

    def __init__(self, transformer):
        self.transformer = transformer

    def fit(self, X, y=None):  # noqa: ARG002
        """Fit the transformer on the items that occur in a pair.

        Parameters
        ----------
        X : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs of items.
        y : ignored

        Returns
        -------
        self
        """
        pairs = as_pairs(X)
        self.transformer_ = clone(self.transformer).fit(pairs.used_items())
        self.n_features_in_ = pairs.items.shape[1]
        return self

    def transform(self, X):
        """Return the pairs with transformed items.

        Parameters
        ----------
        X : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs of items.

        Returns
        -------
        Pairs
        """
        check_is_fitted(self)
        pairs = as_pairs(X)
        return Pairs(self.transformer_.transform(pairs.items), pairs.index, names=pairs.names)

    def set_output(self, *, transform=None):
        """Ask the transformer for items as a frame, so that their names stay with them.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, default=None
            Kind of the items of the pairs that `transform` returns; None: as it was.

        Returns
        -------
        self
        """
        for transformer in (self.transformer, getattr(self, "transformer_", None)):
            if hasattr(transformer, "set_output"):
                transformer.set_output(transform=transform)
        return self

    def get_feature_names_out(self, input_features=None):
        """Return the names that the transformer gives to the items' features."""
        check_is_fitted(self)
        return self.transformer_.get_feature_names_out(input_features)
