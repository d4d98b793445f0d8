"""Small seeded data of every kind that the estimators take, with the weights that made it.

`gap=0` gives noisy data that no linear utility explains; `gap>0` leaves the noise out and moves levels apart
along the true weights, so that a linear utility separates them with room to spare (hard margins exist).
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Sample:
    """One data set: rows `X`, what was observed `y`, and where they apply `qid` or `index` of the pairs."""

    X: np.ndarray
    y: np.ndarray
    new: np.ndarray  # rows to score that were not fitted
    w: np.ndarray  # the weights that made y
    qid: np.ndarray | None = None
    index: np.ndarray | None = None  # (n_pairs, 2) positions in X
    weight: np.ndarray | None = None  # positive, one per row (per pair where there is an index)


def _rows(seed, n, p):
    rng = np.random.default_rng(seed)
    w = rng.normal(size=p)
    return rng, rng.normal(size=(n, p)), rng.normal(size=(12, p)), w / np.linalg.norm(w)


def _levels(u, k, rng, noise):
    """Return k levels of about equal frequency, 0 the lowest."""
    noisy = u + noise * rng.normal(size=u.size)
    return np.searchsorted(np.sort(noisy)[[u.size * j // k for j in range(1, k)]], noisy, side="right")


def _spread(X, w, level, gap):
    """Move the rows of each level apart along w (a unit vector), by `gap` beyond where they are."""
    return X + gap * np.multiply.outer(level, w)


def graded_queries(seed=0, *, n_queries=4, size=8, p=3, n_grades=3, noise=0.8, gap=0.0):
    """Grades within several queries, rows in no order; one query has a single grade, one a single row."""
    n = n_queries * size
    rng, X, new, w = _rows(seed, n, p)
    y = _levels(X @ w, n_grades, rng, 0.0 if gap else noise)
    qid = np.resize(np.arange(n_queries), n)
    qid[0] = n_queries  # a query of one row
    y[qid == 1] = y[qid == 1].min() if not gap else y[qid == 1]  # a query of one grade
    order = rng.permutation(n)
    return Sample(_spread(X, w, y, gap)[order], y[order], new, w, qid=qid[order], weight=rng.uniform(0.5, 2, n))


def ordered_labels(seed=0, *, n=24, p=3, n_ranks=4, noise=0.8, gap=0.0):
    """Ordered labels 1 ... n_ranks."""
    rng, X, new, w = _rows(seed, n, p)
    y = _levels(X @ w, n_ranks, rng, 0.0 if gap else noise)
    return Sample(_spread(X, w, y, gap), y + 1, new, w, weight=rng.uniform(0.5, 2, n))


def pairs_with_ties(seed=0, *, n_items=16, n_pairs=36, p=3, width=0.7, noise=0.3, gap=0.0):
    """Pairs of items labelled +1 (first preferred), 0 (no difference), -1; every item occurs."""
    rng, X, new, w = _rows(seed, n_items, p)
    if gap:  # utilities near whole numbers: equal ones tie, others differ by about 1 + gap
        level = rng.integers(0, 3, n_items)
        X = X - np.multiply.outer(X @ w, w) * 0.95 + (1 + gap) * np.multiply.outer(level, w)
    first = np.resize(rng.permutation(n_items), n_pairs)
    second = (first + rng.integers(1, n_items, n_pairs)) % n_items
    s = (X[first] - X[second]) @ w + (0.0 if gap else noise) * rng.normal(size=n_pairs)
    y = np.where(np.abs(s) <= width, 0, np.sign(s)).astype(int)
    index = np.column_stack([first, second])
    return Sample(X, y, new, w, index=index, weight=rng.uniform(0.5, 2, n_pairs))


def choices(seed=0, *, n_sets=9, p=3, noise=0.8, gap=0.0):
    """Sets of two to five alternatives, y = 1 for the chosen one, rows in no order."""
    rng = np.random.default_rng(seed + 1000)
    qid = np.repeat(np.arange(n_sets), rng.integers(2, 6, n_sets))
    rng, X, new, w = _rows(seed, qid.size, p)
    u = X @ w + (0.0 if gap else noise) * rng.normal(size=qid.size)
    y = np.array([int(u[i] == u[qid == qid[i]].max()) for i in range(qid.size)])
    order = rng.permutation(qid.size)
    weight = rng.uniform(0.5, 2, qid.size)
    return Sample(_spread(X, w, y, gap)[order], y[order], new, w, qid=qid[order], weight=weight)


def classes(seed=0, *, n=30, p=3, n_classes=2, noise=0.8, gap=0.0):
    """Classes by level of the utility, unequal in number."""
    rng, X, new, w = _rows(seed, n, p)
    y = _levels(X @ w + 0.4, n_classes, rng, 0.0 if gap else noise)
    y[: n // 10] = 0 if not gap else y[: n // 10]
    return Sample(_spread(X, w, y, gap), y, new, w, weight=rng.uniform(0.5, 2, n))


def targets(seed=0, *, n=24, p=3, noise=0.5, gap=0.0):
    """Real targets; with `gap` they stay within a tenth of it around the true utilities."""
    rng, X, new, w = _rows(seed, n, p)
    error = rng.uniform(-0.1, 0.1, n) * gap if gap else noise * rng.normal(size=n)
    return Sample(X, X @ w + 0.7 + error, new, w, weight=rng.uniform(0.5, 2, n))
