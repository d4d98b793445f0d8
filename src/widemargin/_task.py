"""What the data alone determine, apart from C: made once, and shared by all fits along a path."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


@dataclass
class Task:
    """Items, their map and their comparisons; and, for the next C, where the last solve ended."""

    X: Any  # the items that count
    kept: Any  # their positions in the user's data
    map_: Any  # from weights to utilities; the kernel matrix of a 1-norm machine
    comparisons: Any  # levels, rows, or one set of rows per pair of classes
    rest: dict = field(default_factory=dict)  # what else the estimator's rules need
    plan: Any = None  # Newton's layout of the data
    start: Any = None  # the last weights, as Newton sees them

    @cached_property
    def rows(self):
        """All pairs of the levels, written out."""
        return self.comparisons.rows()
