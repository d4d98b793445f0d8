"""Votes with ties become a leaderboard with intervals, probabilities, and the pairs to ask next."""

import numpy as np
import pandas as pd

from widemargin import ComparisonSVM, Pairs
from widemargin.active import suggest_pairs
from widemargin.calibration import CalibratedComparison
from widemargin.uncertainty import leaderboard

# Two hundred people compare two of eight soups; the later in the list the better, and near ones often tie.
soups = np.array(["barley", "bean", "beet", "carrot", "leek", "onion", "pea", "pumpkin"])
rng = np.random.default_rng(0)
left, right = np.array([rng.choice(8, 2, replace=False) for _ in range(200)]).T
taste = 0.5 * (left - right) + rng.logistic(size=200)
winner = np.where(np.abs(taste) < 0.7, "tie", np.where(taste > 0, soups[left], soups[right]))
votes = pd.DataFrame({"left": soups[left], "right": soups[right], "winner": winner})

pairs, y = Pairs.from_frame(votes, left="left", right="right", winner="winner")
svm = ComparisonSVM(C=0.1, ties="both_ways")
table = leaderboard(svm, pairs, y, n_boot=100, random_state=0)
print(table.round(2).to_string(index=False))

model = CalibratedComparison(svm).fit(pairs, y)
loss, tie, win = model.predict_proba(Pairs(pairs.items, [(7, 0)]))[0]
print(f"{pairs.names[7]} against {pairs.names[0]}: win {win:.2f}, tie {tie:.2f}, loss {loss:.2f}")

for i, j in suggest_pairs(model, pairs.items, 3, asked=pairs, repeat=True, random_state=0):
    print(f"ask next: {pairs.names[i]} or {pairs.names[j]}?")
