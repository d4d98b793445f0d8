"""Pictures of preferences, as scikit-learn's Display objects: `from_estimator(..., ax=None)`, data as attributes.

They need matplotlib: `pip install 'widemargin[plot]'`. Colours come from cividis and from greys, and no picture
tells things apart by colour alone.
"""

from ._boundaries import RankBoundaryDisplay
from ._curves import CPathDisplay, LearningCurveDisplay
from ._leaderboard import LeaderboardDisplay
from ._roc import ComparisonRocDisplay
from ._utility import UtilityDisplay
from ._vectors import RankingVectorsDisplay

__all__ = [
    "CPathDisplay",
    "ComparisonRocDisplay",
    "LeaderboardDisplay",
    "LearningCurveDisplay",
    "RankBoundaryDisplay",
    "RankingVectorsDisplay",
    "UtilityDisplay",
]
