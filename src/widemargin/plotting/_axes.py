"""What every picture shares: axes to draw on, names for them, and two columns to draw."""

from __future__ import annotations

import numpy as np

CMAP = "cividis"  # dark to light, the same in grey print and for the colour-blind
INK, QUIET = "black", "0.55"


def axes_for(ax, **options):
    """Return `ax`, or the axes of a new figure."""
    if ax is not None:
        return ax
    return pyplot().subplots(layout="constrained", **options)[1]


def pyplot():
    """Return matplotlib.pyplot, or say what to install."""
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415 (an extra)
    except ImportError as error:
        raise ImportError("pictures need matplotlib; pip install 'widemargin[plot]' brings it.") from error
    return plt


def two_columns(X, what):
    """Return X as a float array with two columns, the only kind that can be drawn as a plane."""
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or X.shape[1] != 2:
        raise ValueError(f"{what} draws a plane and needs items with 2 features; got shape {X.shape}.")
    return X


def column_names(X, estimator):
    """Return the names of the two features, from the frame or from the estimator."""
    names = getattr(X, "columns", getattr(estimator, "feature_names_in_", None))
    return ["feature 1", "feature 2"] if names is None else [str(name) for name in list(names)[:2]]


def like_frame(points, X, estimator):
    """Return points as a frame of X's library, where X is one and the estimator knows its features by name."""
    if not (hasattr(X, "columns") and hasattr(estimator, "feature_names_in_")):
        return points
    return type(X)({name: points[:, k] for k, name in enumerate(X.columns)})
