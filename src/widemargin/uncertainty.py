"""How sure the utilities are: bootstrap intervals, and a leaderboard of items with them.

Utilities are known up to a constant, so they are centred: the items' mean is zero in every table and resample.
"""

from __future__ import annotations

import importlib
import warnings
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from ._estimator import check_choice, check_number, check_weight
from ._queries import query_codes
from .exceptions import DisconnectedWarning
from .pairs import Pairs, as_pairs

__all__ = ["UtilityIntervals", "bootstrap_utilities", "leaderboard"]

SAME_DIGITS = 7  # utilities that agree to this share of the largest are equal


@dataclass(frozen=True)
class UtilityIntervals:
    """Centred utilities of items with percentile intervals.

    Parameters
    ----------
    utility : ndarray of shape (n_items,)
        Of the estimator fitted on all pairs.
    samples : ndarray of shape (n_boot, n_items)
        Of the estimator fitted on each resample.
    level : float
        Share of the resamples that the intervals hold.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin.uncertainty import UtilityIntervals
    >>> found = UtilityIntervals(np.array([1.0, -1.0]), np.array([[0.5, -0.5], [1.5, -1.5]]), level=1.0)
    >>> found.lower, found.upper
    (array([ 0.5, -1.5]), array([ 1.5, -0.5]))
    """

    utility: np.ndarray
    samples: np.ndarray
    level: float

    @property
    def lower(self):
        """Return the lower ends."""
        return np.quantile(self.samples, (1.0 - self.level) / 2.0, axis=0)

    @property
    def upper(self):
        """Return the upper ends."""
        return np.quantile(self.samples, (1.0 + self.level) / 2.0, axis=0)

    @property
    def rank(self):
        """Return the rank of each item: 1 is the best, equals share the smallest."""
        return _ranks(self.utility)

    @property
    def rank_range(self):
        """Return the best and the worst rank that the resamples give each item, to the level."""
        ranks = _ranks(self.samples)
        low = np.quantile(ranks, (1.0 - self.level) / 2.0, axis=0, method="lower")
        return low, np.quantile(ranks, (1.0 + self.level) / 2.0, axis=0, method="higher")


def bootstrap_utilities(
    estimator,
    pairs,
    y=None,
    *,
    items=None,
    sample_weight=None,
    groups=None,
    n_boot=200,
    level=0.95,
    random_state=None,
    n_jobs=None,
    progress=None,
):
    """Return utilities of items and how much they vary when the votes are drawn again.

    Parameters
    ----------
    estimator : estimator
        `ComparisonSVM`, or anything with a `decision_function` of pairs that ends in one. It is cloned, not changed.
    pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
        Pairs of items.
    y : array-like of shape (n_pairs,), default=None
        +1, 0 or -1; None: the first item of every pair won.
    items : {array-like, sparse matrix, data frame} of shape (n_items, n_features), default=None
        Items whose utilities are wanted; None: those of `pairs`.
    sample_weight : array-like of shape (n_pairs,), default=None
        Weight of each pair. A weighted row is drawn as one.
    groups : array-like of shape (n_pairs,), default=None
        Who voted, or what else makes votes depend on each other: whole groups are drawn. None: pair by pair.
    n_boot : int, default=200
        Number of resamples.
    level : float, default=0.95
        Share of the resamples that an interval holds.
    random_state : int, RandomState instance or None, default=None
        Seed of the resamples; the answer does not depend on `n_jobs`.
    n_jobs : int, default=None
        Processes, as in scikit-learn.
    progress : callable, default=None
        What the resamples are drawn through, to show how many are done: `tqdm.tqdm`, for example.

    Returns
    -------
    UtilityIntervals
        With `utility`, `lower`, `upper`, `rank`, `rank_range` and the `samples`.

    Notes
    -----
    Percentile intervals. They show the noise of the votes, not what regularisation takes away: an item with few votes
    is pulled towards the mean, in every resample. A resample has pairs with a winner, and ties, where the data have
    them; else it is drawn again.

    Examples
    --------
    >>> from widemargin import ComparisonSVM, Pairs
    >>> from widemargin.uncertainty import bootstrap_utilities
    >>> pairs = Pairs([[0.0], [1.0], [2.0]], [(1, 0), (2, 1), (2, 0), (1, 0), (0, 1), (2, 0), (2, 1), (1, 0)])
    >>> found = bootstrap_utilities(ComparisonSVM(ties="threshold"), pairs, n_boot=20, random_state=0)
    >>> bool((found.lower <= found.upper).all())
    True
    """
    pairs = as_pairs(pairs)
    n = len(pairs)
    check_number("n_boot", n_boot, above=0, integer=True)
    check_number("level", level, above=0)
    if not level <= 1:
        raise ValueError(f"level={level!r} is out of range; expected a share above 0 and at most 1, such as 0.95.")
    y = None if y is None else np.asarray(y)
    weight = None if sample_weight is None else check_weight(sample_weight, n)
    units = _Units.of(groups, n)
    items = pairs.items if items is None else items
    rng = check_random_state(random_state)
    seeds = rng.randint(np.iinfo(np.int32).max, size=n_boot)
    utility = _fitted_utility(clone(estimator), pairs, y, weight, np.arange(n), items)
    done = Parallel(n_jobs=n_jobs)(
        delayed(_resampled_utility)(clone(estimator), pairs, y, weight, units, seed, items)
        for seed in (seeds if progress is None else progress(seeds))
    )
    _warn_once([message for _, message in done if message])
    return UtilityIntervals(utility, np.array([u for u, _ in done]), float(level))


def leaderboard(
    estimator,
    pairs,
    y=None,
    *,
    names=None,
    sample_weight=None,
    groups=None,
    n_boot=200,
    level=0.95,
    random_state=None,
    n_jobs=None,
    progress=None,
    output="pandas",
):
    """Return a table of the items, best first, with intervals of their utilities and ranks.

    Parameters
    ----------
    estimator : estimator
        `ComparisonSVM`, or anything with a `decision_function` of pairs that ends in one. It is cloned, not changed.
    pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
        Pairs of items; `Pairs.from_frame` makes them from votes, with the items' identity or their features.
    y : array-like of shape (n_pairs,), default=None
        +1, 0 or -1; None: the first item of every pair won.
    names : array-like of shape (n_items,), default=None
        What the items are called; None: as `pairs` names them, or their positions.
    sample_weight, groups, n_boot, level, random_state, n_jobs, progress
        As in `bootstrap_utilities`.
    output : {"pandas", "polars", "default"}, default="pandas"
        Kind of table; "default" is a dict of arrays.

    Returns
    -------
    data frame
        item, utility (mean zero), lower, upper, rank, rank_low, rank_high, wins, ties, losses, comparisons, component.
        With weights the counts are sums of weights. Items of different `component` were never compared, not even
        through other items.

    Warns
    -----
    DisconnectedWarning
        If items without features of their own fall into several components: votes say nothing about items of
        different components, and their utilities differ by what regularisation makes of it.

    Notes
    -----
    One component is enough. Bradley-Terry models also need that from every item a chain of wins leads to every
    other; here an item that won all its pairs has a finite utility, which grows with C.

    Examples
    --------
    >>> import pandas as pd
    >>> from widemargin import ComparisonSVM, Pairs
    >>> from widemargin.uncertainty import leaderboard
    >>> best = ["tea", "tea", "tie"]
    >>> votes = pd.DataFrame({"a": ["tea", "tea", "milk"], "b": ["milk", "soup", "soup"], "best": best})
    >>> pairs, y = Pairs.from_frame(votes, left="a", right="b", winner="best")
    >>> table = leaderboard(ComparisonSVM(ties="threshold"), pairs, y, n_boot=20, random_state=0)
    >>> table[["item", "rank", "wins", "ties", "losses"]]
       item  rank  wins  ties  losses
    0   tea     1     2     0       0
    1  milk     2     0     1       1
    2  soup     2     0     1       1
    """
    check_choice("output", output, ("pandas", "polars", "default"))
    pairs = as_pairs(pairs)
    n_items = pairs.items.shape[0]
    names = pairs.names if names is None else list(names)
    names = list(range(n_items)) if names is None else names
    if len(names) != n_items:
        raise ValueError(f"names has {len(names)} entries; expected {n_items}, one per item.")
    component = _components(pairs, sample_weight)
    _warn_if_disconnected(pairs, component, names)
    found = bootstrap_utilities(
        estimator,
        pairs,
        y,
        sample_weight=sample_weight,
        groups=groups,
        n_boot=n_boot,
        level=level,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
    )
    counts = _counts(pairs, y, sample_weight)
    low, high = found.rank_range
    order = np.argsort(-found.utility, kind="stable")
    table = {
        "item": np.array(names, dtype=object),
        "utility": found.utility,
        "lower": found.lower,
        "upper": found.upper,
        "rank": found.rank,
        "rank_low": low,
        "rank_high": high,
        **counts,
        "component": component,
    }
    return _as_table({name: column[order] for name, column in table.items()}, output)


def _ranks(utility):
    """Return ranks along the last axis; utilities that only rounding tells apart are equal."""
    scale = np.abs(utility).max(axis=-1, keepdims=True)
    rounded = np.round(utility / np.where(scale > 0, scale, 1.0), SAME_DIGITS)
    return rankdata(-rounded, method="min", axis=-1).astype(np.int64)


@dataclass(frozen=True)
class _Units:
    """What is drawn: single rows, or whole groups of them."""

    n: int
    rows: np.ndarray | None = None  # rows sorted by group; None: each row is its own
    starts: np.ndarray | None = None  # where each group begins in them, and the end

    @classmethod
    def of(cls, groups, n):
        """Return the rows themselves, or the groups."""
        if groups is None:
            return cls(n)
        code = query_codes(groups, n)
        starts = np.concatenate([[0], np.cumsum(np.bincount(code))])
        return cls(starts.size - 1, np.argsort(code, kind="stable"), starts)

    def draw(self, rng):
        """Return the rows of as many units as there are, drawn with replacement."""
        units = rng.randint(self.n, size=self.n)
        if self.rows is None:
            return units
        return np.concatenate([self.rows[self.starts[k] : self.starts[k + 1]] for k in units])


def _draw(rng, units, y):
    """Return the rows of a resample that has winners, and ties, where the data have them."""
    kinds = () if y is None else [is_kind for is_kind in (y == 0, y != 0) if np.any(is_kind)]
    while True:  # each kind is in some unit, which a draw holds with probability above 1 - 1/e
        rows = units.draw(rng)
        if all(np.any(is_kind[rows]) for is_kind in kinds):
            return rows


def _fitted_utility(model, pairs, y, weight, rows, items):
    """Return the centred utilities of the items after a fit on some rows: differences to the first item."""
    metadata = {} if weight is None else {"sample_weight": weight[rows]}
    model.fit(pairs[rows], None if y is None else y[rows], **metadata)
    n_items = items.shape[0]
    u = model.decision_function(Pairs(items, np.column_stack([np.arange(n_items), np.zeros(n_items, dtype=np.int64)])))
    return u - u.mean()


def _resampled_utility(model, pairs, y, weight, units, seed, items):
    """Return the utilities and the first warning's text: a worker's own warnings would be lost or repeated."""
    rows = _draw(np.random.RandomState(seed), units, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        u = _fitted_utility(model, pairs, y, weight, rows, items)
    return u, str(caught[0].message) if caught else ""


def _warn_once(messages):
    if messages:
        warnings.warn(f"{len(messages)} resamples warned, the first: {messages[0]}", UserWarning, stacklevel=3)


def _components(pairs, sample_weight):
    """Return the connected component of each item, 0 the largest."""
    index = pairs.index if sample_weight is None else pairs.index[check_weight(sample_weight, len(pairs)) > 0]
    n_items = pairs.items.shape[0]
    graph = sparse.coo_array((np.ones(len(index)), (index[:, 0], index[:, 1])), shape=(n_items, n_items))
    label = connected_components(graph, directed=False)[1]
    by_size = np.argsort(-np.bincount(label), kind="stable")
    return np.argsort(by_size)[label]


def _warn_if_disconnected(pairs, component, names):
    """Say which items cannot be compared, where nothing but the votes connects them."""
    n_components = int(component.max()) + 1
    if n_components == 1 or not _is_identity(pairs.items):
        return
    parts = [[str(names[i]) for i in np.flatnonzero(component == k)] for k in range(min(n_components, 4))]
    shown = "; ".join(", ".join(p[:5]) + (f" and {len(p) - 5} more" if len(p) > 5 else "") for p in parts)
    more = f"; and {n_components - 4} more groups" if n_components > 4 else ""
    warnings.warn(
        f"the items fall into {n_components} groups that no vote connects ({shown}{more}): utilities and ranks of "
        "items of different groups cannot be compared. Ask about pairs between the groups, or give the items features.",
        DisconnectedWarning,
        stacklevel=3,
    )


def _is_identity(items):
    """Whether each item's only feature is itself."""
    n, p = items.shape
    if n != p:
        return False
    if sparse.issparse(items):
        return items.nnz == n and bool(np.all(items.diagonal() == 1))
    return np.array_equal(np.asarray(items), np.eye(n))


def _counts(pairs, y, sample_weight):
    """Return wins, ties, losses and comparisons of each item; whole numbers where there are no weights."""
    y = np.ones(len(pairs), dtype=np.int64) if y is None else np.asarray(y)
    weight = np.ones(len(pairs)) if sample_weight is None else check_weight(sample_weight, len(pairs))
    n_items, (first, second) = pairs.items.shape[0], pairs.index.T

    def total(kind, sign):
        parts = (np.bincount(end, weight * (y == s), n_items) for end, s in ((first, sign), (second, -sign)))
        return kind, sum(parts)

    counts = dict([total("wins", 1), total("ties", 0), total("losses", -1)])
    counts["comparisons"] = sum(counts.values())
    return counts if sample_weight is not None else {name: c.astype(np.int64) for name, c in counts.items()}


def _as_table(columns, output):
    """Return the columns as a frame; say what to install where its package is missing."""
    if output == "default":
        return columns
    try:
        package = importlib.import_module(output)
    except ImportError as error:
        raise ImportError(
            f"output={output!r} needs {output}; pip install {output}, or pass output='default' for a dict of arrays."
        ) from error
    if output == "polars":
        columns = {name: c.tolist() if c.dtype == object else c for name, c in columns.items()}
    return package.DataFrame(columns)
