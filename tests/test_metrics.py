import copy
import itertools
import pickle
import time

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import kendalltau
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import UndefinedMetricWarning

from widemargin import metrics

ALL_QID = (
    metrics.concordance,
    metrics.kendall_tau,
    metrics.pref_risk_utility,
    metrics.pref_risk_ranks,
    metrics.ndcg_score,
    metrics.map_score,
    metrics.mrr_score,
    metrics.top1_risk,
)


@st.composite
def graded(draw, least=1):
    """Draw small integers, so that ties happen: grades, utilities, string query ids, integer weights."""
    n = draw(st.integers(least, 14))
    column = lambda values: draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))  # noqa: E731
    y, u, w = (np.array(column(range(k))) for k in (4, 5, 3))
    return y, u, np.array(column(["q", "a", "zz"])), w


def double_loop(y, u, qid, w):
    """Return the weights of right, tied and all pairs (i, j) with y_i > y_j, written out."""
    right = tied = total = 0
    for i, j in itertools.product(range(len(y)), repeat=2):
        if qid[i] == qid[j] and y[i] > y[j]:
            total += w[i] * w[j]
            right += w[i] * w[j] * (u[i] > u[j])
            tied += w[i] * w[j] * (u[i] == u[j])
    return right, tied, total


def per_query(metric, y, u, qid):
    """Return the mean of a one-query metric over the queries that have a relevant document."""
    rows = [qid == q for q in np.unique(qid)]
    return np.mean([metric(y[r], u[r]) for r in rows if y[r].max() > 0])


@given(graded())
def test_pair_metrics_equal_the_double_loop(case):
    """Concordance and the preference risks are what the written-out pairs give, with weights and queries."""
    y, u, qid, w = case
    right, tied, total = double_loop(y, u, qid, w)
    assume(total > 0)
    options = {"qid": qid, "sample_weight": w}
    assert metrics.concordance(y, u, **options) == pytest.approx((right + tied / 2) / total)
    assert metrics.pref_risk_utility(y, u, **options) == pytest.approx(1 - right / total)
    assert metrics.pref_risk_ranks(y, u, **options) == pytest.approx(1 - right / total)
    every = sum(w[qid == q].sum() ** 2 for q in np.unique(qid))
    assert metrics.pref_risk_all_pairs(y, u, **options) == pytest.approx(2 * (total - right) / every)


@given(graded())
def test_unweighted_counts_are_exact(case):
    """Without weights everything is integer arithmetic: equality, not closeness."""
    y, u, qid, _ = case
    right, tied, total = double_loop(y, u, qid, np.ones(len(y), int))
    assume(total > 0)
    assert metrics.concordance(y, u, qid=qid) == (right + tied / 2) / total
    assert metrics.pref_risk_utility(y, u, qid=qid) == (total - right) / total


@given(graded(), st.randoms(use_true_random=False))
def test_pair_metrics_ignore_the_order_of_rows(case, random):
    """A permutation of the rows, ids included, changes nothing."""
    y, u, qid, _ = case
    p = random.sample(range(len(y)), len(y))
    assume(double_loop(y, u, qid, np.ones(len(y)))[2] > 0)
    for metric in (metrics.concordance, metrics.kendall_tau, metrics.pref_risk_ranks):
        assert metric(y, u, qid=qid) == pytest.approx(metric(y[p], u[p], qid=qid[p]))
    assume(y.max() > 0)
    for metric in (metrics.ndcg_score, metrics.map_score, metrics.mrr_score):
        assert metric(y, u, qid=qid) == pytest.approx(metric(y[p], u[p], qid=qid[p]))


@given(graded(least=2))
def test_weight_two_is_the_row_twice(case):
    """Integer weights are repetitions: rows of one grade are never compared with their copies."""
    y, u, qid, w = case
    assume(double_loop(y, u, qid, w)[2] > 0)
    again = np.repeat(np.arange(len(y)), w)
    have = metrics.concordance(y, u, qid=qid, sample_weight=w)
    assert have == pytest.approx(metrics.concordance(y[again], u[again], qid=qid[again]))


def test_the_tutorials_example_has_two_numbers():
    """004: the order (3, 2, 1, 4, 5) for (1, 2, 3, 4, 5) has 7 of 10 pairs right, and tau is 0.4."""
    y, u = [5, 4, 3, 2, 1], [3, 4, 5, 2, 1]
    assert metrics.concordance(y, u) == 0.7
    assert metrics.kendall_tau(y, u) == pytest.approx(0.4)


def test_two_grades_give_the_area_under_the_curve():
    """For binary y the share of concordant pairs is scikit-learn's ROC AUC, weights included."""
    rng = np.random.default_rng(0)
    y, u, w = rng.integers(0, 2, 60), rng.integers(0, 9, 60), rng.random(60)
    want = sklearn.metrics.roc_auc_score(y, u, sample_weight=w)
    assert metrics.concordance(y, u, sample_weight=w) == pytest.approx(want)


def test_constant_utilities_are_half_concordant_and_wholly_wrong():
    """Ties count one half as concordance, and as whole errors in the risks, which ask for strict order."""
    y, u = [0, 1, 2], [5, 5, 5]
    assert metrics.concordance(y, u) == 0.5
    assert metrics.pref_risk_utility(y, u) == metrics.pref_risk_ranks(y, u) == 1.0
    assert metrics.kendall_tau(y, u) == 0.0


@given(graded())
def test_theorem_1_holds_for_ordered_pairs(case):
    """000: l^2/t times the risk over all pairs is the 0-1 risk of S'; with 2-sets it is off by exactly 2."""
    y, y_pred, _, _ = case
    pairs = [(i, j) for i, j in itertools.product(range(len(y)), repeat=2) if y[i] != y[j]]
    assume(pairs)
    wrong = [np.sign(y_pred[i] - y_pred[j]) != np.sign(y[i] - y[j]) for i, j in pairs]
    n_sets = len(pairs) // 2
    risk = metrics.pref_risk_all_pairs(y, y_pred)
    assert len(y) ** 2 / len(pairs) * risk == pytest.approx(np.mean(wrong))
    assert len(y) ** 2 / n_sets * risk == pytest.approx(2 * np.mean(wrong))
    assert metrics.pref_risk_ranks(y, y_pred) == pytest.approx(np.mean(wrong))


def test_ranks_may_be_strings_with_an_order():
    """`labels` gives the order, worst first; without it strings are refused, with it unknown ones are."""
    y, y_pred, labels = ["bad", "good", "fair"], ["bad", "fair", "fair"], ["bad", "fair", "good"]
    assert metrics.pref_risk_ranks(y, y_pred, labels=labels) == pytest.approx(1 / 3)
    assert metrics.pref_risk_all_pairs(y, y_pred, labels=labels) == pytest.approx(2 / 9)
    assert metrics.mean_absolute_error(y, y_pred, labels=labels) == pytest.approx(1 / 3)
    assert metrics.quadratic_weighted_kappa(y, y, labels=labels) == 1.0
    with pytest.raises(ValueError, match="pass labels="):
        metrics.pref_risk_ranks(y, y_pred)
    with pytest.raises(ValueError, match=r"lacks \{'good'\}"):
        metrics.mean_absolute_error(y, y_pred, labels=["bad", "fair"])


@given(graded())
def test_kendall_tau_is_the_mean_of_scipys(case):
    """Per query SciPy's tau-b; queries of one grade are left out, constant utilities count 0."""
    y, u, qid, _ = case
    rows = [qid == q for q in np.unique(qid) if np.ptp(y[qid == q])]
    assume(rows)
    want = [kendalltau(y[r], u[r]).statistic if np.ptp(u[r]) else 0.0 for r in rows]
    assert metrics.kendall_tau(y, u, qid=qid) == pytest.approx(np.mean(want))


@given(graded(least=2), st.sampled_from([None, 1, 2, 5, 100]))
def test_ndcg_is_scikit_learns_on_the_gains(case, k):
    """scikit-learn's NDCG of 2^y - 1, ties averaged, per query of two or more documents."""
    y, u, qid, _ = case
    assume(y.max() > 0)

    def one(y, u):
        return sklearn.metrics.ndcg_score([2.0**y - 1], [u], k=k) if len(y) > 1 else 1.0

    assert metrics.ndcg_score(y, u, qid=qid, k=k) == pytest.approx(per_query(one, y, u, qid))


def test_ndcg_of_tied_documents_is_the_mean_over_their_orders():
    """Ties are averaged exactly, not broken."""
    y, u = np.array([3, 0, 1, 2]), np.array([1.0, 1.0, 1.0, 0.0])
    orders = [metrics.ndcg_score(y, u + np.append(e, 0)) for e in itertools.permutations([0.1, 0.2, 0.3])]
    assert metrics.ndcg_score(y, u) == pytest.approx(np.mean(orders))


@given(graded())
def test_map_is_scikit_learns_average_precision(case):
    """The mean of average_precision_score of y > 0 over the queries with a relevant document."""
    y, u, qid, _ = case
    assume(y.max() > 0)
    want = per_query(lambda y, u: sklearn.metrics.average_precision_score(y > 0, u), y, u, qid)
    assert metrics.map_score(y, u, qid=qid) == pytest.approx(want)


@given(graded())
def test_mrr_puts_irrelevant_documents_first_among_ties(case):
    """The reciprocal place of the first relevant document in the least favourable order of ties."""
    y, u, qid, _ = case
    assume(y.max() > 0)

    def one(y, u):
        return 1.0 / (1 + np.argmax((y > 0)[np.lexsort((y > 0, -u))]))

    assert metrics.mrr_score(y, u, qid=qid) == pytest.approx(per_query(one, y, u, qid))


@pytest.mark.parametrize("metric", [metrics.ndcg_score, metrics.map_score, metrics.mrr_score])
def test_list_metrics_leave_out_all_zero_queries(metric):
    """One relevant document scores 1; all-zero queries of any length are left out, and alone they are nan."""
    assert metric([2], [0.3]) == 1.0
    assert metric([2, 0, 0, 0], [0.3, 0.1, 0.2, 0.9], qid=["a", "b", "b", "c"]) == 1.0
    with pytest.warns(UndefinedMetricWarning, match="undefined"):
        assert np.isnan(metric([0, 0], [1, 2]))


@given(graded())
def test_top1_risk_equals_the_loop(case):
    """The first row of largest utility is right if it has the largest y; sets of one y are left out."""
    y, u, qid, w = case
    rows = [np.flatnonzero(qid == q) for q in np.unique(qid) if np.ptp(y[qid == q])]
    stakes = [w[r][y[r] == y[r].max()].mean() for r in rows]
    assume(sum(stakes) > 0)
    missed = [y[r[np.argmax(u[r])]] < y[r].max() for r in rows]
    assert metrics.top1_risk(y, u, qid=qid) == pytest.approx(np.mean(missed))
    have = metrics.top1_risk(y, u, qid=qid, sample_weight=w)
    assert have == pytest.approx(np.average(missed, weights=stakes))


def test_top1_ties_go_to_the_first_row():
    """The documented rule, for better or worse."""
    assert metrics.top1_risk([1, 0], [7, 7], qid=[3, 3]) == 0.0
    assert metrics.top1_risk([0, 1], [7, 7], qid=None) == 1.0


@given(st.lists(st.tuples(st.sampled_from([-1, 0, 1]), st.integers(-3, 3), st.integers(0, 2)), min_size=2))
def test_comparison_auc_equals_the_double_loop(case):
    """The formula over each inequality and each tie, weights included."""
    y, s, w = np.array(case).T
    won, tie = np.flatnonzero(y), np.flatnonzero(y == 0)
    whole = w[won].sum() * w[tie].sum()
    assume(whole > 0)
    credit = 0.0
    for i, j in itertools.product(won, tie):
        bar = abs(s[j])
        credit += w[i] * w[j] * ((y[i] * s[i] > bar) + 0.5 * (y[i] * s[i] == bar > 0))
    assert metrics.comparison_auc(y, s, sample_weight=w) == pytest.approx(credit / whole)


def test_comparison_auc_of_random_scores_is_a_quarter():
    """Half of the signs are wrong, and half of the rest do not stand out from the ties."""
    rng = np.random.default_rng(0)
    y, s = rng.integers(-1, 2, 200_000), rng.normal(size=200_000)
    assert metrics.comparison_auc(y, s) == pytest.approx(0.25, abs=0.003)


def test_comparison_auc_gives_nothing_for_zero_scores():
    """An all-zero scorer must not win a selection; a perfect one gets 1, and its negative 0."""
    y = np.array([1, -1, 0, 0])
    assert metrics.comparison_auc(y, np.zeros(4)) == 0.0
    assert metrics.comparison_auc(y, [2.0, -2.0, 0.5, -0.5]) == 1.0
    assert metrics.comparison_auc(y, [-2.0, 2.0, 0.5, -0.5]) == 0.0


@pytest.mark.parametrize("y", [[1, -1, 1], [0, 0, 0]])
def test_comparison_auc_needs_both_kinds(y):
    """Without ties, or without inequalities, there is no curve."""
    with pytest.warns(UndefinedMetricWarning, match="comparison_auc"):
        assert np.isnan(metrics.comparison_auc(y, [1.0, 2.0, 3.0]))


def test_comparison_zero_one_loss_counts_every_error_alike():
    """A tie taken for a win is as wrong as a win taken for a loss."""
    y, y_pred = [1, 0, -1, 1], [1, 1, 1, 1]
    assert metrics.comparison_zero_one_loss(y, y_pred) == 0.5
    assert metrics.comparison_zero_one_loss(y, y_pred, sample_weight=[1, 2, 0, 1]) == 0.5
    with pytest.raises(ValueError, match=r"y_pred holds .*expected only \+1"):
        metrics.comparison_zero_one_loss(y, [1, 2, 0, 1])


@given(graded())
def test_ordinal_errors_are_scikit_learns(case):
    """MAE and quadratic kappa agree with scikit-learn, and kappa is nan for one rank."""
    y, y_pred, _, w = case
    assume(w.sum() > 0)
    want = sklearn.metrics.mean_absolute_error(y, y_pred, sample_weight=w)
    assert metrics.mean_absolute_error(y, y_pred, sample_weight=w) == pytest.approx(want)
    assume(np.unique(np.append(y, y_pred)).size > 1)
    want = sklearn.metrics.cohen_kappa_score(y, y_pred, weights="quadratic")
    assert metrics.quadratic_weighted_kappa(y, y_pred) == pytest.approx(want)


def test_kappa_knows_missing_ranks_only_from_labels():
    """Across a rank that never occurs the step is 1 without `labels` and 2 with it."""
    y, y_pred = [1, 2, 4, 4], [1, 4, 4, 2]
    want = sklearn.metrics.cohen_kappa_score(y, y_pred, labels=[1, 2, 3, 4], weights="quadratic")
    assert metrics.quadratic_weighted_kappa(y, y_pred, labels=[1, 2, 3, 4]) == pytest.approx(want)
    assert metrics.quadratic_weighted_kappa(y, y_pred) != pytest.approx(want)
    with pytest.warns(UndefinedMetricWarning, match="kappa"):
        assert np.isnan(metrics.quadratic_weighted_kappa([2, 2], [2, 2]))


@pytest.mark.parametrize("metric", ALL_QID[:4] + ALL_QID[-1:])
def test_nothing_to_compare_is_nan_with_a_warning(metric):
    """One row, one grade per query: no pair exists."""
    for y, qid in (([1], ["a"]), ([1, 2], ["a", "b"]), ([3, 3], ["a", "a"])):
        with pytest.warns(UndefinedMetricWarning, match=f"{metric.__name__} is undefined"):
            assert np.isnan(metric(y, np.arange(len(y)), qid=qid))


def test_no_pair_of_positive_weight_is_undefined():
    """Weights may remove all pairs."""
    with pytest.warns(UndefinedMetricWarning, match="positive weight"):
        assert np.isnan(metrics.concordance([0, 1], [0, 1], sample_weight=[0, 1]))
    assert metrics.pref_risk_all_pairs([2, 2], [1, 2]) == 0.0


@pytest.mark.parametrize("metric", ALL_QID)
@pytest.mark.parametrize(
    "qid",
    [
        ["b", "a", "b", "a", "b"],
        np.array(["b", "a", "b", "a", "b"]),
        [2.5, -1.0, 2.5, -1.0, 2.5],
        [("x", 2), ("x", 1), ("x", 2), ("x", 1), ("x", 2)],
        [1, "1", 1, "1", 1],
        np.array(["2020-01-02", "2020-01-01"] * 2 + ["2020-01-02"], dtype="datetime64[D]"),
        np.array([True, False, True, False, True]),
    ],
)
def test_any_hashable_is_a_query_id(metric, qid):
    """Ids of every kind give what the codes 1 and 0 give, in any order of rows."""
    y, u = [2, 0, 1, 1, 0], [0.5, 0.1, 0.7, 0.2, 0.7]
    assert metric(y, u, qid=qid) == metric(y, u, qid=np.array([1, 0, 1, 0, 1]))


@pytest.mark.parametrize("metric", ALL_QID)
def test_bad_input_is_named(metric):
    """Wrong lengths, missing ids, nan and strings: each error names the parameter."""
    y, u = [2, 0, 1], [0.5, 0.1, 0.7]
    for qid, match in (([1, 2], r"qid has shape \(2,\), expected \(3,\)"), ([1, None, 1], "missing")):
        with pytest.raises(ValueError, match=match):
            metric(y, u, qid=qid)
    with pytest.raises(ValueError, match="qid has missing values"):
        metric(y, u, qid=np.array([1.0, np.nan, 1.0]))
    with pytest.raises(ValueError, match="2 entries but y has 3"):
        metric(y, u[:2], qid=None)
    with pytest.raises(ValueError, match="NaN"):
        metric(y, [0.5, np.nan, 0.7], qid=None)
    with pytest.raises(ValueError, match="strings"):
        metric(["a", "b", "c"], u, qid=None)


def test_bad_weights_grades_and_k_are_named():
    """Negative or all-zero weights, grades without a gain, k = 0."""
    for weight in ([1, -1], [0, 0], [1, 1, 1]):
        with pytest.raises(ValueError, match="sample_weight has"):
            metrics.concordance([0, 1], [0, 1], sample_weight=weight)
    for y in ([-1, 1], [0, 2000]):
        with pytest.raises(ValueError, match="expected grades from 0 to 1000"):
            metrics.ndcg_score(y, [0, 1])
    with pytest.raises(ValueError, match="k == 0"):
        metrics.ndcg_score([0, 1], [0, 1], k=0)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.bool_, np.float32])
def test_small_dtypes_do_not_overflow(dtype):
    """Grades and utilities of any numeric type give the float64 answer."""
    y, u = np.array([0, 1, 1, 0, 1]), np.array([0, 1, 0, 1, 1])
    for metric in ALL_QID:
        assert metric(y.astype(dtype), u.astype(dtype), qid=None) == metric(y, u, qid=None)


def test_counting_is_fast_and_does_not_overflow():
    """1e5 rows, 5e9 pairs: past 2^31, in seconds, and exact."""
    n, began = 100_000, time.perf_counter()
    y = np.arange(n)
    assert metrics.concordance(y, y) == 1.0
    assert metrics.pref_risk_ranks(y, -y) == 1.0
    swapped = y.copy()
    swapped[[0, 1]] = 1, 0
    assert metrics.pref_risk_utility(y, swapped) == 1 / (n * (n - 1) // 2)
    assert time.perf_counter() - began < 10


class Given(BaseEstimator):
    """Predict the first column, decide by the second."""

    def fit(self, X, y):  # noqa: ARG002
        """Do nothing."""
        return self

    def predict(self, X):
        """Return the first column."""
        return X[:, 0]

    def decision_function(self, X):
        """Return the second column."""
        return X[:, 1]


class GivenClassifier(ClassifierMixin, Given):
    """The same with classes, whose order scikit-learn looks at."""

    classes_ = np.array([-1, 1])


SCORERS = {
    metrics.concordance_scorer: (metrics.concordance, 1),
    metrics.kendall_tau_scorer: (metrics.kendall_tau, 1),
    metrics.ndcg_scorer: (metrics.ndcg_score, 1),
    metrics.map_scorer: (metrics.map_score, 1),
    metrics.mrr_scorer: (metrics.mrr_score, 1),
    metrics.neg_top1_risk_scorer: (metrics.top1_risk, -1),
    metrics.neg_pref_risk_ranks_scorer: (metrics.pref_risk_ranks, -1),
    metrics.neg_pref_risk_all_pairs_scorer: (metrics.pref_risk_all_pairs, -1),
    metrics.neg_pref_risk_utility_scorer: (metrics.pref_risk_utility, -1),
}


@pytest.mark.parametrize("scorer", SCORERS)
def test_scorers_request_and_use_qid(scorer):
    """Built with routing off, a scorer still requests qid, also as a copy, and scores `predict` within it."""
    metric, sign = SCORERS[scorer]
    X, y, qid = np.array([[3.0, 0], [1, 0], [2, 0], [4, 0], [4, 0]]), np.array([1, 0, 2, 0, 1]), list("aabba")
    for same in (scorer, copy.deepcopy(scorer), pickle.loads(pickle.dumps(scorer))):  # noqa: S301
        assert same.get_metadata_routing().score.requests == {"qid": True}
        with config_context(enable_metadata_routing=True):
            assert same(Given(), X, y, qid=qid) == sign * metric(y, X[:, 0], qid=qid)


def test_scorers_of_pairs_and_labels():
    """The AUC reads `decision_function`, label losses read `predict`; errors are negated."""
    X, y = np.array([[1, 2.0], [0, 0.5], [1, -3], [0, 1]]), np.array([1, 0, -1, 0])
    predicted = {"y": y, "y_pred": X[:, 0]}
    for estimator in (Given(), GivenClassifier()):
        assert metrics.comparison_auc_scorer(estimator, X, y) == 1.0 == metrics.comparison_auc(y, X[:, 1])
    assert metrics.neg_comparison_zero_one_loss_scorer(Given(), X, y) == -0.25
    assert metrics.neg_mean_absolute_error_scorer(Given(), X, y) == -0.5
    kappa = metrics.quadratic_weighted_kappa(**predicted)
    assert metrics.quadratic_weighted_kappa_scorer(Given(), X, y) == kappa


@pytest.mark.parametrize(
    ("metric", "options"),
    [
        (metrics.concordance, {}),
        (metrics.kendall_tau, {}),
        (metrics.ndcg_score, {"k": 3}),
        (metrics.map_score, {}),
        (metrics.mrr_score, {}),
        (metrics.top1_risk, {}),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_by_query_is_the_metric_of_each_querys_rows(metric, options):
    """One pass over all queries, in any order of rows, single rows and undefined queries included."""
    rng = np.random.default_rng(0)
    qid = rng.permutation(np.repeat([f"q{i:02d}" for i in range(25)], rng.integers(1, 9, 25)))
    y, u = rng.integers(0, 3, qid.size), np.round(rng.normal(size=qid.size), 1)
    ids, values = metrics.by_query(metric, y, u, qid=qid, **options)
    assert list(ids) == sorted(set(qid))
    alone = [metric(y[qid == q], u[qid == q], **options) for q in ids]
    assert np.isnan(alone).any()
    np.testing.assert_allclose(values, alone, rtol=1e-14)


def test_by_query_names_the_metrics_it_knows():
    """A metric that is no mean over queries is refused by name."""
    with pytest.raises(ValueError, match="mrr_score"):
        metrics.by_query(metrics.comparison_auc, [1, 0], [1.0, 0.0], qid=[0, 0])
