"""scikit-survival's FastSurvivalSVM, all events observed: squared hinge over all pairs of one ordering.

S. Poelsterl, N. Navab and A. Katouzian, "Fast training of support vector machines for survival analysis", 2015.
Its alpha multiplies half of the loss, so that alpha = 2 C. Ties of y are broken at random.
"""

import warnings

from ..problem import Answer
from . import absent

EFFORTS = tuple({"max_iter": k} for k in (3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 25, 30, 40))


def skip():
    """Return why it cannot run here, or None."""
    return absent("sksurv")


def fit(problem, effort):
    """Fit with a share of the iterations."""
    from sksurv.svm import FastSurvivalSVM  # noqa: PLC0415 (optional)
    from sksurv.util import Surv  # noqa: PLC0415 (optional)

    y = Surv.from_arrays([True] * len(problem.y), problem.y - problem.y.min() + 1.0)
    model = FastSurvivalSVM(2.0 * problem.C, rank_ratio=1.0, tol=1e-9, optimizer="avltree", random_state=0, **effort)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the limit on iterations is meant
        return Answer(model.fit(problem.X.astype(float), y).coef_)
