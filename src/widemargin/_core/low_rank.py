"""A kernel by the columns of a few items, from pivoted Cholesky: the kernel matrix is never whole.

With P the chosen items, K = F F' + E where E is positive semi-definite and zero in the columns of P. A function of P
has the same values and the same norm under K as under F F'; only a dual point g loses, by
1/2 g'Eg <= 1/2 (sum |g_i| sqrt(E_ii))^2. So what is solved in the columns of F is solved for K to a known gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from .kernels import Kernel
from .landmarks import greedy_columns
from .solution import Array

NOTHING = 1e-14  # of the diagonal: rounding
LEAST_ITEMS, MOST = 10, 400  # a small rank has at least so many items for each column, and at most so many columns
FIRST_COLUMNS = 32  # that there is room for; then twice as many each time
AT_ONCE = 160  # columns up to which as many items tell at once whether more are needed: as dear as a few columns
FIRST_CHECK, FIRST_HOPE = 8, 3.0  # columns after which the rank is guessed, then after twice as many each time

Stop: TypeAlias = Callable[[int, float], bool]  # of the number of columns, and of what they leave


@dataclass(frozen=True)
class LowRankMap:
    """u = F w with F F' the best greedy approximation of a kernel matrix from a few landmark items.

    `loss` is the share of the kernel's trace that the landmarks leave out: 0 is exact.
    """

    F: Array  # (n, r)
    landmarks: Any  # the landmark items
    pivots: NDArray[np.int64]
    corner: Array  # (r, r) lower triangular: the landmarks' own rows of F
    block: Array  # (r, r): the kernel's own values between the landmarks
    rest: Array  # (n,): what the landmarks leave out of each item's k(x, x)
    loss: float
    is_gram = False
    is_rounded = False
    in_columns = None

    @classmethod
    def from_kernel(cls, kernel: Kernel, X: Any, rank: int) -> LowRankMap:
        """Choose so many landmarks by pivoted Cholesky: each time the item whose kernel is explained worst."""
        return cls._of(kernel, X, kernel.diag(X).astype(float), *greedy_columns(kernel, X, rank))

    @classmethod
    def exact(cls, kernel: Kernel, X: Any, most: int = MOST) -> LowRankMap | None:
        """Return a map that leaves out nothing but rounding; None where that takes many landmarks."""
        n, p = X.shape
        most, diag = min(n // LEAST_ITEMS, MOST, most), kernel.diag(X).astype(float)
        nothing = NOTHING * float(np.max(diag, initial=0.0))
        if kernel.rank(p) > most and most <= AT_ONCE and _needs_more(kernel, X, most, nothing):
            return None
        stop = _never if kernel.rank(p) <= most else _Decay(most, n * nothing, float(diag.sum()))
        F, pivots, rest = _pivoted(kernel, X, diag, most, nothing, stop)
        return cls._of(kernel, X, diag, F, pivots, rest) if np.max(rest, initial=0.0) <= nothing else None

    @classmethod
    def _of(cls, kernel: Kernel, X: Any, diag: Array, F: Array, pivots: NDArray[np.int64], rest: Array) -> LowRankMap:
        total, chosen = float(diag.sum()), X[pivots]
        loss = float(rest.sum()) / total if total > 0 else 0.0
        rest = np.maximum(rest, np.finfo(float).eps * diag)
        return cls(F, chosen, pivots, np.tril(F[pivots]), kernel(chosen, chosen), rest, loss)

    @property
    def n_items(self) -> int:
        """Return the number of items."""
        return self.F.shape[0]

    @property
    def n_features(self) -> int:
        """Return the rank."""
        return self.F.shape[1]

    def kernel_block(self) -> Array:
        """Return the kernel's own values between the landmarks, to be tested for convexity."""
        return self.block

    def landmark_coefficients(self, w: Array) -> Array:
        """Return coefficients on the landmarks that give the function with weights w."""
        return lapack.dtrtrs(self.corner.T, w)[0] if w.size else w

    def item_coefficients(self, w: Array) -> Array:
        """Return the same as coefficients on all items."""
        b = np.zeros(self.n_items)
        b[self.pivots] = self.landmark_coefficients(w)
        return b

    def left_out(self, g: Array) -> float:
        """Return a bound on g'Eg: what the squared norm of sum_i g_i k(x_i, .) has beyond |F'g|^2."""
        return float(np.abs(g) @ self._root) ** 2

    @cached_property
    def _root(self) -> Array:
        return np.sqrt(self.rest)

    def gram(self) -> Array:
        """Return the approximated Gram matrix."""
        return self.F @ self.F.T

    def columns(self) -> Array | None:
        """Return F, with u = F w."""
        return self.F

    def forward(self, w: Array) -> Array:
        """Return the utilities of the items."""
        return self.F @ w

    def adjoint(self, g: Array) -> Array:
        """Return F' g."""
        return self.F.T @ g

    def metric(self, w: Array) -> Array:
        """Return R w; here R = I."""
        return w

    def squared_norm(self, w: Array) -> float:
        """Return |w|^2."""
        return float(w @ w)

    forward_exact = forward
    adjoint_exact = adjoint

    def features(self) -> Array:
        """Return F."""
        return self.F

    def from_features(self, w: Array) -> Array:
        """Return w."""
        return w


def _needs_more(kernel: Kernel, X: Any, most: int, nothing: float) -> bool:
    """Return whether some items alone, one more than `most`, tell that no `most` columns do; most kernels are so.

    Columns that leave nothing of any item leave those a matrix whose smallest eigenvalue is below their number of it.
    """
    some = X[np.linspace(0, X.shape[0] - 1, most + 1).astype(np.int64)]
    K = np.array(kernel(some, some), dtype=float)
    K.flat[:: most + 2] -= (most + 1) * nothing
    return bool(np.all(np.isfinite(K))) and lapack.dpotrf(K)[1] == 0


def _never(n_columns: int, left: float) -> bool:  # noqa: ARG001 (nothing to ask)
    return False


@dataclass
class _Decay:
    """Whether `most` columns will be too few: what is left falls ever more slowly, so that no rate beats the last."""

    most: int
    goal: float
    before: float  # what was left at the last check
    check: int = FIRST_CHECK

    def __call__(self, n_columns: int, left: float) -> bool:
        """Return whether there is no hope; the first columns may be slow."""
        if n_columns < self.check:
            return False
        before, self.before, self.check = self.before, left, 2 * n_columns
        since, hope = (n_columns, FIRST_HOPE) if n_columns == FIRST_CHECK else (0.5 * n_columns, 1.0)
        return not log(left / self.goal) < hope * log(before / left) / since * (self.most - n_columns)


def _pivoted(
    kernel: Kernel, X: Any, diag: Array, most: int, nothing: float, is_hopeless: Stop = _never
) -> tuple[Array, NDArray[np.int64], Array]:
    """Return F, the pivots in their order, and what they leave of each item; stops where that is nothing."""
    rest, Ft, pivots = diag.copy(), np.zeros((min(most, FIRST_COLUMNS), diag.size)), []
    for j in range(most):
        i = int(np.argmax(rest))
        if rest[i] <= nothing or is_hopeless(j, float(rest.sum())):
            break
        if j == len(Ft):
            Ft = np.concatenate([Ft, np.zeros((min(most - j, j), diag.size))])
        Ft[j] = (kernel(X, X[i : i + 1])[:, 0] - Ft[:j].T @ Ft[:j, i]) / np.sqrt(rest[i])
        rest = np.maximum(rest - Ft[j] ** 2, 0.0)
        rest[i] = 0.0
        pivots.append(i)
    return np.ascontiguousarray(Ft[: len(pivots)].T), np.array(pivots, dtype=np.int64), rest
