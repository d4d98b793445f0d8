"""RBF scoring: 20,000 new rows against about 5,000 support vectors; times are compared per vector."""

from functools import partial

import numpy as np

from ..problem import Problem, Workload
from .kernels import curve


def rows(n_new, n_vectors, quick, *, dtype):
    """Return training items that all become vectors, and rows to score."""
    n_new, n_vectors = (500, 200) if quick else (n_new, n_vectors)
    rng = np.random.default_rng(9)
    X = rng.standard_normal((n_vectors, 20)).astype(dtype)
    new = rng.standard_normal((n_new, 20)).astype(dtype)
    return Problem("scoring", X, curve(rng, X, noise=1.0), C=1e-2, kernel="rbf", gamma=0.05, new=new)


WORKLOADS = [
    Workload("scoring-f32", partial(rows, 20_000, 5_000, dtype=np.float32), ("svr_scoring",)),
    Workload("scoring-f64", partial(rows, 20_000, 5_000, dtype=np.float64), ("svr_scoring",)),
]
