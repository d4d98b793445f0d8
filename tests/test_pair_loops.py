"""The compiled passes over pairs of the 1-norm machines against plain NumPy over written-out pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from widemargin._core import _pairs
from widemargin._core import _pairs_ref as ref
from widemargin._core.comparisons import from_levels
from widemargin._core.one_norm import pair_barrier, pair_graph

KINDS = {"strict": (None, 1), "ties": (4, 1), "queries and ties": (3, 4)}


@pytest.fixture(params=[(kind, soft) for kind in KINDS for soft in (True, False)], ids=str)
def point(request):
    """Return a graph, the pairs' variables anywhere, utilities, and a direction of them."""
    kind, soft = request.param
    n_levels, n_queries = KINDS[kind]
    rng = np.random.default_rng(5)
    y = np.arange(23) if n_levels is None else rng.integers(n_levels, size=23)
    weight = rng.uniform(0.5, 2.0, 23)
    graph = pair_graph.from_levels(from_levels(rng.permutation(y), np.arange(23) % n_queries, weight))
    y, t = rng.uniform(0.1, 1.0, (2, graph.n_edges))
    if soft:
        pairs = pair_barrier.soft(graph, graph.weight + 1.0, y, 1.0)
        pairs.xi[:] = rng.uniform(0.1, 1.0, graph.n_edges)
    else:
        pairs = pair_barrier.hard(graph, y, 1.0)
    pairs.t[:] = t
    s, ds = rng.normal(size=(2, graph.n_nodes))
    return pairs, s, ds


def difference(graph, s):
    return s[graph.better] - s[graph.worse]


def imbalance(graph, y):
    return ref.imbalance(graph.better, graph.worse, y, graph.n_nodes)


def rho_of(pairs):
    """Return the right side t aim_t - xi aim_xi, or with the gap of the hard problem."""
    return pairs.t * pairs.aim_t + (pairs.gap if pairs.cap is None else -pairs.xi * pairs.aim_xi)


def products_of(pairs):
    return [(pairs.t, pairs.y, 1.0)] + ([] if pairs.cap is None else [(pairs.xi, pairs.room, -1.0)])


def test_restoring_keeps_the_smaller_number_and_reports_the_point(point):
    """Variables, hinge, lowest margin, products and B'y are those of the written-out pairs, to the last digit."""
    pairs, s, _ = point
    margin = difference(pairs.graph, s)
    before = [array.copy() for array in (pairs.y, pairs.t, pairs.xi, pairs.room)]
    state = pairs.restore(s)
    hinge = 0.0
    if pairs.cap is None:
        assert_array_equal(pairs.gap, (1.0 - margin) + pairs.t)
    else:
        for have, want in zip(
            (pairs.y, pairs.t, pairs.xi, pairs.room), ref.restore(margin, pairs.cap, *before), strict=True
        ):
            assert_array_equal(have, want)
        hinge = pairs.cap @ np.maximum(0.0, 1.0 - margin)
    assert state.lowest == margin.min()
    assert state.hinge == pytest.approx(hinge, rel=1e-14)
    assert state.total == pytest.approx(pairs.y.sum(), rel=1e-14)
    assert state.product == pytest.approx(sum(a @ b for a, b, _ in products_of(pairs)), rel=1e-14)
    assert_allclose(state.flow, imbalance(pairs.graph, pairs.y), atol=1e-13)
    cap = np.empty(0) if pairs.cap is None else pairs.cap
    assert _pairs.hinge(pairs.graph.head, pairs.graph.reach, s, cap) == pytest.approx((hinge, margin.min()), rel=1e-14)


def test_utilities_that_are_no_numbers_are_no_point(point):
    """The loops cannot see nan; a point with nan must not look like one without slack."""
    pairs, s, _ = point
    s[3] = np.nan
    state = pairs.restore(s)
    assert state.hinge == np.inf
    assert state.lowest == -np.inf


def test_aims_and_directions_are_newtons(point):
    """Weights, aims at mu with and without second order, dy, the relative dt and dxi, and the steepest decreases."""
    pairs, s, ds = point
    graph = pairs.graph
    pairs.restore(s)
    degree = pairs.weigh()
    W = 1.0 / sum(a / b for a, b, _ in products_of(pairs))
    assert_allclose(pairs.W, W, rtol=1e-14)
    assert_allclose(
        degree, np.bincount(graph.better, W, graph.n_nodes) + np.bincount(graph.worse, W, graph.n_nodes), rtol=1e-13
    )
    first, second = pairs.move(), pairs.move()
    flow = pairs.aim(0.3)
    check_aim(pairs, flow, [np.zeros(1), np.zeros(1)], 0.3)
    for ahead, move, again in ((None, first, False), (first, second, False), (None, second, True)):
        if ahead is not None:
            rates = (ahead.t, ahead.xi)
            errors = [a * r * ahead.y * sign for (a, _, sign), r in zip(products_of(pairs), rates, strict=False)]
            check_aim(pairs, pairs.aim(0.3, ahead), errors, 0.3)
        old = move.y.copy()
        response = pairs.respond(ds, move, again=again)
        rate = difference(graph, ds)
        assert_allclose(move.y, old - W * rate if again else W * (rho_of(pairs) - rate), rtol=1e-11, atol=1e-13)
        check_response(pairs, move, response)


def check_aim(pairs, flow, errors, mu):
    for (a, b, _), error, aim in zip(products_of(pairs), errors, (pairs.aim_t, pairs.aim_xi), strict=False):
        assert_allclose(aim, ref.aims(mu, a * b, error), rtol=1e-12, atol=1e-13)
    assert_allclose(flow, imbalance(pairs.graph, pairs.W * rho_of(pairs)), atol=1e-12)


def check_response(pairs, move, response):
    primal, dual = 0.0, 0.0
    sides = zip(products_of(pairs), (pairs.aim_t, pairs.aim_xi), (move.t, move.xi), strict=False)
    for (_, b, sign), aim, rate in sides:
        assert_allclose(rate, aim - sign * move.y / b, rtol=1e-12, atol=1e-13)
        primal, dual = max(primal, -rate.min()), max(dual, -(sign * move.y / b).min())
    assert (response.primal, response.dual) == pytest.approx((primal, dual), rel=1e-13)
    assert_allclose(response.flow, imbalance(pairs.graph, move.y), atol=1e-12)


def test_corrections_products_and_steps_are_the_written_out_ones(point):
    """Recentred aims, the products after a step, and the step itself."""
    pairs, s, ds = point
    pairs.restore(s)
    pairs.weigh()
    move = pairs.move()
    pairs.aim(0.1)
    pairs.respond(ds, move)
    before = [pairs.aim_t.copy(), pairs.aim_xi.copy()]
    after = [
        (a * (1 + 0.4 * rate), b + sign * 0.7 * move.y)
        for (a, b, sign), rate in zip(products_of(pairs), (move.t, move.xi), strict=False)
    ]
    assert pairs.product_after(move, 0.4, 0.7) == pytest.approx(sum(a @ b for a, b in after), rel=1e-12)
    flow = pairs.recentre(0.05, move, 0.4, 0.7)
    sides = zip(products_of(pairs), before, (pairs.aim_t, pairs.aim_xi), after, strict=False)
    for (a, b, _), old, aim, (a_after, b_after) in sides:
        assert np.any(aim != old)
        assert_allclose(aim, ref.recentred(old, a * b, a_after * b_after, 0.05), rtol=1e-11, atol=1e-12)
    assert_allclose(flow, imbalance(pairs.graph, pairs.W * rho_of(pairs)), atol=1e-11)
    pairs.step(move, 0.4, 0.7)
    for (a, b, _), (a_after, b_after) in zip(products_of(pairs), after, strict=True):
        assert_allclose(a, a_after, rtol=1e-13, atol=1e-15)
        assert_allclose(b, b_after, rtol=1e-13, atol=1e-15)


def test_conductances_fill_the_lower_triangle(point):
    """Minus W where better meets worse, 0 between ties; what is above the diagonal is left alone."""
    pairs, _, _ = point
    graph = pairs.graph
    W = np.random.default_rng(1).uniform(size=graph.n_edges)
    full = np.zeros((graph.n_nodes, graph.n_nodes))
    full[graph.worse, graph.better] = -W
    for query in graph.queries:
        n = query.nodes.stop - query.nodes.start
        out = np.full((n, n), 7.0, order="F")
        _pairs.conductances(graph.reach, query.nodes.start, query.edges.start, W, -1.0, out)
        assert_array_equal(np.tril(out, -1), full[query.nodes, query.nodes])
        assert np.all(out[np.triu_indices(n, 1)] == 7.0)
