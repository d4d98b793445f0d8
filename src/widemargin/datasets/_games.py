"""Chess games of the Kaggle competition of 2010."""

import numpy as np
from sklearn.utils import Bunch

from ._tables import read_columns

CHESS = {"train": "training_data", "cross_validation": "cross_validation_dataset", "test": "test_data"}


def fetch_chess(subset="train", *, data_home=None):
    """Load chess games of 7,301 players over 100 months.

    Parameters
    ----------
    subset : {"train", "cross_validation", "test"}, default="train"
        65,053 games of the months 1 to 100; those of the last months that the competition proposed for
        validation (they are in "train", too); 7,809 games of the months 101 to 105, whose scores are unknown.
    data_home : str, path-like or None, default=None
        Folder that holds `chess_kaggle2010/`; see :func:`get_data_home`.

    Returns
    -------
    data : :class:`sklearn.utils.Bunch`
        In the order of the file: `month`, `white`, `black` (numbers of players), `score` of White (1, 0.5, 0 or
        nan) and `y`: +1 White won, 0 a draw, -1 Black won; None for "test".
    """
    if subset not in CHESS:
        raise ValueError(f"subset={subset!r} is unknown; expected one of {list(CHESS)}.")
    table = read_columns(f"chess_kaggle2010/{CHESS[subset]}.csv", data_home=data_home)
    month, white, black = (np.array(table[k], dtype=np.int64) for k in ("Month #", "White Player #", "Black Player #"))
    score = np.array([float(s or "nan") for s in table["Score"]])
    y = None if subset == "test" else np.sign(score - 0.5).astype(np.int64)
    return Bunch(month=month, white=white, black=black, score=score, y=y)
