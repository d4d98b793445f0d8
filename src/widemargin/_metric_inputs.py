"""What metrics take: numbers of one length, ranks by number or by name, queries as codes."""

import numpy as np
from sklearn.utils import check_array, column_or_1d

from ._queries import query_codes


def checked(y, u, qid, sample_weight):
    """Return y, u, the query codes and the weights (int64 ones without any), all of one length."""
    y, u = vector(y, "y"), vector(u, "prediction")
    if u.size != y.size:
        raise ValueError(f"the predictions have {u.size} entries but y has {y.size}; pass one for each row of y.")
    if sample_weight is None:
        return y, u, query_codes(qid, y.size), np.ones(y.size, dtype=np.int64)
    weight = vector(sample_weight, "sample_weight").astype(np.float64)
    if weight.size != y.size or weight.min() < 0 or weight.max() == 0:
        raise ValueError(
            f"sample_weight has {weight.size} entries from {weight.min():g} to {weight.max():g}, "
            f"expected {y.size}, one per row, none negative and some positive."
        )
    return y, u, query_codes(qid, y.size), weight


def vector(values, name):
    """Return `values` as a vector of finite numbers."""
    array = np.asarray(values)
    if array.size and isinstance(array.flat[0], str | bytes):
        raise ValueError(
            f"{name} holds strings such as {array.flat[0]!r}, expected numbers, larger = preferred; "
            "encode them, or pass labels= (worst first) where the metric has it."
        )
    return column_or_1d(check_array(array, ensure_2d=False, input_name=name))


def as_ranks(y, y_pred, labels):
    """Return true and predicted ranks as numbers: themselves, or positions in `labels`."""
    if labels is None:
        return y, y_pred
    position = {label: i for i, label in enumerate(labels)}
    unknown = {*np.asarray(y).tolist(), *np.asarray(y_pred).tolist()}.difference(position)
    if unknown:
        raise ValueError(f"labels={list(position)} lacks {unknown}; pass every rank of y and y_pred, worst first.")
    return tuple([position[v] for v in np.asarray(ranks).tolist()] for ranks in (y, y_pred))


def outcomes(y, name):
    """Return the outcomes of comparisons, which must be +1, 0 or -1."""
    y = vector(y, name)
    if not np.isin(y, (-1, 0, 1)).all():
        raise ValueError(f"{name} holds {np.unique(y)[:5]}, expected only +1 (first preferred), 0 (same) and -1.")
    return y.astype(np.int64)
