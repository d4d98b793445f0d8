"""How good a preference model is: risks and scores of ranks, utilities, comparisons and choices.

Larger is preferred, everywhere. Rows of different queries are never compared: `qid` holds one id per row, any
hashable, in any order, and None means one query. Where there is nothing to compare, the value is nan and an
`UndefinedMetricWarning` says why. No function needs memory for pairs.

Every metric has a scorer, named `neg_...` where less is better. Scorers request `qid` under scikit-learn's
metadata routing; with routing off scikit-learn cannot hand it over, and all rows make one query.
`set_score_request` changes a scorer in place: copy it first (`copy.deepcopy`).
"""

import warnings
from importlib import import_module

import numpy as np
from scipy.stats import kendalltau
from sklearn import config_context
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import check_scalar

from ._lazy import lazy_attributes
from ._metric_inputs import as_ranks, checked, outcomes
from ._pair_weights import dense, pair_weights, run_start

NO_PAIRS = "no two rows of a query (of positive weight) differ in y"
NO_HITS = "no query has a y above 0"


def concordance(y, u, *, qid=None, sample_weight=None):
    """Return the share of pairs that the utilities order as the grades do; utility ties count one half.

    The pairs are all pairs of different grade within a query, pooled over queries; O(n log n). Without ties
    this is what 004 calls Kendall's tau; `kendall_tau` is the coefficient of that name. For two grades it is
    the area under the ROC curve.

    Parameters
    ----------
    y : array-like of shape (n,)
        Grades or real targets, larger is preferred.
    u : array-like of shape (n,)
        Utilities, larger is preferred.
    qid : array-like of shape (n,), default=None
        Query of each row.
    sample_weight : array-like of shape (n,), default=None
        A pair weighs the product of its rows' weights: weight 2 is the row twice.

    Returns
    -------
    float
        In [0, 1], 0.5 for constant utilities; nan where no pair exists.
    """
    right, tied, total = map(np.sum, pair_weights(*checked(y, u, qid, sample_weight)))
    return _share("concordance", right + tied / 2, total, NO_PAIRS)


def pref_risk_utility(y, u, *, qid=None, sample_weight=None):
    """Return the share of pairs of different grade that the utility does not order strictly right: 000 (9).

    A tie of utilities is a whole error, since the paper asks for U(better) > U(worse): this is
    1 - `concordance` only where no utilities tie. Parameters are those of `concordance`.
    """
    right, _, total = map(np.sum, pair_weights(*checked(y, u, qid, sample_weight)))
    return _share("pref_risk_utility", total - right, total, NO_PAIRS)


def pref_risk_ranks(y, y_pred, *, labels=None, qid=None, sample_weight=None):
    """Return the share of pairs of different rank whose predicted ranks are not in strictly the right order.

    The loss (3) of 000 over the pairs of different true rank only, as in its Figures 2 and 3. Two objects of
    different rank that are predicted the same rank are a whole error. See also `pref_risk_all_pairs`.

    Parameters
    ----------
    y, y_pred : array-like of shape (n,)
        True and predicted ranks.
    labels : array-like, default=None
        The ranks from worst to best; needed where they are not numbers.
    qid, sample_weight : array-like of shape (n,), default=None
        As in `concordance`.

    Returns
    -------
    float
        In [0, 1]; nan where no pair exists.
    """
    right, _, total = map(np.sum, pair_weights(*checked(*as_ranks(y, y_pred, labels), qid, sample_weight)))
    return _share("pref_risk_ranks", total - right, total, NO_PAIRS)


def pref_risk_all_pairs(y, y_pred, *, labels=None, qid=None, sample_weight=None):
    """Return the empirical risk of 000 (2)-(3): errors over all l^2 ordered pairs, (i, i) included.

    Pairs of equal true rank never err. With t ordered pairs of different rank, l^2 / t times this is
    `pref_risk_ranks`: Theorem 1 (with t counted as 2-sets, as printed, it is off by the factor 2).
    Parameters are those of `pref_risk_ranks`; with `qid`, the ordered pairs within queries.
    """
    y, y_pred, group, weight = checked(*as_ranks(y, y_pred, labels), qid, sample_weight)
    right, _, total = map(np.sum, pair_weights(y, y_pred, group, weight))
    every = np.sum(np.bincount(group, weights=weight) ** 2)
    return _share("pref_risk_all_pairs", 2 * (total - right), every, NO_PAIRS)


def kendall_tau(y, u, *, qid=None):
    """Return Kendall's tau-b between grades and utilities: SciPy's, per query, averaged over queries.

    Queries whose grades are all equal are left out. Where grades differ but all utilities tie, SciPy has 0/0;
    nothing is ordered right or wrong, and the query counts 0, lest a constant model be spared.

    Parameters
    ----------
    y, u, qid : array-like of shape (n,)
        As in `concordance`.

    Returns
    -------
    float
        In [-1, 1]; nan where no query has two grades.
    """
    return _mean_defined("kendall_tau", _taus(*checked(y, u, qid, None)), NO_PAIRS)


def _taus(y, u, group, _):
    order = np.argsort(group, kind="stable")
    queries = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    return np.array([_tau(y[rows], u[rows]) for rows in queries])


def _tau(y, u):
    """Return tau-b of one query: nan without two grades, 0 without two utilities."""
    if np.all(y == y[0]):
        return np.nan
    return 0.0 if np.all(u == u[0]) else kendalltau(y, u).statistic


def ndcg_score(y, u, *, qid=None, k=None):
    """Return the mean over queries of the normalised discounted cumulative gain, with gain 2^y - 1.

    scikit-learn's `ndcg_score` takes y itself as the gain and wants equal lengths of two or more; on the
    gains of one such query it gives this number. Tied utilities share the mean of their places' discounts,
    the expectation over all orders of the tied documents.

    Parameters
    ----------
    y : array-like of shape (n,)
        Grades, from 0 to 1000.
    u, qid : array-like of shape (n,)
        As in `concordance`; queries may differ in length.
    k : int, default=None
        Only the first k places of each query count.

    Returns
    -------
    float
        Mean over the queries with some y > 0; a query with one document, y > 0, scores 1. All-zero queries,
        of whatever length, are left out; nan where all are.
    """
    return _mean_defined("ndcg_score", _ndcgs(*checked(y, u, qid, None), k), "every y is 0")


def _ndcgs(y, u, group, _, k=None):
    if y.min() < 0 or y.max() > 1000:
        raise ValueError(
            f"y runs from {y.min()} to {y.max()}, expected grades from 0 to 1000 (the gain is 2^y - 1); "
            "shift or rescale y, or use concordance, which needs no gains."
        )
    if k is not None:
        check_scalar(k, "k", (int, np.integer), min_val=1)
    gain = np.exp2(y.astype(np.float64)) - 1.0
    return _ratio(_dcg(gain, u, group, k), _dcg(gain, y, group, k))


def map_score(y, u, *, qid=None):
    """Return the mean over queries of the average precision; documents with y > 0 are relevant.

    Tied utilities form one step of the precision-recall curve; for one query this is scikit-learn's
    `average_precision_score`. Queries without a relevant document are left out, one relevant document alone
    scores 1. Parameters are those of `concordance`.
    """
    return _mean_defined("map_score", _average_precisions(*checked(y, u, qid, None)), NO_HITS)


def _average_precisions(y, u, group, _):
    order, place, block = _places(u, group)
    end = np.flatnonzero(np.append(np.diff(block), 1))
    relevant = (y[order] > 0).astype(np.int64)
    before = np.append(0, np.cumsum(relevant))
    precision = (before[end + 1] - before[end - place[end]]) / (place[end] + 1)
    gained = np.bincount(group[order], weights=relevant * precision[block])
    return _ratio(gained, np.bincount(group, weights=y > 0))


def mrr_score(y, u, *, qid=None):
    """Return the mean over queries of 1 / (place of the first relevant document); y > 0 is relevant.

    Among tied utilities the irrelevant documents stand first: ties never help. Queries without a relevant
    document are left out, one relevant document alone scores 1. Parameters are those of `concordance`.
    """
    return _mean_defined("mrr_score", _reciprocal_ranks(*checked(y, u, qid, None)), NO_HITS)


def _reciprocal_ranks(y, u, group, _):
    order, place, block = _places(u, group)
    end = np.flatnonzero(np.append(np.diff(block), 1))
    found = np.bincount(block, weights=y[order] > 0)
    first = np.full(group.max() + 1, np.inf)
    np.minimum.at(first, group[order[end]], np.where(found > 0, place[end] + 2 - found, np.inf))
    return np.where(np.isfinite(first), 1.0 / first, np.nan)


def top1_risk(y, u, *, qid=None, sample_weight=None):
    """Return the share of sets whose row of largest utility is not a chosen row: 003 (10).

    The chosen rows are those with the largest y of their set. If several utilities are largest, the first
    such row stands for the set (003 (8) and its paraphrase differ here): with ties the order of rows matters.
    Sets whose y are all equal, single rows among them, tell nothing and are left out.

    Parameters
    ----------
    y, u : array-like of shape (n,)
        Grades (1 for the chosen row, else 0) and utilities.
    qid : array-like of shape (n,) or None
        Set of each row; None is one set.
    sample_weight : array-like of shape (n,), default=None
        A set weighs the mean weight of its chosen rows.

    Returns
    -------
    float
        In [0, 1]; nan where no set remains.
    """
    stake, missed = _misses(*checked(y, u, qid, sample_weight))
    return _share("top1_risk", stake @ missed, stake.sum(), "no set of positive weight has two y")


def _misses(y, u, group, weight):
    """Return what each set weighs, and whether its largest utility is not a chosen row's."""
    order = np.argsort(group, kind="stable")  # stable: of equal utilities the first row stays the first
    start = np.flatnonzero(np.append(True, np.diff(group[order])))
    best, worst, largest = (
        extreme.reduceat(values[order], start)
        for extreme, values in ((np.maximum, y), (np.minimum, y), (np.maximum, u))
    )
    chosen = y == best[group]
    stake = np.bincount(group, weights=weight * chosen) / np.bincount(group, weights=chosen)
    stake[best == worst] = 0.0
    leaders = order[(u == largest[group])[order]]
    top = leaders[np.append(True, np.diff(group[leaders]) > 0)]
    return stake, ~chosen[top]


def by_query(metric, y, u, *, qid, **options):
    """Return the queries and the metric of each, nan where it is undefined: all queries in one pass.

    Parameters
    ----------
    metric : function
        `concordance`, `kendall_tau`, `ndcg_score`, `map_score`, `mrr_score` or `top1_risk`.
    y, u, qid : array-like of shape (n,)
        As in `concordance`.
    **options
        Of the metric: `k` of `ndcg_score`.

    Returns
    -------
    ids : ndarray of shape (n_queries,)
        The queries, in the order of their ids (of first appearance, where ids have none).
    values : ndarray of shape (n_queries,)
        What `metric` returns for the rows of each.

    Examples
    --------
    >>> from widemargin.metrics import by_query, ndcg_score
    >>> by_query(ndcg_score, [2, 0, 1, 0, 0], [3, 2, 1, 5, 4], qid=["b", "b", "a", "a", "c"])
    (array(['a', 'b', 'c'], dtype='<U1'), array([0.63092975, 1.        ,        nan]))
    """
    each = {
        concordance: _concordances,
        kendall_tau: _taus,
        ndcg_score: _ndcgs,
        map_score: _average_precisions,
        mrr_score: _reciprocal_ranks,
        top1_risk: lambda *rows: _ratio(*(stake * part for stake, missed in [_misses(*rows)] for part in (missed, 1))),
    }
    if metric not in each:
        raise ValueError(f"metric={metric!r} is no mean over queries; pass one of {[m.__name__ for m in each]}.")
    rows = checked(y, u, qid, None)
    ids = np.asarray(qid)[np.unique(rows[2], return_index=True)[1]]
    return ids, each[metric](*rows, **options)


def _concordances(*rows):
    right, tied, total = pair_weights(*rows)
    return _ratio(right + tied / 2, total)


def comparison_zero_one_loss(y, y_pred, *, sample_weight=None):
    """Return the share of pairs whose outcome (+1 first preferred, 0 same, -1) is mispredicted: 002 (2)."""
    y, y_pred, _, weight = checked(outcomes(y, "y"), outcomes(y_pred, "y_pred"), None, sample_weight)
    return float(np.average(y != y_pred, weights=weight))


def comparison_auc(y, s, *, sample_weight=None):
    """Return the area under the ROC curve of telling differences from ties: 002, Table 3.

    The mean, over each inequality i and each tie j, of 1[y_i s_i > |s_j|] + 1/2 1[y_i s_i = |s_j| > 0]. A
    score of the wrong sign misses its inequality at every threshold, so **random scores give 0.25**, not 0.5.
    Scores of exactly 0 earn nothing, so an all-zero scorer gets 0. In the paper +1 says that the second item
    is better; here it is the first.

    Parameters
    ----------
    y : array-like of shape (n,)
        +1 where the first item is preferred, -1 the second, 0 no difference.
    s : array-like of shape (n,)
        r(first) - r(second).
    sample_weight : array-like of shape (n,), default=None
        Weights of the pairs.

    Returns
    -------
    float
        In [0, 1]; nan unless there are both inequalities and ties.
    """
    y, s, _, weight = checked(outcomes(y, "y"), s, None, sample_weight)
    tie, signed = y == 0, (y * s)[y != 0]
    order = np.argsort(np.abs(s[tie]))
    bar, below = np.abs(s[tie])[order], np.append(0, np.cumsum(weight[tie][order]))
    sides = below[np.searchsorted(bar, signed, "left")] + below[np.searchsorted(bar, signed, "right")]
    credit = weight[~tie] @ np.where(signed > 0, sides / 2, 0.0)
    return _share("comparison_auc", credit, weight[~tie].sum() * below[-1], "y needs both 0 and +1 or -1")


def mean_absolute_error(y, y_pred, *, labels=None, sample_weight=None):
    """Return the mean |predicted - true| rank, scikit-learn's; ranks are positions in `labels` if given."""
    y, y_pred, _, weight = checked(*as_ranks(y, y_pred, labels), None, sample_weight)
    return float(np.average(np.abs(y - y_pred), weights=weight))


def quadratic_weighted_kappa(y, y_pred, *, labels=None, sample_weight=None):
    """Return Cohen's kappa with quadratic weights, scikit-learn's; nan where there is only one rank.

    Ranks are one step apart in the order of `labels` (worst first) or, without it, of the ranks that occur:
    pass `labels` where a rank may be missing from the data, or the step across it is too short.
    """
    y, y_pred, _, weight = checked(*as_ranks(y, y_pred, labels), None, sample_weight)
    ranks = np.stack([y, y_pred])[:, weight > 0]
    ranks = dense(ranks) if labels is None else ranks
    if np.all(ranks == ranks[0, 0]):
        return _undefined("quadratic_weighted_kappa", "y and y_pred hold one and the same rank")
    options = {"labels": np.arange(ranks.max() + 1), "sample_weight": weight[weight > 0]}
    return float(import_module("sklearn.metrics").cohen_kappa_score(*ranks, weights="quadratic", **options))


def _places(u, group):
    """Return the rows by (group, utility descending), their places in the group, their blocks of ties."""
    value = dense(u)
    order = np.lexsort((-value, group))
    new_group = np.append(True, np.diff(group[order]) != 0)
    block = np.cumsum(new_group | np.append(True, np.diff(value[order]) != 0)) - 1
    return order, np.arange(order.size) - run_start(new_group), block


def _dcg(gain, u, group, k):
    """Return each query's discounted gain; tied rows share the mean discount of their places."""
    order, place, block = _places(u, group)
    discount = (place < (place.size if k is None else k)) / np.log2(place + 2.0)
    shared = np.bincount(block, weights=discount) / np.bincount(block)
    return np.bincount(group[order], weights=gain[order] * shared[block])


def _share(metric, part, whole, why):
    """Return part / whole, which rounding must not push out of [0, 1], or nan if the whole is nothing."""
    return float(np.clip(part / whole, 0.0, 1.0)) if whole > 0 else _undefined(metric, why)


def _ratio(part, whole):
    """Return part / whole for each query, nan where the whole is nothing."""
    return np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0)


def _mean_defined(metric, values, why):
    """Return the mean of the values that are not nan."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else _undefined(metric, why)


def _undefined(metric, why):
    """Warn that the metric has no value, and return nan."""
    warnings.warn(f"{metric} is undefined and set to nan: {why}.", UndefinedMetricWarning, stacklevel=4)
    return float("nan")


def _scorer(metric, *, qid=True, sign=1, method="predict"):
    """Return a scorer that requests `qid`: the request is stored now, and used when routing is on."""
    options = {"greater_is_better": sign > 0, "response_method": method}
    scorer = import_module("sklearn.metrics").make_scorer(metric, **options)
    with config_context(enable_metadata_routing=True):
        return scorer.set_score_request(qid=True) if qid else scorer


__getattr__, __dir__ = lazy_attributes(  # `sklearn.metrics` takes longer to import than all of this package
    globals(),
    {
        "concordance_scorer": lambda: _scorer(concordance),
        "kendall_tau_scorer": lambda: _scorer(kendall_tau),
        "ndcg_scorer": lambda: _scorer(ndcg_score),
        "map_scorer": lambda: _scorer(map_score),
        "mrr_scorer": lambda: _scorer(mrr_score),
        "neg_top1_risk_scorer": lambda: _scorer(top1_risk, sign=-1),
        "neg_pref_risk_ranks_scorer": lambda: _scorer(pref_risk_ranks, sign=-1),
        "neg_pref_risk_all_pairs_scorer": lambda: _scorer(pref_risk_all_pairs, sign=-1),
        "neg_pref_risk_utility_scorer": lambda: _scorer(pref_risk_utility, sign=-1),
        "comparison_auc_scorer": lambda: _scorer(comparison_auc, qid=False, method="decision_function"),
        "neg_comparison_zero_one_loss_scorer": lambda: _scorer(comparison_zero_one_loss, qid=False, sign=-1),
        "neg_mean_absolute_error_scorer": lambda: _scorer(mean_absolute_error, qid=False, sign=-1),
        "quadratic_weighted_kappa_scorer": lambda: _scorer(quadratic_weighted_kappa, qid=False),
    },
)
