"""XGBoost's ranker, rank:pairwise, 100 trees: what users pick instead.

T. Chen and C. Guestrin, "XGBoost: a scalable tree boosting system", 2016. Another model: time and concordance.
"""

from ..problem import Answer
from . import absent

EFFORTS = ({},)


def skip():
    """Return why it cannot run here, or None."""
    return absent("xgboost")


def fit(problem, _effort):
    """Fit with default settings; X is not sorted again, queries are contiguous in all workloads."""
    from xgboost import XGBRanker  # noqa: PLC0415 (optional)

    model = XGBRanker(objective="rank:pairwise", n_estimators=100, n_jobs=1)
    model.fit(problem.X, problem.y, qid=problem.qid)
    return Answer(predict=model.predict)
