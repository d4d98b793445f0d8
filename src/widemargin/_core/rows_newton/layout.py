"""Which coordinates Newton works in, and in which precision."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..comparisons import IntArray, Rows
from ..losses import Loss
from ..lower_half import LowerHalf
from ..row_risk import RowsRisk
from ..solution import Array
from .differences import distinct_differences, shuffled_items
from .directions import MANY_CURVED
from .plan import Plan, Setting
from .problem import Problem
from .spaces import Columns, Gram, Space

FINE = 1e-5  # a smaller tol wants kernel values in float64
STEEP = 600.0  # and so does a larger C, times their size and the root of the number of rows
WIDE = 4000  # items up to which a kernel is written as features, which cost their cube
MANY_MORE = 6  # times as many differences as items, from which that pays
WHOLE = 8000  # items up to which their Gram matrix is whole


class Map(Protocol):
    """What Newton asks of a map."""

    @property
    def n_items(self) -> int:
        """Return the number of items."""

    def columns(self) -> Any | None:
        """Return X with u = X w, dense or CSR; None where weights belong to items."""

    def against(self, right: IntArray, dtype: np.dtype) -> Callable[[IntArray, NDArray], NDArray]:
        """Return (left, memory at hand) -> kernel values between two lists of items."""

    def diag(self) -> Array:
        """Return the squared norm of each item."""

    def features(self) -> Array:
        """Return F with F F' the Gram matrix of the items."""

    def from_features(self, w: Array) -> Array:
        """Return the map's weights for w in the coordinates of F."""

    def adjoint_exact(self, g: Array) -> Array:
        """Return the map's weights of the function sum_i g_i k(x_i, .)."""


class Way(Enum):
    """How a kernel is used."""

    DIFFERENCES = auto()  # the Gram matrix of the distinct differences
    PAIRED = auto()  # the same by way of the items', which are fewer
    ITEMS = auto()  # the Gram matrix of the items, half of it, by conjugate gradients
    FEATURES = auto()  # columns with the items' Gram matrix, which are much fewer than the rows

    @classmethod
    def of(cls, rows: Rows, n_differences: int, n_items: int) -> Way:
        """Choose: few differences are solved for directly, many over few items by columns."""
        if n_differences <= n_items:
            return cls.DIFFERENCES
        if n_items <= WIDE and (n_differences > MANY_MORE * n_items or rows.task is not None):
            return cls.FEATURES
        return cls.PAIRED if n_items <= WHOLE and rows.task is None else cls.ITEMS


def precision(rows: Rows, map_: Map, plan: Plan, tol: float, C: float) -> np.dtype:
    """Return the precision of kernel values that leads to a gap."""
    is_fine = plan.is_fine or tol < FINE
    if not is_fine and map_.columns() is None:
        is_fine = C * float(np.mean(map_.diag())) * np.sqrt(rows.shape[0]) > STEEP
    return np.dtype(np.float64 if is_fine else np.float32)


def gram_bytes(rows: Rows, map_: Map, plan: Plan, tol: float, C: float) -> int:
    """Return what kernel values will take that Newton will work on and the plan does not have yet."""
    dtype = precision(rows, map_, plan, tol, C)
    if map_.columns() is not None or (plan.setting is not None and not plan.setting.is_rougher(dtype)):
        return 0
    n, items = distinct_differences(rows).size, map_.n_items
    way = Way.of(rows, n, items)
    if way is Way.FEATURES:
        return 3 * 8 * items**2
    if way is Way.PAIRED:
        return dtype.itemsize * items**2
    n = min(n, items)
    return max(6, dtype.itemsize) * n**2 // 2 + 4 * min(n, MANY_CURVED) ** 2  # and a factor of many of them


def lay_out(rows: Rows, map_: Map, loss: Loss, dtype: np.dtype, plan: Plan) -> Setting:
    """Return the problem in the coordinates that suit it, and the way back."""
    keep = plan.most_kept if plan.is_shared else 0
    X = map_.columns()
    if X is not None:
        return Setting(Problem(RowsRisk(rows, loss), Columns(X), np.nan), lambda w: w, rows.pulled)
    found = distinct_differences(rows)
    way = Way.of(rows, found.size, map_.n_items)
    if way is Way.FEATURES:
        problem = Problem(RowsRisk(rows, loss), Columns(map_.features()), np.nan)
        return Setting(problem, map_.from_features, rows.pulled)
    if way is Way.PAIRED:
        space: Space = found.paired(map_.against, dtype, keep=keep)
    else:
        found = shuffled_items(rows) if way is Way.ITEMS else found
        space = found.gram(map_.against, dtype, keep=keep, known=_known(plan))
    problem = Problem(RowsRisk(found.rows, loss), space, np.nan)
    return Setting(problem, found.on_items, lambda a: found.on_items(found.rows.pulled(a)))


def _known(plan: Plan) -> LowerHalf | None:
    """Return the float64 values that the last setting has kept."""
    space = None if plan.setting is None else plan.setting.problem.space
    return space.exact_half if isinstance(space, Gram) else None
