"""Exact solutions of explicit rows: a scaled problem, interior-point iterations, true bounds, a last polish."""

from .iterations import interior_point

__all__ = ["interior_point"]
