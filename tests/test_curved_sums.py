"""Sums over the rows that fall short tell the gradient of squared slacks: X is read for utilities alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from test_column_hessian import KINDS
from test_rows_newton import assert_agree, exact, items, make_map, make_rows
from widemargin import MarginRegressor
from widemargin._core.losses import HINGE, SQUARED_HINGE
from widemargin._core.row_risk import RowsRisk
from widemargin._core.rows_newton import Plan, curved_sums, iterations, rows_newton, spaces
from widemargin._core.rows_newton.problem import Problem
from widemargin.model_selection import c_path


def problem_of(kind, rng, *, loss=SQUARED_HINGE, dtype=float, shift=0.0):
    """Return a problem of 60 items, whose columns may be far from zero, and its utilities."""
    X, u = items(rng, n=60)
    return Problem(RowsRisk(make_rows(kind, u, rng), loss), spaces.Columns((X + shift).astype(dtype)), 2.0)


def points(problem, rng, n=20):
    """Yield neighbouring points."""
    w = rng.normal(size=problem.space.n_coordinates)
    b = np.zeros(problem.rows.E.shape[1])
    for _ in range(n):
        w, b = w + 0.01 * rng.normal(size=w.size), b + 0.01 * rng.normal(size=b.size)
        yield problem.point(problem.space.vector(w), b)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_sums_tell_what_a_product_with_x_does(kind, dtype):
    """Whatever rows came and went since they were made."""
    rng = np.random.default_rng(0)
    problem = problem_of(kind, rng, dtype=dtype)
    for k, point in enumerate(points(problem, rng)):
        look = problem.risk.look(point.short)
        image = curved_sums.pulled_by_sums(problem, point, look, 1.0, is_new=k == 0)
        assert_allclose(image, problem.pulled(look.slope), rtol=1e-9, atol=1e-9)


def test_a_product_is_made_where_rounding_might_spoil_a_bound():
    """Columns far from zero make sums whose parts cancel."""
    rng = np.random.default_rng(1)
    for shift, is_told in ((0.0, True), (1e6, False)):
        problem = problem_of("classes", rng, shift=shift)
        point = next(points(problem, rng))
        look = problem.risk.look(point.short)
        told = curved_sums.pulled_by_sums(problem, point, look, 1e-6, is_new=True)
        assert (told is not None) == is_told


@pytest.mark.parametrize(("loss", "is_told"), [(HINGE, False), (SQUARED_HINGE, True)], ids=str)
def test_slopes_of_a_hinge_are_multiplied(loss, is_told):
    """They do not grow with shortfalls."""
    rng = np.random.default_rng(2)
    problem = problem_of("classes", rng, loss=loss)
    point = next(points(problem, rng))
    view = iterations._view(problem, point, None, 1e-3, is_new=True)
    assert (view.image is not None) == is_told
    assert_allclose(view.residual.w, point.f.w - problem.pulled(view.look.slope), rtol=1e-9, atol=1e-9)


def test_many_changes_are_not_worth_it():
    """A product with X is quicker then; for a new solve the sums are asked for anyway."""
    rng = np.random.default_rng(3)
    problem = problem_of("classes", rng)
    one, other = (problem.point(problem.space.vector(w * np.ones(4)), np.zeros(1)) for w in (3.0, -3.0))
    looks = [problem.risk.look(point.short) for point in (one, other)]
    assert curved_sums.pulled_by_sums(problem, one, looks[0], 1.0, is_new=True) is not None
    assert curved_sums.pulled_by_sums(problem, other, looks[1], 1.0, is_new=False) is None
    assert curved_sums.pulled_by_sums(problem, other, looks[1], 1.0, is_new=True) is not None


def test_a_path_with_squared_slacks_hardly_multiplies_by_the_transpose(monkeypatch):
    """Every C read X three times: for the gradient, for the step and for the bound."""
    rng, calls, whole = np.random.default_rng(4), [], spaces.Columns.pulled
    X = rng.normal(size=(4000, 8))
    y = X @ rng.normal(size=8) + rng.normal(size=4000)
    monkeypatch.setattr(spaces.Columns, "pulled", lambda self, g: calls.append(g.size) or whole(self, g))
    path = c_path(MarginRegressor(loss="squared_epsilon_insensitive"), X, y, np.logspace(-4, 0, 20))
    assert np.all(path.gaps <= 1e-4)
    assert len(calls) <= 4


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_by_sums_are_true(kind):
    """At a wide tolerance, and at a fine one, where rounding counts for more."""
    rng = np.random.default_rng(5)
    X, u = items(rng, n=150)
    rows, map_ = make_rows(kind, u, rng), make_map("linear", X + 30.0)
    for tol in (1e-3, 1e-8):
        shared = Plan(is_shared=True)
        for C in np.geomspace(0.01, 100.0, 12):
            found = rows_newton(rows, map_, C, SQUARED_HINGE, tol=tol, max_iter=200, plan=shared)
            assert_agree(found, exact(rows, map_, C, SQUARED_HINGE), tol, rows, map_, C, SQUARED_HINGE)
