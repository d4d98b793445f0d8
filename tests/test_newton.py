"""Newton on implicit pairs: the certificate is true, and fast paths agree with slow ones."""

import tracemalloc

import cvxpy as cp
import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg, sparse

from widemargin import OrdinalSVM, RankingSVM
from widemargin._core import _csr
from widemargin._core.comparisons import from_levels
from widemargin._core.kernels import RBF
from widemargin._core.losses import HINGE, SQUARED_HINGE
from widemargin._core.maps import ItemsMap, KernelMap, LinearMap
from widemargin._core.newton import Plan, newton
from widemargin._core.newton.curvature import Factor
from widemargin._core.newton.passes import LinearPairs
from widemargin._core.newton.rows import DenseRows, load
from widemargin._core.pool import HUGE, LARGE, Pool, room
from widemargin._core.products import times
from widemargin._core.risks import GroupedPairRisk
from widemargin._core.solution import Status

LOSSES = [pytest.param(HINGE, id="hinge"), pytest.param(SQUARED_HINGE, id="squared")]


def graded(n, p, n_groups, *, n_levels=5, seed=0, dtype=np.float64):
    """Items with noisy grades within groups of equal size."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).astype(dtype)
    s = X @ rng.normal(size=p) / np.sqrt(p) + rng.normal(size=n)
    y = np.digitize(s, np.quantile(s, np.linspace(0, 1, n_levels + 1)[1:-1])).astype(np.int64)
    return X, y, np.arange(n, dtype=np.int64) % n_groups if n_groups else np.zeros(n, np.int64)


def contiguous(X, y, q):
    order = np.argsort(q, kind="stable")
    return X[order], y[order], q[order]


def risk_of(y, q, loss, weight=None):
    return GroupedPairRisk(from_levels(y, q, np.ones(y.size) if weight is None else weight), loss)


def written_out(levels, X, C, loss):
    """The optimum by a conic solver on the written-out pairs."""
    rows = levels.rows()
    D, c = rows.D @ X, rows.weight
    w, xi = cp.Variable(X.shape[1]), cp.Variable(c.size, nonneg=True)
    slack = c @ (cp.square(xi) if loss.squared else xi)
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * slack), [D @ w >= 1 - xi])
    problem.solve(solver=cp.CLARABEL)
    return problem.value


def objective(levels, X, w, C, loss):
    """The objective straight from its definition."""
    better, worse = levels.pairs()
    u = X @ w
    c = levels.weight[better] * levels.weight[worse]
    return 0.5 * w @ w + C * c @ loss.value(1.0 - (u[better] - u[worse]))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_levels", [3, 60])
@pytest.mark.parametrize("C", [1e-4, 1e-2, 1.0])
def test_certificate_is_true(loss, n_levels, C):
    """The optimum lies between dual and objective, at any tolerance."""
    X, y, q = graded(120, 5, 3, n_levels=n_levels)
    weight = np.random.default_rng(1).integers(1, 3, y.size).astype(float)
    risk = risk_of(y, q, loss, weight)
    best = written_out(risk.levels, X, C, loss)
    for tol in (1e-2, 1e-6):
        solution = newton(risk, LinearMap(X), C, tol=tol)
        assert solution.status is Status.CONVERGED
        assert solution.gap <= tol
        assert solution.dual <= best * (1 + 1e-7)
        assert solution.objective >= best * (1 - 1e-7)
        assert solution.objective == pytest.approx(objective(risk.levels, X, solution.weights, C, loss), rel=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_groups", [200, 40, 0])
def test_sampled_dual_is_below_the_optimum(loss, n_groups):
    """With samples and the repaired dual: loose and tight solves bracket one another."""
    n = 20_000 if n_groups else 30_000
    X, y, q = graded(n, 8, n_groups, n_levels=5 if n_groups else 1000, dtype=np.float32)
    risk = risk_of(y, q, loss)
    C = 10.0 / risk.levels.total_weight
    tight = newton(risk, LinearMap(X), C, tol=1e-6)
    assert tight.status is Status.CONVERGED
    for tol in (1e-1, 1e-3):
        loose = newton(risk, LinearMap(X), C, tol=tol)
        assert loose.status is Status.CONVERGED
        assert loose.dual <= tight.objective * (1 + 1e-9)
        assert loose.objective >= tight.dual * (1 - 1e-9)
        assert_allclose(loose.objective, tight.objective, rtol=1.01 * tol)


@pytest.mark.parametrize("loss", LOSSES)
def test_coefficients_are_the_dual_point(loss):
    """X' coefficients is the dual point's weight vector: near w, and their sum within each group is 0."""
    X, y, q = graded(12_000, 4, 300)
    risk = risk_of(y, q, loss)
    C = 10.0 / risk.levels.total_weight
    solution = newton(risk, LinearMap(X), C, tol=1e-5)
    assert_allclose(np.bincount(q, solution.coefficients), 0.0, atol=1e-9)
    distance = X.T @ solution.coefficients - solution.weights
    assert distance @ distance <= 4 * 1e-5 * solution.objective


@pytest.mark.parametrize("loss", LOSSES)
def test_row_order_does_not_matter(loss):
    """Shuffled rows (scattered groups) and sorted rows agree to the gap."""
    X, y, q = contiguous(*graded(8_000, 6, 200))
    C, order = 1e-4, np.random.default_rng(0).permutation(8_000)
    here = newton(risk_of(y, q, loss), LinearMap(X), C, tol=1e-5)
    there = newton(risk_of(y[order], q[order], loss), LinearMap(X[order]), C, tol=1e-5)
    assert there.objective == pytest.approx(here.objective, rel=1e-5)
    assert_allclose(X[order].T @ there.coefficients, there.weights, atol=0.05)


def test_fits_are_deterministic_and_threads_change_nothing():
    """Sums are added in one order, whatever the number of threads."""
    X, y, q = contiguous(*graded(30_000, 10, 300, dtype=np.float32))
    one, two = (newton(risk_of(y, q, SQUARED_HINGE), LinearMap(X), 1e-3, n_threads=k) for k in (1, 2))
    assert one.objective == two.objective
    assert one.dual == two.dual


def test_n_jobs_does_not_change_the_model():
    """Estimators pass n_jobs on, joblib's context included, and learn the same to the last bit."""
    X, y, q = contiguous(*graded(24_000, 6, 400, dtype=np.float32))
    one, two, every = (RankingSVM(C=1e-3, n_jobs=k).fit(X, y, qid=q).coef_ for k in (1, 2, -1))
    with joblib.parallel_config(n_jobs=2):
        told = RankingSVM(C=1e-3).fit(X, y, qid=q).coef_
    for other in (two, every, told):
        assert np.array_equal(one, other)
    ordinal = [OrdinalSVM(C=1e-6, n_jobs=k).fit(X, y).coef_ for k in (None, 2)]
    assert np.array_equal(*ordinal)


@pytest.mark.parametrize("loss", LOSSES)
def test_sparse_equals_dense(loss):
    """CSR in either precision, with few features and with many."""
    rng = np.random.default_rng(0)
    for p in (30, 700):
        X, y, q = graded(3000, p, 60)
        X *= rng.random(X.shape) < 0.1
        risk, C = risk_of(y, q, loss), 1e-3
        dense = newton(risk, LinearMap(X), C, tol=1e-4)
        for dtype in (np.float32, np.float64):
            solution = newton(risk, LinearMap(sparse.csr_array(X.astype(dtype))), C, tol=1e-4)
            assert solution.status is Status.CONVERGED
            assert solution.objective == pytest.approx(dense.objective, rel=1.1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("scattered", [False, True])
def test_sparse_rows_are_multiplied_where_they_lie(dtype, index, scattered):
    """Both products, the squares and the dense rows equal NumPy's on the written-out rows."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(50, 12)) * (rng.random((50, 12)) < 0.3)).astype(dtype)
    csr = sparse.csr_array(X)
    csr.indices, csr.indptr = csr.indices.astype(index), csr.indptr.astype(index)
    which = rng.permutation(50).astype(np.int64) if scattered else None
    rows, want = load(csr, which, 7, 31, wide=True), (X if which is None else X[which])[7:31].astype(float)
    w, g = rng.normal(size=12), rng.normal(size=24)
    assert_allclose(rows.product(w), want @ w, atol=1e-13)
    assert_allclose(rows.adjoint(g), want.T @ g, atol=1e-13)
    assert_allclose(rows.squares(g), (want**2).T @ g, atol=1e-13)
    assert_allclose(DenseRows(want).squares(g), (want**2).T @ g, atol=1e-13)
    assert np.array_equal(rows.dense(), want)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_sparse_rows_times_dense_ones(dtype, index, order):
    """Some rows, some twice, some empty, into a part of an array: SciPy's product."""
    rng = np.random.default_rng(0)
    D = sparse.random_array((40, 30), density=0.05, rng=rng, format="csr")
    D.indices, D.indptr = D.indices.astype(index), D.indptr.astype(index)
    X, which = np.asarray(rng.normal(size=(30, 7)), dtype, order=order), rng.integers(0, 40, 60)
    for out in (np.full((60, 9), np.nan), np.full((60, 9), np.nan, order="F")):
        _csr.times(D.data, D.indices, D.indptr, which, X, out[:, 1:8])
        assert_allclose(out[:, 1:8], (D @ X.astype(float))[which], atol=1e-15)
        assert np.isnan(out[:, [0, 8]]).all()


@pytest.mark.parametrize("p", [2, 8, 40])
def test_rounding_of_float32_products_is_as_estimated(p):
    """X'g of many rows, few columns too, where many fit into the cache: within the factor 3 that the bound allows."""
    rng = np.random.default_rng(0)
    n = 100_000
    X = rng.normal(size=(n, p)).astype(np.float32)
    levels = from_levels(rng.integers(0, 5, n), np.repeat(np.arange(n // 50), 50), np.ones(n))
    data = LinearPairs.of(X, GroupedPairRisk(levels, SQUARED_HINGE), precise=False)
    w = data.representable(rng.normal(size=p))
    look = data.look(w)
    assert np.linalg.norm(look.pull - X.T.astype(float) @ look.g) <= 3.0 * data.rounding(w, look)[1]


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["in order", "scattered", "sparse"])
def test_looks_that_keep_no_slopes_are_looks(kind, loss, n_threads, monkeypatch):
    """Of many items slopes are made when they are asked for: the same sums, slopes, rounding and fits."""
    rng = np.random.default_rng(0)
    X, y, q = graded(30_000, 6, 600)
    X = X.astype(np.float32)
    if kind == "in order":
        X, y, q = contiguous(X, y, q)
    if kind == "sparse":
        X = sparse.csr_array(X)
    risk, w = risk_of(y, q, loss), rng.normal(size=6) / 4
    keeps = LinearPairs.of(X, risk, precise=False)
    want, rounding = keeps.look(w), keeps.rounding(w, keeps.look(w))
    alone = newton(risk, LinearMap(X), 1e-3, tol=1e-3)
    monkeypatch.setattr("widemargin._core.newton.passes.LEAN", 10_000)
    lean = LinearPairs.of(X, risk, precise=False, pool=Pool(n_threads) if n_threads > 1 else None)
    have = lean.look(w)
    assert lean.is_lean
    assert have.terms == want.terms
    assert_array_equal(have.pull, want.pull)
    assert_array_equal(have.g, want.g)
    assert_array_equal(have.scaled(0.5).g, 0.5 * want.g)
    assert_allclose(lean.rounding(w, have), rounding, rtol=2.0, atol=1e-300)  # estimates from other rows
    solution = newton(risk, LinearMap(X), 1e-3, tol=1e-3, plan=Plan.of(risk, LinearMap(X), n_threads))
    assert_array_equal(solution.weights, alone.weights)
    assert_array_equal(solution.coefficients, alone.coefficients)


def test_a_group_of_many_items_is_no_reason_to_look_again():
    """Its slopes are at hand while it is looked at."""
    risk = risk_of(np.arange(300_000) % 7, np.zeros(300_000, np.int64), SQUARED_HINGE)
    assert not LinearPairs.of(np.ones((300_000, 1), np.float32), risk).is_lean


def test_products_of_rows_do_not_warn():
    """BLAS may flag lanes that it does not use; what is not finite is noticed by its values."""
    X = np.array([[1.0, np.inf], [2.0, 3.0]], dtype=np.float32)
    assert_allclose(times(X, np.zeros(2)), [np.nan, 0.0])
    assert_allclose(DenseRows(X).product(np.zeros(2)), [np.nan, 0.0])
    assert_allclose(DenseRows(X).adjoint(np.zeros(2)), [0.0, np.nan])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [1e-3, 5e-2])
def test_many_sparse_columns_are_certified(loss, C):
    """More columns than rows, words by frequency: the optimum of the small Gram problem is bracketed."""
    rng = np.random.default_rng(0)
    n, p = 1200, 3000
    columns = np.minimum(rng.zipf(1.3, size=(n, 20)) - 1, p - 1)
    X = sparse.csr_array((np.abs(rng.normal(size=n * 20)), columns.ravel(), np.arange(0, 20 * n + 1, 20)), shape=(n, p))
    X.sum_duplicates()
    y, q = rng.integers(0, 4, n) + (X[:, [0]].toarray().ravel() > 1), np.arange(n) // 40
    risk = risk_of(y.astype(np.int64), q, loss)
    solution = newton(risk, LinearMap(X), C, tol=1e-4)
    best = newton(risk, KernelMap((X @ X.T).toarray()), C, tol=1e-5)
    assert solution.status is best.status is Status.CONVERGED
    assert solution.dual <= best.objective * (1 + 1e-9)
    assert solution.objective >= best.dual * (1 - 1e-9)
    assert solution.objective == pytest.approx(best.objective, rel=1.1e-4)


@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("scattered", [False, True])
def test_float32_features_are_not_copied(layout, scattered):
    """The peak of a fit stays far below one copy of X, and further still from a float64 one."""
    X, y, q = graded(60_000, 60, 600, dtype=np.float32)
    X, y, q = (X, y, q) if scattered else contiguous(X, y, q)
    X, risk = np.asarray(X, order=layout), risk_of(y, q, SQUARED_HINGE)
    tracemalloc.start()
    solution = newton(risk, LinearMap(X), 1e-3, tol=1e-3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert solution.status is Status.CONVERGED
    assert peak < 0.75 * X.nbytes


@pytest.mark.parametrize("layout", ["whole groups", "wider rows", "every third row", "scattered", "by columns"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_samples_are_read_where_they_lie(dtype, layout):
    """Groups whose rows are a run are not copied; looks and Hessians are those of a copy."""
    X, y, q = graded(6000, 9, 60, dtype=dtype)
    X, y, q = (X, y, q) if layout == "scattered" else contiguous(X, y, q)
    X = np.asfortranarray(X) if layout == "by columns" else np.tile(X, 2)[:, :9] if layout == "wider rows" else X
    data = LinearPairs.of(X, risk_of(y, q, SQUARED_HINGE), precise=False)
    rows = np.arange(len(y)) if data.rows is None else data.rows
    items = np.flatnonzero(q[rows] % 3 == 1)[:: 3 if layout == "every third row" else 1].copy()
    some = rows[items]
    own = risk_of(y[some], q[some], SQUARED_HINGE)
    heavy, w = own.boosted(np.full(items.size, 2.0)), np.random.default_rng(3).normal(size=9)
    few, copy = data.subset(items, own), LinearPairs.of(X[some], own, precise=False)
    assert (few.X is data.X) == (layout in ("whole groups", "wider rows"))
    rtol = 1e-4 if dtype == np.float32 else 1e-12
    for seen, want in (few, copy), (few.over(heavy), copy.over(heavy)):
        at, expected, gram = seen.look(w), want.look(w), want.gram(w)
        assert_allclose(at.terms, expected.terms, rtol=rtol)
        assert_allclose(at.pull, expected.pull, atol=rtol * np.abs(expected.pull).max())
        assert_allclose(seen.gram(w), gram, atol=rtol * np.trace(gram))
        assert_allclose(seen.narrowed().gram(w), gram, atol=1e-4 * np.trace(gram))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", LOSSES)
def test_raw_columns_converge(loss, dtype):
    """Columns from 1e-3 to 4e6, some twice, some constant: the certificate is still reached."""
    X, y, q = graded(4000, 12, 80)
    X = np.column_stack([X * np.logspace(-3, 6.6, 12), X[:, 10] * 1e6, np.ones(4000)]).astype(dtype)
    solution = newton(risk_of(y, q, loss), LinearMap(X), 1e-3, tol=1e-4)
    assert solution.status is Status.CONVERGED


@pytest.mark.parametrize(
    ("offset", "scale", "is_narrow"), [(0.0, 1.0, True), (1e3, 1.0, False), (0.0, 1e30, False), (0.0, 1e-30, False)]
)
def test_hessians_of_float64_samples_are_narrow_where_that_is_safe(offset, scale, is_narrow):
    """Float32 is enough for a sample's Hessian; not for columns far from zero, nor for squares out of its range."""
    rng = np.random.default_rng(0)
    n = 30_000
    X, group = scale * (rng.normal(size=(n, 5)) + offset), np.repeat(np.arange(n // 50), 50)
    levels = from_levels(rng.integers(0, 4, n), group, np.ones(n))
    data = LinearPairs.of(X, GroupedPairRisk(levels, SQUARED_HINGE))
    draw = Plan(data).draw(data, 3000, 0)
    assert (draw.pieces.X.dtype == np.float32) == is_narrow
    assert draw.own.X.dtype == draw.whole.X.dtype == np.float64
    w = rng.normal(size=5)
    assert_allclose(draw.pieces.gram(w), draw.whole.gram(w), rtol=1e-4, atol=1e-5 * np.trace(draw.whole.gram(w)))


def test_float32_products_that_stall_are_widened(monkeypatch):
    """Where their rounding was thought harmless and hides what is left, steps end; then float64 goes on."""
    monkeypatch.setattr("widemargin._core.newton.linear.ROUNDING_SHARE", np.inf)
    X, y, q = graded(21_000, 4, 1050)
    solution = newton(risk_of(y, q, SQUARED_HINGE), LinearMap(X.astype(np.float32)), 1e-2, tol=1e-9, max_iter=12)
    assert solution.status is Status.CONVERGED


def test_max_iter_is_reported():
    """Too few steps: the honest gap and the status."""
    X, y, q = graded(2000, 20, 40)
    solution = newton(risk_of(y, q, HINGE), LinearMap(X), 10.0, tol=1e-6, max_iter=1)
    assert solution.status is Status.MAX_ITER
    assert solution.gap > 1e-6


def test_values_too_large_are_reported():
    """Overflow ends the solver, it does not loop."""
    X, y, q = graded(200, 3, 4)
    with np.errstate(all="ignore"):
        solution = newton(risk_of(y, q, SQUARED_HINGE), LinearMap(X * 1e200), 1.0)
    assert solution.status is Status.NOT_FINITE


def test_weight_two_is_the_row_twice():
    """Pairs weigh the product of their items' weights."""
    X, y, q = graded(300, 4, 5)
    twice = np.arange(300) % 3 == 0
    rows = np.concatenate([np.arange(300), np.flatnonzero(twice)])
    weighted = newton(risk_of(y, q, HINGE, 1.0 + twice), LinearMap(X), 1e-2, tol=1e-6)
    repeated = newton(risk_of(y[rows], q[rows], HINGE), LinearMap(X[rows]), 1e-2, tol=1e-6)
    assert weighted.objective == pytest.approx(repeated.objective, rel=2e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_levels", [4, 100])
def test_linear_kernel_equals_linear_map(loss, n_levels):
    """K = XX' gives the weights X'b, and both certificates hold."""
    X, y, q = graded(600, 5, 3, n_levels=n_levels)
    risk, C = risk_of(y, q, loss), 1e-4
    linear = newton(risk, LinearMap(X), C, tol=1e-6)
    kernel = newton(risk, KernelMap(X @ X.T), C, tol=1e-6)
    assert kernel.status is Status.CONVERGED
    assert kernel.objective == pytest.approx(linear.objective, rel=2e-6)
    assert max(kernel.dual, linear.dual) <= min(kernel.objective, linear.objective) * (1 + 1e-12)
    assert_allclose(X.T @ kernel.weights, linear.weights, atol=1e-2 * np.abs(linear.weights).max())


@pytest.mark.parametrize("loss", LOSSES)
def test_a_warm_start_changes_nothing_but_the_way(loss):
    """Started at the solution for another C, Newton certifies the same optimum, linear and kernel."""
    X, y, q = graded(9000, 4, 200)
    risk = risk_of(y, q, loss)
    near, cold = (newton(risk, LinearMap(X), C, tol=1e-5) for C in (2e-4, 1e-4))
    warm = newton(risk, LinearMap(X), 1e-4, tol=1e-5, start=near.weights)
    assert warm.status is Status.CONVERGED
    assert warm.objective == pytest.approx(cold.objective, rel=1e-5)
    few = risk_of(y[:800], q[:800], loss)
    near, cold = (newton(few, KernelMap(X[:800] @ X[:800].T), C, tol=1e-4) for C in (2e-3, 1e-3))
    warm = newton(few, KernelMap(X[:800] @ X[:800].T), 1e-3, tol=1e-4, start=near.weights)
    assert warm.status is Status.CONVERGED
    assert warm.objective == pytest.approx(cold.objective, rel=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["queries", "ordering", "few"])
def test_a_plan_is_shared_by_solves_of_different_C(loss, kind):
    """Each solve of a path, warm or cold, certifies the optimum that a lone one finds; samples are drawn once."""
    n, n_groups, n_levels = {"queries": (21_000, 300, 5), "ordering": (21_000, 0, 500), "few": (900, 20, 4)}[kind]
    X, y, q = graded(n, 5, n_groups, n_levels=n_levels, dtype=np.float32)
    risk, map_ = risk_of(y, q, loss), LinearMap(X)
    plan, w = Plan.of(risk, map_), None
    for C in np.array([0.3, 1.0, 5.0, 2.0]) * 10 / risk.levels.total_weight:
        lone, cold = newton(risk, map_, C, tol=1e-4), newton(risk, map_, C, tol=1e-4, plan=plan)
        warm = newton(risk, map_, C, tol=1e-4, plan=plan, start=w)
        for solution in (cold, warm):
            assert solution.status is Status.CONVERGED
            assert solution.dual <= lone.objective * (1 + 1e-12)
            assert solution.objective >= lone.dual * (1 - 1e-12)
        w = warm.weights


def test_a_step_corrects_the_hessian():
    """What a step showed is what the Hessian says of it; across it nothing changes; nonsense is not learned."""
    rng = np.random.default_rng(0)
    A, B = (M @ M.T for M in rng.normal(size=(2, 6, 6)))
    step, g = rng.normal(size=(2, 6))
    learned = Factor(A).learned(step, B @ step)
    assert_allclose(learned.gram @ step, B @ step, rtol=1e-9)
    assert np.linalg.eigvalsh(learned.gram).min() > 0.0
    assert_allclose((np.eye(6) + learned.gram) @ learned.solve(g), g, rtol=1e-9, atol=1e-9)
    same = linalg.null_space(np.array([A @ step, B @ step]))
    assert_allclose(same.T @ learned.gram @ same, same.T @ A @ same, rtol=1e-9, atol=1e-9)
    for change in (-step, np.zeros(6)):
        assert_allclose(Factor(A).learned(step, change).gram, A)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_groups", [400, 0])
def test_where_the_solution_stays_the_data_are_not_read_again(loss, n_groups, monkeypatch):
    """Once w stays, a larger C costs looks at the sample only; the bound is that of the coefficients all the same."""
    X, y, q = graded(21_000, 5, n_groups)
    risk, map_ = risk_of(y, q, loss), LinearMap(X)
    plan, w, seen, n_stays = Plan.of(risk, map_), None, [], 0
    look = LinearPairs.look
    monkeypatch.setattr(LinearPairs, "look", lambda data, w: seen.append(data.n_items) or look(data, w))
    for C in 1e4 * 2.0 ** np.arange(8) / risk.levels.total_weight:
        seen.clear()
        solution = newton(risk, map_, C, tol=1e-4, plan=plan, start=w)
        n_stays += max(seen) < y.size
        assert np.array_equal(w, solution.weights) == (max(seen) < y.size)
        w, v = solution.weights, map_.adjoint_exact(solution.coefficients)
        assert solution.status is Status.CONVERGED
        assert solution.dual <= newton(risk, map_, C, tol=1e-6).objective
        assert solution.dual_norm == pytest.approx(v @ v, rel=1e-9)
    assert n_stays > 2


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("make", [lambda X: ItemsMap(RBF(0.2), X), lambda X: KernelMap(RBF(0.2)(X, X))])
def test_the_norm_of_the_multipliers_is_known_under_a_kernel(loss, make):
    """It is a part of the bound, so that whoever asks whether a solution serves a larger C needs no product for it."""
    X, y, q = graded(400, 4, 0)
    risk, map_ = risk_of(y, q, loss), make(X)
    for C in (1e-6, 1e-3, 0.1):
        solution = newton(risk, map_, C, tol=1e-4)
        a = solution.coefficients
        assert solution.dual_norm == pytest.approx(a @ RBF(0.2)(X, X) @ a, rel=1e-9)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.int32])
def test_large_arrays_begin_where_a_huge_page_does(dtype, n_threads):
    """So that all of it may come in huge pages; few numbers come as they do."""
    for size in (8, LARGE - 8, LARGE, LARGE + 24):
        out = room(size // np.dtype(dtype).itemsize, dtype, n_threads)
        assert out.dtype == dtype
        assert out.nbytes == size
        assert out.flags.c_contiguous
        assert size < LARGE or out.ctypes.data % HUGE == 0
