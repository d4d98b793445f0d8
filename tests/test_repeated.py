"""Rows that occur several times within a level are one row that weighs what they do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from widemargin import ComparisonSVM, MarginClassifier, MarginRegressor, OrdinalSVM, Pairs, RankingSVM, TopRankSVM
from widemargin._core.comparisons import from_levels
from widemargin._core.repeated import first_copies
from widemargin.model_selection import c_path

SVMS = [RankingSVM, OrdinalSVM]


def survey(n, kinds=3, p=3, seed=0):
    """Answers on few items: whole-number features, four grades with noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, kinds, size=(n, p)).astype(float)
    return X, np.digitize(X[:, 0] * X[:, 1] - X[:, 2] + rng.normal(size=n), [-1.0, 0.0, 1.0])


@given(st.integers(1, 60), st.integers(1, 3), st.integers(1, 4), st.integers(0, 10**6), st.sampled_from("fd"))
def test_first_copies_are_those_of_unique_rows(n, p, kinds, seed, dtype):
    """NumPy's unique rows are the twin, codes among them."""
    rng = np.random.default_rng(seed)
    X, code = rng.integers(0, kinds, size=(n, p)).astype(dtype), rng.integers(0, 2, n)
    _, first, which = np.unique(np.column_stack([X, code]), axis=0, return_index=True, return_inverse=True)
    found = first_copies(X, code)
    if first.size > 0.95 * n:
        assert found is None
    else:
        assert_array_equal(found[0], np.sort(first))
        assert_array_equal(found[0][found[1]], first[which.ravel()])


def test_many_kinds_of_small_numbers_are_all_found():
    """Small whole numbers differ in few high bits, which the hash must not lose."""
    X = np.array(np.meshgrid(*[np.arange(6.0)] * 5)).reshape(5, -1).T
    first, which = first_copies(np.tile(X, (2, 1)))
    assert_array_equal(first, np.arange(len(X)))
    assert_array_equal(which, np.tile(np.arange(len(X)), 2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_zeros_have_no_sign(dtype, order):
    """Rounding leaves -0.0 of small negative numbers."""
    X = np.asarray(np.round([[-0.2, 1.0], [0.2, 1.0], [0.0, 1.0]]), dtype=dtype, order=order)
    assert np.signbit(X[0, 0])
    first, which = first_copies(X)
    assert_array_equal(first, [0])
    assert_array_equal(which, [0, 0, 0])


def test_rows_whose_hashes_agree_are_compared(monkeypatch):
    """All of them the same: what is found are copies all the same."""
    monkeypatch.setattr("widemargin._core.repeated._hashed", lambda columns: np.zeros(columns[0].size, np.uint64))
    X = np.array([[1.0], [1.0], [2.0], [2.0], [2.0], [1.0]])
    first, which = first_copies(X)
    assert_array_equal(X[first][which], X)
    assert first.size == 3


def test_levels_weigh_what_copies_do():
    """As many pairs by weight, none of them within a level; copies in other groups or levels are others."""
    X, y = survey(200)
    group = np.arange(200) % 3
    levels = from_levels(y, group, np.full(200, 2.0))
    items, first, merged = RankingSVM(kernel="rbf")._different(X, levels)
    assert merged.total_weight == levels.total_weight
    assert_array_equal(items, X[first])
    assert_array_equal(merged.level, levels.level[first])
    assert_array_equal(merged.group, group[first])
    assert len(np.unique(np.column_stack([X, y, group]), axis=0)) == first.size


@pytest.mark.parametrize("svm", SVMS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [1e-4, 0.1, 100.0])
def test_the_model_is_that_of_all_rows(svm, loss, C):
    """A matrix of kernel values tells nothing of copies: solved with all rows, and their scale of the kernel."""
    X, y = survey(150)
    gamma = 1.0 / (X.shape[1] * X.var())
    few = svm(C, kernel="rbf", loss=loss, tol=1e-6).fit(X, y)
    every = svm(C, kernel="precomputed", loss=loss, tol=1e-6).fit(rbf_kernel(X, gamma=gamma), y)
    assert_allclose(few.objective_, every.objective_, rtol=2e-6)
    apart = 2.0 * np.sqrt(4e-6 * every.objective_)  # what both gaps allow
    grid = np.unique(X, axis=0)
    have, want = few.utility(grid), every.utility(rbf_kernel(grid, X, gamma=gamma))
    assert_allclose(have, want, atol=2.0 * apart)
    assert few.support_.size <= len(np.unique(np.column_stack([X, y]), axis=0))
    assert_array_equal(X[few.support_], few.support_vectors_)
    kinds = np.unique(np.column_stack([X, y])[few.support_], axis=0)
    assert len(kinds) == few.support_.size


@pytest.mark.parametrize("svm", SVMS)
def test_copies_and_weights_are_the_same(svm):
    """A row given twice is a row of weight 2; rows of no weight are nobody's copies."""
    X, y = survey(120, seed=1)
    weight = np.random.default_rng(2).integers(0, 3, 120)
    machine = svm(0.5, kernel="rbf", gamma=0.3, tol=1e-7)
    weighted = clone(machine).fit(X, y, sample_weight=weight.astype(float))
    repeated = clone(machine).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-6)
    assert np.all(weight[weighted.support_] > 0)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_classes_are_those_of_all_rows(loss, C):
    """Two and more of them: copies of one class are one row."""
    X, y = survey(150)
    K = rbf_kernel(X, gamma=1.0 / (X.shape[1] * X.var()))
    for labels in (y > 1, y):
        few = MarginClassifier(C, kernel="rbf", loss=loss, tol=1e-6, class_weight="balanced").fit(X, labels)
        every = MarginClassifier(C, kernel="precomputed", loss=loss, tol=1e-6, class_weight="balanced").fit(K, labels)
        assert_allclose(few.objective_, every.objective_, rtol=2e-6)
        assert few.support_.size <= len(np.unique(np.column_stack([X, labels]), axis=0))
        assert_array_equal(X[few.support_], few.support_vectors_)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_an_item_may_have_many_targets(loss, C):
    """One coefficient for all of them; also where all rows are one item."""
    X, y = survey(150)
    target = y + np.random.default_rng(5).normal(size=150)
    for items in (X, np.zeros((150, 2))):
        K = rbf_kernel(items, gamma=0.3)
        few = MarginRegressor(C, kernel="rbf", gamma=0.3, loss=loss, tol=1e-6).fit(items, target)
        every = MarginRegressor(C, kernel="precomputed", loss=loss, tol=1e-6).fit(K, target)
        assert_allclose(few.objective_, every.objective_, rtol=2e-6)
        assert few.support_.size <= len(np.unique(items, axis=0))
        assert_array_equal(items[few.support_], few.support_vectors_.reshape(-1, items.shape[1]))


@pytest.mark.parametrize("ties", ["margin", "threshold", "both_ways"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_compared_items_may_come_in_many_pairs(ties, loss, C):
    """An array of pairs is what `Pairs` of its items is, and what the matrix of all their kernel values is."""
    rng = np.random.default_rng(3)
    items = rng.integers(0, 3, size=(40, 2)).astype(float)
    index = rng.integers(0, 40, size=(120, 2))
    u = items[:, 0] * items[:, 1] + 0.3 * rng.normal(size=40)
    y = np.sign(np.round(u[index[:, 0]] - u[index[:, 1]])).astype(int)
    K = rbf_kernel(items, gamma=0.4)
    how = {"ties": ties, "loss": loss, "tol": 1e-6}
    every = ComparisonSVM(C, kernel="precomputed", **how).fit(Pairs(K, index), y)
    for pairs in (Pairs(items, index), items[index]):
        few = ComparisonSVM(C, kernel="rbf", gamma=0.4, **how).fit(pairs, y)
        assert_allclose(few.objective_, every.objective_, rtol=2e-6)
        assert few.support_.size <= 9
        assert_array_equal(
            pairs.items[few.support_] if isinstance(pairs, Pairs) else few.support_vectors_, few.support_vectors_
        )


@pytest.mark.parametrize("slack", ["task", "pair"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_alternatives_may_come_in_many_sets(slack, loss):
    """Products that are shown again and again, twice in a set too, are few."""
    rng = np.random.default_rng(4)
    products = rng.normal(size=(12, 2))
    shown = rng.integers(0, 12, size=(60, 5))
    u = np.sin(products[:, 0]) + products[:, 1]
    y = (np.arange(5) == np.argmax(u[shown] + 0.3 * rng.normal(size=shown.shape), axis=1)[:, None]).ravel()
    X, qid = products[shown.ravel()], np.repeat(np.arange(60), 5)
    few = TopRankSVM(1.0, kernel="rbf", gamma=0.4, slack=slack, loss=loss, tol=1e-6).fit(X, y, qid=qid)
    every = TopRankSVM(1.0, kernel="precomputed", slack=slack, loss=loss, tol=1e-6)
    every.fit(rbf_kernel(X, gamma=0.4), y, qid=qid)
    assert_allclose(few.objective_, every.objective_, rtol=2e-6)
    assert few.support_.size <= 12
    assert_array_equal(X[few.support_], few.support_vectors_)


def test_paths_take_few_rows_too():
    """One entry for each C, as fits of their own."""
    X, y = survey(400)
    machine = RankingSVM(kernel="rbf", gamma=0.2)
    qid = np.arange(400) % 4
    path = c_path(machine, X, y, [1e-3, 0.1, 10.0], qid=qid)
    for model in path.estimators:
        alone = clone(machine).set_params(C=model.C).fit(X, y, qid=qid)
        assert_allclose(model.objective_, alone.objective_, rtol=2e-4)


@pytest.mark.parametrize("svm", SVMS)
def test_many_answers_on_few_items_need_little_memory(svm):
    """100,000 rows of 27 items: the matrix of all rows would be 40 GB and more."""
    X, y = survey(100_000)
    model = svm(1e-6, kernel="rbf", gamma=0.2, memory_limit=10**7).fit(X, y)
    assert model.converged_
    assert model.support_.size <= 27 * 4
    with pytest.raises(MemoryError, match="n_components"):
        svm(1e-6, kernel="rbf", gamma=0.2, memory_limit=10**7).fit(X + np.arange(100_000)[:, None] * 1e-9, y)


def test_sparse_rows_and_drawn_features_are_left_as_they_are():
    """Their rows are not compared."""
    X, y = survey(120)
    plain = RankingSVM(0.1, kernel="rbf", gamma=0.2, tol=1e-6).fit(X, y)
    for machine, items in ((plain, sparse.csr_array(X)), (clone(plain).set_params(n_components=27), X)):
        assert_allclose(clone(machine).fit(items, y).objective_, plain.objective_, rtol=1e-5)
