"""Faults that drawn cases found: certificates of rounded kernels, rows unlike all others, numbers at the edge."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from widemargin import ComparisonSVM, MarginClassifier, MarginRegressor, OrdinalSVM, Pairs, RankingSVM
from widemargin._core import interior_point
from widemargin._core.comparisons import from_levels
from widemargin._core.losses import HINGE
from widemargin._core.newton import goals
from widemargin._core.newton.passes import LinearPairs
from widemargin._core.risks import GroupedPairRisk
from widemargin._core.solution import Solution, Status, relative_gap
from widemargin.exceptions import CollapseWarning
from widemargin.model_selection import c_path


def hinge_classes(model, X, sign, weight, C):
    """Return the objective of a classifier with a kernel, from its own decisions."""
    f = model.decision_function(X)
    own = model.decision_function(model.support_vectors_) - model.intercept_
    return 0.5 * model.dual_coef_ @ own + C * weight @ np.maximum(0.0, 1.0 - sign * f)


def test_what_is_not_a_number_certifies_nothing():
    """A gap is infinite where a bound is nan."""
    for bounds in ((1.0, np.nan), (np.nan, 1.0), (np.nan, np.nan), (0.0, np.nan), (np.inf, np.nan)):
        assert relative_gap(*bounds) == np.inf
    assert relative_gap(2.0, 1.0) == 0.5
    assert relative_gap(0.0, 0.0) == relative_gap(1.0, 1.1) == 0.0


@pytest.mark.parametrize(("seed", "weighted"), [(1, True), (222, False)])
def test_kernels_of_small_rank_are_not_certified_by_their_rounding(seed, weighted):
    """Float32 values of a cubic kernel made squared norms negative, and of that a proof that zero is best."""
    rng = np.random.default_rng(seed)
    n = 600 if weighted else int(rng.integers(310, 900))
    X = rng.standard_normal((n, 1))
    weight = (rng.random(n) < 0.7) * rng.random(n) if weighted else np.ones(n)
    y = (X[:, 0] > np.quantile(X[:, 0], 0.95)) * 1
    rough, fine = (MarginClassifier(kernel="poly", tol=tol).fit(X, y, sample_weight=weight) for tol in (1e-4, 1e-7))
    assert rough.converged_
    assert fine.objective_ * (1.0 - 1e-7) <= rough.objective_ <= fine.objective_ * (1.0 + 2e-4)
    assert_allclose(rough.objective_, hinge_classes(rough, X, 2 * y - 1, weight, 1.0), rtol=1e-5)


@pytest.mark.parametrize("machine", [MarginRegressor, MarginClassifier])
def test_factors_know_the_size_of_kernel_values(machine):
    """Values of 1e9 with a ridge of 1: float32 factors do not exist, whatever is small beside 1."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1600, 2)) + 30.0
    y = X[:, 0] + rng.standard_normal(1600)
    model = machine(kernel="poly").fit(X, y if machine is MarginRegressor else y > y.mean())
    assert model.converged_


@pytest.mark.parametrize("ties", ["margin", "threshold", "both_ways"])
def test_an_item_may_be_compared_with_itself(ties):
    """Such rows ask nothing of the utilities, in every solver; a repeated one asks no more."""
    rng = np.random.default_rng(0)
    X, index = rng.integers(-3, 4, (100, 5)).astype(float), rng.integers(0, 100, (3000, 2))
    d = (X @ [1.0, 2.0, 3.0, 0.0, 0.0])[index]
    noisy = d[:, 0] - d[:, 1] + rng.standard_normal(3000)
    y = np.where(np.abs(noisy) < 0.5, 0, np.sign(noisy)).astype(int)
    assert np.any(index[:, 0] == index[:, 1])
    rough, fine, steep = (
        ComparisonSVM(C, ties=ties, kernel="rbf", tol=tol).fit(Pairs(X, index), y)
        for C, tol in ((0.1, 1e-4), (0.1, 1e-8), (1e6, 1e-7))
    )
    assert steep.solver_ == "interior_point"
    assert steep.converged_
    assert_allclose(rough.objective_, fine.objective_, rtol=1e-4)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_one_row_unlike_all_others(loss):
    """No sample has it, and no step by a sample's Hessian falls: Newton begins anew with that of all pairs."""
    rng = np.random.default_rng(0)
    X, qid = rng.standard_normal((50_000, 100), dtype=np.float32), np.arange(50_000) // 100
    y = np.digitize(X[:, 0] + rng.standard_normal(50_000), [-1, 0, 1, 2])
    X[1234, 7] = 1e10
    model = RankingSVM(loss=loss, C=1e-4, max_iter=50).fit(X, y, qid=qid)
    assert model.solver_ == "newton"
    assert model.converged_
    other = RankingSVM(loss=loss, C=1e-4).fit(np.delete(X, 7, axis=1), y, qid=qid)  # which loses next to nothing
    assert_allclose(model.objective_, other.objective_, rtol=1e-3)


def test_a_list_that_the_features_nearly_order():
    """Short steps, one after the other, where a sample's thin smoothing begins: a wide one arrives."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(6000, 22)) * 10.0 ** rng.uniform(-1, 1, 22)
    u = X @ rng.normal(size=22)
    model = RankingSVM(35.0, tol=1e-3).fit(X, np.round(u / u.std(), 1))
    assert model.converged_
    assert model.n_iter_ < 200


def test_cuts_on_utilities_do_not_follow_rounding():
    """Whole-number features put cuts on utilities: the order of the rows decided the labels of a quarter of them."""
    rng = np.random.default_rng(6)
    X = np.round(rng.standard_normal((400, 3)))
    y = np.digitize(X[:, 0] + rng.standard_normal(400), [-1, 0, 1])
    some = rng.permutation(400)
    one, other = OrdinalSVM(C=0.1).fit(X, y), OrdinalSVM(C=0.1).fit(X[some], y[some])
    assert_array_equal(one.predict(X), other.predict(X))


def test_kernel_matrices_are_symmetric():
    """One triangle would be used, silently; rounding is forgiven."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    K = X @ X.T
    K[3, 5] += 0.05
    with pytest.raises(ValueError, match=r"not symmetric: K\[3, 5\] = .*, but K\[5, 3\] = "):
        RankingSVM(kernel="precomputed").fit(K, y)
    with pytest.raises(ValueError, match="not symmetric"):
        RankingSVM(kernel=lambda A, B: A @ (B + 0.1).T).fit(X, y)
    assert RankingSVM(kernel="precomputed").fit((X @ X.T + np.eye(40)).astype(np.float32), y).converged_


def test_the_limit_counts_factors_too():
    """Half of the float64 matrix, and a factor of as many items: 36 MB each."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 8))
    with pytest.raises(MemoryError, match=r"needs 0\.072 GB and the limit is 0\.04 GB"):
        MarginRegressor(100.0, kernel="rbf", memory_limit=40e6).fit(X, X[:, 0])


def test_a_short_C_does_not_shorten_the_certificate():
    """C of half precision is a number like others."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 3)), rng.integers(0, 4, 2000)
    model, want = (RankingSVM(C=C).fit(X, y) for C in (np.float16(0.5), 0.5))
    assert type(model.duality_gap_) is float
    assert_array_equal(model.coef_, want.coef_)


def test_grades_may_be_large_integers():
    """Nanoseconds differ though their floats do not."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.permutation(30)
    assert_array_equal(RankingSVM().fit(X, 1_700_000_000_000_000_000 + y).coef_, RankingSVM().fit(X, y).coef_)


@pytest.mark.parametrize("weight", [1e-300, 1e300])
def test_weights_whose_products_vanish_or_overflow(weight):
    """They say so, and what to do."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 3, 30)
    with pytest.raises(ValueError, match="Multiply sample_weight by a number that brings it near 1"):
        RankingSVM().fit(X, y, sample_weight=np.full(30, weight))


def test_targets_that_overflow_are_no_error_of_python():
    """A warning that tells where to look, and no gap."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    with pytest.warns(UserWarning, match="huge values in X, y and the weights"):
        model = MarginRegressor().fit(X, 1e200 * X[:, 0])
    assert model.duality_gap_ == np.inf


def test_a_path_is_of_our_own_machines():
    """Others have no C to share anything by."""
    with pytest.raises(TypeError, match="none of widemargin's machines"):
        c_path(SVC(), [[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("C", [2e-4, 1e-2])
def test_votes_that_nearly_cancel_are_decided(C):
    """Zero is best or all but best: it is proved so, and said, or beaten; no gap below tol is called too large."""
    rng = np.random.default_rng(146)
    n, p, scale = int(rng.choice([900, 1600])), int(rng.integers(1, 5)), 10.0 ** rng.uniform(-1, 1)
    X = rng.normal(size=(n, p)) * scale
    u = np.sin(X[:, 0]) + X.sum(axis=1) / np.sqrt(p) + rng.choice([0.5, 2]) * rng.normal(size=n)
    index = rng.integers(0, n, (n, 2))
    index = index[index[:, 0] != index[:, 1]]
    d = u[index[:, 0]] - u[index[:, 1]]
    votes, y = Pairs(X, index), np.where(np.abs(d) < 0.5, 0, np.sign(d)).astype(int)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = ComparisonSVM(C=C, kernel="rbf", gamma=0.4403291, tol=1e-3).fit(votes, y)
    assert model.converged_
    zero, is_zero = 4.0 * C * np.sum(y == 0), not np.any(model.decision_function(votes))
    assert [warning.category for warning in said] == is_zero * [CollapseWarning]
    assert model.objective_ == pytest.approx(zero, rel=1e-12) if is_zero else model.objective_ < zero


def test_a_gap_below_tol_is_enough():
    """However the solver ended; but nothing is certified by a negative objective."""
    some = np.zeros(1)
    near, far, below = (
        Solution(some, some, some, P, D, 1, Status.STALLED) for P, D in ((1.0, 0.9999), (1.0, 0.9), (-1.0, -1.0))
    )
    assert near.is_within(1e-3)
    assert not far.is_within(1e-3)
    assert not below.is_within(1e-3)


@pytest.mark.parametrize("n", [280, 324, 400, 600])
@pytest.mark.parametrize("tol", [3e-6, 1.3e-5])
def test_a_thin_smoothing_certifies_no_more_than_there_is(n, tol, monkeypatch):
    """Items that are all unlike each other, of two levels: best are utilities of 1/2 and -1/2, n / 8 in all.

    Slopes within a smoothing of 5e-6 were differences of sums over all pairs: their rounding passed for a bound.
    """
    monkeypatch.setattr("widemargin._core.prices.implicit_pairs", lambda *_: np.inf)
    model = RankingSVM(kernel="precomputed", C=32.0, tol=tol).fit(np.eye(n), np.arange(n) % 2)
    assert model.duality_gap_ <= tol
    assert model.objective_ * (1.0 - model.duality_gap_) <= n / 8 * (1 + 1e-10) <= model.objective_ * (1 + 1e-10)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_steps_go_on_to_where_pairs_bend(seed, monkeypatch):
    """Whole numbers: thousands of pairs come to their margins at once, few are near them; Newton does it alone."""
    monkeypatch.setattr(interior_point, "MOST_ITEMS", 0)
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(3000, 1)))
    u = X[:, 0] + rng.normal(size=3000)
    model = RankingSVM(C=0.2).fit(X, np.digitize(u, np.quantile(u, [0.3, 0.6, 0.9])))
    assert model.converged_
    assert model.solver_ == "newton"


@pytest.mark.parametrize("far", [1.0, 1e4, 1e-4])
def test_a_step_ends_near_the_lowest_point(far):
    """However long the direction is; uphill no step is taken."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 4, 300)
    risk = GroupedPairRisk(from_levels(y, np.zeros(300, np.int64), np.ones(300)), HINGE, h=1e-3)
    goal, w = goals.Goal(LinearPairs.of(X, risk), 1e-2, np.zeros(3)), np.array([1.0, 2.0, 3.0])
    look = goal.data.look(w)
    direction = -far * goal.gradient(w, look)
    end, seen, length = goals.descend_far(goal, w, look, direction)
    assert_allclose(end, w + length * direction)
    before, after = (abs(goal.gradient(*at) @ direction) for at in ((w, look), (end, seen)))
    assert after <= 0.1 * before
    assert goals.descend_far(goal, w, look, -direction) == (w, look, 0.0)


@pytest.mark.parametrize(("C", "scale", "seed"), [(1.0, 1e6, 2), (100.0, 1e5, 0)])
def test_a_last_step_is_taken_though_rounding_hides_what_it_gains(C, scale, seed):
    """A column of large numbers: the objective has its last digit, and the gap needs another step of its gradient."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(3000, 3))
    u = Z.sum(axis=1) + rng.normal(size=3000)
    y = np.digitize(u, np.quantile(u, [0.1, 0.4, 0.6, 0.9]))
    model = RankingSVM(C=C, loss="squared_hinge").fit(Z * [scale, 1.0, 1.0] + [0.0, 0.0, 40.0], y)
    assert model.converged_


@pytest.mark.parametrize("n", [1000, 3000, 10_000])
def test_slopes_of_a_thin_smoothing_certify_no_more_than_there_is(n, monkeypatch):
    """Two values of a feature, every pair on its margin at the solution: 1/8 in all. Sums over pairs are rounded."""
    monkeypatch.setattr(interior_point, "MOST_ITEMS", 0)
    y = np.arange(n) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = RankingSVM().fit(2.0 * y[:, None] - 1.0, y)
    assert model.objective_ >= 0.125
    assert model.objective_ * (1.0 - model.duality_gap_) <= 0.125


@pytest.mark.parametrize("is_any_found", [True, False])
def test_answers_stand_where_a_decomposition_does_not_converge(is_any_found, monkeypatch):
    """LAPACK's quicker singular values fail for some rows that depend on each other: the slower serve, or no polish."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, 3)), np.arange(12) % 4
    exact = RankingSVM(C=10.0).fit(X, y)

    def failing(*_, **__):
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(np.linalg, "svd", failing)
    if not is_any_found:
        monkeypatch.setattr(interior_point.polish.linalg, "svd", failing)
    model = RankingSVM(C=10.0).fit(X, y)
    assert model.converged_
    assert_allclose(model.coef_, exact.coef_, rtol=1e-9 if is_any_found else 1e-5)
