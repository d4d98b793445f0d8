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
