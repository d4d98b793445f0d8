"""Model files of LIBLINEAR, its ranking extension included, in and out.

Lines of a key and its values, in any order (solver_type, nr_class, label, nr_feature, bias), then `w` and a line per
feature, and one more for the bias where that is not negative. With two classes w.x > 0 means the first label.
"""

from __future__ import annotations

import numpy as np

from .. import MarginClassifier, MarginRegressor, RankingSVM
from ._text import ModelFileError, finite, text_lines, write_bytes

RANKING = {"L2R_L2LOSS_RANKSVM": "squared_hinge"}
REGRESSION = {
    "L2R_L2LOSS_SVR": "squared_epsilon_insensitive",
    "L2R_L2LOSS_SVR_DUAL": "squared_epsilon_insensitive",
    "L2R_L1LOSS_SVR_DUAL": "epsilon_insensitive",
}
CLASSIFICATION = {
    "L2R_L2LOSS_SVC_DUAL": "squared_hinge",
    "L2R_L2LOSS_SVC": "squared_hinge",
    "L2R_L1LOSS_SVC_DUAL": "hinge",
}
KNOWN = {**RANKING, **REGRESSION, **CLASSIFICATION}
KEYS = {"solver_type", "nr_class", "label", "nr_feature", "bias"}


def read_liblinear_model(path):
    """Return the model of a LIBLINEAR file: a ranker, a regressor or a classifier of two classes, as it says.

    `objective_` and what else the file does not say is not set. A ranker's bias is left out: it is the same for all
    items.

    Parameters
    ----------
    path : path-like or binary file object
        What LIBLINEAR's `train` wrote.

    Returns
    -------
    RankingSVM, MarginRegressor or MarginClassifier
        From a ranking, a regression or a classification solver (`L2R_L2LOSS_RANKSVM`, `L2R_L2LOSS_SVR`, ...).

    Raises
    ------
    ModelFileError
        The file is damaged or foreign, or of another solver type. The line is named.
    """
    header, rows = _parse(*text_lines(path, "LIBLINEAR"))
    solver, bias = header["solver_type"], header["bias"]
    coef, rest = rows[: header["nr_feature"]], rows[header["nr_feature"] :]
    intercept = float(bias * rest[0]) if rest.size else 0.0
    if solver in RANKING:
        model = RankingSVM(loss=KNOWN[solver])
        model._qid_column, model._n_queries = None, 1  # noqa: SLF001
    elif solver in REGRESSION:
        model = MarginRegressor(loss=KNOWN[solver])
        model.intercept_ = intercept
    else:
        model = MarginClassifier(loss=KNOWN[solver])
        first, second = header["label"]
        sign = 1.0 if first > second else -1.0
        model.classes_ = np.array(sorted([first, second]))
        coef, model.intercept_ = sign * coef, sign * intercept
    model._kernel = model._kernel_template()  # noqa: SLF001
    model.coef_, model.n_features_in_, model.solver_ = coef, coef.size, "liblinear"
    return model


def write_liblinear_model(model, path):
    """Write the utility of a linear model as a LIBLINEAR ranking model, for its `predict`.

    Parameters
    ----------
    model : estimator
        A fitted ranker (or `OrdinalSVM`, `ComparisonSVM`: their utility) with a linear kernel; no pipeline.
    path : path-like or binary file object
        Where to.
    """
    coef = getattr(model, "coef_", None)
    if coef is None or np.ndim(coef) != 1 or isinstance(model, MarginClassifier | MarginRegressor):
        raise ModelFileError(
            f"{type(model).__name__} is no fitted model of one linear utility; expected a ranker with kernel='linear'."
        )
    lines = ["solver_type L2R_L2LOSS_RANKSVM", "nr_class 2", f"nr_feature {coef.size}", "bias -1", "w"]
    lines += [repr(float(w)) for w in coef]
    write_bytes(path, ["".join(f"{line}\n" for line in lines).encode()])


def _parse(lines, name):
    """Return the header as a dict of values, and the rows of w."""
    header, at = {}, 0
    for at, line in enumerate(lines, start=1):
        key, *values = line.split() or [""]
        if key == "w" and not values:
            break
        if key not in KEYS or key in header:
            raise ModelFileError(
                f"{name}, line {at}: got {line[:40]!r}; expected one of {', '.join(sorted(KEYS))} (each once) or 'w'."
            )
        header[key] = _value(key, values, f"{name}, line {at}")
    else:
        raise ModelFileError(f"{name}, line {at + 1}: the file ends here; expected the line 'w' and the weights.")
    _check_header(header, f"{name}, line {at}")
    expected = header["nr_feature"] + (header["bias"] >= 0)
    found = [(i, line) for i, line in enumerate(lines[at:], start=at + 1) if line.strip()]
    if len(found) != expected:
        where = found[expected][0] if len(found) > expected else len(lines) + 1
        raise ModelFileError(f"{name}, line {where}: the file has {len(found)} weights; expected {expected}.")
    return header, np.array([_number(line.strip(), f"{name}, line {i}") for i, line in found], dtype=float)


def _check_header(header, where):
    """Refuse a header that is incomplete, or a model that has no counterpart here."""
    missing = sorted({"solver_type", "nr_class", "nr_feature", "bias"} - set(header))
    if missing:
        raise ModelFileError(f"{where}: 'w' begins but {missing[0]!r} was not given; expected it above.")
    if header["solver_type"] not in KNOWN:
        raise ModelFileError(
            f"{where}: solver_type {header['solver_type']} has no counterpart here; expected one of {', '.join(KNOWN)}."
        )
    if header["solver_type"] in CLASSIFICATION and (header["nr_class"] != 2 or len(set(header.get("label", ()))) != 2):
        raise ModelFileError(
            f"{where}: nr_class is {header['nr_class']} and label {header.get('label')}; expected two classes: with "
            "more, LIBLINEAR sets each class against the rest, and MarginClassifier sets them two by two."
        )


def _value(key, values, where):
    """Return the value of a header line."""
    if key == "label":
        return [int(_number(value, where, integer=True)) for value in values]
    if len(values) != 1:
        raise ModelFileError(f"{where}: {key} has {len(values)} values; expected 1.")
    if key == "solver_type":
        return values[0]
    if key == "bias":
        return _number(values[0], where)
    return int(_number(values[0], where, integer=True, at_least=1))


def _number(text, where, *, integer=False, at_least=-np.inf):
    value = finite(text)
    if value is None or (integer and not value.is_integer()) or value < at_least:
        bound = f" of at least {at_least:g}" if np.isfinite(at_least) else ""
        raise ModelFileError(f"{where}: got {text[:40]!r}; expected {'an integer' if integer else 'a number'}{bound}.")
    return value
