"""
What people take from an offer
==============================

One slack per set: a choice is wrong as soon as one rival is above. More customers, fewer wrong choices.
"""

import matplotlib.pyplot as plt
import numpy as np

from widemargin import TopRankSVM
from widemargin.datasets import make_choices
from widemargin.metrics import top1_risk

data = make_choices(1200, random_state=0)
held_out = data.qid >= 800
sizes = np.array([25, 50, 100, 200, 400, 800])
risks = []
for size in sizes:
    rows = data.qid < size
    model = TopRankSVM(C=1.0).fit(data.X[rows], data.y[rows], qid=data.qid[rows])
    risks.append(top1_risk(data.y[held_out], model.utility(data.X[held_out]), qid=data.qid[held_out]))

fig, ax = plt.subplots(figsize=(5.5, 4), layout="constrained")
ax.plot(sizes, risks, "o-", color="black", label="TopRankSVM")
ax.axhline(1 - 1 / np.bincount(data.qid)[0], color="0.5", ls=":", label="guessing")
ax.set(xscale="log", xlabel="customers seen", ylabel="wrong choices (share of unseen customers)")
ax.legend()
