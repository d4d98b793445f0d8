"""The Hessian over columns is B'HB whatever it was made from: nothing, or the last one and the rows that changed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from test_rows_newton import assert_agree, exact, items, make_map, make_rows
from widemargin._core import _rows_ref as ref
from widemargin._core.losses import HINGE, SQUARED_HINGE
from widemargin._core.row_risk import RowsRisk
from widemargin._core.rows_newton import Plan, column_hessian, curved_sums, rows_newton, spaces
from widemargin._core.rows_newton.problem import Problem

KINDS = ("classes", "targets", "pairs", "ties", "both_ways")  # rows with slacks of their own


def plain(problem, look):
    """Return B'HB written out, its lower half."""
    B = np.column_stack([problem.rows.D @ problem.space.X.astype(float), problem.rows.E])
    return np.tril(B.T @ (look.curvature[:, None] * B))


def made(monkeypatch):
    """Return the list that counts the rows from which each Hessian, or change of it, was made."""
    sizes, whole = [], curved_sums._add
    monkeypatch.setattr(curved_sums, "_add", lambda *a: sizes.append(a[3].size) or whole(*a))
    return sizes


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_hessian_is_the_one_made_anew(kind, loss, dtype, monkeypatch):
    """Over many small moves, written out some rows at a time."""
    monkeypatch.setattr(curved_sums, "ENTRIES", 64)
    rng = np.random.default_rng(0)
    X, u = items(rng, n=60)
    rows = make_rows(kind, u, rng)
    problem = Problem(RowsRisk(rows, loss, h=0.8), spaces.Columns(X.astype(dtype)), 1.0)
    short, sizes = rng.normal(size=rows.margin.size), made(monkeypatch)
    for _ in range(30):
        look = problem.risk.look(short)
        expected = plain(problem, look)
        assert_allclose(np.tril(column_hessian.column_hessian(problem, look)), expected, atol=1e-12 * expected.max())
        short = short + 0.02 * rng.normal(size=short.size)
    assert sum(sizes) < 15 * rows.margin.size  # not 30 times from nothing


def test_what_is_lost_in_rounding_is_made_anew():
    """Where the heaviest rows leave, what remains of them in the sums would be as large as the others."""
    rng = np.random.default_rng(1)
    X, u = items(rng, n=60)
    rows = make_rows("classes", u, rng)
    heavy = np.where(np.arange(rows.weight.size) < 10, 1e14, 1.0)
    rows = type(rows)(rows.D, rows.E, rows.margin, heavy)
    problem = Problem(RowsRisk(rows, SQUARED_HINGE), spaces.Columns(X), 1.0)
    short = np.ones(rows.margin.size)
    column_hessian.column_hessian(problem, problem.risk.look(short))
    short[:10] = -1.0
    look = problem.risk.look(short)
    assert_allclose(np.tril(column_hessian.column_hessian(problem, look)), plain(problem, look), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_a_path_with_squared_slacks_changes_its_hessian_and_is_right(kind, monkeypatch):
    """From one C to the next few rows change sides, and the optimum is the exact one."""
    rng = np.random.default_rng(2)
    X, u = items(rng, n=150)
    rows, map_, shared, sizes = make_rows(kind, u, rng), make_map("linear", X), Plan(is_shared=True), made(monkeypatch)
    Cs = np.geomspace(0.01, 1.0, 12)
    for C in Cs:
        found = rows_newton(rows, map_, C, SQUARED_HINGE, tol=1e-6, max_iter=200, plan=shared)
        assert_agree(found, exact(rows, map_, C, SQUARED_HINGE), 1e-6, rows, map_, C, SQUARED_HINGE)
    assert 0 < sum(sizes) < 0.5 * Cs.size * rows.margin.size


def test_sums_of_several_groups_read_x_once():
    """As one product for each, in any layout of X; the loop and its twin."""
    rng = np.random.default_rng(3)
    for n in (0, 3, 64, 3001):
        X, G = rng.normal(size=(n, 7)), rng.normal(size=(3, n))
        for some in (X, X.astype(np.float32), np.asfortranarray(X), X[:, ::2]):
            space, expected = spaces.Columns(some), ref.pull_each(some, G)
            assert_allclose(space.pulled_each(G), expected, rtol=1e-10, atol=1e-10)
            assert_allclose([space.pulled(g) for g in G], expected, rtol=1e-10, atol=1e-10)
