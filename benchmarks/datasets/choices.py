"""Explicit pairs with ties, and choices from sets."""

from functools import partial

import numpy as np

from ..problem import Problem, Workload
from .kernels import FEATURES, curve


def comparisons(n, quick):
    """Return n pairs of 2n items, half of them ties: the smaller differences of utility."""
    n = 150 if quick else n
    rng = np.random.default_rng(6)
    X = rng.standard_normal((2 * n, FEATURES))
    u = curve(rng, X, noise=0.0)
    index = np.column_stack([np.arange(n), np.arange(n, 2 * n)])
    s = u[:n] - u[n:] + 0.2 * rng.standard_normal(n)
    y = np.where(np.abs(s) <= np.median(np.abs(s)), 0, np.sign(s)).astype(np.int64)
    return Problem("comparison", X, y, C=1.0, loss="hinge", kernel="rbf", gamma=0.1, index=index)


def votes(n_items, n_pairs, quick):
    """Return votes on items with features, ties included."""
    n_items, n_pairs = (40, 150) if quick else (n_items, n_pairs)
    rng = np.random.default_rng(8)
    X = rng.standard_normal((n_items, 50))
    w = rng.standard_normal(50) * 0.3
    index = rng.integers(0, n_items, (n_pairs, 2))
    s = (X[index[:, 0]] - X[index[:, 1]]) @ w + rng.standard_normal(n_pairs)
    y = np.where(np.abs(s) < 1.0, 0, np.sign(s)).astype(np.int64)
    return Problem("comparison", X, y, C=1e-3, loss="hinge", index=index)


def sets(kind, n_sets, size, quick):
    """Return sets of alternatives, one of them chosen."""
    n_sets = 50 if quick else n_sets
    rng = np.random.default_rng(7)
    X = rng.standard_normal((n_sets * size, 10))
    u = (X @ rng.standard_normal(10) + rng.gumbel(size=len(X))).reshape(n_sets, size)
    y = (u == u.max(axis=1, keepdims=True)).ravel().astype(float)
    return Problem(kind, X, y, np.repeat(np.arange(n_sets), size), C=1e-2, loss="hinge")


WORKLOADS = [
    Workload("compare-5k", partial(comparisons, 5_000), ("svc_pairs",)),
    Workload("votes-100k", partial(votes, 20_000, 100_000)),
    Workload("votes-1m", partial(votes, 100_000, 1_000_000)),
    Workload("choice-2k-task", partial(sets, "choice", 2_000, 10), ("clarabel",)),
    Workload("choice-2k-pair", partial(sets, "choice_pair", 2_000, 10), ("linear_svc_pairs",)),
    Workload("choice-100k-task", partial(sets, "choice", 100_000, 10)),
    Workload("choice-100k-pair", partial(sets, "choice_pair", 100_000, 10), ("linear_svc_pairs",)),
]
