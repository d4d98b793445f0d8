"""Items without nan and infinity: read once for that alone, or left to a fit whose products see every row."""

from functools import partial

import numpy as np
from scipy import sparse
from sklearn.utils.validation import assert_all_finite

LEFT_BYTES = 1 << 24  # of X from which on reading it once less is felt
FEW_LONE = 0.05  # share of rows without a pair, which no product tells of, that are looked at by themselves


def check_finite(X, estimator_name):
    """Refuse nan and infinity. The product of X with itself tells of most data that there is none, in half the time."""
    values = X.data if sparse.issparse(X) else X
    if not _is_flat(values) or not np.isfinite(_squared_norm(values.ravel(order="K"))):
        assert_all_finite(X, estimator_name=estimator_name, input_name="X")


def may_be_left(X):
    """Whether reading X for nan and infinity alone would be felt."""
    return not sparse.issparse(X) and X.nbytes > LEFT_BYTES


def left(X, levels, estimator_name):
    """Return what to ask where a product of X is not finite: it refuses X, or returns where something else was wrong.

    Every row that has a pair shows in the sums of a look at all pairs; the others are looked at here.
    """
    refuse = partial(assert_all_finite, X, estimator_name=estimator_name, input_name="X")
    is_lone, sizes = levels.rank[levels.starts[:-1]] == 0, np.diff(levels.starts)
    if np.any(is_lone):
        lone = levels.order[np.repeat(is_lone, sizes)]
        if lone.size > FEW_LONE * levels.n_items or not np.all(np.isfinite(X[lone])):
            refuse()
    return refuse


def _is_flat(values):
    return values.flags.c_contiguous or values.flags.f_contiguous


def _squared_norm(x):
    with np.errstate(over="ignore", invalid="ignore"):
        return np.dot(x, x)
