"""Rows from best to worst, within queries where there are any."""

from __future__ import annotations

import numpy as np

from .._core import rules
from .._queries import query_codes
from ..pairs import Pairs
from .kinds import Kind
from .tables import DataError

MORE = {Kind.ordinal: "label", Kind.value: "value"}  # what the model predicts besides the order


def standings(fitted, kind, table, *, top, name):
    """Return the columns qid (where there are queries), rank, row, the label or value, and utility."""
    if kind is Kind.classes:
        raise DataError(f"{name} is a model of classes, which have no order; use predict, or fit with --kind ranking.")
    utility = fitted[-1].utility(_ready(fitted[:-1], kind, table.X))
    group = query_codes(table.qid, len(table))
    ranks = rules.rank_in_groups(utility, group)
    order = np.lexsort((ranks, _first_rows(group)[group]))
    order = order[ranks[order] <= top] if top is not None else order
    columns = {} if table.qid is None else {"qid": table.qid[order]}
    columns |= {"rank": ranks[order], "row": table.row[order]}
    if kind in MORE:
        columns[MORE[kind]] = fitted.predict(table.X)[order]
    return columns | {"utility": utility[order]}


def _ready(steps, kind, X):
    """Return the items as the last step sees them; the steps of a model of pairs take them as Pairs."""
    if not len(steps):
        return X
    if kind is Kind.pairs:
        return steps.transform(Pairs(X, np.empty((0, 2), dtype=np.int64))).items
    return steps.transform(X)


def _first_rows(group):
    """Return for each group the row where it first appears."""
    first = np.empty(int(group.max()) + 1, dtype=np.int64)
    first[group[::-1]] = np.arange(group.size)[::-1]
    return first
