"""One test for each fault that was found by looking, not by the other tests."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.model_selection import cross_validate

from widemargin import ComparisonSVM, MarginClassifier, OrdinalSVM, Pairs, RankingSVM, TopRankSVM
from widemargin._core import rules
from widemargin._queries import dense_codes
from widemargin.exceptions import CollapseWarning
from widemargin.kernels import RBF, Linear, Polynomial
from widemargin.metrics import neg_top1_risk_scorer
from widemargin.model_selection import c_path


def graded(n, p, *, scale=1.0, noise=0.0, seed=3):
    """Return many pairs in one query, few levels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    u = X @ rng.normal(size=p) + noise * rng.normal(size=n)
    return X * scale, np.digitize(u, np.quantile(u, [0.2, 0.4, 0.6, 0.8]))


def objective(model, X, y, C, power):
    """Return 1/2 |w|^2 + C sum xi^power over all pairs, in extended precision."""
    w = np.asarray(model.coef_, dtype=np.longdouble)
    u = np.asarray(X, dtype=np.longdouble) @ w
    i, j = np.nonzero(y[:, None] > y[None, :])
    return float(0.5 * w @ w + C * np.sum(np.maximum(0, 1 - (u[i] - u[j])) ** power))


@pytest.mark.parametrize("C", [1e-8, 1e-6])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_tiny_C_still_orders_the_items(C, kernel):
    """Zero is within any tolerance of the objective there, but it is no ranking."""
    X, y = graded(300, 4, scale=0.1)
    model = RankingSVM(C, kernel=kernel).fit(X, y)
    assert model.solver_ == "newton"
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("C", [1.0, 1e3, 1e6])
@pytest.mark.parametrize(("loss", "power"), [("hinge", 1), ("squared_hinge", 2)])
def test_sums_that_cancel_do_not_certify(C, loss, power):
    """On separable data of large scale the implicit sums lose the loss; the answer must be the true objective."""
    X, y = graded(262, 8, scale=1e3)
    model = RankingSVM(C, loss=loss).fit(X, y)
    assert model.objective_ == pytest.approx(objective(model, X, y, C, power), rel=1e-4)


def test_the_best_threshold_without_an_upper_end_is_the_largest_difference():
    """Wrong-sign pairs above the cut are wrong either way: the interval of the best tau runs to infinity."""
    assert rules.tie_threshold(np.array([0.5, -1.0]), np.array([0, 1]), np.ones(2)) == 1.0


def test_numbers_that_could_be_items_or_outcomes_are_refused():
    """Items called 0 and 1 with a winner column of 0 and 1: no reading is safe."""
    votes = pd.DataFrame({"a": [0, 1, 2], "b": [1, 0, 1], "w": [1, 1, 0]})
    with pytest.raises(ValueError, match="could be items or outcomes"):
        Pairs.from_frame(votes, left="a", right="b", winner="w")
    named = pd.DataFrame({"a": ["x", "y", "z"], "b": ["y", "x", "y"], "w": [1, pd.NA, -1]})
    assert_array_equal(Pairs.from_frame(named, left="a", right="b", winner="w")[1], [1, 0, -1])
    ids = pd.DataFrame({"a": [7, 8], "b": [8, 9], "w": [8, 8]})
    assert_array_equal(Pairs.from_frame(ids, left="a", right="b", winner="w")[1], [-1, 1])


def test_a_far_origin_does_not_move_the_classifier():
    """The bias absorbs any shift of the features, to 1e-6."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.argmax(X + 0.8 * rng.normal(size=X.shape), axis=1)
    here, far = (MarginClassifier(1.0, tol=1e-9).fit(X + shift, y) for shift in (0.0, 1e6))
    assert far.objective_ == pytest.approx(here.objective_, rel=1e-6)
    assert_allclose(far.coef_, here.coef_, atol=1e-5)


def test_dense_models_score_sparse_rows():
    """What was fitted on an array takes the same rows as a sparse matrix."""
    X, y = graded(40, 3)
    model = RankingSVM(kernel="rbf").fit(X, y)
    assert_allclose(model.utility(sparse.csr_array(X)), model.utility(X), rtol=1e-9)


def test_class_weights_must_be_positive():
    """A class of weight zero is no class."""
    with pytest.raises(ValueError, match="class_weight"):
        MarginClassifier(class_weight={0: 0, 1: 1}).fit([[0.0], [1.0], [2.0]], [0, 1, 1])


def test_kernels_that_cannot_be_convex_are_refused():
    """A polynomial with a negative gamma is not positive semi-definite, whatever its name."""
    X, y = graded(30, 3)
    with pytest.raises(ValueError, match="not convex"):
        RankingSVM(kernel=Polynomial(3, -1.0, 1.0)).fit(X, y)
    with pytest.raises(ValueError, match="gamma=-1"):
        RBF(-1.0)
    with pytest.raises(ValueError, match="not understood"):
        RankingSVM(kernel=RBF("foo")).fit(X, y)
    with pytest.raises(ValueError, match="NaN or infinite"):
        RankingSVM(kernel=lambda A, B: np.full((len(A), len(B)), np.nan)).fit(X, y)


def test_badly_scaled_kernels_are_still_right():
    """With kernel values of 1e8 the rounding of a margin must not be charged C times."""
    X, y = graded(20, 3, scale=100.0)
    kernel = RBF(0.2) + Linear() * Linear()
    hard = RankingSVM(np.inf, kernel=kernel, tol=1e-5).fit(X, y)
    soft = RankingSVM(1e6, kernel=kernel, tol=1e-5).fit(X, y)
    assert soft.objective_ == pytest.approx(hard.objective_, rel=1e-5)


def test_the_top1_scorer_works_without_routing():
    """Without query ids all rows are one set."""
    X, y = graded(30, 3)
    found = cross_validate(TopRankSVM(), X, y, scoring=neg_top1_risk_scorer, cv=2)
    assert np.all(np.isfinite(found["test_score"]))


def test_wide_linear_problems_go_through_their_gram_matrix():
    """More features than items: the same model, found over the items."""
    X, y = graded(260, 300, noise=1.0)
    wide = RankingSVM(1e-3).fit(X, y)
    kernel = RankingSVM(1e-3, kernel="precomputed").fit(X @ X.T, y)
    assert wide.objective_ == pytest.approx(kernel.objective_, rel=2e-4)
    assert_allclose(wide.utility(X), X @ wide.coef_)


def test_pairs_without_y_can_be_scored():
    """(winner, loser) data need no labels, in fit and in score."""
    pairs = Pairs([[0.0], [1.0], [2.0]], [(1, 0), (2, 1)])
    assert ComparisonSVM(ties="threshold").fit(pairs).score(pairs) == 1.0


@pytest.mark.parametrize(
    "values",
    [
        [3, 1, 1, 2],
        [1, 1, 2, 9],
        [0.5, 2.5, -1.5, 0.5],
        [0.1, 0.25, 7.0, 0.1],
        [2**62, -(2**62), 0, 2**62],
        ["b", "a", "b"],
        [True, False, True],
        [1e300, -1e300, 0.0],
        [5],
        [],
        np.arange(300).astype(np.int8)[::-1],
        np.arange(300).astype(np.uint8),
        np.array([1.5, 1.25, 2.0, 1.0], dtype=np.float16),
        np.array([2**63 + 5, 2**63, 2**63 + 5], dtype=np.uint64),
        np.array([2**31 - 1, -(2**31), 0], dtype=np.int32),
    ],
)
def test_codes_are_places_among_the_distinct_values(values):
    """Sorted, small integers, halves, far apart, no numbers: the short ways give what NumPy's unique gives."""
    values = np.array(values)
    assert_array_equal(dense_codes(values), np.unique(values, return_inverse=True)[1])


def test_a_kernel_that_is_zero_has_a_path():
    """Every model is zero then: a path used to divide by the number of its columns."""
    X, chosen = np.zeros((20, 3)), np.tile([1, 0, 0, 0], 5)
    model = TopRankSVM(kernel=Polynomial(degree=2, gamma=0.5), slack="pair", C=10.0)
    with pytest.warns(UserWarning, match="same utility"):
        path = c_path(model, X, chosen, [1.0, 10.0], qid=np.repeat(np.arange(5), 4))
    assert_allclose(path.objectives, [15.0, 150.0])


@pytest.mark.parametrize("seed", [15, 20])
def test_a_hessian_that_learned_too_much_is_made_anew(seed):
    """Weights over ten decades: steps taught the Hessian of all pairs values that overflow."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(90, 30)))
    u = X @ rng.normal(size=30) + 0.3 * rng.normal(size=90)
    y, weight = np.digitize(u, np.quantile(u, [0.33, 0.66])), 10.0 ** rng.uniform(-5, 5, 90)
    path = c_path(OrdinalSVM(tol=1e-6), X, y, np.geomspace(1e-3, 1e3, 5), sample_weight=weight)
    assert path.gaps.max() <= 1e-6


def test_newton_does_not_certify_what_a_kernel_cancelled():
    """A cubic kernel of features far from zero: values of 1e9 that differ by 1, whose rounding passed for a fit."""
    rng = np.random.default_rng(0)
    X = 2.0 * rng.normal(size=(320, 3)) + 30.0
    y, C = rng.integers(0, 30, 320), 1e5
    model = RankingSVM(kernel="poly", loss="squared_hinge", C=C).fit(X, y)
    wide = X.astype(np.longdouble)
    K = (wide @ wide.T / (3 * X.var())) ** 3
    b = np.zeros(320, np.longdouble)
    b[model.support_] = model.dual_coef_
    u = K @ b
    better, worse = np.nonzero(y[:, None] > y)
    value = b @ u / 2 + C * np.sum(np.maximum(1 - u[better] + u[worse], 0) ** 2)
    assert model.objective_ == pytest.approx(float(value), rel=1e-4)


@pytest.mark.parametrize(("weight", "C"), [(1e20, 1e-40), (1e-25, 1e50)])
def test_weights_of_any_size_are_only_weights(weight, C):
    """Float32 Hessians and steps that are not looked at must not make nan of pair weights beyond its range."""
    rng = np.random.default_rng(0)
    X, y, qid = rng.normal(size=(21_000, 5)), rng.integers(0, 4, 21_000), np.arange(21_000) // 50
    want = RankingSVM(loss="squared_hinge").fit(X, y, qid=qid)
    model = RankingSVM(loss="squared_hinge", C=C).fit(X, y, qid=qid, sample_weight=np.full(21_000, weight))
    assert model.converged_
    assert model.n_iter_ == want.n_iter_
    assert model.objective_ == pytest.approx(want.objective_, rel=want.tol)  # what either certifies


def test_constant_features_give_no_model_made_of_rounding():
    """A step that is not looked at is taken where something is left to gain."""
    y, qid = np.random.default_rng(0).integers(0, 4, 21_000), np.arange(21_000) // 50
    with pytest.warns(CollapseWarning, match="u = 0"):
        model = RankingSVM(loss="squared_hinge").fit(np.ones((21_000, 5)), y, qid=qid)
    assert not np.any(model.coef_)
