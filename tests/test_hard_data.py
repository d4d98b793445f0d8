"""Hard data: the right model, a warning with advice, or an error that says what, got, expected and what to do.

Each test holds one row of docs/hard_data.md.
"""

import re
import time
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning
from sklearn.preprocessing import StandardScaler

import generators
from widemargin import (
    CollapseWarning,
    ComparisonSVM,
    ConeWarning,
    MarginClassifier,
    MarginRegressor,
    NoComparisonsError,
    OrdinalSVM,
    Pairs,
    RankingSVM,
    RankingVectorMachine,
    TopRankSVM,
)

RANKERS = [RankingSVM, RankingVectorMachine, TopRankSVM]
ITEMWISE = [MarginClassifier, MarginRegressor, OrdinalSVM, *RANKERS]
TWO_NORM = [MarginClassifier, MarginRegressor, OrdinalSVM, RankingSVM, TopRankSVM]
ALL = [*ITEMWISE, ComparisonSVM]
X3, Y3 = np.array([[1.0], [3.0], [4.0]]), np.array([1, 2, 3])
LINE = np.array([[0.0], [1.0], [3.0]])
MET = [(1, 0), (2, 1), (0, 2)]  # pairs over LINE; with y = 1, 1, -1 larger is better


def fit(cls, X=X3, y=Y3, **params):
    """Fit any estimator on items; for pairs each item meets the next, and y says who won."""
    weight = {k: params.pop(k) for k in ("sample_weight",) if k in params}
    if cls is ComparisonSVM:
        n = len(X)
        index = np.column_stack([np.arange(n), (np.arange(n) + 1) % n])
        outcome = np.sign(np.subtract(*(np.asarray(y)[i] for i in index.T))) if len(y) == n else y
        return cls(**params).fit(Pairs(X, index), outcome, **weight)
    return cls(**params).fit(X, y, **weight)


def fit_line(y, **params):
    """Fit a comparison machine on three pairs of a line."""
    return ComparisonSVM(**params).fit(Pairs(LINE, MET), y)


def ids(cls):
    """Name a test after its estimator."""
    return cls.__name__ if isinstance(cls, type) else None


def caught(action):
    """Run, and return the result with the warnings it gave."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        result = action()
    return result, given


# Too little to compare ----------------------------------------------------------------------------


@pytest.mark.parametrize("cls", RANKERS, ids=ids)
def test_equal_grades_are_nothing_to_compare(cls):
    """All y equal: a NoComparisonsError, which is a ValueError, names the one class."""
    with pytest.raises(NoComparisonsError, match=r"y has one class.*give") as error:
        cls().fit(X3, [2, 2, 2])
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize("cls", [OrdinalSVM, MarginClassifier], ids=ids)
def test_one_label_is_refused(cls):
    """A classifier needs two labels, and says so."""
    with pytest.raises(ValueError, match=r"y has one class \(.*at least two"):
        cls().fit(X3, [2, 2, 2])


def test_equal_targets_give_a_constant():
    """A regression on equal targets is flat, in the middle of the tube."""
    model = MarginRegressor().fit(X3, [2, 2, 2])
    assert_array_equal(model.coef_, [0.0])
    assert_allclose(model.predict(X3), 2.0, atol=1e-12)
    assert model.objective_ == 0
    assert model.duality_gap_ == 0


def test_only_ties_collapse_to_beta_minus_one():
    """All pairs tied: u = 0, beta = -1, tie width 1, always 0, with a CollapseWarning."""
    with pytest.warns(CollapseWarning, match=r"u = 0.*y has only ties.*winner"):
        model = fit_line([0, 0, 0])
    assert_array_equal(model.coef_, [0.0])
    assert (model.intercept_, model.tie_width_) == (-1.0, 1.0)
    assert_array_equal(model.predict(Pairs([[-1e9], [0.0], [1e9]], [(0, 1), (2, 0)])), [0, 0])


@pytest.mark.parametrize("C", [1e-14, 1e-12, 1e-10, 1e-6])
def test_one_winner_among_ties_collapses_at_a_tiny_C_too(C):
    """What rounding leaves of u = 0 is not a model; a model that C alone makes small is one."""
    rng = np.random.default_rng(0)
    items, index = rng.normal(size=(30, 3)), np.column_stack([np.arange(29), np.arange(1, 30)])
    y = np.where(np.arange(29) < 1, 1, 0)
    with pytest.warns(CollapseWarning, match="u = 0"):
        model = ComparisonSVM(C=C).fit(Pairs(items, index), y)
    assert_array_equal(model.coef_, np.zeros(3))
    won = np.sign(np.diff(items[:, 0])).astype(int)
    small = ComparisonSVM(C=C, ties="threshold").fit(Pairs(items, index), -won)
    large = ComparisonSVM(C=1e-4, ties="threshold").fit(Pairs(items, index), -won)
    assert_allclose(small.coef_ / C, large.coef_ / 1e-4, rtol=1e-6)  # every slack is open: u grows with C


def test_only_ties_both_ways_is_flat():
    """Ties entered in both directions, and nothing else, predict 0."""
    with pytest.warns(CollapseWarning, match="u = 0"):
        model = fit_line([0, 0, 0], ties="both_ways")
    assert_array_equal(model.predict(Pairs(LINE, MET)), [0, 0, 0])
    assert model.objective_ == pytest.approx(6.0)  # C (1 + 1) for each of three ties


def test_only_ties_give_a_threshold_nothing_to_order():
    """`ties="threshold"` learns from winners only."""
    with pytest.raises(NoComparisonsError, match=r"only ties.*ties='threshold'.*give pairs with a winner"):
        fit_line([0, 0, 0], ties="threshold")


def test_only_ties_in_the_linear_program_give_margin_one():
    """(7) with ties alone: w = 0 and mu = 1."""
    with pytest.warns(CollapseWarning, match="u = 0"):
        model = fit_line([0, 0, 0], formulation="lp")
    assert_array_equal(model.coef_, [0.0])
    assert model.margin_ == pytest.approx(1.0)
    assert (model.intercept_, model.tie_width_) == (-1.0, 1.0)


def test_no_ties_collapse_to_beta_plus_one():
    """Without ties u = 0 and beta = 1 cost nothing: a CollapseWarning advises `ties="threshold"`."""
    with pytest.warns(CollapseWarning, match=r"y has no ties.*ties='threshold'"):
        model = fit_line([1, 1, -1])
    assert_array_equal(model.coef_, [0.0])
    assert (model.intercept_, model.tie_width_) == (1.0, 0.0)
    assert_array_equal(model.predict(Pairs(LINE, MET)), [0, 0, 0])


def test_no_ties_with_a_threshold_is_the_ranking_machine():
    """Without ties the threshold lies in the middle of the interval below the smallest difference."""
    model = fit_line([1, 1, -1], ties="threshold", C=10, tol=1e-10)
    ranker = RankingSVM(C=10, tol=1e-10).fit(LINE, [0, 1, 2])
    assert_allclose(model.coef_, ranker.coef_, rtol=1e-9)
    assert_array_equal(model.predict(Pairs(LINE, MET)), [1, 1, -1])
    assert model.tie_width_ == pytest.approx(0.5)


def test_no_ties_both_ways_is_the_ranking_machine_with_twice_C():
    """Each winner is entered twice."""
    s = generators.pairs_with_ties(0)
    y = np.where(s.y == 0, 1, s.y)
    twice = ComparisonSVM(C=2.0, ties="threshold", tol=1e-10).fit(Pairs(s.X, s.index), y)
    both = ComparisonSVM(C=1.0, ties="both_ways", tol=1e-10).fit(Pairs(s.X, s.index), y)
    assert_allclose(both.coef_, twice.coef_, rtol=1e-7)
    assert both.objective_ == pytest.approx(twice.objective_, rel=1e-9)


def test_no_ties_make_the_linear_program_unbounded():
    """(7) without ties has no largest margin."""
    with pytest.raises(ValueError, match=r"formulation='lp'.*no ties.*unbounded.*use"):
        fit_line([1, 1, -1], formulation="lp")


@pytest.mark.parametrize("C", [0.05, 1.0, np.inf])
@pytest.mark.parametrize("cls", [RankingSVM, OrdinalSVM, TopRankSVM, ComparisonSVM], ids=ids)
def test_a_single_pair_gives_its_difference(cls, C):
    """The hinge gives w = min(C, 1 / |d|^2) d."""
    d = np.array([2.0, -1.0])
    X = np.array([d + 5, [5.0, 5.0]])
    model = cls(C=C, tol=1e-10, **({"ties": "threshold"} if cls is ComparisonSVM else {}))
    model.fit(*((Pairs(X, [(0, 1)]), [1]) if cls is ComparisonSVM else (X, [1, 0])))
    assert_allclose(model.coef_, min(C, 1 / 5) * d, rtol=1e-8)


@pytest.mark.parametrize("cls", [c for c in ITEMWISE if c is not MarginRegressor], ids=ids)
def test_one_row_is_too_few(cls):
    """One row has nothing to be compared with: a ValueError that says so."""
    with pytest.raises(ValueError, match=r"1 sample|one class"):
        cls().fit([[1.0, 2.0]], [1])


@pytest.mark.parametrize("cls", ALL, ids=ids)
def test_no_row_is_too_few(cls):
    """Empty input: a ValueError that says so."""
    with pytest.raises(ValueError, match=r"0 sample|0 pairs"):
        fit(cls, np.empty((0, 2)), np.empty(0))


@pytest.mark.parametrize("cls", ITEMWISE, ids=ids)
def test_no_column_is_too_few(cls):
    """Rows without features: a ValueError that says so."""
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        cls().fit(np.empty((3, 0)), Y3)


@pytest.mark.parametrize("cls", RANKERS, ids=ids)
def test_one_query_is_no_query(cls):
    """A qid with one value is the model of qid=None."""
    s = generators.ordered_labels(0, gap=1.0)
    want = cls().fit(s.X, s.y)
    assert np.any(want.coef_)
    assert_array_equal(cls().fit(s.X, s.y, qid=["only"] * s.y.size).coef_, want.coef_)


def test_queries_that_compare_nothing_change_nothing():
    """A query of one row and a query of one grade make no pair."""
    s = generators.graded_queries(0)
    extra = np.full((3, 3), 7.0), [0, 2, 2], [901, 902, 902]
    want = RankingSVM(tol=1e-10).fit(s.X, s.y, qid=s.qid)
    model = RankingSVM(tol=1e-10).fit(np.vstack([s.X, extra[0]]), [*s.y, *extra[1]], qid=[*s.qid, *extra[2]])
    assert model.objective_ == pytest.approx(want.objective_, rel=1e-9)
    assert_allclose(model.coef_, want.coef_, rtol=1e-6, atol=1e-9)


def test_queries_that_compare_nothing_may_still_lend_vectors():
    """Every item is a candidate vector of the RVM (102), in a pair or not: more of them can only help."""
    s = generators.graded_queries(0)
    extra = np.full((3, 3), 7.0), [0, 2, 2], [901, 902, 902]
    want = RankingVectorMachine(tol=1e-10).fit(s.X, s.y, qid=s.qid)
    model = RankingVectorMachine(tol=1e-10).fit(np.vstack([s.X, extra[0]]), [*s.y, *extra[1]], qid=[*s.qid, *extra[2]])
    assert model.objective_ <= want.objective_ * (1 + 1e-9)


@pytest.mark.parametrize("cls", [RankingSVM, RankingVectorMachine], ids=ids)
def test_only_queries_that_compare_nothing_are_refused(cls):
    """If every query has one grade there is nothing to learn; qid=None would compare across queries."""
    with pytest.raises(NoComparisonsError, match=r"every one of the 3 queries.*pass qid=None"):
        cls().fit(X3, Y3, qid=[1, 2, 3])


def test_sets_without_a_rejected_row_are_no_task():
    """A set of one row, and a set whose rows are all chosen, are left out; if all are so nothing is left."""
    s = generators.choices(0)
    want = TopRankSVM(tol=1e-10).fit(s.X, s.y, qid=s.qid)
    extra = np.full((3, 3), 7.0)
    model = TopRankSVM(tol=1e-10).fit(np.vstack([s.X, extra]), [*s.y, 1, 1, 1], qid=[*s.qid, 901, 902, 902])
    assert_allclose(model.coef_, want.coef_, rtol=1e-7)
    with pytest.raises(NoComparisonsError, match=r"one class in every set.*give sets with a rejected row"):
        TopRankSVM().fit(X3, [1, 1, 1], qid=[1, 2, 2])


def test_several_chosen_rows_are_each_a_task():
    """Two chosen rows of a set are two tasks against the rest, which copies of the set say as well."""
    X = np.array([[0.0, 1.0], [1.0, 0.5], [0.2, 0.1], [0.4, -0.3]])
    model = TopRankSVM(tol=1e-10).fit(X, [1, 1, 0, 0])
    rows = [0, 2, 3, 1, 2, 3]
    written = TopRankSVM(tol=1e-10).fit(X[rows], [1, 0, 0, 1, 0, 0], qid=[1, 1, 1, 2, 2, 2])
    assert_allclose(model.coef_, written.coef_, rtol=1e-7)
    assert model.objective_ == pytest.approx(written.objective_, rel=1e-9)


@pytest.mark.parametrize("cls", RANKERS, ids=ids)
def test_a_score_of_nothing_is_nan_with_a_warning(cls):
    """Where no pair exists the score is nan, and says why."""
    model = cls().fit(X3, Y3)
    with pytest.warns(UndefinedMetricWarning):
        score = model.score(X3, [1, 1, 1])
    assert np.isnan(score)


@pytest.mark.parametrize("cls", ALL, ids=ids)
def test_rows_of_weight_zero_are_absent_before_anything_else(cls):
    """A wild row of weight zero touches nothing: not the scale, not the classes, not gamma."""
    s = generators.ordered_labels(1)
    X, y = np.vstack([s.X, [[1e3, -1e3, 1e3]]]), np.append(s.y, 9)
    weight = np.append(np.ones(s.y.size), 0.0)
    if cls is ComparisonSVM:
        index = np.vstack([generators.pairs_with_ties(1).index, [(0, s.y.size)]])
        outcome = np.append(generators.pairs_with_ties(1).y, 1)
        weight = np.append(np.ones(index.shape[0] - 1), 0.0)
        want = cls(tol=1e-9).fit(Pairs(X, index[:-1]), outcome[:-1])
        model = cls(tol=1e-9).fit(Pairs(X, index), outcome, sample_weight=weight)
        assert_array_equal(model.coef_, want.coef_)
        return
    want = cls(kernel="rbf", tol=1e-9).fit(s.X, s.y)
    model = cls(kernel="rbf", tol=1e-9).fit(X, y, sample_weight=weight)
    assert_array_equal(model.utility(s.new), want.utility(s.new))
    if hasattr(want, "classes_"):
        assert_array_equal(model.classes_, want.classes_)


# Odd labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("thresholds", ["closest_pair", "fewest_errors"])
def test_a_missing_rank_gets_an_empty_interval(thresholds):
    """A rank that is declared but absent is never predicted, and its neighbours are cut by fewest errors."""
    X, y = [[0.0], [1.0], [5.0], [6.0]], [1, 1, 3, 3]
    model = OrdinalSVM(classes=[1, 2, 3], thresholds=thresholds, C=10).fit(X, y)
    assert_array_equal(model.classes_, [1, 2, 3])
    assert model.thresholds_[0] == model.thresholds_[1]
    assert_array_equal(model.predict(X), y)
    two = OrdinalSVM(C=10, thresholds="fewest_errors").fit(X, y)
    assert model.thresholds_[0] == pytest.approx(two.thresholds_[0])


@pytest.mark.parametrize("absent", [0, 4])
def test_a_missing_rank_at_an_end_is_never_predicted_on_the_data(absent):
    """An absent lowest or highest rank does not disturb the others."""
    X, y = np.array([[0.0], [2.0], [4.0]]), np.array([1, 2, 3])
    model = OrdinalSVM(classes=sorted({*y.tolist(), absent}), C=10).fit(X, y)
    assert_array_equal(model.predict(X), y)
    assert np.all(np.diff(model.thresholds_) >= 0)
    assert np.all(np.isfinite(model.thresholds_))


def test_a_boundary_without_a_kept_margin_is_cut_by_fewest_errors():
    """With a C so small that no pair reaches its margin, (12) has no pair: the fewest errors decide."""
    s = generators.ordered_labels(2)
    models = [OrdinalSVM(C=1e-6, thresholds=how).fit(s.X, s.y) for how in ("closest_pair", "fewest_errors")]
    assert_allclose(models[0].thresholds_, models[1].thresholds_, rtol=1e-9)


def test_thresholds_never_decrease():
    """Labels that contradict the features give pooled thresholds, not reversed ones."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        model = OrdinalSVM().fit(rng.normal(size=(25, 2)), rng.integers(0, 6, 25))
        assert np.all(np.diff(model.thresholds_) >= 0)


def test_unordered_strings_are_refused_with_three_ways_out():
    """Strings have no order unless the user gives one; the alphabet's would be a silent guess."""
    with pytest.raises(ValueError, match=r"y holds strings without an order, such as 'low'.*Pass classes=\["):
        OrdinalSVM().fit(X3, ["low", "mid", "high"])
    unordered = pd.Series(["low", "mid", "high"], dtype="category")
    with pytest.raises(ValueError, match=r"strings without an order"):
        OrdinalSVM().fit(X3, unordered)


ORDERED = {
    "classes": (["low", "mid", "high"], {"classes": ["low", "mid", "high"]}),
    "pandas series": (pd.Series(pd.Categorical(["low", "mid", "high"], ["low", "mid", "high"], ordered=True)), {}),
    "pandas categorical": (pd.Categorical(["low", "mid", "high"], ["low", "mid", "high"], ordered=True), {}),
    "polars enum": (pl.Series(["low", "mid", "high"], dtype=pl.Enum(["low", "mid", "high"])), {}),
    "half stars": ([0.5, 1.5, 2.0], {"classes": [0.5, 1.0, 1.5, 2.0]}),
    "negative": ([-2.0, 0.0, 7.0], {}),
    "bools": ([False, False, True], {}),
}


@pytest.mark.parametrize("kind", ORDERED)
def test_ordered_labels_of_any_kind_are_taken_in_their_order(kind):
    """Numbers, ordered categoricals, Enums, or any labels with `classes=`."""
    y, params = ORDERED[kind]
    model = OrdinalSVM(C=10, **params).fit(X3, y)
    assert model.coef_[0] > 0
    assert model.predict(X3).tolist() == list(y)


def test_a_label_outside_classes_is_named():
    """`classes=` is the whole list."""
    with pytest.raises(ValueError, match=r"y has the label 3, which is not among the classes \[1, 2\]; add it"):
        OrdinalSVM(classes=[1, 2]).fit(X3, Y3)
    with pytest.raises(ValueError, match=r"classes=.*names a label twice"):
        OrdinalSVM(classes=[1, 1, 2, 3]).fit(X3, Y3)


def test_strings_are_classes_in_sorted_order():
    """A classifier takes strings as scikit-learn does."""
    model = MarginClassifier(C=10).fit(X3, ["no", "yes", "yes"])
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.predict(X3).tolist() == ["no", "yes", "yes"]


@pytest.mark.parametrize("cls", [*RANKERS, MarginRegressor], ids=ids)
def test_strings_are_no_grades(cls):
    """Rankers and the regressor need numbers: the error names y, and shows what it got."""
    with pytest.raises(ValueError, match=r"\by\b.*'a'"):
        cls().fit(X3, ["a", "b", "c"])


@pytest.mark.parametrize("y", [[2, 0, 1], [0.5, 1, 0], ["left", "right", "tie"], [True, False, None]])
def test_pair_labels_are_plus_one_zero_minus_one(y):
    """Anything else is refused, and the three are named."""
    with pytest.raises(ValueError, match=r"y has the value .*expected \+1 \(first preferred\), 0 .* and -1"):
        fit_line(y)


def test_a_bad_pair_label_is_the_one_that_is_shown():
    """The message shows a value that is wrong, not the first of all."""
    with pytest.raises(ValueError, match=r"y has the value 7;"):
        fit_line([1, 0, 7])


def test_equal_grades_within_a_query_are_data():
    """Ties in y make no pair, whatever the order of the rows: nothing is broken at random."""
    X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])
    model = RankingSVM(C=10, tol=1e-10).fit(X, [0, 0, 1])
    again = RankingSVM(C=10, tol=1e-10).fit(X[[1, 0, 2]], [0, 0, 1])
    assert_allclose(model.coef_, again.coef_, rtol=1e-9)
    u = model.utility(X)
    assert u[2] - u[:2].max() >= 1 - 1e-8


# Degenerate features ------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [*TWO_NORM, RankingVectorMachine], ids=ids)
def test_duplicate_rows_are_rows_of_summed_weight(cls):
    """Every row three times is every row with weight three."""
    s = generators.ordered_labels(4, n=12)
    y = (s.y > 2).astype(int) if cls is MarginClassifier else s.y
    tripled = cls(tol=1e-10).fit(np.tile(s.X, (3, 1)), np.tile(y, 3))
    weighted = cls(tol=1e-10).fit(s.X, y, sample_weight=np.full(12, 3.0))
    assert tripled.objective_ == pytest.approx(weighted.objective_, rel=1e-8)
    assert_allclose(tripled.coef_, weighted.coef_, rtol=1e-6, atol=1e-8)


def test_contradictory_rows_cost_their_slack():
    """The same x with two grades costs C, whatever w; with C=inf there is no model."""
    X, y = np.array([[0.0], [0.0], [4.0]]), [0, 1, 1]
    model = RankingSVM(C=3.0, tol=1e-10).fit(X, y)
    assert model.objective_ == pytest.approx(3.0 + 0.5 / 16)
    assert model.coef_ == pytest.approx([0.25])
    with pytest.raises(ValueError, match=r"C=inf.*use a finite C"):
        RankingSVM(C=np.inf).fit(X, y)


@pytest.mark.parametrize("cls", ALL, ids=ids)
def test_a_constant_feature_gets_no_weight(cls):
    """It cancels in differences, or against the free bias."""
    s = generators.ordered_labels(4)
    y = (s.y > 2).astype(int) if cls is MarginClassifier else s.y
    X = np.column_stack([s.X, np.full(s.y.size, 100.0)])
    params = {"C": 0.5, "tol": 1e-10, **({"ties": "threshold"} if cls is ComparisonSVM else {})}
    model, want = fit(cls, X, y, **params), fit(cls, s.X, y, **params)
    if cls is RankingVectorMachine:  # its weights are sums of items: what is constant is in all of them
        assert_allclose(np.diff(model.utility(X)), np.diff(X[:, :3] @ model.coef_[:3]), atol=1e-8)
        return
    assert abs(model.coef_[3]) <= 1e-9 * np.abs(model.coef_).max()
    assert_allclose(model.coef_[:3], want.coef_, rtol=1e-6)


@pytest.mark.parametrize("cls", [OrdinalSVM, RankingSVM, TopRankSVM], ids=ids)
def test_constant_features_alone_collapse(cls):
    """All items equal: w = 0, and every comparison costs C."""
    with pytest.warns(CollapseWarning, match="u = 0"):
        model = cls(C=2.0).fit(np.ones((3, 2)), [1, 2, 2])
    assert_array_equal(model.coef_, [0.0, 0.0])
    assert model.objective_ == pytest.approx(4.0)
    assert model.duality_gap_ == 0


def test_constant_features_alone_leave_the_bias():
    """A classifier and a regressor keep their intercept; nothing else can be learned."""
    model = MarginClassifier(C=2.0).fit(np.ones((3, 2)), [0, 1, 1])
    assert_array_equal(model.coef_, [0.0, 0.0])
    assert_array_equal(model.predict(np.ones((3, 2))), [1, 1, 1])
    assert model.objective_ == pytest.approx(4.0)
    flat = MarginRegressor(C=2.0, epsilon=0.0).fit(np.ones((3, 2)), [0.0, 1.0, 5.0])
    assert_allclose(flat.predict(np.ones((1, 2))), [1.0])
    assert flat.objective_ == pytest.approx(10.0)


SCALES = np.array([1e-6, 1.0, 1e6])


@pytest.mark.parametrize("cls", [OrdinalSVM, RankingSVM, TopRankSVM, MarginClassifier, MarginRegressor], ids=ids)
def test_unscaled_features_are_solved_or_warned_about(cls):
    """Features from 1e-6 to 1e6: the optimum of that very problem, or a warning with the gap and advice."""
    s = generators.ordered_labels(5, gap=1.0 if cls is TopRankSVM else 0.0)
    y = (s.y > 2).astype(int) if cls is MarginClassifier else s.y
    model, given = caught(lambda: cls(C=1.0, tol=1e-6).fit(s.X * SCALES, y))
    if given:
        assert [w.category for w in given] == [ConvergenceWarning]
        assert re.search(r"gap .* > tol=.*scale the features", str(given[0].message))
    assert model.duality_gap_ <= 1e-6 or not model.converged_
    assert model.objective_ <= cls(C=1.0, tol=1e-6).fit(s.X[:, 1:2], y).objective_ * (1 + 1e-6)
    assert np.all(np.isfinite(model.coef_))


@pytest.mark.parametrize("factor", [1e-6, 1e6])
@pytest.mark.parametrize("cls", [OrdinalSVM, RankingSVM, TopRankSVM, MarginClassifier, MarginRegressor], ids=ids)
def test_one_scale_for_all_is_no_harder(cls, factor):
    """X times s with C / s^2 is the same problem: w / s, the same objective up to s^2, the same utilities."""
    s = generators.ordered_labels(5, gap=1.0 if cls is TopRankSVM else 0.0)
    y = (s.y > 2).astype(int) if cls is MarginClassifier else s.y
    want = cls(C=1.0, tol=1e-9).fit(s.X, y)
    model = cls(C=1.0 / factor**2, tol=1e-9).fit(s.X * factor, y)
    assert_allclose(model.utility(s.X * factor), want.utility(s.X), rtol=1e-5, atol=1e-6)
    assert model.objective_ * factor**2 == pytest.approx(want.objective_, rel=1e-7)


def test_duplicates_in_a_one_norm_machine_give_one_answer():
    """Of many solutions the same one is returned whatever the order of rows."""
    s = generators.graded_queries(6)
    X, y, qid = np.tile(s.X, (2, 1)), np.tile(s.y, 2), np.tile(s.qid, 2)
    order = np.random.default_rng(0).permutation(y.size)
    one = RankingVectorMachine(kernel="rbf", tol=1e-9).fit(X, y, qid=qid)
    two = RankingVectorMachine(kernel="rbf", tol=1e-9).fit(X[order], y[order], qid=qid[order])
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-8)
    assert_allclose(one.utility(s.new), two.utility(s.new), rtol=1e-5, atol=1e-6)


def test_positive_coefficients_of_a_linear_kernel_warn_of_their_cone():
    """`positive=True` can only express weights in the cone of the items."""
    with pytest.warns(ConeWarning, match=r"positive=True.*use positive=False, vectors='pairs' or another kernel"):
        RankingVectorMachine(positive=True).fit(X3, Y3)


INDEFINITE = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize("cls", [*TWO_NORM, ComparisonSVM], ids=ids)
def test_an_indefinite_kernel_is_refused_by_two_norm_machines(cls):
    """An eigenvalue below -1e-8 of the largest makes the problem non-convex: no bound exists."""
    text = r"eigenvalue of -3\.3e-01 of the largest; expected none below -1e-08.*RankingVectorMachine"
    with pytest.raises(ValueError, match=text):
        fit(cls, INDEFINITE, kernel="precomputed")


@pytest.mark.parametrize("cls", TWO_NORM, ids=ids)
def test_an_indefinite_named_kernel_is_refused_too(cls):
    """The kernel tanh is rarely positive semi-definite; nobody needs to know before."""
    s = generators.ordered_labels(0)
    with pytest.raises(ValueError, match="not convex"):
        cls(kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(s.X, s.y)


@pytest.mark.parametrize("vectors", ["points", "pairs"])
def test_an_indefinite_kernel_is_taken_by_one_norm_machines(vectors):
    """A linear program needs no positive kernel: the model is optimal, with a gap to prove it."""
    model = RankingVectorMachine(kernel="precomputed", vectors=vectors, C=10, tol=1e-9).fit(INDEFINITE, Y3)
    assert model.duality_gap_ <= 1e-9
    s = generators.ordered_labels(0)
    sigmoid = RankingVectorMachine(kernel="sigmoid", gamma=1.0, coef0=-1.0, vectors=vectors, tol=1e-8).fit(s.X, s.y)
    assert sigmoid.duality_gap_ <= 1e-8


def test_rounding_in_a_kernel_matrix_is_forgiven():
    """Eigenvalues of -1e-10 are what rounding makes of a positive semi-definite matrix."""
    s = generators.ordered_labels(0)
    K = s.X @ s.X.T
    noise = np.random.default_rng(0).normal(size=K.shape) * 1e-11 * np.abs(K).max()
    model = RankingSVM(kernel="precomputed", tol=1e-8).fit(K + noise + noise.T, s.y)
    assert model.objective_ == pytest.approx(RankingSVM(tol=1e-8).fit(s.X, s.y).objective_, rel=1e-5)


# SVMcompare ---------------------------------------------------------------------------------------


def test_a_positive_beta_is_kept_and_the_order_is_not_reversed():
    """Where beta >= 0, `intercept_` is beta as it is, the tie width is 0, and larger is still better."""
    items = np.array([[0.0], [1.0], [2.0], [3.0], [3.1]])
    index = [(1, 0), (2, 1), (3, 2), (2, 0), (3, 0), (3, 1), (4, 3)]
    y = [1, 1, 1, 1, 1, 1, 0]
    model, given = caught(lambda: ComparisonSVM(C=0.05, tol=1e-10).fit(Pairs(items, index), y))
    assert not given
    assert model.intercept_ > 0
    assert model.tie_width_ == 0.0
    assert model.coef_[0] > 0
    assert_array_equal(model.predict(Pairs(items, index[:6])), 1)


def collapsing():
    """Return pairs in which ties show differences larger than the wins do: no direction pays."""
    items = np.array([[0.0], [1.0], [5.0], [9.0], [-4.0]])
    index = [(1, 0), (2, 3), (3, 4), (2, 4), (0, 3), (1, 2), (1, 4)]
    return Pairs(items, index), np.array([1, 0, 0, 0, 0, 0, 0])


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_collapse_is_exactly_zero_and_says_what_helps(kernel, loss):
    """Where u = 0 is optimal the model is 0, never rounding noise, and the warning advises balanced weights."""
    pairs, y = collapsing()
    if (kernel, loss) != ("linear", "hinge"):  # votes that contradict each other: no direction is left
        pairs, y = Pairs(LINE, [(0, 1), (1, 0), (1, 2), (0, 2)]), np.array([1, 1, 0, 0])
    with pytest.warns(CollapseWarning, match=r"u = 0.*class_weight='balanced'") as given:
        model = ComparisonSVM(kernel=kernel, loss=loss).fit(pairs, y)
    assert len(given) == 1
    assert issubclass(CollapseWarning, ConvergenceWarning)
    assert_array_equal(model.utility(np.linspace(-50, 50, 7)[:, None]), 0.0)
    assert_array_equal(model.predict(pairs), 0)
    assert model.tie_width_ > 0


def test_balanced_weights_undo_a_collapse():
    """What the warning advises helps: few wins among ties that differ as much."""
    d = np.linspace(-3, 3, 101)
    y = np.zeros(101, dtype=int)
    y[70:100:5] = 1
    pairs = np.stack([d, np.zeros(101)], axis=1)[:, :, None]
    with pytest.warns(CollapseWarning, match="class_weight='balanced'"):
        ComparisonSVM().fit(pairs, y)
    model = ComparisonSVM(class_weight="balanced").fit(pairs, y)
    assert model.coef_[0] > 0
    assert np.any(model.predict(pairs) == 1)


def test_pairs_that_no_width_separates_have_no_linear_program():
    """(7) is hard: data that are not separable need the QP."""
    pairs, y = collapsing()
    with pytest.raises(ValueError, match=r"formulation='lp'.*not separable.*use 'qp'"):
        ComparisonSVM(formulation="lp").fit(pairs, y)
    with pytest.raises(ValueError, match=r"formulation='lp' is linear; got kernel='rbf'"):
        ComparisonSVM(formulation="lp", kernel="rbf").fit(pairs, y)


# Hard margins and extreme C -----------------------------------------------------------------------


@pytest.mark.parametrize("cls", ALL, ids=ids)
def test_a_hard_margin_that_does_not_exist_is_refused(cls):
    """C=inf on contradictory data: a ValueError names C, the bound and the way out."""
    X, y = np.array([[1.0], [1.0], [1.0], [2.0]]), [1, 2, 3, 3]
    with pytest.raises(ValueError, match=r"C=inf: no hard margin.*below 1e-09 of the data radius; use a finite C"):
        fit(cls, X, y, C=np.inf, **({"ties": "threshold"} if cls is ComparisonSVM else {}))


@pytest.mark.parametrize("cls", [RankingSVM, OrdinalSVM, TopRankSVM], ids=ids)
def test_a_margin_below_a_billionth_of_the_radius_is_none(cls):
    """A difference of 1e-11 of the data radius is rounding, not a margin; one of 1e-5 is a margin."""
    X = np.array([[1.0, 0.0], [0.0, 0.0], [0.5, 1.0], [0.5 - 1e-11, 1.0]])
    with pytest.raises(ValueError, match=r"below 1e-09 of the data radius"):
        cls(C=np.inf).fit(X, [1, 0, 1, 0])
    X[3, 0] = 0.5 - 1e-5
    qid = {} if cls is OrdinalSVM else {"qid": [1, 1, 2, 2]}
    if qid:
        model = cls(C=np.inf).fit(X, [1, 0, 1, 0], **qid)
        assert np.linalg.norm(model.coef_) == pytest.approx(1e5, rel=1e-4)


@pytest.mark.parametrize("cls", [RankingSVM, OrdinalSVM, MarginClassifier], ids=ids)
def test_a_hard_margin_that_exists_is_the_largest(cls):
    """On separable data C=inf is the limit of large C."""
    s = generators.ordered_labels(3, gap=2.0)
    y = (s.y > 2).astype(int) if cls is MarginClassifier else s.y
    hard, soft = cls(C=np.inf, tol=1e-9).fit(s.X, y), cls(C=1e5, tol=1e-9).fit(s.X, y)
    assert_allclose(hard.coef_, soft.coef_, rtol=1e-5)
    assert hard.objective_ == pytest.approx(0.5 * hard.coef_ @ hard.coef_)


@pytest.mark.parametrize("C", [1e-8, 1e-3, 1e3, 1e6])
@pytest.mark.parametrize("cls", ALL, ids=ids)
def test_extreme_C_is_solved_and_certified(cls, C):
    """From 1e-8 to 1e6 the gap is below tol: no warning."""
    s = generators.ordered_labels(7)
    model, given = caught(lambda: fit(cls, s.X, s.y, C=C, tol=1e-6))
    assert [w for w in given if w.category is not CollapseWarning] == []
    assert model.duality_gap_ <= 1e-6
    assert model.converged_


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("cls", [MarginRegressor, OrdinalSVM, *RANKERS], ids=ids)
def test_too_few_iterations_give_one_warning_with_gap_tol_and_advice(cls, kernel):
    """max_iter=1: the best model found, `converged_` False, one warning that says what to do."""
    s = generators.ordered_labels(8)
    model, given = caught(lambda: cls(max_iter=1, tol=1e-12, kernel=kernel).fit(s.X, s.y))
    if model.converged_:  # one step and its polish can be enough: then the gap proves it
        assert model.duality_gap_ <= 1e-12
        return
    assert [w.category for w in given] == [ConvergenceWarning]
    text = str(given[0].message)
    assert text.startswith(f"{cls.__name__}: stopped at max_iter=1 with duality gap ")
    assert "> tol=1.0e-12; scale the features, raise max_iter or loosen tol." in text
    assert model.duality_gap_ > 1e-12
    assert model.n_iter_ == 1
    assert np.all(np.isfinite(model.predict(s.X)))
    assert given[0].filename == __file__


# Invalid input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
@pytest.mark.parametrize("cls", ALL, ids=ids)
def test_nan_and_infinity_in_X_are_refused(cls, value, word):
    """Not a number is no feature, in fit and in predict."""
    with pytest.raises(ValueError, match=f"Input X contains {word}"):
        fit(cls, np.array([[1.0], [value], [4.0]]))
    model = fit(cls, **({"ties": "threshold"} if cls is ComparisonSVM else {}))
    with pytest.raises(ValueError, match=f"Input X contains {word}"):
        model.utility([[value]])


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("cls", ITEMWISE, ids=ids)
def test_nan_and_infinity_in_y_are_refused(cls, value):
    """A missing grade is no grade."""
    with pytest.raises(ValueError, match="Input y contains"):
        cls().fit(X3, [1, 2, value])
    with pytest.raises(ValueError, match="y has the value"):
        fit_line([1, 0, value])


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
@pytest.mark.parametrize("cls", ALL, ids=ids)
def test_weights_are_finite_and_not_negative(cls, value):
    """A weight counts rows: it is named, with what was expected."""
    with pytest.raises(ValueError, match=r"sample_weight has negative, NaN or infinite entries; expected finite"):
        fit(cls, sample_weight=[1.0, 2.0, value])


@pytest.mark.parametrize("cls", ALL, ids=ids)
def test_weights_that_are_all_zero_leave_no_data(cls):
    """Nothing is left to learn from."""
    with pytest.raises(ValueError, match="sample_weight is zero everywhere; expected at least one positive"):
        fit(cls, sample_weight=[0.0, 0.0, 0.0])


@pytest.mark.parametrize("cls", [RankingSVM, TopRankSVM, MarginClassifier], ids=ids)
def test_huge_finite_values_give_a_warning_that_says_where_to_look(cls):
    """Values whose squares overflow: one warning that points at X, never a wrong error or a silent model."""
    model, given = caught(lambda: cls().fit([[1e200], [3e200], [-4e200]], [1, 2, 2]))
    assert [w.category for w in given] == [ConvergenceWarning]
    assert "look for huge values in X" in str(given[0].message)
    assert not model.converged_


@pytest.mark.parametrize("cls", ITEMWISE, ids=ids)
def test_y_of_another_length_is_refused(cls):
    """The two lengths are named."""
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[3, 2\]"):
        cls().fit(X3, [1, 2])


def test_outcomes_of_another_length_are_refused():
    """One outcome per pair."""
    with pytest.raises(ValueError, match=r"y has shape \(2,\); expected \(3,\)"):
        fit_line([1, 0])


@pytest.mark.parametrize("cls", ALL, ids=ids)
def test_weights_of_another_length_are_refused(cls):
    """One weight per row."""
    with pytest.raises(ValueError, match=r"sample_weight.*\(2,\), expected \(3,\)"):
        fit(cls, sample_weight=[1.0, 2.0])


@pytest.mark.parametrize("cls", RANKERS, ids=ids)
def test_qid_of_another_length_is_refused(cls):
    """One query id per row, in fit, score and rank."""
    for action in (
        lambda: cls().fit(X3, Y3, qid=[1, 1]),
        lambda: cls().fit(X3, Y3).score(X3, Y3, qid=[1, 1]),
        lambda: cls().fit(X3, Y3).rank(X3, qid=[1, 1, 1, 1]),
    ):
        with pytest.raises(ValueError, match=r"qid has shape \(\d,\), expected \(3,\): pass one query id per row"):
            action()


MISSING = [
    [1, None, 1],
    [1.0, np.nan, 1.0],
    ["a", "a", float("nan")],
    pd.array([1, 1, None], dtype="Int64"),
    pd.Series(["a", "a", None], dtype="string"),
    pl.Series(["a", "a", None]),
]


@pytest.mark.parametrize("qid", MISSING, ids=lambda q: type(q).__name__)
@pytest.mark.parametrize("cls", RANKERS, ids=ids)
def test_missing_query_ids_are_refused(cls, qid):
    """A row without a query would be compared with nobody knows whom."""
    with pytest.raises(ValueError, match=r"qid has missing values.*expected an id in every row; fill or drop"):
        cls().fit(X3, Y3, qid=qid)


@pytest.mark.parametrize("cls", [RankingSVM, RankingVectorMachine], ids=ids)
def test_unsorted_and_non_integer_qid_give_the_sorted_model(cls):
    """Ids are names: strings and floats in any order give what sorted integers give."""
    s = generators.graded_queries(9)
    order = np.argsort(s.qid, kind="stable")
    want = cls(tol=1e-9).fit(s.X[order], s.y[order], qid=s.qid[order])
    for qid in ([f"z{9 - q}" for q in s.qid], s.qid * 0.1 - 7):
        model = cls(tol=1e-9).fit(s.X, s.y, qid=qid)
        assert model.objective_ == pytest.approx(want.objective_, rel=1e-8)
        assert_allclose(model.coef_, want.coef_, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("cls", RANKERS, ids=ids)
def test_scoring_without_qid_warns_of_comparing_across_queries(cls):
    """The score over all rows as one query, with a warning that says so."""
    s = generators.graded_queries(9)
    model = cls().fit(s.X, s.y, qid=s.qid)
    with pytest.warns(UserWarning, match=r"fitted on \d+ queries but is scored without qid.*pass qid to score"):
        score = model.score(s.X, s.y)
    assert score == model.score(s.X, s.y, qid=np.zeros(s.y.size))


@pytest.mark.parametrize("C", [0, 0.0, -1.0, -np.inf, np.nan])
@pytest.mark.parametrize("cls", ALL, ids=ids)
def test_C_out_of_range_is_refused(cls, C):
    """C <= 0 or nan: what was got, what was expected."""
    with pytest.raises(ValueError, match=rf"C={re.escape(repr(C))} is out of range; expected a number above 0"):
        fit(cls, C=C)


@pytest.mark.parametrize("C", ["1", None, True, [1.0]], ids=str)
@pytest.mark.parametrize("cls", ALL, ids=ids)
def test_C_that_is_no_number_is_a_type_error(cls, C):
    """A string is no weight."""
    with pytest.raises(TypeError, match=r"C=.* is a \w+; expected a number above 0"):
        fit(cls, C=C)


BAD_WORDS = [
    (RankingSVM, {"kernel": "gauss"}, "kernel='gauss' is not understood; expected one of 'linear', 'rbf'"),
    (RankingSVM, {"kernel": None}, "kernel=None is not understood; expected one of 'linear'"),
    (RankingSVM, {"loss": "log"}, "loss='log' is not understood; expected one of 'hinge', 'squared_hinge'"),
    (MarginRegressor, {"loss": "hinge"}, "loss='hinge' is not understood; expected one of 'epsilon_insensitive'"),
    (RankingSVM, {"kernel": "rbf", "gamma": "big"}, "gamma='big' is not understood; expected one of 'scale', 'auto'"),
    (RankingSVM, {"C_scale": "max"}, "C_scale='max' is not understood; expected one of 'sum', 'mean'"),
    (OrdinalSVM, {"thresholds": "best"}, "thresholds='best' is not understood; expected one of 'closest_pair'"),
    (ComparisonSVM, {"ties": "none"}, "ties='none' is not understood; expected one of 'margin', 'threshold'"),
    (ComparisonSVM, {"formulation": "sdp"}, "formulation='sdp' is not understood; expected one of 'qp', 'lp'"),
    (ComparisonSVM, {"class_weight": "equal"}, "class_weight='equal' is not understood; expected one of 'balanced'"),
    (TopRankSVM, {"slack": "set"}, "slack='set' is not understood; expected one of 'task', 'pair'"),
    (RankingVectorMachine, {"vectors": "few"}, "vectors='few' is not understood; expected one of 'points', 'pairs'"),
    (MarginClassifier, {"decision_function_shape": "x"}, "decision_function_shape='x' is not understood"),
]
BAD_NUMBERS = [
    (RankingSVM, {"tol": 0.0}, "tol=0.0 is out of range; expected a number above 0"),
    (RankingSVM, {"max_iter": 0}, "max_iter=0 is out of range; expected an integer above 0"),
    (RankingSVM, {"n_components": 0}, "n_components=0 is out of range; expected an integer above 0"),
    (RankingSVM, {"memory_limit": -1}, "memory_limit=-1 is out of range; expected a number above 0"),
    (RankingSVM, {"kernel": "rbf", "gamma": -1.0}, "gamma=-1.0 is out of range; expected a number above 0"),
    (RankingSVM, {"kernel": "poly", "degree": 0}, "degree=0 is out of range; expected a number above 0"),
    (MarginRegressor, {"epsilon": -0.1}, "epsilon=-0.1 is out of range; expected a number of at least 0"),
    (ComparisonSVM, {"class_weight": {2: 1.0}}, "class_weight has the key 2; expected keys among -1, 0, 1"),
    (ComparisonSVM, {"class_weight": {0: -1.0}}, "class_weight={0: -1.0} has a weight that is not positive"),
]
BAD_TYPES = [
    (RankingSVM, {"max_iter": 1.5}, "max_iter=1.5 is a float; expected an integer above 0"),
    (RankingSVM, {"tol": "tight"}, "tol='tight' is a str; expected a number above 0"),
    (RankingSVM, {"kernel": "poly", "coef0": "one"}, "coef0='one' is a str; expected a number"),
    (RankingSVM, {"kernel": "rbf", "gamma": None}, "gamma=None is a NoneType; expected a number above 0"),
    (MarginRegressor, {"epsilon": None}, "epsilon=None is a NoneType; expected a number of at least 0"),
]


@pytest.mark.parametrize(("cls", "params", "text"), [*BAD_WORDS, *BAD_NUMBERS])
def test_a_bad_parameter_is_named_with_what_was_got_and_expected(cls, params, text):
    """An unknown word lists the words; a number out of range says its range."""
    with pytest.raises(ValueError, match=re.escape(text)):
        fit(cls, **params)


@pytest.mark.parametrize(("cls", "params", "text"), BAD_TYPES)
def test_a_parameter_of_a_wrong_type_is_named(cls, params, text):
    """What is no number is a TypeError that names the parameter."""
    with pytest.raises(TypeError, match=re.escape(text)):
        fit(cls, **params)


@pytest.mark.parametrize("cls", ALL, ids=ids)
def test_a_kernel_that_does_not_fit_is_refused_before_it_is_allocated(cls):
    """The need, the limit and the ways out, and no memory taken; the items are far apart, so that the rank is full."""
    X = np.arange(20_000.0)[:, None]
    y = np.arange(20_000) % 3 if cls is not TopRankSVM else (X[:, 0] == 0).astype(int)
    tracemalloc.start()
    text = r"20000 items needs [\d.]+ GB and the limit is 0\.25 GB; use n_components=\d+.*kernel='linear'.*memory_limit"
    with pytest.raises(MemoryError, match=text):
        fit(cls, X, y, kernel="rbf", gamma=1.0, memory_limit=2.5e8)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6


@pytest.mark.parametrize("cls", [*TWO_NORM, RankingVectorMachine], ids=ids)
def test_more_components_than_items_is_the_exact_kernel(cls):
    """n_components larger than n leaves nothing out."""
    s = generators.ordered_labels(1)
    y = (s.y > 2).astype(int) if cls is MarginClassifier else s.y
    exact = cls(kernel="rbf", tol=1e-9).fit(s.X, y)
    model = cls(kernel="rbf", tol=1e-9, n_components=500).fit(s.X, y)
    assert model.objective_ == pytest.approx(exact.objective_, rel=1e-6)
    assert_allclose(model.utility(s.new), exact.utility(s.new), atol=1e-5)


@pytest.mark.parametrize("cls", ITEMWISE, ids=ids)
def test_flat_X_is_refused(cls):
    """A 1-D X may be one feature or one row: scikit-learn's message says how to choose."""
    with pytest.raises(ValueError, match=r"Expected 2D array, got 1D array instead"):
        cls().fit([1.0, 2.0, 3.0], Y3)


def test_pairs_of_a_wrong_shape_are_refused():
    """X of pairs is Pairs or (n, 2, p); the message says how to make one."""
    with pytest.raises(ValueError, match=r"X has shape \(3, 1\); expected Pairs\(items, index\).*Pairs\.from_arrays"):
        ComparisonSVM().fit(X3, [1, 0, 1])


def test_a_pair_index_outside_the_items_is_refused():
    """The index and the number of items are named; positions are integers."""
    with pytest.raises(ValueError, match=r"index runs from 0 to 3; there are 3 items, from 0"):
        Pairs(LINE, [(0, 1), (2, 3)])
    with pytest.raises(ValueError, match=r"index runs from -1"):
        Pairs(LINE, [(-1, 1)])
    with pytest.raises(ValueError, match=r"expected integers of shape \(n_pairs, 2\)"):
        Pairs(LINE, [(0.5, 1.0)])


def test_a_precomputed_kernel_is_square():
    """Kernel values of items against items."""
    with pytest.raises(ValueError, match=r"kernel='precomputed' needs a square matrix.*X has shape \(3, 1\)"):
        RankingSVM(kernel="precomputed").fit(X3, Y3)


def test_a_kernel_function_of_a_wrong_shape_is_refused():
    """A user's kernel must give one value per pair of rows."""
    with pytest.raises(ValueError, match=r"kernel function returned an array of shape \(3,\).*expected \(3, 3\)"):
        RankingSVM(kernel=lambda X, Z: X.sum(axis=1)).fit(X3, Y3)  # noqa: ARG005


def test_hard_data_stay_quick():
    """Degenerate problems are no reason to wait: ten of them in a second."""
    s = generators.ordered_labels(0, n=40)
    start = time.perf_counter()
    for _ in range(5):
        caught(lambda: RankingSVM(C=1e6).fit(np.round(s.X), s.y))
        caught(lambda: RankingSVM(C=1e6).fit(StandardScaler().fit_transform(s.X) * SCALES, s.y))
    assert time.perf_counter() - start < 10
