"""Pairs of items as X: the items once, and who met whom."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from ._queries import is_missing

__all__ = ["Pairs"]

DENSE_ITEMS = 2000  # indicator features of more items are sparse


class Pairs:
    """Pairs of items, ready to be X of `ComparisonSVM` and of scikit-learn's splitters.

    Parameters
    ----------
    items : array-like, sparse matrix or data frame of shape (n_items, n_features)
        The features of each item, once.
    index : array-like of shape (n_pairs, 2)
        Positions in `items` of the first and the second item of each pair.
    names : array-like of shape (n_items,), default=None
        What the items are called, for tables and messages.

    Notes
    -----
    Indexing takes a subset of the pairs and keeps all items, so that `cross_validate` and `GridSearchCV`
    carry the whole thing. With (winner, loser) data no `y` is needed: the first item is the preferred one.

    Examples
    --------
    >>> from widemargin import Pairs
    >>> pairs = Pairs([[0.0], [1.0], [2.0]], [(2, 0), (1, 0)])
    >>> len(pairs), pairs.shape
    (2, (2, 2, 1))
    """

    def __init__(self, items, index, *, names=None):
        self.items = items if hasattr(items, "shape") else np.asarray(items, dtype=float)
        self.index = _checked_index(index, self.items.shape[0])
        self.names = None if names is None else list(names)
        if names is not None and len(self.names) != self.items.shape[0]:
            raise ValueError(f"names has {len(self.names)} entries; expected {self.items.shape[0]}, one per item.")

    @classmethod
    def from_indices(cls, items, first, second):
        """Return the pairs (items[first[i]], items[second[i]]).

        Parameters
        ----------
        items : array-like, sparse matrix or data frame of shape (n_items, n_features)
            The features of each item, once.
        first, second : array-like of int of shape (n_pairs,)
            Positions in `items`; with winners first and losers second no `y` is needed.

        Returns
        -------
        Pairs
        """
        first, second = np.asarray(first), np.asarray(second)
        if first.shape != second.shape or first.ndim != 1:
            raise ValueError(
                f"first has shape {first.shape} and second {second.shape}; expected two positions per pair: "
                "flat arrays of the same length."
            )
        return cls(items, np.column_stack([first, second]))

    @classmethod
    def from_arrays(cls, left, right):
        """Return the pairs (left[i], right[i]) of two matrices of the same shape.

        Parameters
        ----------
        left, right : array-like or data frame of shape (n_pairs, n_features)
            Features of the first and of the second item of each pair. Of frames the columns must agree.

        Returns
        -------
        Pairs
        """
        frame, names = type(left), [list(getattr(side, "columns", ())) for side in (left, right)]
        if names[0] != names[1]:
            raise ValueError(f"left has the columns {names[0]} and right {names[1]}; expected the same, in order.")
        named = {"columns" if hasattr(left, "iloc") else "schema": names[0]}
        left, right = check_array(left, input_name="left"), check_array(right, input_name="right")
        if left.shape != right.shape:
            raise ValueError(f"left has shape {left.shape} and right {right.shape}; expected the same shape.")
        n, items = len(left), np.vstack([left, right])
        return cls(frame(items, **named) if names[0] else items, np.arange(2 * n).reshape(2, n).T)

    @classmethod
    def from_frame(cls, frame, *, left, right, winner=None, wins=None, ties=None, losses=None, weight=None, items=None):
        """Return pairs, and y, from a frame of votes.

        Parameters
        ----------
        frame : pandas or polars data frame
            One vote a row, or one pair of items a row with `wins`.
        left, right : str
            Columns that name the two items.
        winner : str, optional
            Column with the left item's name, the right item's name, "left", "right", or for no difference
            "tie", "", 0 or a missing value; +1 / 0 / -1 are understood too. Without it every left item won;
            a frame with a column "winner" is then refused.
        wins, ties, losses : str, optional
            Columns with how often, or with what share of the votes, the left item won, tied and lost, in place of
            `winner`: see `with_votes`.
        weight : str, optional
            Column with the weight of each row.
        items : pandas or polars data frame, optional
            Features of the items, its first column (or the index of a pandas frame with names in it) their
            names. Without it each item is its own indicator feature.

        Returns
        -------
        pairs : Pairs
        y : ndarray of +1 (left preferred), 0 and -1
        sample_weight : ndarray
            Only with `weight` or `wins`.

        Examples
        --------
        >>> import pandas as pd
        >>> from widemargin import Pairs
        >>> votes = pd.DataFrame({"a": ["tea", "tea"], "b": ["milk", "soup"], "for_a": [0.75, 1.0]})
        >>> pairs, y, weight = Pairs.from_frame(votes, left="a", right="b", wins="for_a")
        >>> pairs.names, y, weight
        (['milk', 'soup', 'tea'], array([ 1,  1, -1]), array([0.75, 1.  , 0.25]))
        """
        if wins is None and not (ties is None and losses is None):
            raise ValueError("ties or losses came without wins; name the column of the left item's wins too.")
        if wins is not None and winner is not None:
            raise ValueError(f"got winner={winner!r} and wins={wins!r}; expected one of them: single votes, or counts.")
        if wins is None and winner is None and "winner" in frame.columns:
            raise ValueError("the frame has a column 'winner' that was not named; pass winner='winner', or drop it.")
        first, second = (_column(frame, name) for name in (left, right))
        names, features = _item_table(items, first, second)
        pairs = cls(features, _positions(names, first, second), names=names)
        w = None if weight is None else _numbers(frame, weight)
        if wins is not None:
            votes = [None if name is None else _numbers(frame, name) for name in (wins, ties, losses)]
            return pairs.with_votes(*votes, sample_weight=w)
        y = np.ones(len(first), dtype=np.int64)
        if winner is not None:
            y = _outcomes(_column(frame, winner), first, second)
        return (pairs, y) if w is None else (pairs, y, w)

    def with_votes(self, wins, ties=None, losses=None, *, sample_weight=None):
        """Return pairs, y and weights that say how often each pair was won, tied and lost by its first item.

        Parameters
        ----------
        wins : array-like of shape (n_pairs,)
            Number, or share, of votes for the first item.
        ties : array-like of shape (n_pairs,), default=None
            The same of no difference; None: none.
        losses : array-like of shape (n_pairs,), default=None
            The same of votes for the second item. None: the others are shares, and this is what they leave of 1.
        sample_weight : array-like of shape (n_pairs,), default=None
            Weight of each pair, which its outcomes share.

        Returns
        -------
        pairs : Pairs
            Each pair once per outcome that has votes; first all wins, then ties, then losses.
        y : ndarray of +1, 0 and -1
        sample_weight : ndarray
        """
        n = len(self)
        given = {"wins": wins, "ties": ties, "losses": losses, "sample_weight": sample_weight}
        votes = {name: _checked_votes(name, value, n) for name, value in given.items() if value is not None}
        votes.setdefault("ties", np.zeros(n))
        if losses is None:
            votes["losses"] = 1.0 - votes["wins"] - votes["ties"]
            if np.any(votes["losses"] < -1e-9):
                raise ValueError(
                    f"wins (and ties) reach {1.0 - votes['losses'].min():.6g} without losses; expected shares of at "
                    "most 1. If they are counts, give losses too."
                )
            votes["losses"] = np.where(votes["losses"] < 1e-12, 0.0, votes["losses"])
        weight = np.concatenate([votes[name] * votes.get("sample_weight", 1.0) for name in ("wins", "ties", "losses")])
        kept = weight > 0
        return self[np.tile(np.arange(n), 3)[kept]], np.repeat([1, 0, -1], n)[kept], weight[kept]

    def aggregate(self, y=None, *, sample_weight=None):
        """Return the different pairs with their different outcomes, once each, and how often each came.

        A pair and its mirror image are one: the item with the smaller position comes first. The fitted model is the
        same; resampling is not, because votes that were merged are no longer drawn one by one.

        Parameters
        ----------
        y : array-like of shape (n_pairs,), default=None
            +1, 0 or -1; None: the first item of every pair won.
        sample_weight : array-like of shape (n_pairs,), default=None
            Weight of each pair; None: 1.

        Returns
        -------
        pairs : Pairs
        y : ndarray of +1, 0 and -1
        sample_weight : ndarray
        """
        n = len(self)
        y = np.ones(n, dtype=np.int64) if y is None else np.asarray(y)
        weight = np.ones(n) if sample_weight is None else _checked_votes("sample_weight", sample_weight, n)
        if y.shape != (n,) or not np.all(np.isin(y, (-1, 0, 1))):
            raise ValueError(
                f"y has shape {y.shape} and values {np.unique(y)[:5]}; expected {(n,)} of +1, 0 and -1. Shares "
                "of votes go through with_votes first."
            )
        swapped = self.index[:, 0] > self.index[:, 1]
        rows = np.column_stack([np.sort(self.index, axis=1), np.where(swapped, -y, y)])
        found, which = np.unique(rows, axis=0, return_inverse=True)
        total = np.bincount(which.ravel(), weight, minlength=len(found))
        found = found.astype(np.int64)
        return Pairs(self.items, found[:, :2], names=self.names), found[:, 2], total

    @property
    def shape(self):
        """Return (n_pairs, 2, n_features)."""
        return len(self.index), 2, self.items.shape[1]

    def used_items(self):
        """Return the items that occur in a pair, each once."""
        used = np.unique(self.index)
        return self.items.iloc[used] if hasattr(self.items, "iloc") else self.items[used]

    def __len__(self):
        return len(self.index)

    def __getitem__(self, key):
        rows = key[0] if isinstance(key, tuple) else key
        return Pairs(self.items, np.atleast_2d(self.index[rows]), names=self.names)

    def __repr__(self):
        return f"Pairs({len(self)} pairs of {self.items.shape[0]} items with {self.items.shape[1]} features)"


def as_pairs(X):
    """Return X as Pairs: itself, or an array (n_pairs, 2, n_features) whose items are its 2n rows in order."""
    if isinstance(X, Pairs):
        return X
    X = np.asarray(X)
    if X.ndim != 3 or X.shape[1] != 2:
        raise ValueError(
            f"X has shape {X.shape}; expected Pairs(items, index) or an array (n_pairs, 2, n_features). "
            "Pairs.from_arrays(left, right) makes one from two matrices."
        )
    n = X.shape[0]
    return Pairs(X.reshape(2 * n, X.shape[2]), np.arange(2 * n).reshape(n, 2))


def _checked_index(index, n_items):
    index = np.asarray(index)
    if index.size == 0:
        index = index.reshape(0, 2).astype(np.int64)
    if index.ndim != 2 or index.shape[1] != 2 or index.dtype.kind not in "iu":
        raise ValueError(
            f"index has shape {index.shape} and dtype {index.dtype}; expected integers of shape (n_pairs, 2): "
            "the positions of the first and the second item."
        )
    if index.size and (index.min() < 0 or index.max() >= n_items):
        raise ValueError(f"index runs from {index.min()} to {index.max()}; there are {n_items} items, from 0.")
    return index.astype(np.int64, copy=False)


def _column(frame, name):
    """Return a column as objects; a frame without it is refused."""
    if name not in frame.columns:
        raise ValueError(f"the frame has no column {name!r}; it has {list(frame.columns)}.")
    return np.asarray(frame[name], dtype=object)


def _numbers(frame, name):
    """Return a column as floats."""
    try:
        return _column(frame, name).astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"column {name!r} holds something that is no number: {error}; expected numbers.") from error


def _checked_votes(name, value, n):
    """Return counts, shares or weights as floats."""
    value = np.asarray(value, dtype=float)
    if value.shape != (n,):
        raise ValueError(f"{name} has shape {value.shape}; expected {(n,)}: one number per pair.")
    if not np.all(np.isfinite(value)) or np.any(value < 0):
        raise ValueError(f"{name} has negative, NaN or infinite entries; expected numbers >= 0.")
    return value


def _positions(names, first, second):
    """Return the positions of both items of each vote."""
    position = {name: i for i, name in enumerate(names)}
    for name in dict.fromkeys([*first, *second]):
        if is_missing(name):
            raise ValueError("an item's name is missing in the votes; drop the row, or name the item.")
        if name not in position:
            raise ValueError(f"item {name!r} occurs in the votes but has no row in items; add it.")
    index = np.array([[position[a], position[b]] for a, b in zip(first, second, strict=True)]).reshape(-1, 2)
    alone = np.flatnonzero(index[:, 0] == index[:, 1])
    if alone.size:
        warnings.warn(
            f"{alone.size} of {len(index)} votes compare an item with itself, first {names[index[alone[0], 0]]!r} in "
            f"row {alone[0]}; they say nothing about preferences and are counted all the same: drop them.",
            UserWarning,
            stacklevel=3,
        )
    return index


def _item_table(items, first, second):
    """Return the items' names and features."""
    if items is None:
        names = sorted({*first, *second}, key=str)
        return names, np.eye(len(names)) if len(names) <= DENSE_ITEMS else sparse.eye_array(len(names), format="csr")
    if hasattr(items, "iloc") and (items.index.name is not None or items.index.dtype.kind not in "iu"):
        names, features = list(items.index), items
    else:
        key = items.columns[0]
        names, features = list(items[key]), items.drop(columns=key) if hasattr(items, "iloc") else items.drop(key)
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise ValueError(f"items names {twice!r} twice; expected one row per item.")
    return names, features


def _outcomes(winners, first, second):
    """Return +1, 0 or -1 of each vote; what a number means is decided for the whole column."""
    numbers = {w for w in winners if not is_missing(w) and not isinstance(w, str)}
    codes = bool(numbers) and numbers <= {-1, 0, 1}
    if codes and numbers & {*first, *second}:
        raise ValueError(
            f"winner holds {sorted(numbers)}, which could be items or outcomes; "
            "use 'left', 'right' and 'tie', or items whose names are not -1, 0 or 1."
        )
    return np.array([_outcome(*vote, codes=codes) for vote in zip(winners, first, second, strict=True)], dtype=np.int64)


def _outcome(winner, first, second, *, codes):
    """Return +1, 0 or -1 from what people write into a winner column."""
    word = winner.lower() if isinstance(winner, str) else None
    if is_missing(winner) or word in {"tie", "draw", "", "0"}:
        return 0
    if codes and word is None:
        return int(winner)
    if winner == first or word == "left":
        return 1
    if winner == second or word == "right":
        return -1
    raise ValueError(
        f"winner is {winner!r} for the pair ({first!r}, {second!r}); "
        'expected one of the two names, "left", "right", "tie", or +1 / 0 / -1.'
    )
