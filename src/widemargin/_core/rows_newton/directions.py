"""Newton's direction: (I + C B'HB) step = -gradient over functions and levels, B = [rows, E], H the rows' curvature.

Three ways: a Cholesky factor over the columns; over a Gram matrix one of the curved rows alone, since the others
follow in closed form, be slacks their own or their task's; conjugate gradients where neither fits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
from scipy import linalg, sparse

from ..row_risk import RowLook
from ..solution import Array
from . import curved_items, curved_tasks
from .column_hessian import column_hessian
from .curved_sums import MANY_COLUMNS
from .problem import Problem, View
from .spaces import Coefficients, Columns, Vector

SPARSE_COLUMNS = 400  # columns above which a sparse X has it factored only where conjugate gradients do not get there
MANY_CURVED = 6000  # curved items above which their Gram matrix is not factored
FORCING, MOST_STEPS = 0.05, 300  # of conjugate gradients
FLOOR = 1e-6  # the least curvature of a level, as a share of what it has where every row is curved


def direction(problem: Problem, view: View) -> tuple[Vector, Array]:
    """Return the step of the function and of the levels."""
    space = problem.space
    if isinstance(space, Columns) and space.n_coordinates <= MANY_COLUMNS:
        if sparse.issparse(space.X) and space.n_coordinates > SPARSE_COLUMNS:
            step, db, is_there = _by_conjugate_gradients(problem, view)
            if is_there:
                return step, db
        return _by_columns(problem, view)
    if space.is_gram and problem.rows.is_single:
        found = _by_curved_items(problem, view) if view.look.tie is None else _by_curved_tasks(problem, view)
        if found is not None:
            return found
    return _by_conjugate_gradients(problem, view)[:2]


def _level_gradient(problem: Problem, view: View) -> Array:
    return -problem.C * (problem.rows.E.T @ view.look.slope)


def _level_curvature(problem: Problem, view: View) -> Array:
    """Return E'HE with the floor that keeps a level from leaping where few rows are curved."""
    rows, C = problem.rows, problem.C
    if rows.E.shape[1] == 0:
        return np.zeros((0, 0))
    width = 1.0 if problem.risk.loss.squared else 2.0 * problem.risk.h
    least = FLOOR * C * float(np.mean(rows.weight)) * rows.margin.size / width
    return np.array([[C * float(view.look.curvature @ rows.E[:, 0] ** 2) + least]])


# --- columns ----------------------------------------------------------------------------------------------------------


def _by_columns(problem: Problem, view: View) -> tuple[Vector, Array]:
    space: Columns = problem.space  # type: ignore[assignment]
    p = space.n_coordinates
    H = problem.C * column_hessian(problem, view.look)
    np.einsum("ii->i", H)[:p] += 1.0
    H[p:, p:] = _level_curvature(problem, view)
    step = -_solved(H, np.concatenate([view.residual.w, _level_gradient(problem, view)]))
    return space.vector(step[:p]), step[p:]


def _solved(H: Array, g: Array) -> Array:
    """Solve with a matrix of which the lower half counts, scaled to a unit diagonal."""
    scale = 1.0 / np.sqrt(np.diag(H))
    jitter = 1e-14
    unit = H * scale[:, None] * scale
    while jitter < 1e-2:
        np.fill_diagonal(unit, 1.0 + jitter)
        factor, failed = linalg.lapack.dpotrf(unit, lower=1)
        if not failed:
            return scale * linalg.lapack.dpotrs(factor, scale * g, lower=1)[0]
        jitter *= 100.0
    return scale**2 * g


# --- Gram matrices ----------------------------------------------------------------------------------------------------


def _curvature_of_items(problem: Problem, look: RowLook) -> Array:
    D = problem.rows.D
    return problem.C * np.bincount(D.indices, look.curvature * D.data**2, minlength=D.shape[1]).astype(float)


def _by_curved_tasks(problem: Problem, view: View) -> tuple[Vector, Array] | None:
    """Solve on the curved rows, unless they are many; choices have no levels."""
    curved, space = np.flatnonzero(view.look.curvature), cast("Coefficients", problem.space)
    if problem.rows.E.shape[1] > 0 or not curved_tasks.are_few(space, curved):
        return None
    step = curved_tasks.solved(problem, space, view, curved)
    return None if step is None else (step, np.zeros(0))


def _by_curved_items(problem: Problem, view: View) -> tuple[Vector, Array] | None:
    """Solve on the curved items, unless they are many: the step is y - residual with y zero elsewhere.

    With K the Gram matrix, W and v the items' curvature and its coupling to the level, r the residual:
    (W^-1 + K) y + W^-1 v db = K r on the curved items, and the level's row
    (E'HE - v'W^-1 v) db - v'W^-1 y = -g_b.
    """
    rows, look, space = problem.rows, view.look, problem.space
    curvature = _curvature_of_items(problem, look)
    curved = np.flatnonzero(curvature)
    if curved.size > MANY_CURVED:
        return None
    n, item, W = space.n_items, rows.D.indices, curvature[curved]
    coupling = [np.bincount(item, look.curvature * rows.D.data * e, minlength=n)[curved] for e in rows.E.T]
    c = [problem.C * v / W for v in coupling]
    right = np.column_stack([view.residual.u[curved], *c])
    solved = curved_items.solved(cast("Coefficients", space), curved, 1.0 / W, right)
    y, db = np.zeros(n), np.zeros(len(c))
    if c:
        schur = float(_level_curvature(problem, view)[0, 0] - c[0] @ (W * c[0]) + c[0] @ solved[:, 1])
        db[0] = (c[0] @ solved[:, 0] - _level_gradient(problem, view)[0]) / schur
    y[curved] = solved[:, 0] - solved[:, 1:] @ db
    return space.vector(y).moved(-1.0, view.residual), db


def _by_conjugate_gradients(problem: Problem, view: View) -> tuple[Vector, Array, bool]:
    """Solve by conjugate gradients in the inner product of the space; says whether they got there.

    Weights of columns and levels are scaled by their own curvature.
    """
    rows, space, C = problem.rows, problem.space, problem.C
    curve = problem.risk.hessian_in_rows(view.look)
    unit = 1.0 / np.sqrt(np.diag(_level_curvature(problem, view)))
    scaled = _scaling(problem, view.look)

    def applied(f: Vector, b: Array) -> tuple[Vector, Array]:
        z = C * curve(problem.reach(f) + rows.shift(unit * b))
        return space.gradient(f.w + space.pulled(rows.pulled(z))), unit * (rows.E.T @ z) + FLOOR * b

    w, b = np.zeros(space.n_coordinates), np.zeros(rows.E.shape[1])
    r, rb = space.gradient(-view.residual.w), -unit * _level_gradient(problem, view)
    d, db = scaled(r), rb
    size = space.inner(r, d) + float(rb @ rb)
    goal = FORCING**2 * size
    for _ in range(MOST_STEPS):
        if size <= goal or size <= 0.0:
            return space.vector(w), unit * b, True
        A, Ab = applied(d, db)
        step = size / (space.inner(d, A) + float(db @ Ab))
        w, b = w + step * d.w, b + step * db
        r, rb = r.moved(-step, A), rb - step * Ab
        y = scaled(r)
        size, before = space.inner(r, y) + float(rb @ rb), size
        d, db = y.moved(size / before, d), rb + (size / before) * db
    return space.vector(w), unit * b, False


def _scaling(problem: Problem, look: RowLook) -> Callable[[Vector], Vector]:
    """Return the division of a gradient by the diagonal of the Hessian where X is sparse; else nothing is divided."""
    rows, space = problem.rows, problem.space
    if not isinstance(space, Columns):
        return lambda r: r
    if not sparse.issparse(space.X):  # its differences would be a second X
        return lambda r: space.vector(r.w)
    curved = np.flatnonzero(look.curvature)
    squares = (rows.D[curved] @ space.X).power(2)
    inverse = 1.0 / (1.0 + problem.C * (squares.T @ look.curvature[curved]))
    return lambda r: space.vector(inverse * r.w)
