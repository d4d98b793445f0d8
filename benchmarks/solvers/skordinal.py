"""skordinal's REDSVM: ordinal labels by reduction to one weighted classification.

H.-T. Lin and L. Li, "Reduction from cost-sensitive ordinal ranking to weighted binary classification", 2012. Another
objective (thresholds, not pairs): time is compared, and the share of training labels that it gets right.
"""

from ..problem import Answer
from . import absent

EFFORTS = ({},)


def skip():
    """Return why it cannot run here, or None."""
    return absent("skordinal")


def fit(problem, _effort):
    """Fit at its own tolerance, 1e-3."""
    from skordinal.classifiers import REDSVM  # noqa: PLC0415 (optional)

    REDSVM(C=1.0, kernel="rbf", gamma=problem.gamma).fit(problem.X, problem.y.astype(int) + 1)
    return Answer(note="another objective")
