"""Exact solutions of explicit rows: a scaled problem, interior-point iterations, true bounds, a last polish."""

from .iterations import interior_point
from .kernel_pairs import BYTES_MATRIX, BYTES_PAIR, KernelPairs, Start
from .near import from_nearby
from .problem import ITEM_LIMIT

__all__ = ["BYTES_MATRIX", "BYTES_PAIR", "ITEM_LIMIT", "KernelPairs", "Start", "from_nearby", "interior_point"]
