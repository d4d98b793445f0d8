"""One look at all rows of X: utilities, sums over pairs, and X'g, block by block while a block is in cache.

A block holds whole groups, so its rows are read from memory once for both products. X stays as it is: dense
float32 or float64 (any layout), or CSR. In `precise` mode blocks of float32 are widened one at a time.
Sums over blocks are float64 and in the order of the blocks: the thread count changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from scipy import sparse

from .. import _counting
from ..pool import room
from ..risks import Block
from ..solution import Array
from .curvature import Corner, Curvature, Factor, Iterative
from .rows import EVERY, Rows, load

if TYPE_CHECKING:
    from ..comparisons import IntArray
    from ..pool import Pool
    from ..risks import GroupedPairRisk, Terms

S = TypeVar("S")
T = TypeVar("T")
BLOCK_BYTES = 1 << 21  # of a block: the unit of work of a thread
PIECE_BYTES = 1 << 18  # of the rows that are multiplied twice while they are in the second-level cache
LEAST_ROWS, BLOCKS = 512, 64  # of a block, unless it has more bytes: as many blocks as threads can share evenly
PARTS, LEAST_PART, LEAST_ENTRIES = 16, 1024, 1 << 17  # of the rows, each a call for a thread; rows and entries of one
RUN = 8  # rows that lie next to each other, on average, for which they are not copied
LITTLE = 1e6  # entries that one thread is done with before another wakes up
LEAN, NOWHERE = 200_000, np.zeros(0)  # items above which looks do not keep g; and where it goes then
GRAM_TIMES = 16  # columns for which a Hessian takes as long as a look
GRAM_PARTS = 16  # sums of blocks, added up in their order
SOME = 500  # rows whose utilities stand for all when their size is needed
N_PROBES, PROBE_ROWS = 6, 256  # of which float32 products take sums
MOST_ROWS = 4096  # of a block: float32 sums of more rows lose digits
SMALL_DATA = 20_000  # rows below which float64 products cost nothing that matters
WIDEST_SCALES = 1e4
NARROW_SCALES = 100.0  # of float64 columns whose Hessian may as well be made in float32, in half the time
FEW_FEATURES = 500  # up to so many an explicit Hessian always beats conjugate gradients
PROBE_SEED, MOST_DRIFT = 20101, 1.4
HEAVY_SPARSE, HEAVY_DENSE = (300, 12), (4000, 4)  # columns of most mass, rows for each: few words are frequent
MANY_LEVELS = 1000  # items of a group of many levels whose Laplacian beats that of pieces of it
MOST_FEATURES, MOST_WORK = 4000, 3e10  # up to so many it does where its products are few


class Look(NamedTuple):
    """What one pass over the data gives at w: the pairs' sums and X'g."""

    terms: Terms
    pull: Array
    slopes: Array | Callable[[], Array]  # g, or what makes it: that of many items is seldom asked for
    n_items: int

    @property
    def g(self) -> Array:
        """Return the gradient in the utilities, in the order of the risk's items."""
        return self.slopes() if callable(self.slopes) else self.slopes

    def scaled(self, share: float) -> Look:
        """Return what is seen where every pair weighs so much less."""
        terms = type(self.terms)(*(share * t for t in self.terms))
        return Look(terms, share * self.pull, lambda: share * self.g, self.n_items)


@dataclass(frozen=True)
class LinearPairs:
    """The pairs of a risk seen through X: everything Newton asks of the data, in the space of w."""

    X: Any  # dense, or CSR
    risk: GroupedPairRisk
    precise: bool = False
    pool: Pool | None = None
    rows: IntArray | None = None  # of X, group by group, where groups are scattered or not all of X is meant
    some: IntArray | None = None  # the rows of X that are meant, as the risk was given them; None: all
    doubt: Callable[[], None] | None = None  # asked where a look is not finite: it may refuse X, which was not checked
    plan: list[Block] = field(default_factory=list)
    parts: list[Block] = field(default_factory=list)  # for looks, which cut them into pieces themselves
    probes: list[Probe] = field(default_factory=list)  # the one sample that preconditions, when it is first asked for

    @classmethod
    def of(
        cls,
        X: Any,
        risk: GroupedPairRisk,
        *,
        precise: bool | None = None,
        pool: Pool | None = None,
        some: IntArray | None = None,
        doubt: Callable[[], None] | None = None,
    ) -> LinearPairs:
        """Lay out the blocks; products are widened where float32 is known to fail, unless told."""
        rows, risk = risk.contiguous()
        if some is not None:
            rows = some if rows is None else some[rows]
        if precise is None:
            precise = (
                sparse.issparse(X) or X.shape[0] <= SMALL_DATA or (X.dtype == np.float32 and _scales(X) > WIDEST_SCALES)
            )
        n, p = risk.levels.n_items, max(1, X.shape[1])
        parts = risk.blocks(n if n * p < LITTLE else max(LEAST_PART, LEAST_ENTRIES // p, n // PARTS))
        return cls(X, risk, precise, pool, rows, some, doubt, risk.blocks(_rows_of_a_block(X, n)), parts)

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
        return self.risk.pairs_of_many_levels <= MANY_LEVELS * self.n_items

    def smoothed(self, h: float) -> LinearPairs:
        """Return the same data under another smoothing."""
        return replace(self, risk=self.risk.smoothed(h))

    def widened(self) -> LinearPairs:
        """Return the same data with all products in float64."""
        return replace(self, precise=True)

    def narrowed(self) -> LinearPairs:
        """Return the same data in float32 where that is enough for their Hessian."""
        if self.precise or sparse.issparse(self.X) or self.X.dtype == np.float32:
            return self
        if _scales(self.X, self.some) > NARROW_SCALES:
            return self
        weight = self.risk.levels.weight
        if not (np.min(weight) > 1.0 / WIDEST_SCALES and np.max(weight) < WIDEST_SCALES):
            return self
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            X = (self.X if self.some is None or self.rows is None else self._copied(self.rows)).astype(np.float32)
            is_within = 1e-25 < np.dot(X.ravel(), X.ravel()) / X.size < 1e25  # squares and their sums are in range
        if not is_within:
            return self
        return replace(self, X=X) if self.some is None else LinearPairs.of(X, self.risk, precise=False, pool=self.pool)

    def subset(self, items: IntArray, risk: GroupedPairRisk) -> LinearPairs:
        """Return the pairs of another risk over some of the rows: where they lie if they are runs, else copied."""
        items = items if self.rows is None else self.rows[items]
        in_place = self._are_runs(items)
        X, some = (self.X, items) if in_place else (self._copied(items), None)
        return LinearPairs.of(X, risk, precise=self.precise, pool=self.pool, some=some, doubt=self.doubt)

    def _are_runs(self, items: IntArray) -> bool:
        """Return whether some rows of X are as quickly read there as from a copy."""
        if sparse.issparse(self.X) or self.X.strides[1] != self.X.itemsize:
            return False
        return bool(RUN * np.count_nonzero(np.diff(items) != 1) < items.size)

    def _copied(self, items: IntArray) -> Any:
        """Return some rows of X, in this order."""
        if sparse.issparse(self.X):
            return self.X[items]
        out = np.empty((items.size, self.n_features), self.X.dtype)
        parts = [slice(*at) for at in self._pieces(0, items.size)]
        list(self._map(lambda part: _counting.gather(self.X, items[part], out[part]), parts))
        return out

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
        how: dict[str, Any] = {"precise": self.precise, "pool": self.pool, "some": self.some, "doubt": self.doubt}
        return LinearPairs.of(self.X, risk, **how)

    def look(self, w: Array) -> Look:
        """Return the pairs' sums, X'g and g at w: one pass over X, and one more if g is asked for and was not kept."""
        if self.is_lean:
            return self._look(w, lambda: self._look(w, self._room()).g)
        return self._look(w, self._room())

    @cached_property
    def is_lean(self) -> bool:
        """Return whether looks do not keep g: of many items it would be much memory, for nothing mostly."""
        return self.n_items > LEAN and int(np.max(np.diff(self.risk.starts))) * PARTS <= self.n_items

    def _room(self) -> Array:
        """Return room for g."""
        return room(self.n_items, np.float64, 1 if self.pool is None else self.pool.n_threads)

    def _look(self, w: Array, slopes: Array | Callable[[], Array]) -> Look:
        """Return a look; g is written where there is an array for it."""
        pull, sums = np.zeros(self.n_features), np.zeros(3)
        where: Array = NOWHERE if callable(slopes) else slopes
        for terms, part in self._map(lambda at: self._look_block(w, at, where[at.start : at.stop]), self.parts):
            sums += terms
            pull += part
        if self.doubt is not None and not np.isfinite(sums[0]):
            self.doubt()
        return Look(type(terms)(*sums.tolist()), pull, slopes, self.n_items)

    def curvature(self, w: Array, C: float) -> Curvature:
        """Return the Hessian of 1/2 ||w||^2 + C * risk at w, ready to solve with."""
        if self.is_explicit:
            return Factor(C * self.gram(w))
        u = self.utilities(w)
        _, _, hessp = self.risk.evaluate(u)
        return Iterative(lambda v: v + C * self.pull(hessp(self.utilities(v))), self._corner(w, u, C))

    def gram(self, w: Array) -> Array:
        """Return X' L X, L the Hessian of the risk at w: (p, p), for moderate p."""
        return self._gram(lambda rows, _: rows.product(w))

    def gram_at(self, u: Array) -> Array:
        """Return X' L X, L the Hessian of the risk at the utilities u."""
        return self._gram(lambda _, block: u[block.start : block.stop])

    def _gram(self, utilities: Callable[[Rows, Block], Array]) -> Array:
        def part(blocks: list[Block]) -> Array:
            total = np.zeros((self.n_features, self.n_features))
            spare = None  # for the largest block, once: pages that are new at each would cost as much as their contents
            for block in blocks:
                rows = self.load(block.start, block.stop)
                X = rows.dense()
                if spare is None:
                    spare = np.empty((max(b.stop - b.start for b in blocks), X.shape[1]), X.dtype)
                total += X.T @ self.risk.laplacian_half(utilities(rows, block), X, block, spare)
            return total

        n_parts = max(4, min(GRAM_PARTS, self.n_items // self.n_features))  # each has a matrix of its own
        size = -(-len(self.plan) // n_parts)
        total = np.zeros((self.n_features, self.n_features))
        parts = [self.plan[k : k + size] for k in range(0, len(self.plan), size)]
        for half in self._map(part, parts, times=self.n_features / GRAM_TIMES):
            total += half
        return total + total.T

    def _corner(self, w: Array, u: Array, C: float) -> Corner:
        """Return what preconditions the Hessian at w: a sample's block of heavy columns, the diagonal of all pairs."""
        if not self.probes:
            self.probes.append(Probe.of(self))
        probe = self.probes[0]
        degree = self.risk.degrees(u, Block(0, u.size, np.arange(self.risk.starts.size - 1)))
        diagonal = np.zeros(self.n_features)
        for part in self._map(lambda at: self.load(*at).squares(degree[slice(*at)]), self._pieces(0, self.n_items)):
            diagonal += part
        gram = probe.gram_at(w, self.risk.h, float(degree.sum()))
        return Corner(probe.columns, Factor(C * gram), 1.0 + C * diagonal)

    def utilities(self, w: Array) -> Array:
        """Return Xw in the order of the risk's items."""
        pieces = self._pieces(0, self.n_items)
        return np.concatenate(list(self._map(lambda at: self.load(*at).product(w), pieces)))

    def largest(self, w: Array) -> float:
        """Return the largest size of a utility at w, of some rows."""
        step = max(1, self.n_items // SOME)
        rows = self.X[::step] if self.rows is None else self.X[self.rows[::step]]
        return float(np.max(np.abs(rows @ w), initial=0.0))

    def pull(self, g: Array) -> Array:
        """Return X'g for g in the order of the risk's items."""
        return self._pull_pieces(g, 0, self.n_items)

    def rounding(self, w: Array, look: Look) -> tuple[float, float]:
        """Estimate what float32 products cost at w: the error of the loss, and of X'g in norm.

        Some rows are multiplied in both precisions; their errors are independent and add in squares.
        """
        loss, pull, n = 0.0, 0.0, 0
        for start, inside in self._probes(w, look):
            stop, n = start + inside.size, n + inside.size
            narrow, wide = (load(self.X, self.rows, start, stop, wide=k) for k in (False, True))
            loss += float(inside @ (narrow.product(w) - wide.product(w))) ** 2
            pull += float(np.sum((narrow.adjoint(inside) - wide.adjoint(inside)) ** 2))
        grow = self.n_items / n
        return float(np.sqrt(grow * loss)), float(np.sqrt(grow * pull))

    def _probes(self, w: Array, look: Look) -> Iterator[tuple[int, Array]]:
        """Yield where some rows begin, and their part of g; that is computed anew where it was not kept."""
        if self.is_lean:
            for block in self.plan[:: max(1, len(self.plan) // N_PROBES)]:
                ends = np.cumsum(np.diff(self.risk.starts)[block.groups])
                n_groups = int(np.searchsorted(ends, min(PROBE_ROWS, int(ends[-1])))) + 1
                some = Block(block.start, block.start + int(ends[n_groups - 1]), block.groups[:n_groups])
                _, g = self.risk.evaluate_block(self.load(some.start, some.stop).product(w), some)
                yield from ((some.start + a, g[a : a + PROBE_ROWS]) for a in range(0, g.size, PROBE_ROWS))
            return
        starts, g = range(0, self.n_items, PROBE_ROWS), look.g
        for start in starts[:: max(1, len(starts) // N_PROBES)]:
            yield start, g[start : start + PROBE_ROWS]

    def _look_block(self, w: Array, block: Block, g: Array) -> tuple[Terms, Array]:
        """Return the sums over a block and its part of X'g; g is written where it has room."""
        if sparse.issparse(self.X):
            rows = self.load(block.start, block.stop)
            terms, g = self.risk.evaluate_block(rows.product(w), block, g if g.size else None)
            return terms, rows.adjoint(g)
        which, dtype = EVERY if self.rows is None else self.rows, float if self.is_wide else self.X.dtype
        most = max(1, PIECE_BYTES // (np.dtype(dtype).itemsize * self.n_features))
        return self.risk.look(self.X, which, w.astype(dtype, copy=False), block, most, g)

    def _pieces(self, start: int, stop: int) -> list[tuple[int, int]]:
        size = _rows_of_a_block(self.X, self.n_items)
        return [(a, min(stop, a + size)) for a in range(start, stop, size)]

    def _pull_pieces(self, g: Array, start: int, stop: int) -> Array:
        # short float32 sums, added up in float64
        total, pieces = np.zeros(self.n_features), self._pieces(start, stop)
        for part in self._map(lambda at: self.load(*at).adjoint(g[at[0] - start : at[1] - start]), pieces):
            total += part
        return total

    def load(self, start: int, stop: int) -> Rows:
        """Return some rows, in the order of the risk's items."""
        return load(self.X, self.rows, start, stop, wide=self.precise)

    def _map(self, work: Callable[[S], T], items: list[S], times: float = 1.0) -> Iterable[T]:
        """Do the work on each block or piece, in their order; it takes so many times a look's."""
        is_little = times * self.n_items * self.n_features < LITTLE
        if self.pool is None or len(items) < 2 or is_little:
            return map(work, items)
        return self.pool.map(work, items)


@dataclass
class Probe:
    """A sample that stands for all pairs, its columns of most mass written out, and their last Hessian."""

    columns: IntArray
    few: LinearPairs
    heavy: LinearPairs
    gram: Array | None = None
    degree: float = 0.0  # of all items together, where the Hessian was made

    def gram_at(self, w: Array, h: float, degree: float) -> Array:
        """Return the columns' part of X'LX at w: the last one, scaled, as long as about as many pairs are active."""
        if self.gram is None or not self.degree / MOST_DRIFT < degree < self.degree * MOST_DRIFT:
            self.gram, self.degree = self.heavy.smoothed(h).gram_at(self.few.utilities(w)), degree
        return self.gram * (degree / self.degree if self.degree > 0.0 else 1.0)

    @classmethod
    def of(cls, data: LinearPairs) -> Probe:
        """Draw some thousand items with a fixed seed."""
        most, rows_each = HEAVY_SPARSE if sparse.issparse(data.X) else HEAVY_DENSE
        n_columns = min(data.n_features, most)
        sample = data.risk.sample(min(data.n_items, rows_each * n_columns), PROBE_SEED)
        few = data.subset(sample.items, sample.pieces)
        mass = few.load(0, few.n_items).squares(np.ones(few.n_items))
        columns = np.sort(np.argsort(-mass, kind="stable")[:n_columns])
        X: Any = few.X[:, columns] if few.some is None else few.load(0, few.n_items).dense()[:, columns]
        X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float32)
        return cls(columns, few, LinearPairs.of(X, few.risk, precise=False, pool=data.pool))


def _scales(X: Any, rows: IntArray | None = None) -> float:
    """Return by how much columns and their offsets exceed the spread of one, at some rows: float32 mixes them up."""
    some = X[:: max(1, X.shape[0] // 500)] if rows is None else X[rows[:: max(1, rows.size // 500)]]
    some = some.astype(float)
    with np.errstate(over="ignore", invalid="ignore"):  # of entries that nobody looked at yet
        spread = some.std(axis=0)
    spread = spread[spread > 0.0]
    return float(max(spread.max(), np.abs(some).max()) / spread.min()) if spread.size > 0 else 1.0


def _rows_of_a_block(X: Any, n: int) -> int:
    if sparse.issparse(X):  # each block gives a vector of all columns: it must have many more entries
        entries = max(BLOCK_BYTES // 8, 4 * X.shape[1])
        return max(64, entries * X.shape[0] // max(1, X.nnz))
    most = min(MOST_ROWS, max(64, BLOCK_BYTES // max(1, 4 * X.shape[1])))
    return min(most, max(LEAST_ROWS, n // BLOCKS))
