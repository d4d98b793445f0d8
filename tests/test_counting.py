"""The compiled loops over implicit pairs give what the written-out pairs give."""

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from widemargin._core import _codes_ref as codes_ref
from widemargin._core import _counting_ref as ref
from widemargin._core import comparisons
from widemargin._core.comparisons import Levels, from_levels, from_pairs
from widemargin._core.losses import HINGE, SQUARED_HINGE
from widemargin._core.risks import FEW_PARTNERS, Block, GroupedPairRisk
from widemargin._core.row_risk import RowsRisk
from widemargin._queries import dense_codes

every_pair_or_none = pytest.mark.parametrize("few", [0, FEW_PARTNERS])  # all pairs of small groups are met, or sorted


@st.composite
def grouped_integers(draw, most_levels=5):
    """Integer utilities in [-3, 3] within groups: ties and margins of exactly 1 happen, sums are exact."""
    n = draw(st.integers(2, 40))
    integers = lambda low, high: np.array(draw(st.lists(st.integers(low, high), min_size=n, max_size=n)))  # noqa: E731
    group = np.unique(integers(0, 3), return_inverse=True)[1].astype(np.int64)
    levels = from_levels(integers(0, most_levels - 1).astype(np.int64), group, integers(0, 3).astype(float))
    return levels, integers(-3, 3).astype(float), integers(-2, 2).astype(float)


def double_loop(levels: Levels, u, t):
    """The slowest rung: H, phi, the gradient and the Hessian of phi by two loops over the items."""
    n = u.size
    H, phi, g, L = 0.0, 0.0, np.zeros(n), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            short = t - (u[i] - u[j])
            if levels.group[i] == levels.group[j] and levels.level[i] > levels.level[j] and short > 0:
                c = levels.weight[i] * levels.weight[j]
                e = np.zeros(n)
                e[i], e[j] = 1.0, -1.0
                H, phi, g, L = (
                    H + c * short,
                    phi + c * short**2,
                    g - 2 * c * short * e,
                    L + 2 * c * np.outer(e, e),
                )
    return H, phi, g, L


@settings(max_examples=25, deadline=None)
@given(grouped_integers())
def test_twin_equals_double_loop(case):
    """The NumPy twin is the definition."""
    levels, u, _ = case
    H, phi, g, L = double_loop(levels, u, 1.0)
    assert ref.sums(levels, u, 1.0)[:2] == (H, phi)
    assert_array_equal(ref.gradient(levels, u, 1.0), g)
    assert_array_equal(ref.laplacian(levels, u, 1.0), L)


@every_pair_or_none
@pytest.mark.parametrize("most_levels", [3, 40])
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_squared_hinge_equals_twin(most_levels, few, data):
    """By level (few levels), by digits (many), all pairs (small groups): the written-out pairs' numbers, exactly."""
    levels, u, v = data.draw(grouped_integers(most_levels))
    terms, g, hessp = GroupedPairRisk(levels, SQUARED_HINGE, few=few).evaluate(u)
    H, phi, _ = ref.sums(levels, u, 1.0)
    assert (terms.value, terms.loss, terms.conjugate) == (phi, phi, 2 * H - phi)
    assert_array_equal(g, ref.gradient(levels, u, 1.0))
    assert_array_equal(hessp(v), ref.laplacian(levels, u, 1.0) @ v)
    risk = GroupedPairRisk(levels, SQUARED_HINGE)
    every = Block(0, u.size, np.arange(risk.starts.size - 1))
    assert_array_equal(risk.degrees(u, every), np.diag(ref.laplacian(levels, u, 1.0)))


@st.composite
def layouts(draw):
    """An integer X of 3 columns as users bring it: float32 or float64, by rows, by columns, or part of another."""
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    layout = draw(st.sampled_from([np.ascontiguousarray, np.asfortranarray, lambda X: np.tile(X, 2)[:, 1:4]]))
    return lambda X: layout(X.astype(dtype))


@every_pair_or_none
@pytest.mark.parametrize("most_levels", [4, 40])
@pytest.mark.parametrize("is_wide", [False, True])
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_look_equals_twin(most_levels, is_wide, few, data):
    """Products and pairs in one go, a few rows at a time, scattered groups, some rows of X: the twin, exactly."""
    levels, a, b = data.draw(grouped_integers(most_levels))
    place, w = data.draw(layouts()), np.array([1.0, -1.0, 1.0])
    rows, risk = GroupedPairRisk(levels, SQUARED_HINGE, few=few).contiguous()
    which = np.zeros(0, np.int64) if rows is None else rows
    wider = X = place(np.column_stack([a, b, a - b]))
    if data.draw(st.booleans()):  # every so often a row that is not asked for
        skipped = st.lists(st.sampled_from([0, 0, 0, 0, 1]), min_size=a.size, max_size=a.size)
        at = np.arange(a.size) + np.cumsum(data.draw(skipped))
        wider = place(np.full((at[-1] + 2, 3), np.nan))
        wider[at], which = X, at if rows is None else at[rows]
    every, g = risk.blocks(10**6), np.full(a.size, np.nan)
    assert len(every) == 1
    dtype = float if is_wide else wider.dtype
    terms, pull = risk.look(wider, which, w.astype(dtype), every[0], data.draw(st.integers(1, 50)), g)
    u = X.astype(float) @ w
    H, phi, _ = ref.sums(levels, u, 1.0)
    assert (terms.value, terms.conjugate) == (phi, 2 * H - phi)
    want = ref.gradient(levels, u, 1.0)
    assert_array_equal(g, want if rows is None else want[rows])
    assert_array_equal(pull, X.astype(float).T @ want)


@settings(max_examples=100, deadline=None)
@given(grouped_integers(40), st.integers(1, 10**6), st.booleans())
def test_sorted_levels_equal_twin(case, step, in_order):
    """Levels within groups by counting: few codes or far between, groups in order or scattered."""
    levels, _, _ = case
    level, group = step * levels.level, np.sort(levels.group) if in_order else levels.group
    have = from_levels(level, group, levels.weight)
    for mine, twin in zip((have.order, have.rank, have.starts), codes_ref.sort_levels(level, group), strict=True):
        assert_array_equal(mine, twin)
    assert_array_equal(have.runs[0], codes_ref.level_runs(have.rank, have.starts))
    if in_order:  # any finite values will do then, whole numbers or not, negative or far apart
        for value in (level, level - 7, 10**9 * level, 0.1 * level, np.exp(3.0 * levels.level), level - 0.5):
            straight = comparisons.from_runs(value, comparisons.starts_of(group), levels.weight)
            for mine, twin in zip(
                (straight.order, straight.rank, straight.starts), codes_ref.sort_levels(level, group), strict=True
            ):
                assert_array_equal(mine, twin)
    better, worse = np.nonzero((level[:, None] > level) & (group[:, None] == group))
    assert have.n_pairs == better.size
    assert set(zip(*have.pairs(), strict=True)) == set(zip(better, worse, strict=True))


@given(st.lists(st.integers(1, 40), min_size=1, max_size=8), st.integers(1, 10**15), st.booleans())
def test_runs_equal_twin(sizes, step, is_swapped):
    """Runs of any length, far apart, and one number that comes too early wherever it lies."""
    x = np.repeat(step * np.arange(len(sizes)) - 7, sizes)
    if is_swapped and x[0] != x[-1]:
        at = sizes[0] - 1
        x[[at, at + 1]] = x[[at + 1, at]]
    have, want = comparisons.starts_of(x), codes_ref.runs(x)
    assert (have is None) == (want is None)
    if want is not None:
        assert_array_equal(have, want)


@every_pair_or_none
@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
def test_one_weight_may_stand_for_all(loss, few):
    """Weights of any stride are read as they are: one number, every other one."""
    rng = np.random.default_rng(0)
    level, group, u, v = rng.integers(0, 4, 60), np.repeat(np.arange(4), 15), *rng.normal(size=(2, 60))
    for weight in (np.broadcast_to(1.0, 60), np.broadcast_to(0.3, 60), rng.uniform(size=120)[::2]):
        odd, plain = (
            GroupedPairRisk(from_levels(level, group, w), loss, h=0.4, few=few) for w in (weight, weight.copy())
        )
        assert odd.levels.total_weight == plain.levels.total_weight
        (terms, g, hessp), (want, slope, product) = odd.evaluate(u), plain.evaluate(u)
        assert terms == want
        assert_array_equal(g, slope)
        assert_array_equal(hessp(v), product(v))
        assert_array_equal(odd.degrees(u, Block(0, 60, np.arange(4))), plain.degrees(u, Block(0, 60, np.arange(4))))


@pytest.mark.parametrize("n_levels", [4, 60])
def test_many_groups_are_sorted_part_by_part(n_levels):
    """Groups larger and smaller than the number of levels, in order and scattered: the same as a sort by all keys."""
    rng = np.random.default_rng(0)
    level, group = rng.integers(0, n_levels, 4000), np.sort(rng.integers(0, 300, 4000))
    for g in (group, rng.permutation(group)):
        assert_array_equal(from_levels(level, g, np.ones(g.size)).order, np.lexsort((-level, g)))


@settings(max_examples=60, deadline=None)
@given(grouped_integers(40), st.booleans(), st.integers(1, 3))
def test_two_threads_sort_as_one(case, in_order, step):
    """Each its half: groups of any size, one around the middle, scattered, or with codes that nobody has."""
    levels, _, _ = case
    level, group = levels.level, step * (np.sort(levels.group) if in_order else levels.group)
    want = from_levels(level, group, levels.weight)
    with mock.patch.object(comparisons, "MANY", 0):
        have = from_levels(level, group, levels.weight, n_threads=2)
    for mine, one in zip((have.order, have.rank, have.starts), (want.order, want.rank, want.starts), strict=True):
        assert_array_equal(mine, one)
    assert have.is_sorted == want.is_sorted == bool(np.all(np.diff(group) >= 0))
    assert_array_equal(have.spans, replace(have, is_sorted=False).spans)


@pytest.mark.parametrize("n", [20, 3000])
@pytest.mark.parametrize("kind", ["overflow", "denormal", "outliers", "decades", "ties", "nan"])
def test_any_values_are_coded(kind, n):
    """Ranges that overflow or vanish, crowds far from outliers: NumPy's codes."""
    rng = np.random.default_rng(0)
    x = {
        "overflow": rng.choice([-1.7e308, 0.0, 1.0, 1.7e308], n),
        "denormal": 5e-324 * rng.integers(0, n, n),
        "outliers": np.append(rng.normal(size=n - 2), [1e9, 1e18]),
        "decades": 10.0 ** rng.uniform(-300, 300, n),
        "ties": np.round(rng.normal(size=n), 1),
        "nan": np.append(rng.normal(size=n - 1), np.nan),
    }[kind]
    assert_array_equal(dense_codes(x), codes_ref.dense(x))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.integers(-3, 9), st.sampled_from([0.5, 2.25, np.inf])), min_size=1), st.booleans())
def test_codes_equal_twin(values, in_order):
    """Whole numbers, fractions, infinity, sorted or not: places among the distinct values."""
    values = np.sort(np.array(values, dtype=float)) if in_order else np.array(values, dtype=float)
    for x in (values, values[np.isfinite(values)].astype(int)):
        assert_array_equal(dense_codes(x), codes_ref.dense(x))


@every_pair_or_none
@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
@pytest.mark.parametrize("most_levels", [4, 40])
@settings(max_examples=30, deadline=None)
@given(st.data())
def test_implicit_equals_written_out_rows(loss, most_levels, few, data):
    """The implicit risk is the risk of its rows, smoothed or not."""
    levels, u, v = data.draw(grouped_integers(most_levels))
    want = RowsRisk(levels.rows(), loss, h=0.25).evaluate(u)
    have = GroupedPairRisk(levels, loss, h=0.25, few=few).evaluate(u)
    assert_allclose(have[0], want[0], rtol=1e-13, atol=1e-12)
    assert_allclose(have[1], want[1], atol=1e-11)
    assert_allclose(have[2](v), want[2](v), atol=1e-11)


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
@pytest.mark.parametrize("n_levels", [4, 300])
def test_gradient_and_hessian_match_differences(loss, n_levels):
    """Central differences of the value and of the gradient."""
    rng = np.random.default_rng(0)
    n = 300
    levels = from_levels(rng.integers(0, n_levels, n), rng.integers(0, 3, n), rng.uniform(0.5, 2, n))
    risk = GroupedPairRisk(levels, loss, h=0.4)
    u, v, e = rng.normal(size=n), rng.normal(size=n), 1e-6
    _, g, hessp = risk.value_gradient_hessp(u)
    up, down = (risk.value_gradient_hessp(u + s * e * v) for s in (1, -1))
    assert (up[0] - down[0]) / (2 * e) == pytest.approx(g @ v, rel=1e-6)
    # few pairs cross a corner within e
    assert_allclose((up[1] - down[1]) / (2 * e), hessp(v), atol=1e-3 * np.abs(hessp(v)).max())


def test_rows_risk_with_levels_matches_differences():
    """Free levels are further entries of u."""
    rng = np.random.default_rng(1)
    rows = from_levels(rng.integers(0, 3, 20), np.zeros(20, np.int64), np.ones(20)).rows()
    rows = type(rows)(rows.D, rng.choice([-1.0, 1.0], (rows.margin.size, 2)), rows.margin, rows.weight)
    risk = RowsRisk(rows, HINGE, h=0.5)
    u, v, e = rng.normal(size=22), rng.normal(size=22), 1e-6
    _, g, _ = risk.value_gradient_hessp(u)
    slope = (risk.value_gradient_hessp(u + e * v)[0] - risk.value_gradient_hessp(u - e * v)[0]) / (2 * e)
    assert slope == pytest.approx(g @ v, rel=1e-6)


@pytest.mark.parametrize("n_levels", [5, 200])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_half_laplacian_gives_the_hessian_in_w(n_levels, dtype):
    """X'Y + Y'X = X'LX for running sums of rows and for trees of them."""
    rng = np.random.default_rng(2)
    n = 700
    levels = from_levels(rng.integers(0, n_levels, n), rng.integers(0, 2, n), rng.uniform(0.5, 2, n))
    risk = GroupedPairRisk(levels, HINGE, h=0.3)
    X, u = rng.normal(size=(n, 6)), rng.normal(size=n)
    rows = X.astype(dtype)
    half = rows.T.astype(float) @ risk.laplacian_half(u, rows, Block(0, n, np.arange(2)))
    L = (ref.laplacian(levels, u, 1.3) - ref.laplacian(levels, u, 0.7)) / 1.2
    assert_allclose(half + half.T, X.T @ L @ X, rtol=1e-4 if dtype == np.float32 else 1e-10)


@pytest.mark.parametrize("few", [0, 400])
@pytest.mark.parametrize("spread", [0.0, 1e-200, 1e-9, 1.0, 1e200])
def test_any_spread_of_utilities_is_sorted(spread, few):
    """Ties, outliers and denormal differences reach the sort's slow branches and stay right."""
    rng = np.random.default_rng(3)
    n = 400
    u = spread * rng.normal(size=n) ** 9
    levels = from_levels(rng.integers(0, 4, n), np.zeros(n, np.int64), np.ones(n))
    terms, g = GroupedPairRisk(levels, SQUARED_HINGE, few=few).evaluate_block(u, Block(0, n, np.zeros(1, np.int64)))
    with np.errstate(over="ignore"):
        want = ref.sums(levels, u, 1.0)[1]
    assert terms.value == pytest.approx(want, rel=1e-12) or not np.isfinite(want)
    assert_allclose(g, ref.gradient(levels, u, 1.0), rtol=1e-9, atol=1e-9 * np.abs(g).max())


@every_pair_or_none
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_utilities_that_are_not_finite_give_nan(bad, few):
    """A nan never reaches an index."""
    levels = from_levels(np.arange(50) % 3, np.zeros(50, np.int64), np.ones(50))
    u = np.linspace(0, 1, 50)
    u[17] = bad
    terms, _ = GroupedPairRisk(levels, SQUARED_HINGE, few=few).evaluate_block(u, Block(0, 50, np.zeros(1, np.int64)))
    assert np.isnan(terms.value)


def test_sums_of_many_levels_equal_the_twin():
    """Levels of five digits; ties in level and in utility included."""
    rng = np.random.default_rng(7)
    n = 5000
    levels = from_levels(np.arange(n) % 4500, np.zeros(n, np.int64), rng.integers(1, 3, n).astype(float))
    u, v = rng.integers(-8, 9, n) / 4.0, rng.integers(-2, 3, n).astype(float)
    terms, g, hessp = GroupedPairRisk(levels, SQUARED_HINGE).evaluate(u)
    assert terms.value == ref.sums(levels, u, 1.0)[1]
    assert_array_equal(g, ref.gradient(levels, u, 1.0))
    better, worse = levels.pairs()
    active = np.where(u[better] - u[worse] < 1.0, 2.0 * levels.weight[better] * levels.weight[worse], 0.0)
    flow = active * (v[better] - v[worse])
    assert_array_equal(hessp(v), np.bincount(better, flow, n) - np.bincount(worse, flow, n))


@pytest.mark.parametrize("h", [1e-4, 0.3])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_all_pairs_met_are_the_sorted_ones(h, offset):
    """Any smoothing, weights over decades, an offset of all utilities: both ways to the same sums."""
    rng = np.random.default_rng(5)
    n = 3000
    levels = from_levels(rng.integers(0, 6, n), rng.integers(0, 30, n), 10.0 ** rng.uniform(-3, 3, n))
    u = rng.normal(size=n) + offset
    met, ordered = (GroupedPairRisk(levels, HINGE, h=h, few=few).evaluate(u) for few in (10**6, 0))
    assert_allclose(met[0], ordered[0], rtol=1e-9)
    assert_allclose(met[1], ordered[1], atol=1e-9 * np.abs(met[1]).max())


def test_more_than_two_to_the_31_pairs_are_counted_right():
    """100,000 real-valued grades in one group: 5e9 pairs, each short by exactly 1 at u = 0."""
    n = 100_000
    levels = from_levels(np.random.default_rng(4).permutation(n), np.zeros(n, np.int64), np.ones(n))
    terms, g, _ = GroupedPairRisk(levels, SQUARED_HINGE).evaluate(np.zeros(n))
    assert levels.n_pairs == n * (n - 1) // 2 > 2**31
    assert terms.value == n * (n - 1) / 2
    assert_array_equal(g, 2.0 * (n - 1 - 2.0 * levels.level))


def near_pairs(level, u, weight, loss, h, near=32):
    """Items in ascending order of level whose pairs keep their margins where they are far apart: rows of the others."""
    n = level.size
    better, worse = (np.concatenate([np.arange(k, n) - by * k for k in range(1, near)]) for by in (0, 1))
    differs = level[better] > level[worse]
    better, worse = better[differs], worse[differs]
    rows = RowsRisk(from_pairs(better, worse, weight[better] * weight[worse], n), loss, h)
    return rows, *rows.evaluate(u)


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
def test_levels_cut_into_parts_equal_the_rows_of_near_pairs(loss):
    """Beyond 131,072 levels. Utilities grow by 9/64 from one level to the next.

    They are multiples of 3/64, so that sums are exact and no pair is at a corner of its loss, where curvature jumps.
    """
    rng = np.random.default_rng(4)
    n, h = 150_000, 15 / 64
    level = np.sort(np.arange(n) % 140_000)  # some are shared
    u, v = (3 * level + rng.integers(-7, 8, n)) * 3 / 64, rng.integers(-2, 3, n).astype(float)
    weight = rng.integers(1, 3, n).astype(float)
    rows, want, g, hessp = near_pairs(level, u, weight, loss, h)
    item = rng.permutation(n)  # what the items are called
    risk = GroupedPairRisk(from_levels(level[item], np.zeros(n, np.int64), weight[item]), loss, h=h)
    have, g_have, hessp_have = risk.evaluate(u[item])
    assert_allclose(have, want, rtol=1e-12)
    assert_allclose(g_have, g[item], atol=1e-9)  # of utilities up to 2e4
    assert_allclose(hessp_have(v[item]), hessp(v)[item], atol=1e-11)
    degrees = np.abs(rows.rows.D).T @ rows.look(rows.rows.margin - rows.rows.D @ u).curvature
    assert_allclose(risk.degrees(u[item], Block(0, n, np.zeros(1, np.int64))), degrees[item], atol=1e-11)


@pytest.mark.parametrize(("n", "n_levels"), [(20_000, 20_000), (140_000, 140_000), (20_000, 5)])
def test_a_few_active_pairs_of_many_lose_no_digits(n, n_levels):
    """Data without noise at a large C: utilities of thousands of margins, and partners that are near ones only."""
    rng = np.random.default_rng(6)
    level = np.sort(rng.integers(0, n_levels, n)) if n_levels < n else np.arange(n)
    u = level / 8 + rng.uniform(-0.3, 0.3, n) if n_levels == n else np.linspace(0.0, 1e4, n)
    weight = rng.uniform(0.5, 2.0, n)
    _, want, g, _ = near_pairs(level, u, weight, SQUARED_HINGE, 1.0)
    have, g_have, _ = GroupedPairRisk(from_levels(level, np.zeros(n, np.int64), weight), SQUARED_HINGE).evaluate(u)
    assert_allclose(have, want, rtol=1e-8)  # 1e-5 to 1e-2 where sums are taken off each other
    assert_allclose(g_have, g, atol=1e-10 * np.abs(u).max())


def test_samples_estimate_all_pairs():
    """Whole groups and pieces of a large one, weighted, have about the weight of all pairs."""
    rng = np.random.default_rng(5)
    group = np.concatenate([np.zeros(3000, np.int64), 1 + np.repeat(np.arange(200), 30)])
    levels = from_levels(rng.integers(0, 5, group.size), group, np.ones(group.size))
    sample = GroupedPairRisk(levels, SQUARED_HINGE).sample(2000, 0)
    assert 1800 < sample.items.size < 2300
    for estimate in (sample.whole, sample.pieces):
        assert estimate.levels.total_weight == pytest.approx(levels.total_weight, rel=0.1)
    u = rng.normal(size=group.size)
    assert ref.sums(sample.own.levels, u[sample.items], 1.0)[1] < ref.sums(levels, u, 1.0)[1]
