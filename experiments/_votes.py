"""What votes on language models are predicted from, by which models, and how these are chosen."""

import re
from itertools import product

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

from widemargin import ComparisonSVM, Pairs
from widemargin.metrics import comparison_auc
from widemargin.ratings import elo

from ._seeds import generator, seed

SQUARE = ComparisonSVM(loss="squared_hinge", class_weight="balanced")
MARGIN, WINS, HINGE = (f"ComparisonSVM, {what}" for what in ("squared hinge", "wins alone", "hinge"))
MACHINES = {
    MARGIN: SQUARE,
    WINS: clone(SQUARE).set_params(ties="threshold", class_weight=None),
    HINGE: clone(SQUARE).set_params(loss="hinge"),
}
LOGISTIC = "logistic (Bradley-Terry)"
SEEN = "identity", "text", "both"


def answers(votes):
    """Return the items, two for each pair of answers: {what is seen of them: matrix}."""
    shown = np.unique(votes.pair, return_index=True)[1]
    identity = np.eye(len(votes.models))[votes.index[shown].ravel()]
    text = StandardScaler().fit_transform([counts(a) for pair in votes.answers for a in pair])
    return {"identity": identity, "text": text, "both": np.column_stack([identity, text])}


def counts(text):
    """Return nine counts of a text, most in logarithms."""
    patterns = (
        r"\w+",
        r"\n",
        r"(?m)^\s*(?:[-*•]|\d+[.)])\s",
        r"```|def |return ",
        r"\d",
        r"[.!?](?:\s|$)",
        r"\bI\b",
        r"[^\x00-\x7f]",
    )
    return [np.log1p(len(text)), *(np.log1p(len(re.findall(p, text))) for p in patterns)]


def learn(name, C, X, index, y):
    """Return the weights that a model gives the columns of X, learnt from votes on pairs of its rows."""
    if name == LOGISTIC:
        return logistic(X[index[:, 0]] - X[index[:, 1]], y, C)
    return clone(MACHINES[name]).set_params(C=C).fit(Pairs(X, index), y).coef_


def logistic(D, y, C=1.0):
    """Return the weights of Bradley and Terry's model of the differences D; a tie is half a win for each."""
    rows, label = np.concatenate([D, D]), np.repeat([1, -1], len(y))
    weight = np.concatenate([(1 + y) / 2, (1 - y) / 2])
    return LogisticRegression(C=C, fit_intercept=False, max_iter=1000).fit(rows, label, sample_weight=weight).coef_[0]


def elo_of(index, y, rng, n):
    """Return Elo ratings of n players after the votes in random order."""
    order = rng.permutation(y.size)
    return elo(index[order], y[order], n_players=n).rating


def scores(y, s):
    """Return the AUC, and how many decided votes go to the answer of larger utility."""
    return {"auc": comparison_auc(y, s), "decided": np.mean((y * s > 0)[y != 0])}


def mean_auc(data, folds, seen, name, C):
    """Return the mean AUC over the folds."""
    return np.mean([predicted(data, *fold, seen, name, C)["auc"] for fold in folds])


def predicted(data, train, test, seen, name, C):
    """Return the scores of a model on the test votes."""
    items, index, y = data
    w = learn(name, C, items[seen], index[train], y[train])
    return scores(y[test], (items[seen][index[test, 0]] - items[seen][index[test, 1]]) @ w)


def deal(votes, rows, n):
    """Return n folds (train, test) of some votes, whole pairs of answers together."""
    folds = GroupKFold(n, shuffle=True, random_state=seed(n)).split(rows, groups=votes.pair[rows])
    return [(rows[train], rows[test]) for train, test in folds]


def choose(data, folds, Cs, each):
    """Return for each model and what it sees the C of highest mean AUC over the folds."""
    work = list(product(SEEN, (*MACHINES, LOGISTIC), Cs))
    auc = each(mean_auc, [(data, folds, *task) for task in work], "choices")
    found = pd.DataFrame(work, columns=["seen", "model", "C"]).assign(auc=auc)
    return found.loc[found.groupby(["seen", "model"], sort=False).auc.idxmax()].reset_index(drop=True)


def one_fold(fold, data, players, train, test, choice):
    """Yield the scores of every model, with the C that was chosen for it, on the test votes."""
    for seen, name, C, _ in choice.itertuples(index=False):
        yield {"fold": fold, "model": f"{name}: {seen}"} | predicted(data, train, test, seen, name, C)
    y, n = data[2], players.max() + 1
    rating = elo_of(players[train], y[train], generator(fold), n)[players[test]]
    yield {"fold": fold, "model": "Elo"} | scores(y[test], rating[:, 0] - rating[:, 1])


def best_of(choice, seen):
    """Return name and C of the variant of `ComparisonSVM` that the first half chose."""
    row = choice[(choice.seen == seen) & (choice.model != LOGISTIC)].sort_values("auc").iloc[-1]
    return row.model, row.C
