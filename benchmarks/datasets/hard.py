"""Linear ranking on unpleasant data: columns over six decades, nearly dependent columns, and sparse rows."""

from functools import partial

import numpy as np
from scipy import sparse

from ..problem import Problem, Workload
from .graded import grades, noisy_utility, normal


def badly_scaled(n, d, quick):
    """Return columns whose scales run from 1e-3 to 1e3, half of them nearly copies of the other half."""
    n, d = (2_000, 20) if quick else (n, d)
    rng = np.random.default_rng(2)
    X = normal(rng, n, d, np.float64)
    X[:, d // 2 :] = X[:, : d - d // 2] + 1e-3 * X[:, d // 2 :]
    y = grades(noisy_utility(rng, X))
    X *= np.logspace(-3, 3, d)[rng.permutation(d)]
    return Problem("ranking", X, y, np.arange(n) // 100, C=1e-3)


def sparse_rows(n, d, density, quick):
    """Return CSR rows with columns of very different frequency, as words have."""
    n, d = (2_000, 200) if quick else (n, d)
    rng = np.random.default_rng(3)
    share = np.minimum(1.0, density * d * (1.0 / np.arange(1, d + 1)) / np.sum(1.0 / np.arange(1, d + 1)))
    counts = rng.binomial(n, share)
    rows = np.concatenate([rng.choice(n, k, replace=False) for k in counts])
    X = sparse.csr_matrix(
        (np.abs(rng.standard_normal(rows.size)), (rows, np.repeat(np.arange(d), counts))), shape=(n, d)
    )
    return Problem("ranking", X, grades(noisy_utility(rng, X)), np.arange(n) // 100, C=1e-2)


WORKLOADS = [
    Workload("badly-scaled", partial(badly_scaled, 20_000, 50)),
    Workload("sparse-50k", partial(sparse_rows, 50_000, 2_000, 0.01)),
]
