"""Leaps of the 1-norm path: their loops are those of their twins, and a walk after one ends where it would have."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from test_vertex_walk import by_highs, data, posed, vertex_of
from widemargin._core import _pairs, _pairs_ref, _shrink, _shrink_ref
from widemargin._core.one_norm import VectorPath, leap, machine
from widemargin._core.one_norm import path as path_module
from widemargin._core.solution import Status

KINDS = ["strict", "ties", "queries", "weights"]


@pytest.mark.parametrize("h", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("kind", KINDS)
def test_soft_hinges_are_those_of_their_twin(kind, h):
    """Their slopes at the nodes, and their Hessian times a matrix."""
    graph = posed(kind, positive=False)[1].graph
    rng = np.random.default_rng(0)
    s = rng.normal(size=graph.n_nodes)
    slope, bend = _pairs_ref.soft_hinge(graph.difference(s), graph.weight, h)
    flow, K = np.zeros(s.size), rng.normal(size=(s.size, 13))
    _pairs.soft_hinge(graph.head, graph.reach, s, graph.weight, h, flow)
    assert_allclose(flow, graph.imbalance(slope), atol=1e-12)
    bent = np.full_like(K, np.nan)
    _pairs.bend(graph.head, graph.reach, s, graph.weight, h, K, bent)
    assert np.count_nonzero(bend) > 0
    flows = bend[:, None] * (K[graph.better] - K[graph.worse])
    assert_allclose(bent, np.column_stack([graph.imbalance(flow) for flow in flows.T]), atol=1e-12)


def quadratic(seed, n=60, rank=80):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(rank, n)) * np.logspace(0, -1.5, n)
    return A.T @ A, 3.0 * rng.normal(size=n), rng.normal(size=n) * (rng.random(n) < 0.3)


@pytest.mark.parametrize("seed", range(8))
def test_a_sparse_minimum_is_that_of_its_twin(seed):
    """After as many systems, and no slope exceeds 1 by more than what is let in."""
    H, b, x = quadratic(seed)
    have, n = _shrink.least(H, b, x, 500)
    want, n_want = _shrink_ref.least(H, b, x, 500)
    assert n == n_want > 5
    assert_allclose(have, want, atol=1e-7)
    assert_array_equal(have == 0.0, want == 0.0)
    slope = b - H @ have
    assert_allclose(slope[have != 0.0], np.sign(have[have != 0.0]), atol=1e-7)
    assert np.abs(slope).max() <= 1.0 + _shrink_ref.ENOUGH


@pytest.mark.parametrize("limit", [1, 3, 6])
def test_few_systems_lead_part_of_the_way(limit):
    """The limit is kept, and the sum has not risen."""
    H, b, x = quadratic(0)

    def value(x):
        return np.abs(x).sum() + 0.5 * x @ H @ x - b @ x

    have, n = _shrink.least(H, b, x, limit)
    assert n == limit
    assert_allclose(have, _shrink_ref.least(H, b, x, limit)[0], atol=1e-7)
    assert (
        value(_shrink.least(H, b, x, 500)[0]) < value(have) <= value(x)
    )  # the first may only say which columns are idle


def test_a_column_that_depends_on_others_stays_out():
    """Of two equal columns one comes; two that are in use have no factor."""
    H, b, _ = quadratic(1, n=8)
    H, b = np.kron(np.ones((2, 2)), H), np.tile(b, 2)
    x, _ = _shrink.least(H, b, np.zeros(16), 100)
    assert np.count_nonzero(x) > 3
    assert not np.any((x[:8] != 0.0) & (x[8:] != 0.0))
    assert _shrink.least(-H, b, np.ones(16), 100) is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_walk_after_a_leap_ends_at_the_same_vertex(kind):
    """After fewer pivots, from a vertex that is really one."""
    (machine_, walk), (_, other) = (posed(kind, positive=False, n=120) for _ in range(2))
    ends = 0.2 * machine_.kappa, 0.5 * machine_.kappa
    n_pivots = []
    for one in (walk, other):
        one.to(ends[0], limit=5000)
        before = one.n_pivots
        if one is walk:
            assert leap.leap(walk, ends[1])
            k = walk.at.k
            margins = walk.graph.difference(walk.at.s)
            assert_allclose(margins[walk.at.rows[:k]], walk.goal[walk.at.rows[:k]], atol=1e-9)
            assert_allclose(walk.K[:, walk.at.columns[:k]] @ walk.at.coefficients[:k], walk.at.s, atol=1e-9)
            assert_array_equal(walk.at.side == 0, np.isin(np.arange(margins.size), walk.at.rows[:k]))
            assert np.all(((margins < walk.goal) == (walk.at.side == 1))[walk.at.side != 0])
        one.to(ends[1], limit=5000)
        n_pivots.append(one.n_pivots - before)
    assert n_pivots[0] < 0.7 * n_pivots[1]
    have, want = vertex_of(walk.at), vertex_of(other.at)
    assert have.rows == want.rows
    assert have.signs == want.signs
    assert_array_equal(have.side, want.side)


@pytest.mark.parametrize("fails", ["no better", "no factor", "no pairs"])
def test_without_a_better_vertex_the_walk_stays(fails, monkeypatch):
    """At the optimum there is none; nor where a system or a choice of pairs fails."""
    machine_, walk = posed("strict", positive=False, n=60)
    walk.to(0.5 * machine_.kappa, limit=5000)
    before, n_pivots = vertex_of(walk.at), walk.n_pivots
    if fails == "no factor":
        monkeypatch.setattr(_shrink, "least", lambda *_: None)
    elif fails == "no pairs":
        monkeypatch.setattr(leap, "AMONG", 1)
    C = machine_.kappa * (0.5 if fails == "no better" else 1.0)
    assert not leap.leap(walk, C)
    have = vertex_of(walk.at)
    assert have.rows == before.rows
    assert have.signs == before.signs
    assert_array_equal(have.side, before.side)
    walk.to(0.5 * machine_.kappa, limit=0)
    assert walk.n_pivots == n_pivots


def test_where_a_choice_of_pairs_is_unlucky_another_is_tried(monkeypatch):
    """The walk then starts from the vertex of the second choice."""
    machine_, walk = posed("strict", positive=False, n=120)
    walk.to(0.2 * machine_.kappa, limit=5000)
    values, chosen = iter([1.0, 2.0, 0.5]), []
    independent = leap._independent
    monkeypatch.setattr(leap, "_independent", lambda *how: chosen.append(independent(*how)) or chosen[-1])
    monkeypatch.setattr(leap, "_value", lambda *_: next(values))
    assert leap.leap(walk, 0.5 * machine_.kappa)
    assert len(chosen) == 2
    assert set(chosen[0]) != set(chosen[1])
    assert_array_equal(walk.at.rows[: walk.at.k], chosen[1])


@pytest.mark.parametrize("kind", [*KINDS, "linear", "duplicates", "same"])
def test_a_path_of_leaps_has_the_objectives_of_highs(kind, monkeypatch):
    """Wherever a leap is possible one is tried."""
    monkeypatch.setattr(path_module.MachinePath, "_is_far", lambda _, walk, __: walk.at.k > 1)
    leaps = []
    monkeypatch.setattr(path_module, "leap", lambda *where: leaps.append(leap.leap(*where)) or leaps[-1])
    K, levels = data(kind, 30)
    along = VectorPath(K, levels, positive=False)
    for C in np.geomspace(1e-2, 1e2, 8).tolist():
        found = along.solve(C, 1e-8, 300)
        assert found.status is Status.CONVERGED
        assert found.gap <= 1e-8
        assert found.objective == pytest.approx(by_highs(K, levels, C, positive=False), rel=1e-8)
    assert any(leaps)


@pytest.mark.parametrize(("n_values", "positive"), [(12, False), (400, False), (12, True)])
def test_leaps_are_for_far_walks_of_signed_machines(n_values, positive, monkeypatch):
    """With many C in between, walks are short; positive coefficients are few."""
    leaps = []
    monkeypatch.setattr(path_module, "leap", lambda *where: leaps.append(leap.leap(*where)) or leaps[-1])
    monkeypatch.setattr(machine.Machine, "solve", lambda *_, **__: pytest.fail("solved by an interior point"))
    K, levels = data("strict", 160)
    along = VectorPath(K**4, levels, positive=positive)
    for C in np.geomspace(1e-2, 1e1, n_values).tolist():
        along.solve(C, 1e-6, 300)
    assert along.answers.walk.n_pivots > 100
    assert any(leaps) is (n_values == 12 and not positive)
