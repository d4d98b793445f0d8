"""Losses of one margin shortfall: t = margin - achieved, zero when t <= 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .solution import Array


@dataclass(frozen=True)
class Hinge:
    """xi = max(0, t)."""

    squared: bool = False

    def value(self, t: Array) -> Array:
        """Return the loss of each shortfall."""
        return np.maximum(t, 0.0)

    def slope(self, t: Array) -> Array:
        """Return d loss / d t; at the kink 0."""
        return (t > 0.0).astype(float)  # strict: a margin of exactly 1 is not a violation


@dataclass(frozen=True)
class SquaredHinge:
    """xi^2 = max(0, t)^2."""

    squared: bool = True

    def value(self, t: Array) -> Array:
        """Return the loss of each shortfall."""
        return np.square(np.maximum(t, 0.0))

    def slope(self, t: Array) -> Array:
        """Return d loss / d t."""
        return 2.0 * np.maximum(t, 0.0)


HINGE = Hinge()
SQUARED_HINGE = SquaredHinge()
