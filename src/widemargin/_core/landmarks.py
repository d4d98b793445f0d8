"""Landmark items of a kernel by pivoted Cholesky: each time the item whose kernel is explained worst."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import Kernel
from .solution import Array

NOTHING = 1e-14  # of the mean of the diagonal: an item explained so well adds rounding only
MOST_CANDIDATES = 64


class Columns(NamedTuple):
    """F with F F' near the kernel matrix, the items that span it, and what each item's own value lacks."""

    F: Array  # (n, r), lower triangular in the rows of the pivots
    pivots: NDArray[np.int64]
    rest: Array


def greedy_columns(kernel: Kernel, X: Any, rank: int, nothing: float = NOTHING) -> Columns:
    """Choose up to `rank` landmarks greedily, until nothing more than a share of the mean diagonal is left of any item.

    Columns are made for several candidates at once, those explained worst, because one product with all earlier
    columns reads them once for all. What is left of an item only falls, so that the next pivot is mostly a candidate;
    where it is not, new ones are drawn, twice as many as were of use. The order is that of one at a time.
    """
    rest = kernel.diag(X).astype(float)
    F = np.zeros((X.shape[0], rank))
    least, n_candidates = nothing * float(rest.sum()) / rest.size, 1
    pivots: list[int] = []
    while len(pivots) < rank and rest[np.argmax(rest)] > least:
        candidates = _worst(rest, min(n_candidates, rank - len(pivots)))
        used = _add(F, rest, pivots, candidates, kernel(X, X[candidates]), least)
        n_candidates = min(MOST_CANDIDATES, 2 * used)
    return Columns(F[:, : len(pivots)], np.array(pivots, dtype=np.int64), rest)


def _worst(rest: Array, n: int) -> NDArray[np.int64]:
    """Return the items of which most is left, the worst one among them."""
    if n == 1:
        return np.array([np.argmax(rest)])
    some = np.argpartition(-rest, n - 1)[:n]
    some[0] = some[0] if np.argmax(rest) in some else np.argmax(rest)
    return some


def _add(F: Array, rest: Array, pivots: list[int], candidates: NDArray[np.int64], values: Array, least: float) -> int:
    """Write the columns of those candidates that are pivots in turn; return how many were. Changes all it is given."""
    begin, where = len(pivots), {int(i): k for k, i in enumerate(candidates)}
    columns = np.asfortranarray(values - F[:, :begin] @ F[candidates, :begin].T)
    new = np.empty_like(columns)
    i, n = int(np.argmax(rest)), 0
    while i in where and rest[i] > least:
        new[:, n] = (columns[:, where[i]] - new[:, :n] @ new[i, :n]) / np.sqrt(rest[i])
        np.maximum(rest - new[:, n] ** 2, 0.0, out=rest)
        rest[i] = 0.0
        pivots.append(i)
        i, n = int(np.argmax(rest)), n + 1
    F[:, begin : begin + n] = new[:, :n]
    return n
