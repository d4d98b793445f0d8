"""The linear programs: the 1-norm machines against their written-out form, their parts, and the margin of 002 (7)."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from widemargin._core.comparisons import from_levels
from widemargin._core.linear_program import NotSeparableError, UnboundedMarginError, comparison_margin
from widemargin._core.one_norm import (
    chains,
    face_program,
    iterations,
    optimal_face,
    pair_graph,
    ranking_vectors,
    routing,
)
from widemargin._core.one_norm.problem import Problem
from widemargin._core.pairs_machine import _doubly_grounded, ranking_pairs
from widemargin._core.solution import Status

TIGHT = {"tol": 1e-9, "max_iter": 200}


def problem(n=40, *, seed=0, n_levels=None, n_queries=1):
    """Return an RBF kernel matrix and levels within queries."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    u = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    y = (
        np.argsort(np.argsort(u))
        if n_levels is None
        else np.digitize(u, np.quantile(u, np.arange(1, n_levels) / n_levels))
    )
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(-1))
    return K, y.astype(np.int64), np.arange(n, dtype=np.int64) % n_queries


def levels_of(y, group, weight=None):
    return from_levels(y, group, np.ones(y.size) if weight is None else weight)


@pytest.mark.parametrize("positive", [True, False])
def test_below_its_threshold_no_vector_pays(positive):
    """With B'1 the pull of all pairs, a = 0 is optimal exactly while C max |K'B'1| <= 1 (positive: its maximum)."""
    K, y, group = problem()
    levels = levels_of(y, group)
    better, worse = levels.pairs()
    pull = np.bincount(better, minlength=y.size) - np.bincount(worse, minlength=y.size)
    price = K.T @ pull
    edge = 1.0 / (price.max() if positive else np.abs(price).max())
    below, above = (ranking_vectors(K, levels, C, positive=positive, **TIGHT) for C in (0.999 * edge, 1.01 * edge))
    assert not np.any(below.weights)
    assert below.objective == pytest.approx(0.999 * edge * levels.n_pairs)
    assert np.any(above.weights)
    assert above.objective < 1.01 * edge * levels.n_pairs


@pytest.mark.parametrize("positive", [True, False])
def test_duplicates_share_equally(positive):
    """Where optima are many the shortest is returned: an item given twice gets equal coefficients."""
    K, y, group = problem(24, n_levels=4)
    twice = np.r_[np.arange(24), 3, 7]
    found = ranking_vectors(K[np.ix_(twice, twice)], levels_of(y[twice], group[twice]), 1.0, positive=positive, **TIGHT)
    assert_allclose(found.weights[[3, 7]], found.weights[[24, 25]], atol=1e-9 * np.abs(found.weights).max())


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_order_of_items_and_the_origin_of_the_kernel_do_not_matter(positive, C):
    """A permutation permutes the answer; K + c leaves every margin of the positive and signed machine alone."""
    K, y, group = problem(30, n_levels=5, n_queries=2)
    want = ranking_vectors(K, levels_of(y, group), C, positive=positive, **TIGHT)
    order = np.random.default_rng(1).permutation(30)
    mixed = ranking_vectors(K[np.ix_(order, order)], levels_of(y[order], group[order]), C, positive=positive, **TIGHT)
    assert_allclose(mixed.weights, want.weights[order], atol=1e-8 * max(1.0, np.abs(want.weights).max()))
    moved = ranking_vectors(K + 5.0, levels_of(y, group), C, positive=positive, **TIGHT)
    assert moved.objective == pytest.approx(want.objective, rel=1e-8)


@pytest.mark.parametrize("positive", [True, False])
def test_pair_coefficients_make_the_items_coefficients(positive):
    """Item coefficients are B'alpha, better minus worse; the positive machine has alpha >= 0 on allowed pairs."""
    K, y, group = problem(20, n_levels=5, n_queries=2)
    levels = levels_of(y, group)
    found, pairs, alpha = ranking_pairs(K, levels, 1.0, positive=positive, **TIGHT)
    b = np.bincount(pairs[:, 0], alpha, minlength=20) - np.bincount(pairs[:, 1], alpha, minlength=20)
    assert_allclose(b, found.weights, atol=1e-9 * np.abs(b).max())
    assert np.all(y[pairs[:, 0]] > y[pairs[:, 1]])
    assert np.all(group[pairs[:, 0]] == group[pairs[:, 1]])
    assert not positive or np.all(alpha >= 0)


def test_weights_are_repetitions():
    """An item of weight 2 is an item given twice, in the objective."""
    K, y, group = problem(18, n_levels=4)
    weight = np.ones(18)
    weight[4] = 2.0
    twice = np.r_[np.arange(18), 4]
    want = ranking_vectors(K[np.ix_(twice, twice)], levels_of(y[twice], group[twice]), 0.5, positive=False, **TIGHT)
    found = ranking_vectors(K, levels_of(y, group, weight), 0.5, positive=False, **TIGHT)
    assert found.objective == pytest.approx(want.objective, rel=1e-8)


def test_a_hard_machine_that_cannot_exist_is_refused():
    """Two equal items of different level have no margin."""
    K = np.ones((2, 2))
    found = ranking_vectors(
        K, levels_of(np.array([0, 1]), np.zeros(2, dtype=np.int64)), np.inf, positive=False, **TIGHT
    )
    assert found.status is Status.INFEASIBLE


@pytest.mark.parametrize("C", [1e-3, 1e-1, 10.0, 1e3])
@pytest.mark.parametrize("n_levels", [None, 5])
def test_gaps_are_certified_on_harder_kernels(C, n_levels):
    """Near-identity, near-constant and low-rank kernels reach 1e-8 too."""
    K, y, group = problem(60, n_levels=n_levels, n_queries=3)
    X = np.random.default_rng(2).normal(size=(60, 4))
    for matrix in (K**40, K**1e-6, X @ X.T, (X @ X.T) ** 3):
        found = ranking_vectors(matrix, levels_of(y, group), C, positive=False, tol=1e-8, max_iter=300)
        assert found.gap <= 1e-8


# The oracle: the papers' linear programs, written out pair by pair for HiGHS.


def written_out(K, levels, *, vectors):
    """Return better, worse, the pairs' weights and the matrix from coefficients to margins, 004 (95) or (103)."""
    u, v = levels.pairs()
    if vectors == "points":
        return u, v, levels.weight[u] * levels.weight[v], K[u] - K[v]
    four_terms = K[np.ix_(u, u)] - K[np.ix_(u, v)] - K[np.ix_(v, u)] + K[np.ix_(v, v)]
    return u, v, levels.weight[u] * levels.weight[v], four_terms


def optimum(K, levels, C, *, vectors, positive):
    """Return the optimal value of 004 (94)-(96) or (102)-(104), None where there is no solution."""
    _, _, weight, M = written_out(K, levels, vectors=vectors)
    n_pairs, n_coefficients = M.shape
    signs = [M] if positive else [M, -M]
    slacks = [np.eye(n_pairs)] if np.isfinite(C) else []
    cost = np.ones(n_coefficients * len(signs))
    cost = np.append(cost, C * weight) if slacks else cost
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(cost, A_ub=-np.hstack(signs + slacks), b_ub=-np.ones(n_pairs), options=tight)
    return found.fun if found.status == 0 else None


def solve(K, levels, C, *, vectors, positive, **settings):
    """Return the solution and the sum of |coefficients| of either machine."""
    settings = TIGHT | settings
    if vectors == "points":
        found = ranking_vectors(K, levels, C, positive=positive, **settings)
        return found, np.abs(found.weights).sum()
    found, _, alpha = ranking_pairs(K, levels, C, positive=positive, **settings)
    return found, np.abs(alpha).sum()


def data_of_kind(kind, n=12):
    """Return a kernel and levels: strict, tied, in queries, weighted, or contradicting duplicates."""
    K, y, group = problem(n, n_levels=3 if kind in {"ties", "queries and ties"} else None, seed=3)
    if kind.startswith("queries"):
        group = np.array([0, 1, 1, 2, 0, 1, 0, 3, 1, 0, 1, 0])[:n]  # queries 2 and 3 have one item
    if kind == "contradictions":
        twin = np.arange(n) % (n - 3)
        K = K[np.ix_(twin, twin)]
    weight = np.array([1.0, 0.5, 3.0, 2.0])[np.arange(n) % 4] if kind == "weights" else None
    return K, levels_of(y, group, weight)


KINDS = ["strict", "ties", "queries", "queries and ties", "weights", "contradictions"]
MACHINES = [(vectors, positive) for vectors in ("points", "pairs") for positive in (True, False)]


@pytest.mark.parametrize("C", [1e-4, 0.1, 1.0, 1e4, np.inf])
@pytest.mark.parametrize(("vectors", "positive"), MACHINES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_optimum_is_that_of_the_written_out_program(kind, vectors, positive, C):
    """Both machines, both signs: the value, the bound below it, and the value recomputed from the coefficients."""
    K, levels = data_of_kind(kind)
    want = optimum(K, levels, C, vectors=vectors, positive=positive)
    found, size = solve(K, levels, C, vectors=vectors, positive=positive)
    if want is None:
        assert found.status is Status.INFEASIBLE
        return
    assert found.status is Status.CONVERGED
    assert found.objective == pytest.approx(want, rel=1e-7)
    assert found.dual <= want * (1 + 1e-8)
    u, v, weight, _ = written_out(K, levels, vectors="points")
    slack = np.maximum(0.0, 1.0 - (K[u] - K[v]) @ found.weights)
    if np.isfinite(C):
        assert size + C * weight @ slack == pytest.approx(found.objective, rel=1e-9)
    else:
        assert slack.max() <= 1e-9
        assert size == pytest.approx(found.objective, rel=1e-9)


@pytest.mark.parametrize(("vectors", "positive"), MACHINES)
def test_any_square_matrix_is_a_kernel(vectors, positive):
    """The programs are linear: an indefinite or unsymmetric K is as good as another, s = K a."""
    K = np.random.default_rng(0).normal(size=(12, 12))
    _, levels = data_of_kind("ties")
    found, _ = solve(K, levels, 0.5, vectors=vectors, positive=positive)
    assert found.objective == pytest.approx(optimum(K, levels, 0.5, vectors=vectors, positive=positive), rel=1e-7)


@pytest.mark.parametrize("positive", [True, False])
def test_below_its_threshold_no_pair_pays(positive):
    """The pairs machine is 0 while no allowed difference of C K'B'1 exceeds 1."""
    K, y, group = problem(20, n_levels=5, n_queries=2)
    levels = levels_of(y, group)
    *_, M = written_out(K, levels, vectors="pairs")
    price = M.sum(axis=0)
    edge = 1.0 / (price.max() if positive else np.abs(price).max())
    for factor, is_zero in ((0.999, True), (1.001, False)):
        found, pairs, alpha = ranking_pairs(K, levels, factor * edge, positive=positive, **TIGHT)
        assert (alpha.size == 0) == is_zero
        assert np.any(found.weights) != is_zero
        assert pairs.shape == (alpha.size, 2)


@pytest.mark.parametrize(("vectors", "positive"), MACHINES)
@pytest.mark.parametrize("n_levels", [None, 4])
def test_the_answer_does_not_depend_on_order_origin_or_unit(vectors, positive, n_levels):
    """A permutation, K + c and 7.3 K with C / 7.3 give the same coefficients, to rounding."""
    K, y, group = problem(40, n_levels=n_levels)
    want, _ = solve(K, levels_of(y, group), 1.0, vectors=vectors, positive=positive)
    scale = np.abs(want.weights).max()
    order = np.random.default_rng(1).permutation(40)
    mixed, _ = solve(K[np.ix_(order, order)], levels_of(y[order], group), 1.0, vectors=vectors, positive=positive)
    assert_allclose(mixed.weights, want.weights[order], atol=1e-11 * scale)
    moved, _ = solve(K + 100.0, levels_of(y, group), 1.0, vectors=vectors, positive=positive)
    assert_allclose(moved.weights, want.weights, atol=1e-8 * scale)
    scaled, _ = solve(7.3 * K, levels_of(y, group), 1.0 / 7.3, vectors=vectors, positive=positive)
    assert_allclose(7.3 * scaled.weights, want.weights, atol=1e-9 * scale)


@pytest.mark.parametrize("positive", [True, False])
def test_pairs_are_fewer_than_the_items_they_join(positive):
    """Matching in order uses less than one pair per item with a coefficient."""
    K, y, group = problem(40, n_levels=8)
    found, pairs, alpha = ranking_pairs(K, levels_of(y, group), 1.0, positive=positive, **TIGHT)
    assert 0 < alpha.size < np.count_nonzero(found.weights) * (1 if positive else 2)
    assert len({tuple(pair) for pair in pairs.tolist()}) == len(pairs)


def test_contradicting_duplicates_are_one_column():
    """Items with the same features and different levels share their coefficient equally."""
    K, y, group = problem(30)
    twin = np.arange(30) % 20
    found, _ = solve(K[np.ix_(twin, twin)], levels_of(y, group), 1.0, vectors="points", positive=False)
    assert_allclose(found.weights[20:], found.weights[:10], atol=1e-11 * np.abs(found.weights).max())


@pytest.mark.parametrize("kernel", ["wide", "narrow", "cubic", "indefinite"])
@pytest.mark.parametrize(("vectors", "positive"), MACHINES)
def test_every_C_is_solved_to_a_certified_gap(kernel, vectors, positive):
    """From the zero model to the hard one, small and large kernels: the gap closes or the model does not exist."""
    K, y, group = problem(40, n_levels=20)
    K = {"wide": K**1e-3, "narrow": K**40, "cubic": 1e3 * (1.0 + np.log(K)) ** 3, "indefinite": K - 0.5}[kernel]
    last = 0.0
    for C in (1e-8, 1e-2, 1.0, 1e2, 1e6, np.inf):
        found, _ = solve(K, levels_of(y, group), C, vectors=vectors, positive=positive, tol=1e-8, max_iter=500)
        assert found.gap <= 1e-8 or found.status is Status.INFEASIBLE
        assert found.objective >= last * (1 - 1e-8)  # the optimum grows with C
        last = found.objective


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_a_huge_C_is_the_hard_machine_where_that_exists(scale):
    """A cap that no multiplier reaches changes nothing, whatever the unit of the kernel."""
    K, y, group = problem(20)
    hard, _ = solve(scale * K, levels_of(y, group), np.inf, vectors="points", positive=False)
    soft, _ = solve(scale * K, levels_of(y, group), 1e12 / scale, vectors="points", positive=False)
    assert hard.status is soft.status is Status.CONVERGED
    assert soft.objective == pytest.approx(hard.objective, rel=1e-8)
    assert_allclose(soft.weights, hard.weights, atol=1e-7 * np.abs(hard.weights).max())


@pytest.mark.parametrize("seed", [1, 3])
def test_caps_of_1e9_are_certified(seed):
    """Where multipliers carry errors of 1e-7, prices a little below cost still prove the optimum."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 5))
    u = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=150)
    levels = levels_of(np.argsort(np.argsort(u)), np.zeros(150, dtype=np.int64))
    found = ranking_vectors((1 + X @ X.T) ** 3, levels, 1e6, positive=True, tol=1e-8, max_iter=1000)
    assert found.gap <= 1e-8


def test_a_kernel_of_low_rank_gives_few_vectors():
    """However small its part in the objective, the 1-norm leaves no coefficients of rounding size."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = np.round(X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=200), 1)
    levels = levels_of(np.unique(y, return_inverse=True)[1].astype(np.int64), np.zeros(200, dtype=np.int64))
    for C in np.geomspace(1e-4, 1e4, 20)[9:13].tolist():
        found = ranking_vectors(X @ X.T, levels, C, positive=False, tol=1e-4, max_iter=1000)
        assert np.count_nonzero(found.weights) <= 5


@pytest.mark.parametrize("vectors", ["points", "pairs"])
def test_a_C_beyond_rounding_still_gives_the_least_hinge(vectors):
    """With C = 1e14 the multipliers have no digits left for a certificate; the model is right all the same."""
    K, levels = data_of_kind("contradictions")
    found, _ = solve(K, levels, 1e14, vectors=vectors, positive=False)
    u, v = levels.pairs()
    A = np.hstack([K[u] - K[v], np.eye(u.size)])
    cost = np.append(np.zeros(levels.n_items), np.ones(u.size))
    bounds = [(None, None)] * levels.n_items + [(0, None)] * u.size
    least = linprog(cost, A_ub=-A, b_ub=-np.ones(u.size), bounds=bounds).fun
    assert found.objective == pytest.approx(1e14 * least, rel=1e-6)


@pytest.mark.parametrize("vectors", ["points", "pairs"])
def test_an_impossible_hard_machine_is_proved_impossible(vectors):
    """The bound says that any solution has coefficients beyond 1e9 over the range of the kernel."""
    K, levels = data_of_kind("contradictions")
    found, _ = solve(K, levels, np.inf, vectors=vectors, positive=False)
    assert found.status is Status.INFEASIBLE
    assert found.dual > 1e8
    assert not np.any(found.weights)


@pytest.mark.parametrize("vectors", ["points", "pairs"])
def test_without_pairs_or_without_differences_nothing_is_learnt(vectors):
    """No pair: objective 0. A constant kernel: every slack is 1, and no hard machine exists."""
    K, y, group = problem(6)
    found, _ = solve(K, levels_of(np.zeros_like(y), group), 1.0, vectors=vectors, positive=False)
    assert found.objective == found.dual == 0.0
    assert not np.any(found.weights)
    found, _ = solve(np.ones((6, 6)), levels_of(y, group), 2.0, vectors=vectors, positive=False)
    assert found.objective == found.dual == 30.0
    found, _ = solve(np.ones((6, 6)), levels_of(y, group), np.inf, vectors=vectors, positive=False)
    assert found.status is Status.INFEASIBLE
    found, _ = solve(np.full((6, 6), np.nan), levels_of(y, group), 1.0, vectors=vectors, positive=False)
    assert found.status is Status.NOT_FINITE


@pytest.mark.parametrize(("vectors", "positive"), MACHINES)
def test_an_interrupted_solver_reports_true_bounds(vectors, positive):
    """After three iterations the optimum lies between the two values, and the status says why it stopped."""
    K, levels = data_of_kind("ties")
    found, _ = solve(K, levels, 1.0, vectors=vectors, positive=positive, max_iter=3)
    want = optimum(K, levels, 1.0, vectors=vectors, positive=positive)
    assert found.status is Status.MAX_ITER
    assert found.dual <= want * (1 + 1e-9)
    assert found.objective >= want * (1 - 1e-9)
    assert found.n_iter == 3


def test_a_refused_jump_keeps_the_interior_point(monkeypatch):
    """A jump that does not improve the bracket leaves its point, and the gap that is reported is that point's."""
    K, levels = data_of_kind("strict")
    exact, _ = solve(K, levels, 1.0, vectors="points", positive=False)
    monkeypatch.setattr(optimal_face._Equations, "point", lambda _, near: 10.0 * np.ones_like(near))
    monkeypatch.setattr(optimal_face._Equations, "multipliers", lambda _, iterate, worth: worth * iterate.pairs.t)
    found, _ = solve(K, levels, 1.0, vectors="points", positive=False, tol=1e-8)
    assert found.status is Status.CONVERGED
    assert 0.0 < found.gap <= 1e-8
    assert found.objective == pytest.approx(exact.objective, rel=1e-8)
    assert exact.gap <= 1e-12


@pytest.mark.parametrize("C", [0.1, 10.0, np.inf])
@pytest.mark.parametrize("vectors", ["points", "pairs"])
def test_the_face_program_finishes_what_the_interior_point_began(vectors, C, monkeypatch):
    """From an unfinished interior point HiGHS and the bracket find the optimum."""
    K, y, group = problem(30, n_levels=6)
    levels = levels_of(y, group)
    graph = pair_graph.from_levels(levels)
    scaled = graph.grounded(K)[:, levels.order]
    arcs = routing.direct(30, positive=False)
    if vectors == "pairs":
        scaled, arcs = _doubly_grounded(K, graph), chains.from_graph(graph, positive=False)
    cap = None if np.isinf(C) else C * graph.weight
    want, _ = solve(K, levels, C, vectors=vectors, positive=False)
    monkeypatch.setattr(optimal_face, "jump", lambda *_: False)
    unfinished = iterations._interior_point(Problem(graph, scaled, cap, arcs), 1e-9, 8)
    assert unfinished.bracket.gap > 1e-8
    face_program.improve(unfinished.bracket, unfinished.iterate, 1e-9)
    assert unfinished.bracket.upper == pytest.approx(want.objective, rel=1e-8)
    assert unfinished.bracket.gap <= 1e-8


# The parts


def test_the_graph_is_the_matrix_of_the_pairs():
    """Differences, imbalances and Laplacians are those of the written-out B."""
    _, levels = data_of_kind("queries and ties")
    graph = pair_graph.from_levels(levels)
    B = np.zeros((graph.n_edges, graph.n_nodes))
    B[np.arange(graph.n_edges), graph.better] = 1.0
    B[np.arange(graph.n_edges), graph.worse] = -1.0
    rng = np.random.default_rng(0)
    s, y = rng.normal(size=graph.n_nodes), rng.uniform(size=graph.n_edges)
    assert_allclose(graph.difference(s), B @ s)
    assert_allclose(graph.imbalance(y), B.T @ y, atol=1e-14)
    better, worse = levels.pairs()
    assert {*zip(graph.item[graph.better], graph.item[graph.worse], strict=True)} == {*zip(better, worse, strict=True)}
    laplacian = B.T @ (y[:, None] * B)
    degree = np.diag(laplacian).copy()
    for careful in (False, True):
        factors = graph.laplacian_factors(y, degree, graph.squares(), careful=careful)
        for query, R in zip(graph.queries, factors, strict=True):
            inner = slice(query.nodes.start, query.ground)
            lower = np.tril(R)[:-1, :-1]
            assert_allclose(lower @ lower.T, laplacian[inner, inner], atol=1e-14)


def test_careful_factors_keep_the_digits_of_weak_connections():
    """Two strong clusters with a link of 1e-20 between them: the last pivot is the link, not rounding."""
    between = np.zeros((4, 4))
    between[1, 0], between[2, 1], between[3, 2] = 1.0, 1e-20, 1.0
    factor = pair_graph.network_cholesky(between.copy(order="F"), between.sum(0) + between.sum(1), careful=True)
    assert factor[1, 1] ** 2 == pytest.approx(1e-20, rel=1e-14)


def test_the_ladder_inverts_the_hubs():
    """Leaks and links over thirty decades: each entry of the inverse is right, as exact fractions show."""
    leak, link = np.array([1e-15, 2.0, 1e-9, 1e12]), np.array([1e10, 1e-12, 3.0])
    S = [[Fraction(0)] * 4 for _ in range(4)]
    for k in range(4):
        S[k][k] += Fraction(leak[k])
    for k in range(3):
        for i, j, sign in ((k, k, 1), (k + 1, k + 1, 1), (k, k + 1, -1), (k + 1, k, -1)):
            S[i][j] += sign * Fraction(link[k])
    inverse = chains._hub_inverse(leak, link)
    product = [[float(sum(S[i][k] * exact_inverse(S)[k][j] for k in range(4))) for j in range(4)] for i in range(4)]
    assert_allclose(product, np.eye(4), atol=1e-15)
    assert_allclose(inverse, [[float(v) for v in row] for row in exact_inverse(S)], rtol=1e-13)


def exact_inverse(S):
    """Return the inverse of a matrix of fractions, by Gauss and Jordan."""
    n = len(S)
    rows = [[*S[i], *(Fraction(int(i == j)) for j in range(n))] for i in range(n)]
    for k in range(n):
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = [v - rows[i][k] * w for v, w in zip(rows[i], rows[k], strict=True)]
    return [row[n:] for row in rows]


def test_the_cheapest_flow_is_the_cheapest_set_of_pairs():
    """A routable b costs sum b+; the chain's own cost and the matched pairs agree with a transport program."""
    y = np.array([3, 3, 2, 2, 1, 0])
    levels = levels_of(y, np.zeros(6, dtype=np.int64))
    better, worse = levels.pairs()
    rng = np.random.default_rng(0)
    for positive in (True, False):
        arcs = chains.from_graph(pair_graph.from_levels(levels), positive=positive)
        alpha = rng.normal(size=better.size) * (rng.uniform(size=better.size) < 0.4)
        alpha = np.abs(alpha) if positive else alpha
        b = np.bincount(better, alpha, 6) - np.bincount(worse, alpha, 6)
        B = np.zeros((6, better.size))
        B[better, np.arange(better.size)], B[worse, np.arange(better.size)] = 1.0, -1.0
        columns = [B] if positive else [B, -B]
        want = linprog(np.ones(better.size * len(columns)), A_eq=np.hstack(columns), b_eq=b).fun
        U = arcs.U.toarray()[:-1]  # the ground's row is left out: the other rows determine it
        hubs = arcs.A.toarray()
        rhs = np.append(b[:-1], np.zeros(len(hubs)))
        flow = linprog(arcs.cost, A_eq=np.vstack([U, hubs]), b_eq=rhs)
        assert flow.fun == pytest.approx(want, rel=1e-9)
        cost, delivered = arcs.settle(flow.x)
        assert cost == pytest.approx(want, rel=1e-9)
        assert_allclose(delivered, b, atol=1e-9)


# The comparison margin, 002 (7)


def separable(n, p, *, seed=0, gap=0.1):
    """Return significant differences, better minus worse, and ties, with the w that separates them."""
    rng = np.random.default_rng(seed)
    D, w = rng.normal(size=(n, p)), rng.normal(size=p)
    w /= np.median(np.abs(D @ w))
    r = D @ w
    D, r = D[np.abs(np.abs(r) - 1) > gap], r[np.abs(np.abs(r) - 1) > gap]
    is_won = np.abs(r) > 1
    return D[is_won] * np.sign(r[is_won])[:, None], D[~is_won], w


def margin_of(w, won, tied):
    """Return the margin of w by the definition in 002."""
    return min((won @ w - 1).min(initial=np.inf), (1 - np.abs(tied @ w)).min(initial=np.inf))


@pytest.mark.parametrize(("n", "p"), [(12, 2), (200, 3), (30, 20), (3000, 8)])
def test_the_comparison_margin_is_that_of_the_program(n, p):
    """LP (7) as printed, in our orientation, against HiGHS; few rows and, with 3000, row generation."""
    won, tied, _ = separable(n, p)
    found = comparison_margin(won, tied, 1e-9)
    ones = np.ones((len(won), 1)), np.ones((len(tied), 1))
    A = np.block([[-won, ones[0]], [tied, ones[1]], [-tied, ones[1]]])
    b = np.concatenate([-np.ones(len(won)), np.ones(2 * len(tied))])
    want = linprog(np.append(np.zeros(p), -1.0), A_ub=A, b_ub=b, bounds=[(None, None)] * p + [(0, None)])
    assert found.mu == pytest.approx(-want.fun, rel=1e-8)
    assert found.mu == pytest.approx(margin_of(found.w, won, tied), rel=1e-12)
    assert found.bound >= found.mu
    assert found.gap <= 1e-8
    assert found.multipliers.shape == (len(won) + len(tied),)


def test_the_comparison_margin_is_proved_where_least_squares_fail(monkeypatch):
    """HiGHS's multipliers as they are prove a little less; an error of LAPACK's is none of the user's."""
    won, tied, _ = separable(200, 3)
    want = comparison_margin(won, tied, 1e-9)

    def failing(*_, **__):
        raise np.linalg.LinAlgError("SVD did not converge in Linear Least Squares")

    monkeypatch.setattr(np.linalg, "lstsq", failing)
    found = comparison_margin(won, tied, 1e-9)
    assert found.mu == pytest.approx(want.mu, rel=1e-9)
    assert found.mu <= found.bound <= found.mu * (1.0 + 1e-6)


def test_the_shortest_of_many_best_weights_is_returned():
    """One tie in three dimensions leaves a cone of w with margin 1; neither order nor unit may choose among them."""
    won, tied = np.array([[2.0, 0.0, 1.0], [1.0, 0.5, 1.0]]), np.array([[0.0, 1.0, 0.0]])
    found = comparison_margin(won, tied, 1e-9)
    assert found.mu == pytest.approx(1.0, abs=1e-9)
    assert_allclose(comparison_margin(won[::-1], tied, 1e-9).w, found.w, atol=1e-12)
    unit = np.array([1e-6, 1.0, 1e6])
    assert_allclose(comparison_margin(won * unit, tied * unit, 1e-9).w * unit, found.w, rtol=1e-9, atol=1e-9)


def test_the_order_of_rows_does_not_choose_the_comparison_weights():
    """Permuted rows give the same w, with more rows than the program takes at once."""
    won, tied, _ = separable(2000, 6)
    found = comparison_margin(won, tied, 1e-9)
    order = np.random.default_rng(0).permutation(len(won))
    again = comparison_margin(won[order], tied[::-1], 1e-9)
    assert_allclose(again.w, found.w, atol=1e-9 * np.abs(found.w).max())


def test_differences_that_cannot_be_separated_are_refused():
    """A contradiction, with ties or without; a significant difference inside the ties."""
    won, tied, _ = separable(40, 3)
    for bad in ((np.vstack([won, -won[:1]]), tied), (np.vstack([won, -won[:1]]), tied[:0]), (won, 3.0 * won[:1])):
        with pytest.raises(NotSeparableError, match="no w"):
            comparison_margin(*bad, 1e-9)


def test_without_ties_the_comparison_margin_has_no_bound():
    """Told apart from data that cannot be separated."""
    won, tied, _ = separable(40, 3)
    with pytest.raises(UnboundedMarginError, match="no ties"):
        comparison_margin(won, tied[:0], 1e-9)


def test_ties_alone_have_margin_one():
    """With nothing to separate w = 0 is best."""
    _, tied, _ = separable(40, 3)
    found = comparison_margin(np.zeros((0, 3)), tied, 1e-9)
    assert found.mu == found.bound == 1.0
    assert not np.any(found.w)
