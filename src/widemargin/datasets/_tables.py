"""Small tables: CSV with a header, as columns of text."""

import csv
import io

from ._files import read_file


def read_columns(path, *, data_home=None, download_if_missing=False):
    """Return the columns of a CSV file by name, each a list of strings."""
    text = read_file(path, data_home=data_home, download_if_missing=download_if_missing).decode("utf-8")
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))
