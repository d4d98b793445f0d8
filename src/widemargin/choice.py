"""TopRanking: learn which element of a set is chosen."""

from __future__ import annotations

import numpy as np

from ._core import comparisons, rules
from ._estimator import check_choice
from ._queries import query_codes
from ._ranker import Ranker
from ._task import Task
from ._threads import one_thread
from .exceptions import NoComparisonsError
from .metrics import top1_risk

__all__ = ["TopRankSVM"]


class TopRankSVM(Ranker):
    """Learn a utility whose best row of each set is the chosen one.

    Minimises ``1/2 ||w||^2 + C * sum over sets of e``, where the chosen row beats every other of its set by at
    least ``1 - e``: Pelckmans & Suykens (6). One slack per set is what (6) says; the dual printed as (7) belongs
    to one slack per pair, which `slack="pair"` gives.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the errors; ``inf`` asks for a hard margin.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, callable or kernel object, default="linear"
        Kernel over items.
    gamma : {"scale", "auto"} or float, default="scale"
        Of "rbf", "poly" and "sigmoid".
    degree : int, default=3
        Of "poly".
    coef0 : float, default=0.0
        Of "poly" and "sigmoid".
    loss : {"hinge", "squared_hinge"}, default="hinge"
        ``e`` or ``e^2``.
    slack : {"task", "pair"}, default="task"
        One slack per set, or one per (chosen, other) pair.
    tol, max_iter, verbose, C_scale, memory_limit, n_components
        As in :class:`RankingSVM`.

    Attributes
    ----------
    coef_, support_, support_vectors_, dual_coef_, objective_, duality_gap_, n_iter_, solver_, converged_
        As in :class:`RankingSVM`.

    Notes
    -----
    Long format: a row is an alternative, `qid` its set, and the chosen rows are those with the largest y of their
    set; several are each a task against the rest. Features must differ between the alternatives of a set: what is
    the same for all of them (the customer's age, say) cancels, unless it is combined with the alternative's own.

    References
    ----------
    K. Pelckmans and J. Suykens, "TopRanking: predicting the most relevant element of a set".

    Examples
    --------
    >>> from widemargin import TopRankSVM
    >>> X = [[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, 3.0]]
    >>> model = TopRankSVM().fit(X, [1, 0, 1, 0], qid=["ann", "ann", "bob", "bob"])
    >>> model.choose([[0.0, 1.0], [1.0, 1.0], [5.0, 0.0]], ["eve", "eve", "eve"])
    array([2])
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
        slack="task",
        tol=1e-4,
        max_iter=1000,
        verbose=False,
        C_scale="sum",
        memory_limit=None,
        n_components=None,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.slack = slack
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.C_scale = C_scale
        self.memory_limit = memory_limit
        self.n_components = n_components

    def fit(self, X, y, *, qid=None, sample_weight=None):
        """Learn from choices.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Alternatives.
        y : array-like of shape (n_samples,)
            1 for the chosen row of a set, 0 for the others; or any values: the largest are chosen.
        qid : array-like of shape (n_samples,) or str, default=None
            Set of each row. None: one set.
        sample_weight : array-like of shape (n_samples,), default=None
            The chosen row's weight weighs its task; with `slack="pair"` a pair weighs the product.

        Returns
        -------
        self
        """
        with one_thread():
            return self._learn(self._pose(X, y, qid=qid, sample_weight=sample_weight))

    def _pose(self, X, y, *, qid=None, sample_weight=None):
        self._check_parameters()
        self._check_loss(("hinge", "squared_hinge"))
        check_choice("slack", self.slack, ("task", "pair"))
        X, y, queries, weight, kept = self._check_queries(X, y, qid, sample_weight)
        group = queries.codes()
        self._count_queries(group, kept)
        items, kept, which = self._items(X, kept)
        rows = _choices(y, group, weight, which, items.shape[0], shared_slack=self.slack == "task")
        return Task(items, kept, self._make_map(items, given=X), rows)

    def _learn(self, task):
        solver, solution = self._solve_rows(task, task.comparisons)
        self._keep_solution(solver, [solution])
        self._keep_model(task, [solution])
        self._warn_if_collapsed(
            "Check that the features differ between the alternatives of a set: what they share cancels."
        )
        return self

    def choose(self, X, qid=None):
        """Return the position of the best row of each set, sets in order of first appearance; ties: the first row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Alternatives.
        qid : array-like of shape (n_samples,) or str, default=None
            Set of each row. None: one set.

        Returns
        -------
        ndarray of int of shape (n_sets,)
        """
        X, qid = self._split_qid(X, qid)
        u = self.utility(X)
        return rules.argmax_in_groups(u, query_codes(qid, u.size))

    def score(self, X, y, *, qid=None, sample_weight=None):
        """Return the share of sets whose best row is a chosen one.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Alternatives.
        y : array-like of shape (n_samples,)
            1 for the chosen row of a set.
        qid : array-like of shape (n_samples,) or str, default=None
            Set of each row. None: one set.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each set, taken from its chosen row.

        Returns
        -------
        float
        """
        X, qid = self._split_qid(X, qid)
        u = self.utility(X)
        self._warn_across_queries(qid)
        return 1.0 - top1_risk(y, u, qid=query_codes(qid, u.size), sample_weight=sample_weight)


def _choices(y, group, weight, item, n_items, *, shared_slack):
    """Return the rows (chosen against each other) of every task, of which each row is an item."""
    order = np.lexsort((np.arange(y.size), -y, group))
    start = np.flatnonzero(np.concatenate([[True], group[order][1:] != group[order][:-1]]))
    best = np.repeat(y[order][start], np.diff(np.append(start, y.size)))
    codes = (y[order] == best).astype(np.int64)  # two levels: the chosen, and the rest
    restored = np.empty_like(codes)
    restored[order] = codes
    chosen, other = comparisons.from_levels(restored, group, weight).pairs()
    if chosen.size == 0:
        what = "1 sample" if y.size == 1 else "one class in every set"
        raise NoComparisonsError(f"y has {what}, so nothing was chosen over anything; give sets with a rejected row.")
    tasks, task = np.unique(chosen, return_inverse=True)
    by_task = np.argsort(task, kind="stable")
    chosen, other, task = chosen[by_task], other[by_task], task[by_task].astype(np.int64)
    weights = weight[tasks] if shared_slack else weight[chosen] * weight[other]
    return comparisons.from_choices(item[chosen], item[other], task, weights, n_items, shared_slack=shared_slack)
