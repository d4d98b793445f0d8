"""Learning-to-rank sets in SVMlight form: OHSUMED of LETOR 2.0 and 3.0, and a sample of MSLR-WEB."""

import io
import re

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.utils import Bunch

from ._files import read_file

PARTS = 5
OHSUMED = {
    ("2.0", "raw"): ("ohsumed_letor2", 25),
    ("3.0", "query"): ("ohsumed_letor3/QueryLevelNorm", 45),
    ("3.0", "min"): ("ohsumed_letor3/Feature-min", 45),
    ("3.0", "null"): ("ohsumed_letor3/Feature-null", 45),
}


def fetch_ohsumed(version="2.0", *, features=None, data_home=None):
    """Load OHSUMED for learning to rank: 16,140 documents of 106 queries, graded 0, 1, 2.

    Parameters
    ----------
    version : {"2.0", "3.0"}, default="2.0"
        Of LETOR: 25 or 45 features.
    features : {"raw", "query", "min", "null"} or None, default=None
        "2.0" has "raw" alone. "3.0": "query" (each scaled to [0, 1] within its query), "min" (missing values
        replaced by the smallest), "null" (missing values are nan). None: the first of these.
    data_home : str, path-like or None, default=None
        Folder that holds `ohsumed_letor2/` or `ohsumed_letor3/`; see :func:`get_data_home`.

    Returns
    -------
    data : :class:`sklearn.utils.Bunch`
        `X`, `y`, `qid`, `docid` in the order of the files; `part` (n,) 1, ..., 5; and `folds`, the five folds of
        LETOR, each a tuple (train, validation, test) of row positions: three parts, one, one.
    """
    choices = [f for v, f in OHSUMED if v == version]
    if not choices:
        raise ValueError(f"version={version!r} is unknown; expected '2.0' or '3.0'.")
    features = choices[0] if features is None else features
    if features not in choices:
        raise ValueError(f"features={features!r} is not in LETOR {version}; expected one of {choices}.")
    folder, n_features = OHSUMED[version, features]
    parts = [_read(f"{folder}/S{k}.txt", n_features, data_home) for k in range(1, PARTS + 1)]
    whole = {key: np.concatenate([p[key] for p in parts]) for key in ("X", "y", "qid", "docid")}
    part = np.repeat(np.arange(1, PARTS + 1), [p.y.size for p in parts])
    return Bunch(**whole, part=part, folds=[_fold(part, k) for k in range(PARTS)])


def fetch_mslr_sample(subset="train", *, data_home=None):
    """Load a sample of MSLR-WEB: 5,000 rows of 43 queries, 136 unscaled features, grades 0 to 4.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        Which file. Its last query may be cut.
    data_home : str, path-like or None, default=None
        Folder that holds `mslr_sample5k/`; see :func:`get_data_home`.

    Returns
    -------
    data : :class:`sklearn.utils.Bunch`
        `X` (5000, 136), `y` (5000,), `qid` (5000,).
    """
    if subset not in {"train", "test"}:
        raise ValueError(f"subset={subset!r} is unknown; expected 'train' or 'test'.")
    data = _read(f"mslr_sample5k/msn1.fold1.{subset}.5k.txt", 136, data_home)
    return Bunch(X=data.X, y=data.y, qid=data.qid)


def _read(path, n_features, data_home):
    """Return X, y, qid and docid (empty where the file has none) of one file."""
    content = read_file(path, data_home=data_home)
    X, y, qid = load_svmlight_file(
        io.BytesIO(content.replace(b"NULL", b"nan")), n_features=n_features, query_id=True, zero_based=False
    )
    docid = np.array([int(d) for d in re.findall(rb"#docid = (\d+)", content)], dtype=np.int64)
    return Bunch(X=X.toarray(), y=y.astype(np.int64), qid=qid, docid=docid)


def _fold(part, k):
    """Return the rows of fold k: parts k, k+1, k+2 train, k+3 validate, k+4 test, counted round."""
    place = (part - 1 - k) % PARTS
    return np.flatnonzero(place < 3), np.flatnonzero(place == 3), np.flatnonzero(place == 4)
