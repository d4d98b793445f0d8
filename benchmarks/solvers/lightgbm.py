"""LightGBM's ranker, lambdarank, 100 trees: what users pick instead.

G. Ke and others, "LightGBM: a highly efficient gradient boosting decision tree", 2017. Another model: time and
concordance.
"""

import numpy as np

from ..problem import Answer
from . import absent

EFFORTS = ({},)


def skip():
    """Return why it cannot run here, or None."""
    return absent("lightgbm")


def fit(problem, _effort):
    """Fit with default settings; queries are contiguous in all workloads."""
    from lightgbm import LGBMRanker  # noqa: PLC0415 (optional)

    model = LGBMRanker(n_estimators=100, n_jobs=1, verbose=-1)
    model.fit(problem.X, problem.y, group=np.unique(problem.qid, return_counts=True)[1])
    return Answer(predict=model.booster_.predict)
