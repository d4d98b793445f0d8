"""Choices from a set in long format: heating systems in California, and ways to travel in Switzerland."""

import numpy as np
from sklearn.utils import Bunch

from ._tables import read_columns

HEATING = ["gc", "gr", "ec", "er", "hp"]
TRAVEL = ["TRAIN", "SM", "CAR"]  # CHOICE = 1, 2, 3


def fetch_heating(*, data_home=None, download_if_missing=False):
    """Load 900 choices among five heating systems.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        Folder that holds `choice/`; see :func:`get_data_home`.
    download_if_missing : bool, default=False
        Fetch a missing file from its repository, and keep it in the folder.

    Returns
    -------
    data : :class:`sklearn.utils.Bunch`
        Long format, one row per household and system: `X` (4500, 2) installation cost and yearly operating cost,
        `y` 1 for the chosen row and 0 for the others, `qid` the household, `alternative` which system;
        `feature_names`, `alternative_names`; `household`, columns of the file by name (income, age, rooms, region).
    """
    table = read_columns("choice/heating_data.csv", data_home=data_home, download_if_missing=download_if_missing)
    X = np.stack([[table[f"{cost}.{a}"] for a in HEATING] for cost in ("ic", "oc")]).astype(float)
    chosen = np.array([HEATING.index(name) for name in table["depvar"]])
    household = {name: table[name] for name in ("income", "agehed", "rooms", "region")}
    return Bunch(
        **_long(X.transpose(2, 1, 0), chosen, np.ones((chosen.size, len(HEATING)), dtype=bool)),
        feature_names=["installation_cost", "operating_cost"],
        alternative_names=list(HEATING),
        household=household,
    )


def fetch_swissmetro(*, data_home=None, download_if_missing=False):
    """Load 10,719 stated choices between train, Swissmetro and car.

    The nine answers without a choice and the rows of ways that were not available are left out.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        Folder that holds `choice/`; see :func:`get_data_home`.
    download_if_missing : bool, default=False
        Fetch a missing file from its repository, and keep it in the folder.

    Returns
    -------
    data : :class:`sklearn.utils.Bunch`
        Long format, one row per answer and available way: `X` (n, 4) travel time, cost (nothing by rail with an annual
        season ticket), headway, airline seats (0 where a way has none); `y` 1 for the chosen row; `qid` the answer,
        `alternative` which way, `person` who answered (nine answers each); `feature_names`, `alternative_names`;
        `answers`, the columns of the file by name, one entry per answer.
    """
    table = read_columns("choice/swissmetro.csv", data_home=data_home, download_if_missing=download_if_missing)
    table = {name: np.array(column, dtype=np.int64) for name, column in table.items()}
    table = {name: column[table["CHOICE"] > 0] for name, column in table.items()}
    nothing = np.zeros(table["CHOICE"].size)
    pays = np.column_stack([table["GA"] == 0, table["GA"] == 0, nothing == 0])
    X = np.stack([[table.get(f"{way}_{what}", nothing) for way in TRAVEL] for what in ("TT", "CO", "HE", "SEATS")])
    X = X.transpose(2, 1, 0).astype(float)
    X[:, :, 1] *= pays
    available = np.column_stack([table[f"{way}_AV"] for way in TRAVEL]) == 1
    long = _long(X, table["CHOICE"] - 1, available)
    return Bunch(
        **long,
        person=table["ID"][long["qid"]],
        feature_names=["time", "cost", "headway", "seats"],
        alternative_names=[way.lower() for way in TRAVEL],
        answers=table,
    )


def _long(X, chosen, available):
    """Return one row per set and available alternative; X has shape (sets, alternatives, features)."""
    qid, alternative = np.nonzero(available)
    y = (alternative == chosen[qid]).astype(np.int64)
    return {"X": X[qid, alternative], "y": y, "qid": qid, "alternative": alternative}
