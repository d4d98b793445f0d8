"""Landmarks chosen by blocks are those of the plain loop."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from widemargin._core.kernels import RBF, Polynomial
from widemargin._core.landmarks import columns_at_hand, greedy_columns


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


@pytest.mark.parametrize("n", [1, 50, 200, 500])
@pytest.mark.parametrize("kernel", [RBF(0.1), RBF(3.0), Polynomial(2, 1.0, 1.0)])
def test_columns_at_hand_are_about_as_many_as_greedy_ones(kernel, n):
    """They leave as little, are triangular in the rows of the pivots, and do not read what they need not."""
    X = np.random.default_rng(n).normal(size=(n, 3))
    K, nothing = kernel(X, X), 1e-4
    have, greedy = columns_at_hand(K, nothing), greedy_columns(kernel, X, n, nothing)
    left = np.diag(K) - np.sum(have.F**2, axis=1)
    assert left.max() <= nothing * np.mean(np.diag(K)) * (1 + 1e-9)
    assert_allclose(np.maximum(have.rest, 0.0), np.maximum(left, 0.0), atol=1e-12 * K.max())
    assert np.unique(have.pivots).size == have.pivots.size <= 1.05 * greedy.pivots.size + 2
    assert_array_equal(np.triu(have.F[have.pivots], 1), 0.0)
    assert_allclose(have.F @ have.F[have.pivots].T, K[:, have.pivots], atol=1e-10 * K.max())
