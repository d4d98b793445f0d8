"""The solvers, a module each.

`skip()` says why it cannot run here, or None. `fit(problem, effort)` is what is timed and returns an Answer. `EFFORTS`
are settings from quick to careful, of which the first that reaches the gap counts. Optional: `prepare(problem,
effort)`, untimed, whose result `fit` gets in place of the effort; `needs(problem)`, the bytes its pairs would take.
"""

import importlib
import importlib.util

NAMES = (
    "ours",
    "linear_svc_pairs",
    "linear_svc_cholesky",
    "svc_pairs",
    "svr_scoring",
    "rbf_kernel",
    "survival",
    "kernel_survival",
    "skordinal",
    "highs",
    "clarabel",
    "xgboost",
    "lightgbm",
)


def load(name):
    """Return the module of a solver."""
    return importlib.import_module(f"{__name__}.{name}")


def absent(package):
    """Return why a package cannot be used, or None."""
    return None if importlib.util.find_spec(package) else f"{package} is not installed"
