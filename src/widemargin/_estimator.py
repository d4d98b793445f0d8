"""The one door to scikit-learn: validation, the choice of map and solver, the learned attributes, the warnings."""

from __future__ import annotations

import warnings
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from ._core import kernels, maps
from ._core.gram import BYTES_WHOLE
from ._core.losses import BY_NAME as LOSSES
from ._core.solution import Status, relative_gap
from ._finite import check_finite, may_be_left
from ._queries import Queries
from ._solving import Solving
from ._task import Every
from .exceptions import CollapseWarning


class PreferenceEstimator(Solving, BaseEstimator):
    """What all estimators share. A fit is two steps: `_learn(_pose(data))`, of which only the second depends on C.

    `_pose` checks everything, sets what the data determine and returns a `Task`; `_learn` solves it and sets the rest.
    """

    # --- parameters ---------------------------------------------------------------------------------------------

    def _check_parameters(self):
        """Refuse parameters that have no meaning, naming what was got and what was expected."""
        check_number("C", self.C, above=0, allow_inf=True)
        check_number("tol", self.tol, above=0)
        check_number("max_iter", self.max_iter, above=0, integer=True)
        check_choice("C_scale", self.C_scale, ("sum", "mean"))
        if self.n_components is not None:
            check_number("n_components", self.n_components, above=0, integer=True)
        if self.memory_limit is not None:
            check_number("memory_limit", self.memory_limit, above=0)
        self._kernel_template()

    def _check_loss(self, choices):
        check_choice("loss", self.loss, choices)
        return LOSSES[self.loss]

    def _kernel_template(self):
        """Return the kernel as the user described it; None for precomputed."""
        if isinstance(self.kernel, kernels.Kernel):
            return self.kernel
        if callable(self.kernel):
            return kernels.Function(self.kernel)
        check_choice("kernel", self.kernel, ("linear", "rbf", "poly", "sigmoid", "precomputed"))
        if self.kernel in ("rbf", "poly", "sigmoid"):
            if isinstance(self.gamma, str):
                check_choice("gamma", self.gamma, ("scale", "auto"))
            else:
                check_number("gamma", self.gamma, above=0)
        if self.kernel in ("poly", "sigmoid"):
            check_number("coef0", self.coef0)
        if self.kernel == "poly":
            check_number("degree", self.degree, above=0)
        return {
            "linear": kernels.Linear,
            "rbf": lambda: kernels.RBF(self.gamma),
            "poly": lambda: kernels.Polynomial(self.degree, self.gamma, self.coef0),
            "sigmoid": lambda: kernels.Sigmoid(self.gamma, self.coef0),
            "precomputed": lambda: None,
        }[self.kernel]()

    @property
    def _is_linear(self):
        return isinstance(self.kernel, str) and self.kernel == "linear"

    @property
    def _is_precomputed(self):
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not (callable(self.kernel) or self._is_precomputed)
        tags.input_tags.pairwise = self._is_precomputed
        return tags

    # --- data ---------------------------------------------------------------------------------------------------

    def _check_items(self, X, *, reset):
        """Return the items as a float array (float32 is kept) or CSR matrix."""
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32])
        if reset and self._is_precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"kernel='precomputed' needs a square matrix of kernel values; X has shape {X.shape}. "
                "Pass kernel(items, items), or another kernel= and the features."
            )
        return X

    def _check_samples(self, X, y, sample_weight, qid=None, *, sees_all=False, **check_y):
        """Return items, y, weights, their queries, and the positions of the rows kept.

        Rows of no weight are left out.
        With `sees_all` nan and infinity in X may be left for the fit to find: `_is_left` tells.
        """
        if check_y.get("y_numeric") and _holds_strings(y):
            raise ValueError(
                f"y holds strings such as {str(np.asarray(y).flat[0])!r}; expected numbers, larger = preferred."
            )
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False, **check_y
        )
        weight = check_weight(sample_weight, X.shape[0])
        kept = Every() if sample_weight is None or np.all(weight > 0) else np.flatnonzero(weight > 0)
        if not (sees_all and self._is_left(X, kept)):
            check_finite(X, type(self).__name__)
        if self._is_precomputed:
            self._check_items(X, reset=True)
        if isinstance(kept, Every):
            return X, y, weight, Queries(qid, X.shape[0]), kept
        queries = Queries(qid, X.shape[0], kept)
        X = X[np.ix_(kept, kept)] if self._is_precomputed else X[kept]
        return X, y[kept], weight[kept], queries, kept

    def _is_left(self, X, kept):
        """Whether a fit that looks at all pairs will find nan and infinity in X on its way."""
        is_tall = 2 * X.shape[1] <= X.shape[0]
        return self._is_linear and np.isfinite(self.C) and is_tall and isinstance(kept, Every) and may_be_left(X)

    # --- what was learned ---------------------------------------------------------------------------------------

    def _keep_solution(self, solver, solutions):
        """Set the attributes that describe the optimisation; warn once, or refuse, where it failed."""
        objective = sum(s.objective for s in solutions)
        dual = sum(s.dual for s in solutions)
        worst = max(solutions, key=lambda s: (not s.is_within(self.tol), s.gap))
        self.objective_ = float(objective)
        self.duality_gap_ = relative_gap(objective, dual) if np.isfinite(objective) else float("inf")
        self.n_iter_ = max(1, *(s.n_iter for s in solutions))
        self.solver_ = solver
        self.converged_ = worst.is_within(self.tol)
        if self.converged_:
            return
        text = worst.status.value.format(gap=worst.gap, tol=self.tol, max_iter=self.max_iter, bound=1e-9)
        if worst.status is Status.INFEASIBLE:
            raise ValueError(f"C=inf: {text}")
        warnings.warn(f"{type(self).__name__}: {text}", ConvergenceWarning, stacklevel=4)

    def _keep_model(self, task, solutions):
        """Set coef_ (linear) or dual_coef_ over the support items, for one solution or one per column."""
        X, map_, kept = task.X, task.map_, task.kept
        single = len(solutions) == 1
        weights = solutions[0].weights[:, None] if single else np.column_stack([s.weights for s in solutions])
        if self._is_linear:
            self.coef_ = weights[:, 0].copy() if single else weights.T.copy()
            if self.solver_ == "newton":  # the multipliers there are a bound, not the model
                return
            dual = np.column_stack([s.coefficients for s in solutions])
        elif isinstance(map_, maps.LowRankMap):
            X, dual = map_.landmarks, map_.landmark_coefficients(weights)
            kept = kept[map_.pivots]
            self.kernel_loss_ = map_.loss
        else:
            dual = weights
        self._keep_support(task, X, dual, kept, single=single)

    def _keep_support(self, task, X, dual, kept, *, single):
        """Set support_, support_vectors_ and dual_coef_ from coefficients over the items X."""
        used = np.flatnonzero(dual[:, 0] if single else np.any(dual != 0, axis=1))
        self.support_ = kept[used]
        self.support_vectors_ = np.empty((0, 0)) if self._is_precomputed else task.taken(X, used)
        self.dual_coef_ = dual[used, 0] if single else dual[used]

    def _warn_if_collapsed(self, advice):
        """Warn when the learned utility is exactly constant."""
        if not self.converged_ or np.any(self.coef_ if self._is_linear else self.dual_coef_):
            return
        warnings.warn(
            f"{type(self).__name__}: the optimum is u = 0: every item has the same utility. {advice}",
            CollapseWarning,
            stacklevel=4,
        )

    def utility(self, X):
        """Return the learned utility of each item: larger is preferred; no intercept.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Items; with kernel="precomputed", kernel values against the training items.

        Returns
        -------
        ndarray of shape (n_samples,)
            K(X, support_vectors_) @ dual_coef_, which is X @ coef_ for the linear kernel.
        """
        check_is_fitted(self)
        X = self._check_items(self._without_qid(X), reset=False)
        if self._is_linear:
            return maps.LinearMap(X).forward_exact(self.coef_.T)
        if self._is_precomputed:
            return np.asarray(X[:, self.support_] @ self.dual_coef_, dtype=float)
        return self._kernel.weighted_sum(X, self.support_vectors_, self.dual_coef_)

    def _kernel_factor(self, X):
        """Return F with F F' the kernel matrix of the items X, as the fitted model measures them."""
        check_is_fitted(self)
        X = self._check_items(self._without_qid(X), reset=False)
        if self._is_linear and X.shape[1] <= X.shape[0]:
            return maps.LinearMap(X).features()
        self._check_gram_memory(X.shape[0], BYTES_WHOLE)
        if self._is_precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"kernel='precomputed': X has shape {X.shape}; expected the square matrix of the training items, "
                "because items are compared with each other here."
            )
        return maps.KernelMap(np.asarray(X if self._is_precomputed else self._kernel(X, X), dtype=float)).features()

    # --- queries ------------------------------------------------------------------------------------------------

    def _without_qid(self, X):
        """Drop the column that named the queries at fit, where a frame still has it."""
        column = getattr(self, "_qid_column", None)
        return X if column is None or column not in getattr(X, "columns", ()) else drop_column(X, column)

    def _split_qid(self, X, qid):
        """Return X without its query column, and the query ids, when qid names a column."""
        if not isinstance(qid, str):
            return X, qid
        if qid not in getattr(X, "columns", ()):
            has = f"it has {', '.join(map(repr, X.columns))}" if hasattr(X, "columns") else "it is no data frame"
            raise ValueError(f"qid={qid!r} names a column, but X has no such column: {has}. Pass the ids as an array.")
        return drop_column(X, qid), np.asarray(X[qid])


def _holds_strings(y):
    """Whether y is made of words, not of numbers that came as strings."""
    values = np.asarray(y)
    if values.dtype.kind not in "OUS" or values.size == 0 or not isinstance(values.flat[0], str):
        return False
    try:
        values.astype(float)
    except (TypeError, ValueError):
        return True
    return False


def drop_column(frame, name):
    """Return a pandas or polars frame without one column."""
    return frame.drop(columns=name) if hasattr(frame, "iloc") else frame.drop(name)


def check_weight(sample_weight, n):
    """Return the weights as float64; when there are none, ones that are read-only and take no memory."""
    if sample_weight is None:
        return np.broadcast_to(1.0, n)
    weight = np.asarray(sample_weight, dtype=float)
    weight = np.full(n, float(weight)) if weight.ndim == 0 else weight
    if weight.shape != (n,):
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(n,)}: one weight per row of X.")
    if not np.all(np.isfinite(weight)) or np.any(weight < 0):
        raise ValueError("sample_weight has negative, NaN or infinite entries; expected finite weights >= 0.")
    if not np.any(weight > 0):
        raise ValueError("sample_weight is zero everywhere; expected at least one positive weight.")
    return weight


def check_choice(name, got, choices):
    """Refuse a name that is not among the choices."""
    if not isinstance(got, str) or got not in choices:
        raise ValueError(f"{name}={got!r} is not understood; expected one of {', '.join(map(repr, choices))}.")


def check_number(name, got, *, above=-np.inf, at_least=-np.inf, allow_inf=False, integer=False):
    """Refuse anything but a number in range."""
    bound = f" above {above}" if np.isfinite(above) else f" of at least {at_least}" if np.isfinite(at_least) else ""
    expected = f"{'an integer' if integer else 'a number'}{bound}{', or inf' if allow_inf else ''}"
    if not isinstance(got, Integral if integer else Real) or isinstance(got, bool):
        raise TypeError(f"{name}={got!r} is a {type(got).__name__}; expected {expected}.")
    if not (got > above and got >= at_least) or (np.isinf(got) and not allow_inf):
        raise ValueError(f"{name}={got!r} is out of range; expected {expected}.")
