"""Newton's direction where rows share the slack of their task, by a Cholesky factor over the curved rows alone.

The Hessian of a task's n curved rows is k (1 - share 11') = FF' with F = k^1/2 (1 - part 11'), where
(1 - part n)^2 = 1 - share n. With Z = C^1/2 D'F over all tasks and r the residual, the direction x = -r - Z y has

    (1 + Z'KZ) y = -Z'K r.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from .. import prices
from ..lower_half import mirrored
from ..solution import Array
from .problem import Problem, View

if TYPE_CHECKING:
    from ..comparisons import IntArray
    from .spaces import Coefficients, Vector

TILE = 256  # rows mirrored at a time
STEPS = 30  # of conjugate gradients that a factor may cost: where curved rows are many these need fewer


def are_few(space: Coefficients, curved: IntArray) -> bool:
    """Return whether a factor over the curved rows costs less than what it replaces."""
    products = STEPS * prices.BYTE * space.dtype.itemsize * 0.5 * float(space.n_items) ** 2
    return prices.FLOP * float(curved.size) ** 3 + prices.BYTE * 40.0 * float(curved.size) ** 2 <= products


def solved(problem: Problem, space: Coefficients, view: View, curved: IntArray) -> Vector | None:
    """Return the direction over rows of one item each, without levels; None where rounding spoils the factor."""
    rows, look = problem.rows, view.look
    assert rows.task is not None  # or slacks are not shared
    assert look.tie is not None
    if curved.size == 0:
        return space.zero().moved(-1.0, view.residual)
    task, item, curvature = rows.task[curved], rows.D.indices[curved], look.curvature[curved]
    first = np.flatnonzero(np.diff(task, prepend=-1))
    counts = np.diff(first, append=task.size)
    left = 1.0 - counts * look.tie[task[first]] / curvature[first]
    part = (1.0 - np.sqrt(np.maximum(left, 0.0))) / counts
    root = rows.D.data[curved] * np.sqrt(problem.C * curvature)

    def centred(z: Array) -> Array:
        sums = np.add.reduceat(z, first, axis=0)
        return z - np.repeat((sums.T * part).T, counts, axis=0)

    items, where = np.unique(item, return_inverse=True)
    K = mirrored(space.corner(items), TILE)[np.ix_(where, where)]
    M = centred(centred(K * root * root[:, None]).T)
    np.einsum("ii->i", M)[:] += 1.0
    factor, failed = linalg.lapack.dpotrf(M, lower=1, overwrite_a=1)
    if failed:
        return None
    y = root * centred(linalg.lapack.dpotrs(factor, centred(root * view.residual.u[item]), lower=1)[0])
    return space.vector(np.bincount(item, y, space.n_items).astype(float)).moved(-1.0, view.residual)
