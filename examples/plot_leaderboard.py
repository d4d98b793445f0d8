"""
A leaderboard from votes, and the next question
===============================================

Eight items of known strength, noisy votes with ties. Intervals come from the bootstrap; the suggested pairs are those
whose answer would tell most.
"""

import numpy as np
import pandas as pd

from widemargin import ComparisonSVM, Pairs
from widemargin.active import suggest_pairs
from widemargin.plotting import LeaderboardDisplay
from widemargin.uncertainty import leaderboard

rng = np.random.default_rng(0)
strength = dict(zip("ABCDEFGH", np.linspace(0, 3, 8), strict=True))
left, right = (rng.choice(list(strength), 250) for _ in range(2))
left, right = left[left != right], right[left != right]
gap = np.array([strength[a] - strength[b] for a, b in zip(left, right, strict=True)])
gap += rng.logistic(scale=0.5, size=left.size)
winner = np.where(np.abs(gap) < 0.3, "tie", np.where(gap > 0, left, right))
votes = pd.DataFrame({"left": left, "right": right, "winner": winner})

pairs, y = Pairs.from_frame(votes, left="left", right="right", winner="winner")
model = ComparisonSVM(C=0.1, ties="threshold").fit(pairs, y)
board = leaderboard(model, pairs, y, n_boot=100, random_state=0)
print(board[["item", "utility", "lower", "upper", "rank_low", "rank_high"]].round(2).to_string(index=False))

names = sorted(strength)
for i, j in suggest_pairs(model, pairs.items, n=3, asked=pairs, repeat=True, random_state=0):
    print("ask next:", names[i], "or", names[j])

LeaderboardDisplay.from_frame(board, tie_width=model.tie_width_, level=0.95)
