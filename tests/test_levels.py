"""The best level for given differences, where not all of them are sorted."""

import numpy as np
import pytest

from widemargin._core import rules


def by_sorting(target, e, weight):
    """The minimisers, from the slope at every target."""
    order = np.argsort(target, kind="stable")
    slope = np.concatenate([[0.0], np.cumsum(weight[order])]) - weight[e > 0].sum()
    bounds = np.concatenate([[-np.inf], target[order], [np.inf]])
    k = int(np.argmax(slope >= -rules.FLAT * weight.sum()))
    return bounds[k], bounds[k + 1] if abs(slope[k]) <= rules.FLAT * weight.sum() else bounds[k]


@pytest.mark.parametrize("share", [0.0, 1e-4, 0.3, 0.5, 0.99, 1.0])
@pytest.mark.parametrize("kind", ["distinct", "rounded", "weighted", "in order"])
def test_many_targets_give_the_level_that_sorting_gives(kind, share):
    """Any share of rising rows: ties, unequal weights, targets that come sorted, the level beyond all of them."""
    rng = np.random.default_rng(0)
    n = 5 * rules.MANY
    target, e = rng.normal(size=n), np.where(rng.random(n) < share, 1.0, -1.0)
    weight = rng.integers(1, 20, n).astype(float) if kind == "weighted" else np.ones(n)
    target = {"rounded": target.round(1), "in order": np.sort(target)}.get(kind, target)
    want = by_sorting(target, e, weight)
    assert rules.level_interval(target, e, weight) == want
    for around in ((want[0] - 0.1, want[1] + 0.1), (-0.1, 0.1), (9.0, 9.5)):  # right bounds, and perhaps wrong ones
        assert rules.level_interval(target, e, weight, around) == want


def test_a_flat_part_is_found_whole():
    """Half of the rows rise below the other half: every level in between is as good."""
    target = np.concatenate([np.linspace(-2.0, -1.0, rules.MANY), np.linspace(1.0, 2.0, rules.MANY)])
    e = np.where(target < 0.0, 1.0, -1.0)
    assert rules.level_interval(target, e, np.ones(target.size)) == (-1.0, 1.0)


@pytest.mark.parametrize("kind", ["normal", "few values", "heavy weights"])
@pytest.mark.parametrize("seed", range(10))
def test_the_level_of_squared_slacks_is_the_sorted_one(kind, seed, monkeypatch):
    """Newton's method and the sort find the same minimum, from whatever level it begins."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 300))
    target = rng.integers(-3, 4, n).astype(float) if kind == "few values" else rng.standard_normal(n)
    e, weight = rng.choice([-1.0, 1.0], n), rng.uniform(0.1, 2.0, n)
    weight *= 10.0 ** rng.uniform(-4.0, 4.0, n) if kind == "heavy weights" else 1.0
    want = rules._squared_interval(target, e, weight)
    monkeypatch.setattr(rules, "MANY", 0)
    for around in (None, (want[0], want[0]), (-100.0, 50.0), (4.0, 5.0)):
        found = rules._squared_interval(target, e, weight, around)
        assert found == pytest.approx(want, rel=1e-12, abs=1e-12)


def test_a_level_that_newton_does_not_find_is_sorted_for(monkeypatch):
    """No step is allowed: the answer is the same."""
    rng = np.random.default_rng(0)
    target, e, weight = rng.standard_normal(50), rng.choice([-1.0, 1.0], 50), rng.uniform(0.1, 2.0, 50)
    want = rules._squared_interval(target, e, weight)
    monkeypatch.setattr(rules, "MANY", 0)
    monkeypatch.setattr(rules, "NEWTON_STEPS", 0)
    assert rules._squared_interval(target, e, weight) == want
    assert rules._squared_level(target, np.zeros(50, bool), weight, 100.0) is None  # nothing pulls there
