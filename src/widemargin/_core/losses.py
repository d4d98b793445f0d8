"""Losses of one margin shortfall t = margin - achieved: zero when t <= 0.

A loss is three functions of t: its value, its slope, and its curvature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .solution import Array


class Loss(Protocol):
    """A convex loss of the shortfall."""

    @property
    def squared(self) -> bool:
        """Whether the loss grows with the square of the shortfall."""

    def value(self, t: Array) -> Array:
        """Return the loss."""

    def slope(self, t: Array) -> Array:
        """Return d loss / d t."""

    def curvature(self, t: Array) -> Array:
        """Return the second derivative."""


@dataclass(frozen=True)
class Hinge:
    """xi = max(0, t)."""

    squared: bool = False

    def value(self, t: Array) -> Array:
        """Return the loss."""
        return np.maximum(t, 0.0)

    def slope(self, t: Array) -> Array:
        """Return d loss / d t."""
        return (t > 0.0).astype(float)  # strict: a margin of exactly 1 is not a violation

    def curvature(self, t: Array) -> Array:
        """Return the second derivative."""
        return np.zeros_like(t)


@dataclass(frozen=True)
class SquaredHinge:
    """xi^2 = max(0, t)^2."""

    squared: bool = True

    def value(self, t: Array) -> Array:
        """Return the loss."""
        return np.square(np.maximum(t, 0.0))

    def slope(self, t: Array) -> Array:
        """Return d loss / d t."""
        return 2.0 * np.maximum(t, 0.0)

    def curvature(self, t: Array) -> Array:
        """Return the second derivative."""
        return np.where(t > 0.0, 2.0, 0.0)  # strict: a margin of exactly 1 is not a violation


HINGE = Hinge()
SQUARED_HINGE = SquaredHinge()

BY_NAME = {  # what estimators call them
    "hinge": HINGE,
    "squared_hinge": SQUARED_HINGE,
    "epsilon_insensitive": HINGE,
    "squared_epsilon_insensitive": SQUARED_HINGE,
}
