"""Large-margin preference learning: one utility from grades, ordered labels, pairs with ties, or choices."""

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from ._lazy import lazy_attributes

if TYPE_CHECKING:
    from .choice import TopRankSVM
    from .classification import MarginClassifier
    from .comparison import ComparisonSVM
    from .cross_validation import ComparisonSVMCV, OrdinalSVMCV, RankingSVMCV
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
    "ComparisonSVMCV",
    "ConeWarning",
    "DisconnectedWarning",
    "MarginClassifier",
    "MarginRegressor",
    "NoComparisonsError",
    "OnItems",
    "OrdinalSVM",
    "OrdinalSVMCV",
    "Pairs",
    "RankingSVM",
    "RankingSVMCV",
    "RankingVectorMachine",
    "TopRankSVM",
]

_HOME = {
    "choice": ("TopRankSVM",),
    "classification": ("MarginClassifier",),
    "comparison": ("ComparisonSVM",),
    "cross_validation": ("ComparisonSVMCV", "OrdinalSVMCV", "RankingSVMCV"),
    "exceptions": ("CollapseWarning", "ConeWarning", "DisconnectedWarning", "NoComparisonsError"),
    "items": ("OnItems",),
    "ordinal": ("OrdinalSVM",),
    "pairs": ("Pairs",),
    "ranking": ("RankingSVM",),
    "regression": ("MarginRegressor",),
    "vector_machine": ("RankingVectorMachine",),
}


_MODULES = (
    *_HOME,
    "active",
    "calibration",
    "datasets",
    "io",
    "kernels",
    "metrics",
    "model_selection",
    "onnx",
    "plotting",
    "theory",
    "uncertainty",
)


def _load(module, name=None):
    loaded = import_module(f"{__name__}.{module}")
    return loaded if name is None else getattr(loaded, name)


__getattr__, __dir__ = lazy_attributes(
    globals(),
    {name: partial(_load, module, name) for module, names in _HOME.items() for name in names}
    | {module: partial(_load, module) for module in _MODULES},
)
