"""What the loops of `_rows` compute, in plain NumPy, one slack at a time: their documentation and their oracle."""

from __future__ import annotations

import numpy as np

from .comparisons import IntArray
from .solution import Array


def slopes(t: Array, h: float, *, squared: bool) -> Array:
    """Return the slopes of one slack's smooth loss in its rows' shortfalls: the level found by sorting."""
    v = np.sort(np.maximum(t + (0.0 if squared else h), 0.0))[::-1]
    n = np.arange(1, v.size + 1)
    level = np.cumsum(v) / (n + 4.0 * h) if squared else (np.cumsum(v) - 2.0 * h) / n
    tau = max(0.0, float(np.max(level)))  # the level of the right set is the largest
    return np.maximum(t + (0.0 if squared else h) - tau, 0.0) / (2.0 * h)


def smooth_loss(t: Array, h: float, *, squared: bool) -> float:
    """Return one slack's smooth loss: what its best slopes gain."""
    a = slopes(t, h, squared=squared)
    gain = float(a @ t) - h * float(a @ a)
    return gain - 0.25 * float(a.sum()) ** 2 if squared else gain + h * float(a.sum())


def split(t: Array, weight: Array, sign: Array, radius: float) -> tuple[IntArray, Array, Array]:
    """Return the rows within a radius of their margins, and the weights of those that fall short by more, by sign."""
    is_far = t > radius
    up, down = (np.where(is_far & side, weight, 0.0) for side in (sign > 0.0, sign <= 0.0))
    return np.flatnonzero(np.abs(t) <= radius), up, down


def pull_each(X: Array, G: Array) -> Array:
    """Return G X."""
    return G @ X.astype(float)
