"""What a command prints: aligned text for people, JSON for machines, CSV for other programs."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import numpy as np


def note(text):
    """Tell the user something, away from the results."""
    sys.stderr.write(f"{text}\n")


def as_json(value):
    """Return a value with NumPy's numbers, arrays and nan as JSON has them."""
    if isinstance(value, dict):
        return {str(key): as_json(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [as_json(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value


def check_place(*paths):
    """Refuse, before any work, to write into a folder that does not exist."""
    for path in paths:
        if path is not None and not Path(path).absolute().parent.is_dir():
            raise FileNotFoundError(
                f"{path}: there is no folder {Path(path).parent}; make it first, or write elsewhere."
            )


def write(text, path="-"):
    """Write text to a file or to stdout."""
    if path == "-":
        sys.stdout.write(text)
    else:
        Path(path).write_text(text)
        note(f"wrote {path}")


def write_json(value, path="-"):
    """Write JSON to a file or to stdout."""
    write(json.dumps(as_json(value), indent=2) + "\n", path)


def write_rows(columns, path="-", *, header=True):
    """Write columns of equal length as CSV to a file or to stdout."""
    lines = _Lines()
    writer = csv.writer(lines, lineterminator="\n")
    if header:
        writer.writerow(columns)
    writer.writerows(zip(*(_plain(column) for column in columns.values()), strict=True))
    write("".join(lines), path)


def table(rows, *, right=()):
    """Return rows of words as aligned text; the columns in `right` are numbers."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = [
        "  ".join(
            word.rjust(w) if k in right else word.ljust(w) for k, (word, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def write_columns(columns, path="-", *, machine=False):
    """Write columns as JSON or CSV in full precision; to a terminal as an aligned table with six digits."""
    if machine:
        write_json({name: list(column) for name, column in columns.items()}, path)
    elif path == "-" and sys.stdout.isatty():
        rows = [_words(np.asarray(column)) for column in columns.values()]
        right = [k for k, column in enumerate(columns.values()) if np.asarray(column).dtype.kind in "biuf"]
        sys.stdout.write(table([tuple(columns), *zip(*rows, strict=True)], right=right))
    else:
        write_rows(columns, path)


def _words(column):
    """Return a column as people read it: numbers with as many decimals as give the largest six digits."""
    if column.dtype.kind != "f":
        return [str(value) for value in column.tolist()]
    largest = float(np.max(np.abs(column), initial=0.0, where=np.isfinite(column)))
    digits = int(np.clip(5 - np.floor(np.log10(largest)), 0, 12)) if largest > 0 else 1
    return [f"{value:.{digits}f}" for value in column.tolist()]


def short(value):
    """Return a value as people read it: numbers with six digits."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


class _Lines(list):
    """A list that a CSV writer can write to."""

    write = list.append


def _plain(column):
    return [repr(v) if isinstance(v, float) else v for v in np.asarray(column).tolist()]
