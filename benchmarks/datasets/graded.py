"""Linear ranking: graded queries, and one global ordering by a real-valued y. Standardised normal data."""

from functools import partial

import numpy as np

from ..problem import Problem, Workload

ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000)  # of the scaling plots
BLOCK = 50_000  # rows drawn at once: a float32 X is never in memory as float64


def normal(rng, n, d, dtype):
    """Return n x d standard normal values."""
    X = np.empty((n, d), dtype=dtype)
    for a in range(0, n, BLOCK):
        X[a : a + BLOCK] = rng.standard_normal(size=(min(BLOCK, n - a), d), dtype=np.float32)
    return X


def noisy_utility(rng, X, noise=0.5):
    """Return X @ w for a w of unit length, plus noise."""
    w = rng.standard_normal(X.shape[1])
    return X @ (w / np.linalg.norm(w)).astype(X.dtype) + noise * rng.standard_normal(X.shape[0])


def grades(u, n_grades=5):
    """Return quantiles of u as grades 0 .. n_grades - 1, all equally frequent."""
    return np.searchsorted(np.quantile(u, np.arange(1, n_grades) / n_grades), u).astype(float)


def queries(n, d, n_queries, quick, *, dtype=np.float32, loss="squared_hinge", C=1e-3, tol=1e-3):
    """Return graded queries of equal size."""
    n, d, n_queries = (2_000, 20, 20) if quick else (n, d, n_queries)
    rng = np.random.default_rng(0)
    X = normal(rng, n, d, dtype)
    qid = np.arange(n) // (n // n_queries)
    return Problem("ranking", X, grades(noisy_utility(rng, X)), qid, C=C, loss=loss, tol=tol)


def ordering(n, d, quick):
    """Return one query whose y is real: n (n - 1) / 2 pairs."""
    n, d = (2_000, 10) if quick else (n, d)
    rng = np.random.default_rng(1)
    X = normal(rng, n, d, np.float32)
    return Problem("ranking", X, noisy_utility(rng, X).astype(float), C=1.0 / n)


TREES = ("xgboost", "lightgbm")

WORKLOADS = [
    Workload("graded-10k", partial(queries, 10_000, 50, 1_000), ("linear_svc_pairs", *TREES)),
    Workload("graded-100k", partial(queries, 100_000, 136, 1_000), TREES, threads=True),
    Workload("graded-100k-f64", partial(queries, 100_000, 136, 1_000, dtype=np.float64)),
    Workload("graded-1m", partial(queries, 1_000_000, 136, 10_000), threads=True),
    Workload("hinge-100k", partial(queries, 100_000, 136, 1_000, loss="hinge"), threads=True),
    Workload("ordering-100k", partial(ordering, 100_000, 50), ("survival",)),
    Workload("ordering-1m", partial(ordering, 1_000_000, 50)),
]

SCALING = {f"rows-{n}": Workload(f"rows-{n}", partial(queries, n, 50, n // 100)) for n in ROWS}
