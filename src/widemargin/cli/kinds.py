"""The kinds of preference data, and for each: its estimator, its folds and its guess."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from .. import ComparisonSVM, MarginClassifier, MarginRegressor, OrdinalSVM, RankingSVM, TopRankSVM
from ..model_selection import PairKFold, QueryKFold
from .tables import DataError


class Kind(StrEnum):
    """What a file of examples holds."""

    ranking = "ranking"
    ordinal = "ordinal"
    pairs = "pairs"
    choice = "choice"
    classes = "class"
    value = "value"


@dataclass(frozen=True)
class Recipe:
    """How a kind is learned and validated."""

    estimator: type
    folds: Callable
    needs_qid: bool
    score: str


RECIPES = {
    Kind.ranking: Recipe(RankingSVM, QueryKFold, needs_qid=True, score="concordance"),
    Kind.choice: Recipe(TopRankSVM, QueryKFold, needs_qid=True, score="share of right choices"),
    Kind.ordinal: Recipe(OrdinalSVM, StratifiedKFold, needs_qid=False, score="accuracy"),
    Kind.classes: Recipe(MarginClassifier, StratifiedKFold, needs_qid=False, score="accuracy"),
    Kind.value: Recipe(MarginRegressor, KFold, needs_qid=False, score="R^2"),
    Kind.pairs: Recipe(ComparisonSVM, PairKFold, needs_qid=False, score="accuracy"),
}

ORDERED = {Kind.ordinal, Kind.ranking}  # words will do as targets where --order gives theirs
MANY_LABELS = 10  # more different whole numbers than this are read as values


def guess(table):
    """Return the kind that a table seems to hold, and the reason in words."""
    y = table.target
    if table.qid is not None:
        if _is_choice(y, table.qid):
            return Kind.choice, "every query has exactly one row with target 1, the others 0"
        return Kind.ranking, "there are query ids, and graded targets"
    if y.dtype.kind not in "biuf":
        return Kind.classes, "the targets are words without an order; with --order they are ordinal"
    values = np.unique(y)
    if np.all(values == np.round(values)) and values.size <= MANY_LABELS:
        if values.size <= 2:
            return Kind.classes, f"there {'are two targets' if values.size == 2 else 'is one target'} and no query ids"
        return Kind.ordinal, f"the targets are {values.size} whole numbers, without query ids"
    return Kind.value, "the targets are real numbers, without query ids"


def checked_target(table, kind, order):
    """Return the target as this kind needs it."""
    y = table.target
    missing = np.array([value is None or value != value for value in y.tolist()])  # noqa: PLR0124
    if missing.any():
        line = int(np.flatnonzero(missing)[0]) + 2
        raise DataError(f"the target {table.target_name or ''} is empty on line {line}; fill it or drop the row.")
    if kind is Kind.classes:
        return y.astype(str) if y.dtype == object else y
    if kind in ORDERED and order:
        unknown = sorted({str(value) for value in y.tolist()} - set(order))
        if unknown:
            raise DataError(f"the target holds {unknown[0]!r}, which --order lacks; it names {', '.join(order)}.")
        words = y.astype(str)
        return words if kind is Kind.ordinal else np.array([order.index(word) for word in words.tolist()], dtype=float)
    if y.dtype.kind not in "biuf":
        help_ = "; for ordered words pass --order worst,...,best" if kind in ORDERED else ""
        raise DataError(f"the target holds {y[0]!r}, expected numbers for kind {kind.value}{help_}.")
    whole = kind is Kind.ordinal and np.all(y == np.round(y))
    return y.astype(np.int64) if whole else y.astype(float)


def _is_choice(y, qid):
    if y.dtype.kind not in "biuf" or not np.isin(y, (0, 1)).all():
        return False
    query = np.unique(qid, return_inverse=True)[1]
    sizes, ones = np.bincount(query), np.bincount(query, weights=y)
    return bool(np.all(ones == 1) and np.any(sizes > 1))
