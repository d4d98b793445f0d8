"""Groups drawn for a sample: what they stand for, and what is left out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from widemargin import RankingSVM
from widemargin._core.comparisons import from_levels
from widemargin._core.draws import PIECE, SURPLUS, draw_groups, draw_large
from widemargin._core.losses import SQUARED_HINGE
from widemargin._core.maps import LinearMap
from widemargin._core.newton import newton
from widemargin._core.risks import GroupedPairRisk
from widemargin._core.solution import Status


def levels_of(*counts, n_groups=200):
    """Groups in scattered order, each with so many items of each level."""
    level = np.tile(np.repeat(np.arange(len(counts)), counts), n_groups)
    group = np.repeat(np.arange(n_groups), sum(counts))
    order = np.random.default_rng(0).permutation(level.size)
    return from_levels(level[order], group[order], np.ones(level.size))


def drawn(levels, share, seed=0):
    return draw_groups(levels, np.arange(levels.starts.size - 1), share, np.random.default_rng(seed))


def test_balanced_groups_are_drawn_whole():
    """Nothing is thinned where no level outnumbers the others: a share of the groups, each pair for as many."""
    levels = levels_of(4, 6, 2)
    found = drawn(levels, 0.25)
    assert found.is_even
    assert_array_equal(found.counts, np.full(50, 12))
    assert np.unique(found.positions).size == 600
    assert found.factor == pytest.approx(2.0)


def test_a_level_that_outnumbers_the_others_is_thinned():
    """Two of forty: all of the two, four times as many others, and so four times the groups."""
    levels = levels_of(38, 2)
    found = drawn(levels, 0.1)
    assert not found.is_even
    assert_array_equal(found.counts, np.full(80, 2 + 2 * SURPLUS))
    assert np.unique(found.positions).size == found.positions.size
    level = levels.level[levels.order[found.positions]]
    assert (level == 1).sum() == 2 * 80
    assert found.factor[level == 1] == pytest.approx(np.sqrt(200 / 80))
    assert found.factor[level == 0] == pytest.approx(np.sqrt(200 / 80) * 38 / 8)


def test_a_small_sample_leaves_large_groups_out():
    """A piece of each of a hundred groups would be ten times what is asked: ten of all sizes stand for them."""
    rng = np.random.default_rng(0)
    sizes = rng.permutation(np.repeat([600, 1200, 6000], [50, 40, 10]))
    group, hits = np.repeat(np.arange(100), sizes), np.zeros(sizes.sum())
    levels = from_levels(rng.integers(0, 3, group.size), group, np.ones(group.size))
    for seed in range(200):
        few = draw_large(levels, np.arange(100), 10 * PIECE / sizes.sum(), np.random.default_rng(seed))
        assert_array_equal(few.counts, np.full(10, PIECE))
        assert np.unique(few.positions).size == few.positions.size
        chosen = group[few.positions[::PIECE]]
        assert_array_equal(group[few.positions], np.repeat(chosen, PIECE))
        assert np.sum(sizes[chosen] == 6000) == 1
        assert np.sum((few.factor[::PIECE] * PIECE) ** 2) == pytest.approx(np.sum(sizes**2.0))
        hits[few.positions] += 1
    by_group = np.bincount(group, hits)
    assert 0 < by_group.min() < by_group.max() < 60 * PIECE
    every = draw_large(levels, np.arange(100), 0.5, rng)
    assert_array_equal(every.counts, sizes // 2)
    assert every.factor == pytest.approx(2.0)


def test_large_groups_that_are_drawn_have_pairs():
    """Groups of one level are left out, and a level of one item among hundreds is there."""
    n_groups, size = 60, 600
    level = np.zeros((n_groups, size), np.int64)
    level[[4, 20, 51], 77] = 1
    level[30:] = 1  # all of one level, and not the lowest
    level[51, 78:] = 2
    levels = from_levels(level.ravel(), np.repeat(np.arange(n_groups), size), np.ones(level.size))
    for seed in range(50):
        sample = GroupedPairRisk(levels, SQUARED_HINGE).sample(1000, seed)
        assert sample.own.levels.n_pairs > 0
        assert set(levels.group[sample.items]) <= {4, 20, 51}


def test_few_queries_of_two_grades_among_large_ones_are_learned_from():
    """Most queries of 600 items have one grade: they change nothing, and a sample does not consist of them."""
    rng = np.random.default_rng(0)
    X, y, qid = rng.normal(size=(36_000, 4)), np.zeros(36_000), np.repeat(np.arange(60), 600)
    for q in (3, 17, 40):
        y[600 * q : 600 * q + 300] = 1.0
    model = RankingSVM(loss="squared_hinge").fit(X, y, qid=qid)
    few = np.isin(qid, [3, 17, 40])
    assert model.converged_
    assert_allclose(model.coef_, RankingSVM(loss="squared_hinge").fit(X[few], y[few], qid=qid[few]).coef_, atol=0.05)


def test_moderate_groups_are_drawn_whole_where_a_sample_has_many():
    """A group is sampled by its items only where it would be much of the sample: whole ones have more pairs."""
    levels = levels_of(300, 300, 400, n_groups=40)
    risk = GroupedPairRisk(levels, SQUARED_HINGE)
    few, many = risk.sample(2048, 0), risk.sample(20_000, 0)
    assert few.items.size == 2048
    assert many.is_even
    assert_array_equal(np.diff(many.own.levels.starts), np.full(20, 1000))


@pytest.mark.parametrize("counts", [(38, 2), (4, 6, 2), (1, 30, 1)])
def test_the_pairs_drawn_stand_for_all(counts):
    """The weights of the pairs add up to those of all; each item of a thinned level is as likely as another."""
    levels = levels_of(*counts)
    risk, hits = GroupedPairRisk(levels, SQUARED_HINGE), np.zeros(levels.n_items)
    for seed in range(300):
        sample = risk.sample(levels.n_items // 10, seed)
        assert sample.whole.levels.total_weight == pytest.approx(levels.total_weight)
        hits[sample.items] += 1
    for level in range(len(counts)):
        here = hits[levels.level == level]
        assert here.mean() / 8 < here.min()
        assert here.max() < 4 * here.mean()


def test_groups_without_pairs_are_left_out():
    """Nine of ten groups have one level: the others are drawn, and stand for those that have pairs only."""
    group = np.repeat(np.arange(300), 10)
    level = np.where(group % 10 == 0, np.arange(3000) % 2, 0)
    levels = from_levels(level, group, np.ones(3000))
    found = drawn(levels, 0.05)
    assert_array_equal(np.unique(group[levels.order[found.positions]]) % 10, np.zeros(15))
    assert found.is_even
    assert found.factor == pytest.approx(np.sqrt(2.0))
    assert drawn(levels, 1.0).counts.sum() == 300


def test_few_preferred_items_are_certified_from_samples():
    """Two of forty items preferred: a fit that begins with thinned samples ends where a finer one does."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40_000, 6))
    group = np.repeat(np.arange(1000), 40)
    u = X @ np.ones(6) + 3.0 * rng.normal(size=group.size)
    level = (u.reshape(1000, 40).argsort(axis=1).argsort(axis=1) >= 38).ravel().astype(np.int64)
    risk = GroupedPairRisk(from_levels(level, group, np.ones(group.size)), SQUARED_HINGE)
    coarse, fine = (newton(risk, LinearMap(X), 1e-4, tol=tol) for tol in (1e-3, 1e-8))
    assert coarse.status is fine.status is Status.CONVERGED
    assert coarse.dual <= fine.objective <= coarse.objective * (1 + 1e-9)
    assert coarse.objective <= fine.objective * (1 + 1e-3)
