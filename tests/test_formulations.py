"""Every formulation of the papers, at its optimum: ours against CVXPY, HiGHS and scikit-learn."""

import itertools
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR, LinearSVC

import generators
import oracles
from widemargin import (
    ComparisonSVM,
    MarginClassifier,
    MarginRegressor,
    OrdinalSVM,
    Pairs,
    RankingSVM,
    RankingVectorMachine,
    TopRankSVM,
)

TOL = 1e-9
EPSILON = 0.1
KERNELS = {
    "linear": {"kernel": "linear"},
    "rbf": {"kernel": "rbf"},
    "poly": {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0},
}
CLASS_WEIGHT = {-1: 0.7, 0: 1.3, 1: 2.0}


# The formulations ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Formulation:
    """An estimator, data for it, and the rows of the paper's problem on these data."""

    make: Callable
    data: Callable
    rows: Callable
    fit: Callable
    losses: tuple = ("hinge", "squared_hinge")
    bias: bool = False  # has an unpenalised level


def _fit_plain(model, s):
    return model.fit(s.X, s.y)


def _fit_weighted(model, s):
    return model.fit(s.X, s.y, sample_weight=s.weight)


def _fit_queries(model, s):
    return model.fit(s.X, s.y, qid=s.qid)


def _fit_weighted_queries(model, s):
    return model.fit(s.X, s.y, qid=s.qid, sample_weight=s.weight)


def _fit_pairs(model, s):
    return model.fit(Pairs(s.X, s.index), s.y)


def _fit_weighted_pairs(model, s):
    return model.fit(Pairs(s.X, s.index), s.y, sample_weight=s.weight)


def _signs(y):
    return np.where(y == np.unique(y)[1], 1, -1)


def _class_weighted(s):
    return oracles.classification_rows(_signs(s.y), s.weight * np.where(s.y == 1, 3.0, 0.5))


REGRESSION_LOSSES = ("epsilon_insensitive", "squared_epsilon_insensitive")
FORMULATIONS = {
    "classifier": Formulation(
        MarginClassifier,
        generators.classes,
        lambda s: oracles.classification_rows(_signs(s.y)),
        _fit_plain,
        bias=True,
    ),
    "classifier-weighted": Formulation(
        partial(MarginClassifier, class_weight={0: 0.5, 1: 3.0}),
        generators.classes,
        _class_weighted,
        _fit_weighted,
        bias=True,
    ),
    "regressor": Formulation(
        partial(MarginRegressor, epsilon=EPSILON),
        generators.targets,
        lambda s: oracles.regression_rows(s.y, EPSILON),
        _fit_plain,
        REGRESSION_LOSSES,
        bias=True,
    ),
    "regressor-weighted": Formulation(
        partial(MarginRegressor, epsilon=EPSILON),
        generators.targets,
        lambda s: oracles.regression_rows(s.y, EPSILON, s.weight),
        _fit_weighted,
        REGRESSION_LOSSES,
        bias=True,
    ),
    "ranking": Formulation(
        RankingSVM, generators.graded_queries, lambda s: oracles.ranking_rows(s.y, s.qid), _fit_queries
    ),
    "ranking-weighted": Formulation(
        RankingSVM,
        generators.graded_queries,
        lambda s: oracles.ranking_rows(s.y, s.qid, s.weight),
        _fit_weighted_queries,
    ),
    "ordinal": Formulation(OrdinalSVM, generators.ordered_labels, lambda s: oracles.ranking_rows(s.y), _fit_plain),
    "comparison": Formulation(
        ComparisonSVM,
        generators.pairs_with_ties,
        lambda s: oracles.comparison_rows(s.index, s.y),
        _fit_pairs,
        bias=True,
    ),
    "comparison-weighted": Formulation(
        partial(ComparisonSVM, class_weight=CLASS_WEIGHT),
        generators.pairs_with_ties,
        lambda s: oracles.comparison_rows(s.index, s.y, s.weight, CLASS_WEIGHT),
        _fit_weighted_pairs,
        bias=True,
    ),
    "comparison-balanced": Formulation(
        partial(ComparisonSVM, class_weight="balanced"),
        generators.pairs_with_ties,
        lambda s: oracles.comparison_rows(s.index, s.y, None, oracles.balanced_class_weight(s.y)),
        _fit_pairs,
        bias=True,
    ),
    "threshold": Formulation(
        partial(ComparisonSVM, ties="threshold"),
        generators.pairs_with_ties,
        lambda s: oracles.inequality_rows(s.index, s.y),
        _fit_pairs,
    ),
    "both-ways": Formulation(
        partial(ComparisonSVM, ties="both_ways"),
        generators.pairs_with_ties,
        lambda s: oracles.both_ways_rows(s.index, s.y),
        _fit_pairs,
    ),
    "choice-task": Formulation(TopRankSVM, generators.choices, lambda s: oracles.choice_rows(s.y, s.qid), _fit_queries),
    "choice-task-weighted": Formulation(
        TopRankSVM,
        generators.choices,
        lambda s: oracles.choice_rows(s.y, s.qid, s.weight),
        _fit_weighted_queries,
    ),
    "choice-pair-weighted": Formulation(
        partial(TopRankSVM, slack="pair"),
        generators.choices,
        lambda s: oracles.choice_rows(s.y, s.qid, s.weight, slack="pair"),
        _fit_weighted_queries,
    ),
}


# One fit and its oracle ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A formulation with a kernel, a C, a loss; `gap` > 0 on data that a linear utility separates."""

    name: str
    kernel: str
    C: float
    squared: bool
    gap: float

    def __str__(self):
        """Return the test's id."""
        parts = (self.name, self.kernel, f"C{self.C:g}", "squared" if self.squared else "linear")
        return "-".join(parts) + ("-separable" if self.gap else "")


def _cases():
    for name, kernel in itertools.product(FORMULATIONS, KERNELS):
        for C, squared in itertools.product((1e-8, 1e-2, 1.0, 1e3, 1e6), (False, True)):
            yield Case(name, kernel, C, squared, 0.0)
        yield Case(name, kernel, 1e6, False, 1.0)
        if name != "both-ways":  # a tie in both directions is never separable
            yield Case(name, kernel, np.inf, False, 1.0)


@dataclass(frozen=True)
class Fit:
    """A fitted estimator, what it was fitted on, and what the oracle says."""

    model: object
    sample: generators.Sample
    rows: list
    optimum: oracles.Optimum
    case: Case
    seconds: float
    warned: bool

    @property
    def loss(self):
        """The oracle's name of the loss."""
        return "squared" if self.case.squared else "hinge"

    @property
    def spread(self):
        """Range of the oracle's utilities over fitted and new rows."""
        return np.ptp(np.concatenate([self.optimum.u, self.optimum.utility(self.sample.new)]))

    @property
    def level(self):
        """The model's bias, 0 where it has none."""
        return self.model.intercept_ if FORMULATIONS[self.case.name].bias else 0.0


def fit_quietly(model, fit, sample):
    """Fit; return (seconds, whether it warned of no convergence). Advice about the data is none of these
    tests' business.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        fit(model, sample)
        seconds = time.perf_counter() - start
    return seconds, any(issubclass(w.category, ConvergenceWarning) for w in caught)


@cache
def _solved(case):
    form = FORMULATIONS[case.name]
    sample = form.data(gap=case.gap)
    rows = form.rows(sample)
    loss = "squared" if case.squared else "hinge"
    optimum = oracles.two_norm(rows, sample.X, C=case.C, kernel=case.kernel, loss=loss)
    model = form.make(case.C, loss=form.losses[case.squared], tol=TOL, **KERNELS[case.kernel])
    return Fit(model, sample, rows, optimum, case, *fit_quietly(model, form.fit, sample))


@pytest.fixture(scope="module", params=list(_cases()), ids=str)
def fit(request):
    return _solved(request.param)


def only(choose):
    """Run a test on the cases whose name `choose` accepts."""
    return pytest.mark.parametrize("fit", [c for c in _cases() if choose(c.name)], ids=str, indirect=True)


def half_square(model, sample, kernel):
    """1/2 ||w||^2 of a fitted model, from its public attributes."""
    if kernel == "linear":
        return 0.5 * np.sum(np.square(model.coef_))
    V, a = model.support_vectors_, np.asarray(model.dual_coef_)
    return 0.5 * np.sum(a * (oracles.gram(kernel, V, V, sample.X) @ a))


# What must hold at every fit ----------------------------------------------------------------------


def test_the_objective_is_the_optimum(fit):
    """`objective_` is the optimum of the paper's problem to 1e-6."""
    assert_allclose(fit.model.objective_, fit.optimum.objective, rtol=1e-6, atol=0)


def test_utilities_of_new_rows_are_those_of_the_optimum(fit):
    """A strictly convex problem has one utility function, and we have it to 1e-5 of its spread."""
    want = fit.optimum.utility(fit.sample.new)
    assert_allclose(fit.model.utility(fit.sample.new), want, rtol=0, atol=1e-5 * fit.spread + 1e-12)


def test_the_objective_is_what_the_utilities_cost(fit):
    """`objective_` can be recomputed from `utility`, `intercept_` and the paper's rows."""
    u = fit.model.utility(fit.sample.X)
    value = half_square(fit.model, fit.sample, fit.case.kernel)
    if np.isinf(fit.case.C):
        assert oracles.worst_slack(fit.rows, u, fit.level) <= 1e-7
    else:
        value += fit.case.C * oracles.risk(fit.rows, u, fit.level, fit.loss)
    rounding = 0.0 if np.isinf(fit.case.C) else 1e-15 * fit.case.C * sum(row.weight for row in fit.rows)
    assert_allclose(fit.model.objective_, value, rtol=1e-8, atol=rounding * max(1, np.abs(u).max()))


def test_the_gap_bounds_the_distance_to_the_optimum(fit):
    """`duality_gap_` is never below the true relative suboptimality."""
    objective = fit.model.objective_
    assert fit.model.duality_gap_ >= (objective - fit.optimum.objective) / objective - 1e-9


def test_a_gap_above_the_tolerance_is_warned_of(fit):
    """Either the gap is below `tol`, or a `ConvergenceWarning` was raised."""
    assert fit.model.duality_gap_ <= TOL or fit.warned
    assert fit.model.converged_ == (not fit.warned)


def test_every_fit_is_fast(fit):
    """Problems of this size take less than five seconds each."""
    assert fit.seconds < 5


@only(lambda name: FORMULATIONS[name].bias)
def test_the_bias_is_optimal(fit):
    """The bias lies in its optimal interval; the tie width is its negative part."""
    lo, hi = (end * (1 + np.sign(end) * side * 1e-6) for end, side in zip(fit.optimum.level, (-1, 1), strict=True))
    assert lo - 1e-6 <= fit.model.intercept_ <= hi + 1e-6
    if isinstance(fit.model, ComparisonSVM):
        assert fit.model.tie_width_ == max(-fit.model.intercept_, 0.0)


@only({"threshold", "both-ways"}.__contains__)
def test_the_tie_width_makes_the_fewest_errors(fit):
    """The tie width of `rank` and `rank2` is a global minimiser of the training error, Venuto et al. (6)."""
    s = fit.model.decision_function(Pairs(fit.sample.X, fit.sample.index))
    s = np.round(s / fit.spread, 9) * fit.spread  # pairs on the margin have equal |s|, up to rounding
    errors = [oracles.comparison_errors(s, fit.sample.y, tau) for tau in (0.0, *np.abs(s))]
    assert oracles.comparison_errors(s, fit.sample.y, fit.model.tie_width_) == min(errors)


def test_the_dual_coefficients_satisfy_the_kkt_conditions(fit):
    """Coefficients over items give the utilities, sum to zero, and come from multipliers in their box.

    The last is visible only where the kernel matrix has full rank, so that the coefficients are unique.
    """
    full = np.zeros(len(fit.sample.X))
    full[fit.model.support_] = fit.model.dual_coef_
    K = oracles.gram(fit.case.kernel, fit.sample.X, fit.model.support_vectors_, fit.sample.X)
    assert_allclose(fit.model.utility(fit.sample.X), K @ fit.model.dual_coef_, rtol=0, atol=1e-5 * fit.spread)
    noise = 1e-6 * np.abs(full).sum()
    assert abs(full.sum()) <= noise
    if fit.case.kernel != "rbf":
        return
    if fit.sample.qid is not None:  # pairs never leave their query
        for q in np.unique(fit.sample.qid):
            assert abs(full[fit.sample.qid == q].sum()) <= noise
    if not fit.case.squared and not np.isinf(fit.case.C):
        reach = np.zeros(len(full))  # the largest coefficient that the item's rows together allow
        for row in fit.rows:
            reach[list(row.signs)] += fit.case.C * row.weight
        assert np.all(np.abs(full) <= reach + noise)


# The oracles themselves ---------------------------------------------------------------------------


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e3])
@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["classifier", "regressor", "ranking", "comparison", "both-ways", "choice-task"])
def test_the_oracles_primal_and_dual_agree(name, kernel, loss, C):
    """The primal over features and the dual over the four-term kernel, solved apart, have the same value."""
    form = FORMULATIONS[name]
    sample = form.data()
    rows = form.rows(sample)
    primal = oracles.two_norm(rows, sample.X, C=C, kernel=kernel, loss=loss)
    K = oracles.gram(kernel, sample.X, sample.X, sample.X)
    dual, coef = oracles.two_norm_dual(rows, K, C=C, loss=loss)
    assert_allclose(dual, primal.objective, rtol=1e-6)
    new = oracles.gram(kernel, sample.new, sample.X, sample.X)
    assert_allclose(new @ coef, primal.utility(sample.new), rtol=0, atol=1e-3 * np.ptp(primal.u))


@pytest.mark.parametrize("name", ["classifier", "regressor", "ranking", "choice-pair-weighted"])
def test_the_oracle_agrees_with_scikit_learn(name):
    """On problems that scikit-learn can pose, the oracle has scikit-learn's optimum."""
    form = FORMULATIONS[name]
    s = form.data()
    u = oracles.two_norm(form.rows(s), s.X, C=0.1).u
    if name == "classifier":
        theirs = s.X @ SVC(C=0.1, kernel="linear", tol=1e-10).fit(s.X, s.y).coef_[0]
    elif name == "regressor":
        theirs = s.X @ SVR(C=0.1, kernel="linear", epsilon=EPSILON, tol=1e-10).fit(s.X, s.y).coef_[0]
    else:
        theirs = s.X @ _linear_svc_on_differences(form.rows(s), s.X, 0.1, "hinge")
    assert_allclose(u, theirs, rtol=0, atol=1e-6 * np.ptp(u))


def _linear_svc_on_differences(rows, X, C, loss):
    """Weights of LinearSVC on signed differences, every second one flipped so that there are two classes."""
    z = np.resize([1, -1], len(rows))
    d = np.array([sum(sign * X[i] for i, sign in row.signs.items()) for row in rows])
    exact = {"dual": True, "tol": 1e-9} if loss == "hinge" else {"dual": False, "tol": 1e-12}
    model = LinearSVC(C=C, loss=loss, fit_intercept=False, max_iter=10**6, random_state=0, **exact)
    return model.fit(z[:, None] * d, z, sample_weight=[row.weight for row in rows]).coef_[0]


# Classification: one-vs-one, and scikit-learn's SVC -----------------------------------------------


@pytest.mark.parametrize("C", [1e-8, 1.0, 1e6, np.inf])
@pytest.mark.parametrize("kernel", KERNELS)
def test_several_classes_sum_the_binary_problems(kernel, C):
    """With k classes `objective_` is the sum of the k(k-1)/2 binary optima, columns in SVC's order."""
    s = generators.classes(1, n=36, n_classes=3, gap=1.0 if np.isinf(C) else 0.0)
    model = MarginClassifier(C, tol=TOL, **KERNELS[kernel]).fit(s.X, s.y)
    optima = [_binary(s, C, kernel, pair) for pair in itertools.combinations(range(3), 2)]
    assert_allclose(model.objective_, sum(best.objective for best in optima), rtol=1e-6)
    assert model.intercept_.shape == (3,)
    new = oracles.features(kernel, s.X)[1](s.new)
    for k, best in enumerate(optima):
        want = -best.utility(new)  # as in SVC, of two classes of several the first is the positive one
        assert_allclose(model.utility(s.new)[:, k], want, rtol=0, atol=1e-5 * np.ptp(best.u) + 1e-12)
        lo, hi = sorted(-np.array(best.level))
        assert lo - 1e-6 * max(1, abs(lo)) <= model.intercept_[k] <= hi + 1e-6 * max(1, abs(hi))


def _binary(s, C, kernel, pair):
    """Oracle of two of the classes; gamma="scale" looks at all the rows, so the features come from all of
    them.
    """
    part = np.isin(s.y, pair)
    X = oracles.features(kernel, s.X)[0][part]
    y = np.where(s.y[part] == pair[1], 1, -1)
    return oracles.two_norm(oracles.classification_rows(y), X, C=C)


# LIBSVM keeps its kernel in single precision: with C = 1e3 that alone moves decision values by 1e-3. It
# solves the same problem only where the entries of the kernel are exact.


def _exact_in_single_precision(kernel, X, Z):
    """Kernel matrices of the rows X, and of Z against them, that lose nothing when rounded to float32."""
    if kernel == "rbf":  # of full rank: rounding leaves it positive definite
        return tuple(np.float64(np.float32(oracles.gram(kernel, A, X, X))) for A in (X, Z))
    X, Z = np.round(8 * X) / 8, np.round(8 * Z) / 8
    return tuple(oracles.gram(kernel, A, X, X) for A in (X, Z))


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e3])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_the_classifier_is_scikit_learns_svc(n_classes, kernel, C, class_weight):
    """Decision values, their order and their signs are those of a well converged SVC."""
    s = generators.classes(2, n=30, n_classes=n_classes)
    K, new = _exact_in_single_precision(kernel, s.X, s.new)
    same = {"C": C, "kernel": "precomputed", "class_weight": class_weight}
    theirs = SVC(tol=1e-10, decision_function_shape="ovo", **same).fit(K, s.y, sample_weight=s.weight)
    ours = MarginClassifier(tol=1e-12, **same)
    fit_quietly(ours, lambda model, s: model.fit(K, s.y, sample_weight=s.weight), s)
    want = theirs.decision_function(new)
    assert_allclose(ours.utility(new) + ours.intercept_, want, rtol=0, atol=1e-6 * np.abs(want).max())
    assert np.array_equal(ours.predict(new), theirs.predict(new))


@pytest.mark.parametrize("C", [1e-2, 1.0])
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_classifiers_kernels_are_scikit_learns(kernel, C):
    """With moderate C the same holds for the kernels by name, parameters and default gamma included."""
    s = generators.classes(2, n=30)
    theirs = SVC(C=C, tol=1e-10, **KERNELS[kernel]).fit(s.X, s.y).decision_function(s.new)
    ours = MarginClassifier(C, tol=1e-12, **KERNELS[kernel]).fit(s.X, s.y).decision_function(s.new)
    assert_allclose(ours, theirs, rtol=0, atol=1e-6 * np.abs(theirs).max())


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e3])
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_regressor_is_scikit_learns_svr(kernel, C):
    """Predictions are those of a well converged SVR."""
    s = generators.targets(3)
    K, new = _exact_in_single_precision(kernel, s.X, s.new)
    want = SVR(C=C, epsilon=EPSILON, tol=1e-10, kernel="precomputed").fit(K, s.y).predict(new)
    ours = MarginRegressor(C, epsilon=EPSILON, tol=1e-12, kernel="precomputed")
    fit_quietly(ours, lambda model, s: model.fit(K, s.y), s)
    assert_allclose(ours.predict(new), want, rtol=0, atol=1e-6 * np.ptp(s.y))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_linear_ranking_is_a_linear_svc_on_differences(loss):
    """RankingSVM has the weights of scikit-learn's LinearSVC on the written-out differences."""
    s = generators.graded_queries(4)
    ours = RankingSVM(0.1, loss=loss, tol=1e-12)
    fit_quietly(ours, _fit_queries, s)
    theirs = _linear_svc_on_differences(oracles.ranking_rows(s.y, s.qid), s.X, 0.1, loss)
    assert_allclose(ours.coef_, theirs, rtol=0, atol=1e-5 * np.abs(theirs).max())


def test_xor_has_the_printed_solution():
    """Yu & Kim (45)-(51): alpha = 1/8 for all four points, objective 1/4, F(x) = -x1 x2, bias 0."""
    X = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    y = np.array([-1, 1, 1, -1])
    model = MarginClassifier(np.inf, tol=1e-12, **KERNELS["poly"]).fit(X, y)
    assert_allclose(model.objective_, 0.25, rtol=0, atol=1e-9)
    assert np.array_equal(model.support_, np.arange(4))
    assert_allclose(np.ravel(model.dual_coef_), y / 8, rtol=0, atol=1e-9)
    assert_allclose(model.intercept_, 0.0, atol=1e-9)
    Z = np.array([[0.5, -2.0], [3.0, 1.0], [0.0, 7.0]])
    assert_allclose(model.decision_function(Z), -Z[:, 0] * Z[:, 1], rtol=0, atol=1e-8)


# 1-norm machines ----------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[(v, p) for v in ("points", "pairs") for p in (False, True)], ids=str)
def machine(request):
    vectors, positive = request.param
    return {"vectors": vectors, "positive": positive}


@pytest.mark.parametrize("C", [1e-8, 1e-2, 1.0, 1e3, 1e6, np.inf])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_one_norm_machines_reach_the_linear_programmes_optimum(machine, kernel, C, weighted):
    """`objective_` is the LP's optimum to 1e-6, what the coefficients cost, and bounded by its gap; or no
    margin exists.
    """
    s = _graded_for_lp(C)
    rows = oracles.ranking_rows(s.y, s.qid, s.weight if weighted else None)
    K = oracles.gram(kernel, s.X, s.X, s.X)
    model = RankingVectorMachine(C, tol=TOL, **machine, **KERNELS[kernel])
    fit = _fit_weighted_queries if weighted else _fit_queries
    try:
        best = oracles.one_norm(rows, K, C=C, **machine)
    except oracles.InfeasibleError:
        with pytest.raises(ValueError, match="margin"):
            fit(model, s)
        return
    seconds, warned = fit_quietly(model, fit, s)
    assert seconds < 5
    assert_allclose(model.objective_, best.objective, rtol=1e-6, atol=0)
    assert model.duality_gap_ >= (model.objective_ - best.objective) / model.objective_ - 1e-9
    assert model.duality_gap_ <= TOL or warned
    assert_allclose(model.objective_, _one_norm_cost(model, s, rows, C, **machine), rtol=1e-7, atol=0)


def _graded_for_lp(C):
    return generators.graded_queries(5, n_queries=3, size=8, p=2, gap=1.0 if np.isinf(C) else 0.0)


def _one_norm_cost(model, s, rows, C, *, vectors, positive):
    """Cost of the model, from its coefficients over items and its utilities."""
    coef = np.zeros(len(s.X))
    coef[model.support_] = model.dual_coef_
    if vectors == "points":
        assert not positive or coef.min() >= 0
        norm = np.abs(coef).sum()
    else:
        norm = oracles.pair_norm(coef, rows, positive=positive)
    return norm + (0.0 if np.isinf(C) else C * oracles.risk(rows, model.utility(s.X)))


# SVMcompare's linear programme, and its pairs -----------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_the_comparison_lp_has_the_largest_margin(seed):
    """formulation="lp" is Venuto et al. (7): mu is the largest, and `coef_` attains it."""
    s = generators.pairs_with_ties(seed, gap=1.0)
    model = ComparisonSVM(formulation="lp").fit(Pairs(s.X, s.index), s.y)
    mu, _ = oracles.comparison_lp(s.X, s.index, s.y)
    assert_allclose(model.margin_, mu, rtol=1e-6)
    assert model.objective_ == model.margin_
    assert (model.intercept_, model.tie_width_) == (-1.0, 1.0)
    d = (s.X[s.index[:, 0]] - s.X[s.index[:, 1]]) @ model.coef_
    room = np.where(s.y == 0, 1 - np.abs(d), s.y * d - 1)
    assert room.min() >= mu - 1e-6


def test_the_comparison_lp_refuses_what_has_no_solution():
    """(7) is infeasible where the pairs are not separable and unbounded where there are no ties: both are
    errors.
    """
    noisy, clean = generators.pairs_with_ties(noise=3.0), generators.pairs_with_ties(gap=1.0)
    with pytest.raises(oracles.InfeasibleError):
        oracles.comparison_lp(noisy.X, noisy.index, noisy.y)
    with pytest.raises(ValueError):
        ComparisonSVM(formulation="lp").fit(Pairs(noisy.X, noisy.index), noisy.y)
    differ = clean.y != 0
    with pytest.raises(ValueError):
        ComparisonSVM(formulation="lp").fit(Pairs(clean.X, clean.index[differ]), clean.y[differ])


@pytest.mark.parametrize("ties", ["margin", "threshold", "both_ways"])
def test_an_array_of_pairs_is_pairs_of_its_rows(ties):
    """An array (n, 2, p) fits what `Pairs` fits, when the kernel does not look at how often an item is
    stored.
    """
    s = generators.pairs_with_ties()
    stored, array = (ComparisonSVM(ties=ties, tol=TOL, **KERNELS["poly"]) for _ in range(2))
    fit_quietly(stored, _fit_pairs, s)
    fit_quietly(array, lambda model, s: model.fit(s.X[s.index], s.y), s)
    assert_allclose(array.objective_, stored.objective_, rtol=1e-8)
    assert_allclose(array.utility(s.new), stored.utility(s.new), rtol=0, atol=1e-6 * np.ptp(stored.utility(s.X)))


# Thresholds of ordinal regression -----------------------------------------------------------------


@pytest.mark.parametrize("C", [1e-8, 1e-2, 1.0, 1e3])
@pytest.mark.parametrize("how", ["closest_pair", "fewest_errors"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("seed", range(3))
def test_thresholds_follow_their_rule(seed, kernel, how, C):
    """Thresholds are Herbrich et al. (12), or the cut of fewest errors, pooled to be monotone; labels
    follow from them.
    """
    s = generators.ordered_labels(seed)
    model = OrdinalSVM(C, thresholds=how, tol=TOL, **KERNELS[kernel])
    fit_quietly(model, _fit_plain, s)
    u = model.utility(s.X)
    cuts = oracles.raw_thresholds(u, s.y, how)
    if np.all(np.isfinite(cuts)):
        assert_allclose(model.thresholds_, oracles.pooled(cuts), rtol=0, atol=1e-6 * np.ptp(u))
    assert np.all(np.diff(model.thresholds_) >= 0)
    label = 1 + np.sum(u[:, None] > model.thresholds_, axis=1)  # theta_{k-1} < u <= theta_k
    assert np.array_equal(model.predict(s.X), label)


# The scale of C, and hard margins that do not exist -----------------------------------------------


@pytest.mark.parametrize(
    "name", ["classifier", "regressor", "ranking-weighted", "ordinal", "comparison", "choice-task"]
)
def test_the_mean_scale_divides_C_by_the_total_weight(name):
    """C_scale="mean" with C is C_scale="sum" with C over the total weight of the comparisons."""
    form = FORMULATIONS[name]
    s = form.data()
    rows = form.rows(s)
    tasks = {row.task if row.task is not None else ("row", k): row.weight for k, row in enumerate(rows)}
    best = oracles.two_norm(rows, s.X, C=5.0 / sum(tasks.values()))
    model = form.make(5.0, loss=form.losses[0], C_scale="mean", tol=TOL)
    fit_quietly(model, form.fit, s)
    assert_allclose(model.objective_, best.objective, rtol=1e-6)


@pytest.mark.parametrize("name", sorted(set(FORMULATIONS)))
def test_a_hard_margin_that_does_not_exist_is_refused(name):
    """Where the oracle proves that nothing separates the data, C = inf raises an error that speaks of the
    margin.
    """
    form = FORMULATIONS[name]
    s = _contradiction(name)
    with pytest.raises(oracles.InfeasibleError):
        oracles.two_norm(form.rows(s), s.X, C=np.inf)
    with pytest.raises(ValueError, match="margin"):
        form.fit(form.make(np.inf, loss=form.losses[0]), s)


def _contradiction(name):
    """Noisy data of one feature, which no weight explains."""
    return FORMULATIONS[name].data(p=1, noise=2.0)
