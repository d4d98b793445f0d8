"""One estimator, many C: the data are checked, sorted and mapped once, and each solve starts from the last."""

from __future__ import annotations

import sys
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ._threads import one_thread

__all__ = ["CPath", "c_path"]


@dataclass(frozen=True)
class CPath:
    """What `c_path` found: one entry per C, in the order of `Cs`.

    Attributes
    ----------
    Cs : ndarray of shape (n_Cs,)
        The weights of the errors.
    estimators : list
        Fitted estimators, one per C.
    objectives : ndarray of shape (n_Cs,)
        Their `objective_`.
    gaps : ndarray of shape (n_Cs,)
        Their `duality_gap_`: how far, relatively, each objective can be from its minimum.
    """

    Cs: np.ndarray
    estimators: list[Any]
    objectives: np.ndarray
    gaps: np.ndarray


def c_path(estimator, X, y=None, Cs=20, *, qid=None, sample_weight=None, verbose=False):
    """Fit an estimator for many values of C, for the price of a few fits.

    Validation, sorting, kernel matrix and layout of the data are shared; where Newton solves, it goes from small C to
    large and starts from the last solution and its Hessian. Every point is certified to the estimator's `tol`,
    as a fit of its own would be. Few comparisons, which a fit solves to rounding whatever `tol`, are on a path solved
    to `tol` as well; with a `tol` below 1e-6, and for ordinal thresholds, they are exact here too, by way of Newton's
    solution.

    Parameters
    ----------
    estimator : estimator
        One of this package's machines; it is cloned, not changed. Its own C does not matter.
    X, y : array-like
        Data, as in the estimator's `fit`.
    Cs : int or array-like of shape (n_Cs,), default=20
        Values of C, in any order; an integer asks for so many from 1e-4 to 1e4, evenly in the logarithm.
    qid : array-like of shape (n_samples,) or str, default=None
        Query of each row, for estimators that take it.
    sample_weight : array-like of shape (n_samples,), default=None
        As in the estimator's `fit`.
    verbose : bool, default=False
        Whether to write a line for each C to standard error.

    Returns
    -------
    CPath
        `Cs`, `estimators`, `objectives` and `gaps`.

    Examples
    --------
    >>> from widemargin import RankingSVM
    >>> from widemargin.model_selection import c_path
    >>> path = c_path(RankingSVM(), [[0.0], [1.0], [3.0]], [0, 1, 2], Cs=[0.01, 1.0, 100.0])
    >>> [model.coef_.round(2).tolist() for model in path.estimators]
    [[0.06], [1.0], [1.0]]
    """
    Cs = check_Cs(Cs)
    given = {} if qid is None else {"qid": qid}
    data = (X,) if y is None else (X, y)
    fitted = {}
    for C, model in _along(estimator, data, given | {"sample_weight": sample_weight}, np.unique(Cs)):
        fitted[C] = model
        if verbose:
            about = f"objective {model.objective_:.6g}, duality gap {model.duality_gap_:.1e}, {model.solver_}"
            sys.stderr.write(f"c_path {len(fitted)}/{np.unique(Cs).size}: C={C:.3g}, {about}\n")
    estimators = [fitted[C] for C in Cs.tolist()]
    objectives, gaps = (np.array([getattr(m, name) for m in estimators]) for name in ("objective_", "duality_gap_"))
    return CPath(Cs, estimators, objectives, gaps)


def _along(estimator, data, given, Cs):
    """Yield (C, fitted estimator), C ascending."""
    finite = [C for C in Cs.tolist() if np.isfinite(C)]
    if finite:
        if not hasattr(estimator, "_pose"):
            raise TypeError(f"{estimator!r} is none of widemargin's machines; expected one, such as RankingSVM().")
        posed = clone(estimator).set_params(C=finite[0])
        with one_thread():
            task = posed._pose(*data, **given)  # noqa: SLF001 (the machines' own seam)
        task.Cs = finite
        for C in finite:
            model = copy(posed)  # with what the data determined
            model.C = C
            with one_thread():
                model._learn(task)  # noqa: SLF001
            yield C, model
    for C in Cs[len(finite) :].tolist():  # a hard margin: some machines write other rows for it
        yield C, clone(estimator).set_params(C=C).fit(*data, **given)


def check_Cs(Cs):
    """Return the values of C as floats; refuse anything but positive numbers."""
    if isinstance(Cs, (int, np.integer)) and not isinstance(Cs, bool):
        if Cs < 1:
            raise ValueError(f"Cs={Cs!r} is out of range; expected a number of values, at least 1, or the values.")
        return np.geomspace(1e-4, 1e4, Cs) if Cs > 1 else np.ones(1)
    values = np.asarray(Cs, dtype=float)
    if values.ndim != 1 or values.size == 0 or not np.all(values > 0):
        raise ValueError(f"Cs={Cs!r} is not understood; expected an integer or a list of numbers above 0.")
    return values
