"""Exact solutions of explicit rows: a scaled problem, interior-point iterations, true bounds, a last polish."""

from .iterations import interior_point
from .near import from_nearby
from .problem import ITEM_LIMIT

__all__ = ["ITEM_LIMIT", "from_nearby", "interior_point"]
