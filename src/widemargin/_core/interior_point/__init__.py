"""Exact solutions of explicit rows: a scaled problem, interior-point iterations, true bounds, a last polish."""

from .certificate import loss_value
from .implicit_pairs import BYTES_MATRIX, BYTES_PAIR, MOST_ITEMS, ImplicitPairs, Start
from .iterations import interior_point
from .near import from_nearby
from .problem import ITEM_LIMIT
from .spaces import ColumnSpace, ItemSpace

__all__ = [
    "BYTES_MATRIX",
    "BYTES_PAIR",
    "ITEM_LIMIT",
    "MOST_ITEMS",
    "ColumnSpace",
    "ImplicitPairs",
    "ItemSpace",
    "Start",
    "from_nearby",
    "interior_point",
    "loss_value",
]
