"""Synthetic preference data with a known utility, and loaders of real data from a folder."""

from ._choices import fetch_heating, fetch_swissmetro
from ._files import get_data_home
from ._games import fetch_chess
from ._letor import fetch_mslr_sample, fetch_ohsumed
from ._ohsumed import fetch_ohsumed_terms, fetch_ohsumed_topics
from ._ordinal import ORDINAL_NAMES, fetch_ordinal
from ._sushi import fetch_sushi
from ._synthetic import (
    make_choices,
    make_comparisons,
    make_graded_queries,
    make_ordinal,
    make_ranking,
    make_xor,
)
from ._votes import fetch_llm_votes

__all__ = [
    "ORDINAL_NAMES",
    "fetch_chess",
    "fetch_heating",
    "fetch_llm_votes",
    "fetch_mslr_sample",
    "fetch_ohsumed",
    "fetch_ohsumed_terms",
    "fetch_ohsumed_topics",
    "fetch_ordinal",
    "fetch_sushi",
    "fetch_swissmetro",
    "get_data_home",
    "make_choices",
    "make_comparisons",
    "make_graded_queries",
    "make_ordinal",
    "make_ranking",
    "make_xor",
]
