"""NumPy twins of `_barrier.pyx`, pairs written out: what they mean, and their oracle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .comparisons import IntArray
from .solution import Array


@dataclass(frozen=True)
class Pairs:
    """The pairs of an interior point, with everything that one has."""

    better: IntArray
    worse: IntArray
    s: Array
    w: Array
    y: Array
    t: Array

    @classmethod
    def of(cls, first: IntArray, last: IntArray, s: Array, w: Array, y: Array, t: Array) -> Pairs:
        """Write out the pairs: item u is preferred to the items first[u] .. last[u]."""
        worse = [np.arange(a, b) for a, b in zip(first, last, strict=True)]
        return cls(np.repeat(np.arange(s.size), last - first), np.concatenate(worse), s, w, y, t)

    def difference(self, v: Array) -> Array:
        """Return B v."""
        return v[self.better] - v[self.worse]

    def pull(self, v: Array) -> Array:
        """Return B'v."""
        n = self.s.size
        return np.bincount(self.better, v, n).astype(float) - np.bincount(self.worse, v, n)

    @property
    def d(self) -> Array:
        """Return the surpluses."""
        return self.difference(self.s) - 1.0

    @property
    def c(self) -> Array:
        """Return the bounds of the multipliers."""
        return self.w[self.better] * self.w[self.worse]

    @property
    def xi(self) -> Array:
        """Return the slacks."""
        return self.t - self.d

    @property
    def r(self) -> Array:
        """Return the room that multipliers have."""
        return self.c - self.y

    @property
    def W(self) -> Array:
        """Return the weights of the pairs."""
        return 1.0 / (self.t / self.y + self.xi / self.r)

    def laplacian(self) -> Array:
        """Return B'WB."""
        B = np.zeros((self.y.size, self.s.size))
        B[np.arange(self.y.size), self.better], B[np.arange(self.y.size), self.worse] = 1.0, -1.0
        return B.T @ (self.W[:, None] * B)

    def direction(self, rho: Array, by_t: Array, by_xi: Array, ds: Array) -> tuple[Array, Array, Array]:
        """Return dy, dt and dxi, where t y is to become by_t and xi r by_xi, in first order."""
        dy = self.W * (rho - self.difference(ds))
        return dy, (by_t - self.t * dy) / self.y - self.t, (by_xi + self.xi * dy) / self.r - self.xi

    def predicted(self, ds: Array) -> tuple[Array, Array, Array]:
        """Return the predictor: products of zero."""
        zero = np.zeros_like(self.y)
        return self.direction(-self.d, zero, zero, ds)

    def aims(self, ds: Array, mu: float) -> tuple[Array, Array, Array]:
        """Return rho of the corrector, and the products that it aims at."""
        dy, dt, dxi = self.predicted(ds)
        by_t, by_xi = mu * self.c - dt * dy, mu * self.c + dxi * dy
        return by_t / self.y - self.t - by_xi / self.r + self.xi, by_t, by_xi

    def steepest(self, dy: Array, dt: Array, dxi: Array) -> float:
        """Return the steepest relative decrease of a variable."""
        moves = (-dy / self.y, dy / self.r, -dt / self.t, -dxi / self.xi)
        return max(float(move.max()) for move in moves)

    def tried(self, move: tuple[Array, Array, Array], most: float, s: Array) -> tuple[float, float]:
        """Return what multipliers do not move for a step, and the products after it."""
        y, t = self.moved(move, most, s)
        xi = t - self.difference(s) + 1.0
        return float(np.sum(np.abs(self.y + move[0] - y))), float(y @ t + (self.c - y) @ xi)

    def held_back(self, dy: Array, most: float) -> Array:
        """Return moves of the multipliers by no more than `most` of their way to a bound."""
        return np.clip(dy, -most * self.y, most * self.r)

    def moved(self, move: tuple[Array, Array, Array], most: float, s: Array) -> tuple[Array, Array]:
        """Return y and t after a move to utilities s: the smaller one of surplus and slack tells both."""
        dy, dt, dxi = move
        t, xi = self.t + np.maximum(dt, -most * self.t), self.xi + np.maximum(dxi, -most * self.xi)
        d = self.difference(s) - 1.0
        return self.y + self.held_back(dy, most), np.where(d > 0.0, xi + d, t)
