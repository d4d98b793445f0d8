"""The estimator with the utility inside pipelines, searches and wrappers, and what it sees of X."""

from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline


def unwrap(model, X=None):
    """Return the innermost fitted estimator of a model and X, if given, as the steps before it transform it."""
    while not hasattr(model, "utility"):
        if isinstance(model, Pipeline):
            X = X if X is None or len(model) == 1 else model[:-1].transform(X)
            model = model[-1]
        elif (inner := next((n for n in ("best_estimator_", "estimator_") if hasattr(model, n)), None)) is not None:
            model = getattr(model, inner)
        elif isinstance(model, FrozenEstimator):
            model = model.estimator
        else:
            raise TypeError(
                f"{type(model).__name__} has no utility; expected a fitted estimator of this package, or a Pipeline, "
                "a search or a calibrated model that ends in one. Call fit first."
            )
    return model, X


def utilities(model, X):
    """Return the utility of each item, through pipelines, searches and wrappers."""
    model, X = unwrap(model, X)
    return model.utility(X)
