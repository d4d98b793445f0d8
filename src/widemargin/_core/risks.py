"""How badly utilities violate the comparisons: value, gradient and Hessian product in the space of u.

`value_gradient_hessp(u)` is the whole contract. The hinge is smoothed by h > 0 (a Huber corner over margins
1 - h .. 1 + h) so that it has one; `terms` carries the exact hinge beside it, and what a dual point needs:
the slopes of the smoothed loss lie in [0, 1], so they are a feasible dual point of the *exact* problem and

    dual value = C * conjugate - 1/2 ||C D' slopes||^2     is a true lower bound at every u.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import _counting, _hessian, _steps
from .comparisons import IntArray, Levels, from_levels
from .draws import PIECE, draw_groups, draw_large, ranges
from .losses import Hinge, SquaredHinge
from .solution import Array

Loss: TypeAlias = Hinge | SquaredHinge
Hessp: TypeAlias = Callable[[Array], Array]
LARGE_GROUP = 512, 16  # a group of more items, and more than one part in so many of a sample, is sampled by its items
ALIKE = 1e-10  # share of a loss that nobody misses
FEW_PARTNERS = 80  # of an item on average: up to so many, a group's pairs are all met faster than its items are sorted


class Terms(NamedTuple):
    """The sums that one look at the pairs gives."""

    value: float  # the smooth loss that Newton minimises
    loss: float  # the exact loss of the problem
    conjugate: float  # sum of the slopes, less their cost where slacks are squared


class Parts(NamedTuple):
    """Of a preconditioner: c -> change c for coordinates in a basis of the span of some items, else a factor."""

    items: IntArray
    inverse: Array  # U^-1, U'U the items' matrix; by columns
    change: Array  # symmetric, by columns
    basis: NDArray  # values at all items, in the precision of K
    across: float


class Block(NamedTuple):
    """Rows `start:stop` hold exactly the items of these groups."""

    start: int
    stop: int
    groups: IntArray


@dataclass(frozen=True)
class Hessian:
    """The product with the Hessian of a risk at u."""

    risk: GroupedPairRisk
    u: Array

    @cached_property
    def by_u(self) -> IntArray:
        """Return the positions of each group in ascending order of u."""
        levels, out = self.risk.levels, np.empty(self.u.size, np.int64)
        every = np.arange(self.risk.starts.size - 1)
        _hessian.ascending(self.u, levels.order, self.risk.rank, self.risk.starts, every, out)
        return out

    def __call__(self, v: Array) -> Array:
        """Return L v."""
        risk, levels, (edges, shares) = self.risk, self.risk.levels, self.risk.edges()
        out, every = np.zeros(self.u.size), np.arange(risk.starts.size - 1)
        v = np.ascontiguousarray(v, dtype=float)
        _hessian.laplacian_product(
            self.u, v, levels.order, self.by_u, risk.rank, risk.starts, every, levels.weight, edges, shares, out
        )
        return out

    def solve(
        self,
        strips: list[NDArray],
        C: float,
        r: Array,
        by: Parts,
        known: Array,
        share: float,
        enough: float,
        most: int,
    ) -> tuple[Array, int, float]:
        """Solve (I + C L K) x = r by conjugate gradients; return x over K x, the number of steps, and the last r'Kr.

        K is given by strips of columns, each from the diagonal down; one strip is all of it.
        r comes over K r, and so do known vectors, which change: it begins with their best sum. It ends where r'Kr falls
        to a share of what it was, or to `enough` for the mean of all x that leaves least; 0 steps: most were taken.
        """
        levels, (edges, shares) = self.risk.levels, self.risk.edges()
        r, x = r.copy(), np.zeros(r.shape)
        where = (self.u, levels.order, self.by_u, self.risk.rank, self.risk.starts, levels.weight, edges, shares)
        n_steps = _steps.conjugate_gradients(strips[0], strips[1:], C, *where, *by, known, r, x, share, enough, most)
        return x, n_steps, float(r[0] @ r[1])


@dataclass(frozen=True)
class GroupedPairRisk:
    """Every pair of different level within a group, never written out: O(n log n) a look.

    `rank` and `starts` describe the positions of `levels.order`: the level counted from 0 in each group,
    and where each group begins.
    """

    levels: Levels
    loss: Loss
    h: float = 0.5  # smoothing of the hinge
    few: int = FEW_PARTNERS

    @property
    def rank(self) -> IntArray:
        """Return the level of each sorted item counted from 0 in its group."""
        return self.levels.rank

    @property
    def starts(self) -> IntArray:
        """Return where each group begins among the sorted items."""
        return self.levels.starts

    @property
    def is_exact(self) -> bool:
        """Return whether the smooth loss is the loss of the problem."""
        return self.loss.squared

    def smoothed(self, h: float) -> GroupedPairRisk:
        """Return the same risk with another smoothing."""
        return replace(self, h=h)

    def value_gradient_hessp(self, u: Array) -> tuple[float, Array, Hessp]:
        """Return the smooth loss at u, its gradient, and the product with its Hessian."""
        terms, g, hessp = self.evaluate(u)
        return terms.value, g, hessp

    def evaluate(self, u: Array) -> tuple[Terms, Array, Hessian]:
        """Return all sums at u, the gradient, and the product with the Hessian."""
        terms, g = self.evaluate_block(u, Block(0, u.size, np.arange(self.starts.size - 1)))
        return terms, g, Hessian(self, u)

    def gradient(self, u: Array) -> Array:
        """Return the gradient at u."""
        return self.evaluate_block(u, Block(0, u.size, np.arange(self.starts.size - 1)))[1]

    def loss_near(self, u: Array, loss: float, g: Array, seen: Array) -> float:
        """Return the loss at u, or hardly more: that of utilities that were seen, of gradient g, if u is as near."""
        apart = u - seen
        bend = self.levels.total_weight * float(np.ptp(apart)) ** 2  # phi(m + e) <= phi(m) + phi'(m) e + e^2
        if self.is_exact and bend <= ALIKE * loss:
            return loss + float(g @ apart) + bend
        return self.evaluate(u)[0].loss

    def evaluate_block(self, u: Array, block: Block, out: Array | None = None) -> tuple[Terms, Array]:
        """Return the sums over the groups of a block and the gradient in its utilities, written to `out` if given."""
        edges, shares = self.edges()
        sums, g = np.zeros(3), np.empty(u.size) if out is None else out
        g[:] = 0.0
        levels = self.levels
        fine = _counting.gradient(
            u,
            block.start,
            levels.order,
            self.rank,
            self.starts,
            block.groups,
            levels.weight,
            edges,
            shares,
            self.few,
            g,
            sums,
        )
        return self._terms(sums) if fine else Terms(np.nan, np.nan, np.nan), g

    def look(self, X: NDArray, which: IntArray, w: NDArray, block: Block, most: int, out: Array) -> tuple[Terms, Array]:
        """Return the sums over a block at u = X w and X'g, in one go without the GIL; g goes to `out`, if it has room.

        The rows are those of X[which], or of X where `which` is empty; `most` of them at a time stay in cache.
        """
        edges, shares = self.edges()
        sums, pull, at = np.zeros(3), np.zeros(X.shape[1]), self.levels
        fine = _counting.look(
            X,
            which,
            w,
            block.start,
            at.order,
            self.rank,
            self.starts,
            block.groups,
            at.weight,
            edges,
            shares,
            self.few,
            most,
            out,
            pull,
            sums,
        )
        return self._terms(sums) if fine else Terms(np.nan, np.nan, np.nan), pull

    def degrees(self, u: Array, block: Block) -> Array:
        """Return the diagonal of the Hessian over the groups of a block."""
        edges, shares = self.edges()
        out = np.zeros(u.size)
        at = self.levels
        _hessian.degrees(u, block.start, at.order, self.rank, self.starts, block.groups, at.weight, edges, shares, out)
        return out

    def laplacian_half(self, u: Array, X: NDArray, block: Block, out: NDArray | None = None) -> NDArray:
        """Return Y with X'Y + Y'X = X'LX, L the Hessian over the groups of a block; u and X are its rows."""
        edges, shares = self.edges()
        Y = np.empty_like(X) if out is None else out[: X.shape[0]]
        at, groups = self.levels, block.groups
        _hessian.laplacian_rows(
            u, block.start, at.order, self.rank, self.starts, groups, at.weight, edges, shares, X, Y
        )
        return Y

    def laplacian_all(self, u: Array, X: NDArray) -> NDArray:
        """Return Y with X'Y + Y'X = X'LX over all groups."""
        return self.laplacian_half(u, X, Block(0, u.size, np.arange(self.starts.size - 1)))

    @property
    def pairs_of_many_levels(self) -> int:
        """Return how many pairs there may be in groups of many levels, whose Laplacians take longer."""
        many = self.rank[self.starts[:-1]] >= _hessian.FEW_LEVELS
        return int(np.sum(np.diff(self.starts)[many] ** 2))

    def edges(self) -> tuple[Array, Array]:
        """Return thresholds t and shares s: the smooth loss is sum s phi(t); s = 0 asks for H(t) only."""
        if self.is_exact:
            return np.array([1.0]), np.array([1.0])
        quarter = 0.25 / self.h
        return np.array([1.0 + self.h, 1.0 - self.h, 1.0]), np.array([quarter, -quarter, 0.0])

    def _terms(self, sums: Array) -> Terms:
        value, loss, slopes = sums
        return Terms(value, value, 2.0 * slopes - value) if self.is_exact else Terms(value, loss, 2.0 * slopes)

    def blocks(self, n_rows: int) -> list[Block]:
        """Cut the items into blocks of whole groups, about n_rows each; needs groups that are contiguous."""
        by_row = np.argsort(self.levels.spans[0], kind="stable").astype(np.int64)
        ends = np.cumsum(np.diff(self.starts)[by_row])
        cuts = np.flatnonzero(np.diff(ends // n_rows, prepend=0)) + 1
        cuts = np.append(cuts[cuts < ends.size], ends.size)
        bounds = np.concatenate([[0], cuts]).tolist()
        rows = np.concatenate([[0], ends[cuts - 1]]).tolist()
        return [Block(a, b, by_row[i:j]) for (a, b), (i, j) in zip(pairwise(rows), pairwise(bounds), strict=True)]

    @property
    def is_contiguous(self) -> bool:
        """Return whether the items of each group lie next to each other."""
        first, last = self.levels.spans
        return np.array_equal(last - first + 1, np.diff(self.starts))

    def contiguous(self) -> tuple[IntArray | None, GroupedPairRisk]:
        """Return (rows, risk over those rows) such that each group is contiguous; rows None: as they are."""
        if self.is_contiguous:
            return None, self
        at, order = self.levels, self.levels.order
        moved = replace(at, weight=at.weight[order], order=np.arange(order.size), is_sorted=True)
        return order, replace(self, levels=moved)

    def take(self, items: IntArray, level: IntArray, group: IntArray) -> GroupedPairRisk:
        """Return the risk of the pairs among some items, of these levels within new groups."""
        return replace(self, levels=from_levels(level, group, self.levels.weight[items]))

    def sample(self, n_items: int, seed: int) -> Sample:
        """Draw whole groups, and items of large ones, until about n_items items are in."""
        rng = np.random.default_rng(seed)
        share = n_items / self.levels.n_items
        is_large = np.diff(self.starts) > max(LARGE_GROUP[0], n_items // LARGE_GROUP[1])
        small = draw_groups(self.levels, np.flatnonzero(~is_large), share, rng)
        large = draw_large(self.levels, np.flatnonzero(is_large), share, rng)
        positions, counts, factor = (np.concatenate(both) for both in zip(small[:3], large[:3], strict=True))
        items, level = self.levels.order[positions], self.rank[positions]
        group = np.repeat(np.arange(counts.size), counts)
        is_even = small.is_even and not is_large.any()
        if is_even and self.is_contiguous:  # as they lie within their groups
            at = np.cumsum(counts) - counts
            first = np.minimum.reduceat(items, at)
            level[items - np.repeat(first - at, counts)] = level.copy()
            items = ranges(first, counts)
        else:
            by_row = np.argsort(group * self.levels.n_items + items, kind="stable")
            items, level, factor = items[by_row], level[by_row], factor[by_row]
        own = self.take(items, level, group)
        whole = own.boosted(factor)
        if not is_large.any():
            return Sample(items, own, whole, whole, is_even)
        n_pieces = np.concatenate([np.ones_like(small.counts), -(-large.counts // PIECE)])
        parts = [np.arange(n) * k // n for n, k in zip(counts, n_pieces, strict=True)]
        start = np.repeat(np.cumsum(n_pieces) - n_pieces, counts)
        pieces = self.take(items, level, start + np.concatenate(parts))
        return Sample(items, own, whole, pieces.boosted(factor * np.sqrt(np.repeat(n_pieces, counts))), is_even=False)

    def boosted(self, factor: Array) -> GroupedPairRisk:
        """Return the same pairs with the items' weights multiplied."""
        return replace(self, levels=replace(self.levels, weight=self.levels.weight * factor))


class Sample(NamedTuple):
    """Some items and the pairs among them."""

    items: IntArray
    own: GroupedPairRisk  # as they are
    whole: GroupedPairRisk  # with the weight of all pairs
    pieces: GroupedPairRisk  # the same, but large groups cut: their Hessian is cheap
    is_even: bool  # every pair stands for as many others

    @property
    def share(self) -> float:
        """Return the weight of the pairs as they are, of that of all."""
        own, whole = self.own.levels, self.whole.levels
        if self.is_even:
            return float(own.weight[0] / whole.weight[0]) ** 2
        return own.total_weight / whole.total_weight
