"""Coordinates of Newton over explicit rows: all ways lead to one optimum, in the precision that it takes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from widemargin import ComparisonSVM, Pairs
from widemargin._core import comparisons, kernels, maps
from widemargin._core.interior_point import interior_point
from widemargin._core.losses import HINGE, SQUARED_HINGE
from widemargin._core.rows_newton import Plan, differences, layout, rows_newton
from widemargin._core.solution import Status
from widemargin.model_selection import c_path

RBF = kernels.RBF(0.3)


def votes(n_items, n_pairs, noise=1.0, seed=0):
    """Return items, pairs of two different ones, and outcomes of which about half are ties."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_items, 3))
    index = rng.integers(0, n_items, (n_pairs, 2))
    index[:, 1] = np.where(index[:, 0] == index[:, 1], (index[:, 0] + 1) % n_items, index[:, 1])
    s = X[index[:, 0], 0] ** 2 - X[index[:, 1], 0] ** 2 + noise * rng.normal(size=n_pairs)
    return X, index, np.where(np.abs(s) < np.median(np.abs(s)), 0, np.sign(s)).astype(np.int64)


def rows_of(index, y, n_items):
    """Return the rows of comparisons with ties as a margin."""
    return comparisons.from_ties_as_margin(*index.T, y, np.ones(len(y)), n_items)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_differences_by_way_of_items_are_the_same_matrix(dtype):
    """Products, corners and exact products, of all differences and of the leading ones."""
    X, index, y = votes(60, 400)
    found, against = differences.distinct_differences(rows_of(index, y, 60)), maps.ItemsMap(RBF, X).against
    paired, gram = found.paired(against, dtype), found.gram(against, dtype)
    rng = np.random.default_rng(1)
    w, g, some = rng.normal(size=found.size), rng.normal(size=found.size), np.arange(1, found.size, 3)
    rough = 1e-5 if dtype == np.float32 else 1e-12
    assert paired.n_items == gram.n_items == found.size > 256  # so that leading ones are some
    assert_allclose(paired.vector(w).u, gram.vector(w).u, atol=20 * rough)
    assert_allclose(paired.diag(), gram.diag(), atol=rough)
    assert_allclose(np.tril(paired.corner(some)), np.tril(gram.corner(some)), atol=rough)
    for one, other in zip(paired.exact(w, g), gram.exact(w, g), strict=True):
        assert_allclose(one.u, other.u, atol=1e-11)
    assert_allclose(
        paired.at(np.arange(256)).vector(w[:256]).u, gram.at(np.arange(256)).vector(w[:256]).u, atol=20 * rough
    )


WAYS = {
    "differences": (400, 150, {}),
    "paired": (80, 300, {}),
    "features": (30, 300, {}),
    "items": (80, 300, {"WHOLE": 0}),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE], ids=["hinge", "squared"])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_every_way_leads_to_the_optimum(way, loss, C, monkeypatch):
    """Few pairs over many items, some more, very many more, and items too many for a whole matrix."""
    n_items, n_pairs, limits = WAYS[way]
    for name, limit in limits.items():
        monkeypatch.setattr(layout, name, limit)
    X, index, y = votes(n_items, n_pairs)
    rows = rows_of(index, y, n_items)
    n = differences.distinct_differences(rows).size
    assert layout.Way.of(rows, n, n_items) is layout.Way[way.upper()]
    found = rows_newton(rows, maps.ItemsMap(RBF, X), C, loss, tol=1e-4, max_iter=200)
    oracle = interior_point(rows, maps.KernelMap(RBF(X, X)), C, loss, tol=1e-10, max_iter=500)
    assert found.status is Status.CONVERGED
    assert found.dual <= oracle.objective * (1 + 1e-9)
    assert found.objective <= oracle.objective * (1 + 1e-4)


def test_memory_is_that_of_the_way():
    """Of what is not there yet, in the precision that is wanted."""
    X, index, y = votes(80, 300)
    rows, map_, plan = rows_of(index, y, 80), maps.ItemsMap(RBF, X), Plan()
    assert layout.gram_bytes(rows, map_, plan, 1e-3, 1.0) == 4 * 80**2
    assert layout.gram_bytes(rows, map_, plan, 1e-8, 1.0) == 8 * 80**2
    rows_newton(rows, map_, 1.0, HINGE, tol=1e-3, max_iter=200, plan=plan)
    assert layout.gram_bytes(rows, map_, plan, 1e-3, 2.0) == 0
    assert layout.gram_bytes(rows, map_, plan, 1e-3, 1e4) == 8 * 80**2
    assert layout.gram_bytes(rows, maps.LinearMap(X), Plan(), 1e-3, 1.0) == 0


def test_rounded_values_that_fail_are_replaced_before_the_interior_point_is_asked(monkeypatch):
    """A C that float32 values cannot follow: alone and at the end of a path the gap is reached by Newton."""
    monkeypatch.setattr(layout, "STEEP", np.inf)
    X, index, y = votes(700, 3600, noise=0.05, seed=3)
    model = ComparisonSVM(C=1e4, kernel=RBF, ties="threshold", tol=1e-4).fit(Pairs(X, index), y)
    assert (model.solver_, model.converged_) == ("newton", True)
    monkeypatch.setattr("widemargin._solving.WALK_VALUES", 0)  # a walk would take the second C
    path = c_path(model, Pairs(X, index), y, [1.0, 1e4])
    assert [one.solver_ for one in path.estimators] == ["newton", "newton"]
    assert path.gaps.max() <= 1e-4
    assert path.estimators[1].objective_ == pytest.approx(model.objective_, rel=2e-4)


def test_the_exact_values_of_a_path_are_computed_once():
    """They certify what rounded ones led to, and Newton works on them where C is large."""
    X, index, y = votes(1500, 700)
    rows, n_asked = rows_of(index, y, 1500), 0
    map_, plan = maps.ItemsMap(RBF, X), Plan(is_shared=True)

    class Counting:
        def against(self, right, dtype):
            nonlocal n_asked
            n_asked += 1
            return map_.against(right, dtype)

        def __getattr__(self, name):
            return getattr(map_, name)

    rows_newton(rows, Counting(), 1.0, HINGE, tol=1e-3, max_iter=200, plan=plan)
    before, rounded = n_asked, plan.setting.problem.space
    found = rows_newton(rows, Counting(), 1e3, HINGE, tol=1e-3, max_iter=200, plan=plan)
    assert n_asked == before > 0
    assert rounded.dtype == np.float32
    assert plan.setting.problem.space.half is rounded.exact_half
    assert found.status is Status.CONVERGED
    w = np.random.default_rng(0).normal(size=(rounded.n_items, 2))
    assert_allclose(rounded.products(w), rounded.exact_half.product(w), rtol=1e-12)
