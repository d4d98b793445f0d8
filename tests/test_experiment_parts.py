"""Parts of the experiments that could be wrong without showing it in a figure."""

from itertools import product

import numpy as np
import pytest
from experiments import _chess, _venuto
from experiments._votes import logistic
from experiments._yukim import vectors
from experiments.today_choices import logit
from experiments.yukim_ohsumed import within_query
from numpy.testing import assert_allclose, assert_array_equal

from widemargin import ComparisonSVM


@pytest.mark.parametrize("machine", _venuto.MACHINES)
def test_the_chosen_machine_is_the_best_of_the_grid(machine, monkeypatch):
    """Fits one by one, instead of along paths, find none that is better on the validation pairs, nor a smaller C."""
    monkeypatch.setattr(_venuto, "TOL", 1e-9)  # on a looser path equal scores can come apart
    train, validation, _ = _venuto.draw("l1", 40, 0.5, 0)
    grid = {"C": [0.1, 10.0, 1000.0], "gamma": [0.1, 4.0]}
    chosen = _venuto.choose(machine, train, validation, {"error": _venuto.accuracy}, grid)["error"]
    keys = {}
    for C, gamma in product(*grid.values()):
        model = ComparisonSVM(C, kernel="rbf", gamma=gamma, ties=_venuto.MACHINES[machine], tol=1e-9)
        keys[_venuto.accuracy(model.fit(train.X, train.y), validation), -C, -gamma] = C, gamma
    assert (chosen.C, chosen.gamma) == keys[max(keys)]


def test_training_validation_and_test_pairs_have_the_asked_sizes_and_ties():
    """Each of the three sets has its size and the same share of ties."""
    sets = _venuto.draw("linf", 40, 0.25, 1)
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


def test_logistic_counts_a_tie_as_half_a_win():
    """Of two players, one with 6 wins, 2 ties and 1 loss has odds 7 : 2 (a weak penalty takes a little away)."""
    y = np.array([1] * 6 + [0] * 2 + [-1])
    many = np.tile(y, 2000)
    w = logistic(np.ones((many.size, 1)), many)
    assert_allclose(np.exp(w), 7 / 2, rtol=1e-3)


def test_logit_with_constants_gives_the_observed_shares():
    """A conditional logit with a constant for each alternative but one predicts every alternative's share."""
    rng = np.random.default_rng(0)
    n, shares = 400, np.array([0.5, 0.3, 0.2])
    chosen = rng.choice(3, size=n, p=shares)
    X, qid = np.tile(np.eye(3)[:, 1:], (n, 1)), np.repeat(np.arange(n), 3)
    w = logit(X, np.eye(3)[chosen].ravel(), qid)
    p = np.exp(np.append(0.0, w))
    assert_allclose(p / p.sum(), np.bincount(chosen) / n, atol=1e-4)


def test_features_are_scaled_within_their_query():
    """Each query's smallest value becomes 0 and its largest 1; a constant becomes 0."""
    X = np.array([[1.0, 5.0], [3.0, 5.0], [2.0, 5.0], [10.0, 1.0], [30.0, 2.0]])
    scaled = within_query(X, [7, 7, 7, 3, 3])
    assert_allclose(scaled, [[0, 0], [1, 0], [0.5, 0], [0, 0], [1, 1]])


def test_vectors_of_an_svm_are_points_of_support_pairs():
    """With utilities 0, 1, 3, 9 on four places only the lowest two are within the margin of 1."""

    class Fixed:
        def predict(self, X):
            return X[:, 0]

    X = np.array([[0.0], [1.0], [3.0], [9.0]])
    assert vectors("svm", Fixed(), (X, np.arange(4))) == {"vectors": 2, "pairs": 1}
