"""What the papers print and what is true: each claim shown with a
solver that knows nothing of ours, and what we do.
"""

import gzip
import itertools
import os
import time
import warnings
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

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
POLY = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}


def fitted(model, *args, **kwargs):
    """Fit without minding advice about the data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*args, **kwargs)


def maximise(value, *limits):
    """Optimal value of a concave problem."""
    problem = cp.Problem(cp.Maximize(value), list(limits))
    return problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)


def data_file(*names):
    """Path of a file of the real data, or skip."""
    root = Path(__file__).parents[1]
    folder = Path(os.environ.get("WIDEMARGIN_DATA", root.parent / "shared" / "data"))
    path = folder.joinpath(*names)
    if not path.exists():
        pytest.skip(f"{'/'.join(names)} is not in {folder}; set WIDEMARGIN_DATA to the folder of the data sets")
    return path


# Herbrich, Graepel & Obermayer: ordinal regression ------------------------------------------------


def _pair_differences(s):
    return np.array([s.X[i] - s.X[j] for i, j in itertools.product(range(len(s.y)), repeat=2) if s.y[i] > s.y[j]])


def _printed_dual_weights(d, z, C):
    """Solve (10) as printed, with z'alpha = 0, for pairs of difference z * d, and return w of (11)."""
    alpha = cp.Variable(len(d))
    maximise(cp.sum(alpha) - 0.5 * cp.sum_squares(d.T @ alpha), alpha >= 0, alpha <= C, z @ alpha == 0)
    return d.T @ alpha.value


def test_the_ordinal_dual_has_no_equality():
    """Herbrich et al. (10): z'alpha = 0 kills better-first pairs and makes w depend on how pairs are
    written down.
    """
    s, C = generators.ordered_labels(n=14), 0.1
    d = _pair_differences(s)
    ours = OrdinalSVM(C, tol=TOL).fit(s.X, s.y).coef_
    size = np.abs(ours).max()
    assert_allclose(_printed_dual_weights(d, np.ones(len(d)), C), 0.0, atol=1e-6 * size)
    rng = np.random.default_rng(0)
    one, other = (_printed_dual_weights(d, rng.choice([-1, 1], len(d)), C) for _ in range(2))
    assert np.abs(one - other).max() > 1e-3 * size
    assert_allclose(oracles.two_norm(oracles.ranking_rows(s.y), s.X, C=C).utility(np.eye(3)), ours, atol=1e-6 * size)


def test_pairs_in_both_orders_count_twice():
    """Herbrich et al. (10): with every pair in both orders the printed dual is our problem with 2C."""
    s, C = generators.ordered_labels(n=14), 0.1
    d = _pair_differences(s)
    both, z = np.vstack([d, d]), np.repeat([1, -1], len(d))
    ours = OrdinalSVM(2 * C, tol=TOL).fit(s.X, s.y).coef_
    assert_allclose(_printed_dual_weights(both, z, C), ours, atol=1e-5 * np.abs(ours).max())


def test_the_ordinal_dual_belongs_to_half_the_norm():
    """Herbrich et al.: (10) is the dual of 1/2 ||w||^2 + C sum xi, not of the text's ||w||^2 + C sum xi."""
    s, C = generators.ordered_labels(), 0.05
    d = _pair_differences(s)
    alpha, w = cp.Variable(len(d)), cp.Variable(3)
    dual = maximise(cp.sum(alpha) - 0.5 * cp.sum_squares(d.T @ alpha), alpha >= 0, alpha <= C)
    text = -maximise(-(cp.sum_squares(w) + C * cp.sum(cp.pos(1 - d @ w))))
    ours = OrdinalSVM(C, tol=TOL).fit(s.X, s.y)
    assert_allclose(ours.objective_, dual, rtol=1e-6)
    assert text > dual * (1 + 1e-3)
    assert_allclose(OrdinalSVM(C / 2, tol=TOL).fit(s.X, s.y).coef_, w.value, atol=1e-5 * np.abs(w.value).max())


def test_thresholds_exist_where_no_pair_keeps_its_margin():
    """Herbrich et al. (12): at a tiny C Theta(k) is empty; the cuts of fewest errors stand in for it."""
    s = generators.ordered_labels()
    model = OrdinalSVM(1e-6, tol=TOL).fit(s.X, s.y)
    u = model.utility(s.X)
    assert not any(oracles.closest_pair_midpoints(u, s.y, k, k + 1) for k in (1, 2, 3))
    instead = OrdinalSVM(1e-6, tol=TOL, thresholds="fewest_errors").fit(s.X, s.y)
    assert np.all(np.isfinite(model.thresholds_))
    assert_allclose(model.thresholds_, instead.thresholds_, rtol=0, atol=1e-9 * np.ptp(u))


def test_thresholds_are_monotone_where_the_printed_ones_are_not():
    """Herbrich et al. (12): on noisy data the printed thresholds come out of order; ours never do."""
    crossed = 0
    for seed in range(12):
        s = generators.ordered_labels(seed, noise=2.0, n_ranks=5)
        model = fitted(OrdinalSVM(10.0, tol=TOL), s.X, s.y)
        printed = [oracles.closest_pair_midpoints(model.utility(s.X), s.y, k, k + 1) for k in range(1, 5)]
        cuts = [middle[0] for middle in printed if middle]
        crossed += bool(np.any(np.diff(cuts) < 0))
        assert np.all(np.diff(model.thresholds_) >= 0)
    assert crossed > 0


def test_tied_closest_pairs_do_not_make_thresholds_a_matter_of_chance():
    """Herbrich et al. (12): at the optimum several pairs differ by exactly 1, elsewhere on the axis; the
    threshold is midway between them, whatever the order of the rows.
    """
    widest = 0.0
    for seed in range(8):
        s = generators.ordered_labels(seed, n_ranks=2)
        model = OrdinalSVM(1.0, tol=TOL).fit(s.X, s.y)
        middle = oracles.closest_pair_midpoints(model.utility(s.X), s.y, 1, 2)
        widest = max(widest, max(middle) - min(middle))
        assert_allclose(model.thresholds_, (min(middle) + max(middle)) / 2, rtol=0, atol=1e-6)
        order = np.random.default_rng(seed).permutation(len(s.y))
        again = OrdinalSVM(1.0, tol=TOL).fit(s.X[order], s.y[order])
        assert_allclose(again.thresholds_, model.thresholds_, rtol=0, atol=1e-6)
    assert widest > 0.1


def _herbrich(n, seed=0):
    """The data of Herbrich et al. (13)-(14), with 0.125 read as a variance."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    u = 10 * (X[:, 0] - 0.5) * (X[:, 1] - 0.5) + rng.normal(scale=np.sqrt(0.125), size=n)
    return X, 1 + np.searchsorted([-1, -0.1, 0.25, 1], u)


def test_a_million_with_the_quadratic_kernel_is_solved_where_libsvm_stops_far_off():
    """Herbrich et al. section 4.1: C = 1e6 and (x.x' + 1)^2; we reach the optimum at once, LIBSVM's
    utilities stay wrong.
    """
    X, y = _herbrich(45)
    rows = oracles.ranking_rows(y)
    best = oracles.two_norm(rows, X, C=1e6, kernel="poly")
    start = time.perf_counter()
    ours = OrdinalSVM(1e6, tol=TOL, **POLY).fit(X, y)
    assert time.perf_counter() - start < 1
    assert_allclose(ours.objective_, best.objective, rtol=1e-6)
    assert_allclose(ours.utility(X), best.u, rtol=0, atol=1e-5 * np.ptp(best.u))

    better, worse = (np.array(ends) for ends in zip(*(tuple(row.signs) for row in rows), strict=True))
    D = np.zeros((len(rows), len(X)))
    D[np.arange(len(rows)), better], D[np.arange(len(rows)), worse] = 1, -1
    both = np.vstack([D, -D])  # every pair in both orders, half of C each: no bias, the same problem
    K = oracles.gram("poly", X, X, X)
    svc = SVC(C=5e5, kernel="precomputed", tol=1e-3, max_iter=200_000)
    with pytest.warns(ConvergenceWarning):
        svc.fit(both @ K @ both.T, np.repeat([1, -1], len(rows)))
    theirs = K @ (both[svc.support_].T @ svc.dual_coef_[0])
    assert np.abs((D @ theirs) - (D @ best.u)).max() > 0.1


# Venuto et al.: SVMcompare ------------------------------------------------------------------------


def test_the_printed_algorithm_learns_nothing_from_reversed_pairs():
    """Venuto et al. Algorithm 1 does not swap the pairs labelled -1, as (8) does: told both orders, it
    returns w = 0.
    """
    s = generators.pairs_with_ties(gap=1.0)
    index, y = np.vstack([s.index, s.index[:, ::-1]]), np.concatenate([s.y, -s.y])
    printed = oracles.comparison_rows(index, np.abs(y))  # "+1" for every significant pair, first minus second
    assert oracles.two_norm(printed, s.X, C=1.0).norm < 1e-6
    model = ComparisonSVM(tol=TOL).fit(Pairs(s.X, index), y)
    best = oracles.two_norm(oracles.comparison_rows(index, y), s.X, C=1.0)
    assert_allclose(model.objective_, best.objective, rtol=1e-6)
    assert model.score(Pairs(s.X, index), y) == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_the_lp_and_the_qp_differ_on_scaled_data(seed):
    """Venuto et al. Lemma 1 holds: -u/beta is feasible for (7); but it is not optimal, scaled or not."""
    s = generators.pairs_with_ties(seed, n_items=40, n_pairs=60, p=10, gap=1.0)
    X = (s.X - s.X.mean(0)) / s.X.std(0)
    qp = ComparisonSVM(np.inf, tol=TOL).fit(Pairs(X, s.index), s.y)
    lp = ComparisonSVM(formulation="lp").fit(Pairs(X, s.index), s.y)
    mu, w = -1 / qp.intercept_, -qp.coef_ / qp.intercept_
    d = (X[s.index[:, 0]] - X[s.index[:, 1]]) @ w
    assert np.all(np.where(s.y == 0, 1 - np.abs(d), s.y * d - 1) >= mu - 1e-7)
    assert_allclose(lp.margin_, oracles.comparison_lp(X, s.index, s.y)[0], rtol=1e-6)
    assert lp.margin_ > mu * (1 + 1e-3)


def _noisy_comparisons():
    return generators.pairs_with_ties(11, n_items=30, n_pairs=90, width=1.6, noise=1.5)


@pytest.mark.parametrize("C", [1e-4, 1e-2, 1.0, 1e2])
def test_noisy_ties_collapse_for_every_C(C):
    """Venuto et al. (15): ties enter as +d and -d, and on noisy data u = 0 is the optimum whatever C; we
    return it and say so.
    """
    s = _noisy_comparisons()
    rows = oracles.comparison_rows(s.index, s.y)
    best = oracles.two_norm(rows, s.X, C=C)
    zero = np.zeros(len(s.X))
    nothing = C * oracles.risk(rows, zero, oracles.best_level(rows, zero)[0])
    assert_allclose(best.objective, nothing, rtol=1e-9)
    model = ComparisonSVM(C, tol=TOL)
    with pytest.warns(UserWarning, match="class_weight"):
        model.fit(Pairs(s.X, s.index), s.y)
    assert_allclose(model.objective_, nothing, rtol=1e-9)
    assert not np.any(model.utility(s.new))


def test_balanced_classes_repair_the_collapse():
    """Venuto et al. (15): with both sides of (8) weighing the same, the data that collapsed give a model
    again.
    """
    s = _noisy_comparisons()
    weight = oracles.balanced_class_weight(s.y)
    best = oracles.two_norm(oracles.comparison_rows(s.index, s.y, None, weight), s.X, C=1.0)
    model = ComparisonSVM(class_weight="balanced", tol=TOL).fit(Pairs(s.X, s.index), s.y)
    assert best.norm > 0.1
    assert_allclose(model.objective_, best.objective, rtol=1e-6)
    assert_allclose(model.coef_, best.utility(np.eye(3)), atol=1e-5 * best.norm)


def test_a_positive_bias_never_turns_the_order_round():
    """Venuto et al. (13): with few ties beta > 0, and r = u / (-beta) ranks backwards; ours predicts no
    ties, right way round.
    """
    s = generators.pairs_with_ties(5, width=0.05, noise=0.1)
    best = oracles.two_norm(oracles.comparison_rows(s.index, s.y), s.X, C=0.05)
    assert best.level[0] > 0
    model = fitted(ComparisonSVM(0.05, tol=TOL), Pairs(s.X, s.index), s.y)
    pairs, differ = Pairs(s.X, s.index), s.y != 0
    printed = -model.decision_function(pairs) / model.intercept_
    assert np.mean(np.sign(printed[differ]) == s.y[differ]) < 0.2
    assert model.tie_width_ == 0
    assert np.mean(model.predict(pairs)[differ] == s.y[differ]) > 0.8


def test_rank2_has_a_closed_form_in_n_rows():
    """Venuto et al. section 4: a tie in both directions costs max(2, 1 + |s|), so rank2 needs n rows, not
    2n.
    """
    s, C = generators.pairs_with_ties(), 0.7
    grid = np.linspace(-4, 4, 33)
    assert_allclose(np.maximum(0, 1 - grid) + np.maximum(0, 1 + grid), np.maximum(2, 1 + np.abs(grid)))
    d, tie = s.X[s.index[:, 0]] - s.X[s.index[:, 1]], s.y == 0
    w = cp.Variable(3)
    ordered = 2 * C * cp.sum(cp.pos(1 - cp.multiply(s.y[~tie], d[~tie] @ w)))
    tied = C * cp.sum(cp.pos(cp.abs(d[tie] @ w) - 1)) + 2 * C * tie.sum()
    closed = -maximise(-(0.5 * cp.sum_squares(w) + ordered + tied))
    model = ComparisonSVM(C, ties="both_ways", tol=TOL).fit(Pairs(s.X, s.index), s.y)
    assert_allclose(closed, oracles.two_norm(oracles.both_ways_rows(s.index, s.y), s.X, C=C).objective, rtol=1e-7)
    assert_allclose(model.objective_, closed, rtol=1e-6)
    assert_allclose(model.coef_, w.value, atol=1e-5 * np.abs(w.value).max())


def test_the_sushi_pairs_follow_from_sorting_by_score_and_item():
    """Venuto et al. section 4.2: 17,832 ties and 7,168 inequalities are ten sorted ratings paired in
    succession.
    """
    scores = np.loadtxt(data_file("sushi", "sushi3b.5000.10.score"), dtype=int)
    ties = total = 0
    for row in scores:
        rated = np.flatnonzero(row >= 0)
        order = rated[np.lexsort((rated, row[rated]))]
        ties += np.sum(row[order[0::2]] == row[order[1::2]])
        total += len(order) // 2
    assert (ties, total - ties) == (17832, 7168)


# Pelckmans & Suykens: TopRanking ------------------------------------------------------------------


def test_the_printed_choice_dual_is_that_of_one_slack_per_pair():
    """Pelckmans & Suykens (7) bounds each alpha, which is one slack per pair; (6) has one per task, and
    bounds their sum.
    """
    s, gamma = generators.choices(2, n_sets=12), 0.3
    rows = oracles.choice_rows(s.y, s.qid)
    d = np.array([sum(sign * s.X[i] for i, sign in row.signs.items()) for row in rows])
    task = np.array([row.task for row in rows])
    alpha = cp.Variable(len(d))
    value = cp.sum(alpha) - 0.5 * cp.sum_squares(d.T @ alpha)
    printed = maximise(value, alpha >= 0, alpha <= gamma)
    right = maximise(value, alpha >= 0, *(cp.sum(alpha[task == t]) <= gamma for t in np.unique(task)))
    e, w = cp.Variable(task.max() + 1), cp.Variable(3)
    primal = -maximise(-(0.5 * cp.sum_squares(w) + gamma * cp.sum(e)), d @ w >= 1 - e[task], e >= 0)
    assert_allclose(primal, right, rtol=1e-7)
    assert printed > right * 1.01
    assert_allclose(TopRankSVM(gamma, tol=TOL).fit(s.X, s.y, qid=s.qid).objective_, right, rtol=1e-6)
    assert_allclose(TopRankSVM(gamma, slack="pair", tol=TOL).fit(s.X, s.y, qid=s.qid).objective_, printed, rtol=1e-6)


# Yu & Kim: the tutorial ---------------------------------------------------------------------------


def _printed_and_right(d, C, *limits_of):
    """Optimal values of a dual without and with the 1/2 before its quadratic term."""
    alpha = cp.Variable(len(d))
    limits = [alpha >= 0, alpha <= C, *(f(alpha) for f in limits_of)]
    square = cp.sum_squares(d.T @ alpha)
    return [maximise(cp.sum(alpha) - half * square, *limits) for half in (1.0, 0.5)]


def test_the_printed_duals_lack_a_half():
    """Yu & Kim (26), (41), (88) print the quadratic term without 1/2: their optimum is not that of (23)
    and (84).
    """
    s, C = generators.classes(), 0.2
    z = np.where(s.y == 1, 1, -1)
    printed, right = _printed_and_right(z[:, None] * s.X, C, lambda alpha: z @ alpha == 0)
    assert printed < right * 0.99
    assert_allclose(MarginClassifier(C, tol=TOL).fit(s.X, s.y).objective_, right, rtol=1e-6)
    s, C = generators.ordered_labels(), 0.02
    printed, right = _printed_and_right(_pair_differences(s), C)
    assert printed < right * 0.99
    assert_allclose(RankingSVM(C, tol=TOL).fit(s.X, s.y).objective_, right, rtol=1e-6)


def test_the_printed_bias_has_the_wrong_sign():
    """Yu & Kim (21): with F(x) = w x - b a positive support vector gives b = w x - 1, not 1 - w x."""
    s = generators.classes(gap=1.0)
    model = MarginClassifier(np.inf, tol=TOL).fit(s.X, s.y)
    u = model.utility(s.X)
    support = u[s.y == 1].min()
    assert_allclose(-model.intercept_, support - 1, rtol=0, atol=1e-6)
    z = np.where(s.y == 1, 1, -1)
    assert np.min(z * (u - (support - 1))) >= 1 - 1e-6
    assert np.min(z * (u - (1 - support))) < 0


def test_the_printed_xor_objective_is_not_stationary_at_its_solution():
    """Yu & Kim (48): 9 alpha_3 + alpha_4^2 must read 9 alpha_3^2 + 9 alpha_4^2; then alpha = 1/8; F(1, 1)
    is -1, not 1.
    """
    X = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    y = np.array([-1, 1, 1, -1])
    Q = np.outer(y, y) * oracles.gram("poly", X, X, X)
    at = np.full(4, 1 / 8)
    assert_allclose(1 - Q @ at, 0, atol=1e-15)
    printed = 1 - Q @ at - 0.5 * np.array([0, 0, 9 - 18 * at[2], 2 * at[3] - 18 * at[3]])
    assert np.abs(printed).max() > 0.5
    model = MarginClassifier(np.inf, tol=1e-12, **POLY).fit(X, y)
    assert_allclose([model.objective_, *np.abs(np.ravel(model.dual_coef_))], [1 / 4, *at], rtol=0, atol=1e-9)
    assert_allclose(model.decision_function(np.array([[1.0, 1.0]])), -1, atol=1e-8)


def test_the_printed_regression_primal_and_dual_are_two_problems():
    """Yu & Kim (60) squares the slacks, (70)-(73) is the dual of linear ones; both are offered, by name."""
    s, C, epsilon = generators.targets(), 0.3, 0.1
    plus, minus = cp.Variable(24), cp.Variable(24)
    value = s.y @ (plus - minus) - epsilon * cp.sum(plus + minus) - 0.5 * cp.sum_squares(s.X.T @ (plus - minus))
    box = [plus >= 0, minus >= 0, plus <= C, minus <= C, cp.sum(plus - minus) == 0]
    dual = maximise(value, *box)
    w, b = cp.Variable(3), cp.Variable()
    miss = cp.pos(cp.abs(s.X @ w + b - s.y) - epsilon)
    linear = -maximise(-(0.5 * cp.sum_squares(w) + C * cp.sum(miss)))
    squared = -maximise(-(0.5 * cp.sum_squares(w) + C * cp.sum(cp.square(miss))))
    assert_allclose(linear, dual, rtol=1e-7)
    assert abs(squared - dual) > 0.01 * dual
    ours = {
        loss: MarginRegressor(C, epsilon=epsilon, loss=loss, tol=TOL).fit(s.X, s.y).objective_
        for loss in ("epsilon_insensitive", "squared_epsilon_insensitive")
    }
    assert_allclose(list(ours.values()), [linear, squared], rtol=1e-6)


def test_a_kernel_of_differences_accepts_any_order():
    """Yu & Kim (88), (95): an RBF of x_i - x_j is positive everywhere, so any alpha > 0 "separates"
    contradictory pairs.
    """
    s = generators.ordered_labels(n=10)
    X, y = np.vstack([s.X, s.X]), np.concatenate([s.y, s.y.max() + 1 - s.y])  # everything, and its reverse
    rows = oracles.ranking_rows(y)
    d = np.array([sum(sign * X[i] for i, sign in row.signs.items()) for row in rows])
    wrong = oracles.gram("rbf", d, d, X)
    alpha = np.random.default_rng(0).uniform(0.1, 1, len(d))
    alpha /= (wrong @ alpha).min()
    assert (wrong @ alpha).min() >= 1 - 1e-12
    with pytest.raises(oracles.InfeasibleError):
        oracles.two_norm(rows, X, C=np.inf, kernel="rbf")
    for model in (
        RankingSVM(np.inf, kernel="rbf"),
        RankingVectorMachine(np.inf, kernel="rbf", vectors="pairs"),
    ):
        with pytest.raises(ValueError, match="margin"):
            model.fit(X, y)


def test_the_pair_kernel_has_four_terms():
    """Yu & Kim (88), (95) are right with K(i,u) - K(i,v) - K(j,u) + K(j,v): products of feature-space
    differences.
    """
    s = generators.ordered_labels(n=12)
    rows = oracles.ranking_rows(s.y)
    K = oracles.gram("rbf", s.X, s.X, s.X)
    pairs = [tuple(row.signs) for row in rows]
    four = np.array([[K[i, u] - K[i, v] - K[j, u] + K[j, v] for u, v in pairs] for i, j in pairs])
    alpha = cp.Variable(len(rows))
    half = np.linalg.cholesky(four + 1e-12 * np.eye(len(rows))).T
    dual = maximise(cp.sum(alpha) - 0.5 * cp.sum_squares(half @ alpha), alpha >= 0, alpha <= 0.5)
    ours = RankingSVM(0.5, kernel="rbf", tol=TOL).fit(s.X, s.y)
    assert_allclose(ours.objective_, dual, rtol=1e-6)
    machine = RankingVectorMachine(0.5, kernel="rbf", vectors="pairs", tol=TOL).fit(s.X, s.y)
    assert_allclose(machine.objective_, oracles.one_norm(rows, K, C=0.5, vectors="pairs").objective, rtol=1e-6)


def test_positive_coefficients_are_a_cone():
    """Yu & Kim (104): alpha >= 0 on non-negative data cannot express a negative weight; signed
    coefficients can.
    """
    rng = np.random.default_rng(0)
    X, new = rng.uniform(size=(40, 2)), rng.uniform(size=(200, 2))
    y, truth = X @ [1.0, -2.0], new @ [1.0, -2.0]
    cone = fitted(RankingVectorMachine(1.0, positive=True, tol=TOL), X, y)
    signed = fitted(RankingVectorMachine(1.0, tol=TOL), X, y)
    assert np.all(cone.coef_ >= 0)
    assert cone.score(new, truth) < 0.7
    assert signed.score(new, truth) > 0.95


def test_the_cone_moves_with_the_origin():
    """Yu & Kim (104): moving the origin changes what alpha >= 0 can express, though no difference x_u -
    x_v changes.
    """
    rng = np.random.default_rng(1)
    X, new = rng.uniform(size=(40, 2)), rng.uniform(size=(200, 2))
    y, truth = X @ [1.0, -2.0], new @ [1.0, -2.0]
    here = fitted(RankingVectorMachine(1.0, positive=True, tol=TOL), X, y)
    there = fitted(RankingVectorMachine(1.0, positive=True, tol=TOL), X - 0.5, y)
    assert there.score(new - 0.5, truth) > here.score(new, truth) + 0.2


def _first_queries():
    """Grades and features of the first three queries of LETOR 2.0 OHSUMED."""
    with gzip.open(data_file("ohsumed_letor2", "S1.txt.gz"), "rt") as lines:
        rows = [line.split("#")[0].split() for line in lines]
    numbers = np.array([[float(word.split(":")[-1]) for word in row] for row in rows])
    return [numbers[numbers[:, 1] == q] for q in (1, 2, 3)]


def test_the_papers_queries_are_larger_than_printed():
    """Yu & Kim Table 2: the queries have 138, 153 and 235 documents, and "#SV" is two thirds of them: the
    training folds.
    """
    sizes = np.array([len(query) for query in _first_queries()])
    assert sizes.tolist() == [138, 153, 235]
    assert_allclose(sizes * 2 / 3, [92, 102, 156.66], atol=0.01)  # the RBF row's "#SV", with |D| = 134, 128, 182


def test_the_papers_support_vectors_are_documents():
    """Yu & Kim Table 2: "#SV" counts documents in some support pair, which are nearly all; support pairs
    are many more.
    """
    query = _first_queries()[0]
    train = query[np.arange(len(query)) % 3 > 0]
    y, X = train[:, 0], train[:, 2:]
    u = fitted(RankingSVM(1.0, kernel="rbf"), X, y).utility(X)
    support = [(i, j) for i, j in np.ndindex(len(y), len(y)) if y[i] > y[j] and u[i] - u[j] <= 1 + 1e-3]
    documents = set(itertools.chain.from_iterable(support))
    assert len(documents) >= 0.98 * len(y)
    assert len(support) > 5 * len(documents)
