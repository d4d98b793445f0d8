"""Newton along C on the rows near their margins: true bounds whatever is left out, and the optimum all the same."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from test_rows_newton import assert_agree, exact, items, make_map, make_rows
from widemargin._core import _rows
from widemargin._core import _rows_ref as ref
from widemargin._core.losses import HINGE, SQUARED_HINGE
from widemargin._core.row_risk import RowsRisk
from widemargin._core.rows_newton import Plan, bounds, iterations, near, plan, rounds, rows_newton, spaces
from widemargin._core.rows_newton.differences import distinct_differences
from widemargin._core.rows_newton.problem import Problem

KINDS = ("classes", "targets", "pairs", "ties", "both_ways")  # rows with slacks of their own
SPACES = ("columns", "written out")


@pytest.fixture
def any_size(monkeypatch):
    """Few rows are taken apart too."""
    monkeypatch.setattr(near, "FEWEST", 0)
    monkeypatch.setattr(near, "MOST", 0.9)
    monkeypatch.setattr(near, "MOST_KNOWN", 0.9)


def make_problem(how, kind="ties", C=0.7, seed=0):
    """Return a problem over columns, with weights."""
    rng = np.random.default_rng(seed)
    X, u = items(rng)
    rows = make_rows(kind, u, rng)
    problem = Problem(RowsRisk(rows, HINGE), spaces.Columns(X), C)
    if how == "written out":
        shared = Plan(is_shared=True)
        return replace(shared.write_out(plan.Setting(problem, lambda w: w, lambda a: a)).problem, C=C)
    return problem


def points(problem, rng, n=3):
    """Yield points at random."""
    for _ in range(n):
        f = problem.space.vector(rng.normal(size=problem.space.n_coordinates) / problem.space.n_coordinates**0.5)
        yield problem.point(f, 0.3 * rng.normal(size=problem.rows.E.shape[1]))


@pytest.mark.usefixtures("any_size")
@pytest.mark.parametrize("how", SPACES)
@pytest.mark.parametrize("kind", KINDS)
def test_slopes_of_near_rows_bound_all_rows(kind, how):
    """Any slopes of the small problem, lifted, have the same dual value in the whole one, and the same function."""
    problem, rng = make_problem(how, kind), np.random.default_rng(1)
    for point in points(problem, rng):
        part = near.near(problem, point, float(np.quantile(np.abs(point.short), 0.4)))
        slope = bounds.feasible(part.problem.risk, rng.uniform(0.0, 2.0, part.problem.rows.margin.size))
        small = bounds.lower_bound(part.problem, slope)[1]
        lifted = part.slopes(slope)
        assert_allclose(bounds.feasible(problem.risk, lifted), lifted, atol=1e-12)
        assert bounds.lower_bound(problem, lifted)[1] == pytest.approx(small, rel=1e-9)
        w = problem.space.gradient(part.problem.pulled(slope))
        v = problem.space.gradient(problem.pulled(lifted))
        assert_allclose(problem.space.inner(w, w), problem.space.inner(v, v), rtol=1e-9)


@pytest.mark.usefixtures("any_size")
@pytest.mark.parametrize("how", SPACES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_small_problem_is_the_whole_one_where_it_was_seen_from_and_below_elsewhere(kind, how):
    """Its loss is that of all rows while none has crossed its margin, and never above it."""
    problem, rng = make_problem(how, kind), np.random.default_rng(2)
    for point in points(problem, rng):
        part = near.near(problem, point, float(np.quantile(np.abs(point.short), 0.4)))
        assert 0 < part.rows.size < problem.rows.margin.size
        here = part.problem.point(part.start, point.b)
        assert_allclose(here.short, part.seen(point.short), atol=1e-9)
        whole, small = (x.risk.exact_loss(p.short) for x, p in ((problem, point), (part.problem, here)))
        assert small == pytest.approx(whole, rel=1e-12)
        for other in points(problem, rng):
            loss = part.problem.risk.exact_loss(part.seen(other.short))
            assert loss <= problem.risk.exact_loss(other.short) * (1 + 1e-12)


@pytest.mark.usefixtures("any_size")
@pytest.mark.parametrize("how", ["linear", "kernel", "items", "float32"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_path_agrees_with_the_interior_point(kind, how, monkeypatch):
    """Every point of a path is the optimum to the gap; linear ones are mostly found from near rows alone."""
    rng = np.random.default_rng(3)
    X, u = items(rng, n=120)
    rows, map_, shared = make_rows(kind, u, rng), make_map(how, X), Plan(is_shared=True)
    parts, whole = [], rounds.verdict
    monkeypatch.setattr(rounds, "verdict", lambda *a: parts.append(len(a) == 4 and a[3] is not None) or whole(*a))
    oracle_map = make_map("kernel" if how == "items" else how, X)
    for C in np.geomspace(0.02, 2.0, 8):
        found = rows_newton(rows, map_, C, HINGE, tol=1e-4, max_iter=200, plan=shared)
        assert_agree(found, exact(rows, oracle_map, C, HINGE), 1e-4, rows, map_, C, HINGE)
        assert shared.last.C == C
    assert sum(parts) >= 3 if how in ("linear", "float32") else not any(parts)


@pytest.mark.usefixtures("any_size")
def test_too_narrow_a_view_is_made_good(monkeypatch):
    """Where more rows come to their margins than were looked at, a second look or all rows find the optimum."""
    monkeypatch.setattr(plan, "AHEAD", 0.05)
    monkeypatch.setattr(plan, "FIRST", 0.02)
    rng = np.random.default_rng(4)
    X, u = items(rng, n=120)
    rows, map_, shared = make_rows("ties", u, rng), make_map("linear", X), Plan(is_shared=True)
    looks, whole = [], rounds.verdict
    monkeypatch.setattr(rounds, "verdict", lambda *a: looks.append(len(a)) or whole(*a))
    for C in (0.05, 0.5, 5.0):
        found = rows_newton(rows, map_, C, HINGE, tol=1e-4, max_iter=200, plan=shared)
        assert_agree(found, exact(rows, map_, C, HINGE), 1e-4, rows, map_, C, HINGE)
    assert looks.count(4) >= 2  # near rows were tried
    assert len(looks) > 4  # and did not do


def test_near_rows_that_do_not_settle_are_followed_by_all(monkeypatch):
    """A round that ends without its gap counts its steps, and no more."""
    monkeypatch.setattr(near, "FEWEST", 0)
    rng = np.random.default_rng(5)
    X, u = items(rng, n=120)
    rows, map_, shared, whole = make_rows("ties", u, rng), make_map("linear", X), Plan(is_shared=True), rounds.run
    rows_newton(rows, map_, 0.1, HINGE, tol=1e-4, max_iter=200, plan=shared)
    sizes = []

    def short(problem, tol, most, *more):
        sizes.append(problem.rows.margin.size)
        return whole(problem, tol, 1 if sizes[-1] < rows.margin.size else most, *more)

    monkeypatch.setattr(rounds, "run", short)
    found = rows_newton(rows, map_, 0.2, HINGE, tol=1e-4, max_iter=200, plan=shared)
    assert_agree(found, exact(rows, map_, 0.2, HINGE), 1e-4, rows, map_, 0.2, HINGE)
    assert sizes[0] < sizes[1] == rows.margin.size


def test_squared_losses_and_shared_slacks_are_left_whole():
    """Rows that fall short by far have no common mean there."""
    rng = np.random.default_rng(6)
    X, u = items(rng, n=5000)
    for kind, loss in (("classes", SQUARED_HINGE), ("choices", HINGE)):
        problem = Problem(RowsRisk(make_rows(kind, u, rng), loss), spaces.Columns(X), 1.0)
        assert near.near(problem, next(points(problem, rng)), 0.1) is None


@pytest.mark.parametrize("how", ["linear", "kernel"])
@pytest.mark.parametrize("kind", ["pairs", "ties"])
def test_the_tangent_is_the_derivative_in_log_c(kind, how):
    """For a squared loss, which is not smoothed, finite differences of exact solutions agree with it."""
    rng = np.random.default_rng(7)
    X, u = items(rng, n=80)
    rows, map_ = make_rows(kind, u, rng), make_map(how, X)
    ends = []
    for C in (0.3, 0.3 * (1 - 1e-4), 0.3 * (1 + 1e-4)):
        shared = Plan(is_shared=True)
        rows_newton(rows, map_, C, SQUARED_HINGE, tol=1e-13, max_iter=200, plan=shared)
        ends.append(shared)
    middle, low, high = ends
    d = np.log((1 + 1e-4) / (1 - 1e-4))
    assert_allclose(middle.slope.f.w, (high.last.f.w - low.last.f.w) / d, atol=2e-3 * np.abs(middle.slope.f.w).max())
    assert_allclose(middle.slope.b, (high.last.b - low.last.b) / d, atol=2e-3)


@pytest.mark.parametrize(("kind", "is_copied"), [("pairs", False), ("classes", True)])
def test_many_near_pairs_are_left_where_they_are_once_few_steps_remain(kind, is_copied, monkeypatch):
    """Each would be copied, from two places; rows of one item are read there in their order."""
    monkeypatch.setattr(near, "FEWEST", 0)
    problem = make_problem("columns", kind)
    point = next(points(problem, np.random.default_rng(10)))
    radius = float(np.quantile(np.abs(point.short), 0.4))
    assert near.near(problem, point, radius) is not None
    assert (near.near(problem, point, radius, is_known=True) is not None) == is_copied


def test_rows_are_split_as_plain_numpy_splits_them():
    """The loop and its twin: near rows in order, far weights by the sign of the level."""
    rng = np.random.default_rng(8)
    t = np.concatenate([rng.normal(size=200), [0.5, -0.5, 0.0]])
    weight, sign = rng.uniform(0.0, 2.0, t.size), rng.choice([-1.0, 1.0], t.size)
    chosen, up, down = np.empty(t.size, np.int64), np.empty(t.size), np.empty(t.size)
    n = _rows.split(t, weight, sign, 0.5, chosen, up, down)
    for have, want in zip((chosen[:n], up, down), ref.split(t, weight, sign, 0.5), strict=True):
        assert_array_equal(have, want)


def test_shared_kernel_values_are_the_same_values():
    """Rounded from float64 and kept, or computed in float32 and computed again: the same to rounding."""
    rng = np.random.default_rng(9)
    X, u = items(rng, n=700)
    found, against = distinct_differences(make_rows("ties", u, rng)), make_map("items", X).against
    apart, kept = (found.gram(against, np.dtype(np.float32), keep=keep) for keep in (0, found.size))
    w = rng.normal(size=found.size)
    assert_allclose(kept.vector(w).u, apart.vector(w).u, atol=1e-3)
    assert_allclose(kept.exact(w, w)[0].u, apart.exact(w, w)[0].u, atol=1e-9)
    some = np.sort(rng.permutation(found.size)[:50])
    assert_array_equal(np.tril(kept.square(some)), np.tril(kept.corner(some)).astype(np.float32))
    assert_array_equal(kept.square(some), kept.square(some).T)


def test_a_level_between_wide_bounds_is_the_level():
    """Bounds for a bisection are asked for where no row is curved at the last level."""
    problem = make_problem("columns").smoothed(1e-3)
    point = next(points(problem, np.random.default_rng(10)))
    for shift in (0.0, 50.0, -50.0):
        found = iterations.best_level(problem, problem.point(point.f, point.b + shift))
        e = np.ascontiguousarray(problem.rows.E[:, 0])
        assert abs(problem.risk.along(found.short, e, 0.0)[0]) <= 1e-12 * problem.rows.weight.sum()


def test_kernel_values_of_a_path_are_computed_once(monkeypatch):
    """In float64, though the first solves work on rounded ones and a large C on exact ones."""
    rng = np.random.default_rng(11)
    X, u = items(rng, n=120)
    rows, map_, shared, asked = make_rows("ties", u, rng), make_map("items", X), Plan(is_shared=True), []
    whole = type(map_).against
    monkeypatch.setattr(type(map_), "against", lambda self, *a: asked.append(a) or whole(self, *a))
    oracle, sizes = make_map("kernel", X), []
    for C in (0.1, 1.0, 1e3):
        found = rows_newton(rows, map_, C, HINGE, tol=1e-4, max_iter=200, plan=shared)
        assert_agree(found, exact(rows, oracle, C, HINGE), 1e-4, rows, map_, C, HINGE)
        sizes.append(shared.setting.problem.space.dtype.itemsize)
    assert sizes == [4, 4, 8]
    assert [str(dtype) for _, dtype in asked] == ["float64"] * 2  # for the two ends of the differences
