"""Which pairs to ask next: those whose answers tell most about the utility.

The fitted utility is read as the mode of a Bayesian model: weights ~ N(0, C I), outcomes of pairs by the logistic curve
of `calibration`. Around the mode the weights are normal with covariance

    S = (I / C + sum over pairs asked of I(d_t) x_t x_t')^-1,     x_t the difference of the two items' features,

I(d) the Fisher information of one answer at difference d. An answer about the pair x shrinks the volume of S by the
factor 1 / (1 + I(d) x'Sx), so the best next pair has the largest I(d) x'Sx: in doubt (small d), and not known yet
(large x'Sx). For several pairs this is repeated with S updated as if each had been answered: greedy D-optimal design
(Chaloner & Verdinelli 1995). Kernels use features F with F F' the kernel matrix of the items.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse
from sklearn.utils import check_random_state

from ._core.links import CumulativeLogit
from ._estimator import check_number, check_weight
from ._unwrap import unwrap
from .pairs import Pairs

__all__ = ["suggest_pairs"]

BLOCK = 4096  # pairs whose differences are written out at a time
LARGEST_C = 1e6  # prior variance, as a multiple of 1 / mean squared feature length: hard margins have none


def suggest_pairs(
    model,
    items,
    n=1,
    *,
    asked=None,
    sample_weight=None,
    repeat=False,
    candidates=None,
    max_candidates=200_000,
    random_state=None,
):
    """Return the pairs of items whose comparison would tell most.

    Parameters
    ----------
    model : estimator
        Fitted `ComparisonSVM`, or a pipeline, search or `CalibratedComparison` with one inside; a calibrated model
        knows better how noisy votes are.
    items : {array-like, sparse matrix, data frame} of shape (n_items, n_features)
        Items to ask about.
    n : int, default=1
        Number of pairs to ask at once. They are chosen together: two that would teach the same are not both taken.
    asked : Pairs or array-like of int of shape (n_asked, 2), default=None
        Pairs that have been answered, as positions in `items`. What they taught counts as known.
    sample_weight : array-like of shape (n_asked,), default=None
        How often each pair of `asked` was answered; None: once.
    repeat : bool, default=False
        Whether a pair in `asked` may be asked again. Within the `n` pairs none is repeated.
    candidates : array-like of int of shape (n_candidates, 2), default=None
        Pairs to choose from, as positions in `items`; None: all.
    max_candidates : int, default=200000
        If there are more pairs than this a random sample of them is looked at.
    random_state : int, RandomState instance or None, default=None
        Seed of that sample, and of the order among equals.

    Returns
    -------
    ndarray of int of shape (m, 2)
        Positions in `items`, most informative first; m = n unless there are fewer candidates.

    References
    ----------
    K. Chaloner and I. Verdinelli, "Bayesian experimental design: a review", Statistical Science 10 (1995).

    Examples
    --------
    >>> from widemargin import ComparisonSVM, Pairs
    >>> from widemargin.active import suggest_pairs
    >>> items = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.1]]
    >>> asked = Pairs(items, [(1, 0), (1, 0), (3, 0)])
    >>> model = ComparisonSVM(ties="threshold").fit(asked)
    >>> first, second = suggest_pairs(model, items, asked=asked, random_state=0)[0]
    >>> 2 in (first, second)  # nothing is known about the second feature
    True
    """
    check_number("n", n, at_least=1, integer=True)
    check_number("max_candidates", max_candidates, at_least=1, integer=True)
    if isinstance(items, Pairs):
        raise TypeError("items are Pairs; expected the items themselves: pass pairs.items, and asked=pairs.")
    items = items if hasattr(items, "shape") else np.asarray(items, dtype=float)
    n_items = items.shape[0]
    answered = _positions(asked, n_items)
    rng = check_random_state(random_state)
    pairs = _candidates(candidates, n_items, None if repeat else answered, max_candidates, rng)
    estimator, seen = unwrap(model, Pairs(items, np.zeros((0, 2), dtype=np.int64)))
    features, u = estimator._kernel_factor(seen.items), estimator.utility(seen.items)  # noqa: SLF001
    link = _link(model, estimator)
    weight = check_weight(sample_weight, len(answered)) if len(answered) else np.ones(0)
    C = estimator.C_ if hasattr(estimator, "C_") else estimator.C  # chosen by cross-validation, or given
    C = C / max(weight.sum(), 1.0) if estimator.C_scale == "mean" else C
    L = _posterior_factor(features, u, answered, weight, link, C)
    information = link.information(u[pairs[:, 0]] - u[pairs[:, 1]])
    return pairs[_greedy(L, pairs, information, min(n, len(pairs)))]


def _greedy(L, pairs, information, n):
    """Return n candidates, each the most informative when those before it are as good as answered."""
    chosen, free = [], np.ones(len(pairs), dtype=bool)
    blocks = (pairs[i : i + BLOCK] for i in range(0, len(pairs), BLOCK))
    variance = np.concatenate([np.sum((L[b[:, 0]] - L[b[:, 1]]) ** 2, axis=1) for b in blocks])
    for _ in range(n):
        gain = np.where(free, information * variance, -1.0)
        best = int(np.argmax(gain))
        chosen.append(best)
        free[best] = False
        v = L[pairs[best, 0]] - L[pairs[best, 1]]
        along = L @ v
        shrink = information[best] / (1.0 + information[best] * variance[best])
        new = variance - shrink * (along[pairs[:, 0]] - along[pairs[:, 1]]) ** 2
        if variance[best] > 0:  # S - shrink (S x)(S x)', written as L (I - k v v')
            L = L - np.outer(along, (1.0 - np.sqrt(1.0 - shrink * variance[best])) / variance[best] * v)
        variance = np.maximum(new, 0.0)
    return chosen


def _posterior_factor(F, u, answered, weight, link, C):
    """Return L with L L' the covariance of the items' utilities given what was answered."""
    variance = min(C, LARGEST_C / max(float(np.mean(np.sum(F**2, axis=1))), 1e-300))
    first, second = answered.T
    told = weight * link.information(u[first] - u[second])
    ends = np.concatenate([first, second]), np.concatenate([second, first])
    laplacian = sparse.coo_array((np.tile(-told, 2), ends), shape=(len(F), len(F))).tocsr()
    laplacian = laplacian - sparse.diags_array(laplacian.sum(axis=0))
    precision = np.eye(F.shape[1]) / variance + F.T @ (laplacian @ F)
    root = linalg.cholesky(precision, lower=True)
    return linalg.solve_triangular(root, F.T, lower=True).T


def _link(model, estimator):
    """Return the curve of a calibrated model, or one with slope 1 in units of the margin."""
    return getattr(model, "link_", None) or CumulativeLogit(1.0, np.array([-1.0, 1.0]) * estimator.tie_width_)


def _positions(asked, n_items):
    """Return the answered pairs as positions, checked."""
    if asked is None:
        return np.zeros((0, 2), dtype=np.int64)
    if isinstance(asked, Pairs) and asked.items.shape[0] != n_items:
        raise ValueError(
            f"asked has {asked.items.shape[0]} items and items {n_items}; expected pairs of the same items: "
            "pass items=asked.items, or positions in items."
        )
    index = asked.index if isinstance(asked, Pairs) else asked
    return Pairs(np.zeros((n_items, 1)), index).index


def _candidates(candidates, n_items, taboo, limit, rng):
    """Return different pairs in random order, the smaller position first, without those that are taboo."""
    if candidates is None:
        codes = _all_or_some(n_items, limit, rng)
    else:
        ends = np.sort(_positions(candidates, n_items), axis=1)
        codes = np.unique(ends[ends[:, 0] < ends[:, 1]] @ [n_items, 1])
    if taboo is not None:
        codes = np.setdiff1d(codes, np.sort(taboo, axis=1) @ np.array([n_items, 1]))
    if codes.size == 0 and n_items < 2:
        raise ValueError("there is one item, and no pair to ask; give two items or more.")
    if codes.size == 0:
        raise ValueError("no pair is left to ask: every candidate is in asked; pass repeat=True to ask again.")
    codes = rng.permutation(codes)[:limit]
    return np.column_stack([codes // n_items, codes % n_items])


def _all_or_some(n_items, limit, rng):
    """Return all pairs as codes, or about 2 * limit random ones where there are more."""
    if n_items * (n_items - 1) // 2 <= limit:
        i, j = np.triu_indices(n_items, 1)
    else:
        i, j = np.sort(rng.randint(n_items, size=(2 * limit, 2)), axis=1).T
    return np.unique((i * n_items + j)[i < j])
