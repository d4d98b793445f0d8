"""Exact solutions of explicit rows: a scaled problem, interior-point iterations, true bounds, a last polish."""

from .certificate import loss_value
from .copies import kernel_space
from .implicit_pairs import BYTES_MATRIX, BYTES_PAIR, MOST_ITEMS, ImplicitPairs, Start
from .iterations import interior_point
from .near import from_nearby
from .problem import ITEM_LIMIT
from .spaces import ColumnSpace

__all__ = [
    "BYTES_MATRIX",
    "BYTES_PAIR",
    "ITEM_LIMIT",
    "MOST_ITEMS",
    "ColumnSpace",
    "ImplicitPairs",
    "Start",
    "from_nearby",
    "interior_point",
    "kernel_space",
    "loss_value",
]
