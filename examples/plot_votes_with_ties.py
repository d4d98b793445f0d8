"""
Votes with "no difference"
==========================

Three ways to learn from ties: as a margin of their own, not at all, or as equality. The ROC curve shows how well
winners are told from ties.
"""

import matplotlib.pyplot as plt

from widemargin import ComparisonSVM
from widemargin.datasets import make_comparisons
from widemargin.plotting import ComparisonRocDisplay, UtilityDisplay

train, test = (make_comparisons(300, norm=1, noise=0.1, random_state=seed) for seed in (0, 1))
models = {
    ties: ComparisonSVM(C=10.0, kernel="rbf", gamma=0.2, ties=ties).fit(train.X, train.y)
    for ties in ("margin", "threshold", "both_ways")
}
for ties, model in models.items():
    print(f"{ties:>9}: {model.score(test.X, test.y):.3f} of unseen pairs right, tie width {model.tie_width_:.2f}")

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
UtilityDisplay.from_estimator(models["margin"], pairs=train.X, y=train.y, max_pairs=40, ax=left)
for (ties, model), style in zip(models.items(), ("-", "--", "-."), strict=True):
    roc = ComparisonRocDisplay.from_predictions(test.y, model.decision_function(test.X), draw=False)
    right.plot(roc.false_positive_rate, roc.true_positive_rate, style, color="black", label=f"{ties}, {roc.auc:.3f}")
right.set(xlabel="ties called a difference", ylabel="winners found, right sign", title="ROC of comparisons")
right.legend(loc="lower right", title="ties, area")
