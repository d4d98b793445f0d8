"""What `_shrink` does, with a system solved anew for every support: its documentation and its oracle."""

from __future__ import annotations

import numpy as np

from .solution import Array

ENOUGH = 0.03  # by which a slope must exceed 1


def least(H: Array, b: Array, x: Array, limit: int) -> tuple[Array, int]:
    """Return the minimum of 1/2 x'Hx - b'x + sum |x_i|, or how far `limit` systems lead to it, and their number."""
    x, sign, n_solves = x.copy(), np.sign(x), 0
    while n_solves < limit:
        slope = b - H @ x
        new = (sign == 0.0) & (np.abs(slope) > 1.0 + ENOUGH)
        if not new.any() and (n_solves > 0 or not sign.any()):
            break
        sign[new] = np.sign(slope[new])
        done = False
        while n_solves < limit and not done:
            x, done = _descend(H, b, x, sign)
            n_solves += 1
    return x, n_solves


def _value(H: Array, b: Array, x: Array) -> float:
    return float(np.abs(x).sum() + 0.5 * x @ H @ x - b @ x)


def _descend(H: Array, b: Array, x: Array, sign: Array) -> tuple[Array, bool]:
    """Go towards the minimum for these signs, which follow; say whether it was reached."""
    S = np.flatnonzero(sign)
    d = np.zeros(x.size)
    d[S] = np.linalg.solve(H[np.ix_(S, S)], (b - H @ x - sign)[S])
    idle = (x == 0.0) & (sign != 0.0) & (d * sign <= 0.0)
    if idle.any():  # with the others these are not worth their cost
        sign[idle] = 0.0
        return x, not sign.any()
    crossed = (x + d) * sign < 0.0
    if not crossed.any():
        return x + d, True
    together = np.where(crossed, 0.0, x + d)
    if _value(H, b, together) < _value(H, b, x):
        sign[crossed] = 0.0
        return together, False
    return _search(H, b, x, d, sign), False


def _search(H: Array, b: Array, x: Array, d: Array, sign: Array) -> Array:
    """Return the lowest point on the way; a coefficient that is met at zero there leaves."""
    bend, slope = float(d @ H @ d), float((sign - (b - H @ x)) @ d)
    crossed = np.flatnonzero((x + d) * sign < 0.0)
    for i in crossed[np.argsort(-x[crossed] / d[crossed])].tolist():
        step = -x[i] / d[i]
        if slope + step * bend >= 0.0:
            break
        slope += 2.0 * abs(float(d[i]))
        if slope + step * bend >= 0.0:
            to = x + step * d
            to[i] = sign[i] = 0.0
            return np.asarray(to, dtype=float)
        sign[i] *= -1.0
    return np.asarray(x + min(1.0, -slope / bend) * d, dtype=float)
