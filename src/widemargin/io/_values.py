"""What a model is made of, as JSON and arrays: a closed table of kinds, and nothing that could run.

Plain JSON values stand for themselves; anything else is an object whose "kind" is a key of DECODERS.
"""

from __future__ import annotations

from inspect import isclass, signature

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, RobustScaler, StandardScaler

import widemargin

from .. import calibration
from .._core.links import CumulativeLogit
from ..kernels import RBF, Kernel, Linear, Polynomial, Product, Sigmoid, Sum
from ..model_selection import ItemDisjointKFold, PairKFold, QueryKFold
from ._text import ModelFileError

PUBLIC = [
    thing for module in (widemargin, calibration) for name in module.__all__ if isclass(thing := getattr(module, name))
]
SCIKIT_LEARN = [FrozenEstimator, MaxAbsScaler, MinMaxScaler, Normalizer, Pipeline, RobustScaler, StandardScaler]
ESTIMATORS = {cls.__name__: cls for cls in [*SCIKIT_LEARN, *PUBLIC] if issubclass(cls, BaseEstimator)}
KERNELS = [Linear, RBF, Polynomial, Sigmoid, Sum, Product]
OBJECTS = {  # made of their parameters alone
    cls.__name__: cls for cls in [*KERNELS, CumulativeLogit, QueryKFold, PairKFold, ItemDisjointKFold]
}
SPARSE = {"csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}
NOT_KEPT = {"_metadata_request"}  # how a search hands out qid: a matter of the session, not of the model


def encode(value, where, arrays):
    """Return a value as JSON; `arrays` collects its arrays, and `where` is its name in messages."""

    def inner(part, name):
        return encode(part, f"{where}{name}", arrays)

    if type(value) not in ENCODERS or (type(value) is np.ndarray and value.dtype.type not in SCALARS | {np.object_}):
        raise ModelFileError(_refusal(value, where))
    return ENCODERS[type(value)](value, inner, arrays)


def _keep(array, arrays):
    """Return the number of an array that joined the list."""
    arrays.append(array)
    return len(arrays) - 1


def _encode_float(value, *_):
    return value if np.isfinite(value) else {"kind": "float", "value": repr(value)}


def _encode_list(value, inner, _):
    return [inner(part, f"[{i}]") for i, part in enumerate(value)]


def _encode_dict(value, inner, _):
    items = [[inner(key, f" key {key!r}"), inner(part, f"[{key!r}]")] for key, part in value.items()]
    return {"kind": "dict", "items": items}


def _encode_array(value, inner, arrays):
    if value.dtype.kind != "O":
        return {"kind": "array", "array": _keep(value, arrays)}
    items = _encode_list(value.ravel().tolist(), inner, arrays)
    return {"kind": "objects", "shape": list(value.shape), "items": items}


def _encode_sparse(value, _, arrays):
    parts = {name: _keep(getattr(value, name), arrays) for name in ("data", "indices", "indptr")}
    return {"kind": "sparse", "class": type(value).__name__, "shape": list(value.shape), **parts}


def _encode_object(value, inner, _):
    parts = {name: inner(getattr(value, name), f".{name}") for name in signature(type(value)).parameters}
    return {"kind": "object", "class": type(value).__name__, "parameters": parts}


def _encode_estimator(model, inner, _):
    parameters = model.get_params(deep=False)
    state = {name: part for name, part in vars(model).items() if name not in parameters and name not in NOT_KEPT}
    _check_names(type(model), parameters, state)
    return {
        "kind": "estimator",
        "class": type(model).__name__,
        "parameters": {name: inner(part, f".{name}") for name, part in parameters.items()},
        "state": {name: inner(part, f".{name}") for name, part in state.items()},
    }


SCALARS = {np.dtype(code).type for code in "?bhilqBHILQefdU"}  # not the long double: its size is the machine's
ENCODERS = (
    dict.fromkeys((type(None), bool, int, str), lambda value, *_: value)
    | dict.fromkeys(SCALARS, lambda value, _, arrays: {"kind": "scalar", "array": _keep(np.asarray(value), arrays)})
    | dict.fromkeys(SPARSE.values(), _encode_sparse)
    | dict.fromkeys(OBJECTS.values(), _encode_object)
    | dict.fromkeys(ESTIMATORS.values(), _encode_estimator)
    | {
        float: _encode_float,
        list: _encode_list,
        tuple: lambda value, inner, arrays: {"kind": "tuple", "items": _encode_list(value, inner, arrays)},
        dict: _encode_dict,
        np.ndarray: _encode_array,
    }
)


def _refusal(value, where):
    """Say why a value cannot be stored, and what can."""
    name = type(value).__name__
    if isinstance(value, Kernel) or callable(value):
        return (
            f"{where} is {value!r}: code, which a model file does not hold; use kernels.Linear, RBF, Polynomial, "
            "Sigmoid, their sums and products, or kernel='precomputed'."
        )
    if hasattr(value, "best_estimator_"):
        return f"{where} is a {name}; save its best_estimator_."
    if isinstance(value, BaseEstimator):
        return (
            f"{where} is a {name}; a model file holds {', '.join(sorted(ESTIMATORS))}. "
            "For other steps use skops.io, or joblib where you trust the file."
        )
    return f"{where} is {_named(value)}; a model file holds numbers, text, arrays, CSR matrices and kernels."


def _named(value):
    dtype = getattr(value, "dtype", None)
    return f"a {type(value).__name__}" + (f" of {dtype}" if dtype is not None else "")


def decode(spec, arrays):
    """Return the value that `encode` described."""
    if isinstance(spec, list):
        return [decode(part, arrays) for part in spec]
    if not isinstance(spec, dict):
        return spec
    if spec["kind"] not in DECODERS:
        raise ModelFileError(f"the kind {spec['kind']!r} is not known; upgrade widemargin.")
    return DECODERS[spec["kind"]](spec, arrays)


def _decode_objects(spec, arrays):
    values = np.empty(len(spec["items"]), dtype=object)
    values[:] = decode(spec["items"], arrays)
    return values.reshape(spec["shape"])


def _decode_sparse(spec, arrays):
    parts = tuple(arrays[spec[name]] for name in ("data", "indices", "indptr"))
    matrix = _known(SPARSE, spec)(parts, shape=tuple(spec["shape"]))
    matrix.check_format(full_check=True)
    return matrix


def _decode_estimator(spec, arrays):
    cls = _known(ESTIMATORS, spec)
    parameters, state = (
        {name: decode(part, arrays) for name, part in spec[which].items()} for which in ("parameters", "state")
    )
    _check_names(cls, parameters, state)
    model = cls(**parameters)
    vars(model).update(state)
    return model


def _check_names(cls, parameters, state):
    """Refuse parameters that the class does not have, and attributes that would hide what it defines."""
    unknown = sorted(set(parameters) - set(signature(cls).parameters))
    hiding = sorted(name for name in state if name in parameters or not name.isidentifier() or hasattr(cls, name))
    if unknown or hiding:
        raise ModelFileError(
            f"{cls.__name__} has no {'parameter' if unknown else 'attribute'} {(unknown + hiding)[0]!r} in the "
            "versions installed here; upgrade widemargin and scikit-learn."
        )


def _known(table, spec):
    if spec["class"] not in table:
        raise ModelFileError(f"the class {spec['class']!r} is not one a model file may hold; upgrade widemargin.")
    return table[spec["class"]]


DECODERS = {
    "float": lambda spec, _: {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}[spec["value"]],
    "tuple": lambda spec, arrays: tuple(decode(spec["items"], arrays)),
    "dict": lambda spec, arrays: {decode(key, arrays): decode(part, arrays) for key, part in spec["items"]},
    "scalar": lambda spec, arrays: arrays[spec["array"]][()],
    "array": lambda spec, arrays: arrays[spec["array"]],
    "objects": _decode_objects,
    "sparse": _decode_sparse,
    "object": lambda spec, arrays: _known(OBJECTS, spec)(
        **{name: decode(part, arrays) for name, part in spec["parameters"].items()}
    ),
    "estimator": _decode_estimator,
}
