"""The 1-norm machines: zero models, duplicates, invariances. The optimum itself is tested with the formulations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from widemargin._core.comparisons import from_levels
from widemargin._core.one_norm import ranking_vectors
from widemargin._core.pairs_machine import ranking_pairs
from widemargin._core.solution import Status

TIGHT = {"tol": 1e-9, "max_iter": 200}


def problem(n=40, *, seed=0, n_levels=None, n_queries=1):
    """Return an RBF kernel matrix and levels within queries."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    u = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    y = (
        np.argsort(np.argsort(u))
        if n_levels is None
        else np.digitize(u, np.quantile(u, np.arange(1, n_levels) / n_levels))
    )
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(-1))
    return K, y.astype(np.int64), np.arange(n, dtype=np.int64) % n_queries


def levels_of(y, group, weight=None):
    return from_levels(y, group, np.ones(y.size) if weight is None else weight)


@pytest.mark.parametrize("positive", [True, False])
def test_below_its_threshold_no_vector_pays(positive):
    """With B'1 the pull of all pairs, a = 0 is optimal exactly while C max |K'B'1| <= 1 (positive: its maximum)."""
    K, y, group = problem()
    levels = levels_of(y, group)
    better, worse = levels.pairs()
    pull = np.bincount(better, minlength=y.size) - np.bincount(worse, minlength=y.size)
    price = K.T @ pull
    edge = 1.0 / (price.max() if positive else np.abs(price).max())
    below, above = (ranking_vectors(K, levels, C, positive=positive, **TIGHT) for C in (0.999 * edge, 1.01 * edge))
    assert not np.any(below.weights)
    assert below.objective == pytest.approx(0.999 * edge * levels.n_pairs)
    assert np.any(above.weights)
    assert above.objective < 1.01 * edge * levels.n_pairs


@pytest.mark.parametrize("positive", [True, False])
def test_duplicates_share_equally(positive):
    """Where optima are many the shortest is returned: an item given twice gets equal coefficients."""
    K, y, group = problem(24, n_levels=4)
    twice = np.r_[np.arange(24), 3, 7]
    found = ranking_vectors(K[np.ix_(twice, twice)], levels_of(y[twice], group[twice]), 1.0, positive=positive, **TIGHT)
    assert_allclose(found.weights[[3, 7]], found.weights[[24, 25]], atol=1e-9 * np.abs(found.weights).max())


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_order_of_items_and_the_origin_of_the_kernel_do_not_matter(positive, C):
    """A permutation permutes the answer; K + c leaves every margin of the positive and signed machine alone."""
    K, y, group = problem(30, n_levels=5, n_queries=2)
    want = ranking_vectors(K, levels_of(y, group), C, positive=positive, **TIGHT)
    order = np.random.default_rng(1).permutation(30)
    mixed = ranking_vectors(K[np.ix_(order, order)], levels_of(y[order], group[order]), C, positive=positive, **TIGHT)
    assert_allclose(mixed.weights, want.weights[order], atol=1e-8 * max(1.0, np.abs(want.weights).max()))
    moved = ranking_vectors(K + 5.0, levels_of(y, group), C, positive=positive, **TIGHT)
    assert moved.objective == pytest.approx(want.objective, rel=1e-8)


@pytest.mark.parametrize("positive", [True, False])
def test_pair_coefficients_make_the_items_coefficients(positive):
    """Item coefficients are B'alpha, better minus worse; the positive machine has alpha >= 0 on allowed pairs."""
    K, y, group = problem(20, n_levels=5, n_queries=2)
    levels = levels_of(y, group)
    found, pairs, alpha = ranking_pairs(K, levels, 1.0, positive=positive, **TIGHT)
    b = np.bincount(pairs[:, 0], alpha, minlength=20) - np.bincount(pairs[:, 1], alpha, minlength=20)
    assert_allclose(b, found.weights, atol=1e-9 * np.abs(b).max())
    assert np.all(y[pairs[:, 0]] > y[pairs[:, 1]])
    assert np.all(group[pairs[:, 0]] == group[pairs[:, 1]])
    assert not positive or np.all(alpha >= 0)


def test_weights_are_repetitions():
    """An item of weight 2 is an item given twice, in the objective."""
    K, y, group = problem(18, n_levels=4)
    weight = np.ones(18)
    weight[4] = 2.0
    twice = np.r_[np.arange(18), 4]
    want = ranking_vectors(K[np.ix_(twice, twice)], levels_of(y[twice], group[twice]), 0.5, positive=False, **TIGHT)
    found = ranking_vectors(K, levels_of(y, group, weight), 0.5, positive=False, **TIGHT)
    assert found.objective == pytest.approx(want.objective, rel=1e-8)


def test_a_hard_machine_that_cannot_exist_is_refused():
    """Two equal items of different level have no margin."""
    K = np.ones((2, 2))
    found = ranking_vectors(
        K, levels_of(np.array([0, 1]), np.zeros(2, dtype=np.int64)), np.inf, positive=False, **TIGHT
    )
    assert found.status is Status.INFEASIBLE


@pytest.mark.parametrize("C", [1e-3, 1e-1, 10.0, 1e3])
@pytest.mark.parametrize("n_levels", [None, 5])
def test_gaps_are_certified_on_harder_kernels(C, n_levels):
    """Near-identity, near-constant and low-rank kernels reach 1e-8 too."""
    K, y, group = problem(60, n_levels=n_levels, n_queries=3)
    X = np.random.default_rng(2).normal(size=(60, 4))
    for matrix in (K**40, K**1e-6, X @ X.T, (X @ X.T) ** 3):
        found = ranking_vectors(matrix, levels_of(y, group), C, positive=False, tol=1e-8, max_iter=300)
        assert found.gap <= 1e-8
