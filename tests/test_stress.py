"""The interior point on everything at once: kinds of rows, noise, scales, duplicates, C, losses."""

import itertools

import numpy as np
import pytest

from widemargin._core import comparisons
from widemargin._core.interior_point import interior_point
from widemargin._core.losses import HINGE, SQUARED_HINGE
from widemargin._core.maps import LinearMap
from widemargin._core.solution import Status

N_ITEMS, N_FEATURES, N_PAIRS = 40, 5, 60
SCALES = {"1e-6": 1e-6, "1": 1.0, "1e6": 1e6, "mixed": 10.0 ** np.linspace(-6, 6, N_FEATURES)}
KINDS = ["ranking", "classes", "targets", "ties as margin", "ties both ways", "tasks"]


def make_rows(kind, rng, u):
    """Return rows of one kind for the utilities u."""
    ones = np.ones(N_ITEMS)
    if kind == "ranking":
        levels = np.digitize(u, [-1, 0, 1]).astype(np.int64)
        return comparisons.from_levels(levels, rng.integers(0, 3, N_ITEMS), ones).rows()
    if kind == "classes":
        return comparisons.from_classes(np.where(u > 0, 1.0, -1.0), ones)
    if kind == "targets":
        return comparisons.from_targets(u, 0.1, ones)
    if kind == "tasks":
        sets = np.arange(N_ITEMS).reshape(8, 5)
        best = sets[np.arange(8), np.argmax(u[sets], axis=1)]
        task, other = np.array([(t, i) for t in range(8) for i in sets[t] if i != best[t]]).T
        return comparisons.from_choices(best[task], other, task, np.ones(8), N_ITEMS, shared_slack=True)
    i, j = rng.integers(0, N_ITEMS, (2, N_PAIRS))
    y = np.where(np.abs(u[i] - u[j]) < 1, 0, np.sign(u[i] - u[j])).astype(int)
    if kind == "ties as margin":
        return comparisons.from_ties_as_margin(i, j, y, np.ones(N_PAIRS), N_ITEMS)
    return comparisons.from_ties_both_ways(i, j, y, np.ones(N_PAIRS), N_ITEMS, closed_form=True)


@pytest.mark.parametrize("duplicates", [False, True])
@pytest.mark.parametrize("noise", [0.0, 1.0])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_gap_is_reached_or_the_margin_is_refused(kind, scale, noise, duplicates):
    """With tol=1e-9 each C from 1e-8 to 1e6 converges, and a hard margin is found or refused."""
    rng = np.random.default_rng(len(kind) + 10 * len(scale))
    X = rng.normal(size=(N_ITEMS, N_FEATURES))
    u = X @ rng.normal(size=N_FEATURES) + noise * rng.normal(size=N_ITEMS)
    if duplicates:
        half = N_ITEMS // 2
        X[half:], u[half:] = X[:half], u[:half] + noise * rng.normal(size=half)
    rows, map_ = make_rows(kind, rng, u), LinearMap(X * SCALES[scale])
    losses = [HINGE] if kind == "ties both ways" else [HINGE, SQUARED_HINGE]  # that closed form is the hinge's own
    for C, loss in itertools.product([1e-8, 1e-4, 1.0, 1e4, 1e6, np.inf], losses):
        if kind == "ties both ways" and np.isinf(C):
            continue
        found = interior_point(rows, map_, C, loss, tol=1e-9, max_iter=1000)
        allowed = {Status.CONVERGED, Status.INFEASIBLE} if np.isinf(C) else {Status.CONVERGED}
        assert found.status in allowed, (C, loss, found.gap)
