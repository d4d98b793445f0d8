"""Landmarks chosen by blocks are those of the plain loop."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from widemargin._core.kernels import RBF
from widemargin._core.landmarks import greedy_columns


@pytest.mark.parametrize("X", [np.random.default_rng(0).normal(size=(400, 3)), np.ones((400, 3))], ids=["many", "one"])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_columns_are_those_of_one_pivot_at_a_time(X, is_sparse):
    """Candidates by the dozen give the pivots and the columns of the plain loop."""
    kernel, rank = RBF(gamma=0.3), 150
    K, F, pivots = kernel(X, X), np.zeros((400, rank)), []
    rest = np.diag(K).copy()
    while len(pivots) < rank and rest.max() > 1e-14:
        i, j = int(np.argmax(rest)), len(pivots)
        F[:, j] = (K[:, i] - F[:, :j] @ F[i, :j]) / np.sqrt(rest[i])
        rest = np.maximum(rest - F[:, j] ** 2, 0.0)
        rest[i] = 0.0
        pivots.append(i)
    have = greedy_columns(kernel, sparse.csr_array(X) if is_sparse else X, rank)
    assert_array_equal(have.pivots, pivots)
    assert_allclose(have.F, F[:, : len(pivots)], atol=1e-8)
    assert_allclose(have.rest, rest, atol=1e-10)
