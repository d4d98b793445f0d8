"""The mathematics: comparisons, risks, maps, solvers, rules. Imports numpy and scipy only.

A solver asked for as `_core.newton` is loaded then: no fit needs all of them, and loading them takes longer than a
small fit does.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

_LATE = (
    "interior_point",
    "linear_program",
    "margin_walk",
    "newton",
    "one_norm",
    "pairs_machine",
    "prices",
    "repeated",
    "risks",
    "rows_newton",
)


def __getattr__(name: str) -> ModuleType:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
