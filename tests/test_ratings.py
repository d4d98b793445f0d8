"""Elo and Glicko give what their authors' examples give, and mean what they say about periods and sides."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from widemargin.ratings import elo, fide_k, glicko

BOTH = pytest.mark.parametrize("rate", [elo, glicko])


@pytest.fixture
def games():
    """Make games between five players in four periods."""
    rng = np.random.default_rng(0)
    index = np.array([rng.choice(5, 2, replace=False) for _ in range(40)])
    return index, rng.integers(-1, 2, 40), np.sort(rng.integers(0, 4, 40))


def test_the_worked_example_of_glicko():
    """1500 (200) beats 1400 (30), loses to 1550 (100) and 1700 (300): 1464 and 151.4, says Glickman."""
    found = glicko(
        [(0, 1), (0, 2), (0, 3)],
        [1, -1, -1],
        period=[1, 1, 1],
        initial=[1500, 1400, 1550, 1700],
        deviation=[200, 30, 100, 300],
    )
    assert_allclose(found.rating[0], 1464.1, atol=0.06)
    assert_allclose(found.deviation[0], 151.4, atol=0.06)


def test_the_growth_of_glickmans_deviation():
    """With c = 63.2 a deviation of 50 is 350 after thirty periods: Glickman's example of how to choose c."""
    found = glicko([(0, 1), (0, 1)], [0, 0], period=[0, 30], deviation=50.0, c=63.2)
    first = glicko([(0, 1)], [0], deviation=50.0)
    assert found.deviation_before[1, 0] == pytest.approx(np.hypot(first.deviation[0], 63.2 * np.sqrt(30)), abs=0.5)
    assert found.deviation_before[1, 0] <= 350.0


def test_the_worked_example_of_elo():
    """1613 loses to 1609, draws with 1477, beats 1388 and 1586, loses to 1720: 2.5 of 2.88, so 1601 with k = 32."""
    found = elo(
        [(0, 1), (0, 2), (3, 0), (0, 4), (0, 5)],
        [-1, 0, -1, 1, -1],
        period=[0] * 5,
        k=32,
        initial=[1613, 1609, 1477, 1388, 1586, 1720],
    )
    assert_allclose(found.rating[0], 1601, atol=0.5)


def test_points_at_stake():
    """Beginners gain 40 times the surprise, others 20, masters 10; the rating before decides."""
    assert_array_equal(fide_k([1500, 1500, 2400, 2399], [29, 30, 30, 100]), [40, 20, 10, 20])
    found = elo([(0, 1)] * 31, [1] * 31, k=fide_k, initial=[3000.0, 3000.0])
    steps = np.diff(found.before[:, 0])
    surprise = 1 - 1 / (1 + 10 ** ((found.before[:, 1] - found.before[:, 0]) / 400))
    assert_allclose(steps, (40 * surprise)[:30])
    assert_allclose(found.rating[0] - found.before[30, 0], 10 * surprise[30])


@BOTH
def test_sides_and_the_order_within_a_period_do_not_matter(rate, games):
    """A game told from the other side, or later in its period, is the same game."""
    index, y, period = games
    want = rate(index, y, period=period)
    shuffled = np.random.default_rng(1).permutation(y.size)
    have = rate(index[shuffled][:, ::-1], -y[shuffled], period=period[shuffled])
    assert_allclose(have.rating, want.rating)
    assert_allclose(have.before[:, ::-1], want.before[shuffled])
    assert_array_equal(have.n_games, np.bincount(index.ravel()))


@BOTH
def test_games_one_by_one_are_periods_of_one_game(rate, games):
    """Without periods each game is its own."""
    index, y, _ = games
    assert_allclose(rate(index, y).rating, rate(index, y, period=np.arange(y.size)).rating)


@BOTH
def test_ratings_before_a_game_know_nothing_of_it(rate, games):
    """A change of the last period's outcomes changes no rating before it."""
    index, y, period = games
    other = np.where(period == period.max(), -y, y)
    want, have = rate(index, y, period=period), rate(index, other, period=period)
    assert_array_equal(have.before, want.before)
    assert not np.allclose(have.rating, want.rating)


def test_elo_keeps_the_sum_and_finds_the_better_players():
    """What one wins another loses; after many games the order is the true one."""
    rng = np.random.default_rng(0)
    strength = np.array([0.0, 150.0, 300.0, 450.0])
    index = np.array([rng.choice(4, 2, replace=False) for _ in range(4000)])
    expected = 1 / (1 + 10 ** (-(strength[index[:, 0]] - strength[index[:, 1]]) / 400))
    y = np.where(rng.random(4000) < expected, 1, -1)
    for found in (elo(index, y, k=10), glicko(index, y)):
        assert_array_equal(np.argsort(found.rating), np.arange(4))
        assert_allclose(np.diff(found.rating), 150.0, atol=75.0)
    assert_allclose(elo(index, y).rating.sum(), 6000.0)


@BOTH
@pytest.mark.parametrize(
    ("index", "y", "message"),
    [
        ([(0, 1, 2)], [1], "expected integers"),
        ([(0.0, 1.0)], [1], "expected integers"),
        ([(0, 1)], [0.5], r"must hold \+1, 0 or -1"),
        ([(0, 1)], [1, 1], "each of the 1 games"),
        ([(-1, 1)], [1], "index goes from -1"),
        ([(1, 1)], [1], "game 0 has the same player twice"),
    ],
)
def test_bad_games_are_refused(rate, index, y, message):
    """The message says what was got and what was expected."""
    with pytest.raises(ValueError, match=message):
        rate(index, y)


@BOTH
def test_no_games_leave_the_initial_ratings(rate):
    """Nothing played, nothing changed."""
    found = rate(np.zeros((0, 2), dtype=int), [], n_players=2)
    assert_array_equal(found.rating, [1500.0, 1500.0])
