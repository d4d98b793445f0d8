"""The interior point on rows of few entries: a sparse Gram matrix gives the answers of the written-out one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from widemargin import ComparisonSVM, Pairs
from widemargin._core import comparisons, maps
from widemargin._core.interior_point import interior_point, problem
from widemargin._core.interior_point.sparse_design import SparseDesign, sparse_solver
from widemargin._core.losses import HINGE, SQUARED_HINGE


def votes(n_items=40, n_votes=60, seed=0, *, ties=True, noise=1.0):
    """Return rows over items without features, and their identity matrix."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=n_items)
    first, second = rng.integers(0, n_items, (2, n_votes))
    second = np.where(first == second, (second + 1) % n_items, second)
    s = u[first] - u[second] + noise * rng.normal(size=n_votes)
    weight = rng.uniform(0.5, 2.0, n_votes)
    X = sparse.eye_array(n_items, format="csr")
    if ties:
        y = np.where(np.abs(s) < 0.5, 0, np.sign(s)).astype(np.int64)
        return comparisons.from_ties_as_margin(first, second, y, weight, n_items), X
    better, worse = np.where(s > 0, first, second), np.where(s > 0, second, first)
    return comparisons.from_pairs(better, worse, weight, n_items), X


@pytest.mark.parametrize("n_votes", [60, 400], ids=["sparse factor", "dense factor"])
@pytest.mark.parametrize("ties", [True, False])
def test_a_sparse_design_is_the_dense_one(ties, n_votes):
    """All its products are those of the matrix that it stands for."""
    rows, X = votes(n_votes=n_votes, ties=ties)
    rng = np.random.default_rng(1)
    dense = problem._dense(rows.D @ X.toarray(), rows.E)
    for have, want in ((SparseDesign.of(rows, X), dense), (SparseDesign.of(rows, X).shrunk(3.0), dense.shrunk(3.0))):
        a, x, omega = rng.normal(size=have.shape[0]), rng.normal(size=have.shape[1]), rng.uniform(size=have.shape[0])
        gram = have.gram(omega)
        assert sparse.issparse(gram) == (have.shape[0] <= 4 * have.shape[1])
        assert_allclose(gram.toarray() if sparse.issparse(gram) else gram, want.gram(omega), atol=1e-12)
        assert_allclose(have.dot(x), want.dot(x), atol=1e-12)
        assert_allclose(have.tdot(a), want.tdot(a), atol=1e-12)
        assert_allclose(have.row_norms(), want.row_norms())
        assert_allclose(have.rows(a > 0), want.rows(a > 0))


@pytest.mark.parametrize("n_votes", [60, 400], ids=["sparse factor", "dense factor"])
@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
@pytest.mark.parametrize("C", [1e-2, 1.0, 1e3])
def test_sparse_rows_have_the_optimum_of_written_out_ones(C, loss, ties, n_votes, monkeypatch):
    """Objective, bound, weights and levels agree to rounding, polish included."""
    rows, X = votes(n_votes=n_votes, ties=ties)
    map_, how = maps.LinearMap(X), {"tol": 1e-9, "max_iter": 200}
    want = interior_point(rows, map_, C, loss, **how)
    asked, of = [], SparseDesign.of
    monkeypatch.setattr(problem, "SPARSE_ENTRIES", 0)
    monkeypatch.setattr(SparseDesign, "of", lambda *a: asked.append(of(*a)) or asked[-1])
    have = interior_point(rows, map_, C, loss, **how)
    assert isinstance(asked[0], SparseDesign)
    assert have.gap <= 1e-9
    assert have.objective == pytest.approx(want.objective, rel=1e-9)
    assert_allclose(have.weights, want.weights, atol=1e-6)
    assert_allclose(have.levels, want.levels, atol=1e-6)


def test_hard_margins_of_sparse_rows(monkeypatch):
    """Consistent votes: C = inf has the same model, and the same refusal elsewhere."""
    monkeypatch.setattr(problem, "SPARSE_ENTRIES", 0)
    rows, X = votes(ties=False, noise=0.0)
    have = interior_point(rows, maps.LinearMap(X), np.inf, HINGE, tol=1e-9, max_iter=200)
    monkeypatch.undo()
    want = interior_point(rows, maps.LinearMap(X), np.inf, HINGE, tol=1e-9, max_iter=200)
    assert_allclose(have.weights, want.weights, atol=1e-6)
    assert np.all(rows.D @ have.weights >= 1 - 1e-6)


def test_rows_of_many_entries_and_shared_slacks_are_written_out():
    """A Gram matrix that fills up is not kept sparse."""
    rows, X = votes()
    rng = np.random.default_rng(2)
    assert SparseDesign.of(rows, sparse.csr_array(rng.normal(size=X.shape))) is None
    assert SparseDesign.of(rows, X.toarray()) is None
    task = comparisons.from_choices(
        np.arange(20), 20 + np.arange(20), np.arange(20) // 2, np.ones(10), 40, shared_slack=True
    )
    assert SparseDesign.of(task, X) is None


def test_a_singular_matrix_takes_a_ridge():
    """Two equal columns have no inverse; what comes back solves the system where it can be solved."""
    matrix = sparse.csc_array(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    x = sparse_solver(matrix)(np.array([2.0, 2.0, 3.0]))
    assert_allclose(matrix @ x, [2.0, 2.0, 3.0], atol=1e-6)


def test_many_items_without_features_and_a_large_c_take_no_dense_products(monkeypatch):
    """1,500 items, 2,250 votes, exact: the features are never written out."""
    monkeypatch.setattr(maps.LinearMap, "features", lambda _: pytest.fail("X was written out"))
    rng = np.random.default_rng(3)
    u, ends = rng.normal(size=1500), rng.integers(0, 1500, (2250, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    y = np.where(u[ends[:, 0]] - u[ends[:, 1]] + 0.5 * rng.normal(size=len(ends)) > 0, 1, -1)
    model = ComparisonSVM(C=100.0, ties="threshold").fit(Pairs(sparse.eye_array(1500, format="csr"), ends), y)
    assert model.solver_ == "interior_point"
    assert model.duality_gap_ <= model.tol
