"""The referee: objectives and lower bounds in float64, from the data and the answer alone.

Pairs are never written out. In each bit of the rank of y, items of a query that agree in the higher bits fall into an
upper and a lower half; one sort of each half by utility gives all their pairs, so that every pair is met exactly once,
in O(n log n) per bit. X and K are read in blocks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

BLOCK = 50_000  # rows of X converted to float64 at once
KERNEL_BLOCK = 500
SMOOTHINGS = (0.2, 0.05, 0.02, 0.005)


class RefereeError(AssertionError):
    """A solver says something of itself that the data refute."""


class Verdict(NamedTuple):
    """The objective of an answer, and a lower bound on the minimum (-inf where the referee has none)."""

    objective: float
    bound: float


def judge(problem, answer):
    """Return the verdict on an answer; None where it solves another problem."""
    if answer.weights is None or problem.kind == "scoring":
        return None
    w = np.asarray(answer.weights, dtype=float)
    if problem.kind in ("vectors", "vector_pairs"):
        return Verdict(_one_norm(problem, w), -np.inf)
    space = Columns(problem.X) if problem.kernel == "linear" else RBF(problem.X, problem.gamma)
    u, norm = space.forward(w)
    if problem.kind == "ranking":
        return _ranking(problem, space, w, u, norm)
    slack = {"comparison": _comparison, "choice": _choice, "choice_pair": _choice_pair}[problem.kind]
    return Verdict(0.5 * norm + problem.C * slack(problem, u, answer.level), -np.inf)


def check(problem, answer, verdict):
    """Raise where a solver's own objective is not the referee's."""
    if answer.objective is None or verdict is None or problem.kind == "vector_pairs":
        return  # the pairs machine's cost is a flow over pairs, which its items' coefficients do not tell
    off = abs(answer.objective - verdict.objective) / max(abs(verdict.objective), 1e-300)
    if not off <= 1e-6:
        raise RefereeError(
            f"objective_ = {answer.objective!r}, but the referee finds {verdict.objective!r}: {off:.1e} apart"
        )


def check_bound(objective, lowest):
    """Raise where a certified lower bound lies above an objective that somebody reached."""
    if lowest > objective + 1e-9 * abs(objective):
        raise RefereeError(f"a bound of {lowest!r} was certified, but an answer of {objective!r} exists")


# --- spaces -----------------------------------------------------------------------------------------------------------


class Columns:
    """u = X w with the norm of w."""

    def __init__(self, X):
        self.X = X

    def forward(self, w):
        """Return the utilities and |w|^2."""
        return np.concatenate([rows @ w for _, rows in self._blocks()]), float(w @ w)

    def squared_norm_after(self, w, slopes):
        """Return |w + X'slopes|^2."""
        v = w + sum(rows.T @ slopes[a : a + BLOCK] for a, rows in self._blocks())
        return float(v @ v)

    def _blocks(self):
        for a in range(0, self.X.shape[0], BLOCK):
            yield a, self.X[a : a + BLOCK].astype(float)


class RBF:
    """u = K b with the norm b'Kb."""

    def __init__(self, X, gamma):
        X = np.asarray(X, dtype=float)
        self.X, self.gamma = X - X.mean(axis=0), gamma

    def forward(self, b):
        """Return the utilities and b'Kb."""
        norms = np.einsum("ij,ij->i", self.X, self.X)
        u = np.empty(len(self.X))
        for a in range(0, len(self.X), KERNEL_BLOCK):
            rows = slice(a, a + KERNEL_BLOCK)
            squares = norms[rows, None] + norms - 2.0 * self.X[rows] @ self.X.T
            u[rows] = np.exp(-self.gamma * np.maximum(squares, 0.0)) @ b
        return u, float(b @ u)

    def squared_norm_after(self, b, slopes):
        """Return |b + slopes|^2 in the norm of K."""
        return self.forward(b + slopes)[1]


# --- ranking ----------------------------------------------------------------------------------------------------------


def _ranking(problem, space, w, u, norm):
    """Return the objective, and the dual value of the slopes at u: for the hinge, the best of a few smoothings."""
    C, sums = problem.C, PairSums(problem.y, problem.queries)
    at = sums(u, 1.0)
    if problem.loss == "squared_hinge":
        objective = 0.5 * norm + C * at.square
        return Verdict(objective, objective - 0.5 * space.squared_norm_after(w, C * at.square_gradient))
    bound = -np.inf
    for h in SMOOTHINGS:  # slopes clip((margin + h - difference) / 2h, 0, 1)
        wide, narrow = sums(u, 1.0 + h), sums(u, 1.0 - h)
        slopes = C * (wide.square_gradient - narrow.square_gradient) / (4.0 * h)
        total = C * (wide.linear - narrow.linear) / (2.0 * h)
        bound = max(bound, total - 0.5 * space.squared_norm_after(0.0 * w, slopes))
    return Verdict(0.5 * norm + C * at.linear, bound)


class Sums(NamedTuple):
    """Over the pairs short of a margin: their number, and the sums of shortfalls and squares, with gradients."""

    n_pairs: float
    linear: float
    linear_gradient: np.ndarray
    square: float
    square_gradient: np.ndarray


class PairSums:
    """Sums over all pairs of a query with y_i > y_j."""

    def __init__(self, y, qid):
        self.codes = np.unique(y, return_inverse=True)[1].astype(np.int64)
        self.query = np.unique(qid, return_inverse=True)[1].astype(np.int64)
        self.n_bits = int(self.codes.max()).bit_length()

    def __call__(self, u, margin):
        """Return the sums over pairs with u_i - u_j < margin."""
        u = np.asarray(u, dtype=float)
        n_pairs = linear = square = 0.0
        first, second = np.zeros(u.size), np.zeros(u.size)
        for bit in range(self.n_bits):
            family = self.query * (1 << (self.n_bits - bit)) + (self.codes >> (bit + 1))
            is_upper = (self.codes >> bit) & 1 == 1
            shifted = np.where(is_upper, u - margin, u)  # the pair (i, j) counts iff shifted_i < shifted_j
            order = np.lexsort((shifted, family))
            t, up = shifted[order], is_upper[order]
            start = np.concatenate([[0], np.flatnonzero(np.diff(family[order])) + 1])
            n, s, q = _partners(t, up, start)
            short = np.where(up, s - n * t, n * t - s)  # each item's sum of shortfalls
            n_pairs += n[up].sum()
            linear += short[up].sum()
            square += (n * t * t - 2.0 * t * s + q)[~up].sum()
            first[order] += np.where(up, -n, n)
            second[order] += 2.0 * np.where(up, -short, short)
        return Sums(float(n_pairs), float(linear), first, float(square), second)


def _partners(t, up, start):
    """Return how many active partners each item has, the sum of their t, and (for lower items) of their squares.

    Partners of a lower item are the upper ones before it in its family; of an upper item, the lower ones after it.
    """
    lower = ~up
    ends = t.size - np.concatenate([start[1:], [t.size]])[::-1]  # where families start when read backwards
    n = np.where(up, _running(lower[::-1] * 1.0, ends)[::-1], _running(up * 1.0, start))
    s = np.where(up, _running((lower * t)[::-1], ends)[::-1], _running(up * t, start))
    return n, s, _running(up * t * t, start)


def _running(values, start):
    """Return the sums over the earlier members of each family."""
    before = np.concatenate([[0.0], np.cumsum(values)])
    return before[:-1] - np.repeat(before[start], np.diff(np.append(start, values.size)))


# --- other objectives -------------------------------------------------------------------------------------------------


def _one_norm(problem, b):
    """Return sum |b| + C hinge; for the pairs machine the least flow that can deliver b, a lower estimate."""
    u, _ = RBF(problem.X, problem.gamma).forward(b)
    value = PairSums(problem.y, problem.queries)(u, 1.0).linear
    if problem.options.get("positive") and b.min(initial=0.0) < -1e-9 * np.abs(b).max(initial=0.0):
        return float("inf")
    cost = np.abs(b).sum() if problem.kind == "vectors" else np.maximum(b, 0.0).sum()
    return float(cost + problem.C * value)


def _comparison(problem, u, level):
    """Return the slacks of Venuto & Hocking's flipped problem: wins beyond the level, ties within it."""
    s = u[problem.index[:, 0]] - u[problem.index[:, 1]]
    wins = problem.y != 0
    s_win, s_tie = problem.y[wins] * s[wins], s[~wins]
    hinges = [1.0 - (level + s_win), 1.0 + (level + s_tie), 1.0 + (level - s_tie)]
    return float(sum(np.maximum(hinge, 0.0).sum() for hinge in hinges))


def _choice(problem, u, _level):
    """Return one slack per set: the chosen row against the best of the others."""
    chosen = problem.y > 0
    rivals = np.full(int(problem.qid.max()) + 1, -np.inf)
    np.maximum.at(rivals, problem.qid[~chosen], u[~chosen])
    return float(np.maximum(1.0 - u[chosen] + rivals[problem.qid[chosen]], 0.0).sum())


def _choice_pair(problem, u, _level):
    """Return one slack per (chosen, other) pair."""
    return PairSums(problem.y, problem.qid)(u, 1.0).linear


def concordance(problem, u):
    """Return the share of pairs in the right order, ties half: what peers with other objectives are compared by."""
    sums = PairSums(problem.y, problem.queries)
    tiny = 1e-9 * (1.0 + np.abs(u).max())
    wrong = 0.5 * (sums(u, tiny).n_pairs + sums(u, -tiny).n_pairs)
    return 1.0 - wrong / sums(np.zeros(len(problem.y)), 1.0).n_pairs
