"""What there is to know of a fitted model, for `fit` and `info`."""

from __future__ import annotations

import numpy as np

from . import show

MANY = 8  # weights of more features than this are in JSON only


def summary(model, about):
    """Return what there is to know of a fitted model, in order."""
    facts = {
        "kind": about["kind"],
        "estimator": type(model).__name__,
        "C": model.C,
        "kernel": str(model.kernel),
        "ties": getattr(model, "ties", None),
        "features": model.n_features_in_,
        "training rows": about.get("n_rows"),
        "objective": getattr(model, "objective_", None),
        "duality gap": getattr(model, "duality_gap_", None),
        "solver": getattr(model, "solver_", None),
        "iterations": getattr(model, "n_iter_", None),
        "vectors": None if getattr(model, "support_", None) is None else int(np.size(model.support_)),
        "tie width": getattr(model, "tie_width_", None),
        "thresholds": getattr(model, "thresholds_", None),
        "weights": _weights(model, about.get("features")),
        "cross-validation": about.get("cross_validation"),
    }
    return {name: value for name, value in facts.items() if value is not None}


def _weights(model, names):
    """Return the weight of each feature of a linear utility, the largest first, or None."""
    coef = getattr(model, "coef_", None)
    if coef is None or np.ndim(coef) != 1:
        return None
    names = names or [f"feature {j}" for j in range(1, coef.size + 1)]
    return {str(names[j]): float(coef[j]) for j in np.argsort(-np.abs(coef), kind="stable").tolist()}


def lines(facts):
    """Return a summary as text."""
    rows = []
    for name, value in facts.items():
        if name == "cross-validation":
            text = f"{value['measure']} {value['score']:.4f} +- {value['standard_error']:.4f} at C = {value['C']:g}"
        elif name == "weights":
            text = ", ".join(f"{key} {weight:+.3g}" for key, weight in list(value.items())[:MANY])
            text += f", ... ({len(value)}; --json has all)" if len(value) > MANY else ""
        elif isinstance(value, np.ndarray):
            text = ", ".join(map(show.short, value.tolist()))
        else:
            text = show.short(value)
        rows.append((name, text))
    return show.table(rows)


def labels(model):
    """Return the classes of a model, or None."""
    return None if getattr(model, "classes_", None) is None else model.classes_.tolist()


def words(model):
    """Return the ordered labels of a model where they are words."""
    found = labels(model)
    return found if found and isinstance(found[0], str) else None
