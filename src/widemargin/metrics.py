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
from sklearn.utils import check_array, check_scalar, column_or_1d

from ._lazy import lazy_attributes
from ._queries import query_codes

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
    right, tied, total = _pair_weights(*_checked(y, u, qid, sample_weight))
    return _share("concordance", right + tied / 2, total, NO_PAIRS)


def pref_risk_utility(y, u, *, qid=None, sample_weight=None):
    """Return the share of pairs of different grade that the utility does not order strictly right: 000 (9).

    A tie of utilities is a whole error, since the paper asks for U(better) > U(worse): this is
    1 - `concordance` only where no utilities tie. Parameters are those of `concordance`.
    """
    right, _, total = _pair_weights(*_checked(y, u, qid, sample_weight))
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
    right, _, total = _pair_weights(*_checked(*_ranks(y, y_pred, labels), qid, sample_weight))
    return _share("pref_risk_ranks", total - right, total, NO_PAIRS)


def pref_risk_all_pairs(y, y_pred, *, labels=None, qid=None, sample_weight=None):
    """Return the empirical risk of 000 (2)-(3): errors over all l^2 ordered pairs, (i, i) included.

    Pairs of equal true rank never err. With t ordered pairs of different rank, l^2 / t times this is
    `pref_risk_ranks`: Theorem 1 (with t counted as 2-sets, as printed, it is off by the factor 2).
    Parameters are those of `pref_risk_ranks`; with `qid`, the ordered pairs within queries.
    """
    y, y_pred, group, weight = _checked(*_ranks(y, y_pred, labels), qid, sample_weight)
    right, _, total = _pair_weights(y, y_pred, group, weight)
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
    y, u, group, _ = _checked(y, u, qid, None)
    order = np.argsort(group, kind="stable")
    queries = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    return _mean_defined("kendall_tau", np.array([_tau(y[rows], u[rows]) for rows in queries]), NO_PAIRS)


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
    y, u, group, _ = _checked(y, u, qid, None)
    if y.min() < 0 or y.max() > 1000:
        raise ValueError(
            f"y runs from {y.min()} to {y.max()}, expected grades from 0 to 1000 (the gain is 2^y - 1); "
            "shift or rescale y, or use concordance, which needs no gains."
        )
    if k is not None:
        check_scalar(k, "k", (int, np.integer), min_val=1)
    gain = np.exp2(y.astype(np.float64)) - 1.0
    return _mean_ratio("ndcg_score", _dcg(gain, u, group, k), _dcg(gain, y, group, k), "every y is 0")


def map_score(y, u, *, qid=None):
    """Return the mean over queries of the average precision; documents with y > 0 are relevant.

    Tied utilities form one step of the precision-recall curve; for one query this is scikit-learn's
    `average_precision_score`. Queries without a relevant document are left out, one relevant document alone
    scores 1. Parameters are those of `concordance`.
    """
    y, u, group, _ = _checked(y, u, qid, None)
    order, place, block = _places(u, group)
    end = np.flatnonzero(np.append(np.diff(block), 1))
    relevant = (y[order] > 0).astype(np.int64)
    before = np.append(0, np.cumsum(relevant))
    precision = (before[end + 1] - before[end - place[end]]) / (place[end] + 1)
    gained = np.bincount(group[order], weights=relevant * precision[block])
    return _mean_ratio("map_score", gained, np.bincount(group, weights=y > 0), NO_HITS)


def mrr_score(y, u, *, qid=None):
    """Return the mean over queries of 1 / (place of the first relevant document); y > 0 is relevant.

    Among tied utilities the irrelevant documents stand first: ties never help. Queries without a relevant
    document are left out, one relevant document alone scores 1. Parameters are those of `concordance`.
    """
    y, u, group, _ = _checked(y, u, qid, None)
    order, place, block = _places(u, group)
    end = np.flatnonzero(np.append(np.diff(block), 1))
    found = np.bincount(block, weights=y[order] > 0)
    first = np.full(group.max() + 1, np.inf)
    np.minimum.at(first, group[order[end]], np.where(found > 0, place[end] + 2 - found, np.inf))
    return _mean_defined("mrr_score", np.where(np.isfinite(first), 1.0 / first, np.nan), NO_HITS)


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
    y, u, group, weight = _checked(y, u, qid, sample_weight)
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
    return _share("top1_risk", stake @ ~chosen[top], stake.sum(), "no set of positive weight has two y")


def comparison_zero_one_loss(y, y_pred, *, sample_weight=None):
    """Return the share of pairs whose outcome (+1 first preferred, 0 same, -1) is mispredicted: 002 (2)."""
    y, y_pred, _, weight = _checked(_outcomes(y, "y"), _outcomes(y_pred, "y_pred"), None, sample_weight)
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
    y, s, _, weight = _checked(_outcomes(y, "y"), s, None, sample_weight)
    tie, signed = y == 0, (y * s)[y != 0]
    order = np.argsort(np.abs(s[tie]))
    bar, below = np.abs(s[tie])[order], np.append(0, np.cumsum(weight[tie][order]))
    sides = below[np.searchsorted(bar, signed, "left")] + below[np.searchsorted(bar, signed, "right")]
    credit = weight[~tie] @ np.where(signed > 0, sides / 2, 0.0)
    return _share("comparison_auc", credit, weight[~tie].sum() * below[-1], "y needs both 0 and +1 or -1")


def mean_absolute_error(y, y_pred, *, labels=None, sample_weight=None):
    """Return the mean |predicted - true| rank, scikit-learn's; ranks are positions in `labels` if given."""
    y, y_pred, _, weight = _checked(*_ranks(y, y_pred, labels), None, sample_weight)
    return float(np.average(np.abs(y - y_pred), weights=weight))


def quadratic_weighted_kappa(y, y_pred, *, labels=None, sample_weight=None):
    """Return Cohen's kappa with quadratic weights, scikit-learn's; nan where there is only one rank.

    Ranks are one step apart in the order of `labels` (worst first) or, without it, of the ranks that occur:
    pass `labels` where a rank may be missing from the data, or the step across it is too short.
    """
    y, y_pred, _, weight = _checked(*_ranks(y, y_pred, labels), None, sample_weight)
    ranks = np.stack([y, y_pred])[:, weight > 0]
    ranks = _codes(ranks) if labels is None else ranks
    if np.all(ranks == ranks[0, 0]):
        return _undefined("quadratic_weighted_kappa", "y and y_pred hold one and the same rank")
    options = {"labels": np.arange(ranks.max() + 1), "sample_weight": weight[weight > 0]}
    return float(import_module("sklearn.metrics").cohen_kappa_score(*ranks, weights="quadratic", **options))


def _pair_weights(y, u, group, weight):
    """Return the weight of the pairs of different y that u orders right, that u ties, and of all of them."""
    level, value = _codes(y), _codes(u)
    total = _different_weight(group, level, weight)
    tied = _different_weight(group * (value.max() + 1) + value, level, weight)
    # pairs of one level, of one value or of two groups must not rise: the orders run against each other there
    order = np.lexsort((-value, level, group))
    rising = np.lexsort((-np.arange(order.size), value[order], -group[order]))
    return _rising_weight(rising, weight[order]), tied, total


def _different_weight(outer, inner, weight):
    """Return the weight of the pairs with the same `outer` and different `inner`."""
    order = np.lexsort((inner, outer))
    new_outer = np.append(True, np.diff(outer[order]) != 0)
    new_inner = np.append(True, np.diff(inner[order]) != 0) | new_outer
    before = np.append(0, np.cumsum(weight[order]))
    return weight[order] @ (before[_run_start(new_inner)] - before[_run_start(new_outer)])


def _rising_weight(places, weight):
    """Return the sum of weight[p] * weight[q] over p < q where p stands before q in the permutation `places`.

    Merge sort upside down: at each level the aligned blocks of 2 * half places lie together, each in the
    permutation's order; right halves count the left ones before them, then each block is split, stably.
    """
    index, total, half = np.arange(places.size), 0, 1 << (places.size - 1).bit_length() >> 1
    while half:
        is_right, start, w = (places & half) != 0, places & (-2 * half), weight[places]
        before = np.append(0, np.cumsum(np.where(is_right, 0, w)))
        total += np.where(is_right, w, 0) @ (before[:-1] - before[start])
        n_left = np.append(0, np.cumsum(~is_right))
        n_left = n_left[:-1] - n_left[start]
        split = np.empty_like(places)
        split[np.where(is_right, index + half - n_left, start + n_left)] = places
        places, half = split, half >> 1
    return total


def _places(u, group):
    """Return the rows by (group, utility descending), their places in the group, their blocks of ties."""
    value = _codes(u)
    order = np.lexsort((-value, group))
    new_group = np.append(True, np.diff(group[order]) != 0)
    block = np.cumsum(new_group | np.append(True, np.diff(value[order]) != 0)) - 1
    return order, np.arange(order.size) - _run_start(new_group), block


def _dcg(gain, u, group, k):
    """Return each query's discounted gain; tied rows share the mean discount of their places."""
    order, place, block = _places(u, group)
    discount = (place < (place.size if k is None else k)) / np.log2(place + 2.0)
    shared = np.bincount(block, weights=discount) / np.bincount(block)
    return np.bincount(group[order], weights=gain[order] * shared[block])


def _codes(values):
    """Return dense integer codes in the order of the values."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _run_start(is_start):
    """Return for each position where its run begins."""
    return np.maximum.accumulate(np.where(is_start, np.arange(is_start.size), 0))


def _share(metric, part, whole, why):
    """Return part / whole, which rounding must not push out of [0, 1], or nan if the whole is nothing."""
    return float(np.clip(part / whole, 0.0, 1.0)) if whole > 0 else _undefined(metric, why)


def _mean_ratio(metric, part, whole, why):
    """Return the mean of part / whole over the queries where the whole is positive."""
    return _mean_defined(metric, np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0), why)


def _mean_defined(metric, values, why):
    """Return the mean of the values that are not nan."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else _undefined(metric, why)


def _undefined(metric, why):
    """Warn that the metric has no value, and return nan."""
    warnings.warn(f"{metric} is undefined and set to nan: {why}.", UndefinedMetricWarning, stacklevel=4)
    return float("nan")


def _checked(y, u, qid, sample_weight):
    """Return y, u, the query codes and the weights (int64 ones without any), all of one length."""
    y, u = _vector(y, "y"), _vector(u, "prediction")
    if u.size != y.size:
        raise ValueError(f"the predictions have {u.size} entries but y has {y.size}; pass one for each row of y.")
    if sample_weight is None:
        return y, u, query_codes(qid, y.size), np.ones(y.size, dtype=np.int64)
    weight = _vector(sample_weight, "sample_weight").astype(np.float64)
    if weight.size != y.size or weight.min() < 0 or weight.max() == 0:
        raise ValueError(
            f"sample_weight has {weight.size} entries from {weight.min():g} to {weight.max():g}, "
            f"expected {y.size}, one per row, none negative and some positive."
        )
    return y, u, query_codes(qid, y.size), weight


def _vector(values, name):
    """Return `values` as a vector of finite numbers."""
    array = np.asarray(values)
    if array.size and isinstance(array.flat[0], str | bytes):
        raise ValueError(
            f"{name} holds strings such as {array.flat[0]!r}, expected numbers, larger = preferred; "
            "encode them, or pass labels= (worst first) where the metric has it."
        )
    return column_or_1d(check_array(array, ensure_2d=False, input_name=name))


def _ranks(y, y_pred, labels):
    """Return true and predicted ranks as numbers: themselves, or positions in `labels`."""
    if labels is None:
        return y, y_pred
    position = {label: i for i, label in enumerate(labels)}
    unknown = {*np.asarray(y).tolist(), *np.asarray(y_pred).tolist()}.difference(position)
    if unknown:
        raise ValueError(f"labels={list(position)} lacks {unknown}; pass every rank of y and y_pred, worst first.")
    return tuple([position[v] for v in np.asarray(ranks).tolist()] for ranks in (y, y_pred))


def _outcomes(y, name):
    """Return the outcomes of comparisons, which must be +1, 0 or -1."""
    y = _vector(y, name)
    if not np.isin(y, (-1, 0, 1)).all():
        raise ValueError(f"{name} holds {np.unique(y)[:5]}, expected only +1 (first preferred), 0 (same) and -1.")
    return y.astype(np.int64)


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
