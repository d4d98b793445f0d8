"""Kernel matrices in strips: the fast path agrees with the slow one, its certificate is true, its memory small."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from widemargin import OrdinalSVM, RankingSVM
from widemargin._core.comparisons import from_levels
from widemargin._core.gram import STRIP, HalfGram, WholeGram, streamed_product
from widemargin._core.interior_point import ImplicitPairs
from widemargin._core.kernels import RBF, Linear, Polynomial, lowest_eigenvalue_ratio
from widemargin._core.losses import HINGE, SQUARED_HINGE
from widemargin._core.maps import ItemsMap, KernelMap
from widemargin._core.newton import Plan, galerkin, kernel, newton
from widemargin._core.newton.galerkin import Galerkin, Steady
from widemargin._core.newton.kernel import PLAIN, direction
from widemargin._core.newton.kernel_goal import KernelGoal
from widemargin._core.newton.memory import MOST_CG, Memory
from widemargin._core.risks import GroupedPairRisk
from widemargin._core.solution import Status
from widemargin._core.span import LEFT_OUT, Span, likely_rank

LOSSES = [pytest.param(HINGE, id="hinge"), pytest.param(SQUARED_HINGE, id="squared")]
GAMMA = 0.2


def curve(n, *, p=3, seed=0):
    """Items in one query, ordered by a smooth function and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)


def risk_of(y, loss, group=None):
    group = np.zeros(y.size, np.int64) if group is None else group
    return GroupedPairRisk(from_levels(np.unique(y, return_inverse=True)[1], group, np.ones(y.size)), loss)


def squared_objective(K, b, y, C):
    """The objective straight from its definition, all pairs written out."""
    u = K @ b
    short = np.maximum(0.0, 1.0 - (u[:, None] - u[None, :]))
    return 0.5 * b @ u + C * np.sum(short[y[:, None] > y[None, :]] ** 2)


@pytest.mark.parametrize("n", [5, STRIP - 1, STRIP, STRIP + 1, 2 * STRIP + 300])
@pytest.mark.parametrize("kernel", [RBF(GAMMA), Linear(), Polynomial(2, 0.5, 1.0)], ids=["rbf", "linear", "poly"])
def test_half_gram_is_the_matrix(n, kernel):
    """Products, corners and columns, wherever the last strip ends."""
    rng = np.random.default_rng(n)
    X, v = rng.normal(size=(n, 4)), rng.normal(size=(n, 2))
    items = rng.permutation(n)[: n // 2 + 1]
    half, K = HalfGram.of(kernel, X), kernel(X, X)
    size = np.abs(K).max() * np.sqrt(n)
    assert_allclose(half.product(v[:, 0]), K @ v[:, 0], atol=1e-5 * size)
    assert_allclose(half.exact_product(v), K @ v, atol=1e-13 * size)
    assert_allclose(half.exact_product(v[:, 1]), K @ v[:, 1], atol=1e-13 * size)
    assert_allclose(half.columns(items), K[:, items], rtol=1e-6, atol=1e-7 * size)
    assert_allclose(half.corner(items).exact_product(v[items]), K[np.ix_(items, items)] @ v[items], atol=1e-13 * size)


def test_half_gram_has_no_subnormal_numbers():
    """exp(-90) and less is zero in float32: subnormal numbers would make products many times slower."""
    half = HalfGram.of(RBF(10.0), np.random.default_rng(0).normal(size=(700, 6)))
    strip = half.half.strips[0][np.tril_indices(700, m=512)]
    values = np.abs(np.concatenate([strip, half.columns(np.arange(9)).ravel()]))
    assert np.any(values == 0.0)
    assert values[values > 0.0].min() >= np.finfo(np.float32).smallest_normal


def test_one_strip_is_read_below_its_diagonal():
    """Whatever is above it: that memory is never written to."""
    X, _ = curve(700)
    half, v = HalfGram.of(RBF(GAMMA), X), np.random.default_rng(0).normal(size=700)
    want = half.product(v)
    half.half.strips[0][np.triu_indices(700, 1, 512)] = np.nan
    assert_array_equal(half.product(v), want)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_groups", [1, 7])
@pytest.mark.parametrize("n_levels", [2, 30, 600])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("h", [2.0, 0.01])
def test_compiled_conjugate_gradients_equal_the_loop(loss, n_groups, n_levels, kind, h, monkeypatch):
    """With a preconditioner or without; few levels, many and all, weights, groups of one level; one strip or three.

    Under a wide smoothing most pairs are curved, under a thin one few, which are listed. Directions end by a share, or
    by what is enough; they begin with nothing, or with known vectors.
    """
    X, y = curve(600)
    rng = np.random.default_rng(2)
    group = rng.integers(n_groups, size=600)
    level = np.where((group == 1) & (n_groups > 1), 0, np.argsort(np.argsort(y)) * n_levels // 600)
    risk = GroupedPairRisk(from_levels(level, group, rng.uniform(0.5, 2.0, 600)), loss, h=h)
    K = rbf_kernel(X, gamma=GAMMA).astype(kind)
    goal, b = KernelGoal(WholeGram(K), risk, 0.02 * h), 0.1 * rng.normal(size=600)
    at, tol = goal.start(b), 1e-9 if kind is np.float64 else 1e-4
    some = rng.normal(size=(2, 600))
    ways = np.array([[v, K.astype(float) @ v] for v in (*some, some[0] - some[1])])  # the last one is no news
    monkeypatch.setattr(kernel, "most_steps", lambda *_: 5)  # then rounding has not grown
    for forcing, share in ((1e-9, 0.0), (0.3, 0.0), (1e-9, 0.2)):
        enough = share * float(at.R @ at.KR)
        for name in ("FORCING", "FORCING_EXACT"):
            monkeypatch.setattr(kernel, name, forcing)
        steady = [Steady.of(Span.best(K), risk, 0.02, at.s)] if kind is np.float64 else []  # else rounding is all
        for condition in (PLAIN, *steady):
            for known in (np.empty((0, 2, 600)), ways):
                want, K_want, n_steps, left, is_enough = direction(goal, at, condition, enough, None, known.copy())
                for strips in (goal.gram.strips, [K[a:, a : a + 256].copy() for a in (0, 256, 512)]):
                    x, Kx, *end = direction(goal, at, condition, enough, strips, known.copy())
                    assert end == [n_steps, pytest.approx(left, rel=0.01), is_enough]
                    assert_allclose(x, want, atol=tol * np.abs(want).max())
                    assert_allclose(Kx, K_want, atol=tol * np.abs(K_want).max())


@pytest.mark.parametrize(("C", "weight", "is_wide"), [(1e-3, 1.0, False), (1e3, 1.0, True), (1e-63, 1e30, True)])
def test_preconditioners_are_summed_in_float32_where_the_identity_is_not_lost(C, weight, is_wide):
    """Float32 values at a large C, or with weights whose sums they cannot hold, are summed in float64."""
    X, y = curve(400)
    levels = from_levels(np.argsort(np.argsort(y)), np.zeros(400, np.int64), np.full(400, weight))
    risk, Y = GroupedPairRisk(levels, SQUARED_HINGE), Span.drawn(HalfGram.of(RBF(GAMMA), X)).basis
    assert Y.dtype == np.float32
    have, want = (galerkin.summed(risk, np.zeros(400), of, galerkin.WIDEST / C) for of in (Y, Y.astype(float)))
    assert np.array_equal(have, want) == is_wide
    assert_allclose(have, want, atol=1e-6 * np.abs(want).max())


def test_strips_that_are_kept_become_the_whole_matrix():
    """Float64 values of more than some hundred items lie in strips, until the matrix itself is asked for."""
    X, _ = curve(900)
    half, K = HalfGram.of(RBF(GAMMA), X, is_shared=True), RBF(GAMMA)(X, X)
    assert len(half.kept[0].strips) == 2
    assert_allclose(half.whole().K, K, rtol=1e-13)
    assert_allclose(half.exact_product(np.ones((900, 2))), K.sum(axis=1)[:, None].repeat(2, axis=1), rtol=1e-12)


def test_strips_along_a_path_give_float64_values_until_sums_cancel():
    """Of more items the rest lies beside float32 values; where that tells too little, float64 values are kept."""
    n = 1700
    X, _ = curve(n)
    half, K = HalfGram.of(RBF(GAMMA), X, is_shared=True), RBF(GAMMA)(X, X)
    v = np.random.default_rng(0).normal(size=(n, 2))
    assert_allclose(half.exact_product(v), K @ v, rtol=0, atol=2e-12 * np.abs(v).sum())
    assert not half.kept
    b = np.linalg.solve(K + 1e-13 * np.eye(n), np.sign(X[:, 0]))
    assert np.abs(b).sum() > 1e6  # coefficients of a function that the kernel hardly has
    assert_allclose(half.exact_product(b), K @ b, rtol=0, atol=1e-14 * np.abs(b).sum())
    assert half.kept


def test_half_gram_holds_half():
    """Strips from the diagonal down: little more than half of the entries, in float32."""
    half = HalfGram.of(RBF(GAMMA), np.random.default_rng(0).normal(size=(5000, 3)))
    assert sum(strip.nbytes for strip in half.half.strips) < 0.56 * 4 * 5000**2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_whole_gram_multiplies_blocks_of_columns(dtype):
    """One column or several, float64 sums for float32 values."""
    X, _ = curve(300)
    K, v = rbf_kernel(X, gamma=GAMMA).astype(dtype), np.random.default_rng(0).normal(size=(300, 2))
    assert_allclose(WholeGram(K).exact_product(v), K.astype(float) @ v, atol=1e-12)
    assert_allclose(WholeGram(K).exact_product(v[:, 0]), K.astype(float) @ v[:, 0], atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_items_map_is_the_kernel_map(dtype):
    """The same maps, dense or sparse; float32 items have the kernel of their values, not a rounded one."""
    X = np.round(curve(700)[0], 1).astype(dtype)
    v = np.random.default_rng(0).normal(size=700)
    K = rbf_kernel(X.astype(float), gamma=GAMMA)
    for rows in (X, sparse.csr_array(X)):
        items, whole = ItemsMap(RBF(GAMMA), rows), KernelMap(K)
        assert_allclose(items.forward(v), whole.forward(v), atol=1e-11)
        assert_allclose(items.squared_norm(v), whole.squared_norm(v), rtol=1e-11)
        assert_allclose(items.gram(), K, atol=1e-13)
        assert_allclose(items.diag(), whole.diag(), rtol=1e-12)


@pytest.mark.parametrize("kind", [Galerkin, Steady])
def test_the_preconditioner_solves_newtons_equation_on_its_span(kind):
    """Items chosen among all, or drawn at random: it leaves a hundredth of what the identity leaves."""
    X, y = curve(500)
    risk, C = risk_of(y, SQUARED_HINGE), 0.02
    gram = WholeGram(rbf_kernel(X, gamma=GAMMA))
    s, q = np.sin(X[:, 0]), np.random.default_rng(1).normal(size=500)
    hessp = risk.evaluate(s)[2]
    q = q + C * hessp(gram.K @ q)
    before = C * hessp(gram.K @ q)  # what the identity leaves
    for span in (replace(gram.span, columns=gram.K[:, gram.span.items]), Span.drawn(gram)):
        z, Kz = kind.of(span, risk, C, s)(np.stack([q, gram.K @ q]))
        assert_allclose(Kz, gram.K @ z, atol=1e-6 * np.abs(Kz).max())
        left = q - z - C * hessp(Kz)
        assert left @ gram.K @ left < 0.01 * (before @ gram.K @ before)


def test_a_steady_preconditioner_stands_a_large_C():
    """Nearly dependent items in float32: the plain one leaves a hundred times as much, and its values cancel."""
    X, y = curve(1600)
    risk, C = risk_of(y, SQUARED_HINGE), 1.0
    gram, K = HalfGram.of(RBF(GAMMA), X), rbf_kernel(X, gamma=GAMMA)
    s = np.sin(X[:, 0])
    hessp = risk.evaluate(s)[2]
    x = K @ np.random.default_rng(1).normal(size=1600)
    q = x + C * hessp(K @ x)
    left = []
    for kind in (Galerkin, Steady):
        z, Kz = kind.of(gram.span, risk, C, s)(np.stack([q, K @ q]))
        r = q - z - C * hessp(K @ z)
        left.append(r @ K @ r)
        assert kind is Galerkin or np.linalg.norm(Kz - K @ z) < 1e-4 * np.linalg.norm(K @ q)
    assert left[1] < 0.01 * left[0]


def test_a_span_leaves_out_what_depends_on_it():
    """A polynomial of degree 2 in two variables: six items span all but for float32; RBF leaves next to nothing."""
    X = curve(700)[0][:, :2]
    poly = Polynomial(2, 1.0, 1.0)
    assert Span.best(poly(X, X)).size == 6
    assert 6 <= HalfGram.of(poly, X).span.size < 100  # of 400 that were drawn
    K = rbf_kernel(X, gamma=GAMMA)
    span = Span.best(K)
    assert span.size < 100
    assert np.max(np.abs(np.diag(K) - np.sum(span.basis**2, axis=1))) <= LEFT_OUT
    assert_allclose(span.basis[span.items] @ span.basis[span.items].T, K[np.ix_(span.items, span.items)], atol=1e-10)


@pytest.mark.parametrize("gram", [HalfGram.of, lambda kernel, X: WholeGram(kernel(X, X))], ids=["half", "whole"])
def test_a_sample_tells_how_many_items_matter(gram):
    """Rather too many than too few, and all of them where the kernel has full rank or leaves no sample."""
    rng = np.random.default_rng(0)
    for p, gamma in ((2, 0.1), (5, 0.1), (3, 1.0)):
        X = rng.normal(size=(900, p))
        size = Span.best(RBF(gamma)(X, X)).size
        assert 0.8 * size <= likely_rank(gram(RBF(gamma), X)) <= 2.0 * size
    assert likely_rank(gram(RBF(5.0), rng.normal(size=(900, 10)))) == 900
    assert likely_rank(gram(RBF(1.0), rng.normal(size=(3, 2)))) == 3
    assert likely_rank(gram(Polynomial(1, 1.0, 0.0), np.zeros((50, 2)))) == 50


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_groups", [1, 30])
def test_samples_preconditioner_and_float32_change_the_way_not_the_answer(loss, n_groups):
    """Many items: the quick path and the plain float64 one bracket one another."""
    X, y = curve(4200)
    group = np.arange(y.size, dtype=np.int64) % n_groups
    risk = risk_of(y, loss, group)
    C = 30.0 / risk.levels.n_pairs
    quick = newton(risk, ItemsMap(RBF(GAMMA), X), C, tol=1e-3)
    K = rbf_kernel(X, gamma=GAMMA)
    start = np.zeros(y.size)
    plain = newton(risk, KernelMap(K), C, tol=1e-4, start=start)
    assert quick.status is plain.status is Status.CONVERGED
    assert quick.dual <= plain.objective * (1 + 1e-12)
    assert plain.dual <= quick.objective * (1 + 1e-12)
    assert quick.objective == pytest.approx(plain.objective, rel=1e-3)
    assert_allclose(quick.utilities, K @ quick.weights, atol=1e-9)


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_the_certificate_is_that_of_float64_values(tol):
    """Objective and bound from the definition, though every direction was float32."""
    X, y = curve(1600)
    K, C = rbf_kernel(X, gamma=GAMMA), 3.0 / y.size
    model = RankingSVM(C=C, kernel="rbf", gamma=GAMMA, loss="squared_hinge", tol=tol).fit(X, y)
    b = np.zeros(y.size)
    b[model.support_] = model.dual_coef_
    assert model.solver_ == "newton"
    assert model.converged_
    assert model.duality_gap_ <= tol
    assert model.objective_ == pytest.approx(squared_objective(K, b, y, C), rel=1e-10)
    better = RankingSVM(C=C, kernel="precomputed", loss="squared_hinge", tol=1e-8).fit(K, y)
    assert model.objective_ * (1 - model.duality_gap_) <= better.objective_ * (1 + 1e-9)
    assert better.objective_ * (1 - 1e-8) <= model.objective_


@pytest.mark.parametrize("at_hand", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_float32_stall_goes_on_in_float64(loss, at_hand, monkeypatch):
    """Where float32 directions lead nowhere, float64 values that are at hand take over, or else the whole matrix."""
    monkeypatch.setattr(ImplicitPairs, "of", lambda *_: None)  # which would take over what is dear
    monkeypatch.setattr(HalfGram, "product", lambda _, v: 0.1 * v)  # as if rounding had left the diagonal alone
    monkeypatch.setattr(HalfGram, "strips", None)
    if not at_hand:
        monkeypatch.setattr(HalfGram, "whole", lambda _: None)
    whole, asked = ItemsMap.exact, []
    monkeypatch.setattr(ItemsMap, "exact", lambda self: asked.append(self) or whole(self))
    X, y = curve(1600)
    model = RankingSVM(C=0.01, kernel="rbf", gamma=GAMMA, loss=loss, tol=1e-3).fit(X, y)
    assert bool(asked) is not at_hand
    assert model.converged_
    assert model.duality_gap_ <= 1e-3


@pytest.mark.parametrize("max_iter", [1, 3])
def test_an_early_end_is_honest(max_iter):
    """Stopped before any confirmation, objective and bound are still those of float64 values."""
    X, y = curve(1600)
    K, C = rbf_kernel(X, gamma=GAMMA), 3.0 / y.size
    risk = risk_of(y, SQUARED_HINGE)
    early = newton(risk, ItemsMap(RBF(GAMMA), X), C, tol=1e-9, max_iter=max_iter)
    assert early.status is Status.MAX_ITER
    assert early.objective == pytest.approx(squared_objective(K, early.weights, y, C), rel=1e-12)
    assert early.dual <= newton(risk, KernelMap(K), C, tol=1e-6).objective


@pytest.mark.parametrize("cls", [RankingSVM, OrdinalSVM])
def test_row_order_does_not_matter(cls):
    """Samples and strips depend on the order of rows, answers only to the gap."""
    X, u = curve(1700)
    y = np.digitize(u, [-1.0, 0.0, 1.0])
    order = np.random.default_rng(3).permutation(y.size)
    here, there = (cls(C=1e-3, kernel="rbf", gamma=GAMMA, tol=1e-4).fit(X[i], y[i]) for i in (np.arange(y.size), order))
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-4)
    distance = (here.utility(X) - there.utility(X)) ** 2  # |f - g|^2 <= 8 gap P, and k(x, x) = 1
    assert distance.max() <= 8e-4 * here.objective_


@pytest.mark.parametrize("scale", [1e-14, 1e-8, 1e8])
def test_the_scale_of_kernel_values_does_not_matter(scale):
    """A linear kernel over items of any scale, with C to match: float32 holds it, or is not used."""
    X, y = curve(1600)
    model = RankingSVM(C=1e-3 / scale**2, kernel=Linear(), loss="squared_hinge", tol=1e-4)
    one = RankingSVM(C=1e-3, kernel="linear", loss="squared_hinge", tol=1e-4).fit(X, y)
    assert model.fit(X * scale, y).objective_ * scale**2 == pytest.approx(one.objective_, rel=2e-4)


def test_fits_repeat_exactly():
    """No state, no clock: the same rows give the same model."""
    X, y = curve(1600)
    one, two = (RankingSVM(C=1e-3, kernel="rbf", tol=1e-3).fit(X, y) for _ in range(2))
    assert_array_equal(one.dual_coef_, two.dual_coef_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_of_a_kernel_fit_is_half_of_a_float32_matrix(dtype):
    """Less than 4 bytes an entry in all: at 10,000 items, 400 MB; float32 items are not copied to float64."""
    n = 3000
    X, y = curve(n, p=40)
    X = X.astype(dtype)
    tracemalloc.start()
    RankingSVM(C=1e-3, kernel="rbf", loss="squared_hinge", tol=1e-3).fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * n * n


@pytest.mark.parametrize("lowest", [0.0, -1e-12, -1e-7, -1e-3, -2.0])
def test_indefinite_matrices_are_seen(lowest):
    """Eigenvalues that matter are told as they are; those that do not are not called worse than they are."""
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(60, 60)))[0]
    values = np.linspace(0.0, 1.0, 60)
    values[0] = lowest
    ratio = lowest_eigenvalue_ratio((Q * values) @ Q.T)
    want = lowest / max(1.0, -lowest)
    assert ratio == pytest.approx(want, rel=1e-6) if want < -1e-8 else -1e-8 <= ratio <= 1e-12


def test_values_that_are_not_finite_are_named():
    """An overflow in a strip is an error, not a model."""
    X = np.full((1600, 2), 1e160) * np.arange(1600)[:, None]
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="NaN or infinite values; look at gamma"):
        RankingSVM(kernel="poly", degree=2, gamma=1.0).fit(X, np.arange(1600))


def test_a_stream_equals_the_product():
    """More rows than a strip, several columns."""
    X, _ = curve(1100)
    v = np.random.default_rng(0).normal(size=(1100, 3))
    assert_allclose(streamed_product(RBF(GAMMA), X, v), rbf_kernel(X, gamma=GAMMA) @ v, atol=1e-11)


@pytest.fixture
def products(monkeypatch):
    """Return a list that grows by the number of entries of each quick product, none of them in compiled steps."""
    seen, product = [], HalfGram.product
    monkeypatch.setattr(HalfGram, "strips", None)
    monkeypatch.setattr(HalfGram, "product", lambda self, v: seen.append(self.n_items**2) or product(self, v))
    return seen


@pytest.mark.parametrize("loss", LOSSES)
def test_a_path_of_C_shares_matrix_solutions_and_preconditioner(loss, products):
    """Up or down, from C to C: the certificates of solves of their own, in less than half of their products."""
    X, y = curve(2000)
    risk, Cs = risk_of(y, loss), np.logspace(-1, 0, 5) / y.size
    cold = [newton(risk, ItemsMap(RBF(GAMMA), X), C, tol=1e-3) for C in Cs]
    alone = sum(products)
    for order in (slice(None), slice(None, None, -1)):
        products.clear()
        map_ = ItemsMap(RBF(GAMMA), X)
        plan, start = Plan.of(risk, map_), None
        for C, own in zip(Cs[order], cold[order], strict=True):
            solution = newton(risk, map_, C, tol=1e-3, start=start, plan=plan)
            start = solution.weights
            assert solution.status is Status.CONVERGED
            assert solution.dual <= own.objective * (1 + 1e-12)
            assert own.dual <= solution.objective * (1 + 1e-12)
        assert plan.gram is map_.quick_gram()
        assert sum(products) < 0.5 * alone


@pytest.mark.parametrize("loss", LOSSES)
def test_few_items_are_preconditioned_along_a_path(loss, monkeypatch):
    """A large C: the certificates of solves of their own without one, in a quarter of their steps."""
    X, y = curve(400)
    risk, map_, Cs = risk_of(y, loss), KernelMap(rbf_kernel(X, gamma=GAMMA)), np.logspace(0, 2, 6)
    seen, saw = [], Memory.saw
    monkeypatch.setattr(Memory, "saw", lambda self, n, *rest: seen.append(n or MOST_CG) or saw(self, n, *rest))
    with monkeypatch.context() as never:
        never.setattr(Memory, "_are_hard", lambda *_: False)
        cold = [newton(risk, map_, C, tol=1e-4) for C in Cs]
    alone = sum(seen)
    seen.clear()
    plan, start = Plan.of(risk, map_), None
    for k, (C, own) in enumerate(zip(Cs, cold, strict=True)):
        plan.memory.n_ahead = Cs.size - 1 - k
        solution = newton(risk, map_, C, tol=1e-4, start=start, plan=plan)
        start = solution.weights
        assert solution.status is Status.CONVERGED
        assert solution.dual <= own.objective * (1 + 1e-12)
        assert own.dual <= solution.objective * (1 + 1e-12)
    assert sum(seen) < 0.25 * alone


def test_a_start_of_another_problem_is_only_a_start():
    """Zeros, or another solution than the plan's last: the same optimum."""
    X, y = curve(1600)
    risk, map_ = risk_of(y, SQUARED_HINGE), ItemsMap(RBF(GAMMA), X)
    plan, Cs = Plan.of(risk, map_), (1e-4, 2e-4, 3e-4)
    first, *_ = [newton(risk, map_, C, tol=1e-3, plan=plan) for C in Cs]
    for start in (first.weights, np.zeros(y.size), -first.weights):
        again = newton(risk, map_, Cs[0], tol=1e-3, plan=plan, start=start)
        assert again.status is Status.CONVERGED
        assert again.objective == pytest.approx(first.objective, rel=1e-3)


def test_low_rank_says_what_it_leaves_out(capfd):
    """`kernel_loss_` is the share of the trace that the landmarks do not explain; verbose writes it."""
    X, y = curve(300)
    model = RankingSVM(kernel="rbf", gamma=GAMMA, n_components=30, verbose=True).fit(X, y)
    K, S = rbf_kernel(X, gamma=GAMMA), model.support_
    explained = K[:, S] @ np.linalg.solve(K[np.ix_(S, S)] + 1e-12 * np.eye(S.size), K[S])
    assert model.kernel_loss_ == pytest.approx(np.trace(K - explained) / 300, rel=1e-3)
    assert f"{model.kernel_loss_:.2e} of the kernel's trace" in capfd.readouterr().err


def test_a_low_rank_kernel_that_does_not_fit_is_refused():
    """Before it is allocated."""
    X, y = curve(2000)
    with pytest.raises(MemoryError, match=r"rank 500 over 2000 items needs 0.024 GB and the limit is 0.01 GB"):
        RankingSVM(kernel="rbf", n_components=500, memory_limit=1e7).fit(X, y)


def test_the_advised_rank_fits():
    """Who follows the message's advice gets a model."""
    X, y = curve(2000)
    with pytest.raises(MemoryError, match=r"needs 0.016 GB .* use n_components=208 for a low-rank kernel"):
        RankingSVM(kernel="rbf", memory_limit=1e7).fit(X, y)
    assert RankingSVM(kernel="rbf", memory_limit=1e7, n_components=208, C=1e-4).fit(X, y).converged_
