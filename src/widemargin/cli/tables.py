"""Files of examples: SVMlight / LETOR with qid, CSV, TSV and Parquet, gzipped or not, from a path or from stdin."""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from .show import note

TARGETS = ("y", "label", "target", "grade", "relevance", "rating", "chosen", "choice")
QUERIES = ("qid", "query", "query_id", "group")
ROWS = ("id", "row", "doc", "docid")
DOCID = re.compile(rb"#\s*docid\s*=\s*(\S+)")  # how LETOR names a row
GZIP = b"\x1f\x8b"  # how a gzipped file begins
DENSE_FROM = 0.1  # a matrix with a larger share of entries is quicker, and can be centred, as a dense one


class DataError(ValueError):
    """Data that cannot be used; its text is the one line that the user sees."""


@dataclass(frozen=True)
class Table:
    """Rows of a file: features, and what else the file says of each row."""

    X: Any
    names: list[str] | None
    target: np.ndarray | None
    qid: np.ndarray | None
    row: np.ndarray
    target_name: str | None = None
    qid_name: str | None = None
    row_name: str | None = None

    def __len__(self):
        return self.X.shape[0]


@dataclass(frozen=True)
class Columns:
    """Which columns of a CSV or Parquet file mean what; None: guessed from the usual names."""

    target: str | None = None
    qid: str | None = None
    row: str | None = None
    drop: tuple[str, ...] = ()
    features: tuple[str, ...] | None = None
    is_known: bool = False  # from a model: the target may be absent, and then the queries, with a note
    row_is_known: bool = False  # from a model: it may be absent
    names_first: bool = False  # the first column that is no known feature names the rows


def read_table(path, columns, *, n_features=None, needs_target=True):
    """Return the rows of a file.

    SVMlight files have their own target and qid; of a frame, `columns` says which column is which. With `n_features`
    or `columns.features` (of a model) the features are exactly those, in that order.
    """
    content = _some_bytes(path)
    if kind_of_file(path, content) == "svmlight":
        return _from_svmlight(path, content, n_features)
    return _from_frame(path, read_frame(path, content), columns, needs_target=needs_target)


def open_bytes(path):
    """Return a file's bytes, or those of stdin for "-"; what is gzipped, unpacked."""
    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return io.BytesIO(gzip.decompress(content) if content.startswith(GZIP) else content)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: gzipped, but damaged or cut short; take another copy.") from error
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}.") from error


def _some_bytes(path):
    content = open_bytes(path)
    if not content.getvalue().strip():
        raise DataError(f"{path}: the file is empty.")
    return content


def kind_of_file(path, content):
    """Return "svmlight", "csv", "tsv" or "parquet", from the suffix or else from the first line."""
    suffix = Path(str(path).lower().removesuffix(".gz")).suffix.lstrip(".")
    if suffix in {"csv", "tsv", "parquet"}:
        return suffix
    head = content.getvalue()[:4096]
    if head.startswith(b"PAR1"):
        return "parquet"
    lines = [line for line in head.decode(errors="replace").splitlines() if line and not line.startswith("#")]
    if lines and any(part.split(":", 1)[0] == "qid" or (part.split(":", 1)[0].isdigit() and ":" in part)
                     for part in lines[0].split()[1:]):  # fmt: skip
        return "svmlight"
    return "tsv" if lines and "\t" in lines[0] else "csv"


def read_frame(path, content=None):
    """Return a CSV, TSV or Parquet file as a pandas frame."""
    content = _some_bytes(path) if content is None else content
    kind = kind_of_file(path, content)
    pandas = _pandas()
    try:
        if kind == "parquet":
            return pandas.read_parquet(content)
        return pandas.read_csv(content, **_dialect(path, kind, content.getvalue()))
    except DataError:
        raise
    except ImportError as error:
        raise DataError(f"{path}: reading Parquet needs pyarrow; pip install 'widemargin[cli]' brings it.") from error
    except Exception as error:
        raise DataError(f"{path}: not a readable {kind} file: {str(error).splitlines()[0]}") from error


def _dialect(path, kind, content):
    """Return how a CSV or TSV file is written: what separates its cells, and where it is ";", its decimal sign."""
    head, _, body = content.partition(b"\n")
    sep = "\t" if kind == "tsv" else ";" if b";" in head and b"," not in head else ","
    names = next(csv.reader([head.decode("utf-8-sig")], delimiter=sep), [])
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise DataError(f"{path}: two columns are called {twice[0]!r}; rename one.")
    has_comma = sep == ";" and b"," in body and b"." not in body
    return {"sep": sep, "decimal": "," if has_comma else "."}


def _pandas():
    try:
        import pandas as pd  # noqa: PLC0415 (an extra)
    except ImportError as error:
        raise DataError("CSV and Parquet files need pandas; pip install 'widemargin[cli]' brings it.") from error
    return pd


def _from_svmlight(path, content, n_features):
    try:
        X, y, qid = load_svmlight_file(content, n_features=n_features, query_id=True)
    except ValueError as error:
        if "n_features was set to" in str(error):
            found = str(error).split()[-2]
            raise DataError(f"{path}: {found} features; the model was trained on {n_features}.") from error
        raise DataError(f"{path}: not an SVMlight file: {error}") from error
    if X.shape[0] == 0:
        raise DataError(f"{path}: the file has no rows.")
    has_qid = b"qid:" in content.getvalue()[:65536]
    if X.nnz > DENSE_FROM * X.shape[0] * X.shape[1]:
        X = X.toarray()
    named = [name.decode(errors="replace") for name in DOCID.findall(content.getvalue())]
    row = np.array(named) if len(named) == y.size else np.arange(1, y.size + 1)
    return Table(X=X, names=None, target=y, qid=qid if has_qid else None, row=row)


def _from_frame(path, frame, columns, *, needs_target):
    if not len(frame):
        raise DataError(f"{path}: the file has no rows.")
    free = frame if columns.features is None else frame.drop(columns=list(columns.features), errors="ignore")
    target = _find(path, frame, columns.target, TARGETS, is_needed=needs_target, may_lack=not needs_target)
    qid = _find(path, free, columns.qid, QUERIES, is_needed=False, may_lack=columns.is_known)
    row = _row_column(path, free, columns)
    if columns.is_known and columns.qid is not None and qid is None:
        note(f"{path}: no column {columns.qid!r}, so all rows are one list; --qid NAME names the queries.")
    if qid is not None and frame[qid].isna().any():
        raise DataError(f"{path}: the query {qid!r} is empty on line {int(np.flatnonzero(frame[qid].isna())[0]) + 2}.")
    known = {name for name in (target, qid, row) if name is not None}
    left = [name for name in without(path, frame, columns.drop).columns if name not in known]
    names = left if columns.features is None else list(columns.features)
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise DataError(f"{path}: the column {missing[0]!r} that the model was trained on is missing.")
    if not names:
        raise DataError(f"{path}: no feature columns are left; it has {list(frame.columns)}.")
    return Table(
        X=numbers(path, frame[names]),
        names=[str(name) for name in names],
        target=None if target is None else frame[target].to_numpy(),
        qid=None if qid is None else frame[qid].to_numpy(),
        row=np.arange(1, len(frame) + 1) if row is None else frame[row].to_numpy(),
        target_name=target,
        qid_name=qid,
        row_name=row,
    )


def _row_column(path, frame, columns):
    """Return the column that names the rows, or None, of a frame without the known features."""
    if columns.names_first and columns.row is None and len(frame.columns):
        return frame.columns[0]
    return _find(path, frame, columns.row, ROWS, is_needed=False, may_lack=columns.row_is_known)


def without(path, frame, drop):
    """Return a frame without some columns: each word is a column, or several with commas between them."""
    dropped = []
    for word in drop:
        dropped += [word] if word in frame.columns else [name.strip() for name in word.split(",")]
    unknown = [name for name in dropped if name not in frame.columns]
    if unknown:
        raise DataError(f"{path}: --drop {unknown[0]}: no such column; it has {', '.join(map(str, frame.columns))}.")
    return frame.drop(columns=dropped)


def _find(path, frame, wanted, usual, *, is_needed, may_lack):
    """Return the column that was asked for, or the first with a usual name."""
    has = f"it has {', '.join(map(str, frame.columns))}"
    if wanted is not None:
        if wanted in frame.columns:
            return wanted
        if not may_lack:
            raise DataError(f"{path}: no column {wanted!r}; {has}.")
    lower = {str(name).lower(): name for name in frame.columns}
    found = [lower[name] for name in usual if name in lower]
    if not found and is_needed:
        if {"left", "right"} <= set(lower):
            raise DataError(f"{path}: this looks like votes; pass --items FILE, or use `widemargin compare {path}`.")
        raise DataError(f"{path}: which column is the target? None is called {', '.join(usual)}; pass --target; {has}.")
    return found[0] if found else None


def numbers(path, features, *, others="--qid or --id say what it is"):
    """Return the features as an array of numbers; say which column, and which line, is not one, and what helps."""
    read = {name: _pandas().to_numeric(features[name], errors="coerce").to_numpy(dtype=float) for name in features}
    empty = {name: features[name].isna().to_numpy() for name in features}
    odd = {name: ~np.isfinite(column) & ~empty[name] for name, column in read.items()}
    words = [name for name in odd if odd[name].any()]
    holes = [name for name in empty if empty[name].any() and name not in words]
    if words:
        k = int(np.argmax(odd[words[0]]))
        many = f" ({len(words)} columns are not numbers)" if len(words) > 1 else ""
        what = f"holds {_plain(features[words[0]].iloc[k])!r}, not a number, on line {k + 2}{many}. Mend it"
        raise DataError(f"{path}: column {words[0]!r} {what}, or, when fitting, {_left_out(words, others)}.")
    if holes:
        k, more = int(np.argmax(empty[holes[0]])), int(sum(empty[name].sum() for name in holes)) - 1
        many = f", and {more} more empty cell{'s' * (more > 1)} in {', '.join(map(str, holes))}" if more else ""
        what = f"is empty on line {k + 2}{many}. Fill in a number, leave out the row"
        raise DataError(f"{path}: column {holes[0]!r} {what}, or, when fitting, {_left_out(holes)}.")
    return features.to_numpy(dtype=float)


def _left_out(names, others=None):
    out = f"--drop {','.join(map(str, names))} leaves {'it' if len(names) == 1 else 'them'} out"
    return f"{out}, and {others}" if others else out


def _plain(value):
    return value.item() if isinstance(value, np.generic) else value


def as_frame(X, names):
    """Return an array as a frame, for a model that knows its features by name."""
    return _pandas().DataFrame(X, columns=names)


def is_sparse(X):
    """Whether X is a sparse matrix."""
    return sparse.issparse(X)
