"""Interior points over coefficients of items: the same solutions as over features, to a moderate gap."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from widemargin import RankingSVM
from widemargin._core.comparisons import Rows, from_levels, from_pairs
from widemargin._core.interior_point import interior_point, iterations
from widemargin._core.interior_point import problem as problems
from widemargin._core.interior_point.gram_design import GramDesign
from widemargin._core.losses import HINGE, SQUARED_HINGE
from widemargin._core.maps import KernelMap
from widemargin._core.solution import Status

TOL = 1e-6


def loosely(rows, map_, C, loss, tol=TOL):
    """The solution over the kernel, None where that fails."""
    return iterations._loose(rows, map_, C, loss, tol, 200, None)


def loss_name(loss):
    return "squared_hinge" if loss.squared else "hinge"


def kernel_of(rng, n, gamma=0.3):
    X = rng.normal(size=(n, 3))
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))


def written(rng, n, m):
    """Pairs of several connected sets, some alone, some twice, of any margin and weight."""
    pairs = rng.integers(0, n, (m, 2))
    pairs = pairs[(pairs[:, 0] != pairs[:, 1]) & (pairs[:, 0] % 3 == pairs[:, 1] % 3)]
    rows = from_pairs(pairs[:, 0], pairs[:, 1], 10.0 ** rng.uniform(-2, 1, len(pairs)), n)
    return Rows(rows.D, rows.E, rng.uniform(0.2, 2.0, len(pairs)), rows.weight)


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
@pytest.mark.parametrize("C", [1e-6, 1e-2, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("seed", range(3))
def test_the_same_solution_as_over_features(loss, C, seed):
    """Sets of items that are compared, items that are not, a kernel of nearly full rank, C over twelve decades."""
    rng = np.random.default_rng(seed)
    map_, rows = KernelMap(kernel_of(rng, 40)), written(rng, 40, 150)
    assert problems.may_be_loose(rows, map_)
    want = interior_point(rows, map_, C, loss, tol=1e-9, max_iter=200)
    have = loosely(rows, map_, C, loss)
    assert want.status is have.status is Status.CONVERGED
    assert have.gap <= TOL
    assert want.dual - TOL * abs(want.dual) <= have.objective <= want.objective * (1 + 2 * TOL)
    assert have.dual <= want.objective * (1 + 1e-9)
    u = map_.forward_exact(have.weights)
    short = np.maximum(rows.margin - rows.D @ u, 0.0)
    value = 0.5 * have.weights @ u + C * float(rows.weight @ (short**2 if loss.squared else short))
    assert have.objective == pytest.approx(value, rel=1e-9)


def test_the_system_is_solved():
    """(I + L P) z = r by the factor of I + G'PG, omega over ten decades; L and P written out."""
    rng = np.random.default_rng(0)
    rows, K = written(rng, 30, 100), kernel_of(rng, 30)
    design = GramDesign.of(rows, K)
    omega = 10.0 ** rng.uniform(-5, 5, rows.shape[0])
    D = design.D.toarray()
    L = D.T @ (omega[:, None] * D)
    r = D.T @ rng.normal(size=rows.shape[0])
    z = design.solver(omega)(r)
    assert_allclose(z + L @ (design.P @ z), r, atol=1e-7 * np.abs(r).max())
    full = design.coefficients(z)
    assert_allclose(rows.D @ (K @ full), design.dot(z), atol=1e-12 * np.abs(z).max())
    assert design.square(z) == pytest.approx(full @ K @ full)
    assert_allclose(design.row_norms() ** 2, np.diag(rows.D @ K @ rows.D.T.toarray()), atol=1e-12)
    assert_allclose(np.sum(full), 0.0, atol=1e-9 * np.abs(full).max())


@pytest.mark.parametrize("flaw", ["copies", "zero", "one pair", "all equal"])
@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
def test_degenerate_items(loss, flaw):
    """Items that are copies of others, a kernel of zeros, one pair, all items alike: the gap is reached or said."""
    rng = np.random.default_rng(1)
    rows, K = written(rng, 20, 60), kernel_of(rng, 20)
    if flaw == "copies":
        K = K[np.ix_(np.arange(20) // 2, np.arange(20) // 2)]
    elif flaw == "zero":
        K = np.zeros_like(K)
    elif flaw == "one pair":
        rows = from_pairs(np.array([3]), np.array([5]), np.ones(1), 20)
    else:
        K = np.ones_like(K)
    for C in (1e-4, 1.0, 1e4):
        want = interior_point(rows, KernelMap(K), C, loss, tol=1e-9, max_iter=200)
        have = interior_point(rows, KernelMap(K), C, loss, tol=TOL, max_iter=200, is_loose=True)
        assert have.status is Status.CONVERGED
        assert (loosely(rows, KernelMap(K), C, loss) is None) == (flaw in {"zero", "all equal"})
        assert have.objective == pytest.approx(want.objective, rel=3 * TOL)


def test_what_is_no_pair_of_items_is_left_alone():
    """Levels, tasks and rows of one item keep their features."""
    rng = np.random.default_rng(2)
    map_, rows = KernelMap(kernel_of(rng, 20)), written(rng, 20, 60)
    m = rows.shape[0]
    assert not problems.may_be_loose(Rows(rows.D, np.ones((m, 1)), rows.margin, rows.weight), map_)
    assert not problems.may_be_loose(Rows(rows.D, rows.E, rows.margin, rows.weight, np.zeros(m, np.int64)), map_)
    single = sparse.csr_array(sparse.eye_array(20))
    assert not problems.may_be_loose(Rows(single, np.zeros((20, 0)), np.ones(20), np.ones(20)), map_)


def test_a_failure_falls_back_to_features(monkeypatch):
    """A system that is not solved ends in the other form, not in a poor answer."""
    monkeypatch.setattr(GramDesign, "solver", lambda *_: lambda r: np.full_like(r, np.nan))
    rng = np.random.default_rng(3)
    map_, rows = KernelMap(kernel_of(rng, 30)), written(rng, 30, 100)
    assert loosely(rows, map_, 1.0, HINGE) is None
    found = interior_point(rows, map_, 1.0, HINGE, tol=TOL, max_iter=100, is_loose=True)
    assert found.status is Status.CONVERGED


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
@pytest.mark.parametrize("offset", [1e3, 1e4])
def test_a_kernel_that_cancels_is_left_to_features(loss, offset):
    """Values of 1e8 that differ by 1: their rounding would pass for a norm, and a bound from it would be false."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) + offset
    levels = from_levels(rng.integers(0, 4, 60), np.arange(60) % 2, np.ones(60))
    rows, map_ = levels.rows(), KernelMap(X @ X.T)
    assert loosely(rows, map_, 1000.0, loss, tol=1e-4) is None
    model = RankingSVM(kernel="precomputed", C=1000.0, loss=loss_name(loss)).fit(
        X @ X.T, levels.level, qid=np.arange(60) % 2
    )
    assert model.converged_
    assert np.any(model.dual_coef_ != 0.0)


def test_complementarity_that_vanishes_is_no_error(monkeypatch):
    """Where mu underflows a step divides by zero: the iterations end, and another form goes on."""

    def advance(_):
        raise ZeroDivisionError

    monkeypatch.setattr(iterations.System, "advance", advance)
    rng = np.random.default_rng(0)
    assert loosely(written(rng, 30, 100), KernelMap(kernel_of(rng, 30)), 1.0, HINGE) is None


def test_wide_sparse_features_come_back_as_their_weights():
    """A linear machine that goes through its Gram matrix has weights of columns, not of items."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((300, 40_000), density=0.002, format="csr", rng=rng)
    model = RankingSVM(C=1000.0).fit(X, rng.integers(0, 4, 300))
    assert model.coef_.shape == (40_000,)
    assert model.converged_


def test_the_kernel_is_kept_by_columns():
    """BLAS would copy it for every product otherwise."""
    rng = np.random.default_rng(0)
    design = GramDesign.of(written(rng, 30, 100), kernel_of(rng, 30))
    assert design.P.flags.f_contiguous
    assert_allclose(design.P, design.P.T, atol=1e-15)


def test_a_steep_fit_ends_in_an_interior_point(monkeypatch):
    """Noise, a large C: Newton takes hundreds of steps, and is left after as many as the other costs."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(450, 10)), rng.normal(size=450)
    used = []
    solve = GramDesign.solver
    monkeypatch.setattr(GramDesign, "solver", lambda self, omega: used.append(self) or solve(self, omega))
    model = RankingSVM(kernel="rbf", C=60.0).fit(X, y, qid=np.arange(450) % 4)
    assert model.converged_
    assert model.solver_ == "interior_point"
    assert used
