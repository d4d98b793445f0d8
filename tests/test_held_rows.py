"""Rows held at their margins: whole steps are Newton's, what Newton is told is what slopes say, and few steps do."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from test_rows_newton import assert_agree, exact, items, make_map, make_rows
from widemargin._core.losses import HINGE, SQUARED_HINGE
from widemargin._core.row_risk import RowsRisk
from widemargin._core.rows_newton import Plan, iterations, rows_newton, spaces
from widemargin._core.rows_newton.differences import distinct_differences
from widemargin._core.rows_newton.held import Held
from widemargin._core.rows_newton.problem import Problem

KINDS = ("classes", "targets", "pairs", "ties", "both_ways")


def make_problem(kind="ties", C=3.0, h=0.05, seed=0):
    """Return a problem over a Gram matrix, and a point."""
    rng = np.random.default_rng(seed)
    X, u = items(rng)
    found = distinct_differences(make_rows(kind, u, rng))
    gram = found.gram(make_map("kernel", X).against, np.float64)
    problem = Problem(RowsRisk(found.rows, HINGE), gram, C).smoothed(h)
    f = gram.vector(rng.normal(size=gram.n_items) / gram.n_items**0.5)
    return problem, iterations.best_level(problem, problem.point(f, np.zeros(found.rows.E.shape[1])))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("h", [1e-3, 0.05, 50.0])
def test_slopes_of_the_point_are_its_view(kind, h):
    """From the slopes at a point nothing is held that is not curved, and the gap is true."""
    problem, point = make_problem(kind, h=h)
    plain = problem.view(point)
    for held in (Held.of(problem, plain.look.slope), Held.of(problem, plain.look.slope + 9.0).given_up(problem, point)):
        view = held.view(problem, point)
        assert view.ahead is None
        assert_array_equal(view.look.curvature, plain.look.curvature)
        assert_allclose(view.gap, plain.gap)


def test_a_wide_smoothing_holds_what_it_curves_whatever_the_slopes():
    """There slopes follow from shortfalls, and earlier ones do not matter."""
    problem, point = make_problem(h=50.0)
    slope = np.random.default_rng(1).uniform(-1.0, 2.0, problem.rows.margin.size)
    assert Held.of(problem, slope).view(problem, point).ahead is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_step_puts_held_rows_where_their_slopes_say(kind):
    """After it f is the function of the slopes followed, and its slope is the derivative of the smooth objective."""
    problem, point = make_problem(kind, h=0.01)
    held = Held.of(problem, np.random.default_rng(2).uniform(0.0, 1.0, problem.rows.margin.size))
    view = held.view(problem, point)
    assert view.ahead is not None
    assert view.gap == np.inf
    step, db = iterations.direction(problem, view)
    dz = problem.reach(step) + problem.rows.shift(db)
    slope = held.moved(view, dz, 1.0).slope
    assert_allclose(point.f.w + step.w, problem.pulled(slope), atol=1e-6 * np.abs(problem.pulled(slope)).max())
    flat = view.look.curvature == 0.0
    assert np.all((slope[flat] == 0.0) | (slope[flat] == problem.rows.weight[flat]))
    tiny = 1e-7

    def smooth(s):
        f = point.f.moved(s, step)
        return 0.5 * problem.space.inner(f, f) + problem.C * problem.risk.look(point.short - s * dz).smooth

    have = iterations._slope(problem, view, (step, db, dz))
    assert have == pytest.approx((smooth(tiny) - smooth(-tiny)) / (2.0 * tiny), rel=1e-3)


def test_only_kinks_of_their_own_over_a_kernel_are_held():
    """Squared losses have none, tasks share theirs, and columns cannot hold many rows."""
    problem, point = make_problem()
    slope = problem.view(point).look.slope
    assert Held.of(problem, slope) is not None
    assert Held.of(replace(problem, risk=replace(problem.risk, loss=SQUARED_HINGE)), slope) is None
    X, u = items(np.random.default_rng(0))
    for kind in ("ties", "choices"):
        rows = make_rows(kind, u, np.random.default_rng(0))
        assert Held.of(Problem(RowsRisk(rows, HINGE), spaces.Columns(X), 1.0), rows.margin) is None


def test_the_diagonal_is_that_of_the_matrix():
    """By blocks, and by way of the items."""
    rng = np.random.default_rng(3)
    X, u = items(rng, n=700)
    found, against = distinct_differences(make_rows("ties", u, rng)), make_map("items", X).against
    for space in (found.gram(against, np.float64), found.paired(against, np.float64)):
        some = np.sort(rng.permutation(found.size)[:300])
        assert_allclose(space.diag()[some], np.diag(space.corner(some)), atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_steep_kernels_take_few_steps_and_are_right(kind):
    """A C that nearly separates the rows, alone and from a neighbour."""
    rng = np.random.default_rng(4)
    X, u = items(rng, n=150)
    rows, map_, shared = make_rows(kind, u, rng), make_map("kernel", X), Plan(is_shared=True, is_fine=True)
    for C in (30.0, 100.0, 300.0):
        for plan in (Plan(is_fine=True), shared):
            found = rows_newton(rows, map_, C, HINGE, tol=1e-4, max_iter=40, plan=plan)
            assert_agree(found, exact(rows, map_, C, HINGE), 1e-4, rows, map_, C, HINGE)


def test_a_step_that_leads_nowhere_is_followed_by_one_that_does(monkeypatch):
    """Slopes that say the wrong thing are given up for those of the point."""
    problem, point = make_problem(C=30.0)
    view, given_up = problem.view(point), []
    wrong, whole = np.where(view.look.slope > 0.0, -1e6, 1e6), Held.given_up
    monkeypatch.setattr(Held, "given_up", lambda self, *a: given_up.append(1) or whole(self, *a))
    found = iterations.run(problem, 1e-4, 100, None, iterations.Start(point.f, point.b, 0.05, wrong))
    assert found.is_done
    assert given_up


def steps_along(Cs):
    """Return Newton's steps for each C of a path."""
    rng = np.random.default_rng(5)
    X, u = items(rng, n=400)
    rows, map_, plan = make_rows("ties", u, rng), make_map("kernel", X), Plan(is_shared=True, is_fine=True)
    return [rows_newton(rows, map_, C, HINGE, tol=1e-3, max_iter=100, plan=plan).n_iter for C in Cs]


def test_slopes_that_were_at_a_bound_stay_there_along_c():
    """They are followed by themselves: a share of the way that they went last, in 1 / C."""
    rng = np.random.default_rng(6)
    X, u = items(rng, n=150)
    rows, map_, plan = make_rows("ties", u, rng), make_map("kernel", X), Plan(is_shared=True, is_fine=True)
    seen = []
    for C in (2.0, 4.0):
        rows_newton(rows, map_, C, HINGE, tol=1e-6, max_iter=100, plan=plan)
        seen.append(plan.last.slopes)
    problem = replace(plan.setting.problem, C=8.0)
    begin, weight = plan.begin(problem), problem.rows.weight
    for bound in (np.zeros_like(weight), weight):
        stay = np.isclose(seen[0], bound, atol=1e-12) & np.isclose(seen[1], bound, atol=1e-12)
        assert np.count_nonzero(stay) > 10
        assert_allclose(begin.slope[stay], bound[stay], atol=1e-11)
    assert_allclose(begin.slope - seen[1], 0.25 * (seen[1] - seen[0]), atol=1e-12)  # half of 1/4 - 1/8 over 1/2 - 1/4


def test_slopes_followed_along_c_save_steps(monkeypatch):
    """Read from the coefficients of the start, which grow with C, those at a bound seem to have left it."""
    Cs, whole = np.geomspace(1.0, 100.0, 10), Plan.begin

    def by_coefficients(self, problem):
        start, D = whole(self, problem), problem.rows.D
        return start and start._replace(slope=D.data * start.f.w[D.indices] / problem.C)

    few = steps_along(Cs)
    monkeypatch.setattr(Plan, "begin", by_coefficients)
    many = steps_along(Cs)
    assert sum(few) < 0.85 * sum(many), (few, many)


def test_a_start_with_held_rows_is_looked_at_once(monkeypatch):
    """Its own slopes make a function, too, but nobody asks for it: the first bound is that of the model zero."""
    problem, point = make_problem(C=30.0)
    wrong, asked, reported = np.full(problem.rows.margin.size, 0.5), [], []
    whole = Held.view
    monkeypatch.setattr(Held, "view", lambda self, *a: asked.append(whole(self, *a)) or asked[-1])
    monkeypatch.setattr(Problem, "view", lambda *_: pytest.fail("looked at by the point's own slopes"))
    start = iterations.Start(point.f, point.b, 0.05, wrong)
    assert iterations.run(problem, 1e-4, 100, lambda _, gap: reported.append(gap), start).is_done
    assert asked[0].gap == np.inf
    assert reported[0] == 1.0
