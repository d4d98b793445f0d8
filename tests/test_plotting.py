"""Every Display shows what the estimator says, on the axes it was given."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

mpl.use("Agg")
import matplotlib.pyplot as plt

from widemargin import ComparisonSVM, MarginClassifier, OrdinalSVM, Pairs, RankingSVM, RankingVectorMachine, plotting
from widemargin.datasets import make_comparisons, make_graded_queries, make_ordinal, make_ranking
from widemargin.metrics import comparison_auc


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def compared():
    """A model of comparisons and its data."""
    data = make_comparisons(80, random_state=0)
    return ComparisonSVM(kernel="rbf", gamma=0.2).fit(data.X, data.y), data


@pytest.fixture(scope="module")
def ordered():
    """A pipeline of ordered labels and its data."""
    data = make_ordinal(60, random_state=0)
    return make_pipeline(StandardScaler(), OrdinalSVM(kernel="poly", degree=2, coef0=1.0)).fit(data.X, data.y), data


def test_utility_is_the_models_on_the_grid(compared):
    """Each value of the picture is the utility at its place."""
    model, data = compared
    display = plotting.UtilityDisplay.from_estimator(model, pairs=data.X, y=data.y, n_grid=7)
    assert_allclose(display.utility[2, 5], model.utility([[display.xs[5], display.ys[2]]])[0])
    assert display.ax_.figure is display.figure_


def test_pairs_are_thinned_evenly_and_keep_their_outcomes(compared):
    """Arrows are drawn for the pairs shown, each with its own outcome."""
    model, data = compared
    display = plotting.UtilityDisplay.from_estimator(model, pairs=data.X, y=data.y, n_grid=5, max_pairs=10)
    assert len(display.pairs) == 10
    for k in range(10):
        first = np.asarray(display.pairs.items)[display.pairs.index[k, 0]]
        (found,) = np.flatnonzero((data.X[:, 0] == first).all(axis=1))
        assert data.y[found] == display.outcomes[k]
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["arrow to the preferred item", "no difference"]


def test_utility_of_a_pipeline_is_drawn_in_the_users_units(ordered):
    """The scaler before the model is applied, and thresholds become rank boundaries."""
    pipe, data = ordered
    display = plotting.UtilityDisplay.from_estimator(pipe, data.X, n_grid=5)
    point = [[display.xs[1], display.ys[3]]]
    assert_allclose(display.utility[3, 1], pipe[-1].utility(pipe[0].transform(point))[0])
    assert_allclose(display.thresholds, pipe[-1].thresholds_)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_a_model_fitted_on_a_frame_is_drawn_by_its_names(ordered, library):
    """No warning of lost names (it would be an error here), and the same picture as of the numbers."""
    _, data = ordered
    X = library({"price": data.X[:, 0], "stars": data.X[:, 1]})
    for make in (RankingSVM, lambda: make_pipeline(StandardScaler(), RankingSVM())):
        display = plotting.UtilityDisplay.from_estimator(make().fit(X, data.y), X, n_grid=5)
        plain = plotting.UtilityDisplay.from_estimator(make().fit(data.X, data.y), data.X, n_grid=5)
        assert_allclose(display.utility, plain.utility)
        assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("price", "stars")
    plotting.UtilityDisplay.from_estimator(RankingSVM().fit(data.X, data.y), X, n_grid=5)
    pairs = Pairs(X, [(0, 1), (2, 3), (4, 5)])
    model = ComparisonSVM(ties="threshold").fit(pairs)
    assert plotting.UtilityDisplay.from_estimator(model, pairs=pairs, n_grid=5).ax_.get_xlabel() == "price"


def test_the_plane_needs_two_features(compared):
    """Anything but two features is refused, as is nothing to show."""
    model, _ = compared
    with pytest.raises(ValueError, match="2 features; got shape"):
        plotting.UtilityDisplay.from_estimator(model, np.zeros((4, 3)))
    with pytest.raises(ValueError, match="neither X nor pairs"):
        plotting.UtilityDisplay.from_estimator(model)


def test_boundaries_show_labels_and_thresholds(ordered):
    """One line per label, the thresholds of the model, and a given axes is used."""
    pipe, data = ordered
    _, ax = plt.subplots()
    display = plotting.RankBoundaryDisplay.from_estimator(pipe, data.X, data.y, ax=ax)
    assert display.ax_ is ax
    assert [t.get_text() for t in ax.get_yticklabels()] == [str(c) for c in pipe.classes_]
    assert_allclose(display.utility, pipe[-1].utility(pipe[0].transform(data.X)))
    with pytest.raises(ValueError, match="y holds 99"):
        plotting.RankBoundaryDisplay.from_estimator(pipe, data.X[:1], [99])
    with pytest.raises(TypeError, match="no thresholds_"):
        plotting.RankBoundaryDisplay.from_estimator(RankingSVM().fit(data.X, data.y), data.X, data.y)


@pytest.mark.parametrize("seed", range(5))
def test_the_area_under_the_drawn_curve_is_the_metric(seed):
    """The trapezoids under the drawn ROC curve add up to `comparison_auc`, ties of scores included."""
    rng = np.random.default_rng(seed)
    y, s = rng.integers(-1, 2, 60), rng.integers(-6, 7, 60) / 2.0
    s = np.where(s == 0, 0.25, s)
    display = plotting.ComparisonRocDisplay.from_predictions(y, s, tie_width=1.0)
    area = np.trapezoid(display.true_positive_rate, display.false_positive_rate)
    assert_allclose(area, comparison_auc(y, s), atol=1e-12)
    assert_allclose(display.point, (np.mean(np.abs(s[y == 0]) > 1.0), np.mean((y * s)[y != 0] > 1.0)))


def test_roc_of_an_estimator(compared):
    """The curve of an estimator is that of its decision function."""
    model, data = compared
    display = plotting.ComparisonRocDisplay.from_estimator(model, data.X, data.y)
    assert_allclose(display.auc, comparison_auc(data.y, model.decision_function(data.X)))


def test_leaderboards_put_the_best_on_top():
    """Whatever the order of the items, the best is first, with its own interval."""
    utility, names = [0.2, 1.0, 0.5], ["a", "b", "c"]
    display = plotting.LeaderboardDisplay(names=names, utility=utility, lower=[0, 0.9, 0.4], upper=[1, 1.1, 0.6]).plot()
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["b", "c", "a"]
    segments = display.ax_.collections[0].get_segments()
    assert_allclose(segments[0], [[0.9, 0], [1.1, 0]])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_leaderboards_from_frames(library):
    """A frame with item, utility, lower and upper is drawn; a missing column is named."""
    frame = pytest.importorskip(library).DataFrame(
        {"item": ["a", "b", "c"], "utility": [0.2, 1.0, 0.5], "lower": [0.1, 0.9, 0.4], "upper": [0.3, 1.1, 0.6]}
    )
    display = plotting.LeaderboardDisplay.from_frame(frame, max_items=2)
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["b", "c"]
    with pytest.raises(ValueError, match="no column 'model'"):
        plotting.LeaderboardDisplay.from_frame(frame, item="model")


def test_leaderboard_of_an_estimator(compared):
    """Items are named and marked with the model's tie width."""
    model, _ = compared
    display = plotting.LeaderboardDisplay.from_estimator(model, [[0.0, 0.0], [1.0, 1.0]], names=["origin", "away"])
    assert display.tie_width == model.tie_width_
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["away", "origin"]


def test_ranking_vectors_are_the_models_support():
    """The circles stand on the support items; a linear model without vectors is refused."""
    data = make_ranking(40, n_features=2, random_state=0)
    model = RankingVectorMachine(kernel="rbf", gamma=0.5).fit(data.X, data.y)
    display = plotting.RankingVectorsDisplay.from_estimator(model, data.X)
    assert_allclose(display.vectors, model.support_vectors_)
    several = MarginClassifier(kernel="rbf").fit(data.X, np.arange(40) % 3)
    with pytest.raises(TypeError, match="no vectors"):
        plotting.RankingVectorsDisplay.from_estimator(several, data.X)


def test_learning_curves_hold_out_whole_queries():
    """More queries help on average, every fit has its gap, and impossible sizes are refused."""
    data = make_graded_queries(25, random_state=0)
    curve = plotting.LearningCurveDisplay.from_estimator(
        RankingSVM(C=0.1), data.X, data.y, qid=data.qid, sizes=[2, 16], cv=3
    )
    assert curve.scores.shape == (3, 2)
    assert curve.scores[:, 1].mean() > curve.scores[:, 0].mean()
    assert np.all(curve.gaps <= 1e-4)
    with pytest.raises(ValueError, match="from 1 to"):
        plotting.LearningCurveDisplay.from_estimator(RankingSVM(), data.X, data.y, qid=data.qid, sizes=[1000])


def test_learning_curve_without_queries_counts_rows():
    """Where there is one query, rows are added."""
    data = make_ordinal(60, random_state=0)
    curve = plotting.LearningCurveDisplay.from_estimator(OrdinalSVM(), data.X, data.y, sizes=[20, 40], cv=3)
    assert curve.ax_.get_xlabel() == "training rows"


def test_c_path_shows_scores_or_objectives_with_the_gap():
    """The gap has its own axis, in logarithms; without scores the objective is drawn."""
    Cs, gaps = np.logspace(-2, 2, 5), np.full(5, 1e-5)
    scored = plotting.CPathDisplay(Cs=Cs, gaps=gaps, scores=np.ones((3, 5))).plot()
    assert scored.gap_ax_.get_yscale() == "log"
    bare = plotting.CPathDisplay(Cs=Cs, gaps=gaps, objectives=Cs).plot()
    assert bare.ax_.get_ylabel() == "objective"


def test_without_matplotlib_the_message_says_what_to_install():
    """Importing the module needs no matplotlib; drawing without it names the extra."""
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from widemargin.plotting import LeaderboardDisplay\n"
        "try: LeaderboardDisplay(names=['a'], utility=[1.0]).plot()\n"
        "except ImportError as e: print(e)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert "pip install 'widemargin[plot]'" in done.stdout
