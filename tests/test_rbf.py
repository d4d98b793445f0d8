"""Values of the RBF kernel in one pass: those of distances and exponentials, whatever the shapes and the processor."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from widemargin._core import _rbf, kernels
from widemargin._core.kernels import RBF

WIDTHS = [16, 32, 64]
LEAST = {np.float32: np.exp(-87.0), np.float64: np.exp(-708.0)}  # values below are zero


def in_one_pass(X, Z, gamma, most=64):
    """Return the compiled values, by vectors of at most so many bytes."""
    pack, p, n = _rbf.PACK // Z.itemsize, Z.shape[1] + 2, len(Z)
    right = np.zeros((p, -(-n // pack) * pack), Z.dtype)
    right[:, :n] = [*(2.0 * gamma * Z.T), np.full(n, -gamma), -gamma * np.sum(Z**2, axis=1)]
    out = np.full((len(X), n), np.nan, Z.dtype)
    packed = np.ascontiguousarray(right.reshape(p, -1, pack).swapaxes(0, 1))
    _rbf.values(X, np.zeros(X.shape[1], X.dtype), packed, out, most)
    return out


@pytest.mark.parametrize("most", WIDTHS)
@given(
    st.integers(1, 13),
    st.integers(1, 70),
    st.integers(1, 9),
    st.sampled_from([np.float32, np.float64]),
    st.integers(0, 99),
)
def test_any_shape(most, m, n, d, dtype, seed):
    """Rows and columns that fill no vector, distances from none to those whose value is zero."""
    rng = np.random.default_rng(seed)
    X, Z = (rng.normal(size=(k, d)) * 10.0 ** rng.uniform(-3, 1.5, (k, 1)) for k in (m, n))
    Z[0] = X[0]
    X, Z = X.astype(dtype), Z.astype(dtype)
    wide = X.astype(float), Z.astype(float)
    true = np.exp(-0.7 * np.sum((wide[0][:, None] - wide[1]) ** 2, axis=2))
    size = 0.7 * (np.sum(wide[0] ** 2, axis=1)[:, None] + np.sum(wide[1] ** 2, axis=1))  # of what cancels
    wrong, eps = np.abs(in_one_pass(X, Z, 0.7, most) - true), np.finfo(dtype).eps
    assert np.all(wrong <= (8.0 + 4.0 * d) * eps * (1.0 + size) * true + LEAST[dtype])


@pytest.mark.parametrize("most", WIDTHS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exponentials_are_right_to_the_last_bits(most, dtype):
    """One feature, z = 0: the product is exact but for a rounding, and what is left is the exponential."""
    x = np.linspace(0.0, 9.0, 5001).astype(dtype)[:, None]
    e = -(x.astype(float) ** 2).astype(dtype).astype(float).ravel()  # the squares as they are rounded
    found = in_one_pass(x, np.zeros((3, 1), dtype), 1.0, most)
    assert_allclose(found[:, 1], np.exp(e), rtol=3.0 * np.finfo(dtype).eps)
    assert_array_equal(found[0], 1.0)


@pytest.mark.parametrize("most", WIDTHS)
@pytest.mark.parametrize(("dtype", "far"), [(np.float32, 20.0), (np.float64, 50.0)])
def test_far_items_and_overflow(most, dtype, far):
    """What is too small is zero, not rubbish; squares that overflow are not finite, and do not pass for values."""
    x = np.array([[far], [1e3 * far], [np.finfo(dtype).max]], dtype)
    with np.errstate(over="ignore"):
        found = in_one_pass(x, np.zeros((2, 1), dtype), 1.0, most)
        near_overflow = in_one_pass(x[2:], x[2:], 1.0, most)
    assert_array_equal(found[:2], 0.0)
    assert not np.any(np.isfinite(near_overflow))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_both_ways_agree(dtype, monkeypatch):
    """Few features go in one pass, many by a matrix product: the same kernel."""
    rng = np.random.default_rng(0)
    X, Z = rng.normal(3.0, 1.0, (37, 20)).astype(dtype), rng.normal(3.0, 1.0, (41, 20)).astype(dtype)
    found = RBF(0.05).against(Z)(X)
    monkeypatch.setattr(kernels, "FEW_FEATURES", 0)
    by_blas = RBF(0.05).against(Z)(X)
    assert found.dtype == by_blas.dtype == dtype
    assert_allclose(found, by_blas, rtol=100 * np.finfo(dtype).eps)
