"""Probabilities, intervals, leaderboards, the next question: proper, calibrated, right by other computations."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from benchmarks.asking import compare
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from widemargin import ComparisonSVM, ComparisonSVMCV, DisconnectedWarning, OnItems, OrdinalSVM, Pairs
from widemargin._core.links import CumulativeLogit, fit_cumulative_logit, smoothed_targets
from widemargin.active import suggest_pairs
from widemargin.calibration import CalibratedComparison, CalibratedOrdinal
from widemargin.model_selection import ItemDisjointKFold
from widemargin.uncertainty import bootstrap_utilities, leaderboard

TIES = ["margin", "threshold", "both_ways"]


def voters(seed, n, *, n_items=60, slope=1.5, tie=0.6, noise="logistic"):
    """Return pairs and what voters said of them: a utility linear in four features, latent noise, a tie zone."""
    rng = np.random.default_rng(seed)
    X, w = np.random.default_rng(99).normal(size=(n_items, 4)), np.array([1.0, -0.5, 0.5, 0.0])
    first = rng.integers(0, n_items, n)
    index = np.column_stack([first, (first + rng.integers(1, n_items, n)) % n_items])
    latent = slope * (X[index[:, 0]] - X[index[:, 1]]) @ w
    latent += rng.logistic(size=n) if noise == "logistic" else 1.7 * rng.normal(size=n)
    return Pairs(X, index), (latent > tie).astype(int) - (latent < -tie)


def grades(seed, n, cuts=(-1.0, 0.5, 1.5)):
    """Return features and labels 0..3: a latent logistic variable cut at thresholds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.searchsorted(cuts, X @ [1.5, -1.0, 0.0] + rng.logistic(size=n))


# The curve ----------------------------------------------------------------------------------------

S = np.array([-1e6, -40.0, -3.0, -0.5, 0.0, 0.5, 3.0, 40.0, 1e6])


def test_probabilities_of_a_pair_are_proper():
    """They sum to one, win rises and loss falls with the difference, and swapping the pair swaps them exactly."""
    P = CumulativeLogit(1.3, np.array([-0.4, 0.4])).probabilities(S)
    assert np.all((P >= 0) & (P <= 1))
    assert_allclose(P.sum(axis=1), 1.0, rtol=1e-15)
    assert np.all(np.diff(P[:, 2]) >= 0)
    assert np.all(np.diff(P[:, 0]) <= 0)
    assert_array_equal(P[::-1, ::-1], P)
    assert_allclose(P[:, 2], expit(1.3 * S - 0.4), rtol=1e-15)


def test_probabilities_of_labels_are_differences_of_a_cumulative_curve():
    """P(label <= k) = sigmoid(cut_k - slope s)."""
    link = CumulativeLogit(0.7, np.array([-1.0, 0.2, 2.0]))
    s = np.linspace(-5, 5, 11)
    assert_allclose(np.cumsum(link.probabilities(s), axis=1)[:, :-1], expit(link.cuts - 0.7 * s[:, None]), rtol=1e-13)


def test_information_is_the_variance_of_the_score():
    """I(s) = sum_k P_k (d log P_k / ds)^2, by differences."""
    link, h = CumulativeLogit(1.3, np.array([-0.4, 0.9])), 1e-5
    s = np.linspace(-3, 3, 7)
    slopes = (np.log(link.probabilities(s + h)) - np.log(link.probabilities(s - h))) / (2 * h)
    assert_allclose(link.information(s), np.sum(link.probabilities(s) * slopes**2, axis=1), rtol=1e-8)


@pytest.mark.parametrize("symmetric", [False, True])
def test_the_curve_has_the_largest_likelihood(symmetric):
    """A general minimiser of the plain formula finds nothing better, and the same place."""
    rng = np.random.default_rng(0)
    s = rng.normal(size=300)
    level = np.searchsorted([-0.5, 0.5], 1.2 * s + rng.logistic(size=300))
    targets = smoothed_targets(level, rng.uniform(0.5, 2, 300), 3, symmetric=symmetric)

    def plain(x):
        low, high = (-x[1], x[1]) if symmetric else x[1:]
        below = expit(np.array([low, high]) - x[0] * s[:, None])
        P = np.column_stack([below[:, 0], below[:, 1] - below[:, 0], 1 - below[:, 1]])
        return -np.sum(targets * np.log(np.maximum(P, 1e-300)))

    start = [1.0, 0.5] if symmetric else [1.0, -0.5, 0.5]
    want = minimize(plain, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-11, "maxiter": 5000})
    have = fit_cumulative_logit(s, targets, symmetric=symmetric)
    x = [have.slope, have.cuts[1]] if symmetric else [have.slope, *have.cuts]
    assert plain(x) <= want.fun + 1e-9
    assert_allclose(x, want.x, atol=1e-5)


def test_two_labels_are_platt_scaling():
    """With two levels the curve is a logistic regression on Platt's targets."""
    rng = np.random.default_rng(1)
    s = rng.normal(size=80)
    level = (s + rng.logistic(size=80) > 0.3).astype(int)
    up, down = np.sum(level == 1), np.sum(level == 0)
    target = np.where(level == 1, (up + 1) / (up + 2), 1 / (down + 2))
    want = LogisticRegression(C=np.inf, tol=1e-10).fit(
        np.tile(s, 2)[:, None], np.repeat([1, 0], 80), sample_weight=np.concatenate([target, 1 - target])
    )
    have = fit_cumulative_logit(s, smoothed_targets(level, np.ones(80), 2, symmetric=False), symmetric=False)
    assert_allclose([have.slope, -have.cuts[0]], [want.coef_[0, 0], want.intercept_[0]], atol=1e-4)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_separated_levels_have_a_finite_slope(scale):
    """Utilities that order everything right give a curve in their own units, not an infinite slope."""
    s = np.array([-3.0, -2.0, -0.1, 0.1, 2.0, 3.0])
    targets = smoothed_targets(np.array([0, 0, 1, 1, 2, 2]), np.ones(6), 3, symmetric=True)
    link = fit_cumulative_logit(scale * s, targets, symmetric=True)
    assert 0.1 < link.slope * scale < 100
    assert link.probabilities(scale * s)[5, 2] > 0.5


# Calibration --------------------------------------------------------------------------------------


def worst_bin(P, hit, n_bins=10):
    """Return the largest distance, over bins of equal size, between what was said and what came."""
    order = np.array_split(np.argsort(P), n_bins)
    return max(abs(P[rows].mean() - hit[rows].mean()) for rows in order)


def log_loss(P, code):
    return -np.mean(np.log(P[np.arange(code.size), code]))


@pytest.mark.parametrize("noise", ["logistic", "normal"])
@pytest.mark.parametrize("ties", TIES)
def test_probabilities_of_pairs_are_calibrated_on_held_out_votes(ties, noise):
    """Among pairs said to be won with probability p a share p is won; the same for ties and losses.

    Bins hold 2,000 votes, a standard error of 0.011, and there are thirty; learning from 4,000 votes, and a logistic
    curve where the noise is normal, add up to 0.015.
    """
    kind = {"slope": 4.0, "tie": 2.0, "noise": noise}
    model = CalibratedComparison(ComparisonSVM(ties=ties, C=0.1)).fit(*voters(1, 4000, **kind))
    pairs, y = voters(2, 20_000, **kind)
    P = model.predict_proba(pairs)
    for k, outcome in enumerate(model.classes_):
        assert worst_bin(P[:, k], y == outcome) < 0.045
    shares = np.bincount(y + 1) / y.size
    assert log_loss(P, y + 1) < 0.8 * -np.sum(shares * np.log(shares))


def test_probabilities_of_labels_are_calibrated_on_held_out_rows():
    """Among rows said to have a label with probability p a share p has it."""
    model = CalibratedOrdinal(OrdinalSVM(C=0.01, loss="squared_hinge")).fit(*grades(1, 4000))
    X, y = grades(2, 20_000)
    P = model.predict_proba(X)
    assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    for k in range(4):
        assert worst_bin(P[:, k], y == k) < 0.045
    exact = np.diff(expit(np.array([-np.inf, -1.0, 0.5, 1.5, np.inf]) - (X @ [1.5, -1.0, 0.0])[:, None]), axis=1)
    assert log_loss(P, y) < log_loss(exact, y) + 0.01


def test_the_curve_is_in_units_of_the_final_model():
    """A C so small that w grows with the number of votes: the folds' utilities are 4/5 as large, the curve knows."""
    train, (pairs, y) = voters(1, 2000), voters(2, 20_000)
    model = CalibratedComparison(ComparisonSVM(ties="threshold", C=1e-5)).fit(*train)
    targets = smoothed_targets(y + 1, np.ones(y.size), 3, symmetric=True)
    best = fit_cumulative_logit(model.decision_function(pairs), targets, symmetric=True)
    assert model.link_.slope == pytest.approx(best.slope, rel=0.1)


def test_training_utilities_would_be_overconfident():
    """The reason for folds: a flexible kernel calibrated on its own training pairs is worse on new ones."""
    svm = ComparisonSVM(kernel="rbf", gamma=2.0, C=100, ties="threshold")
    train, (pairs, y) = voters(1, 300, tie=0.0), voters(2, 5000, tie=0.0)
    fair = CalibratedComparison(svm).fit(*train)
    vain = CalibratedComparison(FrozenEstimator(clone(svm).fit(*train))).fit(*train)
    assert_array_equal(fair.decision_function(pairs), vain.decision_function(pairs))
    codes = y + 1
    assert log_loss(fair.predict_proba(pairs), codes) < 0.8 * log_loss(vain.predict_proba(pairs), codes)


def test_a_pair_and_its_mirror_agree():
    """Pairs flipped with their labels give the same curve; predictions of a flipped pair are mirrored exactly."""
    pairs, y = voters(3, 300)
    flip = np.random.default_rng(0).random(300) < 0.5
    index = np.where(flip[:, None], pairs.index[:, ::-1], pairs.index)
    folds = [(np.arange(150), np.arange(150, 300)), (np.arange(150, 300), np.arange(150))]
    svm = ComparisonSVM(ties="threshold", tol=1e-10)
    model = CalibratedComparison(svm, cv=folds).fit(pairs, y)
    mirrored = CalibratedComparison(svm, cv=folds).fit(Pairs(pairs.items, index), np.where(flip, -y, y))
    assert_allclose(mirrored.link_.slope, model.link_.slope, rtol=1e-6)
    assert_allclose(mirrored.link_.cuts, model.link_.cuts, rtol=1e-6)
    back = Pairs(pairs.items, pairs.index[:, ::-1])
    assert_array_equal(model.predict_proba(back)[:, ::-1], model.predict_proba(pairs))


def test_winners_alone_need_no_y_and_make_no_ties():
    """Without y every first item won; ties have probability 0, and win and loss are one curve."""
    pairs, y = voters(4, 300, tie=0.0)
    won = Pairs(pairs.items, np.where((y > 0)[:, None], pairs.index, pairs.index[:, ::-1]))
    model = CalibratedComparison(ComparisonSVM(ties="threshold")).fit(won)
    P = model.predict_proba(pairs)
    assert np.all(P[:, 1] == 0)
    assert_allclose(P[:, 2], expit(model.link_.slope * model.decision_function(pairs)), rtol=1e-12)
    assert model.score(won) == np.mean(model.decision_function(won) > 0)


def test_weight_two_is_a_pair_given_twice():
    """Weights count votes, in the estimator and in the curve."""
    pairs, y = voters(5, 200)
    weight = np.random.default_rng(0).integers(1, 3, 200)
    twice = np.repeat(np.arange(200), weight)
    svm = ComparisonSVM(ties="threshold", tol=1e-10)
    want = CalibratedComparison(svm, cv=_folds(twice % 2)).fit(pairs[twice], y[twice])
    have = CalibratedComparison(svm, cv=_folds(np.arange(200) % 2)).fit(pairs, y, sample_weight=weight)
    assert_allclose(have.predict_proba(pairs), want.predict_proba(pairs), atol=1e-6)


def _folds(fold):
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in np.unique(fold)]


def test_calibration_goes_through_pipelines_and_searches():
    """A pipeline, a search, item-disjoint folds and a frozen model are all estimators to calibrate."""
    pairs, y = voters(6, 300)
    pipe = make_pipeline(OnItems(StandardScaler()), ComparisonSVM(ties="threshold"))
    search = GridSearchCV(pipe, {"comparisonsvm__C": [0.1, 1.0]}, cv=KFold(2))
    frozen = FrozenEstimator(clone(pipe).fit(pairs[:150], y[:150]))
    for model in (
        CalibratedComparison(pipe, cv=3),
        CalibratedComparison(search, cv=2),
        CalibratedComparison(pipe, cv=ItemDisjointKFold(2)),
        CalibratedComparison(frozen, cv=2),
    ):
        P = model.fit(pairs, y).predict_proba(pairs)
        assert_allclose(P.sum(axis=1), 1.0)
        assert model.score(pairs, y) > 0.6
    X, grade = grades(3, 200)
    pipe = make_pipeline(StandardScaler(), OrdinalSVM(C=0.1))
    for estimator in (pipe, GridSearchCV(pipe, {"ordinalsvm__C": [0.1]}, cv=2)):
        model = CalibratedOrdinal(estimator, cv=2).fit(X, grade)
        assert model.score(X, grade) > 0.45
        assert_array_equal(np.argsort(model.utility(X)), np.argsort(model.predict_proba(X) @ np.arange(4)))


def test_a_precomputed_kernel_is_cut_on_both_sides():
    """Folds of a kernel matrix give the probabilities of the kernel."""
    X, y = grades(4, 120)
    want = CalibratedOrdinal(OrdinalSVM(kernel="rbf", gamma=0.3), cv=3).fit(X, y).predict_proba(X)
    K = rbf_kernel(X, gamma=0.3)
    have = CalibratedOrdinal(OrdinalSVM(kernel="precomputed"), cv=3).fit(K, y).predict_proba(K)
    assert_allclose(have, want, atol=1e-6)


def test_a_label_that_never_came_has_probability_zero():
    """`classes=` may name ranks that y lacks; columns follow it."""
    X, y = grades(5, 150)
    y = np.where(y == 1, 2, y)
    model = CalibratedOrdinal(OrdinalSVM(classes=[0, 1, 2, 3, 4])).fit(X, y)
    P = model.predict_proba(X)
    assert P.shape == (150, 5)
    assert np.all(P[:, [1, 4]] == 0)
    assert_allclose(P.sum(axis=1), 1.0)


def test_utilities_that_tell_nothing_give_the_shares():
    """Utilities the wrong way round: the slope is 0, the probabilities are the shares, and it warns."""
    pairs, y = voters(7, 200)
    wrong = FrozenEstimator(ComparisonSVM(ties="threshold").fit(pairs, -y))
    with pytest.warns(UserWarning, match="tell nothing about the folds"):
        model = CalibratedComparison(wrong).fit(pairs, y)
    shares = np.array([0.5 * np.mean(y != 0), np.mean(y == 0), 0.5 * np.mean(y != 0)])
    assert_allclose(model.predict_proba(pairs), np.tile(shares, (200, 1)), atol=0.01)


@pytest.mark.filterwarnings("ignore")  # the checks fit noise on purpose, and say so
def test_scikit_learn_checks_of_the_wrapper():
    """Calibrated labels pass scikit-learn's checks, as the estimator inside does."""
    expected = {"check_classifiers_classes": "string labels have no order; classes= gives one"}
    found = check_estimator(
        CalibratedOrdinal(OrdinalSVM(), cv=2), expected_failed_checks=expected, on_fail=None, on_skip=None
    )
    assert len(found) > 40
    assert not [check["check_name"] for check in found if check["status"] == "failed"]


def test_probabilities_are_scored_and_searched():
    """Proper scores of scikit-learn read the columns right, and a search reaches the estimator inside."""
    pairs, y = voters(9, 300)
    search = GridSearchCV(
        CalibratedComparison(ComparisonSVM(ties="threshold"), cv=2),
        {"estimator__C": [1e-6, 0.1]},
        cv=KFold(2),
        scoring="neg_log_loss",
        error_score="raise",
    ).fit(pairs, y)
    fold = np.arange(150), np.arange(150, 300)
    want = []
    for train, test in (fold[::-1], fold):
        model = CalibratedComparison(ComparisonSVM(ties="threshold", C=0.1), cv=2).fit(pairs[train], y[train])
        want.append(-log_loss(model.predict_proba(pairs[test]), y[test] + 1))
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(np.mean(want), rel=1e-9)


def test_outcomes_other_than_three_are_refused():
    """Soft labels go through `Pairs.with_votes`."""
    pairs, _ = voters(8, 20)
    with pytest.raises(ValueError, match=r"expected \(20,\) of \+1"):
        CalibratedComparison(ComparisonSVM()).fit(pairs, np.full(20, 0.5))


# Intervals ----------------------------------------------------------------------------------------

SVM = ComparisonSVM(ties="threshold", loss="squared_hinge", C_scale="mean", C=10.0)


def test_groups_that_are_copies_leave_no_doubt():
    """Drawing whole voters who all said the same gives the same data, up to order: intervals of no width."""
    pairs, y = voters(1, 30)
    copies = np.tile(np.arange(30), 4)
    svm = clone(SVM).set_params(tol=1e-9)
    who = np.repeat(list("abcd"), 30)
    found = bootstrap_utilities(svm, pairs[copies], y[copies], groups=who, n_boot=5, random_state=0)
    assert_allclose(found.upper - found.lower, 0, atol=1e-6)
    assert_allclose(found.lower, found.utility, atol=1e-6)
    plain = bootstrap_utilities(SVM, pairs[copies], y[copies], n_boot=5, random_state=0)
    assert np.all(plain.upper - plain.lower > 1e-3)


def test_intervals_shrink_with_the_root_of_the_votes():
    """Sixteen times the votes, a quarter of the width."""
    width = []
    for n in (200, 3200):
        found = bootstrap_utilities(SVM, *voters(2, n), n_boot=40, random_state=0)
        width.append(np.mean(found.upper - found.lower))
    assert 0.15 < width[1] / width[0] < 0.4


def test_intervals_cover_what_many_votes_would_show():
    """Over draws of the data 90 % intervals hold the utility of unlimited data about nine times in ten."""
    many, y = voters(3, 30_000)
    u = SVM.fit(many, y).utility(many.items)
    truth = u - u.mean()
    covered = []
    for seed in range(8):
        found = bootstrap_utilities(SVM, *voters(100 + seed, 200), n_boot=30, level=0.9, random_state=seed)
        covered.append((found.lower <= truth) & (truth <= found.upper))
    assert 0.78 < np.mean(covered) < 0.98


def test_resamples_depend_on_the_seed_alone():
    """The same seed gives the same resamples, however many follow, so processes may share them; another does not."""
    pairs, y = voters(4, 40)
    four, six, other = (
        bootstrap_utilities(SVM, pairs, y, n_boot=n, random_state=seed).samples for n, seed in ((4, 0), (6, 0), (4, 1))
    )
    assert_array_equal(four, six[:4])
    assert not np.array_equal(four, other)


def test_intervals_of_other_items_and_of_a_pipeline():
    """Items that were never compared have utilities too; an affine change of features changes nothing."""
    pairs, y = voters(5, 100)
    new = np.random.default_rng(0).normal(size=(5, 4))
    pipe = make_pipeline(OnItems(StandardScaler()), SVM)
    moved = Pairs(pairs.items * [1, 10, 100, 1000] + 3, pairs.index)
    have = bootstrap_utilities(pipe, moved, y, items=new * [1, 10, 100, 1000] + 3, n_boot=3, random_state=0)
    want = bootstrap_utilities(pipe, pairs, y, items=new, n_boot=3, random_state=0)
    assert have.utility.shape == (5,)
    assert have.utility.mean() == pytest.approx(0, abs=1e-12)
    assert_allclose(have.samples, want.samples, atol=1e-6)


def test_a_resample_keeps_winners_and_ties():
    """Two winners among forty ties are missing in one plain resample of seven; here none fails."""
    pairs, _ = voters(6, 40)
    y = np.zeros(40, dtype=int)
    y[:2] = 1
    found = bootstrap_utilities(SVM, pairs, y, n_boot=40, random_state=0)
    assert np.all(np.ptp(found.samples, axis=1) > 0)


# Leaderboards -------------------------------------------------------------------------------------

COLUMNS = (
    "item utility lower upper rank rank_low rank_high wins ties losses comparisons component".split()  # noqa: SIM905
)


def ballot(seed=0, n=200):
    """Return votes among six named items, later ones better."""
    rng = np.random.default_rng(seed)
    left = rng.integers(0, 6, n)
    right = (left + rng.integers(1, 6, n)) % 6
    latent = 0.8 * (left - right) + rng.logistic(size=n)
    names = np.array(list("abcdef"))
    winner = np.where(np.abs(latent) < 0.5, "tie", np.where(latent > 0, names[left], names[right]))
    return pd.DataFrame({"l": names[left], "r": names[right], "w": winner})


def test_a_leaderboard_counts_orders_and_bounds():
    """Counts are those of a loop over the votes; rows are sorted; ranks lie within their ranges."""
    votes = ballot()
    pairs, y = Pairs.from_frame(votes, left="l", right="r", winner="w")
    table = leaderboard(SVM, pairs, y, n_boot=30, random_state=0)
    assert list(table.columns) == COLUMNS
    assert np.all(np.diff(table["utility"]) <= 0)
    assert list(table["item"][:1]) == ["f"]
    for row in table.itertuples():
        mine = votes[(votes.l == row.item) | (votes.r == row.item)]
        assert row.wins == np.sum(mine.w == row.item)
        assert row.ties == np.sum(mine.w == "tie")
        assert row.losses == len(mine) - row.wins - row.ties
        assert row.comparisons == len(mine)
        assert row.lower <= row.upper
        assert row.rank_low <= row.rank <= row.rank_high
    assert np.all(table["component"] == 0)


def test_a_leaderboard_comes_in_the_frame_that_is_asked_for():
    """pandas, polars or a dict hold the same."""
    pairs, y = Pairs.from_frame(ballot(n=60), left="l", right="r", winner="w")
    kinds = {k: leaderboard(SVM, pairs, y, n_boot=3, random_state=0, output=k) for k in ("pandas", "polars", "default")}
    assert isinstance(kinds["pandas"], pd.DataFrame)
    assert isinstance(kinds["polars"], pl.DataFrame)
    for name in COLUMNS:
        want = kinds["default"][name]
        assert_array_equal(np.asarray(kinds["pandas"][name]), want)
        assert_array_equal(np.asarray(kinds["polars"][name]), want)
    with pytest.raises(ValueError, match="output='arrow' is not understood"):
        leaderboard(SVM, pairs, y, output="arrow")


def test_a_weighted_leaderboard_sums_weights():
    """Merged votes show the counts of single votes."""
    pairs, y = Pairs.from_frame(ballot(n=80), left="l", right="r", winner="w")
    single = leaderboard(SVM, pairs, y, n_boot=2, random_state=0).set_index("item").sort_index()
    merged, y, weight = pairs.aggregate(y)
    have = leaderboard(SVM, merged, y, sample_weight=weight, n_boot=2, random_state=0).set_index("item").sort_index()
    for name in ("wins", "ties", "losses", "comparisons"):
        assert_array_equal(have[name], single[name])
    assert_allclose(have["utility"], single["utility"], atol=1e-3)


def test_items_that_no_vote_connects_are_named():
    """Two groups: a warning says which, and the column tells them apart; features connect them."""
    votes = pd.DataFrame({"l": ["a", "a", "b", "x"], "r": ["b", "c", "c", "y"], "w": ["a", "a", "tie", "x"]})
    pairs, y = Pairs.from_frame(votes, left="l", right="r", winner="w")
    with pytest.warns(DisconnectedWarning, match=r"2 groups that no vote connects \(a, b, c; x, y\)"):
        table = leaderboard(SVM, pairs, y, n_boot=2, random_state=0)
    component = dict(zip(table["item"], table["component"], strict=True))
    assert component == {"a": 0, "b": 0, "c": 0, "x": 1, "y": 1}
    assert np.all(np.isfinite(table["utility"]))  # a and x won everything
    featured = Pairs(np.arange(5.0)[:, None], pairs.index)
    assert leaderboard(SVM, featured, y, n_boot=2, random_state=0)["component"].nunique() == 2


# The next question --------------------------------------------------------------------------------


def naive_greedy(F, u, asked, candidates, n, C, link):
    """Return the greedy design by inverting the precision of the weights anew for every pair."""
    precision = np.eye(F.shape[1]) / C
    for i, j in asked:
        x = F[i] - F[j]
        precision += link.information(np.array([u[i] - u[j]]))[0] * np.outer(x, x)
    chosen = []
    for _ in range(n):
        gains = {}
        for i, j in set(candidates) - set(chosen):
            x = F[i] - F[j]
            more = precision + link.information(np.array([u[i] - u[j]]))[0] * np.outer(x, x)
            gains[i, j] = np.linalg.slogdet(more)[1] - np.linalg.slogdet(precision)[1]
        i, j = max(gains, key=gains.get)
        x = F[i] - F[j]
        precision = precision + link.information(np.array([u[i] - u[j]]))[0] * np.outer(x, x)
        chosen.append((i, j))
    return chosen


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_suggestions_shrink_the_posterior_most(kernel):
    """The pairs are those of a greedy design written out with determinants, for features and for a kernel."""
    pairs, y = voters(1, 25, n_items=9)
    model = ComparisonSVM(ties="threshold", kernel=kernel, gamma=0.4, C=2.0).fit(pairs, y)
    X = pairs.items
    F = X if kernel == "linear" else np.linalg.cholesky(rbf_kernel(X, gamma=0.4))
    asked = {tuple(sorted(p)) for p in pairs.index.tolist()}
    candidates = [(i, j) for i in range(9) for j in range(i + 1, 9) if (i, j) not in asked]
    link = CumulativeLogit(1.0, np.array([-1, 1]) * model.tie_width_)
    want = naive_greedy(F, model.utility(X), pairs.index, candidates, 5, 2.0, link)
    have = suggest_pairs(model, X, 5, asked=pairs, random_state=0)
    assert [tuple(p) for p in have.tolist()] == want
    merged, _, weight = pairs.aggregate(np.zeros(25, dtype=int))
    once = suggest_pairs(model, X, 5, asked=merged, sample_weight=weight, random_state=0)
    assert_array_equal(once, have)


def test_suggestions_of_a_precomputed_kernel_and_of_a_pipeline_are_those_of_the_kernel():
    """Whatever the model is wrapped in, the same questions come out."""
    pairs, y = voters(2, 30, n_items=12)
    X = StandardScaler().fit_transform(pairs.items)
    options = {"ties": "threshold", "gamma": 0.4}
    model = ComparisonSVM(kernel="rbf", **options).fit(Pairs(X, pairs.index), y)
    want = suggest_pairs(model, X, 4, asked=pairs, random_state=0)
    K = rbf_kernel(X, gamma=0.4)
    given = ComparisonSVM(kernel="precomputed", **options).fit(Pairs(K, pairs.index), y)
    assert_array_equal(suggest_pairs(given, K, 4, asked=pairs.index, random_state=0), want)
    pipe = make_pipeline(OnItems(StandardScaler()), ComparisonSVM(kernel="rbf", **options)).fit(pairs, y)
    assert_array_equal(suggest_pairs(pipe, pairs.items, 4, asked=pairs, random_state=0), want)
    chosen = ComparisonSVMCV([1.0], cv=2, kernel="rbf", **options).fit(Pairs(X, pairs.index), y)
    assert_array_equal(suggest_pairs(chosen, X, 4, asked=pairs, random_state=0), want)
    calibrated = CalibratedComparison(pipe, cv=2).fit(pairs, y)
    assert suggest_pairs(calibrated, pairs.items, 4, asked=pairs, random_state=0).shape == (4, 2)


def test_questions_are_new_and_repeatable():
    """Pairs that were asked are left out, in either direction, unless repeats are wanted; a seed fixes the rest."""
    pairs, y = voters(3, 20, n_items=6)
    model = ComparisonSVM(ties="threshold").fit(pairs, y)
    asked = {frozenset(p) for p in pairs.index.tolist()}
    every = suggest_pairs(model, pairs.items, 100, asked=pairs, random_state=0)
    assert len(every) == 15 - len(asked)
    assert not asked & {frozenset(p) for p in every.tolist()}
    assert_array_equal(every, suggest_pairs(model, pairs.items, 100, asked=pairs, random_state=0))
    again = suggest_pairs(model, pairs.items, 100, asked=pairs, repeat=True, random_state=0)
    assert len({frozenset(p) for p in again.tolist()}) == 15
    few = suggest_pairs(model, pairs.items, 3, candidates=[(5, 0), (0, 5), (1, 1), (2, 3)], random_state=0)
    assert {frozenset(p) for p in few.tolist()} == {frozenset((0, 5)), frozenset((2, 3))}
    with pytest.raises(ValueError, match="no pair is left to ask"):
        suggest_pairs(model, pairs.items, asked=np.column_stack(np.triu_indices(6, 1)))
    with pytest.raises(ValueError, match=r"asked has 6 items and items 3"):
        suggest_pairs(model, pairs.items[:3], asked=pairs)
    with pytest.raises(ValueError, match="there is one item, and no pair to ask"):
        suggest_pairs(model, pairs.items[:1])
    with pytest.raises(TypeError, match=r"pass pairs\.items, and asked=pairs"):
        suggest_pairs(model, pairs)
    with pytest.raises(TypeError, match="StandardScaler has no utility"):
        suggest_pairs(StandardScaler(), pairs.items)


def test_many_items_are_sampled():
    """More pairs than `max_candidates` are looked at through a random sample of different pairs."""
    pairs, y = voters(4, 50, n_items=2000)
    model = ComparisonSVM(ties="threshold").fit(pairs, y)
    found = suggest_pairs(model, pairs.items, 20, asked=pairs, max_candidates=500, random_state=0)
    assert len({frozenset(p) for p in found.tolist()}) == 20
    assert np.all(found[:, 0] != found[:, 1])


def test_suggested_pairs_teach_more_than_random_ones():
    """The benchmark at a small size: after 50 votes the gain is three standard errors above zero."""
    found = compare("features", n_repeats=12, n_rounds=5, strategies=("random", "suggested"))
    gain = (found["suggested"] - found["random"])[:, -1]
    assert gain.mean() > 3 * gain.std(ddof=1) / np.sqrt(gain.size)
