"""What rankers share: graded data within queries, utilities as predictions, concordance as score."""

from __future__ import annotations

import warnings

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import RegressorMixin

from ._core import comparisons, rules
from ._estimator import PreferenceEstimator
from ._queries import dense_codes, numbers, query_codes
from ._task import Every
from .exceptions import NoComparisonsError
from .metrics import concordance


class Ranker(RegressorMixin, PreferenceEstimator):
    """An estimator whose data are items in queries and whose prediction is the utility."""

    __metadata_request__fit = {"qid": True}  # noqa: RUF012 (scikit-learn's protocol)
    __metadata_request__score = {"qid": True}  # noqa: RUF012

    def _check_queries(self, X, y, qid, sample_weight, *, sees_all=False):
        """Return items, y, their queries, weights and kept positions; remembers what utilities must know."""
        self._qid_column = qid if isinstance(qid, str) else None
        X, qid = self._split_qid(X, qid)
        given = {"qid": qid, "sees_all": sees_all, "y_numeric": True}
        items, grades, weight, queries, kept = self._check_samples(X, y, sample_weight, **given)
        if grades.dtype.kind not in "iu":  # large integers differ as such
            grades = np.asarray(grades, dtype=float)
        return items, grades, queries, weight, kept

    def _count_queries(self, group, kept):
        """Remember what scoring must know."""
        self._n_queries = int(group.max()) + 1 if isinstance(kept, Every) else np.unique(group).size

    def _check_graded(self, X, y, qid, sample_weight, *, sees_all=False):
        """Return items, their levels within queries and kept positions; there is something to compare."""
        items, grades, queries, weight, kept = self._check_queries(X, y, qid, sample_weight, sees_all=sees_all)
        n_threads = effective_n_jobs(getattr(self, "n_jobs", None))
        values, starts = numbers(grades), queries.starts
        if values is None or starts is None:
            group = queries.codes()
            self._count_queries(group, kept)
            levels = comparisons.from_levels(dense_codes(grades), group, weight, n_threads=n_threads)
        else:  # as they are: coding them costs as much
            self._n_queries = starts.size - 1
            levels = comparisons.from_runs(values, starts, weight, n_threads=n_threads)
        if levels.n_pairs == 0:
            raise NoComparisonsError(_nothing_to_compare(grades, self._n_queries))
        return items, levels, kept

    def predict(self, X):
        """Return the utility of each item: the larger, the more preferred.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Items.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.utility(X)

    def rank(self, X, qid=None):
        """Return the rank of each item within its query: 1 is the best, equal utilities share the smallest rank.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Items.
        qid : array-like of shape (n_samples,) or str, default=None
            Query of each row; None: one query.

        Returns
        -------
        ndarray of int of shape (n_samples,)
        """
        X, qid = self._split_qid(X, qid)
        u = self.utility(X)
        return rules.rank_in_groups(u, query_codes(qid, u.size))

    def score(self, X, y, *, qid=None, sample_weight=None):
        """Return the share of pairs of different y within a query that the utility orders right; ties count 1/2.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Items.
        y : array-like of shape (n_samples,)
            Grades.
        qid : array-like of shape (n_samples,) or str, default=None
            Query of each row; None: one query.
        sample_weight : array-like of shape (n_samples,), default=None
            A pair weighs the product of its items' weights.

        Returns
        -------
        float
            nan, with a warning, where there is nothing to compare.
        """
        X, qid = self._split_qid(X, qid)
        u = self.utility(X)
        self._warn_across_queries(qid)
        return concordance(y, u, qid=qid, sample_weight=sample_weight)

    def _warn_across_queries(self, qid):
        if qid is None and self._n_queries > 1:
            warnings.warn(
                f"{type(self).__name__} was fitted on {self._n_queries} queries but is scored without qid, so items of "
                "different queries are compared; pass qid to score, and in a search enable metadata routing "
                "(sklearn.set_config(enable_metadata_routing=True)).",
                UserWarning,
                stacklevel=3,
            )


def _nothing_to_compare(y, n_queries):
    if y.size == 1:
        return "there is 1 sample, so there is nothing to compare; give at least two items of different grade."
    if n_queries == 1:
        return f"y has one class ({y[0]}), so there is nothing to compare; give items of at least two grades."
    return (
        f"y has one class in every one of the {n_queries} queries, so there is nothing to compare; "
        "pass qid=None to compare across queries."
    )
