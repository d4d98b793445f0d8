"""Synthetic preference data with a known utility, after the simulations of the papers."""

from ._synthetic import (
    make_choices,
    make_comparisons,
    make_graded_queries,
    make_ordinal,
    make_ranking,
    make_xor,
)

__all__ = [
    "make_choices",
    "make_comparisons",
    "make_graded_queries",
    "make_ordinal",
    "make_ranking",
    "make_xor",
]
