"""A vertex near the optimum for another C, for the walk to start from: Newton's method with the 1-norm as it is.

Hinges that bend within h of their margins have a Hessian, K'LK with a Laplacian L of the pairs in that zone. A step
minimises their quadratic model plus sum |a_i| (`_shrink`): coefficients become zero and leave zero as they will in the
end. L counts the pairs of a zone twice as wide, which steps cross. After a long step the zone is halved. At the end as
many pairs as coefficients are held: near their margins, and such that the coefficients can set all of them.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import lapack
from scipy.sparse import csgraph

from .. import _pairs, _shrink
from ..comparisons import IntArray
from ..solution import Array
from .vertex_walk import LostError, VertexWalk

STEPS = 6
GAIN = 3e-4  # by which the objective must fall in a step for another one
FIRST, WIDEST = 40, 0.5  # pairs in the first zone for each coefficient, and its greatest width
WIDER, NARROWER = 2.0, 0.5  # than a zone: that of the Hessian, and the next one
LONG, SHORT = 0.5, 0.2  # steps from which on a zone is narrowed, and before which another one would be as short
LOOK, COME = 0.7, 0.4  # columns with a smaller gain are left out of a step, and so many of them may come to it
SOLVES = 40  # linear systems in a step
SEARCHES, FLAT = 6, 0.2  # points looked at on the way, and by how much the slope must fall
AMONG = 8  # pairs to choose from for each one that is held
FAVOURS = 2, 1  # powers of the closeness: now and then one choice is far worse than another, by mere luck
INDEPENDENT = 1e-10


def leap(walk: VertexWalk, C: float) -> bool:
    """Move the walk to a vertex that is better for C than its own; say whether one was found."""
    at, k = walk.at, walk.at.k
    old = at.columns[:k].copy(), at.rows[:k].copy()
    before = _value(walk, C)
    try:
        a = _approach(walk, C)
        columns, s = np.flatnonzero(a), walk.K @ a
        for power in FAVOURS:
            walk.start(columns, _independent(walk, columns, s, power))
            if _value(walk, C) < before:
                return True
    except (LostError, np.linalg.LinAlgError):
        pass
    walk.start(*old)
    return False


def _value(walk: VertexWalk, C: float) -> float:
    """Return the objective of the walk's vertex."""
    return _objective(walk, C, walk.at.coefficients[: walk.at.k], walk.at.s)


def _objective(walk: VertexWalk, C: float, a: Array, s: Array) -> float:
    """Return the objective of coefficients and their utilities."""
    hinge, _ = _pairs.hinge(walk.graph.head, walk.graph.reach, s, walk.graph.weight)
    return float(np.abs(a).sum()) + C * hinge


def _approach(walk: VertexWalk, C: float) -> Array:
    """Return coefficients near the optimal ones."""
    at, k = walk.at, walk.at.k
    a = np.zeros(walk.K.shape[1])
    a[at.columns[:k]] = at.coefficients[:k]
    lack = np.abs(1.0 - walk.graph.difference(at.s))
    rank = min(FIRST * k, lack.size - 1)
    h = min(float(np.partition(lack, rank)[rank]), WIDEST)
    value = np.inf
    for _ in range(STEPS):
        a, step = _step(_Soft(walk, C, h), a)
        last, value = value, _objective(walk, C, a, walk.K @ a)
        if step < SHORT or last - value < GAIN * value:
            break
        if step > LONG:
            h *= NARROWER
    return a


class _Soft:
    """The objective with hinges that bend within h of their margins."""

    def __init__(self, walk: VertexWalk, C: float, h: float) -> None:
        self.graph, self.K, self.C, self.h = walk.graph, walk.K, C, h

    def flow(self, s: Array) -> Array:
        """Return C B'y."""
        out = np.zeros(s.size)
        _pairs.soft_hinge(self.graph.head, self.graph.reach, s, self.graph.weight, self.h, out)
        out *= self.C
        return out

    def hessian(self, s: Array, K: Array) -> Array:
        """Return C K'LK."""
        bent = np.empty_like(K)
        _pairs.bend(self.graph.head, self.graph.reach, s, self.graph.weight, WIDER * self.h, K, bent)
        bent *= self.C
        return K.T @ bent

    def search(self, s: Array, ds: Array, a: Array, d: Array) -> float:
        """Return how far to go along d: all the way, or about where the objective is lowest."""

        def slope(t: float) -> float:
            return float(np.sign(a + t * d) @ d - self.flow(s + t * ds) @ ds)

        lo, hi, down, up = 0.0, 1.0, slope(0.0), slope(1.0)
        enough = -FLAT * down
        if up <= enough:
            return 1.0
        for _ in range(SEARCHES):
            t = lo - (hi - lo) * float(np.clip(down / (up - down), -0.9, -0.1))
            here = slope(t)
            if abs(here) <= enough:
                return t
            lo, hi, down, up = (t, hi, here, up) if here < 0.0 else (lo, t, down, here)
        return lo


def _step(soft: _Soft, a: Array) -> tuple[Array, float]:
    """Take a step; return its end and its length."""
    s = soft.K @ a
    gain = soft.K.T @ soft.flow(s)
    J = _likely(a, np.abs(gain))
    K, start = np.ascontiguousarray(soft.K[:, J]), a[J]
    H = soft.hessian(s, K)
    found = _shrink.least(H, H @ start + gain[J], start, SOLVES)
    if found is None:
        raise np.linalg.LinAlgError
    end = found[0]
    step = soft.search(s, K @ (end - start), start, end - start)
    out = np.zeros(a.size)
    out[J] = end if step == 1.0 else start + step * (end - start)
    return out, step


def _likely(a: Array, gain: Array) -> IntArray:
    """Return the columns in use and those of large gain that may come."""
    size = np.where(a != 0.0, np.inf, gain)
    most = min(int(np.count_nonzero(a)) + int(COME * a.size) + 1, a.size)
    return np.flatnonzero(size >= max(LOOK, np.partition(size, -most)[-most]))


def _independent(walk: VertexWalk, columns: IntArray, s: Array, power: int) -> IntArray:
    """Return as many pairs as columns, near their margins, whose margins these columns can set."""
    near, lack = _forest(walk, AMONG * columns.size, s)
    if near.size < columns.size or columns.size == 0:
        raise np.linalg.LinAlgError
    rows = walk.margins(walk.K.T[columns], near)
    closeness = 1.0 - lack / max(lack.max(), 1e-300)
    rows *= closeness**power + 1e-3  # pivots are large numbers: so they are those of near pairs
    factor, swaps, _ = lapack.dgetrf(rows.T, overwrite_a=1)
    pivots = np.abs(np.diag(factor))
    if not pivots.min() > INDEPENDENT * pivots.max():
        raise np.linalg.LinAlgError
    order = near.tolist()
    for i, j in enumerate(swaps.tolist()):
        order[i], order[j] = order[j], order[i]
    return np.array(order[: columns.size], dtype=np.int64)


def _forest(walk: VertexWalk, n: int, s: Array) -> tuple[IntArray, Array]:
    """Return those of the n pairs nearest to their margins that make a forest of least sum, and their distances.

    Pairs that make a circle depend on each other.
    """
    lack = np.abs(1.0 - walk.graph.difference(s))
    near = np.argsort(lack)[:n] if n >= lack.size else np.argpartition(lack, n)[:n]
    near = near[np.argsort(lack[near])]
    nodes = (walk.better[near], walk.worse[near])
    edges = sparse.csr_array((np.arange(1.0, near.size + 1.0), nodes), shape=(s.size, s.size))
    near = near[csgraph.minimum_spanning_tree(edges).data.astype(np.int64) - 1]
    return near, lack[near]
