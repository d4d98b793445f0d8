"""Save a fitted model, load it, look at it."""

from __future__ import annotations

import json

import numpy as np
import sklearn
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

import widemargin

from ._container import VERSION, pack, unpack
from ._text import ModelFileError, read_bytes, write_bytes
from ._values import ESTIMATORS, decode, encode


def save_model(model, path, *, metadata=None):
    """Write a fitted model to a file that holds data and no code.

    The file is replaced in one step: if anything fails, what was there before is still there. The same model gives the
    same bytes.

    Parameters
    ----------
    model : estimator
        A fitted estimator of widemargin, alone or as the last step of a :class:`sklearn.pipeline.Pipeline` of
        `StandardScaler`, `MinMaxScaler`, `MaxAbsScaler`, `RobustScaler`, `Normalizer`, or :class:`OnItems` of them.
        Kernels that are functions are refused: they are code.
    path : path-like or binary file object
        Where to; ".wm" is a good ending.
    metadata : dict, default=None
        Anything that JSON can say: where the data came from, when, by whom. `model_info` gives it back.

    Raises
    ------
    ModelFileError
        The model holds something that a file cannot.
    """
    name = type(model).__name__
    if not isinstance(model, BaseEstimator):
        raise ModelFileError(f"model is a {name}; expected a fitted estimator of widemargin or a pipeline of one.")
    check_is_fitted(model)
    arrays = []
    content = {"about": _about(model, _checked_metadata(metadata)), "model": encode(model, name, arrays)}
    write_bytes(path, pack(content, arrays))


def load_model(path):
    """Return the model of a file written by `save_model`, of this version or an older one.

    Nothing in the file is run. Its checksum covers every byte, classes are looked up in a closed table, and
    anything else is refused with the reason. Parameters and fitted attributes come back with their types, so that
    predictions are the same to the last bit.

    Parameters
    ----------
    path : path-like or binary file object
        The file.

    Returns
    -------
    estimator

    Raises
    ------
    ModelFileError
        The file is damaged, foreign or too new.
    """
    _, model = _read(path)
    return model


def model_info(path):
    """Return what a model file says about itself, once all of it has been checked.

    Parameters
    ----------
    path : path-like or binary file object
        The file.

    Returns
    -------
    dict
        "format_version", "estimator" (its text form), "feature_names" and "n_features" (None where unknown),
        "versions" of the packages that wrote it, and "metadata".
    """
    about, _ = _read(path)
    return about


def _read(source):
    """Return the description and the model of a file."""
    data, name = read_bytes(source)
    try:
        content, arrays = unpack(data, name)
        model = decode(content["model"], arrays)
        if type(model) not in ESTIMATORS.values():
            raise ModelFileError(f"it holds a {type(model).__name__}, not a model")  # noqa: TRY301
    except ModelFileError as error:
        raise ModelFileError(str(error) if name in str(error) else f"{name}: {error}") from error
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise ModelFileError(
            f"{name} is whole but does not follow the format ({type(error).__name__}: {error}); "
            "write it again with save_model."
        ) from error
    return content["about"], model


def _about(model, metadata):
    names = getattr(model, "feature_names_in_", None)
    n_features = getattr(model, "n_features_in_", None)
    return {
        "format_version": VERSION,
        "estimator": repr(model),
        "feature_names": None if names is None else [str(name) for name in names],
        "n_features": None if n_features is None else int(n_features),
        "versions": {
            "widemargin": widemargin.__version__,
            "scikit-learn": sklearn.__version__,
            "numpy": np.__version__,
        },
        "metadata": metadata,
    }


def _checked_metadata(metadata):
    """Refuse metadata that JSON would not give back as it is."""
    metadata = {} if metadata is None else metadata
    try:
        same = isinstance(metadata, dict) and json.loads(json.dumps(metadata, allow_nan=False)) == metadata
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"metadata is not JSON ({error}); use text, finite numbers, lists and dicts.") from error
    if not same:
        raise ModelFileError(
            f"metadata is {metadata!r}, which JSON gives back changed; expected a dict with text as keys, and text, "
            "finite numbers, lists and dicts in it."
        )
    return metadata
