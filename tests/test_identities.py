"""What must be equal by mathematics, on random data with ties, duplicates and contradictions."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import strategies as our
from widemargin import ComparisonSVM, MarginClassifier, MarginRegressor, OrdinalSVM, Pairs, RankingSVM, TopRankSVM
from widemargin.kernels import Linear

pytestmark = pytest.mark.filterwarnings("ignore::widemargin.CollapseWarning")  # u = 0 is an optimum like any other

few = settings(max_examples=8, deadline=None, derandomize=True)
some = settings(max_examples=20, deadline=None, derandomize=True)

LOSSES = ["hinge", "squared_hinge"]
EVERY = [
    pytest.param(cls, loss, id=f"{cls.__name__}-{loss}")
    for cls in our.EVERY
    for loss in (LOSSES if cls is not MarginRegressor else ["epsilon_insensitive", "squared_epsilon_insensitive"])
]
DIFFERENCES = [p for p in EVERY if p.values[0] not in (MarginClassifier, MarginRegressor)]


def make(cls, **params):
    """Return an estimator that solves to the last digits."""
    return cls(**{"tol": 1e-10, **params})


def same(have, want, tol=1e-6):
    """Assert equality to `tol` of the largest value, or of 1 if all are smaller: utilities are of the order of 1."""
    have, want = np.asarray(have, dtype=float), np.asarray(want, dtype=float)
    assert_allclose(have, want, rtol=0, atol=tol * max(1.0, np.abs(want).max(initial=0.0)))


def same_model(have, want, X):
    """Assert that two models have the same objective and the same utilities of X."""
    assert have.objective_ == pytest.approx(want.objective_, rel=1e-7, abs=1e-9)
    same(have.utility(X), want.utility(X))


def pair_objective(data, w, C, loss):
    """Return 1/2 |w|^2 + C * sum of losses over the pairs of a query that differ in grade, by loops."""
    total = 0.0
    for i in range(len(data.y)):
        for j in range(len(data.y)):
            if data.y[i] > data.y[j] and (data.qid is None or data.qid[i] == data.qid[j]):
                shortfall = max(0.0, 1.0 - (data.X[i] - data.X[j]) @ w)
                total += shortfall**2 if loss == "squared_hinge" else shortfall
    return 0.5 * w @ w + C * total


# Order, origin, scale -----------------------------------------------------------------------------


@pytest.mark.parametrize(("cls", "loss"), EVERY)
@few
@given(data=st.data(), seed=our.SEEDS, C=our.CS)
def test_permuting_rows_changes_nothing(cls, loss, data, seed, C):
    """Rows (or pairs) in another order are the same data."""
    sample = data.draw(our.EVERY[cls])
    moved = sample.take(np.random.default_rng(seed).permutation(len(sample.y)))
    same_model(moved.fit(make(cls, C=C, loss=loss)), sample.fit(make(cls, C=C, loss=loss)), sample.X)


@few
@given(sample=our.compared(), seed=our.SEEDS)
def test_permuting_the_items_of_pairs_changes_nothing(sample, seed):
    """Items are named by position; other positions are other names."""
    order = np.random.default_rng(seed).permutation(len(sample.X))
    place = np.argsort(order)
    moved = replace(sample, X=sample.X[order], index=place[sample.index])
    same_model(moved.fit(make(ComparisonSVM)), sample.fit(make(ComparisonSVM)), sample.X)


@pytest.mark.parametrize(("cls", "loss"), EVERY)
@few
@given(data=st.data(), C=our.CS)
def test_moving_the_origin_changes_no_difference(cls, loss, data, C):
    """A constant vector added to all items cancels in differences, and against the bias."""
    sample = data.draw(our.EVERY[cls])
    shift = np.arange(1.0, sample.X.shape[1] + 1) * 3
    want = sample.fit(make(cls, C=C, loss=loss))
    have = sample.fit(make(cls, C=C, loss=loss), X=sample.X + shift)
    assert have.objective_ == pytest.approx(want.objective_, rel=1e-7, abs=1e-9)
    same(np.diff(have.utility(sample.X + shift)), np.diff(want.utility(sample.X)))


@pytest.mark.parametrize(("cls", "loss"), EVERY)
@few
@given(data=st.data(), scale=st.sampled_from([1e-3, 0.1, 50.0]))
def test_scaling_X_with_C_over_the_square_changes_no_utility(cls, loss, data, scale):
    """X s with C / s^2 is the same problem in other units: the objective is divided by s^2."""
    sample = data.draw(our.EVERY[cls])
    want = sample.fit(make(cls, loss=loss))
    have = sample.fit(make(cls, C=1.0 / scale**2, loss=loss), X=sample.X * scale)
    assert have.objective_ * scale**2 == pytest.approx(want.objective_, rel=1e-6, abs=1e-8)
    same(have.utility(sample.X * scale), want.utility(sample.X), 1e-5)


@few
@given(sample=our.graded())
def test_an_orthogonal_rotation_changes_no_utility(sample):
    """The norm knows no axes."""
    Q = np.linalg.qr(np.random.default_rng(sample.X.shape[1]).normal(size=(sample.X.shape[1],) * 2))[0]
    want, have = sample.fit(make(RankingSVM)), sample.fit(make(RankingSVM), X=sample.X @ Q)
    same(have.utility(sample.X @ Q), want.utility(sample.X))


# Weights ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cls", "loss"), EVERY)
@few
@given(data=st.data(), seed=our.SEEDS, C=our.CS)
def test_a_row_twice_is_weight_two(cls, loss, data, seed, C):
    """Whole weights count copies, and weight 0 is absence."""
    sample = data.draw(our.EVERY[cls])
    weight = np.random.default_rng(seed).integers(0, 3, len(sample.y))
    weight[:2] = np.maximum(weight[:2], 1)  # there stays something to compare
    copies = sample.take(np.repeat(np.arange(weight.size), weight))
    weighted = sample.fit(make(cls, C=C, loss=loss), sample_weight=weight)
    same_model(weighted, copies.fit(make(cls, C=C, loss=loss)), sample.X)


@some
@given(sample=our.graded(), seed=our.SEEDS)
def test_mean_scale_divides_C_by_the_total_weight(sample, seed):
    """C_scale="mean" is C over the sum of the pairs' weights."""
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, len(sample.y))
    total = sum(
        weight[i] * weight[j]
        for i in range(weight.size)
        for j in range(weight.size)
        if sample.y[i] > sample.y[j] and sample.qid[i] == sample.qid[j]
    )
    mean = sample.fit(make(RankingSVM, C=5.0, C_scale="mean"), sample_weight=weight)
    same_model(mean, sample.fit(make(RankingSVM, C=5.0 / total), sample_weight=weight), sample.X)


@few
@given(sample=our.targets(), seed=our.SEEDS)
def test_mean_scale_of_a_regression_counts_each_row_once_or_each_row_twice(sample, seed):
    """C_scale="mean" makes the model independent of how often all data are repeated."""
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, len(sample.y))
    once = sample.fit(make(MarginRegressor, C_scale="mean"), sample_weight=weight)
    same_model(sample.fit(make(MarginRegressor, C_scale="mean"), sample_weight=3 * weight), once, sample.X)


# Pairs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", ["margin", "threshold", "both_ways"])
@pytest.mark.parametrize("loss", LOSSES)
@few
@given(sample=our.compared(), seed=our.SEEDS)
def test_a_pair_flipped_with_its_label_is_the_same_pair(ties, loss, sample, seed):
    """(a, b, +1) says what (b, a, -1) says."""
    flip = np.random.default_rng(seed).integers(0, 2, len(sample.y)).astype(bool)
    index = np.where(flip[:, None], sample.index[:, ::-1], sample.index)
    flipped = replace(sample, index=index, y=np.where(flip, -sample.y, sample.y))
    have, want = (d.fit(make(ComparisonSVM, ties=ties, loss=loss)) for d in (flipped, sample))
    same_model(have, want, sample.X)
    assert have.tie_width_ == pytest.approx(want.tie_width_, abs=1e-6)
    same(have.decision_function(Pairs(sample.X, index)), np.where(flip, -1, 1) * want.decision_function(_pairs(sample)))


def _pairs(sample):
    return Pairs(sample.X, sample.index)


@pytest.mark.parametrize("ties", ["margin", "threshold", "both_ways"])
@few
@given(sample=our.compared())
def test_a_prediction_is_zero_iff_the_difference_is_within_the_width(ties, sample):
    """The rule (4), from the learned attributes."""
    model = sample.fit(make(ComparisonSVM, ties=ties))
    s = model.decision_function(_pairs(sample))
    assert_array_equal(model.predict(_pairs(sample)), np.where(np.abs(s) <= model.tie_width_, 0, np.sign(s)))
    assert model.tie_width_ >= 0


@pytest.mark.parametrize("loss", LOSSES)
@some
@given(sample=our.graded(), C=our.CS)
def test_tie_free_comparisons_of_all_pairs_are_ranking(loss, sample, C):
    """`ComparisonSVM(ties="threshold")` on every pair of a query that differs in grade is `RankingSVM`."""
    n = len(sample.y)
    beats = (sample.y[:, None] > sample.y) & (sample.qid[:, None] == sample.qid)
    index = np.column_stack(np.nonzero(beats))
    assert index.size <= n * n
    pairs = ComparisonSVM(C=C, ties="threshold", loss=loss, tol=1e-10).fit(Pairs(sample.X, index))
    same_model(pairs, sample.fit(make(RankingSVM, C=C, loss=loss)), sample.X)


@few
@given(sample=our.chosen())
def test_a_slack_per_pair_is_bipartite_ranking(sample):
    """`TopRankSVM(slack="pair")` with chosen and rejected rows is `RankingSVM` on two grades."""
    assume(all(np.any(sample.y[sample.qid == q] == 1) for q in np.unique(sample.qid)))
    same_model(sample.fit(make(TopRankSVM, slack="pair")), sample.fit(make(RankingSVM)), sample.X)


@few
@given(sample=our.compared(ties=False))
def test_a_choice_from_two_is_a_comparison(sample):
    """Sets of two rows are pairs with a winner."""
    won = np.where(sample.y[:, None] > 0, sample.index, sample.index[:, ::-1])
    n = len(won)
    model = make(TopRankSVM).fit(sample.X[won.ravel()], np.tile([1, 0], n), qid=np.repeat(np.arange(n), 2))
    same_model(sample.fit(make(ComparisonSVM, ties="threshold")), model, sample.X)


# Two levels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@some
@given(sample=our.ordered(), C=our.CS)
def test_ordinal_regression_is_ranking(loss, sample, C):
    """`OrdinalSVM` and `RankingSVM` on one query solve the same problem; two levels are bipartite ranking."""
    ordinal, ranking = sample.fit(make(OrdinalSVM, C=C, loss=loss)), sample.fit(make(RankingSVM, C=C, loss=loss))
    same_model(ordinal, ranking, sample.X)
    same(ordinal.coef_, ranking.coef_)


@some
@given(sample=our.separated())
def test_hard_two_level_ranking_is_half_the_hard_margin_classifier(sample):
    """With C=inf the classifier asks for a distance of 2 where ranking asks for 1: w_rank = w_svc / 2."""
    models = [sample.fit(make(cls, C=np.inf)) for cls in (RankingSVM, OrdinalSVM, MarginClassifier)]
    rank, ordinal, classifier = (model.coef_ for model in models)
    same(rank, classifier / 2)
    same(ordinal, rank)
    assert_array_equal(models[1].predict(sample.X), sample.y)
    assert_array_equal(models[2].predict(sample.X), sample.y)


@pytest.mark.parametrize("loss", LOSSES)
@some
@given(sample=our.ordered(n_ranks=2), C=our.CS)
def test_flipped_classes_flip_the_sign(loss, sample, C):
    """Which class is called 1 is a matter of sign."""
    model, other = (make(MarginClassifier, C=C, loss=loss).fit(sample.X, y) for y in (sample.y, -sample.y))
    assert other.objective_ == pytest.approx(model.objective_, rel=1e-8)
    same(other.decision_function(sample.X), -model.decision_function(sample.X))


@few
@given(sample=our.targets(), C=our.CS)
def test_negated_targets_negate_the_regression(sample, C):
    """The tube is symmetric."""
    model, other = (make(MarginRegressor, C=C).fit(sample.X, y) for y in (sample.y, -sample.y))
    same(other.predict(sample.X), -model.predict(sample.X))


@pytest.mark.parametrize("loss", LOSSES)
@some
@given(sample=our.graded(), C=our.CS)
def test_reversed_grades_reverse_the_utility(loss, sample, C):
    """Larger is preferred; what is called larger is up to the user."""
    model = sample.fit(make(RankingSVM, C=C, loss=loss))
    other = replace(sample, y=-sample.y).fit(make(RankingSVM, C=C, loss=loss))
    same(other.utility(sample.X), -model.utility(sample.X))


@few
@given(sample=our.graded())
def test_only_the_order_of_grades_matters(sample):
    """Grades 0, 1, 2, 3 are as good as -1, 10, 1000, 1e6."""
    other = replace(sample, y=np.array([-1.0, 10.0, 1e3, 1e6])[sample.y])
    assert_array_equal(other.fit(make(RankingSVM)).coef_, sample.fit(make(RankingSVM)).coef_)


# Kernels ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cls", "loss"), EVERY)
@few
@given(data=st.data(), C=our.CS)
def test_the_linear_kernel_is_the_linear_map(cls, loss, data, C):
    """The kernel object, the matrix XX' and the map u = Xw give one utility."""
    sample = data.draw(our.EVERY[cls])
    want = sample.fit(make(cls, C=C, loss=loss))
    same_model(sample.fit(make(cls, C=C, loss=loss, kernel=Linear())), want, sample.X)
    gram = sample.X @ sample.X.T
    matrix = sample.fit(make(cls, C=C, loss=loss, kernel="precomputed"), X=gram)
    assert matrix.objective_ == pytest.approx(want.objective_, rel=1e-7, abs=1e-9)
    same(matrix.utility(gram), want.utility(sample.X))


@pytest.mark.parametrize(("cls", "loss"), DIFFERENCES)
@few
@given(data=st.data())
def test_coefficients_of_differences_sum_to_zero(cls, loss, data):
    """Every comparison adds to one item what it takes from another."""
    sample = data.draw(our.EVERY[cls])
    model = sample.fit(make(cls, loss=loss))
    assert abs(np.sum(model.dual_coef_)) <= 1e-7 * max(1.0, np.abs(model.dual_coef_).sum())
    same(model.support_vectors_.T @ model.dual_coef_ if model.support_.size else 0 * model.coef_, model.coef_)


# Objective, gap, thresholds -----------------------------------------------------------------------


@pytest.mark.parametrize(("cls", "loss"), EVERY)
@few
@given(data=st.data())
def test_the_objective_grows_with_C_and_its_share_of_norm_too(cls, loss, data):
    """With C the minimum rises and so does the norm of w; the minimum over C falls."""
    sample = data.draw(our.EVERY[cls])
    Cs = np.array([0.01, 0.1, 1.0, 10.0])
    models = [sample.fit(make(cls, C=C, loss=loss)) for C in Cs]
    values = np.array([model.objective_ for model in models])
    norms = np.array([model.coef_ @ model.coef_ for model in models])
    slack = 1e-9 * values.max() + 1e-12
    assert np.all(np.diff(values) >= -slack)
    assert np.all(np.diff(values / Cs) <= slack / Cs[:-1])
    assert np.all(np.diff(norms) >= -1e-6 * norms.max() - 1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@some
@given(sample=our.graded(), C=our.CS, seed=our.SEEDS, tol=st.sampled_from([1e-1, 1e-4, 1e-10]))
def test_no_other_weights_get_below_the_certified_bound(loss, sample, C, seed, tol):
    """`objective_` is the value of the weights returned, and no w has less than `objective_ (1 - duality_gap_)`."""
    model = sample.fit(RankingSVM(C=C, loss=loss, tol=tol))
    assert model.objective_ == pytest.approx(pair_objective(sample, model.coef_, C, loss), rel=1e-9)
    assert 0 <= model.duality_gap_ <= tol
    bound = model.objective_ * (1 - model.duality_gap_)
    rng = np.random.default_rng(seed)
    for size in (1e-6, 1e-3, 0.1, 1.0):
        w = model.coef_ + size * rng.normal(size=model.coef_.size)
        assert pair_objective(sample, w, C, loss) >= bound * (1 - 1e-12)
    assert pair_objective(sample, 0 * model.coef_, C, loss) >= bound * (1 - 1e-12)


@pytest.mark.parametrize(("cls", "loss"), EVERY)
@few
@given(data=st.data(), C=st.sampled_from([1e-6, 1.0, 1e4]))
def test_the_gap_is_never_negative_and_reaches_tol(cls, loss, data, C):
    """A certificate is a number between 0 and tol, whatever the data."""
    sample = data.draw(our.EVERY[cls])
    model = sample.fit(cls(C=C, loss=loss, tol=1e-6))
    assert 0 <= model.duality_gap_ <= 1e-6
    assert model.objective_ >= 0
    assert model.converged_


@pytest.mark.parametrize("how", ["closest_pair", "fewest_errors"])
@some
@given(sample=our.ordered(n_ranks=6), C=our.CS)
def test_thresholds_are_monotone_and_finite(how, sample, C):
    """Whatever the labels, the intervals of the ranks are in order."""
    model = sample.fit(make(OrdinalSVM, C=C, thresholds=how, classes=np.arange(6)))
    assert model.thresholds_.shape == (5,)
    assert np.all(np.isfinite(model.thresholds_))
    assert np.all(np.diff(model.thresholds_) >= 0)
    u = model.utility(sample.X)
    assert_array_equal(model.predict(sample.X), np.sum(u[:, None] > model.thresholds_, axis=1))


@some
@given(sample=our.ordered(n_ranks=2), C=our.CS)
def test_fewest_errors_means_fewest_errors(sample, C):
    """With two ranks no cut of the utility makes fewer mistakes on the training rows."""
    model = sample.fit(make(OrdinalSVM, C=C, thresholds="fewest_errors", classes=[0, 1]))
    u = model.utility(sample.X)
    width = 1e-9 * max(1.0, np.abs(u).max())  # utilities that are equal but for rounding cannot be told apart
    cuts = [c for v in u for c in (v - 2 * width, v + 2 * width)]
    fewest = min(np.sum((u > cut) != (sample.y == 1)) for cut in cuts)
    assert np.sum(model.predict(sample.X) != sample.y) <= fewest


@some
@given(sample=our.graded())
def test_rank_and_score_follow_the_utility(sample):
    """Rank 1 is the largest utility of a query, and the score is the share of pairs in order, ties one half."""
    model = sample.fit(make(RankingSVM))
    u, ranks = model.utility(sample.X), model.rank(sample.X, qid=sample.qid)
    same_query = sample.qid[:, None] == sample.qid
    assert_array_equal(ranks, 1 + np.sum(same_query & (u > u[:, None]), axis=1))
    better = same_query & (sample.y[:, None] > sample.y)
    points = np.where(u[:, None] > u, 1.0, np.where(u[:, None] == u, 0.5, 0.0))
    assert model.score(sample.X, sample.y, qid=sample.qid) == pytest.approx(points[better].mean())
