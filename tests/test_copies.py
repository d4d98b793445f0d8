"""Items that occur several times under a kernel: one coefficient for all copies, the same solutions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from widemargin import RankingSVM
from widemargin._core.comparisons import from_levels
from widemargin._core.interior_point import ImplicitPairs, Start, copies, interior_point, kernel_space
from widemargin._core.losses import HINGE, SQUARED_HINGE
from widemargin._core.maps import KernelMap
from widemargin._core.risks import GroupedPairRisk
from widemargin._core.solution import Status
from widemargin.model_selection import c_path

TOL = 1e-6


def drawn(rng, n, n_different, p=3):
    """Items that are drawn with replacement; the index of each among the different ones."""
    which = rng.integers(0, n_different, n)
    return rng.normal(size=(n_different, p))[which], which


def rbf(X, gamma=0.3):
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e3])
def test_copies_have_the_solution_of_the_pairs_written_out(loss, C):
    """Copies of all grades and weights; from nothing, and from the solution for another C."""
    rng = np.random.default_rng(0)
    X, which = drawn(rng, 80, 25)
    which = np.unique(which, return_inverse=True)[1]
    K = rbf(X)
    levels = from_levels(rng.integers(0, 4, 80), rng.integers(0, 5, 80), rng.uniform(0.1, 2.0, 80))
    pairs = ImplicitPairs.of(GroupedPairRisk(levels, loss), lambda order: kernel_space(K, order, which))
    assert pairs.space.n_coordinates < 26
    want = interior_point(levels.rows(), KernelMap(K), C, loss, tol=1e-9, max_iter=200)
    cold = pairs.solve(C, tol=TOL, max_iter=200)
    near = pairs.solve(2.0 * C, tol=TOL, max_iter=200)
    for have in (cold, pairs.solve(C, tol=TOL, max_iter=200, start=Start(near.weights, 0.5))):
        assert have.status is Status.CONVERGED
        assert want.dual * (1 - TOL) <= have.objective <= want.objective * (1 + 2 * TOL)
        assert have.dual <= want.objective * (1 + 1e-9)
        assert_allclose(have.utilities, K @ have.weights, atol=1e-8 * np.abs(have.utilities).max() + 1e-15)
        assert np.count_nonzero(have.weights) <= 25


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_whole_number_features_are_copies(loss, monkeypatch):
    """A steep C over 400 items of 40 kinds: Newton's equation is one of 40, where the interior point is needed."""
    rng = np.random.default_rng(1)
    X, _ = drawn(rng, 400, 40, p=4)
    X = np.round(2.0 * X)
    y = np.digitize(X[:, 0] * X[:, 1] + rng.normal(size=400), [-2.0, 0.0, 2.0])
    sizes = []
    of = copies.ItemSpace.of
    monkeypatch.setattr(copies.ItemSpace, "of", lambda K: sizes.append(len(K)) or of(K))
    machine = RankingSVM(kernel="rbf", gamma=0.1, loss=loss, tol=1e-5)
    path = c_path(machine, X, y, [1e3, 1e4])
    assert sizes or loss == "squared_hinge"
    assert max(sizes, default=0) <= 40
    for model in path.estimators:
        alone = RankingSVM(kernel="rbf", gamma=0.1, loss=loss, tol=1e-7, C=model.C).fit(X, y)
        assert model.converged_
        assert_allclose(model.objective_, alone.objective_, rtol=2e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 5, 64, 150])
def test_matrices_are_put_in_order(n, dtype):
    """By columns, in float64, of all items or some of them."""
    K = rbf(np.random.default_rng(n).normal(size=(n, 2))).astype(dtype)
    for items in (np.random.default_rng(0).permutation(n), np.arange(0, n, 3)):
        have = copies.chosen(K, items)
        assert_array_equal(have, K[np.ix_(items, items)].astype(float))
        assert have.dtype == np.float64
        assert have.flags.f_contiguous
