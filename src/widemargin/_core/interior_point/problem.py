"""The explicit problem in feature space, scaled so that rows have norm at most 1 and margins at most 1.

    min  1/2 |w|^2 + sum_t cost_t * loss(xi_t)    s.t.  B (w, b) + xi[task] >= margin,  xi >= 0

B = [D F, E]: differences of features, then the free levels. Scaling is by one number for all columns (another
scale per column would be another regulariser), so that `cost` is the only measure of a large C.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse import csgraph

from ..comparisons import IntArray, Rows
from ..losses import Loss
from ..maps import pivoted_cholesky
from ..solution import Array
from .sparse_design import SparseDesign

DENSE_ENTRIES = 200_000  # rows x features that are written out in any case: the most accurate form
SPARSE_ENTRIES = 2_000_000  # rows x features from which rows of few entries stay sparse
LARGE = 20_000_000  # rows x features that are not written out
LAPLACIAN = 50  # features whose product costs as much as building the Laplacian of the items
ITEM_LIMIT = 4000  # items up to which their dense Laplacian is affordable
BLOCK = 1 << 17  # entries of rows written out at a time: they stay in cache


class FeatureMap(Protocol):
    """What the explicit problem asks of a map."""

    @property
    def is_gram(self) -> bool:
        """Whether the map holds the Gram matrix of its items."""

    def gram(self) -> Array:
        """Return the Gram matrix of the items."""

    @property
    def n_features(self) -> int:
        """Return the number of columns that `features` has at most."""

    def columns(self) -> Any | None:
        """Return X with u = X w, dense or CSR; None where weights belong to items."""

    def features(self) -> Array:
        """Return F (n_items, p) with F F' the Gram matrix of the items."""

    def from_features(self, w: Array) -> Array:
        """Return the map's weights for w in the coordinates of F."""

    def adjoint_exact(self, g: Array) -> Array:
        """Return the map's weights of the function sum_i g_i k(x_i, .), in float64."""

    def forward_exact(self, w: Array) -> Array:
        """Return the utilities of the items, in float64."""

    def squared_norm(self, w: Array) -> float:
        """Return <w, R w>."""


class Design(Protocol):
    """The matrix B, by its products."""

    @property
    def shape(self) -> tuple[int, int]:
        """Return (rows, features and levels)."""

    def dot(self, x: Array) -> Array:
        """Return B x."""

    def tdot(self, a: Array) -> Array:
        """Return B' a."""

    def square(self, x: Array) -> float:
        """Return the squared norm of w."""

    def row_norms(self) -> Array:
        """Return the norm of each row's feature part."""

    def shrunk(self, length: float) -> Design:
        """Return B with its feature part divided by `length`."""

    def gram(self, omega: Array) -> Array | sparse.csc_array:
        """Return B' diag(omega) B."""

    def rows(self, keep: NDArray[np.bool_]) -> Array:
        """Return the chosen rows of B, written out."""


@dataclass(frozen=True)
class DenseDesign:
    """B written out: the most accurate form."""

    B: Array  # (m, p + q), Fortran order: the Gram product runs on columns
    p: int

    @property
    def shape(self) -> tuple[int, int]:
        """Return (rows, features and levels)."""
        return self.B.shape

    def dot(self, x: Array) -> Array:
        """Return B x."""
        return self.B @ x

    def tdot(self, a: Array) -> Array:
        """Return B' a."""
        return self.B.T @ a

    def gram(self, omega: Array) -> Array:
        """Return B' diag(omega) B."""
        root = np.sqrt(omega)[:, None] * self.B
        return root.T @ root

    def square(self, x: Array) -> float:
        """Return the squared norm of w."""
        return float(x @ x)

    def row_norms(self) -> Array:
        """Return the norm of each row's feature part."""
        return _row_norms(self.B[:, : self.p])

    def shrunk(self, length: float) -> Design:
        """Return B with its feature part divided by `length`."""
        return DenseDesign(np.asfortranarray(np.hstack([self.B[:, : self.p] / length, self.B[:, self.p :]])), self.p)

    def rows(self, keep: NDArray[np.bool_]) -> Array:
        """Return the chosen rows of B, written out."""
        return self.B[keep]


@dataclass(frozen=True)
class ItemDesign:
    """B = [D F, E] kept as its factors: many rows over few items.

    The Gram matrix is F' (D' Omega D) F, a Laplacian over items: nothing of size rows x features is formed.
    """

    D: sparse.csr_array
    E: Array
    F: Array
    scale: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        """Return (rows, features and levels)."""
        return self.D.shape[0], self.F.shape[1] + self.E.shape[1]

    def dot(self, x: Array) -> Array:
        """Return B x."""
        p = self.F.shape[1]
        return self.D @ (self.F @ (x[:p] / self.scale)) + self.E @ x[p:]

    def tdot(self, a: Array) -> Array:
        """Return B' a."""
        return np.concatenate([self.F.T @ (self.D.T @ a) / self.scale, self.E.T @ a])

    def gram(self, omega: Array) -> Array:
        """Return B' diag(omega) B."""
        corner = self.F.T @ (self._laplacian(omega) @ self.F) / self.scale**2
        side = self.F.T @ (self.D.T @ (omega[:, None] * self.E)) / self.scale
        return np.block([[corner, side], [side.T, self.E.T @ (omega[:, None] * self.E)]])

    def _laplacian(self, omega: Array) -> Array:
        """Return D' diag(omega) D, dense."""
        n, ends = self.D.shape[1], self.D.indices.reshape(-1, 2).astype(np.int64)
        entries = self.D.data.reshape(-1, 2)
        off = np.bincount(ends[:, 0] * n + ends[:, 1], omega * np.prod(entries, axis=1), minlength=n * n).reshape(n, n)
        laplacian: Array = off + off.T  # type: ignore[assignment]
        laplacian[np.diag_indices(n)] += np.bincount(ends.ravel(), (omega[:, None] * entries**2).ravel(), minlength=n)
        return laplacian

    def square(self, x: Array) -> float:
        """Return the squared norm of w."""
        return float(x @ x)

    def row_norms(self) -> Array:
        """Return the norm of each row's feature part."""
        block = max(1, BLOCK // max(1, self.F.shape[1]))
        starts = range(0, self.D.shape[0], block)
        parts = [_row_norms(self.D[i : i + block] @ self.F) for i in starts]
        return np.concatenate(parts) / self.scale

    def shrunk(self, length: float) -> Design:
        """Return B with its feature part divided by `length`."""
        return ItemDesign(self.D, self.E, self.F, self.scale * length)

    def rows(self, keep: NDArray[np.bool_]) -> Array:
        """Return the chosen rows of B, written out."""
        return np.hstack([self.D[keep] @ self.F / self.scale, self.E[keep]])


def _row_norms(A: Array) -> Array:
    return np.sqrt(np.einsum("ij,ij->i", A, A))


@dataclass(frozen=True)
class Slacks:
    """Which rows share a slack. Rows of one task are contiguous; without tasks each row has its own."""

    n: int
    task: IntArray | None
    start: IntArray | None

    @property
    def tasks(self) -> IntArray:
        """Return the task of each row."""
        return np.arange(self.n, dtype=np.int64) if self.task is None else self.task

    def spread(self, v: Array) -> Array:
        """Return each row's task's value."""
        return v if self.task is None else v[self.task]

    def total(self, v: Array) -> Array:
        """Return the sum over the rows of each task."""
        return v if self.start is None else np.add.reduceat(v, self.start)

    def worst(self, v: Array) -> Array:
        """Return the maximum over the rows of each task."""
        return v if self.start is None else np.maximum.reduceat(v, self.start)

    def size(self) -> Array:
        """Return the number of rows of each task."""
        return np.ones(self.n) if self.task is None else np.bincount(self.task, minlength=self.n).astype(float)


@dataclass(frozen=True)
class Problem:
    """The scaled problem, and the way back: w = stretch * F-coordinates, b = b0 + height * b~, a = pull * a~."""

    design: Design
    p: int
    margin: Array
    cost: Array  # per slack; inf: hard
    slacks: Slacks
    loss: Loss
    lead: Callable[[Array], Array]  # from w~ to the map's weights, up to `stretch`
    stretch: float
    height: float
    b0: Array
    hard: bool  # whether slacks are forbidden
    centre: Array  # (p,): what was subtracted from the features where the level makes up for it

    @property
    def is_finite(self) -> bool:
        """Whether the scaled numbers are usable: features beyond 1e150 have squares that are not."""
        scale = [self.stretch, self.stretch * self.stretch, self.height]
        return bool(np.all(np.isfinite(scale)) and min(scale) > 0 and (self.hard or np.all(np.isfinite(self.cost))))

    @property
    def pull(self) -> float:
        """Return the factor from scaled to original dual variables."""
        return self.stretch**2 / self.height

    def norm(self, w: Array) -> float:
        """Return the norm of w."""
        return float(np.sqrt(max(0.0, self.design.square(w))))

    def weights(self, w: Array) -> Array:
        """Return the map's weights."""
        return self.stretch * self.lead(w)

    def levels(self, b: Array, w: Array) -> Array:
        """Return the levels in the original scale, for features that are not centred."""
        return self.b0 + self.height * b - self.stretch * float(self.centre @ w)


def scaled_problem(rows: Rows, map_: FeatureMap, C: float, loss: Loss) -> Problem | None:
    """Build the scaled problem; None where every row's difference or every margin is zero."""
    b0 = _level_shift(rows)
    margin = rows.margin - rows.E @ b0
    height = float(np.max(np.abs(margin), initial=0.0))
    design, lead, centre = _design(rows, map_)
    length = float(np.max(design.row_norms(), initial=0.0))
    if height == 0.0 or length == 0.0:
        return None
    task, weight = (None, np.ones(margin.size)) if np.isinf(C) else (rows.task, rows.weight)
    start = None if task is None else np.flatnonzero(np.concatenate([[True], task[1:] != task[:-1]]))
    cost = weight * C * (length**2 if loss.squared else length**2 / height)
    return Problem(
        design=design.shrunk(length),
        p=design.shape[1] - rows.E.shape[1],
        margin=margin / height,
        cost=cost,
        slacks=Slacks(weight.size, task, start),
        loss=loss,
        lead=lead,
        stretch=height / length,
        height=height,
        b0=b0,
        hard=bool(np.isinf(C)),
        centre=centre,
    )


def _level_shift(rows: Rows) -> Array:
    """Return levels that make the largest |margin| small: the mid-range of the targets of a regression."""
    if rows.E.shape[1] != 1:
        return np.zeros(rows.E.shape[1])
    targets = rows.margin / rows.E[:, 0]
    return np.array([0.5 * (targets.max() + targets.min())])


def _design(rows: Rows, map_: FeatureMap) -> tuple[Design, Callable[[Array], Array], Array]:
    """Choose coordinates: the items' features; with fewer items or rows than those, the span of these.

    Returns the design, the way back to the map's weights, and the centre that was subtracted from the features.
    """
    m, n = rows.D.shape
    if map_.is_gram and m < n:
        return _from_row_gram(rows, map_)
    if not map_.is_gram and m * map_.n_features > SPARSE_ENTRIES:
        found = SparseDesign.of(rows, map_.columns())
        if found is not None:
            return found, map_.from_features, np.zeros(found.p)
    F, lead = map_.features(), map_.from_features
    if n < min(m, F.shape[1]):
        span, upper = linalg.qr(F.T, mode="economic")
        F, lead = upper.T, lambda w: map_.from_features(span @ w)
    p = F.shape[1]
    over_items = n * n * (p + LAPLACIAN) < m * p * p or m * p > LARGE
    if rows.task is None and rows.D.nnz == 2 * m and over_items and n <= ITEM_LIMIT and m * p > DENSE_ENTRIES:
        return ItemDesign(rows.D, rows.E, _grounded(rows, F)), lead, np.zeros(p)
    centre = _centre(rows, F)
    B = rows.D @ (F - centre)
    if m >= p:
        return _dense(B, rows.E), lead, centre
    basis, upper = linalg.qr(B.T, mode="economic")
    return _dense(upper.T, rows.E), lambda w: lead(basis @ w), basis.T @ centre


def _centre(rows: Rows, F: Array) -> Array:
    """Return the mean feature where each row is an item and the level's sign is its own: the bias absorbs it."""
    if rows.E.shape[1] == 1 and np.array_equal(rows.D.sum(axis=1), rows.E[:, 0]):
        return F.mean(axis=0)
    return np.zeros(F.shape[1])


def _from_row_gram(rows: Rows, map_: FeatureMap) -> tuple[DenseDesign, Callable[[Array], Array], Array]:
    """Factor the Gram matrix of the rows' differences, D K D': the four-term kernel over pairs."""
    L, pivots = pivoted_cholesky(rows.D @ (rows.D @ map_.gram()).T)
    B = np.empty_like(L)
    B[pivots] = L
    rank = L.shape[1]

    def lead(w: Array) -> Array:
        on_rows = linalg.solve_triangular(L[:rank], w, lower=True, trans="T")
        return map_.adjoint_exact(rows.D[pivots[:rank]].T @ on_rows)

    return _dense(B, rows.E), lead, np.zeros(rank)


def _dense(B: Array, E: Array) -> DenseDesign:
    return DenseDesign(np.asfortranarray(np.hstack([B, E])), B.shape[1])


def _grounded(rows: Rows, F: Array) -> Array:
    """Subtract from each connected set of compared items its mean: differences keep their digits."""
    if np.any(rows.D.sum(axis=1) != 0):
        return F
    _, label = csgraph.connected_components(abs(rows.D).T @ abs(rows.D), directed=False)
    count = np.bincount(label)
    member = sparse.csr_array((1.0 / count[label], (label, np.arange(label.size))))
    return F - (member @ F)[label]
