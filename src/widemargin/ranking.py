"""Ranking SVM: learn an order of items from grades within queries."""

from __future__ import annotations

from ._finite import left
from ._ranker import Ranker
from ._task import Task
from ._threads import one_thread

__all__ = ["RankingSVM"]


class RankingSVM(Ranker):
    r"""Learn a utility that orders the items of each query as their grades do.

    Minimises ``1/2 ||w||^2 + C * sum over pairs with y_i > y_j in one query of xi_ij``, where
    ``u(x_i) - u(x_j) >= 1 - xi_ij`` and ``xi_ij >= 0``: Yu & Kim (84)-(86). Pairs are never materialised
    when there are many.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the errors; ``inf`` asks for a hard margin.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, callable or kernel object, default="linear"
        Kernel over items. Pairs use k(i,u) - k(i,v) - k(j,u) + k(j,v), never a kernel of differences.
    gamma : {"scale", "auto"} or float, default="scale"
        Of "rbf", "poly" and "sigmoid", with scikit-learn's meaning.
    degree : int, default=3
        Of "poly".
    coef0 : float, default=0.0
        Of "poly" and "sigmoid".
    loss : {"hinge", "squared_hinge"}, default="hinge"
        ``xi`` or ``xi^2``.
    tol : float, default=1e-4
        Relative duality gap to reach.
    max_iter : int, default=1000
        Limit on the solver's iterations.
    verbose : bool, default=False
        Whether to write the solver's progress to standard error.
    C_scale : {"sum", "mean"}, default="sum"
        "mean" divides C by the total weight of the pairs.
    memory_limit : float, default=None
        Bytes that a kernel may need; by default 80 % of the machine's memory. A fit that needs more is refused before
        anything is allocated.
    n_components : int, default=None
        Rank of a low-rank kernel, whose loss `kernel_loss_` tells; None is exact.
    n_jobs : int, default=None
        Threads of a linear fit on implicit pairs, with scikit-learn's meaning: None is 1 unless in a
        :obj:`joblib.parallel_config` context, -1 all cores. The model does not depend on it.
    warm_start : bool, default=False
        Whether a linear fit on implicit pairs starts from `coef_` of the last fit. The model is certified to `tol` as
        without it. It pays where C, or a few rows, changed: a refit then takes a third to two thirds of the time.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the features (linear kernel).
    support_, support_vectors_, dual_coef_ : ndarray
        Items with a coefficient, their features, and the coefficients; a linear model that Newton found on implicit
        pairs has `coef_` alone, and many items whose kernel has a small rank are spanned by a few.
    objective_ : float
        The minimum, in the scale of the formula above.
    duality_gap_ : float
        An upper bound on how far, relatively, `objective_` is from the true minimum.
    kernel_loss_ : float
        With `n_components`: the share of the kernel's trace that the low-rank kernel leaves out; objective and gap are
        those of the low-rank problem.
    n_iter_ : int
        Iterations of the solver.
    solver_ : str
        "interior_point" (pairs written out), "newton" (pairs implicit) or, on a path, "margin_walk".
    converged_ : bool
        Whether `duality_gap_` reached `tol`.

    References
    ----------
    H. Yu and S. Kim, "SVM tutorial: classification, regression, and ranking", section 4.

    Examples
    --------
    >>> from widemargin import RankingSVM
    >>> ranker = RankingSVM().fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    >>> ranker.rank([[5.0], [7.0]])
    array([2, 1])
    """

    def __init__(
        self,
        C=1.0,
        *,
        kernel="linear",
        gamma="scale",
        degree=3,
        coef0=0.0,
        loss="hinge",
        tol=1e-4,
        max_iter=1000,
        verbose=False,
        C_scale="sum",
        memory_limit=None,
        n_components=None,
        n_jobs=None,
        warm_start=False,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.C_scale = C_scale
        self.memory_limit = memory_limit
        self.n_components = n_components
        self.n_jobs = n_jobs
        self.warm_start = warm_start

    def fit(self, X, y, *, qid=None, sample_weight=None):
        """Learn from graded items.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Items; float32 is not converted.
        y : array-like of shape (n_samples,)
            Grades or real values; larger is preferred. Only items of one query are compared.
        qid : array-like of shape (n_samples,) or str, default=None
            Query of each row, any values in any order, or the name of a column of X. None: one query.
        sample_weight : array-like of shape (n_samples,), default=None
            A pair weighs the product of its items' weights, so that weight 2 is a row given twice.

        Returns
        -------
        self
        """
        with one_thread():
            return self._learn(self._pose(X, y, qid=qid, sample_weight=sample_weight))

    def _pose(self, X, y, *, qid=None, sample_weight=None):
        self._check_parameters()
        self._check_loss(("hinge", "squared_hinge"))
        X, levels, kept = self._check_graded(X, y, qid, sample_weight, sees_all=True)
        doubt = left(X, levels, type(self).__name__) if self._is_left(X, kept) else None
        items, rows, levels = self._different(X, levels)
        return Task(items, kept[rows], self._make_map(items, implicit=True, given=X), levels, doubt=doubt)

    def _learn(self, task):
        solver, solution = self._solve_levels(task)
        self._keep_solution(solver, [solution])
        self._keep_model(task, [solution])
        self._warn_if_collapsed("The grades contradict each other, or the features do not tell the items apart.")
        return self
