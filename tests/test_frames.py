"""Frames in and out: searches, query columns, ordered labels, votes, names that stay with the features."""

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import generators
from widemargin import ComparisonSVM, OnItems, OrdinalSVM, Pairs, RankingSVM, RankingSVMCV
from widemargin.calibration import CalibratedOrdinal
from widemargin.datasets import make_graded_queries
from widemargin.model_selection import QueryKFold, qid_from_group_sizes

EXAMPLES = Path(__file__).parents[1] / "examples"
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}


# Searches and swaps -------------------------------------------------------------------------------


def test_a_search_over_a_pipeline_from_a_polars_frame_is_the_search_over_arrays():
    """Scaling, search and queries from a polars frame: the scores are those of plain arrays."""
    data = make_graded_queries(9, n_features=3, random_state=0)
    df = pl.DataFrame(data.X, schema=["a", "b", "c"]).with_columns(grade=data.y, query=pl.Series(data.qid).cast(str))
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(StandardScaler(), RankingSVM())
        search = GridSearchCV(model, {"rankingsvm__C": [1e-3, 1e-1]}, cv=QueryKFold(3))
        search.fit(df.drop("grade", "query"), df["grade"], qid=df["query"])
        want = GridSearchCV(model, {"rankingsvm__C": [1e-3, 1e-1]}, cv=QueryKFold(3))
        want.fit(data.X, data.y, qid=data.qid)
    assert_allclose(search.cv_results_["mean_test_score"], want.cv_results_["mean_test_score"], rtol=1e-12)
    assert_array_equal(search.best_estimator_[0].feature_names_in_, ["a", "b", "c"])
    assert search.best_score_ > 0.7


@pytest.mark.parametrize("kind", ["arrays", "pandas"])
def test_a_ranking_svm_takes_the_place_of_an_xgboost_ranker(kind):
    """`fit(X, y, qid=qid, sample_weight=None)` and `predict(X)` are the same calls; group sizes become qid."""
    xgboost = pytest.importorskip("xgboost")
    data = make_graded_queries(6, n_features=3, random_state=1)
    X, y, qid = data.X, data.y, data.qid
    if kind == "pandas":
        X, y, qid = pd.DataFrame(X, columns=["a", "b", "c"]), pd.Series(y), pd.Series(qid)
    for ranker in (xgboost.XGBRanker(n_estimators=5, n_jobs=1), RankingSVM(), RankingSVMCV(Cs=3, cv=2)):
        assert ranker.fit(X, y, qid=qid, sample_weight=None) is ranker
        scores = ranker.predict(X)
        assert scores.shape == data.y.shape
        inside = data.qid[:, None] == data.qid
        better = inside & (data.y[:, None] > data.y)
        assert np.mean((scores[:, None] > scores)[better]) > 0.75
    sizes = np.bincount(data.qid)
    grouped = xgboost.XGBRanker(n_estimators=5, n_jobs=1).fit(X, y, group=sizes)  # the older way
    assert grouped.predict(X).shape == data.y.shape
    ours = RankingSVM().fit(X, y, qid=qid_from_group_sizes(sizes))
    assert_allclose(ours.coef_, RankingSVM().fit(X, y, qid=qid).coef_, rtol=1e-12)


def test_the_example_of_a_search_runs(capsys):
    """It names the features, and leaves scikit-learn's settings as they were."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    before = sklearn.get_config()
    runpy.run_path(str(EXAMPLES / "plot_search_from_a_frame.py"))
    assert "word" in capsys.readouterr().out
    assert sklearn.get_config() == before
    matplotlib.pyplot.close("all")


# Ordered labels -----------------------------------------------------------------------------------

WORDS = ["poor", "fair", "great"]  # neither this order nor its reverse is alphabetical
ORDERED = {
    "pandas series": lambda v: pd.Series(pd.Categorical(v, WORDS, ordered=True)),
    "polars enum": lambda v: pl.Series(v, dtype=pl.Enum(WORDS)),
}


@pytest.mark.parametrize("kind", ORDERED)
def test_an_ordered_categorical_is_its_codes(kind):
    """Fits, scores, searches and probabilities of an ordered categorical are those of the codes."""
    s = generators.ordered_labels(1, n=60, n_ranks=3)
    y = ORDERED[kind](np.array(WORDS)[s.y - 1])
    model, want = OrdinalSVM().fit(s.X, y), OrdinalSVM().fit(s.X, s.y)
    assert_array_equal(model.classes_, WORDS)
    assert_allclose(model.utility(s.new), want.utility(s.new), rtol=1e-12)
    assert_array_equal(model.predict(s.new), np.array(WORDS)[want.predict(s.new) - 1])
    assert model.score(s.X, y) == want.score(s.X, s.y)
    assert_array_equal(
        cross_val_score(OrdinalSVM(), s.X, y, cv=_blocks(60)), cross_val_score(OrdinalSVM(), s.X, s.y, cv=_blocks(60))
    )
    have = CalibratedOrdinal(OrdinalSVM(), cv=_blocks(60)).fit(s.X, y)
    assert_array_equal(have.classes_, WORDS)
    calibrated = CalibratedOrdinal(OrdinalSVM(), cv=_blocks(60)).fit(s.X, s.y)
    assert_allclose(have.predict_proba(s.new), calibrated.predict_proba(s.new), rtol=1e-12)


def _blocks(n):
    """Return three fixed folds, whatever the labels are."""
    rows = np.arange(n)
    return [(rows[rows % 3 != k], rows[rows % 3 == k]) for k in range(3)]


def test_missing_labels_are_refused():
    """A null is no label."""
    y = pl.Series(["poor", None, "great"], dtype=pl.Enum(WORDS))
    with pytest.raises(ValueError, match="y has missing labels"):
        OrdinalSVM().fit([[0.0], [1.0], [2.0]], y)


# Query columns ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FRAMES)
def test_items_of_pairs_are_ranked_within_a_column(kind):
    """`ComparisonSVM.rank` takes groups from a column, which is no feature."""
    model = ComparisonSVM(ties="threshold").fit(Pairs(FRAMES[kind]({"x": [0.0, 1.0]}), [(1, 0)]))
    items = FRAMES[kind]({"x": [3.0, 1.0, 2.0, 9.0], "kind": ["a", "a", "b", "b"]})
    assert_array_equal(model.rank(items, qid="kind"), [1, 2, 2, 1])
    with pytest.raises(ValueError, match=r"qid='sort' names a column, but X has no such column: it has 'x', 'kind'"):
        model.rank(items, qid="sort")


# Votes --------------------------------------------------------------------------------------------

VOTES = {
    "a": ["x", "y", "z", "x"],
    "b": ["y", "z", "x", "z"],
    "w": ["x", None, "tie", "z"],
    "n": [1, 2, 3, 4],
    "share": [0.5, 1.0, 0.0, 0.25],
}
ITEMS = {"name": ["z", "y", "x"], "p": [1.0, 2.0, 3.0], "q": [0.0, 1.0, 0.0]}


@pytest.mark.parametrize("kind", FRAMES)
def test_votes_come_from_either_kind_of_frame(kind):
    """Names, outcomes, weights and features arrive as they were."""
    make = FRAMES[kind]
    pairs, y, weight = Pairs.from_frame(make(VOTES), left="a", right="b", winner="w", weight="n", items=make(ITEMS))
    assert pairs.names == ["z", "y", "x"]
    assert_array_equal(pairs.index, [[2, 1], [1, 0], [0, 2], [2, 0]])
    assert_array_equal(y, [1, 0, 0, -1])
    assert_array_equal(weight, [1, 2, 3, 4])
    model = ComparisonSVM(ties="threshold").fit(pairs, y, sample_weight=weight)
    assert_array_equal(model.feature_names_in_, ["p", "q"])
    assert pairs[[0, 2]].names == pairs.names


@pytest.mark.parametrize("kind", FRAMES)
def test_an_item_against_itself_is_told(kind):
    """Such votes say nothing: the user should know of them, and of where the first is."""
    votes = FRAMES[kind]({"a": ["x", "y", "y"], "b": ["y", "y", "y"], "w": ["x", "y", "tie"]})
    with pytest.warns(UserWarning, match=r"2 of 3 votes compare an item with itself, first 'y' in row 1"):
        _, y = Pairs.from_frame(votes, left="a", right="b", winner="w")
    assert y.size == 3


@pytest.mark.parametrize("kind", FRAMES)
def test_shares_of_votes_become_weighted_outcomes(kind):
    """A pair won with share s is a win of weight s and a loss of weight 1 - s; empty outcomes disappear."""
    pairs, y, weight = Pairs.from_frame(FRAMES[kind](VOTES), left="a", right="b", wins="share", weight="n")
    assert_array_equal(pairs.index, [[0, 1], [1, 2], [0, 2], [0, 1], [2, 0], [0, 2]])
    assert_array_equal(y, [1, 1, 1, -1, -1, -1])
    assert_allclose(weight, [0.5, 2, 1, 0.5, 3, 3])


@pytest.mark.parametrize("ties", ["margin", "threshold", "both_ways"])
def test_counted_and_merged_votes_give_the_model_of_single_votes(ties):
    """Counts as weights, and equal votes merged whichever way round they were asked, change nothing."""
    s = generators.pairs_with_ties(5, n_items=6, n_pairs=60)
    single = ComparisonSVM(ties=ties, tol=1e-9).fit(Pairs(s.X, s.index), s.y)
    merged, y, weight = Pairs(s.X, s.index).aggregate(s.y)
    assert len(merged) < 60
    assert weight.sum() == 60
    assert np.all(merged.index[:, 0] < merged.index[:, 1])
    have = ComparisonSVM(ties=ties, tol=1e-9).fit(merged, y, sample_weight=weight)
    assert have.objective_ == pytest.approx(single.objective_, rel=1e-7)
    assert_allclose(have.coef_, single.coef_, atol=1e-6 * np.abs(single.coef_).max())

    low, high = np.sort(s.index, axis=1).T
    won_by_low = np.where(s.index[:, 0] == low, s.y, -s.y)
    asked = np.unique(np.column_stack([low, high]), axis=0)
    wins, draws, losses = (
        np.array([np.sum((low == i) & (high == j) & (won_by_low == k)) for i, j in asked]) for k in (1, 0, -1)
    )
    counted, y, weight = Pairs(s.X, asked).with_votes(wins, draws, losses)
    have = ComparisonSVM(ties=ties, tol=1e-9).fit(counted, y, sample_weight=weight)
    assert have.objective_ == pytest.approx(single.objective_, rel=1e-7)


def test_pairs_are_made_of_positions_or_of_two_tables():
    """`from_indices` and `from_arrays` hold the same differences; frames keep their columns."""
    X = np.arange(8.0).reshape(4, 2)
    by_index = Pairs.from_indices(X, [0, 3], [1, 2])
    assert_array_equal(by_index.index, [[0, 1], [3, 2]])
    for make in (
        np.asarray,
        lambda v: pd.DataFrame(v, columns=["p", "q"]),
        lambda v: pl.DataFrame(v, schema=["p", "q"]),
    ):
        both = Pairs.from_arrays(make(X[[0, 3]]), make(X[[1, 2]]))
        assert_array_equal(np.asarray(both.items)[both.index], X[by_index.index])
        assert list(getattr(both.items, "columns", ["p", "q"])) == ["p", "q"]


BAD_VOTES = {
    "no column": (lambda f: Pairs.from_frame(f, left="a", right="c"), r"no column 'c'; it has \['a', 'b'"),
    "no name": (lambda f: Pairs.from_frame(f, left="w", right="b"), "item's name is missing"),
    "two kinds": (lambda f: Pairs.from_frame(f, left="a", right="b", winner="w", wins="n"), "expected one of them"),
    "ties alone": (lambda f: Pairs.from_frame(f, left="a", right="b", ties="n"), "came without wins"),
    "counts as shares": (lambda f: Pairs.from_frame(f, left="a", right="b", wins="n"), r"reach 4 without losses"),
    "words": (lambda f: Pairs.from_frame(f, left="a", right="b", weight="b"), "column 'b' holds something"),
    "soft y": (lambda f: Pairs.from_frame(f, left="a", right="b")[0].aggregate([0.5, 1, 1, 1]), "with_votes first"),
    "no winner": (
        lambda f: Pairs.from_frame(type(f)({"a": f["a"], "b": f["b"], "winner": f["w"]}), left="a", right="b"),
        "column 'winner' that was not named; pass winner='winner'",
    ),
    "names": (lambda _: Pairs([[0.0], [1.0]], [(0, 1)], names=["x"]), "names has 1 entries; expected 2"),
    "lengths": (lambda _: Pairs.from_indices([[0.0]], [0, 0], [0]), r"first has shape \(2,\) and second \(1,\)"),
    "columns": (
        lambda f: Pairs.from_arrays(f[["n", "share"]], f[["share", "n"]]),
        r"columns \['n', 'share'\] and right \['share', 'n'\]",
    ),
}


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("case", BAD_VOTES)
def test_votes_that_mean_nothing_are_refused(case, kind):
    """The message names what was wrong."""
    call, message = BAD_VOTES[case]
    with pytest.raises(ValueError, match=message):
        call(FRAMES[kind](VOTES))


@pytest.mark.parametrize("kind", FRAMES)
def test_set_output_keeps_the_names_of_items_in_a_pipeline(kind):
    """`set_output` on the pipeline, or on `OnItems` fitted or not, gives items as frames with their names."""
    s = generators.pairs_with_ties(3)
    pairs = Pairs(pd.DataFrame(s.X, columns=["a", "b", "c"]), s.index, names=[f"item {i}" for i in range(len(s.X))])
    pipe = make_pipeline(OnItems(StandardScaler()), ComparisonSVM()).set_output(transform=kind).fit(pairs, s.y)
    assert_array_equal(pipe[-1].feature_names_in_, ["a", "b", "c"])
    moved = pipe[:-1].transform(pairs)
    assert isinstance(moved.items, FRAMES[kind])
    assert moved.names == pairs.names
    late = OnItems(StandardScaler()).fit(pairs).set_output(transform=kind)
    assert isinstance(late.transform(pairs).items, FRAMES[kind])
