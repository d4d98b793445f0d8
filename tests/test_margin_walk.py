"""Exact solutions that walk along C: against interior points, a twin that solves every system anew, and Clarabel."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import oracles
from widemargin import ComparisonSVM, MarginClassifier, Pairs, RankingSVM
from widemargin._core import _margins_ref, comparisons, maps, margin_walk
from widemargin._core._margins import Margins
from widemargin._core.interior_point import interior_point
from widemargin._core.losses import HINGE
from widemargin._core.margin_walk import MarginWalk
from widemargin.model_selection import c_path

KINDS = ("queries", "weighted list", "ties as margin", "ties both ways", "classes", "targets", "exact targets")
GROWTH = np.array([1.0, 2.0, 4.0, 10.0, 100.0, 1000.0])


def rows_of(kind, u, rng):
    """Return rows of a kind over items whose utilities are about u."""
    n = u.size
    level = np.digitize(u, np.quantile(u, [0.3, 0.6])).astype(np.int64)
    i, j = rng.integers(0, n, (2, 60))
    i, j = i[i != j], j[i != j]
    y = np.sign(np.round(1.5 * (u[i] - u[j]))).astype(np.int64)
    if kind == "queries":
        return comparisons.from_levels(level, np.arange(n) % 4, np.ones(n)).rows()
    if kind == "weighted list":
        return comparisons.from_levels(level, np.zeros(n, np.int64), 0.1 + rng.random(n)).rows()
    if kind == "ties as margin":
        return comparisons.from_ties_as_margin(i, j, y, np.ones(i.size), n)
    if kind == "ties both ways":
        return comparisons.from_ties_both_ways(i, j, y, np.ones(i.size), n, closed_form=True)
    if kind == "classes":
        return comparisons.from_classes(np.where(u > np.median(u), 1.0, -1.0), np.ones(n))
    return comparisons.from_targets(u, 0.1 if kind == "targets" else 0.0, np.ones(n))


def problem(kind, seed, *, gram, coarse=False, n=40):
    """Return rows and a map; coarse features make many items alike."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X = np.round(X) if coarse else X
    rows = rows_of(kind, X[:, 0] + 0.3 * rng.normal(size=n), rng)
    if not gram:
        return rows, maps.LinearMap(X)
    return rows, maps.KernelMap(np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=-1)))


def begun(rows, map_, C, tol=1e-3):
    """Return a walk from a solution to a rough gap."""
    rough = interior_point(rows, map_, C, HINGE, tol=tol, max_iter=100)
    walk = MarginWalk(rows, map_)
    assert walk.begin(C, map_.forward_exact(rough.weights), rough.levels, max(rough.objective - rough.dual, 1e-6))
    return walk


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("gram", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_walk_arrives_at_the_optimum(kind, gram, coarse):
    """At every C on the way, with true bounds, and multipliers that make the model."""
    rows, map_ = problem(kind, 3, gram=gram, coarse=coarse)
    walk = begun(rows, map_, 0.01)
    for C in 0.01 * GROWTH:
        found = walk.to(C, 1e-8)
        best = interior_point(rows, map_, C, HINGE, tol=1e-10, max_iter=300)
        assert found.objective == pytest.approx(best.objective, rel=1e-8)
        assert found.dual <= best.objective * (1 + 1e-10)
        assert_allclose(map_.adjoint_exact(found.coefficients), found.weights)
        assert found.dual_norm == pytest.approx(map_.squared_norm(found.weights), rel=1e-9)


@pytest.mark.parametrize("gram", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_sides_and_multipliers_are_optimal(kind, gram):
    """Rows short of their margins have their whole cost, those beyond none, the others anything between."""
    rows, map_ = problem(kind, 5, gram=gram)
    walk = begun(rows, map_, 0.1)
    found, a, side = walk.to(0.5, 1e-8), walk.core.a, walk.core.side
    gap = rows.D @ map_.forward_exact(found.weights) + walk.e * walk.core.level - rows.margin
    assert np.all(gap[side == 2] <= 1e-9)
    assert np.all(gap[side == 0] >= -1e-9)
    assert_allclose(gap[side == 1], 0.0, atol=1e-9)
    assert_allclose(a[side == 2], 0.5 * rows.weight[side == 2])
    assert_allclose(a[side == 0], 0.0)
    assert np.all((a >= -1e-12) & (a <= 0.5 * rows.weight + 1e-12))
    assert rows.E.T @ a == pytest.approx(np.zeros(rows.E.shape[1]), abs=1e-9)


@pytest.mark.parametrize("gram", [False, True])
@pytest.mark.parametrize("kind", KINDS[:-1])  # the twin is not careful enough for rows that are each other's negative
def test_compiled_events_are_those_of_the_twin(kind, gram, monkeypatch):
    """To the same model; as many, and to the same multipliers, where no row is a sum of others."""
    rows, map_ = problem(kind, 7, gram=gram)
    walk = begun(rows, map_, 0.05)
    monkeypatch.setattr(margin_walk, "Margins", _margins_ref.Margins)
    twin = begun(rows, map_, 0.05)
    for C in (0.05, 0.1, 0.4):
        ours, other = walk.to(C, 1e-8), twin.to(C, 1e-8)
        assert_allclose(ours.weights, other.weights, atol=1e-9)
        if kind in {"classes", "targets"}:
            assert ours.n_iter == other.n_iter
            assert_allclose(walk.core.a, twin.core.a, atol=1e-9)
        assert walk.core.level == pytest.approx(twin.core.level, abs=1e-9)


@pytest.mark.parametrize("kind", ["ties as margin", "classes", "targets"])
@pytest.mark.parametrize("level", [-5.0, 0.3, 5.0])
@pytest.mark.parametrize("margins", [Margins, _margins_ref.Margins])
def test_a_level_that_no_row_holds_goes_to_one_that_can(margins, level, kind, monkeypatch):
    """Where the multipliers do not balance; nothing is held at the start."""
    monkeypatch.setattr(margin_walk, "Margins", margins)
    rows, map_ = problem(kind, 19, gram=True)
    walk = MarginWalk(rows, map_)
    assert walk.begin(0.1, np.zeros(map_.n_items), np.array([level]), 0.0)
    assert walk.core.k == 0
    best = interior_point(rows, map_, 0.1, HINGE, tol=1e-10, max_iter=300)
    assert walk.to(0.1, 1e-8).objective == pytest.approx(best.objective, rel=1e-8)


@pytest.mark.parametrize("kind", ["classes", "targets"])
def test_a_walk_at_a_tiny_c_is_not_led_by_rounding(kind):
    """There the level alone decides, and a multiplier that is zero stays so but for its last digits."""
    for seed in range(15):
        rows, map_ = problem(kind, seed, gram=True, n=40 if kind == "classes" else 10)
        assert begun(rows, map_, 1e-6, tol=1e-2).to(1e-6, 1e-8) is not None


@pytest.mark.parametrize("seed", [30, 52])
def test_a_level_obeys_rows_of_little_weight(seed):
    """A share of 1e-7 passes for nothing where the best level is looked for; at a large C it is not."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(8, 3))
    weight = 10.0 ** rng.uniform(-5.0, 5.0, 8)
    rows, map_ = comparisons.from_classes(np.where(X[:, 0] > 0.0, 1.0, -1.0), weight), maps.LinearMap(X)
    found = begun(rows, map_, 1e-3).to(1e6, 1e-6)
    best = interior_point(rows, map_, 1e6, HINGE, tol=1e-10, max_iter=300)
    assert found.objective == pytest.approx(best.objective, rel=1e-6)


def test_there_is_no_walk_where_no_margin_has_a_size():
    """All targets are met by zero: there is nothing to measure distances by."""
    rows = comparisons.from_targets(np.zeros(5), 0.0, np.ones(5))
    assert not MarginWalk(rows, maps.LinearMap(np.eye(5))).begin(1.0, np.ones(5), np.zeros(1), 1e-3)


@pytest.mark.parametrize("size", [0.01, 0.3, 3.0])
def test_a_walk_from_afar_arrives_or_says_so(size):
    """Whatever utilities it begins with, and however good they are said to be."""
    rows, map_ = problem("queries", 11, gram=True)
    best = interior_point(rows, map_, 1.0, HINGE, tol=1e-10, max_iter=300)
    arrived = 0
    for seed in range(8):
        u = map_.forward_exact(best.weights) + size * np.random.default_rng(seed).normal(size=map_.n_items)
        walk = MarginWalk(rows, map_)
        found = walk.to(1.0, 1e-8) if walk.begin(1.0, u, np.zeros(0), 1e-3 * best.objective) else None
        if found is not None:
            arrived += 1
            assert found.objective == pytest.approx(best.objective, rel=1e-8)
    assert arrived >= 6


def test_walks_end_at_their_limit(monkeypatch):
    """Then there is no solution, and the caller asks another solver."""
    rows, map_ = problem("weighted list", 13, gram=True)
    walk = begun(rows, map_, 0.01)
    monkeypatch.setattr(MarginWalk, "_limit", lambda _: 3)
    assert walk.to(10.0, 1e-8) is None


def test_far_rows_are_looked_at_in_time(monkeypatch):
    """However few rows are near to begin with, events are the same."""
    rows, map_ = problem("classes", 17, gram=True, n=200)
    found = {}
    for share in (1e-3, 0.05, 1.0 - 1e-9):
        monkeypatch.setattr(margin_walk, "NEAR", share)
        walk = begun(rows, map_, 0.01)
        found[share] = [walk.to(C, 1e-8) for C in (0.02, 1.0, 30.0)]
    assert sum(model.n_iter for model in found[0.05]) > 100
    for one, other, all_rows in zip(*found.values(), strict=True):
        assert one.n_iter == other.n_iter == all_rows.n_iter
        assert_allclose(one.weights, all_rows.weights, atol=1e-9)


def steep(n=120, n_queries=6):
    """Return graded queries that a kernel nearly separates."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    u = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)
    return X, np.digitize(u, np.quantile(u, [0.25, 0.5, 0.75])), np.arange(n) % n_queries


def test_steep_paths_walk_and_agree_with_clarabel(monkeypatch):
    """From the first C on at which Newton takes many steps; each model is what it would be alone."""
    monkeypatch.setattr("widemargin._solving.WALK_STEPS", (8, 0.0, 0.0))
    monkeypatch.setattr("widemargin._core.prices.implicit_pairs", lambda *_: np.inf)  # few items: it would be cheaper
    X, y, qid = steep()
    Cs, model = np.geomspace(1e-2, 1e3, 9), RankingSVM(kernel="rbf", gamma="scale")
    path = c_path(model, X, y, Cs, qid=qid)
    solvers = [m.solver_ for m in path.estimators]
    assert solvers == sorted(solvers, reverse=True)  # newton, then the walk
    assert solvers.count("margin_walk") >= 4
    rows = oracles.ranking_rows(y, qid)
    for C, fitted in zip(Cs[-3:], path.estimators[-3:], strict=True):
        assert fitted.duality_gap_ <= 1e-8
        assert fitted.objective_ == pytest.approx(oracles.two_norm(rows, X, C=C, kernel="rbf").objective, rel=1e-6)


@pytest.mark.parametrize("ties", ["margin", "threshold", "both_ways"])
def test_votes_walk_along_c(ties, monkeypatch):
    """Explicit rows, with a level or none, as each C alone."""
    monkeypatch.setattr("widemargin._solving.WALK_STEPS", (3, 0.0, 0.0))
    rng = np.random.default_rng(1)
    X, ends = rng.normal(size=(60, 3)), rng.integers(0, 60, (300, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    y = np.sign(np.round(X[ends[:, 0], 0] - X[ends[:, 1], 0] + 0.3 * rng.normal(size=ends.shape[0]))).astype(int)
    Cs, model = np.geomspace(1e-2, 1e3, 8), ComparisonSVM(ties=ties)
    path = c_path(model, Pairs(X, ends), y, Cs)
    assert "margin_walk" in [m.solver_ for m in path.estimators]
    for C, fitted in zip(Cs, path.estimators, strict=True):
        alone = ComparisonSVM(ties=ties, C=C, tol=1e-9).fit(Pairs(X, ends), y)
        assert fitted.objective_ == pytest.approx(alone.objective_, rel=1e-4)
        if fitted.solver_ == "margin_walk":
            assert fitted.objective_ == pytest.approx(alone.objective_, rel=1e-8)


def test_a_walk_that_fails_is_not_missed(monkeypatch):
    """Other solvers take its place, and it is not tried again."""
    monkeypatch.setattr("widemargin._solving.WALK_STEPS", (3, 0.0, 0.0))
    tried = []
    monkeypatch.setattr(MarginWalk, "to", lambda _, C, tol: tried.append((C, tol)))
    X, y, qid = steep()
    path = c_path(RankingSVM(kernel="rbf", gamma=0.3), X, y, np.geomspace(1e-2, 1e2, 6), qid=qid)
    assert len(tried) == 1
    assert path.gaps.max() <= 1e-4


def test_squared_slacks_and_fits_of_their_own_do_not_walk(monkeypatch):
    """A squared hinge has no pieces; one C has no way."""
    monkeypatch.setattr("widemargin._solving.WALK_STEPS", (0, 0.0, 0.0))
    X, y, qid = steep()
    squared = c_path(RankingSVM(kernel="rbf", loss="squared_hinge"), X, y, [0.1, 1.0], qid=qid)
    assert "margin_walk" not in {m.solver_ for m in squared.estimators}
    alone = MarginClassifier(kernel="rbf").fit(X, y > 1)
    assert alone.solver_ != "margin_walk"


@pytest.mark.parametrize("n", [40, 4000])
def test_a_walk_in_columns_ends_however_many_the_rows(n, monkeypatch):
    """An interior point there costs what some hundred events do; millions were allowed, and some paths took hours."""
    rows, map_ = problem("targets", 0, gram=False, n=n)
    walk, taken, step = begun(rows, map_, 1e-3, tol=1e-6), [], MarginWalk._walk
    monkeypatch.setattr(MarginWalk, "_walk", lambda *args: taken.append(step(*args)) or taken[-1])
    found = walk.to(1e6, 1e-6)
    assert sum(taken) <= 2 * margin_walk.PLAIN  # to where margins belong, and on
    assert found is None or found.gap <= 1e-6
