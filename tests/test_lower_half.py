"""Symmetric matrices by strips of their lower half: products, corners and parts are those of the whole."""

import mmap

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from widemargin._core import _lower_half, lower_half
from widemargin._core import _lower_half_ref as ref
from widemargin._core.lower_half import LowerHalf, mirrored, room


def halved(K, width):
    """The matrix in strips; what is above the diagonal is nan, so that nothing may read it."""
    n, half = len(K), LowerHalf.room(len(K), K.dtype, width)
    for strip in half.strips:
        strip[:] = np.nan
    for c in range(0, n, width):
        for a in range(c, n, 3):
            for row in range(a, min(a + 3, n)):
                half.put(row, c, K[row : row + 1, c : min(c + width, row + 1)])
    return half


def symmetric(n, dtype, seed=0):
    """A symmetric matrix that is not definite."""
    K = np.random.default_rng(seed).normal(size=(n, n))
    return (K + K.T).astype(dtype)


SIZES = [(1, 4), (7, 3), (12, 4), (13, 20), (100, 37), (201, 201), (300, 64), (700, 256)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(), (1,), (2,), (3,)])
@pytest.mark.parametrize(("n", "width"), SIZES)
def test_products_read_the_lower_half_alone(n, width, shape, dtype):
    """K v in float64, to the rounding of the values, of one vector or several; NumPy's product is the twin."""
    K, v = symmetric(n, dtype), np.random.default_rng(1).normal(size=(n, *shape))
    expected = K.astype(float) @ v
    atol = 200 * np.finfo(dtype).eps * np.abs(K).max() * np.abs(v).sum(axis=0).max()
    assert_allclose(halved(K, width).product(v), expected, rtol=0, atol=atol)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_vectors", [1, 2, 3])
@pytest.mark.parametrize(("row", "column"), [(0, 0), (5, 0), (3, 2), (2, 4), (3, 4), (0, 6)])
def test_a_block_anywhere_gives_its_part_and_its_mirror_image(row, column, n_vectors, dtype):
    """Left of the diagonal, across it, or beginning above it, where it is not read; sums go to what is there."""
    n, rows, columns = 12, 6, 5
    K, V = symmetric(n, dtype, 2), np.random.default_rng(3).normal(size=(n_vectors, n)).astype(dtype)
    part = slice(row, row + rows), slice(column, column + columns)
    block = np.full((rows, 9), np.nan, dtype)  # rows that do not follow each other
    block[:, :columns] = np.where(np.tril(np.ones((n, n)))[part], K[part], np.nan)
    out, expected = np.ones((n_vectors, n)), np.ones((n_vectors, n))
    _lower_half.add_product(block[:, :columns], row, column, V, out)
    ref.add_product(K[part], row, column, V, expected)
    assert_allclose(out, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("n", "width"), SIZES)
def test_parts_are_those_of_the_whole(n, width):
    """The first items, some items, the diagonal, and the upper half filled in."""
    K, rng = symmetric(n, np.float32), np.random.default_rng(4)
    half = halved(K, width)
    assert_array_equal(half.diag(), np.diag(K).astype(float))
    for m in {1, max(1, n // 2), n}:
        lead = half.leading(m)
        assert lead.n_items == m
        assert_allclose(lead.product(np.ones(m)), K[:m, :m].sum(axis=1, dtype=float), atol=1e-3)
    items = np.sort(rng.permutation(n)[: max(1, n // 3)])
    expected = K[np.ix_(items, items)]
    assert_array_equal(np.tril(half.corner(items, np.float64)), np.tril(expected).astype(float))
    assert_array_equal(mirrored(half.corner(items, np.float32), 5), expected)


VALUES = [
    0.0,
    1.0,
    -1.0,
    1.0 / 3.0,
    np.nextafter(1.0, 0.0),
    1.0 + 2.0**-24,
    2.0 - 2.0**-25,
    1e-300,
    1e-40,
    -1e-37,
    3e38,
]


@pytest.mark.parametrize("n", [1, 7, 64])
def test_values_in_two_parts_keep_their_digits(n):
    """The float, and 65534ths of its last place; tiny ones keep what a float does."""
    rng = np.random.default_rng(5)
    x = np.concatenate([VALUES, rng.normal(size=40) * 10.0 ** rng.integers(-30, 30, 40)])
    x = np.resize(x, (3, n * (len(x) // n + 1)))[:, 1:]  # rows that do not follow each other
    near, rest = np.zeros(x.shape, np.float32), np.zeros(x.shape, np.int16)
    _lower_half.split(x, near, rest)
    expected, missed = ref.split(x)
    assert_array_equal(near, expected)
    is_tiny = np.abs(x) < 1e-30  # what is missed is no float32 any more
    assert_allclose(rest[~is_tiny], missed[~is_tiny], rtol=0, atol=1)  # a half may go either way
    assert_allclose(ref.joined(near, rest), x, rtol=1.5e-12, atol=1e-44)


@pytest.mark.parametrize(("n", "width"), SIZES)
def test_fine_products_are_exact(n, width):
    """To eleven digits of what is summed, for one vector or several; coarse values have no such products.

    What is above the diagonal is not read.
    """
    K, V = symmetric(n, float), np.random.default_rng(6).normal(size=(n, 3))
    half = LowerHalf.room(n, np.float32, width, is_fine=True)
    for c in range(0, n, width):
        half.put(c, c, np.asfortranarray(K[c:, c : c + width]))  # as a user's kernel may have it
    for strip, rest in zip(half.strips, half.rest, strict=True):
        above = np.triu_indices_from(strip, 1)
        strip[above], rest[above] = np.nan, 1
    atol = 2e-12 * np.abs(K).max() * np.abs(V).sum()
    assert_allclose(half.fine_product(V), K @ V, rtol=0, atol=atol)
    assert_allclose(half.fine_product(V[:, 0]), K @ V[:, 0], rtol=0, atol=atol)
    assert halved(K.astype(np.float32), width).fine_product(V) is None


def test_sums_that_cancel_are_not_answered():
    """A vector near the null space of K, of which almost nothing is left: more digits are needed."""
    K = np.ones((40, 40)) + 1e-9 * symmetric(40, float)
    half = LowerHalf.room(40, np.float32, 16, is_fine=True)
    for c in range(0, 40, 16):
        half.put(c, c, K[c:, c : c + 16])
    v = np.where(np.arange(40) % 2, 1.0, -1.0)
    assert half.fine_product(v) is None
    assert half.fine_product(np.ones(40)) is not None


def test_a_system_without_huge_pages_is_no_obstacle(monkeypatch):
    """Asking for them may be refused."""

    def refused(*_):
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(lower_half, "_ask_for_huge_pages", refused)
    assert room(3000, 500, np.float32).shape == (3000, 500)


@pytest.mark.skipif(not hasattr(mmap, "MADV_HUGEPAGE"), reason="no huge pages on this system")
@pytest.mark.parametrize("slow", [-1.0, 1e9])
def test_memory_is_memory_whatever_its_pages_are(slow, monkeypatch):
    """Huge pages are asked for, or given up after the first."""
    monkeypatch.setattr(lower_half, "SLOW", slow)
    for n in (1, 3, 500, 700, 3000):  # less than a page, about half a huge one, three of them
        found = room(n, 500, np.float32)
        assert found.shape == (n, 500)
        assert found.dtype == np.float32
        assert found.ctypes.data % lower_half.LINE == 0
        found[:] = 1.0
        assert found.sum() == n * 500
