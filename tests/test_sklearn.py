"""Every estimator inside scikit-learn: its checks, clones, frames, weights, sparse and float32 X, searches, kernels."""

import pickle
import tracemalloc
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import generators
import widemargin
from widemargin import (
    ComparisonSVM,
    MarginClassifier,
    MarginRegressor,
    OnItems,
    OrdinalSVM,
    Pairs,
    RankingSVM,
    RankingVectorMachine,
    TopRankSVM,
)
from widemargin.kernels import RBF, Linear, Polynomial
from widemargin.model_selection import ItemDisjointKFold, PairKFold, QueryKFold

TIGHT = {"tol": 1e-9}
GAMMA = 0.3


@dataclass(frozen=True)
class Case:
    """An estimator, data for it, and the ways it is used."""

    cls: type
    sample: generators.Sample
    options: tuple = ({},)  # what distinguishes its formulations
    fixed: dict = field(default_factory=dict)

    def make(self, **params):
        """Return a new estimator."""
        return self.cls(**{**TIGHT, **self.fixed, **params})

    def fit(self, model, s=None, X=None, sample_weight=None):
        """Fit on the sample, with another X if given."""
        s = self.sample if s is None else s
        X = s.X if X is None else X
        metadata = {} if s.qid is None else {"qid": s.qid}
        metadata |= {} if sample_weight is None else {"sample_weight": sample_weight}
        return model.fit(X if s.index is None else Pairs(X, s.index), s.y, **metadata)

    def predict(self, model, X=None):
        """Predict for new rows; where X is pairs, each row against the next."""
        X = self.sample.new if X is None else X
        if self.sample.index is None:
            return model.predict(X)
        n = X.shape[0]
        return model.predict(Pairs(X, np.column_stack([np.arange(n - 1), np.arange(1, n)])))


HINGES = ({"loss": "hinge"}, {"loss": "squared_hinge"})
TUBES = ({"loss": "epsilon_insensitive"}, {"loss": "squared_epsilon_insensitive"})
TIES = tuple({"ties": t, **h} for t in ("margin", "threshold", "both_ways") for h in HINGES)
SLACKS = tuple({"slack": s, **h} for s in ("task", "pair") for h in HINGES)
VECTORS = ({"vectors": "points"}, {"vectors": "pairs"})

CASES = {
    "MarginClassifier": Case(MarginClassifier, generators.classes(3, n_classes=3), HINGES),
    "MarginRegressor": Case(MarginRegressor, generators.targets(3), TUBES),
    "OrdinalSVM": Case(OrdinalSVM, generators.ordered_labels(3), HINGES),
    "RankingSVM": Case(RankingSVM, generators.graded_queries(3), HINGES),
    "RankingVectorMachine": Case(RankingVectorMachine, generators.graded_queries(3), VECTORS),
    "ComparisonSVM": Case(ComparisonSVM, generators.pairs_with_ties(3), TIES, {"class_weight": {-1: 1, 0: 1, 1: 1}}),
    "TopRankSVM": Case(TopRankSVM, generators.choices(3), SLACKS),
}
PLAIN = [name for name in CASES if name != "ComparisonSVM"]
RANKERS = ["RankingSVM", "RankingVectorMachine", "TopRankSVM"]
KERNELS = {
    "linear": {"kernel": "linear"},
    "rbf": {"kernel": "rbf", "gamma": GAMMA},
    "poly": {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0},
    "object": {"kernel": RBF(GAMMA) + Linear()},
    "low_rank": {"kernel": "rbf", "gamma": GAMMA, "n_components": 8},
}
FORMULATIONS = [
    pytest.param(name, options, id="-".join([name, *options.values()]))
    for name, case in CASES.items()
    for options in case.options
]


def same(have, want, tol=1e-6):
    """Assert equality to `tol` of the largest value."""
    have, want = np.asarray(have, dtype=float), np.asarray(want, dtype=float)
    assert_allclose(have, want, rtol=0, atol=tol * max(np.abs(want).max(), 1e-12))


def same_model(case, have, want, X=None, tol=1e-6):
    """Assert that two fitted models have one optimum: objective, utilities, cuts."""
    X = case.sample.new if X is None else X
    assert have.objective_ == pytest.approx(want.objective_, rel=tol)
    same(have.utility(X), want.utility(X), tol)
    for name in ("intercept_", "thresholds_", "tie_width_"):
        if hasattr(want, name):
            assert_allclose(getattr(have, name), getattr(want, name), rtol=tol, atol=tol)


# scikit-learn's own checks ------------------------------------------------------------------------


def discovered():
    """Return one estimator of each public class that takes an ordinary X, and one with a kernel where it is quick."""
    found = [getattr(widemargin, name) for name in widemargin.__all__]
    classes = [cls for cls in found if isinstance(cls, type) and issubclass(cls, BaseEstimator)]
    ordinary = [
        cls(Cs=[1.0], cv=2) if cls.__name__.endswith("CV") else cls()
        for cls in classes
        if not issubclass(cls, (ComparisonSVM, OnItems))
    ]
    return [
        *ordinary,
        MarginClassifier(kernel="rbf", gamma=0.5),
        MarginRegressor(kernel="rbf", gamma=0.5, loss="squared_epsilon_insensitive"),
        TopRankSVM(slack="pair", loss="squared_hinge"),
    ]


def expected_failures(estimator):
    """Return the checks that cannot hold, with the reason."""
    if isinstance(estimator, OrdinalSVM):
        return {"check_classifiers_classes": "string labels have no order; classes= gives one"}
    return {}


@pytest.mark.filterwarnings("ignore::widemargin.CollapseWarning")  # one set of random choices: u = 0 is optimal
@parametrize_with_checks(discovered(), expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    """Every estimator that takes an ordinary X passes scikit-learn's checks unpatched."""
    check(estimator)


def test_all_public_estimators_are_tested_here():
    """A new estimator joins these tests by being public; those that choose C are held by tests/test_path.py."""
    found = [getattr(widemargin, name) for name in widemargin.__all__]
    names = {cls.__name__ for cls in found if isinstance(cls, type) and issubclass(cls, BaseEstimator)}
    assert {name.removesuffix("CV") for name in names} == {*CASES, "OnItems"}


# The contract of an estimator, for those that take pairs too --------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_a_clone_has_the_same_parameters_and_is_not_fitted(name):
    """`clone` copies what the user wrote, and nothing that was learned."""
    model = CASES[name].fit(CASES[name].make(C=0.7))
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not [a for a in vars(copy) if a.endswith("_")]


@pytest.mark.parametrize("name", CASES)
def test_get_params_and_set_params_are_inverse(name):
    """Every parameter can be read, set, and read again; an unknown one is refused."""
    model = CASES[name].cls()
    changed = {"C": 3.5, "kernel": "rbf", "gamma": 0.25, "tol": 1e-7, "C_scale": "mean"}
    assert model.set_params(**changed) is model
    assert {k: model.get_params()[k] for k in changed} == changed
    with pytest.raises(ValueError, match="Invalid parameter 'penalty'"):
        model.set_params(penalty="l1")


@pytest.mark.parametrize("name", CASES)
def test_fit_returns_self_and_leaves_parameters_alone(name):
    """`fit` returns the estimator and writes to no constructor parameter."""
    case = CASES[name]
    model = case.make(kernel="rbf")
    before = pickle.dumps(model.get_params())
    assert case.fit(model) is model
    assert pickle.dumps(model.get_params()) == before


@pytest.mark.parametrize("name", CASES)
def test_an_unfitted_model_says_so(name):
    """Methods that need a fitted model raise NotFittedError."""
    case = CASES[name]
    with pytest.raises(NotFittedError):
        case.predict(case.make())
    with pytest.raises(NotFittedError):
        case.make().utility(case.sample.new)


@pytest.mark.parametrize("name", CASES)
def test_fitting_twice_gives_the_same_model(name):
    """A second fit on the same data changes nothing: no state is carried over."""
    case = CASES[name]
    model = case.fit(case.make())
    before = model.utility(case.sample.new)
    assert_array_equal(case.fit(model).utility(case.sample.new), before)


@pytest.mark.parametrize("name", CASES)
def test_attributes_are_what_the_reference_says(name):
    """The learned attributes exist, with their types and shapes."""
    case = CASES[name]
    s, model = case.sample, case.fit(case.make())
    assert model.n_features_in_ == s.X.shape[1]
    assert model.coef_.shape[-1] == s.X.shape[1]
    assert model.coef_.dtype == np.float64
    assert len(model.dual_coef_) == len(model.support_) == len(model.support_vectors_)
    assert_array_equal(model.support_vectors_, s.X[model.support_])
    assert model.n_iter_ >= 1
    assert model.converged_ is True
    assert 0 <= model.duality_gap_ <= TIGHT["tol"]
    assert model.objective_ > 0
    assert isinstance(model.solver_, str)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", CASES)
def test_a_pickle_predicts_the_same(name, kernel):
    """A model that went through a file gives the same predictions, bit for bit."""
    case = CASES[name]
    model = case.fit(case.make(**KERNELS[kernel]))
    back = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert_array_equal(back.utility(case.sample.new), model.utility(case.sample.new))
    assert_array_equal(case.predict(back), case.predict(model))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", CASES)
def test_a_clone_learns_the_same(name, kernel):
    """A clone fitted on the same data is the same model, bit for bit."""
    case = CASES[name]
    model = case.fit(case.make(**KERNELS[kernel]))
    assert_array_equal(case.fit(clone(model)).utility(case.sample.new), model.utility(case.sample.new))


@pytest.mark.parametrize("name", CASES)
def test_utility_is_the_kernel_expansion(name):
    """`utility` = K(X, support_vectors_) @ dual_coef_, for a kernel and for the linear map."""
    case = CASES[name]
    model = case.fit(case.make(kernel="rbf", gamma=GAMMA))
    K = rbf_kernel(case.sample.new, model.support_vectors_, gamma=GAMMA)
    same(model.utility(case.sample.new), K @ model.dual_coef_, 1e-12)
    linear = case.fit(case.make())
    same(linear.utility(case.sample.new), case.sample.new @ linear.support_vectors_.T @ linear.dual_coef_)
    same(linear.utility(case.sample.new), case.sample.new @ linear.coef_.T, 1e-12)


def test_on_items_keeps_the_contract_of_a_transformer():
    """`OnItems` clones, pickles, returns self, refuses to transform unfitted, and leaves its transformer alone."""
    s = CASES["ComparisonSVM"].sample
    pairs, scaler = Pairs(s.X, s.index), StandardScaler()
    step = OnItems(scaler)
    assert step.get_params()["transformer__with_mean"] is True
    with pytest.raises(NotFittedError):
        step.transform(pairs)
    assert step.fit(pairs) is step
    assert not hasattr(scaler, "mean_")
    want = StandardScaler().fit_transform(s.X)
    for fitted in (step, pickle.loads(pickle.dumps(step)), clone(step).fit(pairs)):  # noqa: S301
        assert_array_equal(fitted.transform(pairs).items, want)
        assert_array_equal(fitted.transform(pairs).index, s.index)


def test_on_items_knows_its_features():
    """`n_features_in_` and the names out, as of any transformer; unfitted, it says so."""
    s = CASES["ComparisonSVM"].sample
    step = OnItems(StandardScaler())
    with pytest.raises(NotFittedError):
        step.get_feature_names_out()
    step.fit(Pairs(pd.DataFrame(s.X, columns=["a", "b", "c"]), s.index))
    assert step.n_features_in_ == 3
    assert_array_equal(step.get_feature_names_out(), ["a", "b", "c"])


def test_on_items_gives_pairs_whatever_output_is_configured():
    """transform_output="pandas" is about tables; pairs stay pairs."""
    case = CASES["ComparisonSVM"]
    pairs = Pairs(pd.DataFrame(case.sample.X, columns=["a", "b", "c"]), case.sample.index)
    want = make_pipeline(OnItems(StandardScaler()), ComparisonSVM()).fit(pairs, case.sample.y).predict(pairs)
    with config_context(transform_output="pandas"):
        have = make_pipeline(OnItems(StandardScaler()), ComparisonSVM()).fit(pairs, case.sample.y).predict(pairs)
    assert_array_equal(have, want)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, sparse.csr_array], ids=["pandas", "polars", "csr"])
def test_on_items_takes_frames_and_sparse_items(make):
    """Items may be anything that the transformer takes."""
    s = CASES["ComparisonSVM"].sample
    pipe = make_pipeline(OnItems(StandardScaler(with_mean=False)), ComparisonSVM())
    want = pipe.fit(Pairs(s.X, s.index), s.y).decision_function(Pairs(s.X, s.index))
    pairs = Pairs(make(s.X), s.index)
    same(pipe.fit(pairs, s.y).decision_function(pairs), want, 1e-8)


def test_on_items_fits_on_the_items_of_training_pairs_only():
    """Items that occur in no training pair do not leak into the transformer, and each other counts once."""
    items = np.array([[0.0], [2.0], [100.0]])
    step = OnItems(StandardScaler()).fit(Pairs(items, [(0, 1), (1, 0), (0, 1)]))
    assert step.transformer_.mean_ == pytest.approx(1.0)


# Frames -------------------------------------------------------------------------------------------

FRAMES = {"pandas": pd.DataFrame, "polars": lambda X, columns: pl.DataFrame(X, schema=list(columns))}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("name", CASES)
def test_feature_names_are_kept_and_checked(name, frame):
    """A frame's columns become `feature_names_in_`; other names, or another number of columns, are refused."""
    case = CASES[name]
    make = FRAMES[frame]
    names = ["a", "b", "c"]
    model = case.fit(case.make(), X=make(case.sample.X, columns=names))
    assert_array_equal(model.feature_names_in_, names)
    want = case.fit(case.make()).utility(case.sample.new)
    same(model.utility(make(case.sample.new, columns=names)), want, 1e-10)
    with pytest.raises(ValueError, match=r"feature names should match"):
        model.utility(make(case.sample.new, columns=["a", "c", "b"]))
    with pytest.raises(ValueError, match=r"X has 2 features, but \w+ is expecting 3"):
        case.fit(case.make()).utility(case.sample.new[:, :2])


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("name", RANKERS)
def test_qid_can_name_a_column_of_a_frame(name, frame):
    """`qid="q"` takes the query ids out of the frame, in fit, score and rank; predict ignores the column."""
    case, s = CASES[name], CASES[name].sample
    plain = FRAMES[frame](s.X, columns=["a", "b", "c"])
    ids = [f"query {q}" for q in s.qid]
    full = plain.assign(q=ids) if frame == "pandas" else plain.with_columns(q=pl.Series(ids))
    want = case.make().fit(s.X, s.y, qid=s.qid)
    model = case.make().fit(full, s.y, qid="q")
    assert_array_equal(model.feature_names_in_, ["a", "b", "c"])
    same(model.utility(plain), want.utility(s.X), 1e-10)
    assert_array_equal(model.predict(full), model.utility(plain))
    assert model.score(full, s.y, qid="q") == want.score(s.X, s.y, qid=s.qid)
    assert_array_equal(model.rank(full, qid="q"), want.rank(s.X, qid=s.qid))
    with pytest.raises(ValueError, match="qid='session' names a column, but X has no such column"):
        case.make().fit(full, s.y, qid="session")


# Weights ------------------------------------------------------------------------------------------


def repeated(s, weight):
    """Return the sample with each row (or pair) given as often as its weight says."""
    keep = np.repeat(np.arange(weight.size), weight)
    if s.index is not None:
        return replace(s, y=s.y[keep], index=s.index[keep])
    return replace(s, X=s.X[keep], y=s.y[keep], qid=None if s.qid is None else s.qid[keep])


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize(("name", "options"), FORMULATIONS)
def test_weight_two_is_the_row_twice_and_weight_zero_its_absence(name, options, kernel):
    """Integer weights and repeated rows are the same problem, with the same answer to 1e-6."""
    case = CASES[name]
    s = case.sample
    weight = np.random.default_rng(5).integers(0, 3, s.y.size)
    params = KERNELS[kernel] | options
    weighted = case.fit(case.make(**params), sample_weight=weight)
    written = case.fit(case.make(**params), s=repeated(s, weight))
    same_model(case, weighted, written)


@pytest.mark.parametrize("name", CASES)
def test_weights_of_one_change_nothing(name):
    """`sample_weight` of ones is no weight."""
    case = CASES[name]
    ones = np.ones(case.sample.y.size)
    want = case.fit(case.make()).utility(case.sample.new)
    assert_array_equal(case.fit(case.make(), sample_weight=ones).utility(case.sample.new), want)


@pytest.mark.parametrize("name", ["MarginClassifier", "MarginRegressor", "ComparisonSVM", "TopRankSVM"])
def test_doubling_all_weights_is_doubling_C(name):
    """Where a weight multiplies one slack, all weights 2 is C doubled."""
    case = CASES[name]
    weighted = case.fit(case.make(), sample_weight=np.full(case.sample.y.size, 2.0))
    same_model(case, weighted, case.fit(case.make(C=2.0)))


@pytest.mark.parametrize("name", ["OrdinalSVM", "RankingSVM", "RankingVectorMachine"])
def test_doubling_all_weights_of_items_is_four_times_C(name):
    """A pair weighs the product of its items' weights."""
    case = CASES[name]
    weighted = case.fit(case.make(), sample_weight=np.full(case.sample.y.size, 2.0))
    same_model(case, weighted, case.fit(case.make(C=4.0)))


# Sparse and float32 -------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array, sparse.csr_array], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", CASES)
def test_sparse_X_gives_the_model_of_dense_X(name, make, kernel):
    """CSR and CSC, matrix or array, for fitting and for scoring."""
    case = CASES[name]
    X = np.where(np.abs(case.sample.X) < 0.4, 0.0, case.sample.X)
    new = np.where(np.abs(case.sample.new) < 0.4, 0.0, case.sample.new)
    dense = case.fit(case.make(**KERNELS[kernel]), X=X)
    model = case.fit(case.make(**KERNELS[kernel]), X=make(X))
    assert model.objective_ == pytest.approx(dense.objective_, rel=1e-8)
    same(model.utility(make(new)), dense.utility(new))
    same(model.utility(new), dense.utility(new))
    same(case.predict(model, make(new).tocsr()), case.predict(dense, new))


def test_sparse_X_with_more_columns_than_rows_is_the_same_problem():
    """Bags of words: the wide sparse map gives the weights of the dense one."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((30, 200), density=0.05, rng=rng, format="csr")
    y = rng.integers(0, 3, 30)
    dense = RankingSVM(C=10, tol=1e-10).fit(X.toarray(), y)
    same(RankingSVM(C=10, tol=1e-10).fit(X, y).coef_, dense.coef_)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("name", CASES)
def test_float32_gives_the_model_of_its_values(name, kernel):
    """A float32 X is fitted as the numbers it holds: the same as their float64 copy, to float32's digits."""
    case = CASES[name]
    X = case.sample.X.astype(np.float32)
    model = case.fit(case.make(**KERNELS[kernel]), X=X)
    wide = case.fit(case.make(**KERNELS[kernel]), X=X.astype(np.float64))
    assert model.objective_ == pytest.approx(wide.objective_, rel=1e-5)
    same(model.utility(case.sample.new), wide.utility(case.sample.new), 1e-4)
    assert model.support_vectors_.dtype == np.float32
    assert model.utility(X).dtype == np.float64


def test_a_large_float32_X_is_never_copied_to_float64():
    """Fitting and scoring 40 MB of float32 takes less than X itself, and half of what a float64 copy would."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100_000, 100), dtype=np.float32)
    qid = np.repeat(np.arange(2000), 50)
    y = np.digitize(X[:, :5].sum(axis=1) + rng.standard_normal(100_000), [-1.5, 1.5])
    tracemalloc.start()
    model = RankingSVM(C=1e-4, tol=1e-2, loss="squared_hinge").fit(X, y, qid=qid)
    fit_peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    score = model.score(X, y, qid=qid)
    score_peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.coef_.dtype == np.float64
    assert score > 0.8
    assert fit_peak < 40e6
    assert score_peak < 40e6


# Searches with queries ----------------------------------------------------------------------------

GRID = [1e-3, 1e-1, 10.0]


def many_queries():
    """Return more queries than folds, features on different scales."""
    s = generators.graded_queries(1, n_queries=9, size=8)
    return replace(s, X=s.X * [1.0, 10.0, 100.0])


@pytest.mark.filterwarnings("ignore::widemargin.CollapseWarning")  # the smallest C of the grid may give u = 0
@pytest.mark.parametrize("name", RANKERS)
def test_a_search_with_routing_hands_qid_to_everyone(name):
    """Under metadata routing fit, score and the splitter get qid: the search is the loop one would write by hand."""
    s = generators.choices(1, n_sets=18) if name == "TopRankSVM" else many_queries()
    step = name.lower()
    with config_context(enable_metadata_routing=True):
        pipe = make_pipeline(StandardScaler(), CASES[name].cls())
        search = GridSearchCV(pipe, {f"{step}__C": GRID}, cv=QueryKFold(3), error_score="raise")
        search.fit(s.X, s.y, qid=s.qid)
    means = []
    for C in GRID:
        scores = []
        for train, test in QueryKFold(3).split(s.X, qid=s.qid):
            scaler = StandardScaler().fit(s.X[train])
            model = CASES[name].cls(C=C).fit(scaler.transform(s.X[train]), s.y[train], qid=s.qid[train])
            scores.append(model.score(scaler.transform(s.X[test]), s.y[test], qid=s.qid[test]))
        means.append(np.mean(scores))
    assert_allclose(search.cv_results_["mean_test_score"], means, rtol=1e-12)
    assert search.best_score_ == pytest.approx(max(means))
    assert search.best_score_ > (0.35 if name == "TopRankSVM" else 0.6)


@pytest.mark.filterwarnings("ignore::widemargin.CollapseWarning")
@pytest.mark.parametrize("name", RANKERS)
def test_a_search_without_routing_works_and_warns(name):
    """With routing off fit gets qid by its step's name and the splitter by groups; score warns that it has none."""
    s = generators.choices(1, n_sets=18) if name == "TopRankSVM" else many_queries()
    step = name.lower()
    pipe = make_pipeline(StandardScaler(), CASES[name].cls())
    search = GridSearchCV(pipe, {f"{step}__C": GRID}, cv=QueryKFold(3), error_score="raise")
    with pytest.warns(UserWarning, match=r"scored without qid.*enable_metadata_routing=True"):
        search.fit(s.X, s.y, groups=s.qid, **{f"{step}__qid": s.qid})
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))
    want = CASES[name].cls(C=search.best_params_[f"{step}__C"])
    want.fit(StandardScaler().fit_transform(s.X), s.y, qid=s.qid)
    same(search.best_estimator_[-1].coef_, want.coef_, 1e-9)


def test_scoring_without_qid_warns_only_when_several_queries_were_fitted():
    """One query needs no qid."""
    s = CASES["OrdinalSVM"].sample
    assert 0 <= RankingSVM().fit(s.X, s.y).score(s.X, s.y) <= 1
    assert 0 <= RankingSVM().fit(s.X, s.y, qid=np.ones(s.y.size)).score(s.X, s.y) <= 1


def test_weights_are_routed_with_qid():
    """A search passes sample_weight to fit and score when asked, beside qid."""
    s = many_queries()
    weight = np.random.default_rng(0).uniform(0.5, 2, s.y.size)
    with config_context(enable_metadata_routing=True):
        model = RankingSVM().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        have = cross_validate(
            model, s.X, s.y, params={"qid": s.qid, "sample_weight": weight}, cv=QueryKFold(3), error_score="raise"
        )["test_score"]
    want = []
    for train, test in QueryKFold(3).split(s.X, qid=s.qid):
        model = RankingSVM().fit(s.X[train], s.y[train], qid=s.qid[train], sample_weight=weight[train])
        want.append(model.score(s.X[test], s.y[test], qid=s.qid[test], sample_weight=weight[test]))
    assert_allclose(have, want, rtol=1e-12)


# Searches with pairs ------------------------------------------------------------------------------


@pytest.mark.parametrize("cv", [3, KFold(3), PairKFold(3)], ids=["stratified", "plain", "pair"])
def test_pairs_go_through_cross_validate_whole(cv):
    """A splitter cuts the pairs, never the items."""
    s = generators.pairs_with_ties(2, n_pairs=60)
    pairs = Pairs(s.X, s.index)
    out = cross_validate(ComparisonSVM(C=10), pairs, s.y, cv=cv, return_estimator=True, error_score="raise")
    assert np.all(out["test_score"] > 0.5)
    assert all(model.n_features_in_ == 3 for model in out["estimator"])


def test_pairs_go_through_the_item_disjoint_splitter():
    """`ItemDisjointKFold` is a cv like any other."""
    rng = np.random.default_rng(0)
    items = rng.normal(size=(40, 2))
    index = np.vstack([rng.integers(20 * k, 20 * k + 20, (80, 2)) for k in range(2)])
    index = index[index[:, 0] != index[:, 1]]
    y = np.sign(items[index[:, 0], 0] - items[index[:, 1], 0])
    scores = cross_val_score(ComparisonSVM(ties="threshold"), Pairs(items, index), y, cv=ItemDisjointKFold(2))
    assert np.all(scores > 0.8)


def test_a_search_over_pairs_scales_items_by_on_items():
    """A pipeline of `OnItems(StandardScaler())` and `ComparisonSVM` searches like the loop one would write."""
    s = generators.pairs_with_ties(2, n_pairs=60)
    pairs = Pairs(s.X * [1, 10, 100], s.index)
    pipe = make_pipeline(OnItems(StandardScaler()), ComparisonSVM())
    search = GridSearchCV(pipe, {"comparisonsvm__C": [0.1, 1.0, 10.0]}, cv=KFold(3), error_score="raise")
    search.fit(pairs, s.y)
    means = []
    for C in (0.1, 1.0, 10.0):
        scores = []
        for train, test in KFold(3).split(pairs):
            step = OnItems(StandardScaler()).fit(pairs[train])
            model = ComparisonSVM(C=C).fit(step.transform(pairs[train]), s.y[train])
            scores.append(model.score(step.transform(pairs[test]), s.y[test]))
        means.append(np.mean(scores))
    assert_allclose(search.cv_results_["mean_test_score"], means, rtol=1e-12)
    assert search.best_score_ > 0.7


def test_winners_and_losers_need_no_y():
    """Without y the first item won, in fit, score and a search."""
    rng = np.random.default_rng(0)
    items = rng.normal(size=(30, 2))
    index = np.column_stack([rng.permutation(30), rng.permutation(30)])
    index = index[index[:, 0] != index[:, 1]]
    won = items[index[:, 0], 0] > items[index[:, 1], 0]
    pairs = Pairs(items, np.where(won[:, None], index, index[:, ::-1]))
    ones = np.ones(len(pairs), dtype=int)
    model = ComparisonSVM(ties="threshold").fit(pairs)
    assert_array_equal(model.coef_, ComparisonSVM(ties="threshold").fit(pairs, ones).coef_)
    assert model.score(pairs, None) == model.score(pairs, ones)
    search = GridSearchCV(ComparisonSVM(ties="threshold"), {"C": [0.1, 1.0]}, cv=2, error_score="raise").fit(pairs)
    assert search.best_score_ > 0.8


def test_an_array_of_pairs_is_its_rows_as_items():
    """X of shape (n, 2, p) is Pairs over its 2n rows in order."""
    case = CASES["ComparisonSVM"]
    s = case.sample
    written = case.make().fit(s.X[s.index], s.y)
    model = case.fit(case.make())
    same(written.coef_, model.coef_)
    assert written.support_.max() < 2 * s.y.size
    assert_array_equal(written.support_vectors_, s.X[s.index].reshape(-1, 3)[written.support_])
    assert_array_equal(written.predict(s.X[s.index]), model.predict(Pairs(s.X, s.index)))


# Kernels ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_a_precomputed_kernel_is_the_kernel(name):
    """kernel="precomputed" with the matrix of an rbf kernel is kernel="rbf"."""
    case = CASES[name]
    s = case.sample
    want = case.fit(case.make(kernel="rbf", gamma=GAMMA))
    model = case.fit(case.make(kernel="precomputed"), X=rbf_kernel(s.X, gamma=GAMMA))
    assert model.objective_ == pytest.approx(want.objective_, rel=1e-8)
    same(model.utility(rbf_kernel(s.new, s.X, gamma=GAMMA)), want.utility(s.new))


@pytest.mark.parametrize("name", CASES)
def test_a_function_is_the_kernel(name):
    """A callable k(X, Z) that computes the rbf kernel is kernel="rbf"."""
    case = CASES[name]
    model = case.fit(case.make(kernel=lambda X, Z: rbf_kernel(X, Z, gamma=GAMMA)))
    same_model(case, model, case.fit(case.make(kernel="rbf", gamma=GAMMA)))


@pytest.mark.parametrize("name", CASES)
def test_kernel_objects_add_and_multiply(name):
    """k1 + k2 and k1 * k2 are the sum and the product of their matrices."""
    case = CASES[name]
    s = case.sample
    poly = Polynomial(2, gamma=1.0, coef0=1.0)
    for kernel in (RBF(GAMMA) + poly, RBF(GAMMA) * poly):
        parts = [rbf_kernel(X, s.X, gamma=GAMMA) for X in (s.X, s.new)], [(X @ s.X.T + 1) ** 2 for X in (s.X, s.new)]
        fit, new = (a + b if type(kernel).__name__ == "Sum" else a * b for a, b in zip(*parts, strict=True))
        want = case.fit(case.make(kernel="precomputed"), X=fit)
        have = case.fit(case.make(kernel=kernel))
        assert have.objective_ == pytest.approx(want.objective_, rel=1e-8)
        same(have.utility(s.new), want.utility(new))


@pytest.mark.parametrize("name", CASES)
def test_the_linear_kernel_object_is_the_linear_map(name):
    """kernel=Linear(), the matrix XX' and kernel="linear" are one model."""
    case = CASES[name]
    s = case.sample
    want = case.fit(case.make())
    same_model(case, case.fit(case.make(kernel=Linear())), want)
    gram = case.fit(case.make(kernel="precomputed"), X=s.X @ s.X.T)
    same(gram.utility(s.new @ s.X.T), want.utility(s.new))


@pytest.mark.parametrize("name", ["MarginClassifier", "MarginRegressor", "OrdinalSVM"])
def test_a_precomputed_kernel_is_cut_by_splitters_on_both_sides(name):
    """The pairwise tag makes cross-validation cut rows and columns: the scores are those of the kernel."""
    case = CASES[name]
    s = case.sample
    want = cross_val_score(case.make(kernel="rbf", gamma=GAMMA), s.X, s.y, cv=KFold(3))
    have = cross_val_score(case.make(kernel="precomputed"), rbf_kernel(s.X, gamma=GAMMA), s.y, cv=KFold(3))
    assert_allclose(have, want, rtol=1e-6)


def test_a_precomputed_kernel_over_items_of_pairs_is_not_cut():
    """The kernel of pairs is over items, which a splitter leaves whole."""
    s = generators.pairs_with_ties(2, n_pairs=60)
    want = cross_val_score(ComparisonSVM(kernel="rbf", gamma=GAMMA, C=10), Pairs(s.X, s.index), s.y, cv=KFold(3))
    pairs = Pairs(rbf_kernel(s.X, gamma=GAMMA), s.index)
    have = cross_val_score(ComparisonSVM(kernel="precomputed", C=10), pairs, s.y, cv=KFold(3), error_score="raise")
    assert_allclose(have, want)


@pytest.mark.parametrize("name", CASES)
def test_a_low_rank_kernel_of_full_rank_is_exact(name):
    """n_components = n leaves nothing out."""
    case = CASES[name]
    model = case.fit(case.make(kernel="rbf", gamma=GAMMA, n_components=case.sample.X.shape[0]))
    assert getattr(model, "kernel_loss_", 0.0) <= 1e-12
    same_model(case, model, case.fit(case.make(kernel="rbf", gamma=GAMMA)), tol=1e-5)


# Queries of any kind, rows in any order -----------------------------------------------------------

RELABEL = {
    "strings": lambda q: np.array([f"q{v}" for v in q]),
    "objects": lambda q: np.array([f"q{v}" for v in q], dtype=object),
    "floats": lambda q: q * -0.5 + 0.25,
    "huge": lambda q: q.astype(np.int64) * 10**15,
    "tuples": lambda q: [("day", int(v)) for v in q],
    "mixed": lambda q: [int(v) if v % 2 else f"q{v}" for v in q],
    "series": lambda q: pd.Series(q + 7, index=np.arange(q.size)[::-1]),
    "polars": lambda q: pl.Series([f"q{v}" for v in q]),
    "dates": lambda q: np.datetime64("2020-01-01") + q.astype("timedelta64[D]"),
}


@pytest.mark.parametrize("kind", RELABEL)
@pytest.mark.parametrize("name", RANKERS)
def test_query_ids_are_names_only(name, kind):
    """Any hashable ids, in any order of rows, give the model of integers."""
    case, s = CASES[name], CASES[name].sample
    ids = RELABEL[kind](s.qid)
    want = case.make().fit(s.X, s.y, qid=s.qid)
    model = case.make().fit(s.X, s.y, qid=ids)
    same_model(case, model, want)
    assert model.score(s.X, s.y, qid=ids) == pytest.approx(want.score(s.X, s.y, qid=s.qid), abs=1e-12)
    assert_array_equal(model.rank(s.X, qid=ids), want.rank(s.X, qid=s.qid))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("name", CASES)
def test_the_order_of_rows_does_not_matter(name, kernel):
    """Rows (or pairs) in another order give the same model."""
    case = CASES[name]
    s = case.sample
    order = np.random.default_rng(0).permutation(s.y.size)
    if s.index is not None:
        moved = replace(s, y=s.y[order], index=s.index[order])
    else:
        moved = replace(s, X=s.X[order], y=s.y[order], qid=None if s.qid is None else s.qid[order])
    model = case.fit(case.make(**KERNELS[kernel]), s=moved)
    same_model(case, model, case.fit(case.make(**KERNELS[kernel])))


def test_choose_names_rows_in_order_of_first_appearance():
    """One row position per set, sets as they first appear, ties to the first row."""
    model = TopRankSVM().fit([[0.0], [1.0]], [0, 1])
    X = [[1.0], [5.0], [5.0], [2.0], [3.0]]
    assert_array_equal(model.choose(X, ["z", "a", "a", "z", "z"]), [4, 1])
    assert_array_equal(model.choose(X), [1])


def test_rank_gives_ties_the_smallest_rank():
    """1 is the best; equal utilities share."""
    model = RankingSVM().fit([[0.0], [1.0]], [0, 1])
    assert_array_equal(model.rank([[1.0], [5.0], [5.0], [2.0]]), [4, 1, 1, 3])
    assert_array_equal(model.rank([[1.0], [5.0], [5.0], [2.0]], qid=["b", "b", "a", "a"]), [2, 1, 1, 2])
