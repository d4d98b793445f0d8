"""An interior point for all pairs of levels under a kernel, to a moderate gap; pairs are not written out.

    min  1/2 b'Kb + C sum_uv c_uv max(0, 1 - (s_u - s_v)),   s = K b

Everything is divided by C: z = b / C are coefficients, y the multipliers of the pairs, 0 < y < c, and s = C K z. A pair
keeps two numbers, its multiplier and its surplus (`_barrier`). Newton's equation for the utilities,

    ((C K)^-1 + B'WB) ds = B'(W rho) + (B'y - z),

has the Laplacian of the pairs' weights W beside a matrix that is inverted once for all iterations and all C: one factor
of n^3 / 3 operations is all that an iteration needs. The inverse is that of K + ridge, so small that its answers
are as good for K; bounds are computed from K itself.

Order of steps: look (weights, what the multipliers pull, bounds); stop at the gap; factor; Mehrotra's predictor and
corrector; a step of one length for all variables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from scipy.linalg import blas, lapack

from .. import _barrier
from ..solution import Array, Solution, Status, relative_gap

if TYPE_CHECKING:
    from ..comparisons import IntArray
    from ..risks import GroupedPairRisk

Report: TypeAlias = Callable[[int, float], object]  # called with (iteration, gap)

RIDGE, LARGEST_RIDGE = 1e-10, 1e-6  # shares of the mean diagonal: the first that has a factor is taken
BEGIN_Y, BEGIN_T = 0.2, 1.0  # multipliers, in shares of their bounds, and surpluses at utilities of zero
EARLY, FAR, LATE = 0.97, 0.1, 0.995  # shares of the longest step: above a gap of FAR, and below
LEAST_GOAL, POWER = 1e-6, 5  # share of the products that is aimed at, at least; of what the predictor leaves, its power
NEAR_H = 0.05  # share of the objective for each item that begins at the solution for another C
SHORTEST = 1e-8  # a step that is no step
PATIENCE = 30  # iterations in which the gap must halve
ENDED = 0.05  # share of the tolerated gap: products below it have nothing to give
NOISE = 0.2  # share of the tolerated gap that rounding of the kernel's values may be
BYTES_MATRIX, BYTES_PAIR = 40, 16  # that a solve needs, for each entry of the matrix and for each pair
LEAST_WEIGHT = 1e-20  # of an item, the largest being 1: products of what belongs to pairs must not underflow


class Start(NamedTuple):
    """Coefficients of the items near the solution, and how far from the margin pairs are bent there."""

    coefficients: Array
    h: float

    @classmethod
    def near(cls, coefficients: Array, objective: float, C: float) -> Start:
        """Begin at the solution for another C: pairs are bent so that it costs a share of the objective."""
        return cls(coefficients, NEAR_H * objective / (C * coefficients.size))


@dataclass(frozen=True)
class KernelPairs:
    """The pairs and the kernel, in the order of the sorted items: what solves for many C share."""

    risk: GroupedPairRisk
    K: Array  # by columns
    weight: Array  # (n,) the largest is 1
    scale: float  # what products of weights were divided by

    @classmethod
    def of(cls, risk: GroupedPairRisk, K: Array) -> KernelPairs | None:
        """Lay out the data; None where weights differ too much."""
        order = risk.levels.order
        weight = risk.levels.weight[order]
        largest = float(weight.max())
        if not weight.min() >= LEAST_WEIGHT * largest:
            return None
        return cls(risk, np.asfortranarray(K[np.ix_(order, order)], dtype=float), weight / largest, largest**2)

    @property
    def spans(self) -> tuple[IntArray, IntArray]:
        """Return where the worse items of each item begin and end."""
        return self.risk.levels.first, self.risk.levels.last

    @cached_property
    def ridge(self) -> float:
        """Return what is added to the diagonal before K is inverted."""
        return self._inverted[0]

    @property
    def inverse(self) -> Array:
        """Return the lower half of (K + ridge)^-1."""
        return self._inverted[1]

    @cached_property
    def _inverted(self) -> tuple[float, Array]:
        n, share = len(self.K), RIDGE
        mean = float(np.trace(self.K)) / n
        while share <= LARGEST_RIDGE:
            matrix = self.K.copy(order="F")
            matrix[np.diag_indices(n)] += share * mean
            factor, info = lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
            if info == 0:
                return share * mean, lapack.dpotri(factor, lower=1, overwrite_c=1)[0]
            share *= 10.0
        return np.nan, matrix

    def product(self, z: Array) -> Array:
        """Return K z."""
        return blas.dsymv(1.0, self.K, z, lower=1)

    def solve(
        self, C: float, *, tol: float, max_iter: int, start: Start | None = None, report: Report | None = None
    ) -> Solution:
        """Minimise to a relative gap of tol; STALLED where rounding does not allow it."""
        if not np.isfinite(self.ridge) or not self.ridge > 0.0:
            return self._answer(C, _Best(np.zeros(len(self.K)), np.inf), 1, Status.STALLED)
        point = _Point(self, C * self.scale, start)
        last_gap, waited = np.inf, 0
        status = Status.MAX_ITER
        for n_iter in range(1, max_iter + 1):
            product = point.look()
            gap = point.best.gap
            if report is not None:
                report(n_iter, gap)
            if gap <= tol:
                status = Status.CONVERGED
                break
            last_gap, waited = (gap, 0) if gap < 0.5 * last_gap else (last_gap, waited + 1)
            is_over = product <= ENDED * tol * point.best.primal or waited > PATIENCE
            if is_over or not point.advance(product) > SHORTEST:
                status = Status.STALLED
                break
        return self._answer(C, point.best, n_iter, status, tol)

    def _answer(self, C: float, best: _Best, n_iter: int, status: Status, tol: float = 0.0) -> Solution:
        """Return the best points in the units of the data, by items; no answer where rounding may be the gap."""
        cost = C * self.scale
        order = self.risk.levels.order
        b, pulled, u = (np.empty(order.size) for _ in range(3))
        b[order], pulled[order], u[order] = cost * best.z, cost * best.pull, best.utilities
        objective, dual = cost * best.primal, cost * best.dual
        noise = 0.5 * np.finfo(float).eps * float(np.max(np.abs(self.K))) * float(np.sum(np.abs(pulled))) ** 2
        if status is Status.CONVERGED and not noise <= NOISE * tol * objective:
            status = Status.STALLED
        norms = {"squared_norm": cost * 2.0 * best.half_norm, "dual_norm": cost * 2.0 * best.half_dual_norm}
        return Solution(b, pulled, np.zeros(0), objective, dual, n_iter, status, u, **norms)


class _Best:
    """The best primal and the best dual point so far, divided by the cost."""

    def __init__(self, z: Array, primal: float) -> None:
        self.z, self.utilities, self.pull = z, z, z
        self.primal, self.half_norm = primal, 0.0
        self.dual, self.half_dual_norm = -np.inf, 0.0

    @property
    def gap(self) -> float:
        """Return the relative gap."""
        return relative_gap(self.primal, self.dual)


class _Point:
    """An interior point that moves."""

    def __init__(self, task: KernelPairs, cost: float, start: Start | None) -> None:
        self.task, self.cost = task, cost
        n, m = task.weight.size, task.risk.levels.n_pairs
        self.z, self.s = np.zeros(n), np.zeros(n)
        self.y, self.t = np.empty(m), np.empty(m)
        if start is None:
            _barrier.fill(*task.spans, task.weight, BEGIN_Y, self.y)
            self.t[:] = BEGIN_T
        else:
            order = task.risk.levels.order
            self.z = start.coefficients[order] / cost
            self.s = cost * (task.product(self.z) + task.ridge * self.z)
            _barrier.centre(*task.spans, self.s, task.weight, 0.5 * start.h, self.y, self.t)
        self.best = _Best(np.zeros(n), np.inf)
        self.matrix = np.empty((n, n), order="F")
        self.right, self.missing = np.empty(n), np.empty(n)

    @property
    def _pairs(self) -> tuple[IntArray, IntArray, Array, Array, Array, Array]:
        return *self.task.spans, self.s, self.task.weight, self.y, self.t

    def look(self) -> float:
        """Weigh the pairs and offer both bounds; return the sum of the products."""
        n, task = self.z.size, self.task
        np.multiply(task.inverse, 1.0 / self.cost, out=self.matrix)
        pull, self.right = np.zeros(n), np.zeros(n)
        product, _, total = _barrier.look(*self._pairs, self.matrix, pull, self.right, np.zeros(n))
        self.missing = pull - self.z
        self._offer(pull, total)
        return product

    def _offer(self, pull: Array, total: float) -> None:
        best, cost, levels = self.best, self.cost, self.task.risk.levels
        half = 0.5 * cost * float(pull @ self.task.product(pull))
        if total - half > best.dual:
            best.dual, best.half_dual_norm, best.pull = total - half, half, pull
        s = self.s - cost * self.task.ridge * self.z  # by K itself
        u = np.empty(s.size)
        u[levels.order] = s
        half = 0.5 * float(self.z @ s)
        primal = half + self.task.risk.evaluate(u)[0].loss / self.task.scale
        if half >= 0.0 and primal < best.primal:
            best.primal, best.half_norm, best.z, best.utilities = primal, half, self.z, s

    def advance(self, product: float) -> float:
        """Take one step; return its length."""
        factor, info = lapack.dpotrf(self.matrix, lower=1, clean=0, overwrite_a=1)
        if info != 0:
            return 0.0
        ds = lapack.dpotrs(factor, self.right + self.missing, lower=1)[0]
        steepest, cross = _barrier.predict(*self._pairs, ds)
        length = 1.0 / steepest
        left = max(1.0 - length + length * length * cross / product, 0.0)
        mu = product / (2 * self.y.size) * max(left**POWER, LEAST_GOAL)
        right, flow = np.zeros(self.z.size), np.zeros(self.z.size)
        _barrier.correct(*self._pairs, ds, mu, right)
        corrected = lapack.dpotrs(factor, right + self.missing, lower=1)[0]
        steepest = _barrier.respond(*self._pairs, ds, mu, corrected, flow)
        share = EARLY if self.best.gap > FAR else LATE
        length = min(1.0, share / steepest) if steepest > 0.0 else 1.0
        z = self.z + length * (self.missing + flow)
        if not (length > SHORTEST and np.isfinite(z).all()):
            return 0.0
        s = self.cost * (self.task.product(z) + self.task.ridge * z)
        _barrier.step(*self._pairs, ds, mu, corrected, length, s)
        self.z, self.s = z, s
        return length
