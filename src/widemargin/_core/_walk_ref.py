"""What a pivot of `_walk` does, from a vertex's sets and all pairs alone: its documentation and its oracle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .comparisons import IntArray
from .solution import Array


@dataclass(frozen=True)
class Pairs:
    """The pairs, what they weigh, and the margins that are asked of them."""

    better: IntArray
    worse: IntArray
    weight: Array
    goal: Array

    def difference(self, s: Array) -> Array:
        """Return B s."""
        return s[self.better] - s[self.worse]

    def pull(self, y: Array, n: int) -> Array:
        """Return B'y."""
        return (np.bincount(self.better, y, n) - np.bincount(self.worse, y, n)).astype(float)


@dataclass(frozen=True)
class Vertex:
    """The held pairs, the vectors with the signs of their coefficients, and the sides: 1 below the goal, -1 above."""

    rows: tuple[int, ...]
    signs: dict[int, float]
    side: IntArray


def pivot(K: Array, pairs: Pairs, vertex: Vertex, C: float, *, positive: bool) -> Vertex | None:
    """Return the vertex at the end of the steepest edge, per change of the utilities K a; None without a way down."""
    rows, columns, sign = list(vertex.rows), list(vertex.signs), np.array(list(vertex.signs.values()))
    held = pairs.difference(K)[rows]
    inverse = np.asarray(np.linalg.inv(held[:, columns]), dtype=float)
    q = K.T @ pairs.pull(np.where(vertex.side == 1, pairs.weight, 0.0), len(K))
    y = (sign - C * q[columns]) @ inverse
    gain = C * q + y @ held
    ways = []  # slope, direction of all coefficients, the row that is let go or the column that comes, else -1
    for i, e in enumerate(rows):
        over = max(-y[i], y[i] - C * pairs.weight[e])
        if over > 1e-9 * C * pairs.weight[e]:
            ways.append((over, _direction(K, columns, inverse[:, i] * (1.0 if y[i] < 0.0 else -1.0)), e, -1))
    for j in range(K.shape[1]):
        over = (gain[j] if positive else abs(gain[j])) - 1.0
        if over > 1e-9 and j not in columns:
            toward = 1.0 if gain[j] > 0.0 else -1.0
            d = _direction(K, columns, -toward * (inverse @ held[:, j]))
            d[j] = toward
            ways.append((over, d, -1, j))
    if not ways:
        return None
    slope, d, gone, come = max(ways, key=lambda way: way[0] / _length(K @ way[1], is_column=way[3] >= 0))
    a = _direction(K, columns, inverse @ pairs.goal[rows])
    return _end(K, pairs, vertex, C * pairs.weight, (slope, a, d, gone, come), positive=positive)


def _length(ds: Array, *, is_column: bool) -> float:
    """Return the length of a change of the utilities; some columns make none."""
    return float(np.sqrt(ds @ ds + (1e-6 if is_column else 0.0)))


def _direction(K: Array, columns: list[int], values: Array) -> Array:
    out = np.zeros(K.shape[1])
    out[columns] = values
    return out


def _end(K: Array, pairs: Pairs, vertex: Vertex, cap: Array, way: tuple, *, positive: bool) -> Vertex:
    """Go along a way until the objective would rise, and exchange there."""
    slope, a, d, gone, come = way
    left, rate = pairs.goal - pairs.difference(K @ a), pairs.difference(K @ d)
    moving = np.flatnonzero(vertex.side * rate > 1e-8 * np.abs(K @ d).max()).tolist()
    # where, by how much the slope rises, the pair, or -1 and the coefficient
    kinks = [(max(0.0, left[e] / rate[e]), cap[e] * abs(rate[e]), e, -1) for e in moving]
    for j, sign in vertex.signs.items():
        if sign * d[j] < 0.0:
            kinks.append((-a[j] / d[j], np.inf if positive else 2.0 * abs(d[j]), -1, j))
    side, signs, rows = vertex.side.copy(), dict(vertex.signs), set(vertex.rows)
    for _, rise, e, j in sorted(kinks, key=lambda kink: kink[0]):
        slope -= rise
        if slope <= 0.0:
            break
        if e < 0:
            signs[j] = -signs[j]
        else:
            side[e] = -side[e]
    if gone >= 0:
        side[gone] = -1 if rate[gone] > 0.0 else 1
        rows.remove(gone)
    if come >= 0:
        signs[come] = float(np.sign(d[come]))
    if e < 0:
        del signs[j]
    else:
        side[e] = 0
        rows.add(e)
    return Vertex(tuple(sorted(rows)), signs, side)
