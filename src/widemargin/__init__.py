"""Large-margin preference learning: one utility from grades, ordered labels, pairs with ties, or choices."""

from .choice import TopRankSVM
from .classification import MarginClassifier
from .comparison import ComparisonSVM
from .exceptions import CollapseWarning, ConeWarning, DisconnectedWarning, NoComparisonsError
from .items import OnItems
from .ordinal import OrdinalSVM
from .pairs import Pairs
from .ranking import RankingSVM
from .regression import MarginRegressor
from .vector_machine import RankingVectorMachine

__version__ = "0.1.0"

__all__ = [
    "CollapseWarning",
    "ComparisonSVM",
    "ConeWarning",
    "DisconnectedWarning",
    "MarginClassifier",
    "MarginRegressor",
    "NoComparisonsError",
    "OnItems",
    "OrdinalSVM",
    "Pairs",
    "RankingSVM",
    "RankingVectorMachine",
    "TopRankSVM",
]
