"""The 1-norm machines along a path of C: every answer is that of a lone solve, whoever found it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from widemargin import RankingVectorMachine
from widemargin._core.comparisons import from_levels
from widemargin._core.one_norm import VectorPath, machine, path, ranking_vectors
from widemargin._core.one_norm.problem import Bracket
from widemargin._core.one_norm.vertex_walk import LostError, VertexWalk
from widemargin._core.solution import Status
from widemargin.model_selection import c_path

TIGHT = {"tol": 1e-9, "max_iter": 300}
GRID = np.geomspace(1e-4, 1e4, 12)
KINDS = ["strict", "ties", "queries", "weights", "duplicates", "rbf"]


def data(kind, n=40):
    """Return a kernel matrix, of rank 3 but for "rbf", and levels."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 3))
    if kind == "duplicates":
        X[n // 2 :] = X[: n - n // 2]
    u = X @ [1.0, -0.5, 0.2] + 0.5 * rng.normal(size=n)
    y = np.digitize(u, [-1.0, 0.0, 1.0]) if kind == "ties" else np.argsort(np.argsort(u))
    group = np.arange(n) % 3 if kind == "queries" else np.zeros(n, dtype=np.int64)
    weight = rng.uniform(0.5, 2.0, n) if kind == "weights" else np.ones(n)
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(-1)) if kind == "rbf" else X @ X.T
    return K, from_levels(y.astype(np.int64), group.astype(np.int64), weight)


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ["up", "down", "mixed"])
def test_a_path_gives_what_lone_solves_give(kind, positive, order):
    """Objectives and models agree for every C in any order, and the bounds are true."""
    K, levels = data(kind)
    Cs = {"up": GRID, "down": GRID[::-1], "mixed": np.random.default_rng(0).permutation(GRID)}[order]
    along = VectorPath(K, levels, positive=positive)
    for C in Cs.tolist():
        found, alone = along.solve(C, **TIGHT), ranking_vectors(K, levels, C, positive=positive, **TIGHT)
        assert found.status is Status.CONVERGED
        assert found.gap <= 1e-9
        assert found.objective == pytest.approx(alone.objective, rel=1e-8)
        assert found.dual <= alone.objective * (1 + 1e-10)
        u, v = levels.pairs()
        slack = np.maximum(0.0, 1.0 - (K[u] - K[v]) @ found.weights)
        value = np.abs(found.weights).sum() + C * (levels.weight[u] * levels.weight[v]) @ slack
        assert found.objective == pytest.approx(value, rel=1e-9)
        assert not positive or found.weights.min() >= 0.0


@pytest.mark.parametrize("kind", ["strict", "ties", "weights"])
def test_low_rank_kernels_are_walked(kind, monkeypatch):
    """After the first C no interior point is needed, and the vertices are the models of lone solves."""
    K, levels = data(kind)
    along = VectorPath(K, levels, positive=False)
    along.solve(GRID[0], **TIGHT)
    alone = [ranking_vectors(K, levels, C, positive=False, **TIGHT).weights for C in GRID[1:].tolist()]
    monkeypatch.setattr(machine.Machine, "solve", lambda *_, **__: pytest.fail("solved by an interior point"))
    for C, want in zip(GRID[1:].tolist(), alone, strict=True):
        assert_allclose(along.solve(C, **TIGHT).weights, want, atol=1e-7 * np.abs(want).max(initial=1.0))


def test_a_lost_walk_leaves_the_interior_point(monkeypatch):
    """A walk that needs too many pivots is given up for good, and costs no answer."""
    K, levels = data("rbf")
    tries = []

    def lost(_, C, limit):  # noqa: ARG001
        tries.append(C)
        raise LostError

    monkeypatch.setattr(VertexWalk, "to", lost)
    along = VectorPath(K, levels, positive=False)
    for C in (0.01, 0.1, 1.0):
        want = ranking_vectors(K, levels, C, positive=False, **TIGHT)
        assert_allclose(along.solve(C, **TIGHT).weights, want.weights, atol=0)
    assert len(tries) == 1


def test_a_wrong_vertex_is_refused(monkeypatch):
    """A walk that stops anywhere is judged by the data, not believed."""
    K, levels = data("strict")
    monkeypatch.setattr(VertexWalk, "to", lambda *_, **__: None)
    monkeypatch.setattr(path.optimal_face, "jump", lambda *_: False)
    along = VectorPath(K, levels, positive=False)
    for C in (0.01, 1.0):
        want = ranking_vectors(K, levels, C, positive=False, **TIGHT)
        assert along.solve(C, **TIGHT).objective == pytest.approx(want.objective, rel=1e-9)


@pytest.mark.parametrize("positive", [True, False])
def test_the_walk_alone_ends_at_an_optimal_vertex(positive):
    """With as many pivots as it needs, on a kernel of full rank: as many vectors as held pairs, and a closed gap."""
    K, levels = data("rbf")
    posed = machine.pose_vectors(K, levels, positive=positive).machine
    walk = VertexWalk(posed.problem(0.2))
    for C in (0.2, 1.0):
        walk.to(C * posed.kappa, limit=5000)
        bracket = Bracket(posed.problem(C))
        assert walk.offer(bracket)
        assert bracket.gap <= 1e-6
        want = ranking_vectors(K, levels, C, positive=positive, **TIGHT).objective
        assert bracket.upper / posed.kappa == pytest.approx(want, rel=1e-6)
        assert np.count_nonzero(bracket.x) == np.count_nonzero(walk.at.side == 0) == walk.at.k > 5
    with pytest.raises(LostError):
        walk.to(10.0 * posed.kappa, limit=3)


@pytest.mark.parametrize("vectors", ["points", "pairs"])
def test_when_no_margin_is_missed_a_larger_C_costs_nothing(vectors, monkeypatch):
    """From the first C without slack on, the model stays, and so does its proof."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15, 2))
    y = X @ [2.0, 1.0]
    estimator = RankingVectorMachine(kernel="rbf", gamma=0.5, vectors=vectors)
    solved = []
    solve = machine.Machine.solve

    def noted(self, C, *how, **more):
        solved.append(C)
        return solve(self, C, *how, **more)

    monkeypatch.setattr(machine.Machine, "solve", noted)
    monkeypatch.setattr(path.MachinePath, "_walked", lambda *_: None)
    Cs = [1e3, 1e6, 1e7, 1e8]
    along = c_path(estimator, X, y, Cs)
    assert solved == Cs[: len(solved)]
    assert len(solved) <= 2
    alone = clone(estimator).set_params(C=1e8).fit(X, y)
    assert along.objectives[-1] == pytest.approx(alone.objective_, rel=1e-6)
    assert along.gaps.max() <= 1e-6
    assert vectors == "points" or along.estimators[-1].pairs_.shape == (along.estimators[-1].pair_coef_.size, 2)


def test_a_loose_tolerance_does_not_loosen_a_path():
    """With tol = 0.1 a path still agrees with fits to 1e-6 of the objective."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    y = np.round(X @ [1.0, 2.0, 0.0] + rng.normal(size=40), 1)
    estimator = RankingVectorMachine(tol=0.1)
    along = c_path(estimator, X, y, GRID[2:])
    alone = [clone(estimator).set_params(C=C).fit(X, y).objective_ for C in GRID[2:]]
    assert_allclose(along.objectives, alone, rtol=1e-6)
