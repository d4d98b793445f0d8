"""Newton for explicit rows against the interior point: true bounds, equal answers, the same rules at the edges."""

from dataclasses import replace
from threading import Thread

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from widemargin import ComparisonSVM, MarginClassifier, MarginRegressor, Pairs, TopRankSVM, _solving
from widemargin._core import _rows, comparisons, kernels, maps
from widemargin._core import _rows_ref as ref
from widemargin._core.interior_point import interior_point
from widemargin._core.losses import HINGE, SQUARED_HINGE
from widemargin._core.row_risk import RowsRisk
from widemargin._core.rows_newton import Plan, differences, directions, problem, rows_newton
from widemargin._core.rows_newton.spaces import Columns
from widemargin._core.solution import Status
from widemargin.datasets import make_comparisons
from widemargin.exceptions import CollapseWarning
from widemargin.model_selection import c_path

KINDS = ("classes", "targets", "pairs", "ties", "both_ways", "choices")
LOSSES = (HINGE, SQUARED_HINGE)


def make_rows(kind, u, rng, weight=None):
    """Return about 150 noisy rows over the items of utility u."""
    n = u.size
    noisy = u + 0.7 * rng.normal(size=n)
    c = rng.uniform(0.5, 2.0, 2 * n) if weight is None else weight
    if kind == "classes":
        return comparisons.from_classes(np.where(noisy > 0.2, 1.0, -1.0), c[:n])
    if kind == "targets":
        return comparisons.from_targets(30.0 + 5.0 * noisy, 0.5, c[:n])
    if kind == "choices":
        order = rng.permutation(n)
        chosen, other, task = [], [], []
        for t, part in enumerate(np.array_split(order, n // 5)):
            best = part[np.argmax(noisy[part])]
            rest = part[part != best]
            chosen += [best] * rest.size
            other += list(rest)
            task += [t] * rest.size
        ends = np.array(chosen), np.array(other), np.array(task)
        return comparisons.from_choices(*ends, c[: n // 5], n, shared_slack=True)
    first, second = rng.integers(0, n, (2, n))
    second = np.where(first == second, (second + 1) % n, second)
    s = noisy[first] - noisy[second]
    y = np.where(np.abs(s) < 0.6, 0, np.sign(s)).astype(np.int64)
    if kind == "pairs":
        return comparisons.from_pairs(np.where(s > 0, first, second), np.where(s > 0, second, first), c[:n], n)
    if kind == "ties":
        return comparisons.from_ties_as_margin(first, second, y, c[:n], n)
    return comparisons.from_ties_both_ways(first, second, y, c[:n], n, closed_form=True)


def make_map(how, X):
    """Return a map over the items."""
    rbf = kernels.RBF(0.3)
    return {
        "linear": lambda: maps.LinearMap(X),
        "float32": lambda: maps.LinearMap(X.astype(np.float32)),
        "csr": lambda: maps.LinearMap(sparse.csr_array(X)),
        "kernel": lambda: maps.KernelMap(rbf(X, X)),
        "items": lambda: maps.ItemsMap(rbf, X),
    }[how]()


def items(rng, n=150, p=4):
    """Return features that float32 holds exactly, and a utility."""
    X = rng.normal(size=(n, p)).astype(np.float32).astype(float)
    return X, X @ rng.normal(size=p)


def exact(rows, map_, C, loss):
    """Return the oracle's answer."""
    return interior_point(rows, map_, C, loss, tol=1e-10, max_iter=500)


def assert_agree(found, oracle, tol, rows, map_, C, loss):
    """The bounds hold the oracle's between them, the gap is what was asked, the objective is the model's."""
    assert found.status is Status.CONVERGED
    assert found.gap <= tol
    assert found.dual <= oracle.objective * (1 + 1e-9)
    assert oracle.dual * (1 - 1e-9) <= found.objective
    u = map_.forward_exact(found.weights)
    short = rows.margin - rows.D @ u - rows.E @ found.levels
    worst = short if rows.task is None else np.maximum.reduceat(short, np.flatnonzero(np.diff(rows.task, prepend=-1)))
    norm = map_.squared_norm(found.weights)
    value = 0.5 * norm + C * (rows.weight @ loss.value(np.maximum(worst, 0.0)) + rows.constant)
    assert value == pytest.approx(found.objective, rel=3e-6)


@pytest.mark.parametrize("C", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", KINDS)
def test_linear_rows_agree_with_the_interior_point(kind, loss, C):
    """Every kind of row, both losses, weights throughout."""
    rng = np.random.default_rng(0)
    X, u = items(rng)
    rows, map_ = make_rows(kind, u, rng), maps.LinearMap(X)
    found = rows_newton(rows, map_, C, loss, tol=1e-4, max_iter=200)
    assert_agree(found, exact(rows, map_, C, loss), 1e-4, rows, map_, C, loss)


@pytest.mark.parametrize("how", ["float32", "csr", "kernel", "items"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["targets", "ties", "choices"])
def test_other_maps_agree_with_the_interior_point(kind, loss, how):
    """Single precision, sparse columns, kernels given and kernels computed by block."""
    rng = np.random.default_rng(1)
    X, u = items(rng, n=120)
    rows, map_ = make_rows(kind, u, rng), make_map(how, X)
    found = rows_newton(rows, map_, 0.5, loss, tol=1e-3, max_iter=200)
    oracle = exact(rows, make_map("kernel" if how == "items" else how, X), 0.5, loss)
    assert_agree(found, oracle, 1e-3, rows, map_, 0.5, loss)


@pytest.mark.parametrize("tol", [1e-6, 1e-8])
@pytest.mark.parametrize("kind", ["classes", "ties", "choices"])
def test_a_fine_tolerance_is_reached_or_not_claimed(kind, tol):
    """What does not reach tol says so; what does is that near."""
    rng = np.random.default_rng(2)
    X, u = items(rng)
    rows, map_ = make_rows(kind, u, rng), maps.LinearMap(X)
    found, oracle = rows_newton(rows, map_, 0.1, HINGE, tol=tol, max_iter=200), exact(rows, map_, 0.1, HINGE)
    assert (found.status is Status.CONVERGED) == (found.gap <= tol)
    assert found.dual <= oracle.objective * (1 + 1e-9)
    assert found.gap <= 1e-5


@pytest.mark.parametrize("few", [(40, 25), (7, 300)], ids=["few rows", "few items"])
@pytest.mark.parametrize("loss", LOSSES)
def test_kernels_over_fewer_differences_or_fewer_items(loss, few):
    """Either the differences or the items make the Gram matrix, and repeated pairs are one difference."""
    rng = np.random.default_rng(3)
    n_items, n_pairs = few
    X, u = items(rng, n=n_items)
    first, second = rng.integers(0, n_items, (2, n_pairs))
    s = u[first] - u[second] + rng.normal(size=n_pairs)
    y = np.where(np.abs(s) < 1.0, 0, np.sign(s)).astype(np.int64)
    rows = comparisons.from_ties_as_margin(first, second, y, np.ones(n_pairs), n_items)
    map_ = make_map("kernel", X)
    found = rows_newton(rows, map_, 1.0, loss, tol=1e-4, max_iter=200)
    assert_agree(found, exact(rows, map_, 1.0, loss), 1e-4, rows, map_, 1.0, loss)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["classes", "ties", "choices"])
def test_conjugate_gradients_agree_too(kind, loss, monkeypatch):
    """Where no matrix is factored, the answer is the same to the gap."""
    monkeypatch.setattr(directions, "MANY_COLUMNS", 0)
    monkeypatch.setattr(directions, "MANY_CURVED", 0)
    rng = np.random.default_rng(4)
    X, u = items(rng)
    rows = make_rows(kind, u, rng)
    for map_ in (make_map("linear", X), make_map("csr", X), make_map("kernel", X)):
        found = rows_newton(rows, map_, 0.1, loss, tol=1e-3, max_iter=200)
        assert_agree(found, exact(rows, map_, 0.1, loss), 1e-3, rows, map_, 0.1, loss)


@pytest.mark.parametrize("steps", [300, 2], ids=["conjugate gradients", "a factor after all"])
@pytest.mark.parametrize("loss", LOSSES)
def test_items_without_features_take_conjugate_gradients_first(loss, steps, monkeypatch):
    """A sparse X with many columns has its Hessian factored only where conjugate gradients do not get there."""
    monkeypatch.setattr(directions, "SPARSE_COLUMNS", 50)
    monkeypatch.setattr(directions, "MOST_STEPS", steps)
    rng = np.random.default_rng(8)
    rows = make_rows("ties", rng.normal(size=150), rng)
    map_ = maps.LinearMap(sparse.eye_array(150, format="csr"))
    for C in (0.1, 3.0):
        found = rows_newton(rows, map_, C, loss, tol=1e-4, max_iter=200)
        assert_agree(found, exact(rows, map_, C, loss), 1e-4, rows, map_, C, loss)


@pytest.mark.parametrize("how", ["linear", "kernel"])
@pytest.mark.parametrize("kind", ["targets", "ties", "choices"])
def test_a_start_from_a_sample_changes_nothing_beyond_the_gap(kind, how, monkeypatch):
    """Samples are starts, not answers."""
    monkeypatch.setattr(problem, "FEW_ROWS", 20)
    monkeypatch.setattr(problem, "FEW_ITEMS", 32)
    monkeypatch.setattr(differences, "STRIP", 32)
    monkeypatch.setattr(differences, "TILE_BYTES", 16 * 32 * 8)
    rng = np.random.default_rng(5)
    X, u = items(rng, n=400)
    rows, map_ = make_rows(kind, u, rng), make_map(how, X)
    found = rows_newton(rows, map_, 0.1, HINGE, tol=1e-4, max_iter=200)
    assert_agree(found, exact(rows, map_, 0.1, HINGE), 1e-4, rows, map_, 0.1, HINGE)


@pytest.mark.parametrize("kind", ["classes", "ties", "both_ways"])
def test_a_row_twice_is_weight_two(kind):
    """Repeated rows, doubled weights and merged rows are one problem."""
    rng = np.random.default_rng(6)
    X, u = items(rng)
    rows, map_ = make_rows(kind, u, rng, weight=np.ones(300)), maps.LinearMap(X)
    twice = comparisons.Rows(
        sparse.vstack([rows.D, rows.D], format="csr"), np.tile(rows.E, (2, 1)), np.tile(rows.margin, 2),
        np.tile(rows.weight, 2), constant=2 * rows.constant,
    )  # fmt: skip
    heavy = replace(rows, weight=2 * rows.weight, constant=2 * rows.constant)
    one, two = (rows_newton(r, map_, 0.1, SQUARED_HINGE, tol=1e-10, max_iter=200) for r in (twice, heavy))
    assert one.objective == pytest.approx(two.objective, rel=1e-9)
    assert_allclose(one.weights, two.weights, atol=1e-6)


def test_merging_adds_the_weights_of_equal_comparisons():
    """Equal means the same items in the same order, the same margin and the same level."""
    first, second = np.array([0, 1, 0, 0, 1, 0, 0]), np.array([1, 0, 1, 2, 0, 1, 1])
    y = np.array([1, 1, 1, 1, 1, 0, 1])
    rows = comparisons.from_ties_as_margin(first, second, y, np.arange(1.0, 8.0), 3)
    merged = rows.merged
    entries = zip(merged.D.toarray().tolist(), merged.E[:, 0].tolist(), merged.weight.tolist(), strict=True)
    assert sorted(entries) == sorted(
        [
            ([1.0, -1.0, 0.0], 1.0, 1.0 + 3.0 + 7.0),
            ([-1.0, 1.0, 0.0], 1.0, 2.0 + 5.0),
            ([1.0, 0.0, -1.0], 1.0, 4.0),
            ([-1.0, 1.0, 0.0], -1.0, 6.0),
            ([1.0, -1.0, 0.0], -1.0, 6.0),
        ]
    )


@pytest.mark.parametrize("squared", [False, True])
def test_shared_slopes_are_the_best_slopes(squared):
    """The loop finds the level that sorting finds; the smooth loss and its derivative along a line are theirs."""
    rng = np.random.default_rng(7)
    for _ in range(200):
        n, h = int(rng.integers(1, 8)), float(rng.uniform(0.01, 1.0))
        t, dz = 2.0 * rng.normal(size=n), rng.normal(size=n)
        slope, curvature, tie = np.empty(n), np.empty(n), np.empty(1)
        start = np.array([0, n])
        smooth, exact_loss, excess = _rows.shared(t, np.ones(1), start, h, squared, slope, curvature, tie)
        assert_allclose(slope, ref.slopes(t, h, squared=squared), atol=1e-12)
        assert smooth == pytest.approx(ref.smooth_loss(t, h, squared=squared), abs=1e-12)
        worst = max(0.0, float(t.max()))
        assert exact_loss == pytest.approx(worst**2 if squared else worst)
        assert excess >= -1e-12
        first, _ = _rows.shared_along(t, dz, np.ones(1), start, h, squared, 0.3, np.empty(n))
        up, down = (ref.smooth_loss(t - s * dz, h, squared=squared) for s in (0.3 + 1e-6, 0.3 - 1e-6))
        assert first == pytest.approx((up - down) / 2e-6, abs=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_task_of_one_row_is_a_row_of_its_own(loss):
    """Shared slacks with one sharer are own slacks: the hinge smoothed alike, the square in the limit."""
    rng = np.random.default_rng(8)
    rows = make_rows("pairs", items(rng, n=30)[1], rng)
    alone = replace(rows, task=np.arange(rows.margin.size))
    t = rng.normal(size=rows.margin.size)
    own, shared = (RowsRisk(r, loss, h=1e-9 if loss.squared else 0.3).look(t) for r in (rows, alone))
    assert_allclose(own.slope, shared.slope, rtol=1e-7)
    assert own.smooth == pytest.approx(shared.smooth, rel=1e-7)
    assert own.loss == pytest.approx(shared.loss)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("n", [0, 1, 7, 8, 33, 1000])
def test_sums_over_rows_with_own_slacks(n, squared):
    """Slopes, curvatures, sums and derivatives along a line, row by row; at both ends of the smoothing too."""
    rng = np.random.default_rng(n)
    h, weight, dz = 0.25, rng.uniform(0.5, 2.0, n), rng.normal(size=n)
    t = np.where(rng.random(n) < 0.3, rng.choice([-h, 0.0, h], n), rng.normal(size=n))
    slope, curvature = np.empty(n), np.empty(n)
    smooth, loss, excess = _rows.own(t, weight, h, squared, slope, curvature)
    positive = np.maximum(t, 0.0)
    share = 2.0 * positive if squared else np.clip((t + h) / (2.0 * h), 0.0, 1.0)
    bent = (2.0 * (t > 0.0)) if squared else (np.abs(t) < h) / (2.0 * h)
    assert_allclose(slope, weight * share, atol=1e-15)
    assert_allclose(curvature, weight * bent, atol=1e-15)
    assert loss == pytest.approx(float(weight @ (positive**2 if squared else positive)), rel=1e-12)
    missed = 0.0 if squared else float(weight @ (positive - share * t))
    assert excess == pytest.approx(missed, rel=1e-12, abs=1e-14)
    each = positive**2 if squared else np.where(np.abs(t) < h, h * share**2, positive)
    assert smooth == pytest.approx(float(weight @ each), rel=1e-12)
    end = t - 0.3 * dz
    share = 2.0 * np.maximum(end, 0.0) if squared else np.clip((end + h) / (2.0 * h), 0.0, 1.0)
    bent = (2.0 * (end > 0.0)) if squared else (np.abs(end) < h) / (2.0 * h)
    expected = -float((weight * dz) @ share), float((weight * dz**2) @ bent)
    assert _rows.own_along(t, dz, weight, h, squared, 0.3) == pytest.approx(expected, rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("squared", [False, True])
def test_a_row_that_is_not_a_number_shows_in_the_sums(squared):
    """Whoever looks must not take the others for all."""
    for at in range(9):
        t = np.ones(9)
        t[at] = np.nan
        assert np.isnan(_rows.own(t, np.ones(9), 0.5, squared, np.empty(9), np.empty(9))[:2]).all()
        assert np.isnan(_rows.own_along(t, np.ones(9), np.ones(9), 0.5, squared, 0.1)[0])


@pytest.mark.parametrize("squared", [False, True])
def test_levels_of_shared_slacks_are_found_where_rounding_moves_rows_across(squared):
    """Rows within a few units of the last place, under a smoothing as small: every search ends."""
    rng = np.random.default_rng(0)
    n, size = 20_000, 4
    base = rng.uniform(0.0, 10.0, (n, 1))
    h, t = 4e-16, (base + rng.integers(-3, 4, (n, size)) * np.spacing(base)).ravel()
    slope, curvature, tie = np.empty(t.size), np.empty(t.size), np.empty(n)
    start = np.arange(0, t.size + 1, size)
    work = Thread(target=_rows.shared, args=(t, np.ones(n), start, h, squared, slope, curvature, tie), daemon=True)
    work.start()
    work.join(20.0)  # a search that goes in circles would never end
    assert not work.is_alive()
    assert np.all(np.isfinite(slope) & (slope >= 0.0))


@pytest.mark.parametrize("loss", LOSSES)
def test_hessian_of_tasks_matches_differences(loss):
    """The product with the Hessian is the derivative of the gradient."""
    rng = np.random.default_rng(9)
    _, u = items(rng, n=50)
    risk = RowsRisk(make_rows("choices", u, rng), loss, h=0.4)
    v, e = rng.normal(size=50), 1e-7
    hessp = risk.value_gradient_hessp(u)[2]
    up, down = (risk.value_gradient_hessp(u + s * e * v)[1] for s in (1, -1))
    assert_allclose((up - down) / (2 * e), hessp(v), atol=1e-5)


# --- edges ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def always_newton(monkeypatch):
    """Send every number of rows to Newton, without a rescue."""
    monkeypatch.setattr(_solving, "EXACT_ROWS", 0)
    monkeypatch.setattr(_solving, "EXACT_KERNEL_ROWS", 0)
    monkeypatch.setattr(_solving, "FEW_KERNEL_ROWS", 0)
    monkeypatch.setattr(_solving.Solving, "_exactly", None)


PAIRS = Pairs([[0.0], [0.1], [2.0], [4.0], [4.2]], [(2, 0), (0, 1), (3, 2), (1, 3), (4, 3), (2, 0)])


@pytest.mark.usefixtures("always_newton")
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_edges_of_comparisons(kernel):
    """One pair, repeated pairs, a pair of equal items."""
    one = ComparisonSVM(kernel=kernel, ties="threshold").fit(Pairs([[0.0], [1.0]], [(1, 0)]), [1])
    assert one.solver_ == "newton"
    assert one.decision_function(Pairs([[0.0], [1.0]], [(1, 0)]))[0] > 0
    same = ComparisonSVM(kernel=kernel, C=3.0).fit(PAIRS, [1, 0, 1, -1, 0, 1])
    once = Pairs(PAIRS.items, PAIRS.index[:5])
    heavy = ComparisonSVM(kernel=kernel, C=3.0).fit(once, [1, 0, 1, -1, 0], sample_weight=[2, 1, 1, 1, 1])
    assert same.objective_ == pytest.approx(heavy.objective_, rel=2e-4)
    assert same.tie_width_ == pytest.approx(heavy.tie_width_, abs=0.05)


@pytest.mark.usefixtures("always_newton")
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("y", [[1, 1, 1, -1, 1, 1], [0] * 6], ids=["no ties", "only ties"])
def test_one_sided_comparisons_are_met_by_the_model_zero(y, kernel):
    """Without ties, or with nothing else, the level alone meets every margin."""
    with pytest.warns(CollapseWarning):
        model = ComparisonSVM(kernel=kernel).fit(PAIRS, y)
    assert (model.objective_, model.duality_gap_) == (0.0, 0.0)


@pytest.mark.usefixtures("always_newton")
def test_a_collapse_is_proved_and_told():
    """Ties that outweigh the winners: the optimum is exactly zero, as the interior point says."""
    rng = np.random.default_rng(10)
    X = rng.normal(size=(40, 3))
    index = rng.integers(0, 40, (200, 2))
    y = (np.arange(200) % 10 == 0).astype(int)
    with pytest.warns(CollapseWarning):
        model = ComparisonSVM(C=1.0).fit(Pairs(X, index), y)
    assert not np.any(model.coef_)
    assert model.duality_gap_ <= 1e-9


@pytest.mark.usefixtures("always_newton")
def test_a_tiny_C_is_no_collapse():
    """Zero is within any tolerance there, but the direction is known."""
    rng = np.random.default_rng(11)
    X, u = items(rng, n=80)
    index = rng.integers(0, 80, (300, 2))
    y = np.where(u[index[:, 0]] > u[index[:, 1]], 1, -1)
    assert ComparisonSVM(C=1e-9, ties="threshold").fit(Pairs(X, index), y).score(Pairs(X, index), y) > 0.9


@pytest.mark.usefixtures("always_newton")
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("cls", [MarginClassifier, MarginRegressor, TopRankSVM, ComparisonSVM])
def test_row_order_does_not_matter_beyond_the_gap(cls, kernel):
    """A permutation of the rows gives the same objective and nearly the same utilities."""
    rng = np.random.default_rng(12)
    X, u = items(rng, n=90)
    order = rng.permutation(90)
    noisy = u + rng.normal(size=90)
    index, qid = np.column_stack([np.arange(90), np.roll(np.arange(90), 1)]), np.arange(90) // 6
    outcome = np.sign(np.round(0.5 * (noisy - np.roll(noisy, 1))))
    y = {MarginClassifier: noisy > 0, ComparisonSVM: outcome}.get(cls, noisy)
    fits = []
    for rows in (np.arange(90), order):
        model = cls(kernel=kernel, tol=1e-6)
        if cls is ComparisonSVM:
            fits.append(model.fit(Pairs(X, index[rows]), y[rows]))
        elif cls is TopRankSVM:
            fits.append(model.fit(X[rows], y[rows], qid=qid[rows]))
        else:
            fits.append(model.fit(X[rows], y[rows]))
    assert fits[0].objective_ == pytest.approx(fits[1].objective_, rel=2e-6)
    spread = np.ptp(fits[0].utility(X))
    assert_allclose(fits[0].utility(X), fits[1].utility(X), atol=0.01 * spread + np.sqrt(4e-6 * fits[0].objective_))


def test_many_rows_take_newton_and_few_do_not():
    """`solver_` tells; both agree to the gap; weights, class weights and C_scale are honoured on both sides."""
    rng = np.random.default_rng(13)
    X, u = items(rng, n=_solving.EXACT_ROWS + 200)
    y, weight = u + rng.normal(size=u.size) > 0.3, rng.uniform(0.5, 2.0, u.size)
    how = {"C": 50.0, "C_scale": "mean", "class_weight": "balanced"}
    many = MarginClassifier(**how).fit(X, y, sample_weight=weight)
    few = MarginClassifier(**how).fit(X[:200], y[:200], sample_weight=weight[:200])
    assert (many.solver_, few.solver_) == ("newton", "interior_point")
    balanced = y.size / (2.0 * np.where(y, y.sum(), (~y).sum()))
    rows = comparisons.from_classes(np.where(y, 1.0, -1.0), weight * balanced)
    oracle = exact(rows, maps.LinearMap(X), 50.0 / rows.weight.sum(), HINGE)
    assert oracle.objective * (1 - 1e-9) <= many.objective_ <= oracle.objective * (1 + 1e-4)
    assert many.intercept_ == pytest.approx(oracle.levels[0], abs=0.02)


def test_the_interior_point_rescues_what_newton_leaves(monkeypatch):
    """A C so large that Newton gives up is solved all the same, and `solver_` says by whom."""
    monkeypatch.setattr(_solving, "EXACT_ROWS", 50)
    monkeypatch.setattr("widemargin._core.rows_newton.MOST_STEPS", 1)
    rng = np.random.default_rng(14)
    X, u = items(rng, n=100)
    model = MarginClassifier(C=100.0).fit(X, u + rng.normal(size=100) > 0)
    assert model.solver_ == "interior_point"
    assert model.converged_


@pytest.mark.parametrize("how", ["linear", "kernel"])
def test_a_plan_of_a_neighbour_saves_steps_and_no_more(how):
    """Where the solve for another C ended is a start: fewer steps, and the same optimum."""
    rng = np.random.default_rng(15)
    X, u = items(rng, n=400)
    rows, map_, plan = make_rows("ties", u, rng), make_map(how, X), Plan()
    rows_newton(rows, map_, 0.1, HINGE, tol=1e-4, max_iter=200, plan=plan)
    warm = rows_newton(rows, map_, 0.12, HINGE, tol=1e-4, max_iter=200, plan=plan)
    cold = rows_newton(rows, map_, 0.12, HINGE, tol=1e-4, max_iter=200)
    assert warm.n_iter < cold.n_iter
    assert_agree(warm, exact(rows, map_, 0.12, HINGE), 1e-4, rows, map_, 0.12, HINGE)


@pytest.mark.parametrize("ties", ["margin", "both_ways", "threshold"])
def test_rounded_kernel_values_do_not_stop_a_large_C(ties):
    """Where curved rows are nearly dependent, float32 values have negative eigenvalues: the steps take a ridge."""
    data = make_comparisons(400, norm=1, tie_share=0.5, random_state=0)
    model = ComparisonSVM(kernel="rbf", gamma=2**-12, ties=ties, tol=1e-3)
    path = c_path(model, data.X, data.y, np.logspace(-3, 6, 5))
    assert path.gaps.max() <= 1e-3


@pytest.mark.parametrize(
    ("n", "tol", "solver"), [(300, 1e-4, "interior_point"), (310, 1e-4, "newton"), (310, 1e-8, "interior_point")]
)
def test_few_rows_of_a_kernel_are_exact(n, tol, solver):
    """And more of them where a fine tol asks for it; the gap is true for all."""
    rng = np.random.default_rng(16)
    X, u = items(rng, n=n)
    y = u + rng.normal(size=n) > 0
    model = MarginClassifier(kernel="rbf", tol=tol).fit(X, y)
    exact_one = MarginClassifier(kernel="rbf", tol=1e-9).fit(X, y)
    assert model.solver_ == solver
    assert model.duality_gap_ <= tol
    assert model.objective_ * (1 - model.duality_gap_) <= exact_one.objective_ * (1 + 1e-9)
    assert exact_one.objective_ <= model.objective_ * (1 + 1e-9)


def test_known_utilities_serve_only_while_they_are_right():
    """Utilities that drifted from X w are computed anew for a certificate; others are taken as they are."""
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(500, 4))
    for X in (dense, dense.astype(np.float32), sparse.csr_array(dense * (dense > 0.0))):
        space, w, g = Columns(X), rng.normal(size=4), np.zeros(4)
        right = X.astype(float) @ w
        assert space.exact(w, g, right)[0].u is right
        off = right + 1e-11 * np.max(np.abs(right))
        assert_allclose(space.exact(w, g, off)[0].u, right, rtol=0, atol=1e-14 * np.max(np.abs(right)))


def test_slopes_have_their_price_at_any_scale():
    """Squares of slopes that underflow would make a bound too high."""
    rows = comparisons.from_classes(np.array([1.0, -1.0]), np.full(2, 1e-180))
    assert RowsRisk(rows, SQUARED_HINGE).slope_cost(np.array([1e-170, 2e-170])) == pytest.approx(
        1.25e-160, rel=1e-12, abs=0
    )


@pytest.mark.parametrize("kind", ["classes", "targets", "pairs"])
def test_rows_of_one_item_are_multiplied_like_all_others(kind):
    """By their entries, without a matrix in between: both ways give D u and D'a."""
    rng = np.random.default_rng(0)
    rows = make_rows(kind, rng.normal(size=150), rng)
    u, a = rng.normal(size=150), rng.normal(size=rows.shape[0])
    assert rows.is_single == (kind != "pairs")
    assert_allclose(rows.times(u), rows.D @ u, rtol=1e-14)
    assert_allclose(rows.pulled(a), rows.D.T @ a, rtol=1e-12, atol=1e-12)
