"""Pairs of items as X: the items once, and who met whom."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_array

from ._queries import is_missing

__all__ = ["Pairs"]


class Pairs:
    """Pairs of items, ready to be X of `ComparisonSVM` and of scikit-learn's splitters.

    Parameters
    ----------
    items : array-like, sparse matrix or data frame of shape (n_items, n_features)
        The features of each item, once.
    index : array-like of shape (n_pairs, 2)
        Positions in `items` of the first and the second item of each pair.

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

    def __init__(self, items, index):
        self.items = items if hasattr(items, "shape") else np.asarray(items, dtype=float)
        self.index = _checked_index(index, self.items.shape[0])

    @classmethod
    def from_arrays(cls, left, right):
        """Return the pairs (left[i], right[i]) of two matrices of the same shape."""
        left, right = check_array(left, input_name="left"), check_array(right, input_name="right")
        if left.shape != right.shape:
            raise ValueError(f"left has shape {left.shape} and right {right.shape}; expected the same shape.")
        n = len(left)
        return cls(np.vstack([left, right]), np.column_stack([np.arange(n), np.arange(n, 2 * n)]))

    @classmethod
    def from_frame(cls, frame, *, left, right, winner=None, items=None):
        """Return pairs, and y, from a frame of votes.

        Parameters
        ----------
        frame : pandas or polars data frame
            One vote a row.
        left, right : str
            Columns that name the two items.
        winner : str, optional
            Column with the left item's name, the right item's name, "left", "right", or for no difference
            "tie", "", 0 or a missing value; +1 / 0 / -1 are understood too. Without it every left item won.
        items : pandas or polars data frame, optional
            Features of the items, its first column (or the index of a pandas frame with names in it) their
            names. Without it each item is its own indicator feature.

        Returns
        -------
        pairs : Pairs
        y : ndarray of +1 (left preferred), 0 and -1
        """
        first, second = (np.asarray(frame[name], dtype=object) for name in (left, right))
        names, features = _item_table(items, first, second)
        position = {name: i for i, name in enumerate(names)}
        for name in [*first, *second]:
            if name not in position:
                raise ValueError(f"item {name!r} occurs in the votes but has no row in items; add it.")
        index = np.array([[position[a], position[b]] for a, b in zip(first, second, strict=True)]).reshape(-1, 2)
        y = np.ones(len(first), dtype=np.int64)
        if winner is not None:
            y = _outcomes(np.asarray(frame[winner], dtype=object), first, second)
        return cls(features, index), y

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
        return Pairs(self.items, np.atleast_2d(self.index[rows]))

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


def _item_table(items, first, second):
    """Return the items' names and features."""
    if items is None:
        names = sorted({*first, *second}, key=str)
        return names, np.eye(len(names))
    if hasattr(items, "iloc") and (items.index.name is not None or items.index.dtype.kind not in "iu"):
        names, features = list(items.index), items
    else:
        key = items.columns[0]
        names, features = list(items[key]), items.drop(columns=key) if hasattr(items, "iloc") else items.drop(key)
    if len(set(names)) < len(names):
        raise ValueError("items names an item twice; expected one row per item.")
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
