"""
Few vectors instead of many
===========================

The 1-norm machine keeps a handful of items; the kernel ranking SVM keeps nearly all. Both order the items alike.
"""

import matplotlib.pyplot as plt

from widemargin import RankingSVM, RankingVectorMachine
from widemargin.datasets import make_ranking
from widemargin.plotting import RankingVectorsDisplay

data = make_ranking(80, n_features=2, random_state=0)
few = RankingVectorMachine(C=0.1, kernel="rbf", gamma=1.0).fit(data.X, data.y)
many = RankingSVM(C=0.1, kernel="rbf", gamma=1.0).fit(data.X, data.y)

fig, axes = plt.subplots(1, 2, figsize=(12, 4.8), layout="constrained")
for ax, model in zip(axes, (few, many), strict=True):
    RankingVectorsDisplay.from_estimator(model, data.X, ax=ax)
    ax.set_title(f"{type(model).__name__}: {model.score(data.X, data.y):.3f} of the pairs in order")
