"""The ordinal-regression sets that A. Cena and M. Gagolewski compiled."""

import numpy as np
from sklearn.utils import Bunch

from ._tables import read_columns

ORDINAL_NAMES = (
    "abalone",
    "abalone_ord",
    "affairs",
    "ailerons",
    "auto_ord",
    "auto_riskness",
    "bostonhousing",
    "bostonhousing_ord",
    "californiahousing",
    "cement_strength",
    "fireman_example",
    "glass",
    "kinematics",
    "machine_ord",
    "skill",
    "stock_ord",
    "winequality-red",
    "winequality-white",
    "wisconsin_breast_ord",
)


def fetch_ordinal(name, *, data_home=None):
    """Load one of 19 sets with ordered labels.

    Parameters
    ----------
    name : str
        One of `ORDINAL_NAMES`. Those ending in `_ord` are numbers cut into bins of equal length: very unbalanced.
    data_home : str, path-like or None, default=None
        Folder that holds `ordinal_gagolewski/`; see :func:`get_data_home`.

    Returns
    -------
    data : :class:`sklearn.utils.Bunch`
        `X` (n, p) floats without missing values, `y` (n,) integers, `feature_names`.
    """
    if name not in ORDINAL_NAMES:
        raise ValueError(f"name={name!r} is unknown; expected one of {', '.join(ORDINAL_NAMES)}.")
    table = read_columns(f"ordinal_gagolewski/{name}.csv", data_home=data_home)
    y = np.array(table.pop("response"), dtype=float)
    return Bunch(
        X=np.array(list(table.values()), dtype=float).T.copy(), y=y.astype(np.int64), feature_names=list(table)
    )
