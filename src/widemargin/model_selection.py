"""Ways to split preference data for validation: by query, by pair of items, by item; and many C for a few fits.

Give a splitter as `cv` to scikit-learn's searches. Without `shuffle` the folds are fixed by the data,
with it also by `random_state`; folds are as equal in size as a greedy deal makes them.
"""

import heapq

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state, check_scalar

from ._path import CPath, c_path
from ._queries import qid_from_group_sizes, query_codes

__all__ = ["CPath", "ItemDisjointKFold", "PairKFold", "QueryKFold", "c_path", "qid_from_group_sizes"]


class QueryKFold(BaseCrossValidator):
    """K folds of whole queries: no query is in both the training and the test rows.

    Queries are dealt to the fold with the fewest rows so far, long ones first, or in random order with
    `shuffle`.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2 and at most the number of queries.
    shuffle : bool, default=False
        Deal the queries in random order.
    random_state : int, RandomState instance or None, default=None
        Seed of the order, used with `shuffle`.

    Notes
    -----
    `split` requests `qid` by default under scikit-learn's metadata routing. With routing off pass the query
    ids as `groups`, for example `GridSearchCV(..., cv=QueryKFold()).fit(X, y, groups=qid, qid=qid)`.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin.model_selection import QueryKFold
    >>> for train, test in QueryKFold(2).split(np.zeros((4, 1)), qid=["b", "a", "b", "c"]):
    ...     print(train, test)
    [1 3] [0 2]
    [0 2] [1 3]
    """

    __metadata_request__split = {"qid": True}  # noqa: RUF012 (scikit-learn's protocol)

    def __init__(self, n_splits=5, *, shuffle=False, random_state=None):
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X=None, y=None, groups=None, *, qid=None):  # noqa: ARG002
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups, qid : object
            Ignored; scikit-learn passes them.

        Returns
        -------
        int
            `n_splits`.
        """
        return self.n_splits

    def split(self, X, y=None, groups=None, *, qid=None):  # noqa: ARG002
        """Yield the training and test rows of each fold.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Data; only its length is used.
        y : object
            Ignored.
        groups, qid : array-like of shape (n,)
            Query of each row, any hashable, in any order: exactly one of the two.

        Yields
        ------
        train, test : ndarray
            Row positions, ascending.
        """
        if (qid is None) == (groups is None):
            got = "neither" if qid is None else "both"
            raise ValueError(f"QueryKFold got {got} of qid and groups; pass the query ids as exactly one of them.")
        query = query_codes(groups if qid is None else qid, _n_rows(X))
        fold = _deal(np.bincount(query), self, "queries")[query]
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


class PairKFold(BaseCrossValidator):
    """K folds of pairs: both orientations and all repeats of two items' comparison are in one fold.

    A plain KFold would put (a, b) into training and (b, a) into the test, which is then no test. Items
    themselves may be on both sides: see `ItemDisjointKFold`.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2 and at most the number of different pairs.
    shuffle : bool, default=False
        Deal the pairs in random order.
    random_state : int, RandomState instance or None, default=None
        Seed of the order, used with `shuffle`.
    """

    def __init__(self, n_splits=5, *, shuffle=False, random_state=None):
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X=None, y=None, groups=None):  # noqa: ARG002
        """Return the number of folds; the arguments are ignored.

        Parameters
        ----------
        X, y, groups : object
            Ignored; scikit-learn passes them.

        Returns
        -------
        int
            `n_splits`.
        """
        return self.n_splits

    def split(self, X, y=None, groups=None):  # noqa: ARG002
        """Yield the training and test pairs of each fold.

        Parameters
        ----------
        X : Pairs, or array-like of shape (n, 2, p)
            Comparisons. In an array, items with equal features are the same item.
        y, groups : object
            Ignored.

        Yields
        ------
        train, test : ndarray
            Positions of pairs, ascending.
        """
        ends = np.sort(_item_codes(X), axis=1)
        pair = np.unique(ends, axis=0, return_inverse=True)[1].ravel()
        fold = _deal(np.bincount(pair), self, "different pairs of items")[pair]
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


class ItemDisjointKFold(BaseCrossValidator):
    """K folds of items: the items of the test pairs occur in no training pair.

    Items are dealt to folds. Fold k tests the pairs with both items in fold k and trains on those with
    none; pairs with one item in fold k are left out of that split. So a pair is tested once if its items
    share a fold, else never; where everything is compared with everything, each split tests about 1/K^2 of
    the pairs and trains on (1 - 1/K)^2. Items that are connected by comparisons stay together, and lose no
    pair, unless that would take more than 1/K of all pairs.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds K, at least 2.
    shuffle : bool, default=False
        Deal the items in random order.
    random_state : int, RandomState instance or None, default=None
        Seed of the order, used with `shuffle`.
    """

    def __init__(self, n_splits=5, *, shuffle=False, random_state=None):
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X=None, y=None, groups=None):  # noqa: ARG002
        """Return the number of folds; the arguments are ignored.

        Parameters
        ----------
        X, y, groups : object
            Ignored; scikit-learn passes them.

        Returns
        -------
        int
            `n_splits`.
        """
        return self.n_splits

    def split(self, X, y=None, groups=None):  # noqa: ARG002
        """Yield the training and test pairs of each fold.

        Parameters
        ----------
        X : Pairs, or array-like of shape (n, 2, p)
            Comparisons. In an array, items with equal features are the same item.
        y, groups : object
            Ignored.

        Yields
        ------
        train, test : ndarray
            Positions of pairs, ascending.

        Raises
        ------
        ValueError
            If a fold would have no pair to test or none to train on.
        """
        ends = _item_codes(X)
        unit = _connected_units(ends, self.n_splits)
        fold = _deal(np.bincount(unit[ends].ravel()), self, "items or groups of connected items")[unit]
        for k in range(self.n_splits):
            inside = fold[ends] == k
            train, test = np.flatnonzero(~inside.any(axis=1)), np.flatnonzero(inside.all(axis=1))
            if not (train.size and test.size):
                raise ValueError(
                    f"fold {k} of n_splits={self.n_splits} has {train.size} training and {test.size} test "
                    "pairs, expected some of both: the items are too few or too much intertwined; use fewer "
                    "splits, shuffle=True, or PairKFold."
                )
            yield train, test


def deal_by_grade(y, n_folds):
    """Yield (train, test) rows of one list, dealt to the folds in the order of y: each has its share of every grade."""
    fold = np.empty(y.size, dtype=np.int64)
    fold[np.argsort(y, kind="stable")] = np.arange(y.size) % n_folds
    for k in range(n_folds):
        yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def _deal(sizes, splitter, units):
    """Return the fold of each unit: the lightest so far, units by falling size or in random order."""
    n_splits = splitter.n_splits
    check_scalar(n_splits, "n_splits", (int, np.integer), min_val=2)
    if n_splits > sizes.size:
        raise ValueError(f"n_splits={n_splits}, expected at most {sizes.size}, the number of {units}; use fewer.")
    order = np.argsort(-sizes, kind="stable")
    if splitter.shuffle:
        order = check_random_state(splitter.random_state).permutation(sizes.size)
    fold, lightest = np.empty(sizes.size, dtype=np.int64), [(0, k) for k in range(n_splits)]
    for i in order.tolist():
        load, fold[i] = lightest[0]
        heapq.heapreplace(lightest, (load + int(sizes[i]), int(fold[i])))
    return fold


def _connected_units(ends, n_splits):
    """Return the unit of each item: its connected component if that fits into a fold, else itself."""
    n_items = ends.max() + 1
    graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n_items, n_items))
    n_components, component = connected_components(graph, directed=False)
    n_pairs = np.bincount(component[ends[:, 0]], minlength=n_components)
    stays = n_pairs[component] * n_splits <= len(ends)
    unit = np.where(stays, component, n_components + np.arange(n_items))
    return np.unique(unit, return_inverse=True)[1]


def _item_codes(X):
    """Return the two items of each pair as dense codes, shape (n, 2)."""
    index = np.asarray(getattr(X, "index", None))
    if index.ndim == 2 and index.shape[1] == 2:
        return np.unique(index, return_inverse=True)[1].reshape(-1, 2)
    array = np.asarray(X)
    if array.ndim != 3 or array.shape[1] != 2:
        raise ValueError(f"X has shape {array.shape}, expected Pairs(items, index) or an array (n_pairs, 2, p).")
    return np.unique(array.reshape(-1, array.shape[2]), axis=0, return_inverse=True)[1].reshape(-1, 2)


def _n_rows(X):
    """Return the number of rows of an array, a frame, a sparse matrix or a list."""
    return X.shape[0] if hasattr(X, "shape") else len(X)
