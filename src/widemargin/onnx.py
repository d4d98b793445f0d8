"""Export to ONNX: the utility and the decision of every estimator as a graph that runs without Python.

Needs the extra `onnx`: ``pip install widemargin[onnx]``. Features are cast to float64 first and everything is computed
in float64, so that a graph differs from the estimator by rounding alone.
"""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
from scipy import sparse
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

import widemargin

from . import ComparisonSVM, MarginClassifier, MarginRegressor, OnItems, OrdinalSVM
from ._estimator import PreferenceEstimator
from .calibration import CalibratedComparison, CalibratedOrdinal
from .kernels import RBF, Linear, Polynomial, Product, Sigmoid, Sum

__all__ = ["to_onnx"]

OPSET, IR_VERSION = 17, 8  # read by every onnxruntime since 1.12


def to_onnx(model, *, dtype="float32"):
    """Return a fitted model as an ONNX graph.

    Parameters
    ----------
    model : estimator
        A fitted estimator, alone or behind `StandardScaler`, `MinMaxScaler`, `MaxAbsScaler`, `RobustScaler`,
        `Normalizer`, or :class:`OnItems` of them, in a :class:`sklearn.pipeline.Pipeline`; calibrated or not.
    dtype : {"float32", "float64"}, default="float32"
        Type of the input. Whatever it is, the graph computes in float64, and utilities, decisions and values come
        out as float64.

    Returns
    -------
    onnx.ModelProto
        Input "X" of shape (n, n_features); for `ComparisonSVM` "left" and "right". Outputs, all of length n:

        ======================= =========================================================
        rankers                 "utility"
        `OrdinalSVM`            "label", "utility"
        `MarginClassifier`      "label", "decision" (as `decision_function`)
        `MarginRegressor`       "value"
        `ComparisonSVM`         "label" (-1, 0, 1), "decision"
        `CalibratedOrdinal`     "label", "utility", "probability" (a column per class)
        `CalibratedComparison`  "label", "decision", "probability" (of -1, 0 and 1)
        ======================= =========================================================

    Examples
    --------
    >>> from widemargin import RankingSVM
    >>> from widemargin.onnx import to_onnx
    >>> model = RankingSVM().fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    >>> [output.name for output in to_onnx(model).graph.output]
    ['utility']

    With onnxruntime: ``InferenceSession(to_onnx(model).SerializeToString()).run(None, {"X": X.astype("float32")})``.
    """
    if dtype not in ("float32", "float64"):
        raise ValueError(f"dtype={dtype!r} is not understood; expected 'float32' or 'float64'.")
    steps, last, calibrated = _parts(model)
    check_is_fitted(last)
    graph = _Graph(_import_onnx())
    paired = isinstance(last, ComparisonSVM)
    n_features, utilities = [*steps, last][0].n_features_in_, []
    for name in ("left", "right") if paired else ("X",):
        X = graph.cast(graph.input(name, dtype, n_features))
        for step in steps:
            X = _scaled(graph, step, X)
        utilities.append(_utility(graph, last, X))
    outputs = _outputs(graph, last, utilities)
    if calibrated is not None:
        outputs |= _calibrated(graph, calibrated, outputs)
    for name, (value, kind, shape) in outputs.items():
        graph.output(name, value, kind, shape)
    return graph.model(model, calibrated or last)


def _import_onnx():
    try:
        import onnx  # noqa: PLC0415
    except ImportError as error:
        raise ImportError("to_onnx needs the package onnx; install it with: pip install widemargin[onnx]") from error
    return onnx


def _parts(model):
    """Return the transformers and the estimator of a model, and what calibrates it, or None."""
    *steps, last = _flat(model)
    calibrated = None
    if isinstance(last, CalibratedComparison | CalibratedOrdinal):
        check_is_fitted(last)
        calibrated = last
        *more, last = _flat(calibrated.estimator_)
        steps += more
    if not isinstance(last, PreferenceEstimator):
        raise TypeError(
            f"model ends with {type(last).__name__}; expected an estimator of widemargin, or a pipeline that ends with "
            "one."
        )
    return steps, last, calibrated


def _flat(step):
    """Yield what a step does; pipelines, searches and other wrappings taken apart."""
    if isinstance(step, Pipeline):
        for _, inner in step.steps:
            yield from _flat(inner)
    elif isinstance(step, OnItems):
        check_is_fitted(step)
        yield from _flat(step.transformer_)
    elif isinstance(step, FrozenEstimator) or hasattr(step, "best_estimator_"):
        yield from _flat(step.estimator if isinstance(step, FrozenEstimator) else step.best_estimator_)
    elif step not in (None, "passthrough"):
        yield step


# --- transformers -----------------------------------------------------------------------------------------------


def _scaled(graph, step, X):
    """Return the features after one transformer."""
    if type(step) not in SCALERS:
        names = ", ".join(sorted(cls.__name__ for cls in SCALERS))
        raise TypeError(f"the step {type(step).__name__} has no ONNX form here; expected one of {names} or OnItems.")
    return SCALERS[type(step)](graph, step, X)


def _standard(graph, step, X):
    X = X if not step.with_mean else graph("Sub", X, step.mean_)
    return X if not step.with_std else graph("Div", X, step.scale_)


def _min_max(graph, step, X):
    X = graph("Add", graph("Mul", X, step.scale_), step.min_)
    return _clipped(graph, X, *step.feature_range) if step.clip else X


def _max_abs(graph, step, X):
    X = graph("Div", X, step.scale_)
    return _clipped(graph, X, -1.0, 1.0) if getattr(step, "clip", False) else X


def _robust(graph, step, X):
    X = X if not step.with_centering else graph("Sub", X, step.center_)
    return X if not step.with_scaling else graph("Div", X, step.scale_)


def _normalized(graph, step, X):
    size = {
        "l1": lambda: graph.row_sums(graph("Abs", X)),
        "l2": lambda: graph("Sqrt", graph.row_sums(graph("Mul", X, X))),
        "max": lambda: graph("ReduceMax", graph("Abs", X), axes=[1], keepdims=1),
    }[step.norm]()
    return graph("Div", X, graph("Where", graph("Equal", size, 0.0), 1.0, size))


def _clipped(graph, X, low, high):
    return graph("Min", graph("Max", X, float(low)), float(high))


SCALERS = {
    StandardScaler: _standard,
    MinMaxScaler: _min_max,
    MaxAbsScaler: _max_abs,
    RobustScaler: _robust,
    Normalizer: _normalized,
}


# --- utilities --------------------------------------------------------------------------------------------------


def _utility(graph, model, X):
    """Return the utility: X coef_, or K(X, support vectors) dual_coef_; one column per pair of classes."""
    if model.kernel == "linear":
        return _combined(graph, X, model.coef_.T)
    if model.kernel == "precomputed":
        return _combined(graph, graph("Gather", X, model.support_, axis=1), model.dual_coef_)
    Z = model.support_vectors_
    Z = np.asarray(Z.toarray() if sparse.issparse(Z) else Z, dtype=float)
    return _combined(graph, _kernel(graph, model._kernel, X, Z), model.dual_coef_)  # noqa: SLF001


def _combined(graph, columns, weights):
    """Return columns @ weights; a matrix of one column, since runtimes trip over vectors when there are no rows."""
    if weights.ndim == 2:
        return graph("MatMul", columns, weights)
    return graph("Squeeze", graph("MatMul", columns, weights[:, None]), np.array([1]))


def _kernel(graph, kernel, X, Z):
    """Return the kernel matrix of the rows of X and Z."""
    if type(kernel) not in KERNELS:
        raise TypeError(
            f"the kernel {kernel!r} is code, which a graph cannot hold; use kernels.Linear, RBF, Polynomial, Sigmoid, "
            "their sums and products, or kernel='precomputed'."
        )
    return KERNELS[type(kernel)](graph, kernel, X, Z)


def _rbf(graph, kernel, X, Z):
    """exp(-gamma |x - z|^2), distances taken from the middle of Z, where they are most precise."""
    origin = Z.mean(axis=0) if len(Z) else np.zeros(Z.shape[1])
    X, Z = graph("Sub", X, origin), Z - origin
    cross = graph("MatMul", X, -2.0 * Z.T)
    squared = graph("Add", graph("Add", cross, graph.row_sums(graph("Mul", X, X))), np.einsum("ij,ij->i", Z, Z))
    return graph("Exp", graph("Mul", graph("Max", squared, 0.0), -float(kernel.gamma)))


def _affine(graph, kernel, X, Z):
    return graph("Add", graph("MatMul", X, float(kernel.gamma) * Z.T), float(kernel.coef0))


KERNELS = {
    Linear: lambda graph, _, X, Z: graph("MatMul", X, Z.T),
    RBF: _rbf,
    Polynomial: lambda graph, k, X, Z: graph("Pow", _affine(graph, k, X, Z), float(k.degree)),
    Sigmoid: lambda graph, k, X, Z: graph("Tanh", _affine(graph, k, X, Z)),
    Sum: lambda graph, k, X, Z: graph("Add", _kernel(graph, k.left, X, Z), _kernel(graph, k.right, X, Z)),
    Product: lambda graph, k, X, Z: graph("Mul", _kernel(graph, k.left, X, Z), _kernel(graph, k.right, X, Z)),
}


# --- decisions --------------------------------------------------------------------------------------------------


def _outputs(graph, model, utilities):
    """Return name -> (value, dtype, shape beyond n) of what the model decides."""
    u = utilities[0]
    if isinstance(model, ComparisonSVM):
        s = graph("Sub", *utilities)
        beyond = graph.integer(graph("Greater", graph("Abs", s), float(model.tie_width_)))
        return {
            "label": (graph("Mul", beyond, graph.integer(graph("Sign", s))), model.classes_.dtype, ()),
            "decision": (s, np.dtype(float), ()),
        }
    if isinstance(model, MarginRegressor):
        return {"value": (graph("Add", u, float(model.intercept_)), np.dtype(float), ())}
    if isinstance(model, OrdinalSVM):
        above = graph("Greater", graph("Unsqueeze", u, np.array([1])), model.thresholds_)
        return {"label": _label(graph, model, _count(graph, above)), "utility": (u, np.dtype(float), ())}
    if isinstance(model, MarginClassifier):
        return _classified(graph, model, graph("Add", u, np.asarray(model.intercept_, dtype=float)))
    return {"utility": (u, np.dtype(float), ())}


def _calibrated(graph, model, outputs):
    """Return the probabilities, and the most probable label: sigmoid(upper end) sigmoid(-lower end) of each level."""
    link, n_classes = model.link_, model.classes_.size
    s = graph("Unsqueeze", outputs["decision" if "decision" in outputs else "utility"][0], np.array([1]))
    s = graph("Mul", s, float(link.slope))
    lower, upper = np.r_[-np.inf, link.cuts], np.r_[link.cuts, np.inf]
    above, below = graph("Sigmoid", graph("Sub", s, lower)), graph("Sigmoid", graph("Sub", upper, s))
    levels = graph("Mul", graph("Mul", above, below), -np.expm1(lower - upper))
    probability = graph("MatMul", levels, np.eye(n_classes)[model._present])  # noqa: SLF001
    return {
        "label": _label(graph, model, graph("ArgMax", probability, axis=1, keepdims=0)),
        "probability": (probability, np.dtype(float), (n_classes,)),
    }


def _count(graph, flags):
    """Return the number of true flags of each row."""
    return graph("ReduceSum", graph.integer(flags), np.array([1]), keepdims=0)


def _classified(graph, model, values):
    """Return label and decision: the sign, or votes plus a confidence below 1/3 that breaks ties."""
    k = model.classes_.size
    if k == 2:
        code = graph.integer(graph("Greater", values, 0.0))
        return {"label": _label(graph, model, code), "decision": (values, np.dtype(float), ())}
    first, second = np.zeros((2, k * (k - 1) // 2, k))
    for column, (i, j) in enumerate(combinations(range(k), 2)):
        first[column, i] = second[column, j] = 1.0
    won = graph.cast(graph("GreaterOrEqual", values, 0.0))
    votes = graph("Add", graph("MatMul", won, first - second), second.sum(axis=0))
    confidence = graph("MatMul", values, first - second)
    scale = graph("Mul", graph("Add", graph("Abs", confidence), 1.0), 3.0)
    votes = graph("Add", votes, graph("Div", confidence, scale))
    label = _label(graph, model, graph("ArgMax", votes, axis=1, keepdims=0))
    decision = votes if model.decision_function_shape == "ovr" else values
    return {"label": label, "decision": (decision, np.dtype(float), (k if decision is votes else len(first),))}


def _label(graph, model, code):
    """Return classes_[code]."""
    classes = model.classes_
    if classes.dtype.kind == "O":
        if len({type(label) for label in classes}) > 1:
            raise TypeError(f"classes_ {classes.tolist()} mixes types; an ONNX output has one: numbers or text.")
        classes = np.array(classes.tolist())
    return graph("Gather", classes, code), classes.dtype, ()


# --- the graph --------------------------------------------------------------------------------------------------


class _Graph:
    """Nodes in order; `graph(op, *inputs)` adds one and returns its output. Numbers and arrays become constants."""

    def __init__(self, onnx):
        self._onnx = onnx
        self._nodes, self._constants, self._inputs, self._outputs = [], [], [], []

    def __call__(self, op, *inputs, **attributes):
        name = f"v{len(self._nodes)}"
        inputs = [value if isinstance(value, str) else self._constant(value) for value in inputs]
        self._nodes.append(self._onnx.helper.make_node(op, inputs, [name], **attributes))
        return name

    def _constant(self, value):
        value = np.asarray(value)
        value = np.ascontiguousarray(value).reshape(value.shape)
        name = f"c{len(self._constants)}"
        if value.dtype.kind == "U":
            text = [label.encode() for label in value.tolist()]
            tensor = self._onnx.helper.make_tensor(name, self._onnx.TensorProto.STRING, value.shape, text)
        else:
            tensor = self._onnx.numpy_helper.from_array(value, name)
        self._constants.append(tensor)
        return name

    def cast(self, value):
        """Return a value as float64."""
        return self("Cast", value, to=self._onnx.TensorProto.DOUBLE)

    def integer(self, value):
        """Return a value as int64."""
        return self("Cast", value, to=self._onnx.TensorProto.INT64)

    def row_sums(self, value):
        """Return the sum of each row, as a column."""
        return self("ReduceSum", value, np.array([1]), keepdims=1)

    def input(self, name, dtype, n_features):
        self._inputs.append(self._info(name, np.dtype(dtype), (int(n_features),)))
        return name

    def output(self, name, value, dtype, shape):
        self._nodes.append(self._onnx.helper.make_node("Identity", [value], [name]))
        self._outputs.append(self._info(name, dtype, shape))

    def _info(self, name, dtype, shape):
        helper, text = self._onnx.helper, dtype.kind == "U"
        kind = self._onnx.TensorProto.STRING if text else helper.np_dtype_to_tensor_dtype(dtype)
        return helper.make_tensor_value_info(name, kind, ["n", *shape])

    def model(self, source, last):
        """Return the checked ModelProto."""
        helper = self._onnx.helper
        graph = helper.make_graph(self._nodes, type(last).__name__, self._inputs, self._outputs, self._constants)
        opset = [helper.make_opsetid("", OPSET)]
        proto = helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION, producer_name="widemargin")
        proto.producer_version = widemargin.__version__
        about = {"estimator": type(last).__name__}
        names = getattr(source, "feature_names_in_", None)
        if names is not None:
            about["feature_names"] = json.dumps([str(name) for name in names])
        helper.set_model_props(proto, about)
        self._onnx.checker.check_model(proto, full_check=True)
        return proto
