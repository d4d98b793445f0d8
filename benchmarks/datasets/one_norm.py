"""1-norm ranking machines over one query without ties: RBF gamma = 0.1, C = 10 / m, gap 1e-8."""

from functools import partial

import numpy as np

from ..problem import Problem, Workload
from .kernels import FEATURES, curve


def machine(kind, m, quick, *, positive=False):
    """Return m items; all m (m - 1) / 2 pairs have a slack."""
    m = 30 if quick else m
    rng = np.random.default_rng(8)
    X = rng.standard_normal((m, FEATURES))
    how = {"loss": "hinge", "kernel": "rbf", "gamma": 0.1, "tol": 1e-8, "options": {"positive": positive}}
    return Problem(kind, X, curve(rng, X), C=10.0 / m, **how)


WORKLOADS = [
    Workload("signed-200", partial(machine, "vectors", 200), ("highs",)),
    Workload("signed-400", partial(machine, "vectors", 400), ("highs",)),
    Workload("signed-2k", partial(machine, "vectors", 2_000), repeat=1),
    Workload("positive-200", partial(machine, "vectors", 200, positive=True), ("highs",)),
    Workload("positive-400", partial(machine, "vectors", 400, positive=True)),
    Workload("positive-2k", partial(machine, "vectors", 2_000, positive=True), repeat=1),
    Workload("pairs-200", partial(machine, "vector_pairs", 200), repeat=1),
    Workload("pairs-400", partial(machine, "vector_pairs", 400), repeat=1),
]
