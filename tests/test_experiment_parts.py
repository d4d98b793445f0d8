"""Parts of the experiments that could be wrong without showing it in a figure."""

import numpy as np
import pytest
from experiments import _chess, _venuto
from numpy.testing import assert_allclose, assert_array_equal


@pytest.mark.parametrize("machine", _venuto.MACHINES)
def test_a_machine_that_keeps_all_margins_is_the_optimum_of_every_larger_c(machine):
    """What the grid search skips has the same optimum; what it does not skip has another one."""
    train, test, _ = _venuto.draw("l1", 40, 0.5, seed=0)
    seen = set()
    for C in (0.1, 10.0, 1000.0):
        model, larger = (_venuto.fit(machine, train, C=c, gamma=4.0) for c in (C, 50 * C))
        same = np.allclose(model.decision_function(test.X), larger.decision_function(test.X), atol=1e-6)
        assert same == _venuto.is_hard(model, train)
        seen.add(same)
    assert seen == {True, False}


def test_training_validation_and_test_pairs_have_the_asked_sizes_and_ties():
    """Each of the three sets has its size and the same share of ties."""
    sets = _venuto.draw("linf", 40, 0.25, seed=1)
    assert [s.y.size for s in sets] == [40, 40, _venuto.N_TEST["linf"]]
    assert [float(np.mean(s.y == 0)) for s in sets] == [0.25] * 3


@pytest.fixture
def games():
    """Make games of four players in five months, with ratings."""
    rng = np.random.default_rng(0)
    index = np.array([rng.choice(4, 2, replace=False) for _ in range(60)])
    return index, rng.integers(-1, 2, 60), np.sort(rng.integers(1, 6, 60)), rng.normal(1200, 100, (60, 2))


def test_a_players_history_is_what_a_loop_counts(games):
    """Counts before a month are the sums over the player's games of earlier months."""
    index, y, month, rating = games
    before, _ = _chess.histories(index, y, month, rating)
    for i in range(60):
        for side in (0, 1):
            want = np.zeros(8)
            for j in np.flatnonzero(month < month[i]):
                for s in np.flatnonzero(index[j] == index[i, side]):
                    result, own, other = y[j] * (1, -1)[s], rating[j, s], rating[j, 1 - s]
                    won, lost = result > 0, result < 0
                    upsets = won and other > own, lost and other < own
                    want += [1, won, result == 0, lost, *upsets, own - other, other]
            assert_allclose(before[i, side], want)


def test_features_of_a_game_know_nothing_of_its_month(games):
    """Other outcomes in the last month change no feature of its games."""
    index, y, month, rating = games
    other = np.where(month == month.max(), -y, y)
    for want, have in zip(
        _chess.histories(index, y, month, rating), _chess.histories(index, other, month, rating), strict=True
    ):
        assert_array_equal(want, have)
