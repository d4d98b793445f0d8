"""The largest comparison margin with ties, 002 (7): a linear program in as many variables as features.

    max mu   subject to   w.d >= 1 + mu for every significant difference d (better minus worse),
                          |w.t| <= 1 - mu for every difference t of a tie,   mu >= 0

Steps: (1) features are divided by their largest difference: w is not penalised, so units must not matter;
(2) HiGHS on a few rows, the worst violated ones added until none is; mu is free in [-1, 1] there, so every round has a
solution and data that cannot be separated end with mu < 0; (3) many w may share the best mu: the answer is the
shortest of them; (4) mu is recomputed from w over all rows, and the multipliers bound it from above.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog, nnls

from .comparisons import IntArray
from .solution import Array

TOUCHING = 1e-9  # margins down to minus this are 0: data that touch can be separated
TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


class NotSeparableError(ValueError):
    """No w puts the significant differences above 1 and the ties within 1."""


class UnboundedMarginError(ValueError):
    """Without ties every margin can be enlarged by a longer w."""


@dataclass(frozen=True)
class ComparisonMargin:
    """The shortest w of largest margin, the margin, and a proof.

    `bound` is an upper bound on every margin, from `multipliers`: one per won row, then one per tie, signed.
    """

    w: Array
    mu: float
    bound: float
    multipliers: Array
    n_iter: int

    @property
    def gap(self) -> float:
        """Return (bound - mu) / bound."""
        return max(0.0, (self.bound - self.mu) / self.bound) if self.bound > 0.0 else 0.0


@dataclass(frozen=True)
class _Rows:
    """Constraints G w + mu <= h."""

    G: Array
    h: Array

    def margins(self, w: Array) -> Array:
        """Return the largest mu that each row allows."""
        return self.h - self.G @ w


@dataclass(frozen=True)
class _Found:
    """A solution over a subset of the rows."""

    w: Array
    mu: float
    rows: IntArray
    multipliers: Array  # one per row of the subset
    n_iter: int


def comparison_margin(won: Array, tied: Array, tol: float) -> ComparisonMargin:
    """Separate significant differences from ties with the largest margin.

    Parameters
    ----------
    won : array of shape (n_won, p)
        Features of the better item minus those of the worse.
    tied : array of shape (n_tied, p)
        Differences of items between which there is no preference.
    tol : float
        Relative gap below which the shortest w may replace the one that HiGHS found.
    """
    unit = np.abs(np.vstack([won, tied])).max(axis=0, initial=0.0)
    unit[unit == 0.0] = 1.0
    won, tied = won / unit, tied / unit
    if len(tied) == 0:
        raise _without_ties(won)
    rows = _Rows(
        G=np.vstack([-won, tied, -tied]),
        h=np.concatenate([-np.ones(len(won)), np.ones(2 * len(tied))]),
    )
    found = _maximise(rows, longest=np.inf)
    w = _shortest(rows, found, slack=min(tol, 1e-10))
    mu = float(rows.margins(w).min())
    if mu < -TOUCHING:
        raise NotSeparableError(
            f"no w separates the {len(won)} significant differences from the {len(tied)} ties: "
            f"the largest margin of the linear program is {found.mu:.3g}, below 0."
        )
    y, bound = _proof(rows, found, w)
    n = len(won)
    multipliers = np.concatenate([y[:n], y[n : n + len(tied)] - y[n + len(tied) :]])
    return ComparisonMargin(w / unit, max(mu, 0.0), max(bound, mu, 0.0), multipliers, found.n_iter)


def _without_ties(won: Array) -> ValueError:
    """Return what is wrong: nothing bounds the margin, or nothing gives one."""
    found = _maximise(_Rows(-won, np.zeros(len(won))), longest=1.0)
    if len(won) > 0 and found.mu <= TOUCHING:
        return NotSeparableError(f"no w ranks all {len(won)} significant differences; there are no ties.")
    return UnboundedMarginError(
        "there are no ties, so the margin of the linear program has no upper bound; it needs pairs with y = 0."
    )


def _maximise(rows: _Rows, longest: float) -> _Found:
    """Maximise mu over |w| <= longest by row generation; few rows are solved at once."""
    n, p = rows.G.shape
    batch = 10 * (p + 1)
    chosen = np.unique(np.linspace(0, n - 1, min(n, max(2 * batch, 500))).astype(np.int64))
    n_iter = 0
    while True:
        found = _solve_rows(rows, chosen, longest)
        n_iter += found.n_iter
        short = found.mu - rows.margins(found.w)
        short[chosen] = 0.0
        worst = np.argsort(-short, kind="stable")[:batch]
        worst = worst[short[worst] > 1e-10]
        if worst.size == 0:
            return _Found(found.w, found.mu, chosen, found.multipliers, n_iter)
        chosen = np.union1d(chosen, worst)


def _solve_rows(rows: _Rows, chosen: IntArray, longest: float) -> _Found:
    p = rows.G.shape[1]
    A = np.column_stack([rows.G[chosen], np.ones(chosen.size)])
    bounds = [(-longest, longest)] * p + [(-1.0, 1.0)]
    cost = np.append(np.zeros(p), -1.0)
    result = linprog(cost, A_ub=A, b_ub=rows.h[chosen], bounds=bounds, method="highs", options=TIGHT)
    if result.x is None:
        raise NotSeparableError(f"HiGHS found no solution of the margin program: {result.message}")
    return _Found(result.x[:-1], float(result.x[-1]), chosen, -result.ineqlin.marginals, int(result.nit))


def _shortest(rows: _Rows, found: _Found, slack: float) -> Array:
    """Return the shortest w with (almost) the same margin: Lawson and Hanson's least distance programming.

    min |w| subject to -G w >= mu - h is non-negative least squares; rows enter as they are violated.
    """
    best = float(rows.margins(found.w).min())
    goal = best - 0.1 * slack
    active = np.flatnonzero(rows.margins(found.w) < best + 1e-7)
    for _ in range(50):
        need = goal - rows.h[active]
        E = np.vstack([-rows.G[active].T, need])
        target = np.append(np.zeros(E.shape[0] - 1), 1.0)
        u, _ = nnls(E, target, maxiter=30 * E.shape[1])
        residual = E @ u - target
        if residual[-1] >= 0.0:
            return found.w
        w = -residual[:-1] / residual[-1]
        margins = rows.margins(w)
        violated = np.flatnonzero(margins < goal - 0.1 * slack)
        if violated.size == 0:
            return w
        worst = violated[np.argsort(margins[violated], kind="stable")[: 10 * rows.G.shape[1]]]
        grown = np.union1d(active, worst)
        if grown.size == active.size:
            return found.w
        active = grown
    return found.w


def _proof(rows: _Rows, found: _Found, w: Array) -> tuple[Array, float]:
    """Return multipliers y >= 0 of sum 1 with G'y = 0, and the bound h'y on mu that they prove.

    mu <= h'y - w.G'y for every w; what rounding leaves of G'y is charged at the length of ours.
    """
    y = np.zeros(rows.h.size)
    y[found.rows] = np.maximum(found.multipliers, 0.0)
    used = np.flatnonzero(y)
    if used.size == 0 or found.mu >= 1.0:
        return y, 1.0  # a tie alone says mu <= 1
    E = np.vstack([rows.G[used].T, np.ones(used.size)])
    target = np.append(np.zeros(rows.G.shape[1]), 1.0)
    with suppress(np.linalg.LinAlgError):  # as they are, they prove a little less
        y[used] = np.maximum(y[used] + np.linalg.lstsq(E, target - E @ y[used])[0], 0.0)
    y /= y.sum()
    return y, float(rows.h @ y) + float(np.abs(rows.G.T @ y).sum()) * float(np.abs(w).max(initial=0.0))
