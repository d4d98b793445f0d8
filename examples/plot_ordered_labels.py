"""
Ordered labels and the boundaries between them
==============================================

An ordinal SVM learns one utility and cuts it into ranks. In the plane the cuts are level curves.
"""

import matplotlib.pyplot as plt

from widemargin import OrdinalSVM
from widemargin.datasets import make_ordinal
from widemargin.metrics import mean_absolute_error, quadratic_weighted_kappa
from widemargin.plotting import RankBoundaryDisplay, UtilityDisplay

train, test = make_ordinal(150, random_state=0), make_ordinal(300, random_state=1)
model = OrdinalSVM(C=1.0, kernel="poly", degree=2, coef0=1.0).fit(train.X, train.y)
predicted = model.predict(test.X)
print(f"mean error {mean_absolute_error(test.y, predicted):.2f} ranks")
print(f"quadratic kappa {quadratic_weighted_kappa(test.y, predicted):.3f}")

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
UtilityDisplay.from_estimator(model, test.X, ax=left)
RankBoundaryDisplay.from_estimator(model, test.X, test.y, ax=right)
left.set_title("rank boundaries are level curves")
right.set_title("unseen items on the utility")
