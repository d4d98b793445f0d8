"""The pairs of an ordering as the edges of a graph: differences, imbalances and weighted Laplacians.

The items of a query are nodes, sorted from the most preferred to the least; every pair of different level is an
edge from better to worse. With B the edge-by-node matrix of +1 and -1, a part's `difference` is B s and its `pull`
is B'y; `laplacian_factors` are Cholesky factors of B'WB with the last node of each query left out: the graph of a
query is connected, so what remains is positive definite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from .. import _pairs
from ..comparisons import IntArray, Levels
from ..solution import Array

# Edges per part: a part's temporaries stay in the cache, whole arrays of 5e5 edges pay page faults at every step.
PART = 16_384
BLOCK = 48  # columns that are eliminated one by one between two matrix products


def sums(index: IntArray, values: Array, size: int) -> Array:
    """Return for 0, 1, ... size - 1 the sum of the values with this index."""
    return np.bincount(index, values, size).astype(float, copy=False)


@dataclass(frozen=True)
class Part:
    """A run of nodes and the edges that leave them."""

    nodes: slice
    edges: slice
    reach: IntArray  # edges that leave each node
    worse: IntArray  # where they end
    tails: IntArray  # the nodes with at least one edge
    starts: IntArray  # the first edge of each of them, counted within the part

    def difference(self, s: Array) -> Array:
        """Return B s on these edges: by how much the better node is ahead."""
        out = np.repeat(s[self.nodes], self.reach)
        out -= s[self.worse]
        return out

    def pull(self, y: Array, into: Array, sign: float = -1.0) -> None:
        """Add B'y of these edges to `into`, what leaves each node minus what arrives; with sign = 1 add |B|'y."""
        into[self.tails] += np.add.reduceat(y, self.starts)
        into += sign * sums(self.worse, y, into.size)


@dataclass(frozen=True)
class Query:
    """The nodes and the edges of one query; `is_edge` marks the edges in the square of the nodes."""

    nodes: slice
    edges: slice
    is_edge: NDArray[np.bool_]

    @property
    def ground(self) -> int:
        """Return the last node: utilities of the query are measured from it."""
        return int(self.nodes.stop - 1)


@dataclass(frozen=True)
class PairGraph:
    """All pairs, written out in the order of their better node, then of their worse node."""

    item: IntArray  # (r,) node -> the user's item; an item without a pair is no node
    level: IntArray  # (r,) node -> level, counted from 0 in its query
    reach: IntArray  # (r,) edges that leave each node
    head: IntArray  # (r,) where the first of them ends; the others end at the nodes that follow
    worse: IntArray  # (P,) where each edge ends
    weight: Array  # (P,)
    queries: tuple[Query, ...]
    parts: tuple[Part, ...]

    @property
    def n_nodes(self) -> int:
        """Return the number of items that take part in a pair."""
        return self.item.size

    @property
    def n_edges(self) -> int:
        """Return the number of pairs."""
        return self.worse.size

    @property
    def better(self) -> IntArray:
        """Return where each edge begins."""
        return np.repeat(np.arange(self.n_nodes), self.reach)

    @property
    def grounds(self) -> IntArray:
        """Return the last node of each query."""
        return np.array([query.ground for query in self.queries], dtype=np.int64)

    def difference(self, s: Array) -> Array:
        """Return B s on all edges."""
        out = np.empty(self.n_edges)
        for part in self.parts:
            out[part.edges] = part.difference(s)
        return out

    def imbalance(self, y: Array) -> Array:
        """Return B'y: what leaves each node minus what arrives."""
        out = np.zeros(self.n_nodes)
        for part in self.parts:
            part.pull(y[part.edges], out)
        return out

    def grounded(self, M: Array) -> Array:
        """Return the rows of M at the nodes, minus the row of the ground of their query.

        Differences within a query stay, and whatever is constant over it disappears.
        """
        out = np.asfortranarray(M[self.item], dtype=float)
        for query in self.queries:
            out[query.nodes] -= out[query.ground].copy()
        return out

    def squares(self) -> list[Array]:
        """Return room for the factors of every query."""
        sizes = [query.nodes.stop - query.nodes.start for query in self.queries]
        return [np.zeros((n, n), order="F") for n in sizes]

    def laplacian_factors(self, W: Array, degree: Array, squares: list[Array], *, careful: bool) -> list[Array]:
        """Return for every query a lower R with R R' = B'WB, the row of the ground replaced by a unit row.

        What is above the diagonal is not defined.
        """
        factors = []
        for query, square in zip(self.queries, squares, strict=True):
            where = self.reach, query.nodes.start, query.edges.start
            if careful:
                _pairs.conductances(*where, W, 1.0, square)
                factors.append(_cholesky_without_subtraction(square))
            else:
                fill = partial(_fill_laplacian, where, W, degree[query.nodes], square)
                factors.append(cholesky(fill))
        return factors


def _fill_laplacian(where: tuple[IntArray, int, int], W: Array, degree: Array, square: Array, jitter: float) -> Array:
    _pairs.conductances(*where, W, -1.0, square)
    return _with_ground(square, degree, jitter)


def _with_ground(A: Array, degree: Array, jitter: float) -> Array:
    """Set the diagonal of a Laplacian, a little raised, and the unit row of the ground."""
    np.fill_diagonal(A, degree * (1.0 + jitter))
    A[-1] = 0.0
    A[-1, -1] = 1.0
    return A


def network_cholesky(between: Array, degree: Array, *, careful: bool) -> Array:
    """Return the lower factor of the Laplacian of a network, its last node replaced by a unit row.

    `between` holds the conductances below the diagonal, `degree` their sums at each node.
    """
    if careful:
        return _cholesky_without_subtraction(between.copy(order="F"))
    return cholesky(lambda jitter: _with_ground(np.negative(between, order="F"), degree, jitter))


def cholesky(fill: Callable[[float], Array]) -> Array:
    """Return the lower Cholesky factor of fill(jitter), in its place.

    `fill` writes a lower triangle with its diagonal raised by this share: 0, and then only as far as needed.
    """
    factor, info = lapack.dpotrf(fill(0.0), lower=1, clean=0, overwrite_a=1)
    jitter = 1e-16
    while info != 0 and jitter < 1.0:
        factor, info = lapack.dpotrf(fill(jitter), lower=1, clean=0, overwrite_a=1)
        jitter *= 30.0
    return factor


def _cholesky_without_subtraction(factor: Array) -> Array:
    """Return the same for conductances that differ by twenty decades, every entry right to most of its digits.

    A pivot is the sum of what is left of its column, not a difference from a degree, and nothing is ever subtracted
    (the rule of Grassmann, Taksar and Heyman). Blocked, so that most of the work is one product per block.
    """
    n = len(factor)
    for lo in range(0, n - 1, BLOCK):
        hi = min(lo + BLOCK, n - 1)
        for j in range(lo, hi):
            column = factor[j + 1 :, j]
            pivot = np.sqrt(column.sum())
            column /= pivot
            factor[j, j] = pivot
            factor[j + 1 :, j + 1 : hi] += np.outer(column, column[: hi - j - 1])
        factor[hi:, hi:] += factor[hi:, lo:hi] @ factor[hi:, lo:hi].T
    for j in range(n - 1):
        np.negative(factor[j + 1 :, j], out=factor[j + 1 :, j])
    factor[-1] = 0.0
    factor[-1, -1] = 1.0
    return factor


def from_levels(levels: Levels) -> PairGraph:
    """Write out the pairs of an ordering."""
    has_pairs, sizes = levels.rank[levels.starts[:-1]] > 0, np.diff(levels.starts)
    kept = np.repeat(has_pairs, sizes)
    node = np.append(np.cumsum(kept) - 1, 0)
    reach = (levels.last - levels.first)[kept]
    offset = np.arange(reach.sum()) - np.repeat(np.cumsum(reach) - reach, reach)
    worse = np.repeat(node[levels.first[kept]], reach) + offset
    item = levels.order[kept]
    weight = levels.weight[item]
    return PairGraph(
        item=item,
        level=levels.rank[kept],
        reach=reach,
        head=node[levels.first[kept]],
        worse=worse,
        weight=np.repeat(weight, reach) * weight[worse],
        queries=_queries(np.repeat(np.flatnonzero(has_pairs), sizes[has_pairs]), reach),
        parts=_parts(reach, worse),
    )


def _queries(group: IntArray, reach: IntArray) -> tuple[Query, ...]:
    cuts = np.flatnonzero(np.diff(group, prepend=-1, append=-1)).tolist() if group.size else [0]
    edge_cuts = np.concatenate([[0], np.cumsum(reach)])[cuts].tolist()
    queries = []
    for k, (lo, hi) in enumerate(pairwise(cuts)):
        # the partners of a node are the last `reach` nodes of its query
        is_edge = np.arange(hi - lo) >= (hi - lo - reach[lo:hi])[:, None]
        queries.append(Query(slice(lo, hi), slice(edge_cuts[k], edge_cuts[k + 1]), is_edge))
    return tuple(queries)


def _parts(reach: IntArray, worse: IntArray) -> tuple[Part, ...]:
    """Cut the edges into runs of whole nodes, about `PART` edges each."""
    ends = np.cumsum(reach)
    starts = ends - reach
    cuts = np.unique(np.searchsorted(ends, np.arange(0, worse.size, PART), side="right")).tolist()
    parts = []
    for lo, hi in pairwise([*cuts, reach.size]):
        tails = lo + np.flatnonzero(reach[lo:hi])
        edges = slice(int(starts[lo]), int(ends[hi - 1]))
        parts.append(Part(slice(lo, hi), edges, reach[lo:hi], worse[edges], tails, starts[tails] - edges.start))
    return tuple(parts)
