"""
Probabilities of better, same and worse
=======================================

Utilities say which; calibrated probabilities say how sure: on unseen pairs, what is predicted with probability p
happens in a share p.
"""

import matplotlib.pyplot as plt
import numpy as np

from widemargin import ComparisonSVM
from widemargin.calibration import CalibratedComparison
from widemargin.datasets import make_comparisons

train, test = (make_comparisons(n, norm=2, noise=0.5, random_state=seed) for seed, n in ((0, 400), (1, 2000)))
model = CalibratedComparison(ComparisonSVM(C=1.0, kernel="poly", degree=2, coef0=1.0)).fit(train.X, train.y)
probability = model.predict_proba(test.X)

fig, ax = plt.subplots(figsize=(5, 4.6), layout="constrained")
ax.plot([0, 1], [0, 1], color="0.6", ls=":", label="perfect calibration")
for k, (outcome, marker) in enumerate(zip(model.classes_, "vos", strict=True)):
    bins = np.quantile(probability[:, k], np.linspace(0, 1, 9))
    place = np.clip(np.searchsorted(bins, probability[:, k]) - 1, 0, 7)
    mean = [probability[place == b, k].mean() for b in range(8)]
    share = [(test.y[place == b] == outcome).mean() for b in range(8)]
    name = {-1: "worse", 0: "same", 1: "better"}[int(outcome)]
    ax.plot(mean, share, marker=marker, color="black", mfc="white", lw=0.8, label=name)
ax.set(xlabel="predicted probability", ylabel="share of unseen pairs")
ax.legend()
