"""What votes on language models are predicted from, and by which simple models."""

import re

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from widemargin.metrics import comparison_auc
from widemargin.ratings import elo


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


def logistic(D, y):
    """Return the weights of Bradley and Terry's model of the differences D; a tie is half a win for each."""
    rows, label = np.concatenate([D, D]), np.repeat([1, -1], len(y))
    weight = np.concatenate([(1 + y) / 2, (1 - y) / 2])
    return LogisticRegression(fit_intercept=False, max_iter=1000).fit(rows, label, sample_weight=weight).coef_[0]


def elo_of(votes, rows, seed):
    """Return Elo ratings after some votes in random order."""
    rows = np.random.default_rng(seed).permutation(rows)
    return elo(votes.index[rows], votes.y[rows], n_players=len(votes.models)).rating


def scores(fold, name, y, s):
    """Return the AUC, and how many decided votes go to the answer of larger utility."""
    return {"fold": fold, "model": name, "auc": comparison_auc(y, s), "decided": np.mean((y * s > 0)[y != 0])}
