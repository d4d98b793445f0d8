"""What a command works on: examples to learn from; or a model, and the rows that it is asked about."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from .. import io
from ..pairs import Pairs
from . import learn, show
from .kinds import RECIPES, Kind, checked_target, guess
from .options import VOTES
from .tables import Columns, DataError, Table, as_frame, numbers, read_frame, read_table, without


def examples(data, columns, kind, items, votes, order):
    """Return kind, X, y, qid and feature names of a training file."""
    if kind is Kind.pairs or items is not None:
        pairs, y, names = read_votes(data, items, votes, drop=columns.drop)
        return Kind.pairs, pairs, y, None, {"features": names}
    table = read_table(data, columns)
    if kind is None:
        if order:
            kind, why = (Kind.ordinal if table.qid is None else Kind.ranking), "--order was given"
        else:
            kind, why = guess(table)
        show.note(f"kind: {kind.value} ({why}); --kind changes that")
    y = checked_target(table, kind, order)
    if RECIPES[kind].needs_qid and table.qid is None and kind is Kind.choice:
        raise DataError("choices need query ids, one per set; pass --qid COLUMN.")
    groups = np.zeros(len(table), dtype=np.int64) if table.qid is None else table.qid
    found = {"features": table.names, "target": table.target_name, "qid": table.qid_name, "id": table.row_name}
    found |= {"order": order}
    return kind, table.X, y, groups, found


def read_votes(data, items, votes, *, features=None, drop=(), needs_winner=True):
    """Return pairs, outcomes (+1 where there is no winner to read) and feature names: of votes, and of items."""
    if items is None:
        raise DataError("pairs need the items' features: pass --items FILE. For votes alone, use `widemargin compare`.")
    table = items_frame(items, features, drop)
    pairs, y = as_pairs(data, votes, table, needs_winner=needs_winner)
    return Pairs(numbers(items, pairs.items, others=None), pairs.index), y, [str(name) for name in table.columns[1:]]


def as_pairs(data, votes, table, *, needs_winner=True):
    """Return the pairs and outcomes of a file of votes; where no winner is needed, its column may lack."""
    frame = read_frame(data)
    for name in votes if needs_winner else votes[:2]:
        if name not in frame.columns:
            has = ", ".join(map(str, frame.columns))
            raise DataError(f"{data}: no column {name!r}; it has {has}. --votes LEFT RIGHT WINNER names the columns.")
    if not len(frame):
        raise DataError(f"{data}: the file has no rows.")
    left, right, winner = votes
    if winner not in frame.columns:
        winner, frame = None, frame[[left, right]]
    try:
        return Pairs.from_frame(frame, left=left, right=right, winner=winner, items=table)
    except ValueError as error:
        raise DataError(f"{data}: {error}") from error


def items_frame(items, features=None, drop=()):
    """Return a file of items: names in the first column, then the features; those of a model, where it knows them."""
    table = without(items, read_frame(items), drop)
    if len(table.columns) < 2:
        has = ", ".join(map(str, table.columns))
        raise DataError(f"{items}: expected the items' names in the first column, and features; it has {has}.")
    if features is None:
        return table
    for name in features:
        if name not in table.columns[1:]:
            raise DataError(f"{items}: the column {name!r} that the model was trained on is missing among the items.")
    return table[[table.columns[0], *features]]


def asked(model, data, *, items=None, votes=None, row=None, qid=None, needs_target=False):
    """Return the pipeline, what was noted when it was made, and the table that it is asked about."""
    fitted, about = load(model)
    if about["kind"] == Kind.pairs:
        names = tuple(votes or about["votes"])
        pairs, y, known = read_votes(data, items, names, features=about["features"], needs_winner=needs_target)
        pairs = Pairs(_as_fitted(fitted, pairs.items, known), pairs.index)
        return fitted, about, Table(X=pairs, names=None, target=y, qid=None, row=np.arange(1, len(pairs) + 1))
    if items is not None or votes is not None:
        raise DataError(f"{model} is a model of kind {about['kind']}; --items and --votes are for models of pairs.")
    return fitted, about, _rows(fitted, about, data, row, qid, needs_target=needs_target)


def candidates(model, data, *, row=None, qid=None):
    """Return the pipeline, its metadata, and single items to rank, also where it learned from pairs of items."""
    fitted, about = load(model)
    try:
        return fitted, about, _rows(fitted, about, data, row, qid, needs_target=False)
    except DataError as error:
        if about["kind"] == Kind.pairs:
            raise DataError(f"{error} A model of pairs ranks items: give the file of items, not of votes.") from error
        raise


def _rows(fitted, about, data, row, qid, *, needs_target):
    """Return the rows of a file with the model's features, by name where they have names."""
    names = about["features"]
    columns = Columns(
        about.get("target"),
        qid or about.get("qid"),
        row or about.get("id"),
        features=None if names is None else tuple(names),
        is_known=qid is None,
        row_is_known=row is None,
        names_first=about["kind"] == Kind.pairs,
    )
    n_features = fitted.n_features_in_
    table = read_table(data, columns, n_features=n_features, needs_target=needs_target)
    if table.X.shape[1] != n_features:
        raise DataError(f"{data}: {table.X.shape[1]} features; the model was trained on {n_features}.")
    return replace(table, X=_as_fitted(fitted, table.X, table.names))


def _as_fitted(fitted, X, names):
    """Return features as a frame for a model that was fitted on one."""
    return as_frame(X, names) if names is not None and hasattr(fitted, "feature_names_in_") else X


def load(path):
    """Return a model as a pipeline, and its metadata."""
    if not Path(path).is_file():
        raise DataError(f"{path}: no such model file; `widemargin fit` writes one.")
    fitted, about = io.load_model(path), io.model_info(path)["metadata"]
    kinds = {recipe.estimator.__name__: kind.value for kind, recipe in RECIPES.items()} | {
        "RankingVectorMachine": "ranking"
    }
    fitted = fitted if hasattr(fitted, "steps") else learn.make_pipeline(fitted)
    name = type(fitted[-1]).__name__.removesuffix("CV")
    if name not in kinds:
        raise DataError(f"{path} holds a {name}, which the command line does not use; load it with widemargin.io.")
    own = getattr(fitted, "feature_names_in_", None)  # of a model that was fitted on a frame
    return fitted, {"kind": kinds[name], "votes": VOTES, "features": None if own is None else own.tolist()} | about
