"""Solves over curved items: by the last factor and what has changed since, the same as by a new one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from widemargin._core.lower_half import LowerHalf, mirrored
from widemargin._core.rows_newton import curved_items
from widemargin._core.rows_newton.spaces import Gram, Paired


def strips(K, width):
    """Return the lower half in strips; what is above the diagonal of each is nan."""
    half = LowerHalf.room(len(K), K.dtype, width)
    for a, strip in zip(range(0, len(K), width), half.strips, strict=True):
        strip[:] = np.where(np.tri(*strip.shape, dtype=bool), K[a:, a : a + width], np.nan)
    return half


def spaces(n, rng):
    """Return the same kinds of matrices in both forms, and whole."""
    X = rng.normal(size=(n, 4))
    K = np.exp(-0.2 * np.sum((X[:, None] - X) ** 2, axis=2))
    ends = np.column_stack([rng.permutation(n), rng.permutation(n)])
    first, second = ends.T
    D = K[first] - K[second]
    return [(Gram(strips(K, 128)), K), (Paired(K, ends), D[:, first] - D[:, second])]


@pytest.mark.parametrize("form", [0, 1], ids=["strips", "paired"])
def test_rows_and_columns_of_different_items(form):
    """Any items, in both triangles and on the diagonal."""
    rng = np.random.default_rng(0)
    space, K = spaces(300, rng)[form]
    for n, m in ((40, 7), (1, 300), (5, 0)):
        items, others = (np.sort(rng.choice(300, size, replace=False)) for size in (n, m))
        assert_allclose(space.between(items, others), K[np.ix_(items, others)], atol=1e-14)


@pytest.mark.parametrize("form", [0, 1], ids=["strips", "paired"])
@pytest.mark.parametrize(("n_gone", "n_new", "n_other"), [(0, 0, 0), (20, 0, 0), (0, 20, 0), (9, 15, 8), (400, 0, 0)])
def test_changed_systems(form, n_gone, n_new, n_other):
    """Items that go, come, and have another ridge: the new solution, by the last factor while few have."""
    rng = np.random.default_rng(n_gone + n_new)
    space, K = spaces(700, rng)[form]
    shuffled, ridge = rng.permutation(700), rng.uniform(1e-4, 2e-4, 700)
    first = np.sort(shuffled[:500])
    curved_items.solved(space, first, ridge[first], rng.normal(size=(500, 2)))
    (factor,) = space.factors
    items = np.sort(shuffled[n_gone : 500 + n_new])
    ridge[rng.choice(items, n_other, replace=False)] *= 3.0
    right = rng.normal(size=(items.size, 2))
    y = curved_items.solved(space, items, ridge[items], right)
    assert (space.factors[0] is factor) == (n_gone + n_new + 2 * n_other <= curved_items.CHANGED * 500)
    M = K[np.ix_(items, items)] + np.diag(ridge[items])
    assert_allclose(M @ y, right, atol=1e-9)


def test_a_factor_that_cannot_be():
    """Where no ridge helps, the direction is a scaled gradient, and nothing is kept."""
    space = Gram(strips(-3.0 * np.eye(400), 128))
    right = np.ones((400, 1))
    assert_allclose(curved_items.solved(space, np.arange(400), np.ones(400), right), -0.5 * right)
    assert space.factors == []


def test_strips_have_no_upper_half():
    """What is above the diagonal is never read."""
    rng = np.random.default_rng(1)
    space, K = spaces(200, rng)[0]
    items = np.arange(0, 200, 3)
    assert_allclose(mirrored(space.corner(items), 16), K[np.ix_(items, items)])
