"""The Hessian over columns: B'HB, B = [D X, E] the rows, H their curvature, in the way that suits them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from scipy import sparse
from scipy.linalg import blas

from ..comparisons import IntArray, Rows
from ..row_risk import RowLook
from ..solution import Array
from .curved_sums import ENTRIES, MANY_ROWS, are_summed, curved_sums, write_out
from .problem import Problem
from .spaces import Columns


def column_hessian(problem: Problem, look: RowLook) -> Array:
    """Return the lower half of B'HB."""
    if are_summed(problem, look):
        return curved_sums(problem, look)[:-1, :-1]
    rows, space = problem.rows, cast("Columns", problem.space)
    curved = np.flatnonzero(look.curvature > 0.0)
    if look.tie is None and curved.size > MANY_ROWS * rows.shape[1]:
        return _over_items(rows, space.X, look.curvature)
    if sparse.issparse(space.X):
        sums = None if look.tie is None else problem.risk.curved_sums(curved)
        return _sparse_hessian(rows, space.X, look, curved, sums)
    return _of_tasks(rows, space.X, look, curved)


def _empty(rows: Rows, X: Any) -> Array:
    k = rows.E.shape[1] + X.shape[1]
    return np.zeros((k, k), order="F")


def _of_tasks(rows: Rows, X: Any, look: RowLook, curved: IntArray) -> Array:
    """Return the Hessian where rows share slacks: the mean of a task's curved rows is taken away."""
    H = _empty(rows, X)
    for part, starts in _parts(rows, curved, max(1, ENTRIES // len(H))):
        B = np.empty((part.size, len(H)))
        write_out(rows, X, part, B)
        B *= np.sqrt(look.curvature[part])[:, None]
        blas.dsyrk(1.0, B.T, beta=1.0, c=H, lower=1, overwrite_c=1)
        if look.tie is not None and rows.task is not None:
            share = look.tie[rows.task[part[starts]]] / look.curvature[part[starts]]  # rows of a task curve alike
            S = np.sqrt(share)[:, None] * np.add.reduceat(B, starts)
            blas.dsyrk(-1.0, S.T, beta=1.0, c=H, lower=1, overwrite_c=1)
    return H


def _parts(rows: Rows, curved: IntArray, size: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield curved rows in parts of about a size, tasks whole, and where their tasks begin."""
    first = np.arange(curved.size)
    if rows.task is not None:
        first = np.flatnonzero(np.diff(rows.task[curved], prepend=-1))
    a = 0
    while a < first.size:
        b = max(a + 1, int(np.searchsorted(first, first[a] + size)))
        end = first[b] if b < first.size else curved.size
        yield curved[first[a] : end], first[a:b] - first[a]
        a = b


def _sparse_hessian(rows: Rows, X: Any, look: RowLook, curved: IntArray, sums: sparse.csr_array | None) -> Array:
    B = sparse.hstack([rows.D[curved] @ X, sparse.csr_array(rows.E[curved])], format="csr")
    H = B.T @ (sparse.diags_array(look.curvature[curved]) @ B)
    if sums is not None and look.tie is not None:
        S = sums @ B
        H = H - S.T @ (sparse.diags_array(look.tie) @ S)
    return np.asarray(H.toarray())


def _over_items(rows: Rows, X: Any, curvature: Array) -> Array:
    """Return B'HB through the items' Laplacian: many rows over few items."""
    L = rows.D.T @ (sparse.diags_array(curvature) @ rows.D)
    bend = rows.D.T @ (curvature[:, None] * rows.E)
    F = X if sparse.issparse(X) else X.astype(float, copy=False)
    corner = F.T @ (L @ F)
    side = F.T @ bend
    corner = corner.toarray() if sparse.issparse(corner) else corner
    return np.block([[corner, side], [side.T, rows.E.T @ (curvature[:, None] * rows.E)]])
