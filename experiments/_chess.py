"""Sixteen features of a chess player before a game, from the games of earlier months alone."""

import numpy as np
from sklearn.utils import Bunch

from widemargin.datasets import fetch_chess
from widemargin.ratings import elo, fide_k, glicko

INITIAL = 1200.0  # as in the paper
FADES = 0.5 ** (1 / 6)  # of a month: form halves in six
COUNTS = ["games", "wins", "draws", "losses", "upsets_won", "upsets_lost", "edge", "opponents"]
FEATURES = [
    "elo",
    "glicko",
    "glicko_deviation",
    "white",
    *COUNTS[:4],
    "win_share",
    "draw_share",
    "loss_share",
    "upsets_won_share",  # against players with more Elo points
    "upsets_lost_share",
    "mean_edge",  # own Elo less the opponent's
    "mean_opponent",
    "form",  # score per game, recent games more
]


def games():
    """Return month, y, X (n, 2, 16), the number of earlier games of both players, in the order of the months."""
    data = fetch_chess()
    order = np.argsort(data.month, kind="stable")
    month, y = data.month[order], data.y[order]
    index = np.column_stack([data.white, data.black])[order]
    e = elo(index, y, period=month, k=fide_k, initial=INITIAL)
    g = glicko(index, y, period=month, initial=INITIAL, c=15.0)
    history, form = histories(index, y, month, e.before)
    n_games = history[..., 0]
    shares = history[..., 1:] / np.maximum(n_games, 1)[..., None]
    white = np.broadcast_to([1.0, 0.0], index.shape)
    X = np.concatenate(
        [
            np.stack([e.before, g.before, g.deviation_before, white], axis=-1),
            history[..., :4],
            shares,
            form[..., None],
        ],
        axis=-1,
    )
    return Bunch(month=month, y=y, X=X, played=n_games)


def histories(index, y, month, rating):
    """Return the counts of both players before the month of each game, and their form."""
    n_players = int(index.max()) + 1
    total, recent = np.zeros((n_players, len(COUNTS))), np.zeros((n_players, 2))
    before, form = np.empty((*index.shape, len(COUNTS))), np.empty(index.shape)
    for m in np.unique(month):
        now = month == m
        before[now] = total[index[now]]
        form[now] = (recent[index[now], 0] + 0.5) / (recent[index[now], 1] + 1.0)  # half a point of half a game
        recent *= FADES
        for side in (0, 1):
            seen = outcome(y[now] * (1 - 2 * side), rating[now, side], rating[now, 1 - side])
            np.add.at(total, index[now, side], seen)
            np.add.at(recent, index[now, side], np.column_stack([seen[:, 1] + seen[:, 2] / 2, seen[:, 0]]))
    return before, form


def outcome(y, own, other):
    """Return what a game adds to a player's counts: y is +1 for a win, 0 for a draw, -1 for a loss."""
    won, lost = y == 1, y == -1
    columns = np.ones(y.size), won, y == 0, lost, won & (other > own), lost & (other < own), own - other, other
    return np.column_stack(columns).astype(float)


def months(data, year, first, last):
    """Return the rows of some months (1 to 12) of a year (from 0) between players who both have ten earlier games."""
    month = data.month - 12 * year
    return np.flatnonzero((data.played >= 10).all(axis=1) & (month >= first) & (month <= last))
