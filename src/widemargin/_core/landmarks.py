"""Landmark items of a kernel by pivoted Cholesky: each time the item whose kernel is explained worst."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import blas

from .kernels import Kernel
from .solution import Array

NOTHING = 1e-14  # of the mean of the diagonal: an item explained so well adds rounding only
MOST_CANDIDATES = 64
ROUNDED = 0.99  # of what an item must have left: rounding must not leave candidates without one
WORST = 0.25  # share of what is left of the worst item, from which on others are chosen with it


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


def columns_at_hand(K: Array, nothing: float) -> Columns:
    """Choose items of a kernel matrix that is at hand, many at a time: until nothing more than a share is left of any.

    Of those explained worst, all that are not much better explained by the others among them: about as many as greedily
    one at a time, and products of matrices are all that takes long.
    """
    rest, n = np.diag(K).astype(float), len(K)
    F, least, r = np.empty((n, MOST_CANDIDATES), order="F"), nothing * float(rest.mean()), 0
    pivots = np.empty(n, dtype=np.int64)
    while (most := float(rest.max())) > least:
        enough = max(least, WORST * most)
        candidates = _worst(rest, min(MOST_CANDIDATES, n))
        candidates = candidates[rest[candidates] >= enough]
        columns = K[:, candidates] - F[:, :r] @ F[candidates, :r].T
        factor, order, m, _ = linalg.lapack.dpstrf(columns[candidates], tol=ROUNDED * enough)
        new = candidates[order[:m] - 1]
        if r + m > F.shape[1]:
            F = np.concatenate([F, np.empty((n, max(m, min(F.shape[1], n - F.shape[1]))), order="F")], axis=1)
        F[:, r : r + m] = blas.dtrsm(1.0, factor[:m, :m], np.asfortranarray(columns[:, order[:m] - 1]), side=1)
        F[pivots[:r], r : r + m], F[new, r : r + m] = 0.0, np.triu(factor[:m, :m]).T
        rest -= np.einsum("ij,ij->i", F[:, r : r + m], F[:, r : r + m])
        rest[new], pivots[r : r + m], r = 0.0, new, r + m
    return Columns(F[:, :r], pivots[:r], rest)


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
