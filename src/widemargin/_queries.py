"""Query ids, of any kind and in any order, as integer codes."""

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ._core import _codes
from ._core.comparisons import starts_of

EXACT = 1 << 53  # integers up to which float64 holds them all


@dataclass(frozen=True)
class Queries:
    """The queries of the rows that are kept, all if that is None; looked at when they are asked for."""

    qid: Any
    n_rows: int
    kept: Any = None

    @cached_property
    def ids(self):
        """Return the ids of all rows; None for one query."""
        return None if self.qid is None else query_ids(self.qid, self.n_rows)

    def codes(self):
        """Return the queries as codes 0, 1, ..."""
        codes = codes_of(self.ids, self.n_rows)
        return codes if self.kept is None else codes[self.kept]

    @property
    def starts(self):
        """Return where queries begin that lie one after the other, and the end; None where they do not, or may not."""
        if self.kept is not None or self.n_rows == 0:
            return None
        if self.ids is None:
            return np.array([0, self.n_rows])
        if not np.can_cast(self.ids.dtype, np.int64):
            return None
        return starts_of(np.ascontiguousarray(self.ids, dtype=np.int64))


def query_codes(qid, n_rows):
    """Return the queries as codes 0, 1, ... in the order of their ids; one query where `qid` is None.

    Ids may be any hashable; if they have no order among them (1 and "a") the order of first appearance is
    taken.
    """
    return Queries(qid, n_rows).codes()


def query_ids(qid, n_rows):
    """Return ids as an array, one per row; refuse missing ones."""
    ids = np.fromiter(qid, dtype=object) if isinstance(qid, list | tuple) else np.asarray(qid)
    if ids.shape != (n_rows,):
        raise ValueError(f"qid has shape {ids.shape}, expected ({n_rows},): pass one query id per row.")
    if any(map(is_missing, ids)) if ids.dtype == object else ids.dtype.kind not in "iub" and np.any(ids != ids):  # noqa: PLR0124 (nan, NaT)
        raise ValueError("qid has missing values (None, nan, NaT), expected an id in every row; fill or drop them.")
    return ids


def codes_of(ids, n_rows):
    """Return the place of each id among all; zeros where there are none."""
    if ids is None:
        return np.zeros(n_rows, dtype=np.int64)
    return _object_codes(ids) if ids.dtype == object else dense_codes(ids)


def dense_codes(values):
    """Return the place of each value among the distinct ones, from 0; sorted values and small integers are quickest."""
    if values.size == 0:
        return np.zeros(0, dtype=np.int64)
    kind = values.dtype
    if np.can_cast(kind, np.int64) or (kind.kind == "f" and kind.itemsize <= 8):
        codes, is_float = np.empty(values.size, dtype=np.int64), kind.kind == "f"
        numbers = np.ascontiguousarray(values, dtype=float if is_float else np.int64)
        if _codes.dense(numbers, codes) or (is_float and _codes.dense_by_order(numbers, codes)):
            return codes
    elif np.all(values[1:] >= values[:-1]):
        return np.concatenate([[0], np.cumsum(values[1:] != values[:-1])])
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def numbers(values):
    """Return values as float64, or int64 where they are integers, if none loses digits as float64; else None."""
    if values.dtype.kind not in "iub":
        return np.ascontiguousarray(values, dtype=float)
    if values.size and max(abs(int(values.min())), abs(int(values.max()))) > EXACT:
        return None
    return np.ascontiguousarray(values, dtype=np.int64)


def qid_from_group_sizes(sizes):
    """Return the query of each row from the sizes of consecutive queries, which is how LightGBM is told of them.

    Parameters
    ----------
    sizes : array-like of int
        Number of rows of the first query, of the second, ...

    Returns
    -------
    ndarray of int of shape (sum of sizes,)
        0 for the rows of the first query, 1 for those of the second, ...

    Examples
    --------
    >>> from widemargin.model_selection import qid_from_group_sizes
    >>> qid_from_group_sizes([2, 3])
    array([0, 0, 1, 1, 1])
    """
    sizes = np.asarray(sizes)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or np.any(sizes < 0):
        raise ValueError(
            f"sizes={sizes!r} is not understood; expected a list of row counts, one per query, such as [10, 7, 12]."
        )
    return np.repeat(np.arange(sizes.size), sizes)


def _object_codes(ids):
    """Return codes of hashable objects, which need not have an order."""
    keys = list(dict.fromkeys(ids))
    with suppress(TypeError):  # no order: first appearance, which no hash seed can change
        keys = sorted(keys)
    code = {key: i for i, key in enumerate(keys)}
    return np.fromiter((code[v] for v in ids), dtype=np.int64, count=ids.size)


def is_missing(value):
    """Whether a value is None, nan, NaT or a data frame's NA, which refuses to be compared."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124
    except TypeError:
        return True
