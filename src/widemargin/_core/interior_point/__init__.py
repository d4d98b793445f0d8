"""Exact solutions of explicit rows: a scaled problem, interior-point iterations, true bounds, a last polish."""

from .iterations import interior_point
from .near import from_nearby

__all__ = ["from_nearby", "interior_point"]
