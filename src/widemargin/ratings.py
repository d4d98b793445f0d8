"""Elo and Glicko: ratings of players from the outcomes of their games, one period after the other.

The baselines of a leaderboard. Unlike a fit, they depend on the order of the games.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

__all__ = ["Ratings", "elo", "fide_k", "glicko"]

SCALE = np.log(10.0) / 400.0  # of a rating: 400 points are odds of ten to one
LARGEST_DEVIATION = 350.0


@dataclass(frozen=True)
class Ratings:
    """What players are rated after the last period, and were before each game.

    Attributes
    ----------
    rating : ndarray of shape (n_players,)
        Larger is better.
    deviation : ndarray of shape (n_players,)
        Standard deviation of the rating after a player's last game; nan for Elo, which has none.
    n_games : ndarray of int of shape (n_players,)
        Games played.
    before : ndarray of shape (n_games, 2)
        Ratings of both players before the period of each game: what one may predict it from.
    deviation_before : ndarray of shape (n_games, 2)
        Their deviations then.
    """

    rating: np.ndarray
    deviation: np.ndarray
    n_games: np.ndarray
    before: np.ndarray
    deviation_before: np.ndarray


def elo(index, y, *, period=None, k=20.0, initial=1500.0, n_players=None):
    """Return Elo ratings: r + k * (score - expected score), summed over the games of a period.

    The expected score of a player against one rated d points lower is 1 / (1 + 10^(-d / 400)).

    Parameters
    ----------
    index : array-like of int of shape (n_games, 2)
        The two players of each game, counted from 0.
    y : array-like of shape (n_games,)
        +1 the first player won, 0 a draw, -1 the second won.
    period : array-like of shape (n_games,) or None, default=None
        Games of the same period are rated together, periods in increasing order. None: each game alone, in order.
    k : float or callable, default=20.0
        Points at stake; or a function of (rating, n_games) before the period, as :func:`fide_k`.
    initial : float or array-like of shape (n_players,), default=1500.0
        Ratings before the first game.
    n_players : int or None, default=None
        None: the largest index + 1.

    Returns
    -------
    Ratings

    References
    ----------
    A. Elo, "The rating of chess players, past and present", 1978.

    Examples
    --------
    >>> from widemargin.ratings import elo
    >>> elo([(0, 1), (1, 2)], [1, 0], k=20).rating.round(1).tolist()
    [1510.0, 1490.3, 1499.7]
    """
    index, y, n = _check_games(index, y, n_players)
    rating, n_games = _start(initial, n), np.zeros(n, dtype=np.int64)
    before = np.empty(index.shape)
    for games in _periods(period, y.size):
        before[games] = rating[index[games]]
        players, me, other, score = _both_sides(index[games], y[games])
        surprise = score - expit(SCALE * (rating[players][me] - rating[players][other]))
        stake = k(rating[players], n_games[players]) if callable(k) else k
        rating[players] += stake * np.bincount(me, weights=surprise)
        n_games[players] += np.bincount(me)
    unknown = np.full(n, np.nan), np.full(index.shape, np.nan)
    return Ratings(rating, unknown[0], n_games, before, unknown[1])


def fide_k(rating, n_games):
    """Return FIDE's points at stake: 40 in the first 30 games, then 20, and 10 from a rating of 2400 on.

    Parameters
    ----------
    rating : array-like of float
        Ratings before the game.
    n_games : array-like of int
        Games played before.

    Returns
    -------
    ndarray of float
    """
    return np.where(np.asarray(n_games) < 30, 40.0, np.where(np.asarray(rating) >= 2400.0, 10.0, 20.0))


def glicko(index, y, *, period=None, initial=1500.0, deviation=LARGEST_DEVIATION, c=0.0, n_players=None):
    """Return Glicko ratings: Elo with a deviation for each player, large while little is known of them.

    Parameters
    ----------
    index : array-like of int of shape (n_games, 2)
        The two players of each game, counted from 0.
    y : array-like of shape (n_games,)
        +1 the first player won, 0 a draw, -1 the second won.
    period : array-like of int of shape (n_games,) or None, default=None
        Games of the same period are rated together, periods in increasing order. None: each game alone, in order.
    initial : float or array-like of shape (n_players,), default=1500.0
        Ratings before the first game.
    deviation : float or array-like of shape (n_players,), default=350.0
        Deviations before the first game.
    c : float, default=0.0
        A deviation grows by sqrt(deviation^2 + c^2 t) in t periods, to 350 at the most.
    n_players : int or None, default=None
        None: the largest index + 1.

    Returns
    -------
    Ratings

    References
    ----------
    M. E. Glickman, "Parameter estimation in large dynamic paired comparison experiments", 1999.

    Examples
    --------
    >>> from widemargin.ratings import glicko
    >>> found = glicko([(0, 1), (0, 1), (1, 0)], [1, 0, -1], period=[1, 1, 2])
    >>> found.rating[0] > found.rating[1], found.deviation[0] < 350
    (np.True_, np.True_)
    """
    index, y, n = _check_games(index, y, n_players)
    when = np.arange(y.size) if period is None else np.asarray(period)
    rating, spread, n_games = _start(initial, n), _start(deviation, n), np.zeros(n, dtype=np.int64)
    last = np.full(n, when.min() if y.size else 0)
    before, spread_before = np.empty(index.shape), np.empty(index.shape)
    for games in _periods(period, y.size):
        players, me, other, score = _both_sides(index[games], y[games])
        idle = when[games[0]] - last[players]
        spread[players] = np.minimum(np.sqrt(spread[players] ** 2 + c**2 * idle), LARGEST_DEVIATION)
        last[players] = when[games[0]]
        before[games], spread_before[games] = rating[index[games]], spread[index[games]]
        r, s = rating[players], spread[players]
        g = 1.0 / np.sqrt(1.0 + 3.0 * (SCALE * s[other] / np.pi) ** 2)  # less is learnt from a doubtful opponent
        expected = expit(SCALE * g * (r[me] - r[other]))
        information = SCALE**2 * np.bincount(me, weights=g**2 * expected * (1.0 - expected))  # 1 / d^2
        variance = 1.0 / (1.0 / s**2 + information)
        rating[players] = r + SCALE * variance * np.bincount(me, weights=g * (score - expected))
        spread[players] = np.sqrt(variance)
        n_games[players] += np.bincount(me)
    return Ratings(rating, spread, n_games, before, spread_before)


def _check_games(index, y, n_players):
    """Return the games as arrays, and the number of players."""
    index, y = np.asarray(index), np.asarray(y)
    if index.ndim != 2 or index.shape[1] != 2 or not np.issubdtype(index.dtype, np.integer):
        raise ValueError(f"index has shape {index.shape} and type {index.dtype}; expected integers (n_games, 2).")
    if y.shape != (index.shape[0],) or not np.isin(y, (-1, 0, 1)).all():
        raise ValueError(f"y must hold +1, 0 or -1 for each of the {index.shape[0]} games; got shape {y.shape}.")
    n = int(index.max(initial=-1)) + 1 if n_players is None else n_players
    if index.size and not 0 <= index.min() <= index.max() < n:
        raise ValueError(f"index goes from {index.min()} to {index.max()}; expected 0 to {n - 1}.")
    if np.any(index[:, 0] == index[:, 1]):
        raise ValueError(f"game {int(np.argmax(index[:, 0] == index[:, 1]))} has the same player twice.")
    return index, y, n


def _start(value, n):
    """Return the initial values, one for each player."""
    return np.array(np.broadcast_to(np.asarray(value, dtype=float), n))


def _periods(period, n_games):
    """Return the positions of the games of each period, in order."""
    if period is None:
        return np.arange(n_games)[:, None]
    period = np.asarray(period)
    if period.shape != (n_games,):
        raise ValueError(f"period has shape {period.shape}; expected {(n_games,)}: one per game.")
    order = np.argsort(period, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(period[order])) + 1) if n_games else []


def _both_sides(index, y):
    """Return the players of some games, and each game from both sides: who, against whom, with which score."""
    players, place = np.unique(index, return_inverse=True)
    first, second = place.reshape(index.shape).T
    score = (y + 1) / 2
    return players, np.append(first, second), np.append(second, first), np.append(score, 1.0 - score)
