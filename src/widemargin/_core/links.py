"""From utilities to probabilities of ordered levels: a logistic curve cut into pieces, fitted by likelihood.

    P(level <= k | s) = sigmoid(cuts[k] - slope * s),   slope >= 0,   cuts increasing

For pairs s is the difference of utilities, the levels are loss, tie and win, and the cuts are (-t, t): swapping the
items swaps win and loss. That is Rao & Kupper (1967); in general it is McCullagh's (1980) proportional odds.

The negative log-likelihood is convex in (slope, cuts): Pratt (1981). With b and a the upper and the lower end of
a level in units of the logistic, and q = 1 / (exp(b - a) - 1), everything is stable in

    P = sigmoid(b) sigmoid(-a) (1 - exp(a - b)),   dP/P = (sigmoid(-b) + q) db - (sigmoid(a) + q) da.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit

from .comparisons import IntArray
from .solution import Array

MAX_ITER = 100
CLOSE = 1e-12  # Newton decrement, as a share of the total weight, at which the likelihood is at its top


@dataclass(frozen=True)
class CumulativeLogit:
    """A slope and the cuts between neighbouring levels."""

    slope: float
    cuts: Array

    def probabilities(self, s: Array) -> Array:
        """Return P(level = k | s), shape (n, n_levels); rows sum to one."""
        b, a = _ends(self.cuts, self.slope * s)
        return expit(b) * expit(-a) * -np.expm1(a - b)

    def information(self, s: Array) -> Array:
        """Return the Fisher information about s of one observation at s."""
        b, a = _ends(self.cuts, self.slope * s)
        slopes = expit(-b) - expit(a)
        return self.slope**2 * np.sum(self.probabilities(s) * slopes**2, axis=1)


def smoothed_targets(level: IntArray, weight: Array, n_levels: int, *, symmetric: bool) -> Array:
    """Return the weight that each observation gives to each level: nearly all to its own, a little beside it.

    Platt's (1999) targets (N + 1) / (N + 2), N the weight of the level; the rest goes to the neighbouring levels.
    They keep the slope finite where the utilities separate the levels. With `symmetric` opposite levels share N.
    """
    kind = np.abs(2 * level - (n_levels - 1)) if symmetric else level
    rest = weight / (np.bincount(kind, weight)[kind] + 2.0)
    targets = np.zeros((level.size, n_levels))
    rows = np.arange(level.size)
    targets[rows, level] = weight - rest
    n_beside = (level > 0).astype(float) + (level < n_levels - 1)
    for step, inside in ((-1, level > 0), (1, level < n_levels - 1)):
        targets[rows[inside], level[inside] + step] = (rest / n_beside)[inside]
    return targets


def fit_cumulative_logit(s: Array, targets: Array, *, symmetric: bool) -> CumulativeLogit:
    """Return the likeliest slope >= 0 and increasing cuts; `symmetric` asks for cuts (-t, t), or (0) of two levels."""
    scale = float(np.sqrt(np.average(s**2, weights=targets.sum(axis=1)))) or 1.0
    spread = _cut_basis(targets.shape[1], symmetric=symmetric)
    start = _first_cuts(targets, spread, symmetric=symmetric)
    varies = np.any(s != s[0]) or (symmetric and s[0] != 0.0)
    found = _newton(s / scale, targets, spread, np.concatenate([[0.0], start])) if varies else None
    if found is None or found[0] < 0.0:  # no worse than chance: the share of each level, whatever s
        found = _newton(np.zeros_like(s), targets, spread, np.concatenate([[0.0], start]))
    return CumulativeLogit(float(found[0]) / scale, spread @ found[1:])


def _cut_basis(n_levels: int, *, symmetric: bool) -> Array:
    """Return the matrix from free parameters to cuts."""
    if not symmetric:
        return np.eye(n_levels - 1)
    return np.array([[-1.0], [1.0]]) if n_levels == 3 else np.zeros((1, 0))


def _first_cuts(targets: Array, spread: Array, *, symmetric: bool) -> Array:
    """Return the free parameters of the likeliest cuts at slope zero: the logits of the shares so far."""
    share = targets.sum(axis=0) / targets.sum()
    if symmetric:
        tie = share[1] if share.size == 3 else 0.0
        return np.full(spread.shape[1], np.log1p(2.0 * tie / (1.0 - tie)))
    below = np.cumsum(share)[:-1]
    return np.log(below) - np.log1p(-below)


def _newton(s: Array, targets: Array, spread: Array, x: Array) -> Array:
    """Minimise the negative log-likelihood over x = (slope, free cuts) by Newton's method with halved steps."""
    value = _value(s, targets, spread, x)
    for _ in range(MAX_ITER):
        gradient, hessian = _derivatives(s, targets, spread, x)
        ridge = 1e-14 * np.trace(hessian) + 1e-300
        step = np.linalg.solve(hessian + ridge * np.eye(x.size), gradient)
        decrement = float(gradient @ step)
        if decrement <= CLOSE * targets.sum():
            break
        size = 1.0
        while (new := _value(s, targets, spread, x - size * step)) > value - 1e-4 * size * decrement and size > 1e-10:
            size *= 0.5
        if new >= value:  # rounding: no step improves
            break
        x, value = x - size * step, new
    return x


def _value(s: Array, targets: Array, spread: Array, x: Array) -> float:
    """Return the negative log-likelihood; inf where the cuts are not increasing."""
    cuts = spread @ x[1:]
    if np.any(np.diff(cuts) <= 0.0):
        return float("inf")
    b, a = _ends(cuts, x[0] * s)
    logs = log_expit(b) + log_expit(-a) + np.log(-np.expm1(a - b))
    return -float(np.sum(targets * logs))


def _derivatives(s: Array, targets: Array, spread: Array, x: Array) -> tuple[Array, Array]:
    """Return gradient and Hessian of the negative log-likelihood in x."""
    b, a = _ends(spread @ x[1:], x[0] * s)
    with np.errstate(over="ignore"):
        q = 1.0 / np.expm1(b - a)
    bend = q * (1.0 + q)
    n_levels, gradient, hessian = targets.shape[1], np.zeros(x.size), np.zeros((x.size, x.size))
    for k in range(n_levels):
        upper, lower = _rows(s, spread, k), _rows(s, spread, k - 1)
        t = targets[:, k]
        gradient -= upper.T @ (t * (expit(-b[:, k]) + q[:, k])) - lower.T @ (t * (expit(a[:, k]) + q[:, k]))
        hessian += (upper * (t * expit(b[:, k]) * expit(-b[:, k]))[:, None]).T @ upper
        hessian += (lower * (t * expit(a[:, k]) * expit(-a[:, k]))[:, None]).T @ lower
        between = upper - lower
        hessian += (between * (t * bend[:, k])[:, None]).T @ between
    return gradient, hessian


def _rows(s: Array, spread: Array, k: int) -> Array:
    """Return the derivatives of cut k less slope * s by the parameters; zero for the ends at infinity."""
    if k < 0 or k >= spread.shape[0]:
        return np.zeros((s.size, 1 + spread.shape[1]))
    return np.column_stack([-s, np.broadcast_to(spread[k], (s.size, spread.shape[1]))])


def _ends(cuts: Array, z: Array) -> tuple[Array, Array]:
    """Return the upper and the lower end of every level, shape (n, n_levels), infinite at the outside."""
    edges = np.concatenate([[-np.inf], cuts, [np.inf]])
    return edges[1:] - z[:, None], edges[:-1] - z[:, None]
