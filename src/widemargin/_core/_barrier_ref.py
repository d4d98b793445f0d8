"""NumPy twins of `_barrier.pyx`, pairs written out: what they mean, and their oracle."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    squared: bool

    @classmethod
    def of(cls, first: IntArray, last: IntArray, s: Array, w: Array, y: Array, t: Array, squared: bool) -> Pairs:
        """Write out the pairs: item u is preferred to the items first[u] .. last[u]."""
        worse = [np.arange(a, b) for a, b in zip(first, last, strict=True)]
        return cls(np.repeat(np.arange(s.size), last - first), np.concatenate(worse), s, w, y, t, squared)

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
        """Return the slacks; 1 where they are squared, and no variables."""
        return np.ones_like(self.t) if self.squared else self.t - self.d

    @property
    def r(self) -> Array:
        """Return the room that multipliers have; where it has no end, what makes a squared slack of one."""
        return 2.0 * self.c if self.squared else self.c - self.y

    @property
    def off(self) -> Array:
        """Return what the predictor is to mend: the surpluses, of the slack that a multiplier asks for."""
        return self.d + self.y / self.r if self.squared else self.d

    @property
    def short(self) -> float:
        """Return the loss of all pairs at the utilities."""
        off = np.maximum(-self.d, 0.0)
        return float(self.c @ (off * off if self.squared else off))

    @property
    def products(self) -> float:
        """Return the sum of all products."""
        return float(self.t @ self.y) + (0.0 if self.squared else float(self.xi @ self.r))

    @property
    def lead(self) -> float:
        """Return what the multipliers give the dual value."""
        return float(np.sum(self.y - (0.25 * self.y**2 / self.c if self.squared else 0.0)))

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
        dt, dxi = (by_t - self.t * dy) / self.y - self.t, (by_xi + self.xi * dy) / self.r - self.xi
        return dy, dt, np.zeros_like(dt) if self.squared else dxi

    def predicted(self, ds: Array) -> tuple[Array, Array, Array]:
        """Return the predictor: products of zero."""
        zero = np.zeros_like(self.y)
        return self.direction(-self.off, zero, zero, ds)

    def aims(self, ds: Array, mu: float) -> tuple[Array, Array, Array]:
        """Return rho of the corrector, and the products that it aims at."""
        dy, dt, dxi = self.predicted(ds)
        by_t, by_xi = mu * self.c - dt * dy, mu * self.c + dxi * dy
        return by_t / self.y - self.off - (0.0 if self.squared else by_xi / self.r), by_t, by_xi

    def steepest(self, dy: Array, dt: Array, dxi: Array) -> float:
        """Return the steepest relative decrease of a variable."""
        bounded = () if self.squared else (dy / self.r, -dxi / self.xi)
        return max(float(move.max()) for move in (-dy / self.y, -dt / self.t, *bounded))

    def tried(self, move: tuple[Array, Array, Array], most: float, s: Array) -> tuple[float, float]:
        """Return what multipliers do not move for a step, and the products after it."""
        y, t = self.moved(move, most, s)
        return float(np.sum(np.abs(self.y + move[0] - y))), replace(self, s=s, y=y, t=t).products

    def held_back(self, dy: Array, most: float) -> Array:
        """Return moves of the multipliers by no more than `most` of their way to a bound."""
        return np.clip(dy, -most * self.y, np.inf if self.squared else most * self.r)

    def moved(self, move: tuple[Array, Array, Array], most: float, s: Array) -> tuple[Array, Array]:
        """Return y and t after a move to utilities s: the smaller one of surplus and slack tells both."""
        dy, dt, dxi = move
        t, xi = self.t + np.maximum(dt, -most * self.t), self.xi + np.maximum(dxi, -most * self.xi)
        d = self.difference(s) - 1.0
        return self.y + self.held_back(dy, most), np.where((d > 0.0) & (not self.squared), xi + d, t)
