"""Interior points over the pairs of a kernel: the same solutions as over features, to a moderate gap."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import oracles
from widemargin import OrdinalSVM, RankingSVM
from widemargin._core import _barrier
from widemargin._core._barrier_ref import Pairs
from widemargin._core.comparisons import from_levels
from widemargin._core.interior_point import (
    ColumnSpace,
    ImplicitPairs,
    Start,
    implicit_pairs,
    interior_point,
    kernel_space,
)
from widemargin._core.losses import HINGE, SQUARED_HINGE
from widemargin._core.maps import KernelMap, LinearMap
from widemargin._core.risks import GroupedPairRisk
from widemargin._core.solution import Status
from widemargin.exceptions import ConvergenceWarning
from widemargin.model_selection import c_path

TOL = 1e-6


def kernel_of(rng, n, gamma=0.3):
    X = rng.normal(size=(n, 3))
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))


def levels_of(rng, n, decades=0.0):
    """Groups of any size, some without a pair; weights over some decades."""
    return from_levels(rng.integers(0, 4, n), rng.integers(0, 5, n), 10.0 ** (decades * rng.uniform(-1, 0, n)))


def posed(levels, K, loss=HINGE):
    return ImplicitPairs.of(GroupedPairRisk(levels, loss), partial(kernel_space, K))


def solved(levels, K, C, tol=TOL, loss=HINGE, **how):
    return posed(levels, K, loss).solve(C, tol=tol, max_iter=200, **how)


def objective(levels, K, C, b, loss=HINGE):
    u, (better, worse) = K @ b, levels.pairs()
    weight, slack = levels.weight[better] * levels.weight[worse], loss.value(1.0 - u[better] + u[worse])
    return 0.5 * b @ u + C * (weight @ slack)


@pytest.fixture(params=[False, True], ids=["hinge", "squared"])
def point(request):
    """Pairs somewhere inside, two directions, and the pairs written out."""
    rng = np.random.default_rng(7)
    levels = levels_of(rng, 60, 1.0)
    s, w = rng.normal(size=60), levels.weight[levels.order]
    spans = levels.first, levels.last
    y, t = np.empty(levels.n_pairs), np.empty(levels.n_pairs)
    _barrier.fill(*spans, w, 1.0, y)
    d = Pairs.of(*spans, s, w, y, t, request.param).d
    y *= rng.uniform(0.01, 3.0 if request.param else 0.99, y.size)
    t[:] = (0.0 if request.param else np.maximum(d, 0.0)) + 10.0 ** rng.uniform(-3, 1, t.size)
    return (*spans, s, w, y, t, request.param), rng.normal(size=60), rng.normal(size=60)


def test_bounds_and_centres(point):
    """Multipliers begin at a share of their bounds, and at a centre all products are mu times those."""
    (first, last, s, w, y, t, squared), _, _ = point
    _barrier.fill(first, last, w, 0.25, y)
    assert_allclose(y, 0.25 * Pairs.of(*point[0]).c, rtol=1e-14)
    _barrier.centre(first, last, s, w, 0.03, y, t, squared)
    written = Pairs.of(*point[0])
    assert_allclose(written.t * written.y, 0.03 * written.c, rtol=1e-12)
    if squared:
        assert_allclose(written.t, written.off, rtol=1e-9, atol=1e-12)
    else:
        assert_allclose(written.xi * written.r, 0.03 * written.c, rtol=1e-9)


def test_a_look_is_that_of_written_pairs(point):
    """Laplacian, what multipliers pull, the predictor's right side, and the sums."""
    pairs, _, _ = point
    written, n = Pairs.of(*pairs), pairs[2].size
    matrix, pull, right = np.zeros((n, n), order="F"), np.zeros(n), np.zeros(n)
    product, total = _barrier.look(*pairs, matrix, pull, right, np.zeros(n))
    assert_allclose(np.tril(matrix), np.tril(written.laplacian()), atol=1e-10)
    assert_allclose(pull, written.pull(written.y), atol=1e-12)
    assert_allclose(right, -written.pull(written.W * written.off), atol=1e-10)
    assert _barrier.short(*pairs[:4], pairs[6]) == pytest.approx(written.short, rel=1e-13)
    assert product == pytest.approx(written.products)
    assert total == pytest.approx(written.lead)


@pytest.mark.parametrize("is_held_back", [False, True])
def test_directions_are_those_of_written_pairs(point, is_held_back):
    """Predictor and corrector, how far they may be followed, and where a step leads, a long one too."""
    pairs, ds, ds2 = point
    written, n, mu = Pairs.of(*pairs), pairs[2].size, 0.02
    dy, dt, dxi = written.predicted(ds)
    slack = written.off - written.t + dy / written.r if written.squared else dxi
    assert_allclose(dt - slack, written.difference(ds), atol=1e-9)
    steepest, cross = _barrier.predict(*pairs, ds)
    assert steepest == pytest.approx(max(1.0, written.steepest(dy, dt, dxi)))
    assert cross == pytest.approx(dy @ (dt - dxi))
    rho, by_t, by_xi = written.aims(ds, mu)
    right, flow = np.zeros(n), np.zeros(n)
    _barrier.correct(*pairs, ds, mu, right)
    assert_allclose(right, written.pull(written.W * rho), rtol=1e-8, atol=1e-8)
    dy, dt, dxi = written.direction(rho, by_t, by_xi, ds2)
    lengths, tried = np.geomspace(1e-3, 1.0, 3), np.empty((2, 3))
    steepest, size = _barrier.respond(*pairs, ds, mu, ds2, flow, lengths, 0.9, tried)
    assert steepest == pytest.approx(written.steepest(dy, dt, dxi))
    assert size == pytest.approx(np.abs(dy).sum())
    want = [written.tried((a * dy, a * dt, a * dxi), 0.9, written.s + a * ds2) for a in lengths]
    assert_allclose(tried.T, want, rtol=1e-8, atol=1e-12 * size)
    assert 100.0 * tried[0, 0] < tried[0, -1]
    assert_allclose(flow, written.pull(dy), rtol=1e-8, atol=1e-8)
    length, most = (0.5, 0.9) if is_held_back else (0.9 / steepest, 1.0)
    y, t, moved = written.y + length * dy, written.t + length * dt, written.s + length * ds2
    if is_held_back:
        assert np.any(y < 0.0)
        assert np.any(t < 0.0)
        y, t = written.moved((length * dy, length * dt, length * dxi), most, moved)
    _barrier.step(*pairs, ds, mu, ds2, length, most, moved)
    assert_allclose(pairs[4], y, rtol=1e-8)
    assert_allclose(pairs[5], t, rtol=1e-8)
    after = Pairs.of(*pairs[:2], moved, *pairs[3:])
    assert min(np.min(v) for v in (after.y, after.r, after.t, after.xi)) > 0.0


@pytest.mark.parametrize("length", [0.3, 1.0])
@pytest.mark.parametrize("point", [True], indirect=True)
def test_a_full_step_of_squared_slacks_mends_them(point, length):
    """What a pair's surplus and the slack that its multiplier asks for are apart falls by the length of a step."""
    pairs, ds, ds2 = point
    written = Pairs.of(*pairs)
    rho, by_t, by_xi = written.aims(ds, 0.02)
    dy, dt, _ = written.direction(rho, by_t, by_xi, ds2)
    after = replace(written, y=written.y + length * dy, t=written.t + length * dt, s=written.s + length * ds2)
    assert_allclose(after.off - after.t, (1.0 - length) * (written.off - written.t), atol=1e-9)


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
@pytest.mark.parametrize("C", [1e-6, 1e-2, 1.0, 1e3])
@pytest.mark.parametrize("seed", range(4))
def test_the_same_solution_as_over_features(C, seed, loss):
    """Groups with and without pairs, weights over two decades, a kernel of nearly full rank, C over nine decades."""
    rng = np.random.default_rng(seed)
    K, levels = kernel_of(rng, 50), levels_of(rng, 50, 1.0)
    want = interior_point(levels.rows(), KernelMap(K), C, loss, tol=1e-9, max_iter=200)
    have = solved(levels, K, C, loss=loss)
    assert want.status is have.status is Status.CONVERGED
    assert have.gap <= TOL
    assert want.dual * (1 - TOL) <= have.objective <= want.objective * (1 + 2 * TOL)
    assert have.dual <= want.objective * (1 + 1e-9)
    assert have.objective == pytest.approx(objective(levels, K, C, have.weights, loss), rel=1e-9)
    assert_allclose(have.utilities, K @ have.weights, atol=1e-9 * np.abs(have.utilities).max())
    assert have.squared_norm == pytest.approx(have.weights @ K @ have.weights, rel=1e-8)
    assert have.dual_norm == pytest.approx(have.coefficients @ K @ have.coefficients, rel=1e-8)


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
@pytest.mark.parametrize("C", [1e8, 1e10])
def test_small_losses_beside_large_sums_are_no_false_bound(C, loss):
    """Losses are added up pair by pair: differences of sums over all items lose them, and C multiplies what is lost."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 8))
    y = np.digitize(np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=400), [-1.0, -0.3, 0.3, 1.0])
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 8)
    levels = from_levels(y, np.zeros(400, np.int64), np.ones(400))
    found = solved(levels, K, C, loss=loss)
    true = float(objective(levels, K.astype(np.longdouble), C, found.weights.astype(np.longdouble), loss))
    assert found.objective == pytest.approx(true, rel=1e-9)
    assert 0.0 <= true - found.dual <= (1e-4 if loss is HINGE else 1e-6) * true


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [1e-2, 1.0, 1e2])
def test_the_solution_of_a_general_solver(C, loss):
    """The problem as it is printed, with slacks and all pairs as rows, by a solver that knows nothing of ours."""
    rng = np.random.default_rng(5)
    X, levels = rng.normal(size=(25, 3)), levels_of(rng, 25)
    better, worse = levels.pairs()
    rows = [oracles.Row({int(i): 1.0, int(j): -1.0}) for i, j in zip(better, worse, strict=True)]
    want = oracles.two_norm(rows, X, C=C, kernel="rbf", loss=loss)
    K = oracles.gram("rbf", X, X, X)
    have = solved(levels, K, C, loss=HINGE if loss == "hinge" else SQUARED_HINGE, tol=1e-7)
    assert have.status is Status.CONVERGED
    assert have.objective == pytest.approx(want.objective, rel=1e-6)
    assert_allclose(have.utilities, want.u, atol=2.0 * np.sqrt(4e-7 * want.objective))


@pytest.mark.parametrize("C", [1e-6, 1e-2, 1.0, 1e3])
@pytest.mark.parametrize("p", [1, 4, 30])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_columns_are_a_linear_kernel(C, p, layout):
    """Weights of columns: the solution that the explicit rows have."""
    rng = np.random.default_rng(p)
    X, levels = rng.normal(size=(50, p)), levels_of(rng, 50, 1.0)
    pairs = ImplicitPairs.of(GroupedPairRisk(levels, HINGE), partial(ColumnSpace.of, layout(X)))
    have = pairs.solve(C, tol=TOL, max_iter=200)
    want = interior_point(levels.rows(), LinearMap(X), C, HINGE, tol=1e-9, max_iter=200)
    assert have.status is Status.CONVERGED
    assert have.weights.shape == (p,)
    assert want.dual * (1 - TOL) <= have.objective <= want.objective * (1 + 2 * TOL)
    assert have.dual <= want.objective * (1 + 1e-9)
    assert_allclose(have.utilities, X @ have.weights, atol=1e-9 * np.abs(have.utilities).max())


def test_a_list_that_one_feature_orders_is_certified():
    """Two values of a feature, three thousand items, every pair on its margin at the solution: w = 1/2, 1/8 in all."""
    y = np.arange(3000) % 2
    model = RankingSVM().fit(2.0 * y[:, None] - 1.0, y)
    assert model.converged_
    assert model.objective_ == pytest.approx(0.125, rel=1e-4)


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
@pytest.mark.parametrize("h", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("share", [0.0, 0.5, 3.0])
def test_any_start_leads_to_the_solution(h, share, loss):
    """From the solution for a smaller C, from far beyond it, from zero: within what is certified."""
    rng = np.random.default_rng(1)
    K, levels = kernel_of(rng, 60), levels_of(rng, 60)
    cold, small = solved(levels, K, 2.0, loss=loss), solved(levels, K, 0.5, loss=loss)
    warm = solved(levels, K, 2.0, loss=loss, start=Start(share * small.weights, h))
    assert warm.status is Status.CONVERGED
    assert warm.objective == pytest.approx(cold.objective, rel=2 * TOL)


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
def test_solves_share_the_inverse(loss):
    """One layout serves every C, and starts at the last solutions save iterations."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 15))
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 15)
    levels = from_levels(rng.permutation(200), np.zeros(200, np.int64), np.ones(200))
    pairs = posed(levels, K, loss)
    last, inverse, cold_steps, steps = pairs.solve(10.0, tol=1e-4, max_iter=100), pairs.space.inverse, 0, 0
    for C in [20.0, 40.0, 80.0]:
        near = Start.near(last.weights, last.objective, C * levels.total_weight, squared=loss.squared)
        cold, last = (pairs.solve(C, tol=1e-4, max_iter=100, start=start) for start in (None, near))
        assert last.objective == pytest.approx(cold.objective, rel=2e-4)
        cold_steps, steps = cold_steps + cold.n_iter, steps + last.n_iter
    assert pairs.space.inverse is inverse
    assert steps < 0.9 * cold_steps


@pytest.mark.parametrize("seed", [12, 26, 36, 37])
@pytest.mark.parametrize("C", [300.0, 1000.0, 3000.0])
def test_products_that_are_spent_too_early_begin_again(seed, C):
    """Of pairs that were held back, what their multipliers did not do may be left when the products are gone."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=200), [-1, -0.3, 0.3, 1]).astype(np.int64)
    levels = from_levels(y, np.zeros(200, np.int64), np.ones(200))
    found = posed(levels, np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 3)).solve(C, tol=1e-4, max_iter=100)
    assert found.status is Status.CONVERGED
    assert found.gap <= 1e-4


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_wide_items_are_seen_through_their_gram_matrix(form, loss, C):
    """More features than items, lone and along a path: the objective of the kernel machine on the same matrix."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(350, 400)) * (rng.random((350, 400)) < 0.2)
    y = np.digitize(X[:, :20].sum(axis=1) + rng.normal(size=350), [-2, 0, 2])
    by_kernel = RankingSVM(C, kernel="precomputed", loss=loss, tol=1e-5).fit(X @ X.T, y)
    alone = RankingSVM(C, loss=loss).fit(form(X), y)
    for model in (alone, *c_path(RankingSVM(loss=loss), form(X), y, [0.3 * C, C]).estimators[1:]):
        assert model.converged_
        assert model.coef_.shape == (400,)
        assert_allclose(model.objective_, by_kernel.objective_, rtol=1.5e-4)
        s = X @ model.coef_
        short = np.maximum(1.0 - (s[:, None] - s)[y[:, None] > y], 0.0)
        cost = float(np.sum(short**2 if loss == "squared_hinge" else short))
        assert_allclose(model.objective_, 0.5 * model.coef_ @ model.coef_ + C * cost, rtol=1e-8)


def test_wide_items_that_do_not_converge_say_so():
    """Steps that are too few for Newton and too few for the interior point: a warning, and a model."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(350, 400)), rng.integers(0, 4, 350)
    with pytest.warns(ConvergenceWarning):
        model = RankingSVM(1000.0, max_iter=2).fit(X, y)
    assert model.coef_.shape == (400,)


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e3])
@pytest.mark.parametrize("flaw", ["copies", "one pair", "all equal"])
def test_degenerate_items(C, flaw, loss):
    """Items that are copies of others, one pair, all items alike: the gap is reached and true."""
    rng = np.random.default_rng(1)
    K, levels = kernel_of(rng, 20), levels_of(rng, 20)
    if flaw == "copies":
        K = K[np.ix_(np.arange(20) // 2, np.arange(20) // 2)]
    elif flaw == "one pair":
        levels = from_levels(np.arange(20) // 19, np.arange(20) % 19, np.ones(20))
    else:
        K = np.ones_like(K)
    want = interior_point(levels.rows(), KernelMap(K), C, loss, tol=1e-9, max_iter=200)
    have = solved(levels, K, C, loss=loss)
    assert have.gap <= TOL or have.status is Status.STALLED
    assert have.objective >= want.dual * (1 - 1e-9)
    assert have.dual <= want.objective * (1 + 1e-9)
    if flaw == "one pair":
        assert have.objective == pytest.approx(want.objective, rel=3 * TOL)


def test_a_kernel_of_zeros_has_no_inverse():
    """It is said, and another solver goes on; nor has one whose eigenvalues are far below zero."""
    levels = levels_of(np.random.default_rng(0), 20)
    assert posed(levels, np.zeros((20, 20))) is None
    assert posed(levels, np.eye(20)[::-1].copy()) is None


def test_weights_that_differ_too_much_are_left_alone():
    """Products of all that belongs to a pair would vanish."""
    levels = from_levels(np.arange(6), np.zeros(6, np.int64), np.array([1e-30, 1.0, 1.0, 2.0, 1.0, 1.0]))
    assert posed(levels, np.eye(6)) is None


@pytest.mark.parametrize("offset", [1e3, 1e4])
def test_a_kernel_that_cancels_is_left_to_features(offset):
    """Values of 1e8 that differ by 1: their rounding would pass for a norm, and a bound from it would be false."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) + offset
    levels = from_levels(rng.integers(0, 4, 60), np.arange(60) % 2, np.ones(60))
    assert solved(levels, X @ X.T, 1000.0, tol=1e-4).status is not Status.CONVERGED
    model = RankingSVM(kernel="precomputed", C=1000.0).fit(X @ X.T, levels.level, qid=np.arange(60) % 2)
    assert model.converged_
    assert np.any(model.dual_coef_ != 0.0)


def test_wide_sparse_features_come_back_as_their_weights():
    """A linear machine that goes through its Gram matrix has weights of columns, not of items."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((300, 40_000), density=0.002, format="csr", rng=rng)
    model = RankingSVM(C=1000.0).fit(X, rng.integers(0, 4, 300))
    assert model.coef_.shape == (40_000,)
    assert model.converged_


def steep():
    """Noise that a kernel nearly separates."""
    rng = np.random.default_rng(4)
    return rng.normal(size=(450, 10)), rng.normal(size=450), np.arange(450) % 4


def test_a_steep_fit_ends_in_an_interior_point(monkeypatch):
    """Newton takes hundreds of steps, and is left after as many as the other costs; a failure there is no end."""
    X, y, qid = steep()
    model = RankingSVM(kernel="rbf", C=60.0).fit(X, y, qid=qid)
    assert model.converged_
    assert model.solver_ == "interior_point"
    monkeypatch.setattr(ImplicitPairs, "of", lambda *_: None)
    other = RankingSVM(kernel="rbf", C=60.0).fit(X, y, qid=qid)
    assert other.objective_ == pytest.approx(model.objective_, rel=2e-4)


def test_a_steep_path_goes_on_from_the_last_solution():
    """Fits of their own agree with every C, whoever solved it."""
    X, y, qid = steep()
    Cs = np.geomspace(0.1, 200.0, 8)
    path = c_path(RankingSVM(kernel="rbf"), X, y, Cs, qid=qid)
    assert "interior_point" in {model.solver_ for model in path.estimators}
    assert path.gaps.max() <= 1e-4
    for C, model in zip(Cs, path.estimators, strict=True):
        alone = RankingSVM(kernel="rbf", C=C).fit(X, y, qid=qid)
        assert model.objective_ == pytest.approx(alone.objective_, rel=2e-4)


def test_memory_that_is_not_there_is_not_taken(monkeypatch):
    """The inverse and the pairs need more than Newton does: within a limit that only he keeps, he goes on."""

    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(ImplicitPairs, "of", refuse)
    X, y, qid = steep()
    model = RankingSVM(kernel="rbf", C=1.0, memory_limit=5_000_000).fit(X, y, qid=qid)
    assert model.converged_
    assert model.solver_ == "newton"


def test_the_order_of_the_rows_does_not_matter():
    """Ordinal labels of shuffled rows: the same objective to what is certified."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(400, 12)), rng.integers(0, 4, 400)
    order = rng.permutation(400)
    one, other = (OrdinalSVM(kernel="rbf", C=5.0).fit(*data) for data in ((X, y), (X[order], y[order])))
    assert one.solver_ == "interior_point"
    assert one.objective_ == pytest.approx(other.objective_, rel=2e-4)


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_a_careful_solve_finds_the_same(C):
    """It holds no pair back, and takes more iterations where few pairs stop its steps."""
    rng = np.random.default_rng(3)
    K, levels = kernel_of(rng, 150), from_levels(rng.integers(0, 5, 150), np.zeros(150, np.int64), np.ones(150))
    quick, careful = solved(levels, K, C), solved(levels, K, C, is_careful=True)
    assert quick.status is careful.status is Status.CONVERGED
    assert quick.n_iter < careful.n_iter
    assert quick.dual <= careful.objective
    assert careful.dual <= quick.objective


@pytest.mark.parametrize("seed", range(4))
def test_a_steep_solve_that_stalls_ends_with_a_little_longer_function(seed, monkeypatch):
    """Where C makes every rounding of a margin dear the gap is smaller, the bound and all that is said are true."""
    rng, C = np.random.default_rng(seed), 1e6
    K, levels = kernel_of(rng, 150), from_levels(rng.integers(0, 4, 150), np.zeros(150, int), np.ones(150))
    found = solved(levels, K, C)
    assert found.objective == pytest.approx(objective(levels, K, C, found.weights), rel=1e-6)
    assert_allclose(found.utilities, K @ found.weights, rtol=1e-6, atol=1e-7)
    assert found.squared_norm == pytest.approx(found.weights @ K @ found.weights, rel=1e-6)
    monkeypatch.setattr(implicit_pairs._Point, "stretch", lambda *_: None)
    plain = solved(levels, K, C)
    assert found.status is plain.status is Status.STALLED
    assert found.dual <= found.objective < plain.objective


def test_longer_functions_are_taken_where_they_end_a_solve():
    """A function that is a little too short: left as it is where no multiple is good enough, else replaced by one."""
    rng, C = np.random.default_rng(0), 1e4
    K, levels = kernel_of(rng, 60), from_levels(rng.integers(0, 4, 60), np.zeros(60, int), np.ones(60))
    point = implicit_pairs._Point(posed(levels, K), C, None)
    for _ in range(100):
        product = point.look()
        if point.best.gap <= 1e-5:
            break
        point.advance(product, is_careful=True, is_slow=False)
    best, short = point.best, 1.0 - 1e-4
    best.w, best.utilities, best.half_norm = short * best.w, short * best.utilities, short**2 * best.half_norm
    best.primal = too_short = objective(levels, K, C, point.task.by_item(C * best.w)) / C
    assert best.gap > 1e-3
    point.stretch(1e-9)
    assert best.primal == too_short
    point.stretch(1e-3)
    assert best.gap <= 1e-3
    assert best.primal == pytest.approx(objective(levels, K, C, point.task.by_item(C * best.w)) / C, rel=1e-9)
