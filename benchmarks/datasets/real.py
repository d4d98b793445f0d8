"""Real queries: a sample of MSLR-WEB10K and OHSUMED of LETOR 3.0, from a folder that holds them.

The folder is WIDEMARGIN_DATA, or the data folder beside the project. Nothing is downloaded.
"""

import gzip
import os
from functools import partial
from pathlib import Path

import numpy as np

from ..problem import Problem, Workload

MSLR = ["mslr_sample5k/msn1.fold1.train.5k.txt.gz"]
OHSUMED = [f"ohsumed_letor3/QueryLevelNorm/S{k}.txt.gz" for k in range(1, 6)]


def folder():
    """Return where the data are looked for."""
    beside = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    return Path(os.environ.get("WIDEMARGIN_DATA", beside))


def missing(files):
    """Return why the data cannot be read, or None."""
    absent = [name for name in files if not (folder() / name).exists()]
    return f"{absent[0]} is not in WIDEMARGIN_DATA" if absent else None


def read(path):
    """Return features, labels and query ids of SVMlight lines `label qid:N 1:v 2:v ... #comment`."""
    with gzip.open(path, "rt") as file:
        lines = [line.split("#")[0].split() for line in file]
    y = np.array([float(line[0]) for line in lines])
    qid = np.array([int(line[1][4:]) for line in lines])
    X = np.array([[float(cell.partition(":")[2]) for cell in line[2:]] for line in lines])
    return X, y, qid


def problem(files, C, standardise, quick):
    """Return the rows of all files as one problem."""
    X, y, qid = (np.concatenate(part) for part in zip(*(read(folder() / name) for name in files), strict=True))
    if standardise:
        X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
    n = min(1_500, len(y)) if quick else len(y)
    return Problem("ranking", X[:n], y[:n], qid[:n], C=C)


WORKLOADS = [
    Workload("mslr-raw", partial(problem, MSLR, 1e-3, False), missing=partial(missing, MSLR)),
    Workload("mslr-standardised", partial(problem, MSLR, 1e-3, True), missing=partial(missing, MSLR)),
    Workload("ohsumed", partial(problem, OHSUMED, 1e-3, False), ("xgboost", "lightgbm"), partial(missing, OHSUMED)),
]
