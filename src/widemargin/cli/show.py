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


def write_json(value, path="-"):
    """Write JSON to a file or to stdout."""
    _write(json.dumps(as_json(value), indent=2) + "\n", path)


def write_rows(columns, path="-", *, header=True):
    """Write columns of equal length as CSV to a file or to stdout."""
    lines = _Lines()
    writer = csv.writer(lines, lineterminator="\n")
    if header:
        writer.writerow(columns)
    writer.writerows(zip(*(_plain(column) for column in columns.values()), strict=True))
    _write("".join(lines), path)


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


class _Lines(list):
    """A list that a CSV writer can write to."""

    write = list.append


def _plain(column):
    return [repr(v) if isinstance(v, float) else v for v in np.asarray(column).tolist()]


def _write(text, path):
    if path == "-":
        sys.stdout.write(text)
    else:
        Path(path).write_text(text)
        note(f"wrote {path}")
