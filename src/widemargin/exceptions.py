"""What can go wrong, by name."""

from sklearn.exceptions import ConvergenceWarning

__all__ = ["CollapseWarning", "ConeWarning", "DisconnectedWarning", "NoComparisonsError"]


class NoComparisonsError(ValueError):
    """The data hold nothing to compare: one class, one grade per query, or no pair with a winner."""


class CollapseWarning(ConvergenceWarning):
    """The optimum is the constant utility: every item scores the same."""


class ConeWarning(UserWarning):
    """Non-negative coefficients restrict the model to a cone that depends on the origin of the data."""


class DisconnectedWarning(UserWarning):
    """Some items were never compared with the others, not even through a chain of items."""
