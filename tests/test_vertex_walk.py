"""The walk along vertices: every pivot is its twin's, every answer that of HiGHS."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

from widemargin._core import _walk_ref as ref
from widemargin._core import pairs_machine
from widemargin._core.comparisons import from_levels
from widemargin._core.one_norm import VectorPath, chains, machine, pair_graph, vertex_walk
from widemargin._core.one_norm import path as path_module
from widemargin._core.one_norm.problem import Bracket
from widemargin._core.one_norm.vertex_walk import LostError, VertexWalk
from widemargin._core.solution import Status

APART = ["strict", "ties", "queries", "weights", "linear"]
KINDS = [*APART, "duplicates", "same"]


def data(kind, n=24):
    """Return a kernel matrix and levels; "same": duplicates with different levels."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, 3))
    if kind in ("duplicates", "same"):
        X[n // 2 :] = X[: n - n // 2]
    u = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n) * (kind != "duplicates")
    y = np.digitize(u, [-0.5, 0.5]) if kind == "ties" else np.unique(u, return_inverse=True)[1]
    group = np.arange(n) % 3 if kind == "queries" else np.zeros(n, dtype=np.int64)
    weight = rng.uniform(0.5, 2.0, n) if kind == "weights" else np.ones(n)
    K = X @ X.T if kind == "linear" else np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(-1))
    return K, from_levels(y.astype(np.int64), group.astype(np.int64), weight)


def by_highs(K, levels, C, *, positive, over_pairs=False):
    """Return the least sum |a| + C sum of weighted slacks, by a general solver."""
    u, v = levels.pairs()
    B, cap = K[u] - K[v], C * levels.weight[u] * levels.weight[v]
    B = B[:, u] - B[:, v] if over_pairs else B
    A = -np.hstack([B, -B, np.eye(u.size)] if not positive else [B, np.eye(u.size)])
    cost = np.concatenate([np.ones(A.shape[1] - u.size), cap])
    return linprog(cost, A_ub=A, b_ub=-np.ones(u.size), bounds=(0, None), method="highs").fun


def posed(kind, *, positive, n=24, over_pairs=False):
    K, levels = data(kind, n)
    over = pairs_machine.PairPath(K, levels, positive=positive) if over_pairs else None
    machine_ = over.answers.machine if over else machine.pose_vectors(K, levels, positive=positive).machine
    return machine_, VertexWalk(machine_.problem(1.0))


def vertex_of(at):
    """Return the sets of a walk as its twin has them."""
    signs = dict(zip(at.columns[: at.k].tolist(), at.signs[: at.k].tolist(), strict=True))
    return ref.Vertex(tuple(sorted(at.rows[: at.k].tolist())), signs, at.side.astype(np.int64))


def assert_same_vertex(have, want):
    assert have.rows == want.rows
    assert have.signs == want.signs
    assert_array_equal(have.side, want.side)


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("kind", APART)  # of two equal items either may come first
def test_a_pivot_is_that_of_its_twin(kind, positive):
    """From one C to a larger one and back, vertex by vertex."""
    machine_, walk = posed(kind, positive=positive)
    pairs = ref.Pairs(walk.better, walk.worse, walk.graph.weight, walk.goal)
    n = 0
    for C in (0.1, 3.0, 0.5):
        while True:
            want = ref.pivot(walk.K, pairs, vertex_of(walk.at), C * machine_.kappa, positive=positive)
            arrived = walk.at.walk(C * machine_.kappa, 1)
            have = vertex_of(walk.at)
            if want is None:
                assert arrived
                break
            n += 1
            assert_same_vertex(have, want)
    assert n == walk.n_pivots > 5


@pytest.mark.parametrize("kind", ["strict", "queries"])
def test_a_walk_chooses_among_all_edges_and_then_among_the_likely(kind):
    """Its first pivots, one a call, are those of the twin; in one go it ends at the same vertex."""
    K, levels = data(kind, 160)
    machine_ = machine.pose_vectors(K**20, levels, positive=False).machine
    walk, other = (VertexWalk(machine_.problem(1.0)) for _ in range(2))
    pairs = ref.Pairs(walk.better, walk.worse, walk.graph.weight, walk.goal)
    C = 0.5 * machine_.kappa
    for one in (walk, other):
        one.to(C, limit=5000)
    before = walk.n_pivots
    assert walk.at.k > 90
    for _ in range(20):
        want = ref.pivot(walk.K, pairs, vertex_of(walk.at), 1.2 * C, positive=False)
        walk.at.walk(1.2 * C, 1)
        assert_same_vertex(vertex_of(walk.at), want)
    for one in (walk, other):
        one.to(1.2 * C, limit=5000)
    assert walk.n_pivots - before > 50  # the likely edges were chosen a few times
    assert_same_vertex(vertex_of(walk.at), vertex_of(other.at))


@pytest.mark.parametrize("over_pairs", [True, False])
@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_what_pivots_update_is_what_the_sets_give(kind, positive, over_pairs):
    """After a whole walk the edges, the coefficients, the utilities and the pull are those computed anew."""
    machine_, walk = posed(kind, positive=positive, over_pairs=over_pairs)
    for C in (0.2, 2.0, 0.4):
        assert walk.at.walk(C * machine_.kappa, 1000)
        at, k = walk.at, walk.at.k

        def kept():
            return [np.array(x) for x in (at.edges[:k, : len(walk.K) + k], at.coefficients[:k], at.s, at.pull)]  # noqa: B023

        updated = kept()
        walk.refresh()
        for have, want in zip(updated, kept(), strict=True):
            assert_allclose(have, want, rtol=1e-7, atol=1e-9 * np.abs(want).max(initial=1.0))
        assert_allclose(at.signs[:k] * at.coefficients[:k], np.abs(at.coefficients[:k]))


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_path_has_the_objectives_of_highs(kind, positive):
    """At every C, duplicates and ties included, with true bounds."""
    K, levels = data(kind)
    along = VectorPath(K, levels, positive=positive)
    for C in np.geomspace(1e-3, 1e2, 8).tolist():
        found = along.solve(C, 1e-8, 300)
        want = by_highs(K, levels, C, positive=positive)
        assert found.status is Status.CONVERGED
        assert found.gap <= 1e-8
        assert found.objective == pytest.approx(want, rel=1e-8)
        assert found.dual <= want * (1 + 1e-9)


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_path_over_pairs_has_the_objectives_of_highs(kind, positive):
    """At every C; the coefficients are those of the pairs, and their flow that of the items."""
    K, levels = data(kind, 14)
    along = pairs_machine.PairPath(K, levels, positive=positive)
    for C in np.geomspace(1e-2, 1e2, 6).tolist():
        found, pairs, alpha = along.solve(C, 1e-8, 300)
        want = by_highs(K, levels, C, positive=positive, over_pairs=True)
        assert found.status is Status.CONVERGED
        assert found.gap <= 1e-8
        assert found.objective == pytest.approx(want, rel=1e-8)
        assert found.dual <= want * (1 + 1e-9)
        assert np.all(levels.level[pairs[:, 0]] > levels.level[pairs[:, 1]])
        assert not positive or alpha.min(initial=0.0) >= 0.0
        b = np.bincount(pairs[:, 0], alpha, len(K)) - np.bincount(pairs[:, 1], alpha, len(K))
        assert_allclose(found.weights, b, atol=1e-12 * np.abs(b).max(initial=1.0))


@pytest.mark.parametrize("kind", ["strict", "ties", "queries", "weights", "linear"])
def test_a_path_over_pairs_is_walked(kind, monkeypatch):
    """No interior point is needed, and the models are those of lone solves."""
    K, levels = data(kind, 30)
    Cs = np.geomspace(1e-2, 1e1, 6).tolist()
    how = {"positive": False, "tol": 1e-8, "max_iter": 300}
    alone = [pairs_machine.ranking_pairs(K, levels, C, **how)[0].weights for C in Cs]
    monkeypatch.setattr(machine.Machine, "solve", lambda *_, **__: pytest.fail("solved by an interior point"))
    along = pairs_machine.PairPath(K, levels, positive=False)
    for C, want in zip(Cs, alone, strict=True):
        have = along.solve(C, 1e-6, 300)[0].weights
        assert_allclose(have, want, atol=1e-7 * np.abs(want).max(initial=1.0))


@pytest.mark.parametrize("kind", ["strict", "ties", "queries"])
def test_chains_carry_what_pairs_have(kind):
    """Any coefficients of pairs, as flow along the levels: it is conserved, delivers b and costs no more."""
    _, levels = data(kind)
    graph = pair_graph.from_levels(levels)
    routing = chains.from_graph(graph, positive=False)
    alpha = np.random.default_rng(0).normal(size=graph.n_edges)
    x = routing.carry(graph.better, graph.worse, alpha)
    assert x.min() >= 0.0
    assert_allclose(routing.inflow(x), 0.0, atol=1e-10)
    assert_allclose(routing.settle(x)[1], graph.imbalance(alpha), atol=1e-10)
    assert routing.cost @ x == pytest.approx(np.abs(alpha).sum())


@pytest.mark.parametrize("kind", ["strict", "queries", "weights"])
def test_signed_kernels_of_full_rank_are_walked(kind, monkeypatch):
    """No interior point is needed, from the first C on; duplicates may need one."""
    K, levels = data(kind, 40)
    monkeypatch.setattr(machine.Machine, "solve", lambda *_, **__: pytest.fail("solved by an interior point"))
    along = VectorPath(K, levels, positive=False)
    assert all(along.solve(C, 1e-6, 300).gap <= 1e-6 for C in np.geomspace(1e-3, 1e2, 10).tolist())


@pytest.mark.parametrize("vertex_is_unique", [True, False])
def test_duplicates_are_treated_alike(vertex_is_unique, monkeypatch):
    """A vertex that is not the only optimum is not the answer: equal items get equal coefficients."""
    K, levels = data("duplicates")
    if vertex_is_unique:  # what would be wrong
        monkeypatch.setattr(
            VertexWalk, "offer", lambda self, bracket, offer=VertexWalk.offer: offer(self, bracket) or True
        )
    along = VectorPath(K, levels, positive=False)
    along.solve(0.01, 1e-6, 300)
    weights = along.solve(1.0, 1e-6, 300).weights.reshape(2, -1)
    assert np.abs(weights).max() > 0.0
    assert np.allclose(*weights, atol=1e-9 * np.abs(weights).max()) is not vertex_is_unique


def test_one_pair():
    """Two items: nothing, or the one vector that gives margin 1."""
    K = np.array([[1.0, 0.2], [0.2, 2.0]])
    levels = from_levels(np.array([0, 1]), np.zeros(2, dtype=np.int64), np.ones(2))
    along = VectorPath(K, levels, positive=False)
    found = [along.solve(C, 1e-9, 300) for C in (0.1, 0.5, 1.0, 10.0)]
    assert [f.objective for f in found] == pytest.approx([0.1, 0.5, 1 / 1.8, 1 / 1.8], rel=1e-12)
    assert_allclose(found[-1].weights, [0.0, 1 / 1.8], rtol=1e-12)


def test_a_walk_that_becomes_long_is_not_tried_again(monkeypatch):
    """Its vertex is kept, and what follows is left to the interior point."""
    K, levels = data("strict", 40)
    monkeypatch.setattr(path_module, "FEW", 30)
    monkeypatch.setattr(path_module, "PER_NODE", 0)
    along = VectorPath(K, levels, positive=False)
    iterations = [along.solve(C, 1e-6, 300).n_iter for C in np.geomspace(1e-2, 1e2, 12).tolist()]
    assert along.answers.is_lost
    walked = iterations.index(max(iterations[:6]))
    assert walked > 0
    assert set(iterations[:walked]) == {1}
    assert min(iterations[walked:]) > 1


def test_a_walk_has_a_limit(monkeypatch):
    """Short of the optimum it says so, also where edges are computed anew on the way."""
    monkeypatch.setattr(vertex_walk, "REFRESH", 300)
    machine_, walk = posed("strict", positive=False, n=100)
    with pytest.raises(LostError):
        walk.to(30.0 * machine_.kappa, limit=305)
    assert walk.n_pivots == 305
    walk.to(30.0 * machine_.kappa, limit=1000)
    bracket = Bracket(machine_.problem(30.0))
    walk.offer(bracket)
    assert bracket.gap <= 1e-7
