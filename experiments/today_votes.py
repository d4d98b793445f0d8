"""Votes on language models: a leaderboard with uncertainty, and who predicts votes best.

8,931 votes of people on 2,139 pairs of answers by 59 language models to 13 prompts, 39 % of them ties (LLMFAO). The
machines see either who answered (identity, 59 columns), or nine counts of the text (lengths, lines, lists, code,
digits, ..., standardised), or both. `ComparisonSVM` in three variants (ties as a margin, balanced, with the squared
hinge and with the hinge; wins alone) is compared with Bradley-Terry (a logistic model of differences, a tie being half
a win for each; also with the counts) and with Elo, the votes in random order. Half of the pairs of answers choose: by
five folds of it every model gets its C (0.01 to 10), and one of the three variants is picked, for each of the three
things seen. The other half is dealt into ten folds, which test; a model learns from the first half and the other nine.
Folds are of whole pairs of answers: no vote on a tested pair is learnt from. An earlier run had picked the squared
hinge on votes that it then tested on. The leaderboard's intervals are from a bootstrap that draws voters, not votes.
"""

from itertools import chain

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import GroupShuffleSplit

from widemargin import Pairs
from widemargin.datasets import fetch_llm_votes
from widemargin.metrics import kendall_tau
from widemargin.plotting import LeaderboardDisplay
from widemargin.uncertainty import leaderboard

from . import _votes
from ._report import Check, Claim, Picture, Report, Table
from ._seeds import generator, seed
from ._statistics import estimate, summary
from ._style import BARS, dots, panels
from ._votes import HINGE, LOGISTIC, MACHINES, MARGIN, SEEN, WINS, answers, best_of, choose, deal, one_fold

CS = 0.01, 0.1, 1.0, 10.0


def run(quick, each):
    """Return the report."""
    votes, n_folds, n_boot = fetch_llm_votes(), 2 if quick else 10, 4 if quick else 100
    data = answers(votes), 2 * votes.pair[:, None] + [0, 1], votes.y
    half = GroupShuffleSplit(1, test_size=0.5, random_state=seed())
    first, second = next(half.split(votes.y, groups=votes.pair))
    choice = choose(data, deal(votes, first, 2 if quick else 5), CS[1:2] if quick else CS, each)
    folds = [(np.append(first, train), test) for train, test in deal(votes, second, n_folds)]
    cases = [(k, data, votes.index, *fold, choice) for k, fold in enumerate(folds)]
    frame = pd.DataFrame(chain.from_iterable(each(one_fold, cases, "folds that test")))
    board = leaders(votes, data, best_of(choice, "identity"), n_boot)
    means = frame.melt(["fold", "model"], ["auc", "decided"], "measure").pipe(summary, ["measure", "model"], "value")
    tables = (
        Table("choice", "What the first half chose: C of each model, by the mean AUC over its folds", choice),
        Table("means", "AUC of the comparisons (chance: 1/4), and share of decided votes called right", means),
        Table("board", f"Leaderboard: utilities, 95 % intervals of {n_boot} resamples of voters, ranks", board),
        Table("folds", "Every fold", frame),
    )
    pictures = (
        Picture("board", "The 40 best models by ComparisonSVM on identity, with 95 % intervals", draw_board(board)),
        Picture("folds", "What held-out votes are predicted by: mean over folds and 95 % intervals", draw_means(means)),
    )
    claims = *prediction_claims(frame, choice, n_folds), agreement_claim(board)
    return Report("A leaderboard of language models", "Data of today", claims, tables, pictures)


def leaders(votes, data, chosen, n_boot):
    """Return the leaderboard by identity, with the other models' utilities beside."""
    (items, index, y), machine = data, clone(MACHINES[chosen[0]]).set_params(C=chosen[1])
    pairs = Pairs(np.eye(len(votes.models)), votes.index, names=votes.models)
    board = leaderboard(machine, pairs, y, groups=votes.worker, n_boot=n_boot, random_state=seed())
    text = items["text"] @ _votes.learn(*chosen, items["text"], index, y)
    by_model = pd.Series(text).groupby(items["identity"].argmax(axis=1)).mean()
    D = pairs.items[votes.index[:, 0]] - pairs.items[votes.index[:, 1]]
    elo = _votes.elo_of(votes.index, y, generator(), len(votes.models))
    others = {"bradley_terry": _votes.logistic(D, y), "elo": elo, "text": by_model}
    frame = pd.DataFrame(others).assign(item=votes.models)
    return board.drop(columns="component").merge(frame, on="item").round(3)


def prediction_claims(frame, choice, n):
    """Yield what predicts votes, and what does not."""
    auc = frame.pivot_table(index="fold", columns="model", values="auc")
    best = {s: auc[f"{best_of(choice, s)[0]}: {s}"] for s in SEEN}
    same = {s: estimate(best[s] - auc[f"{LOGISTIC}: {s}"]) for s in SEEN}
    checks = [
        Check(f"{s}: AUC not lower by 0.01 or more", e.is_above(-0.01), f"difference {e}") for s, e in same.items()
    ]
    picked = "; ".join(f"{s}: {best_of(choice, s)[0]}" for s in SEEN)
    says = "ComparisonSVM predicts held-out votes as well as Bradley-Terry, which is simpler, and better than Elo."
    gains = {
        "identity: higher AUC than Elo": best["identity"] - auc["Elo"],
        "counts of the text add to identity": best["both"] - best["identity"],
        "ties as a margin add to wins alone, in `both`": auc[f"{MARGIN}: both"] - auc[f"{WINS}: both"],
        "by identity the squared hinge beats the hinge": auc[f"{MARGIN}: identity"] - auc[f"{HINGE}: identity"],
    }
    first, *more = [Check(w, estimate(g).is_above(0), f"AUC gain {estimate(g)}") for w, g in gains.items()]
    yield Claim("Votes, models", says, (*checks, first), n, f"Picked by the first half of the votes: {picked}.")
    says = "Nine counts of the text, and ties, carry information; the squared hinge predicts better than the hinge."
    yield Claim("Votes, what helps", says, tuple(more), n)


def agreement_claim(board):
    """The leaderboards agree."""
    tau = {name: kendall_tau(board.utility, board[name]) for name in ("bradley_terry", "elo", "text")}
    checks = tuple(
        Check(f"{name}: Kendall's tau with it of 0.8 or more", t >= 0.8, f"{t:.2f}") for name, t in tau.items()
    )
    note = "`text` is the mean utility of a model's answers by the counts of their text alone."
    return Claim("Leaderboards", "However it is made, the leaderboard is the same.", checks, 1, note)


def draw_board(board):
    """Return the leaderboard."""
    figure, ax = panels(width=7.0, height=8.5)
    LeaderboardDisplay.from_frame(board, level=0.95, ax=ax)
    ax.set_ylabel("language model")
    return figure


def draw_means(means):
    """Return both measures of every model."""
    figure, axes = panels(2, sharey=True, width=5.0, height=4.0, says=BARS)
    titles = "AUC of the comparisons (chance: 0.25)", "share of decided votes called right"
    names = means[means.measure == "auc"].sort_values("mean").model.tolist()
    ours = [name for name in names if name.startswith("Comparison")]
    for ax, measure, label in zip(axes, ("auc", "decided"), titles, strict=True):
        part = means[means.measure == measure].set_index("model").loc[names].reset_index()
        dots(ax, part, of="model", ours=ours, xlabel=label)
    return figure
