"""scikit-learn's SVR.predict: RBF scoring by LIBSVM, per support vector.

C.-C. Chang and C.-J. Lin, "LIBSVM: a library for support vector machines", 2011.
"""

from sklearn.svm import SVR

from ..problem import Answer

EFFORTS = ({},)


def skip():
    """Return None: scikit-learn is always there."""


def prepare(problem, _effort):
    """Fit a model that keeps nearly all items."""
    return SVR(kernel="rbf", gamma=problem.gamma, C=1.0, epsilon=0.0, tol=1e-1).fit(problem.X, problem.y)


def fit(problem, model):
    """Score the new rows."""
    model.predict(problem.new)
    return Answer(size=len(model.support_))
