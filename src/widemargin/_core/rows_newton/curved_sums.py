"""Sums over the curved rows, their margins among them: A'HA, A = [D X, E, margin], H the rows' curvature.

Between two steps, and between two values of C, few rows change sides: the last sums are kept, and changed by those.
Where slacks are squared they tell the gradient at any point that has these rows curved, without a product with X.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from scipy import sparse
from scipy.linalg import blas

from .. import _csr
from ..comparisons import IntArray, Rows
from ..row_risk import RowLook
from ..solution import Array
from .problem import Point, Problem
from .spaces import Columns

MANY_COLUMNS = 4000  # columns above which no Hessian is formed
MANY_ROWS = 4  # curved rows for each item, above which they are summed by way of the items
ENTRIES = 1 << 17  # of the written-out rows at a time: they stay in cache
CHANGED = 0.5  # of the curved rows, up to which the last sums are changed
WORTH = 4  # entries of changed rows for each item, up to which changing the sums takes as long as a product with X
LOST = 1e-3  # of the largest that it was: below, what was taken away has left its rounding
ROUNDING = 1e-14  # of a sum, in units of the largest that it was


def are_summed(problem: Problem, look: RowLook) -> bool:
    """Return whether curved rows are written out and summed one by one."""
    space = problem.space
    if look.tie is not None or not isinstance(space, Columns) or sparse.issparse(space.X):
        return False
    return space.n_coordinates <= MANY_COLUMNS and n_curved(look) <= MANY_ROWS * space.n_items


def n_curved(look: RowLook) -> int:
    """Return the number of curved rows."""
    return int(np.count_nonzero(look.curvature > 0.0))  # several times as fast as without the comparison


def curved_sums(problem: Problem, look: RowLook) -> Array:
    """Return the lower half of A'HA."""
    rows, space = problem.rows, cast("Columns", problem.space)
    if space.kept.S is not None and space.kept.curvature is look.curvature:
        return space.kept.S
    S = _changed(rows, space, look.curvature, CHANGED * n_curved(look))
    if S is None:
        curved = np.flatnonzero(look.curvature > 0.0)
        S = np.zeros((space.n_coordinates + rows.E.shape[1] + 1,) * 2, order="F")
        _add(S, 1.0, (rows, space.X), curved, look.curvature[curved])
        space.kept.most = np.zeros(len(S))
    space.kept.keep(S, look.curvature)
    return S


def pulled_by_sums(problem: Problem, point: Point, look: RowLook, allowed: float, *, is_new: bool) -> Array | None:
    """Return the coordinates of the function that squared slacks' slopes make, C (A'H margin - A'HB (w, b)).

    None where a product with X is quicker, and where rounding might spoil a bound by more than allowed. Sums for a new
    solve will be asked for anyway, whatever it takes.
    """
    if not are_summed(problem, look):
        return None
    space = cast("Columns", problem.space)
    if not is_new:
        S = _changed(problem.rows, space, look.curvature, WORTH * space.n_items / (space.n_coordinates + 1))
        if S is None:
            return None
        space.kept.keep(S, look.curvature)
    S, p = curved_sums(problem, look), space.n_coordinates
    at = np.concatenate([-point.f.w, -point.b, [1.0]])
    image = problem.C * (blas.dsymv(1.0, S[:p, :p], at[:p], lower=1) + at[p:] @ S[p:, :p])
    size = np.sqrt(space.kept.most)
    noise = ROUNDING * problem.C * float(size @ np.abs(at)) * size[:p]  # a sum is no larger than these products
    return image if float(noise @ (np.abs(image) + 0.5 * noise)) <= allowed else None


def _changed(rows: Rows, space: Columns, curvature: Array, most: float) -> Array | None:
    """Return the last sums, changed by the rows whose curvature is another; None where they are many."""
    kept = space.kept
    if kept.S is None or kept.curvature is None:
        return None
    change = curvature - kept.curvature
    changed = np.flatnonzero(change != 0.0)
    if changed.size > most:
        return None
    change, S = change[changed], kept.S.copy(order="F")
    for sign in (1.0, -1.0):
        chosen = np.flatnonzero(sign * change > 0.0)
        _add(S, sign, (rows, space.X), changed[chosen], sign * change[chosen])
    return S if S.diagonal()[:-1].sum() > LOST * kept.most[:-1].sum() else None


def _add(S: Array, sign: float, data: tuple[Rows, Any], chosen: IntArray, values: Array) -> None:
    """Add A' diag(values) A of some rows, or take it away."""
    size = max(1, ENTRIES // len(S))
    for a in range(0, chosen.size, size):
        part = chosen[a : a + size]
        A = np.empty((part.size, len(S)))
        write_out(*data, part, A[:, :-1])
        A[:, -1] = data[0].margin[part]
        A *= np.sqrt(values[a : a + size])[:, None]
        blas.dsyrk(sign, A.T, beta=1.0, c=S, lower=1, overwrite_c=1)


def write_out(rows: Rows, X: Any, part: IntArray, B: Array) -> None:
    """Fill B with [D X, E] of some rows."""
    p = X.shape[1]
    _csr.times(rows.D.data, rows.D.indices, rows.D.indptr, part, X, B[:, :p])
    B[:, p:] = rows.E[part]
