"""Large groups of many levels, and low-rank kernels over them: cheap Hessians and columns agree with plain ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from widemargin._core.comparisons import from_levels
from widemargin._core.kernels import RBF
from widemargin._core.landmarks import greedy_columns
from widemargin._core.losses import HINGE, SQUARED_HINGE
from widemargin._core.maps import LinearMap
from widemargin._core.newton import newton
from widemargin._core.newton.passes import LinearPairs
from widemargin._core.risks import GroupedPairRisk
from widemargin._core.solution import Status

LOSSES = [pytest.param(HINGE, id="hinge"), pytest.param(SQUARED_HINGE, id="squared")]


def ordering(n, p, n_groups, loss, *, is_scattered=False, noise=1.0):
    """Items with real levels in groups of equal size."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    u = X @ rng.normal(size=p) / np.sqrt(p) + noise * rng.normal(size=n)
    y = np.argsort(np.argsort(u))
    group = np.arange(n) % n_groups if is_scattered else np.arange(n) * n_groups // n
    return X, GroupedPairRisk(from_levels(y, group, rng.uniform(0.5, 1.5, n)), loss)


@pytest.mark.parametrize("is_scattered", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_pieces_stand_for_all_pairs(loss, is_scattered):
    """The Hessian of the pieces, averaged over ways to cut, is that of all pairs; small groups are kept whole."""
    X, risk = ordering(2400, 4, 2, loss, is_scattered=is_scattered)
    data, w = LinearPairs.of(X, risk), np.array([0.3, -0.2, 0.5, 0.1])
    mean = np.mean([data.cut(100, seed).gram(w) for seed in range(20)], axis=0)
    assert_allclose(mean, data.gram(w), rtol=0.02, atol=0.01 * np.abs(mean).max())
    X, risk = ordering(900, 4, 3, loss)
    data = LinearPairs.of(X, risk)
    assert_allclose(data.cut(100, 0).gram(w), data.gram(w), rtol=1e-12)


@pytest.mark.parametrize("C", [1e-6, 1e-3, 1.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_hessian_of_pieces_finds_the_same_optimum(loss, C, monkeypatch):
    """Pieces change the way only: certified at a fine gap too, where pieces grow, as with all pairs."""
    X, risk = ordering(2000, 12, 1, loss, noise=0.3)
    pieces, cut = [], LinearPairs.cut
    monkeypatch.setattr(LinearPairs, "cut", lambda self, piece, seed: pieces.append(piece) or cut(self, piece, seed))
    quick = newton(risk, LinearMap(X), C, tol=1e-7)
    assert pieces[:1] == [256]
    assert pieces == sorted(set(pieces))
    monkeypatch.setattr(LinearPairs, "is_cut_cheaper", lambda *_: False)
    plain = newton(risk, LinearMap(X), C, tol=1e-7)
    assert quick.status is plain.status is Status.CONVERGED
    assert quick.objective == pytest.approx(plain.objective, rel=2e-7)


@pytest.mark.parametrize("X", [np.random.default_rng(0).normal(size=(400, 3)), np.ones((400, 3))], ids=["many", "one"])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_columns_are_those_of_one_pivot_at_a_time(X, is_sparse):
    """Candidates by the dozen give the pivots and the columns of the plain loop."""
    kernel, rank = RBF(gamma=0.3), 150
    K, F, pivots = kernel(X, X), np.zeros((400, rank)), []
    rest = np.diag(K).copy()
    while len(pivots) < rank and rest.max() > 1e-14:
        i, j = int(np.argmax(rest)), len(pivots)
        F[:, j] = (K[:, i] - F[:, :j] @ F[i, :j]) / np.sqrt(rest[i])
        rest = np.maximum(rest - F[:, j] ** 2, 0.0)
        rest[i] = 0.0
        pivots.append(i)
    have = greedy_columns(kernel, sparse.csr_array(X) if is_sparse else X, rank)
    assert_array_equal(have.pivots, pivots)
    assert_allclose(have.F, F[:, : len(pivots)], atol=1e-8)
    assert_allclose(have.rest, rest, atol=1e-10)
