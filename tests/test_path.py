"""Many C for a few fits: each point of a path is what a fit of its own gives; and C chosen along it."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import generators
from widemargin import (
    ComparisonSVM,
    ComparisonSVMCV,
    MarginClassifier,
    MarginRegressor,
    OrdinalSVM,
    OrdinalSVMCV,
    Pairs,
    RankingSVM,
    RankingSVMCV,
    RankingVectorMachine,
    TopRankSVM,
)
from widemargin._core import comparisons, maps
from widemargin._core.interior_point import from_nearby, interior_point, iterations
from widemargin._core.losses import HINGE
from widemargin._core.newton.kernel import Ascent
from widemargin.datasets import make_graded_queries, make_ordinal
from widemargin.metrics import ndcg_score, ndcg_scorer
from widemargin.model_selection import PairKFold, QueryKFold, c_path, qid_from_group_sizes

MANY = generators.graded_queries(1, n_queries=6, size=150, p=4, n_grades=4)  # more pairs than are written out
FEW = generators.graded_queries(2)
CASES = {
    "linear": (RankingSVM(), MANY),
    "squared": (RankingSVM(loss="squared_hinge"), MANY),
    "mean": (RankingSVM(C_scale="mean"), MANY),
    "kernel": (RankingSVM(kernel="rbf", gamma=0.3), MANY),
    "low rank": (RankingSVM(kernel="rbf", gamma=0.3, n_components=20), MANY),
    "few pairs": (RankingSVM(kernel="rbf", gamma=0.3), FEW),
    "points": (RankingVectorMachine(kernel="rbf", gamma=0.3), FEW),
    "pairs": (RankingVectorMachine(vectors="pairs"), FEW),
    "ordinal": (OrdinalSVM(), generators.ordered_labels(3)),
    "choice": (TopRankSVM(), generators.choices(4)),
    "classes": (MarginClassifier(), generators.classes(5, n_classes=3)),
    "targets": (MarginRegressor(), generators.targets(6)),
    "ties": (ComparisonSVM(), generators.pairs_with_ties(7)),
    "both ways": (ComparisonSVM(ties="both_ways"), generators.pairs_with_ties(7)),
}


def data_of(sample):
    """Return X and y, and what else `fit` takes."""
    X = sample.X if sample.index is None else Pairs(sample.X, sample.index)
    more = {} if sample.qid is None else {"qid": sample.qid}
    return X, sample.y, more | {"sample_weight": sample.weight}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::widemargin.CollapseWarning")
def test_every_point_of_a_path_is_a_fit(name):
    """For each C the two optima lie between the same certified bounds, and the models have the same attributes.

    A path need not be exact: Newton may take over, whose linear models have `coef_` alone.
    """
    estimator, sample = CASES[name]
    X, y, more = data_of(sample)
    Cs = [2.0, 1e-3, 0.05]
    path = c_path(estimator, X, y, Cs, **more)
    assert_array_equal(path.Cs, Cs)
    assert np.all(path.gaps <= estimator.tol)
    for C, model, objective in zip(Cs, path.estimators, path.objectives, strict=True):
        alone = clone(estimator).set_params(C=C).fit(X, y, **more)
        assert model.get_params() == alone.get_params()
        spared = {"dual_coef_", "support_", "support_vectors_"} if model.solver_ != alone.solver_ else set()
        assert set(vars(model)) | spared == set(vars(alone)) | spared
        assert model.solver_ in {alone.solver_, "newton"}
        assert objective * (1 - model.duality_gap_) <= alone.objective_ * (1 + 1e-12)
        assert alone.objective_ * (1 - alone.duality_gap_) <= objective * (1 + 1e-12)
        assert_allclose(model.predict(X), alone.predict(X), atol=0.1 * np.ptp(alone.predict(X)))
    assert estimator.C == 1.0
    assert not hasattr(estimator, "n_features_in_")


def test_a_tight_path_equals_tight_fits():
    """At a fine tolerance the weights themselves agree, whatever the path before them."""
    X, y, more = data_of(MANY)
    path = c_path(RankingSVM(tol=1e-9), X, y, [1e-3, 1e-2, 1e-1, 1.0], **more)
    for C, model in zip(path.Cs, path.estimators, strict=True):
        alone = RankingSVM(C, tol=1e-9).fit(X, y, **more)
        assert_allclose(model.coef_, alone.coef_, atol=1e-3 * np.linalg.norm(alone.coef_))


@pytest.mark.parametrize("name", ["linear", "squared", "mean", "few pairs", "choice", "ties", "both ways", "targets"])
def test_an_answer_carried_to_a_larger_c_keeps_true_bounds(name):
    """Where the last model is good enough for the next C it is kept, and the optimum lies within its stated gap."""
    estimator, sample = CASES[name]
    estimator = clone(estimator).set_params(tol=0.05)
    X, y, more = data_of(sample)
    Cs = 2.0 * 1.002 ** np.arange(4)
    path = c_path(estimator, X, y, Cs, **more)
    best = [clone(estimator).set_params(C=C, tol=1e-8).fit(X, y, **more).objective_ for C in Cs]
    assert np.all(path.objectives * (1 - path.gaps) <= np.multiply(best, 1 + 1e-7))
    assert np.all(np.multiply(best, 1 - 1e-7) <= path.objectives)
    assert np.all(path.gaps <= 0.05)
    assert_array_equal(path.estimators[1].utility(sample.X), path.estimators[0].utility(sample.X))  # it was kept
    assert path.objectives[1] > path.objectives[0]


@pytest.mark.parametrize("how", [{}, {"kernel": "rbf", "gamma": 0.5}, {"kernel": "poly", "degree": 2}])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_ordinal_paths_have_the_thresholds_of_fits(how, loss, monkeypatch):
    """Which pairs sit on the margin is exact along a path, though no point but the first meets all pairs."""
    sample = generators.ordered_labels(11, n=150)
    Cs = np.geomspace(1e-3, 10.0, 8)
    alone = [OrdinalSVM(C, loss=loss, **how).fit(sample.X, sample.y) for C in Cs]
    path = c_path(OrdinalSVM(loss=loss, **how), sample.X, sample.y, Cs)
    for model, own in zip(path.estimators, alone, strict=True):
        assert_allclose(model.thresholds_, own.thresholds_, atol=1e-6)
        assert_allclose(model.utility(sample.X), own.utility(sample.X), atol=1e-6)
        assert model.duality_gap_ <= 1e-9
    n_whole, sizes, whole = 0, [], iterations.scaled_problem
    monkeypatch.setattr(iterations, "scaled_problem", lambda rows, *a: sizes.append(rows.shape[0]) or whole(rows, *a))
    for seed in (11, 12, 13):
        sizes.clear()
        other = generators.ordered_labels(seed, n=150)
        c_path(OrdinalSVM(loss=loss, **how), other.X, other.y, Cs)
        n_whole += sizes.count(max(sizes))
    assert n_whole < 3 * len(Cs) / 2  # the way round all pairs is taken


def test_exact_paths_meet_all_pairs_once(monkeypatch):
    """Also at a large C, where the pairs near their margin have an objective of several times that of all."""
    data, sizes, whole = make_ordinal(200, random_state=0), [], iterations.scaled_problem
    monkeypatch.setattr(iterations, "scaled_problem", lambda rows, *a: sizes.append(rows.shape[0]) or whole(rows, *a))
    path = c_path(OrdinalSVM(), data.X, data.y, np.geomspace(1e-4, 1e2, 20))
    assert sizes.count(max(sizes)) == 1
    assert path.gaps.max() <= 1e-9


@pytest.mark.parametrize(("budget", "n_newton"), [(0.0, 0), (0.003, None), (np.inf, 8)])
def test_newton_is_given_up_on_a_path_where_it_is_dearer_than_another_solver(budget, n_newton, monkeypatch):
    """A kernel at a large C: then the other values of C are not tried with it; before, as with no limit."""
    X, y = np.random.default_rng(0).normal(size=(120, 3)), np.arange(120) % 4
    Cs, model = np.geomspace(1e-2, 1e3, 8), RankingSVM(kernel="rbf", gamma=1.0)
    best = [clone(model).set_params(C=C, tol=1e-8).fit(X, y).objective_ for C in Cs]
    monkeypatch.setattr("widemargin._core.prices.implicit_pairs", lambda *_: budget)
    monkeypatch.setattr("widemargin._solving_levels.WALK_PARTNERS", 0)
    path = c_path(model, X, y, Cs)
    solvers = [m.solver_ for m in path.estimators]
    found = solvers.count("newton")
    assert found == n_newton or (n_newton is None and 0 < found < 8)
    assert solvers == found * ["newton"] + (8 - found) * ["interior_point"]
    assert path.gaps.max() <= 1e-4
    assert_allclose(path.objectives, best, rtol=1e-4)


def test_an_exact_solution_from_far_away_is_the_exact_solution_or_none():
    """Whatever utilities are guessed, what comes back is the interior point's optimum, with a true bound."""
    sample = generators.ordered_labels(12, n=80)
    codes = np.unique(sample.y, return_inverse=True)[1]
    rows = comparisons.from_levels(codes, np.zeros_like(codes), np.ones(codes.size)).rows()
    map_, found = maps.LinearMap(sample.X), 0
    best = interior_point(rows, map_, 0.1, HINGE, tol=1e-9, max_iter=200)
    exact = map_.forward_exact(best.weights)
    for size in (0.0, 0.1, 1.0, 10.0):
        u = exact + size * np.random.default_rng(0).normal(size=exact.size)
        near = from_nearby(rows, map_, 0.1, HINGE, u, 200)
        if near is not None:
            found += 1
            assert_allclose(near.weights, best.weights, atol=1e-8)
            assert near.objective == pytest.approx(best.objective, rel=1e-10)
            assert near.dual <= best.objective * (1 + 1e-12)
            v = map_.adjoint_exact(near.coefficients)
            assert_allclose(v, near.weights, atol=1e-7)
    assert found >= 2


def test_hard_margins_are_the_end_of_a_path():
    """C = inf writes other rows in some machines; on a path it gives what it gives alone."""
    sample = generators.pairs_with_ties(7, gap=1.0)
    for estimator in (ComparisonSVM(), ComparisonSVM(ties="threshold")):
        path = c_path(estimator, *data_of(sample)[:2], [np.inf, 1.0])
        alone = clone(estimator).set_params(C=np.inf).fit(*data_of(sample)[:2])
        assert path.objectives[0] == pytest.approx(alone.objective_, rel=1e-9)


def test_equal_values_of_c_share_a_fit_and_an_integer_is_a_grid():
    """Repeated values give one model; an integer asks for a grid from 1e-4 to 1e4."""
    path = c_path(RankingSVM(), FEW.X, FEW.y, [1.0, 2.0, 1.0], qid=FEW.qid)
    assert path.estimators[0] is path.estimators[2]
    assert_allclose(c_path(RankingSVM(), FEW.X, FEW.y, 3, qid=FEW.qid).Cs, [1e-4, 1.0, 1e4])


def test_progress_is_a_line_for_each_c(capsys):
    """`verbose` tells how far the path is, and how good each point."""
    c_path(RankingSVM(), FEW.X, FEW.y, [1.0, 2.0], qid=FEW.qid, verbose=True)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == ["c_path 1/2: C=1", "c_path 2/2: C=2"]
    assert all("duality gap" in line for line in lines)


@pytest.mark.parametrize("Cs", [[], [1.0, 0.0], [-1.0], [np.nan], [[1.0]], 0])
def test_values_that_are_no_c_are_refused(Cs):
    """A path needs positive numbers."""
    with pytest.raises(ValueError, match=r"Cs=.*expected"):
        c_path(RankingSVM(), FEW.X, FEW.y, Cs, qid=FEW.qid)


def test_a_point_that_does_not_converge_warns_and_says_so():
    """A path hides nothing."""
    X, y, more = data_of(MANY)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        path = c_path(RankingSVM(kernel="rbf", max_iter=1, tol=1e-6), X, y, [10.0], **more)
    assert not path.estimators[0].converged_


def by_hand(machine, Cs, folds, X, y, qid, score):
    """Return the scores of plain fits, fold by fold and C by C."""
    return np.array(
        [
            [score(clone(machine).set_params(C=C).fit(X[a], y[a], qid=qid[a]), X[b], y[b], qid[b]) for C in Cs]
            for a, b in folds
        ]
    )


@pytest.mark.parametrize("scoring", [None, "ndcg", ndcg_scorer, "callable"])
def test_c_is_chosen_by_the_score_of_held_out_queries(scoring):
    """The scores are those of plain fits on the folds of whole queries; C_ is the best, of equals the smallest."""
    scores = {
        None: lambda m, X, y, q: m.score(X, y, qid=q),
        "callable": lambda m, X, y, q: -float(np.mean((y - m.predict(X)) ** 2)) + 0.0 * len(q),
    }
    want = scores.get(scoring, lambda m, X, y, q: ndcg_score(y, m.predict(X), qid=q))
    given = (lambda m, X, y: -float(np.mean((y - m.predict(X)) ** 2))) if scoring == "callable" else scoring
    sample, Cs = generators.graded_queries(8, n_queries=7), np.array([10.0, 1e-3, 0.1])
    sample.y[sample.qid == 1] = np.arange(np.sum(sample.qid == 1)) % 3
    keep = sample.qid < 7  # the query of one row has nothing to score
    X, y, qid = sample.X[keep], sample.y[keep], sample.qid[keep]
    model = RankingSVMCV(Cs, cv=3, scoring=given, tol=1e-9).fit(X, y, qid=qid)
    table = by_hand(RankingSVM(tol=1e-9), Cs, QueryKFold(3).split(X, groups=qid), X, y, qid, want)
    assert_allclose(model.scores_, table, atol=1e-6)
    mean = table.mean(axis=0)
    assert min(Cs[mean >= mean.max() - 1e-9]) == model.C_
    alone = RankingSVM(model.C_, tol=1e-9).fit(X, y, qid=qid)
    assert_array_equal(model.coef_, alone.coef_)
    assert_array_equal(model.rank(X, qid), alone.rank(X, qid))
    assert model.score(X, y, qid=qid) == alone.score(X, y, qid=qid)


def test_splitters_of_scikit_learn_get_the_queries():
    """A splitter gets qid as groups, so that GroupKFold splits queries too."""
    X, y, qid = FEW.X, FEW.y, FEW.qid
    model = RankingSVMCV([0.1, 1.0], cv=GroupKFold(2)).fit(X, y, qid=qid)
    table = by_hand(
        RankingSVM(), [0.1, 1.0], GroupKFold(2).split(X, y, qid), X, y, qid, lambda m, X, y, q: m.score(X, y, qid=q)
    )
    assert_allclose(model.scores_, table, atol=1e-6)


@pytest.mark.parametrize("make", [sparse.csr_array, pd.DataFrame, lambda X: X.tolist(), lambda X: X.astype(np.float32)])
def test_any_kind_of_x_is_split(make):
    """Sparse matrices, frames, lists and float32 give the scores that arrays give."""
    want = RankingSVMCV([0.1, 1.0], cv=2).fit(FEW.X, FEW.y, qid=FEW.qid)
    have = RankingSVMCV([0.1, 1.0], cv=2).fit(make(FEW.X), FEW.y, qid=FEW.qid)
    assert_allclose(have.scores_, want.scores_, atol=1e-6)


def test_a_query_column_and_a_precomputed_kernel_are_split():
    """`qid` may name a column; a kernel matrix loses the held-out rows and columns."""
    want = RankingSVMCV([0.1, 1.0], cv=2).fit(FEW.X, FEW.y, qid=FEW.qid)
    frame = pd.DataFrame(FEW.X, columns=list("abc")).assign(q=FEW.qid)
    assert_allclose(RankingSVMCV([0.1, 1.0], cv=2).fit(frame, FEW.y, qid="q").scores_, want.scores_)
    want = RankingSVMCV([0.1, 1.0], cv=2, kernel="rbf", gamma=0.5).fit(FEW.X, FEW.y, qid=FEW.qid)
    K = rbf_kernel(FEW.X, gamma=0.5)
    have = RankingSVMCV([0.1, 1.0], cv=2, kernel="precomputed").fit(K, FEW.y, qid=FEW.qid)
    assert_allclose(have.scores_, want.scores_, atol=1e-6)


def test_pairs_and_labels_have_their_own_folds():
    """Both orientations of a pair stay in one fold; labels are dealt so that each fold has its share."""
    sample = generators.pairs_with_ties(7, n_pairs=60)
    pairs = Pairs(sample.X, sample.index)
    model = ComparisonSVMCV([0.1, 10.0], cv=3).fit(pairs, sample.y)
    for scores, (a, b) in zip(model.scores_, PairKFold(3).split(pairs), strict=True):
        alone = [ComparisonSVM(C).fit(pairs[a], sample.y[a]).score(pairs[b], sample.y[b]) for C in (0.1, 10.0)]
        assert_allclose(scores, alone)
    sample = generators.ordered_labels(3, n=40)
    model = OrdinalSVMCV([0.1, 10.0], cv=4).fit(sample.X, sample.y)
    assert model.scores_.shape == (4, 2)
    assert_array_equal(model.predict(sample.X), OrdinalSVM(model.C_).fit(sample.X, sample.y).predict(sample.X))


def test_queries_reach_a_pipeline_and_a_search_by_routing():
    """One `qid` is routed through Pipeline and GridSearchCV to the choice of C inside."""
    with config_context(enable_metadata_routing=True):
        pipe = make_pipeline(StandardScaler(), RankingSVMCV([0.1, 1.0], cv=2))
        pipe.fit(FEW.X, FEW.y, qid=FEW.qid)
        Z = StandardScaler().fit_transform(FEW.X)
        assert_allclose(pipe[-1].scores_, RankingSVMCV([0.1, 1.0], cv=2).fit(Z, FEW.y, qid=FEW.qid).scores_)
        search = GridSearchCV(pipe, {"rankingsvmcv__loss": ["hinge", "squared_hinge"]}, cv=QueryKFold(2))
        search.fit(MANY.X[::6], MANY.y[::6], qid=MANY.qid[::6])
        assert np.isfinite(search.best_score_)


def test_folds_run_in_parallel_with_the_same_scores():
    """`n_jobs` changes the time, not the scores."""
    want = RankingSVMCV([0.1, 1.0], cv=2).fit(FEW.X, FEW.y, qid=FEW.qid)
    with parallel_config(backend="threading"):
        have = RankingSVMCV([0.1, 1.0], cv=2, n_jobs=2).fit(FEW.X, FEW.y, qid=FEW.qid)
    assert_array_equal(have.scores_, want.scores_)


def test_a_scoring_that_means_nothing_is_refused():
    """A number is no scorer, and a misspelt name is none."""
    with pytest.raises(TypeError, match=r"scoring=3 .*expected None, a name, or a callable"):
        RankingSVMCV(scoring=3).fit(FEW.X, FEW.y, qid=FEW.qid)
    with pytest.raises(ValueError, match="ndgc"):
        RankingSVMCV(scoring="ndgc").fit(FEW.X, FEW.y, qid=FEW.qid)


def test_group_sizes_become_queries():
    """LightGBM's sizes and our ids say the same; what is no list of counts is refused."""
    assert_array_equal(qid_from_group_sizes([2, 0, 3]), [0, 0, 2, 2, 2])
    for wrong in ([1.5, 2.0], [-1, 2], 3, [[1, 2]]):
        with pytest.raises(ValueError, match=r"sizes=.*expected a list of row counts"):
            qid_from_group_sizes(wrong)


def warm_and_cold(machine, X, y, **more):
    """Return a second fit that starts from the first one's weights, at another C and with more rows; and a cold one."""
    warm = machine(C=1e-3, warm_start=True)
    fewer = {name: values[:-40] for name, values in more.items()}
    warm.fit(X[:-40], y[:-40], **fewer).set_params(C=1.5e-3).fit(X, y, **more)
    return warm, machine(C=1.5e-3).fit(X, y, **more)


@pytest.mark.parametrize("machine", [RankingSVM, OrdinalSVM])
def test_a_warm_start_takes_fewer_steps_to_the_same_certificate(machine):
    """Another C and more rows: from the last weights, Newton has less to do, and proves as much."""
    data = make_graded_queries(200, docs_per_query=20, n_features=8, noise=0.5, random_state=0)
    more = {"qid": data.qid} if machine is RankingSVM else {}
    warm, cold = warm_and_cold(machine, data.X, data.y, **more)
    assert warm.solver_ == cold.solver_ == "newton"
    assert warm.duality_gap_ <= warm.tol
    assert abs(warm.objective_ - cold.objective_) <= warm.tol * cold.objective_
    assert warm.n_iter_ < cold.n_iter_
    again = machine(C=1.5e-3, warm_start=True).fit(data.X, data.y, **more)
    np.testing.assert_array_equal(again.coef_, cold.coef_)  # the first fit has nothing to start from


def test_a_warm_start_is_cold_where_the_last_weights_do_not_fit():
    """Other features, a Gram matrix or a kernel: the fit is what it is without warm_start."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    model = RankingSVM(C=1e-3, warm_start=True)
    for n_features, kernel in [(5, "linear"), (7, "linear"), (300, "linear"), (300, "linear"), (7, "rbf"), (7, "rbf")]:
        X = rng.normal(size=(300, n_features))
        model.set_params(kernel=kernel).fit(X, y)
        cold = RankingSVM(C=1e-3, kernel=kernel).fit(X, y)
        assert model.solver_ == cold.solver_
        np.testing.assert_array_equal(model.utility(X), cold.utility(X))


def test_cross_validated_machines_keep_their_parameters():
    """A fit learns attributes and leaves every parameter as it was, n_jobs included."""
    model = RankingSVMCV(Cs=[0.1, 1.0], cv=2, n_jobs=2, tol=1e-3)
    before = model.get_params()
    model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    assert model.get_params() == before
    assert not {"C", "warm_start"} & set(vars(model))


@pytest.mark.filterwarnings("ignore::widemargin.exceptions.CollapseWarning")
@pytest.mark.parametrize("tiny", [1e-11, 1e-13])
def test_a_path_leaves_a_collapsed_model(tiny):
    """Zero is as good as any model at a tiny C; its bound is that of multipliers, and does not grow with C."""
    rng = np.random.default_rng(0)
    X, ends = rng.normal(size=(10, 3)), rng.integers(0, 10, (300, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    y = np.sign(np.round(2.0 * (X[ends[:, 0], 0] - X[ends[:, 1], 0]) + rng.normal(size=ends.shape[0]))).astype(int)
    path = c_path(ComparisonSVM(), Pairs(X, ends), y, [tiny, 1e-2, 1.0])
    alone = ComparisonSVM(C=1.0).fit(Pairs(X, ends), y)
    assert path.objectives[-1] == pytest.approx(alone.objective_, rel=1e-4)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_C_whose_squares_underflow_says_nothing_of_larger_ones(kernel):
    """Its multipliers have a norm of zero, which they would not have for another C."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    model = MarginClassifier(kernel=kernel)
    path = c_path(model, X, X[:, 0] > 0, [1e-200, 1.0])
    assert path.objectives[1] == pytest.approx(model.fit(X, X[:, 0] > 0).objective_, rel=1e-3)


def test_newton_on_the_way_to_an_exact_solution_ends_at_its_price(monkeypatch):
    """Where a kernel nearly separates few items, each C took sixty steps first, and then what fits begin with."""
    rng, seen, run = np.random.default_rng(0), [], Ascent.run
    X = rng.normal(size=(120, 30))
    u = X[:, 0] + rng.normal(size=120)
    y, Cs = np.digitize(u, np.quantile(u, [0.25, 0.5, 0.75])), [0.1, 1.0, 10.0, 100.0]
    monkeypatch.setattr(Ascent, "run", lambda *args: (found := run(*args), seen.append(found[0]))[0])
    path = c_path(OrdinalSVM(kernel="rbf"), X, y, Cs)
    assert sum(seen) <= 20
    alone = [OrdinalSVM(C=C, kernel="rbf").fit(X, y).objective_ for C in Cs]
    assert_allclose(path.objectives, alone, rtol=1e-9)
