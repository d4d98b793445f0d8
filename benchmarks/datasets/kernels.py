"""RBF machines over all pairs: one ordering of m items, and ordinal labels."""

from functools import partial

import numpy as np

from ..problem import Problem, Workload
from .graded import grades

FEATURES = 10


def curve(rng, X, noise=0.3):
    """Return a smooth, not linear, utility of the items, with noise."""
    return np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 2 + X[:, 3] + noise * rng.standard_normal(len(X))


def ordering(m, quick, *, loss="squared_hinge"):
    """Return one query of m items with a real-valued y."""
    m = 150 if quick else m
    rng = np.random.default_rng(4)
    X = rng.standard_normal((m, FEATURES))
    return Problem("ranking", X, curve(rng, X), C=10.0 / m, loss=loss, kernel="rbf", gamma=0.1)


def ordinal(m, quick, *, loss):
    """Return five ranks, all pairs of items of different rank."""
    m = 150 if quick else m
    rng = np.random.default_rng(5)
    X = rng.standard_normal((m, FEATURES))
    y = grades(curve(rng, X))
    return Problem("ranking", X, y, C=5.0 / m, loss=loss, kernel="rbf", gamma=0.1, options={"ordinal": True})


def steep(m, quick):
    """Return five grades by 20 features and noise, with the C that a user who sets none has: few margins are missed."""
    m = 150 if quick else m
    rng = np.random.default_rng(6)
    X = rng.standard_normal((m, 2 * FEATURES))
    y = grades(curve(rng, X, noise=1.0))
    return Problem("ranking", X, y, C=1.0, loss="hinge", kernel="rbf", gamma=0.5 / FEATURES)


WORKLOADS = [
    Workload("kernel-600-hinge", partial(ordering, 600, loss="hinge"), ("linear_svc_cholesky",)),
    Workload("kernel-1k", partial(ordering, 1_000), ("kernel_survival",)),
    Workload("kernel-3k", partial(ordering, 3_000), ("kernel_survival",)),
    Workload("kernel-10k", partial(ordering, 10_000), ("rbf_kernel",)),
    Workload("steep-300", partial(steep, 300), ("linear_svc_cholesky",)),
    Workload("steep-2k", partial(steep, 2_000), ()),
    Workload("ordinal-5k", partial(ordinal, 5_000, loss="squared_hinge"), ("skordinal",)),
    Workload("ordinal-5k-hinge", partial(ordinal, 5_000, loss="hinge"), ("skordinal",)),
]
