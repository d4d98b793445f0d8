"""One look at all rows of X: utilities, sums over pairs, and X'g, block by block while a block is in cache.

A block holds whole groups, so its rows are read from memory once for both products. X stays as it is: dense
float32 or float64 (any layout), or CSR. In `precise` mode blocks of float32 are widened one at a time.
Sums over blocks are float64 and in the order of the blocks: the thread count changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..solution import Array
from .curvature import Curvature, Factor, Iterative

if TYPE_CHECKING:
    from ..comparisons import IntArray
    from ..risks import Block, GroupedPairRisk, Terms
    from .pool import Pool

T = TypeVar("T")
BLOCK_BYTES = 1 << 20  # a block and its products stay in the second-level cache
N_PROBES, PROBE_ROWS = 3, 1024
MOST_ROWS = 4096  # of a block: float32 sums of more rows lose digits
SMALL_DATA = 20_000  # rows below which float64 products cost nothing that matters
WIDEST_SCALES = 1e4
FEW_FEATURES = 500  # up to so many an explicit Hessian always beats conjugate gradients
MOST_FEATURES, MOST_WORK = 4000, 3e10  # up to so many it does where its products are few


class Look(NamedTuple):
    """What one pass over the data gives at w: the pairs' sums and X'g."""

    terms: Terms
    pull: Array
    g: Array  # gradient in the utilities, in the order of the risk's items


@dataclass(frozen=True)
class LinearPairs:
    """The pairs of a risk seen through X: everything Newton asks of the data, in the space of w."""

    X: Any  # dense, or CSR
    risk: GroupedPairRisk
    precise: bool = False
    pool: Pool | None = None
    rows: IntArray | None = None  # where groups are scattered: the rows of X, group by group
    plan: list[Block] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        X: Any,
        risk: GroupedPairRisk,
        *,
        precise: bool | None = None,
        pool: Pool | None = None,
    ) -> LinearPairs:
        """Lay out the blocks; products are widened where float32 is known to fail, unless told."""
        rows, risk = risk.contiguous()
        if precise is None:
            precise = X.shape[0] <= SMALL_DATA or _is_badly_scaled(X)
        n_rows = _rows_of_a_block(X)
        return cls(X, risk, precise, pool, rows, risk.blocks(n_rows))

    @property
    def n_features(self) -> int:
        """Return the number of columns of X."""
        return self.X.shape[1]

    @property
    def n_items(self) -> int:
        """Return the number of rows."""
        return self.risk.levels.n_items

    @property
    def is_explicit(self) -> bool:
        """Return whether the Hessian in w is worth writing out."""
        p, is_dense = self.n_features, not sparse.issparse(self.X)
        return p <= FEW_FEATURES or (is_dense and p <= MOST_FEATURES and self.n_items * p**2 <= MOST_WORK)

    @property
    def is_gram_cheap(self) -> bool:
        """Return whether X'LX over all pairs costs a moderate number of passes."""
        return self.risk.dense_pairs <= 40 * self.n_items * max(50, self.n_features)

    def smoothed(self, h: float) -> LinearPairs:
        """Return the same data under another smoothing."""
        return replace(self, risk=self.risk.smoothed(h))

    def widened(self) -> LinearPairs:
        """Return the same data with all products in float64."""
        return replace(self, precise=True)

    def subset(self, items: IntArray, risk: GroupedPairRisk) -> LinearPairs:
        """Return the pairs of another risk over some of the rows, copied."""
        items = items if self.rows is None else self.rows[items]
        return LinearPairs.of(self.X[items], risk, precise=self.precise, pool=self.pool)

    @property
    def is_wide(self) -> bool:
        """Return whether products are in float64 already."""
        return self.precise or self.X.dtype != np.float32

    def by_item(self, values: Array) -> Array:
        """Return values in the order of the risk's items in the order of the rows of X."""
        if self.rows is None:
            return values
        out = np.empty_like(values)
        out[self.rows] = values
        return out

    def representable(self, w: Array) -> Array:
        """Return w as the products see it: rounded where they are in float32."""
        return w if self.is_wide else w.astype(np.float32).astype(float)

    def over(self, risk: GroupedPairRisk) -> LinearPairs:
        """Return another risk over the same rows."""
        return LinearPairs.of(self.X, risk, precise=self.precise, pool=self.pool)

    def look(self, w: Array) -> Look:
        """Return the pairs' sums, X'g and g at w: one pass over X."""
        pull, sums, g = np.zeros(self.n_features), np.zeros(3), np.empty(self.n_items)
        for terms, part in self._map(lambda block: self._look_block(w, block, g[block.start : block.stop])):
            sums += terms
            pull += part
        return Look(type(terms)(*sums.tolist()), pull, g)

    def curvature(self, w: Array, C: float) -> Curvature:
        """Return the Hessian of 1/2 ||w||^2 + C * risk at w, ready to solve with."""
        if self.is_explicit:
            return Factor.of(C * self.gram(w))
        _, _, hessp = self.risk.evaluate(self.utilities(w))
        return Iterative(lambda v: v + C * self.pull(hessp(self.utilities(v))))

    def gram(self, w: Array) -> Array:
        """Return X' L X, L the Hessian of the risk at w: (p, p), for moderate p."""

        def part(block: Block) -> Array:
            rows = np.ascontiguousarray(_dense(self._load(block.start, block.stop)))
            return np.asarray(rows.T @ self.risk.laplacian_half(_product(rows, w), rows, block), dtype=float)

        total = np.zeros((self.n_features, self.n_features))
        for half in self._map(part):
            total += half
        return total + total.T

    def utilities(self, w: Array) -> Array:
        """Return Xw in the order of the risk's items."""
        return np.concatenate([_product(rows, w) for rows in self._pieces(0, self.n_items)])

    def pull(self, g: Array) -> Array:
        """Return X'g for g in the order of the risk's items."""
        return self._pull_pieces(g, 0, self.n_items)

    def rounding(self, w: Array, g: Array) -> tuple[float, float]:
        """Estimate what float32 products cost at w: the error of the loss, and of X'g in norm.

        Some rows are multiplied in both precisions; their errors are independent and add in squares.
        """
        starts = range(0, self.n_items, PROBE_ROWS)
        some = starts[:: max(1, len(starts) // N_PROBES)]
        loss = pull = 0.0
        for a in some:
            rows = self._load(a, min(self.n_items, a + PROBE_ROWS))
            wide, inside = rows.astype(float), g[a : a + rows.shape[0]]
            loss += float(inside @ (_product(rows, w) - _product(wide, w))) ** 2
            pull += float(np.sum((_adjoint(rows, inside) - _adjoint(wide, inside)) ** 2))
        grow = len(starts) / len(some)
        return float(np.sqrt(grow * loss)), float(np.sqrt(grow * pull))

    def _look_block(self, w: Array, block: Block, g: Array) -> tuple[Terms, Array]:
        """Return the sums over a block and its part of X'g; g is written."""
        if block.stop - block.start > 4 * self._piece:  # one large group: its rows are read twice
            u = np.concatenate([_product(rows, w) for rows in self._pieces(block.start, block.stop)])
            terms, _ = self.risk.evaluate_block(u, block, g)
            return terms, self._pull_pieces(g, block.start, block.stop)
        rows = self._load(block.start, block.stop)
        terms, _ = self.risk.evaluate_block(_product(rows, w), block, g)
        return terms, _adjoint(rows, g)

    @property
    def _piece(self) -> int:
        return _rows_of_a_block(self.X)

    def _pieces(self, start: int, stop: int) -> Iterable[Any]:
        for a in range(start, stop, self._piece):
            yield self._load(a, min(stop, a + self._piece))

    def _pull_pieces(self, g: Array, start: int, stop: int) -> Array:
        # short float32 sums, added up in float64
        total, at = np.zeros(self.n_features), 0
        for rows in self._pieces(start, stop):
            total += _adjoint(rows, g[at : at + rows.shape[0]])
            at += rows.shape[0]
        return total

    def _load(self, start: int, stop: int) -> Any:
        """Return rows start:stop: a view where it can be, widened in precise mode."""
        if sparse.issparse(self.X):
            rows = _csr_rows(self.X, start, stop) if self.rows is None else self.X[self.rows[start:stop]]
            return rows.astype(float, copy=False)  # SciPy would widen all of X for one product
        rows = self.X[start:stop] if self.rows is None else self.X[self.rows[start:stop]]
        return rows.astype(float, copy=False) if self.precise or rows.dtype.itemsize < 4 else rows

    def _map(self, work: Callable[[Block], T]) -> Iterable[T]:
        """Do the work of each block, in the order of the plan whatever the number of threads."""
        if self.pool is None or len(self.plan) < 2 * self.pool.n_threads:
            return map(work, self.plan)
        return self.pool.map(work, self.plan)


def _is_badly_scaled(X: Any) -> bool:
    """Return whether the columns of some rows spread over decades that float32 sums would mix up."""
    some = _dense(X[:: max(1, X.shape[0] // 500)]).astype(float) if X.dtype == np.float32 else np.zeros((1, 1))
    spread = some.std(axis=0)
    spread = spread[spread > 0.0]
    return spread.size > 0 and float(max(spread.max(), np.abs(some).max()) / spread.min()) > WIDEST_SCALES


def _rows_of_a_block(X: Any) -> int:
    return min(MOST_ROWS, max(64, BLOCK_BYTES // max(1, 4 * _columns_held(X))))


def _columns_held(X: Any) -> int:
    """Return how many entries of a row are stored, on average."""
    return int(X.nnz // max(1, X.shape[0])) if sparse.issparse(X) else int(X.shape[1])


def _csr_rows(X: sparse.csr_array, start: int, stop: int) -> sparse.csr_array:
    """Return rows start:stop as a view on X's arrays."""
    a, b = X.indptr[start], X.indptr[stop]
    parts = X.data[a:b], X.indices[a:b], X.indptr[start : stop + 1] - a
    return sparse.csr_array(parts, shape=(stop - start, X.shape[1]))


def _dense(rows: Any) -> NDArray:
    return rows.toarray() if sparse.issparse(rows) else rows


def _product(rows: Any, w: Array) -> Array:
    return np.asarray(rows @ w.astype(rows.dtype, copy=False), dtype=float)


def _adjoint(rows: Any, g: Array) -> Array:
    return np.asarray(rows.T @ g.astype(rows.dtype, copy=False), dtype=float)
