"""What the loops of `_pairs` compute, in plain NumPy over written-out pairs: their documentation and their oracle."""

from __future__ import annotations

import numpy as np

from .comparisons import IntArray
from .solution import Array


def imbalance(better: IntArray, worse: IntArray, y: Array, n: int) -> Array:
    """Return B'y."""
    return (np.bincount(better, y, n) - np.bincount(worse, y, n)).astype(float)


def restore(margin: Array, cap: Array, y: Array, t: Array, xi: Array, room: Array) -> tuple[Array, Array, Array, Array]:
    """Return y, t, xi, room with xi - t = 1 - margin and y + room = cap: of two numbers the smaller is kept."""
    lack = 1.0 - margin
    t, xi = np.where(lack < 0.0, xi - lack, t), np.where(lack >= 0.0, t + lack, xi)
    low = y < room
    return np.where(low, y, cap - room), t, xi, np.where(low, cap - y, room)


def aims(mu: float, product: Array, second_order: Array) -> Array:
    """Return (mu - product - error) / product: where Newton's method is to take a product, relative to it."""
    return (mu - product - second_order) / product


def recentred(aim: Array, product: Array, after: Array, mu: float) -> Array:
    """Return the aims that bring the products after a step into [0.1, 10] mu, by at most -10 mu."""
    return aim + np.maximum(np.clip(after, 0.1 * mu, 10.0 * mu) - after, -10.0 * mu) / product


def soft_hinge(margin: Array, weight: Array, h: float) -> tuple[Array, Array]:
    """Return the slopes and curvatures of the soft hinges, for each pair."""
    lack = 1.0 - margin
    bent = np.abs(lack) < h
    slope = np.where(bent, (lack + h) / (2.0 * h), lack >= h)
    return weight * slope, weight * bent / (2.0 * h)
