"""How badly utilities violate explicit rows: own slacks, or one slack for the rows of a task.

The slopes of the smooth loss are a feasible dual point of the exact one at every u, however smooth it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from . import _rows
from .comparisons import IntArray, Rows
from .losses import Loss
from .risks import Hessp, Terms
from .solution import Array


class RowLook(NamedTuple):
    """What the shortfalls of all rows tell."""

    smooth: float  # the loss that Newton minimises
    loss: float  # the loss of the problem
    excess: float  # what the slopes miss of it: C * excess is the part of the duality gap that smoothing makes
    slope: Array  # (m,) d smooth / d shortfall
    curvature: Array  # (m,)
    tie: Array | None  # (n_tasks,): the Hessian is D'diag(curvature) D less tie * s s', s a task's sum of curved rows


@dataclass(frozen=True)
class RowsRisk:
    """Explicit rows D u + E b >= margin - slack[task]; u holds the items, then b."""

    rows: Rows
    loss: Loss
    h: float = 0.5  # smoothing of the hinge, and of the maximum over a task
    start: IntArray | None = field(init=False, repr=False)  # where each task begins

    def __post_init__(self) -> None:
        task = self.rows.task
        start = None
        if task is not None:
            start = np.flatnonzero(np.concatenate([[True], task[1:] != task[:-1], [True]])).astype(np.int64)
        object.__setattr__(self, "start", start)

    @property
    def is_exact(self) -> bool:
        """Return whether the smooth loss is the loss of the problem."""
        return self.loss.squared and self.start is None

    def smoothed(self, h: float) -> RowsRisk:
        """Return the same risk with another smoothing."""
        return replace(self, h=h)

    def look(self, t: Array) -> RowLook:
        """Return the sums, slopes and curvatures at shortfalls t."""
        slope, curvature = np.empty_like(t), np.empty_like(t)
        weight, squared = self.rows.weight, self.loss.squared
        if self.start is None:
            return RowLook(*_rows.own(t, weight, self.h, squared, slope, curvature), slope, curvature, None)
        tie = np.empty_like(weight)
        sums = _rows.shared(t, weight, self.start, self.h, squared, slope, curvature, tie)
        return RowLook(*sums, slope, curvature, tie)

    def exact_loss(self, t: Array) -> float:
        """Return the loss of the problem at shortfalls t."""
        if self.start is None:
            return float(self.rows.weight @ self.loss.value(t))
        worst = np.maximum(np.maximum.reduceat(t, self.start[:-1]), 0.0)
        return float(self.rows.weight @ self.loss.value(worst))

    def along(self, t: Array, dz: Array, step: float) -> tuple[float, float]:
        """Return the first two derivatives in `step` of the smooth loss at t - step * dz."""
        weight, squared = self.rows.weight, self.loss.squared
        if self.start is None:
            return _rows.own_along(t, dz, weight, self.h, squared, step)
        return _rows.shared_along(t, dz, weight, self.start, self.h, squared, step, np.empty_like(t))

    def conjugate(self, slope: Array) -> float:
        """Return sum of slope * margin, less the slopes' cost where slacks are squared; the constant included."""
        gain = float(slope @ self.rows.margin) + self.rows.constant
        return gain - self.slope_cost(slope) if self.loss.squared else gain

    def slope_cost(self, slope: Array) -> float:
        """Return what slopes cost where slacks are squared: their totals' squares / (4 weight)."""
        total = self.totals(slope)
        return float(total @ (total * self._price))

    @cached_property
    def _price(self) -> Array:
        """Return 1 / (4 weight); slacks without weight have no slopes."""
        weight = self.rows.weight
        return np.divide(0.25, weight, out=np.zeros_like(weight), where=weight > 0.0)

    def totals(self, slope: Array) -> Array:
        """Return the sum over the rows of each slack."""
        return slope if self.start is None else np.add.reduceat(slope, self.start[:-1])

    def curved_sums(self, curved: IntArray) -> sparse.csr_array:
        """Return the matrix that adds up the curved rows of each task."""
        assert self.rows.task is not None
        shape = self.rows.weight.size, curved.size
        return sparse.csr_array((np.ones(curved.size), (self.rows.task[curved], np.arange(curved.size))), shape=shape)

    def value_gradient_hessp(self, u: Array) -> tuple[float, Array, Hessp]:
        """Return the smooth loss at u, its gradient, and the product with its Hessian."""
        terms, g, hessp = self.evaluate(u)
        return terms.value, g, hessp

    def evaluate(self, u: Array) -> tuple[Terms, Array, Hessp]:
        """Return all sums at u, the gradient, and the product with the Hessian."""
        rows, n = self.rows, self.rows.shape[1]
        look = self.look(rows.margin - (rows.D @ u[:n] + rows.E @ u[n:]))
        curve = self.hessian_in_rows(look)

        def hessp(v: Array) -> Array:
            z = curve(rows.D @ v[:n] + rows.E @ v[n:])
            return np.concatenate([rows.D.T @ z, rows.E.T @ z])

        g = -np.concatenate([rows.D.T @ look.slope, rows.E.T @ look.slope])
        return Terms(look.smooth + rows.constant, look.loss + rows.constant, self.conjugate(look.slope)), g, hessp

    def hessian_in_rows(self, look: RowLook) -> Hessp:
        """Return the product with the Hessian in the space of the rows' differences."""
        if look.tie is None:
            return lambda z: look.curvature * z
        is_curved = (look.curvature > 0.0).astype(float)
        tie, task = look.tie, self.rows.task
        return lambda z: look.curvature * z - is_curved * (tie * self.totals(is_curved * z))[task]
