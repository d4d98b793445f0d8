"""Coefficients on pairs, in as many variables as items: flow along the chain of levels.

The 1-norm ranking SVM 004 (94)-(96) has a coefficient alpha_ij for every pair, but its utilities depend only on
b = B'alpha. Preference is transitive, so b costs sum b+ whenever it can be sent from better to worse items at all:
flow enters a chain below the level of its source, runs down, and leaves above the level of its sink.

    p_i: item -> hub below its level (cost 1);  n_j: hub above its level -> item;  w: hub -> next hub

For signed alpha a second chain runs upwards, with the same costs. Items of one level never exchange flow, so the
reduction is exact with ties. Going back, sources and sinks of a chain are matched in order: less than one pair per
nonzero of b, and each is a pair of the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import blas, solve_triangular

from ..comparisons import IntArray
from ..solution import Array
from .pair_graph import PairGraph, Query, network_cholesky, sums

NEGLIGIBLE = 1e-14  # of a chain's flow: less than this between two items is rounding


@dataclass(frozen=True)
class Chain:
    """The levels of one query in one direction; indices of arcs and hubs are global, nodes too."""

    query: int
    upwards: bool
    hubs: slice
    sources: IntArray  # nodes that can send
    source_arcs: slice
    source_hubs: IntArray  # where each sends to, counted within the chain
    sinks: IntArray
    sink_arcs: slice
    sink_hubs: IntArray
    links: slice  # arcs between neighbouring hubs


@dataclass(frozen=True)
class Chains:
    """The routing of the pairs machine."""

    graph: PairGraph
    positive: bool
    chains: tuple[Chain, ...]
    rivals: IntArray  # (r,) how many nodes of its query are better than each node
    cost: Array
    U: sparse.csc_array
    A: sparse.csc_array
    U_transposed: sparse.csr_array  # kept: making a transpose costs more than using it
    A_transposed: sparse.csr_array
    over_pairs: bool = True

    def carry(self, first: IntArray, second: IntArray, amount: Array) -> Array:
        """Return the arcs' flow for these coefficients of pairs (better, worse)."""
        x = np.zeros(self.cost.size)
        for chain in self.chains:
            nodes = self.graph.queries[chain.query].nodes
            used = (first >= nodes.start) & (first < nodes.stop) & ((amount < 0.0) == chain.upwards)
            sender, taker = (second, first) if chain.upwards else (first, second)
            sent, taken = (sums(v[used], np.abs(amount[used]), self.graph.n_nodes) for v in (sender, taker))
            x[chain.source_arcs], x[chain.sink_arcs] = sent[chain.sources], taken[chain.sinks]
            n_hubs = chain.hubs.stop - chain.hubs.start
            into = sums(chain.source_hubs, sent[chain.sources], n_hubs)
            along = np.cumsum(into - sums(chain.sink_hubs, taken[chain.sinks], n_hubs))[:-1]
            x[chain.links] = np.maximum(-along if chain.upwards else along, 0.0)
        return x

    def deliver(self, x: Array) -> Array:
        """Return U x."""
        return self.U @ x

    def charge(self, q: Array) -> Array:
        """Return U'q."""
        return self.U_transposed @ q

    def inflow(self, x: Array) -> Array:
        """Return A x."""
        return self.A @ x

    def lift(self, potential: Array) -> Array:
        """Return A'potential."""
        return self.A_transposed @ potential

    def settle(self, x: Array) -> tuple[float, Array]:
        """Return the cost of the pairs that carry x, and their b = B'alpha."""
        pairs, alpha = self.pairs(x)
        n = self.graph.n_nodes
        b = sums(pairs[:, 0], alpha, n) - sums(pairs[:, 1], alpha, n)
        return float(np.abs(alpha).sum()), b

    def pairs(self, x: Array) -> tuple[IntArray, Array]:
        """Return pairs (better, worse) of nodes and their coefficients."""
        found = [self._matched(chain, x) for chain in self.chains]
        return np.concatenate([pairs for pairs, _ in found]), np.concatenate([alpha for _, alpha in found])

    def _matched(self, chain: Chain, x: Array) -> tuple[IntArray, Array]:
        """Match the sources of a chain to its sinks in order, as far as both last."""
        query = self.graph.queries[chain.query]
        lo, size = query.nodes.start, query.nodes.stop - query.nodes.start
        net = np.zeros(size)
        net[chain.sources - lo] += x[chain.source_arcs]
        net[chain.sinks - lo] -= x[chain.sink_arcs]
        if chain.upwards:
            net = net[::-1]
        source, sink, flow = _in_order(net)
        first, second = (lo + size - 1 - sink, lo + size - 1 - source) if chain.upwards else (lo + source, lo + sink)
        kept = self.graph.level[first] > self.graph.level[second]
        pairs = np.column_stack([first, second])[kept]
        return pairs, -flow[kept] if chain.upwards else flow[kept]

    def steepest(self, g: Array) -> float:
        """Return the largest g_i - g_j over the pairs, or |g_i - g_j| where coefficients may be negative."""
        largest = -np.inf
        for query in self.graph.queries:
            here, rivals = g[query.nodes], self.rivals[query.nodes]
            compared = rivals > 0
            ahead = np.maximum.accumulate(here)[rivals - 1] - here
            largest = max(largest, float(ahead[compared].max()))
            if not self.positive:
                behind = here - np.minimum.accumulate(here)[rivals - 1]
                largest = max(largest, float(behind[compared].max()))
        return largest

    def metric(self, theta: Array, *, careful: bool) -> ChainMetric:
        """Eliminate the hubs: return the factored conductance between items."""
        inverses = []
        between = [np.zeros(query.is_edge.shape) for query in self.graph.queries]
        for chain in self.chains:
            lo = self.graph.queries[chain.query].nodes.start
            n_hubs = chain.hubs.stop - chain.hubs.start
            arcs = np.concatenate([theta[chain.source_arcs], theta[chain.sink_arcs]])
            hubs = np.concatenate([chain.source_hubs, chain.sink_hubs])
            inverse = _hub_inverse(sums(hubs, arcs, n_hubs), theta[chain.links])
            nodes = np.concatenate([chain.sources, chain.sinks]) - lo
            H = sparse.csr_array((arcs, (nodes, hubs)), shape=(len(between[chain.query]), n_hubs))
            between[chain.query] += (H @ inverse) @ H.T
            inverses.append(inverse)
        factors = tuple(_items_factor(G, careful=careful) for G in between)
        return ChainMetric(self.graph.queries, self.chains, factors, tuple(inverses))


@dataclass(frozen=True)
class ChainMetric:
    """One factor per query, one inverse per chain."""

    queries: tuple[Query, ...]
    chains: tuple[Chain, ...]
    factors: tuple[Array, ...]
    inverses: tuple[Array, ...]

    def half(self, v: Array) -> Array:
        """Return F v."""
        return np.concatenate([F @ v[q.nodes] for q, F in zip(self.queries, self.factors, strict=True)])

    def half_transposed(self, v: Array) -> Array:
        """Return F'v."""
        return np.concatenate([F.T @ v[q.nodes] for q, F in zip(self.queries, self.factors, strict=True)])

    def half_solve(self, v: Array) -> Array:
        """Return F^-1 v."""
        return self._solved(v, "N")

    def half_solve_transposed(self, v: Array) -> Array:
        """Return F^-T v."""
        return self._solved(v, "T")

    def _solved(self, v: Array, trans: str) -> Array:
        blocks = zip(self.queries, self.factors, strict=True)
        return np.concatenate(
            [solve_triangular(F, v[q.nodes], lower=True, trans=trans, check_finite=False) for q, F in blocks]
        )

    def spread(self, K: Array, out: Array) -> Array:
        """Return K F, in `out`."""
        for query, F in zip(self.queries, self.factors, strict=True):
            out[:, query.nodes] = blas.dtrmm(1.0, F, K[:, query.nodes], side=1, lower=1)
        return out

    def hub_potentials(self, inflow: Array) -> Array:
        """Return the potentials that send this inflow away from the hubs."""
        out = np.empty_like(inflow)
        for chain, inverse in zip(self.chains, self.inverses, strict=True):
            out[chain.hubs] = inverse @ inflow[chain.hubs]
        return out


def _in_order(net: Array) -> tuple[IntArray, IntArray, Array]:
    """Match what positive entries send with what negative ones take, both in order of position."""
    source, sink = np.flatnonzero(net > 0.0), np.flatnonzero(net < 0.0)
    sent, taken = np.cumsum(net[source]), np.cumsum(-net[sink])
    if source.size == 0 or sink.size == 0:
        return source[:0], sink[:0], net[:0]
    total = min(sent[-1], taken[-1])
    cuts = np.union1d(sent, taken)
    flow = np.diff(np.minimum(cuts, total), prepend=0.0)
    kept = flow > NEGLIGIBLE * total
    middle = (cuts - 0.5 * np.diff(cuts, prepend=0.0))[kept]
    return source[np.searchsorted(sent, middle)], sink[np.searchsorted(taken, middle)], flow[kept]


def _hub_inverse(leak: Array, link: Array) -> Array:
    """Return the inverse of the hubs' tridiagonal conductance: `leak` to the items, `link` to the next hub.

    The matrix is eliminated from both ends as a ladder of conductors. All numbers stay positive and nothing is
    subtracted, so each entry of the inverse is right to relative precision, however wide the range of theta.
    """
    before, after = _ladder(leak, link), _ladder(leak[::-1], link[::-1])[::-1]
    own = 1.0 / (leak + before + after)
    # the share of a hub's potential that the next one sees, added up in logarithms: products would underflow
    fall = np.concatenate([[0.0], np.cumsum(np.log(link) - np.log(link + leak[1:] + after[1:]))])
    upper = np.triu(np.exp(np.minimum(fall[None, :] - fall[:, None], 0.0)) * own[:, None])
    return upper + np.triu(upper, 1).T


def _ladder(leak: Array, link: Array) -> Array:
    """Return for each hub the conductance to the items through the hubs before it."""
    out = [0.0]
    for own, next_link in zip(leak.tolist(), link.tolist(), strict=False):
        here = own + out[-1]
        out.append(here * (next_link / (next_link + here)))
    return np.array(out[: leak.size])


def _items_factor(between: Array, *, careful: bool) -> Array:
    np.fill_diagonal(between, 0.0)
    return np.tril(network_cholesky(np.asfortranarray(between), between.sum(axis=1), careful=careful))


def from_graph(graph: PairGraph, *, positive: bool) -> Chains:
    """Lay a chain down the levels of every query and, if signed, one up."""
    rank, rivals = _ranks(graph)
    chains: list[Chain] = []
    for upwards in (False,) if positive else (False, True):
        for k, query in enumerate(graph.queries):
            chains.append(_chain(k, query, rank[query.nodes], chains[-1] if chains else None, upwards=upwards))
    U, A, cost = _matrices(graph, tuple(chains))
    return Chains(graph, positive, tuple(chains), rivals, cost, U, A, sparse.csr_array(U.T), sparse.csr_array(A.T))


def _ranks(graph: PairGraph) -> tuple[IntArray, IntArray]:
    """Return the level of each node counted from the top of its query, and how many nodes are above it."""
    rank, rivals = np.zeros(graph.n_nodes, dtype=np.int64), np.zeros(graph.n_nodes, dtype=np.int64)
    for query in graph.queries:
        rises = np.diff(graph.level[query.nodes], prepend=graph.level[query.nodes.start]) != 0
        rank[query.nodes] = np.cumsum(rises)
        starts = np.concatenate([[0], np.flatnonzero(rises)])
        rivals[query.nodes] = starts[rank[query.nodes]]
    return rank, rivals


def _chain(k: int, query: Query, rank: IntArray, previous: Chain | None, *, upwards: bool) -> Chain:
    first_arc, first_hub = (previous.links.stop, previous.hubs.stop) if previous is not None else (0, 0)
    n_hubs = int(rank[-1])
    nodes = np.arange(query.nodes.start, query.nodes.stop)
    above, below = rank < n_hubs, rank > 0  # who has a hub below, who has one above
    sends, takes = (below, above) if upwards else (above, below)
    hub_sent, hub_taken = (rank - 1, rank) if upwards else (rank, rank - 1)
    cuts = np.cumsum([first_arc, sends.sum(), takes.sum(), n_hubs - 1]).tolist()
    return Chain(
        query=k,
        upwards=upwards,
        hubs=slice(first_hub, first_hub + n_hubs),
        sources=nodes[sends],
        source_arcs=slice(cuts[0], cuts[1]),
        source_hubs=hub_sent[sends],
        sinks=nodes[takes],
        sink_arcs=slice(cuts[1], cuts[2]),
        sink_hubs=hub_taken[takes],
        links=slice(cuts[2], cuts[3]),
    )


def _matrices(graph: PairGraph, chains: tuple[Chain, ...]) -> tuple[sparse.csc_array, sparse.csc_array, Array]:
    n_arcs, n_hubs = chains[-1].links.stop, chains[-1].hubs.stop
    U, A = sparse.lil_array((graph.n_nodes, n_arcs)), sparse.lil_array((n_hubs, n_arcs))
    cost = np.zeros(n_arcs)
    for chain in chains:
        sent, taken = np.arange(n_arcs)[chain.source_arcs], np.arange(n_arcs)[chain.sink_arcs]
        upper, lower = np.arange(n_hubs)[chain.hubs][:-1], np.arange(n_hubs)[chain.hubs][1:]
        links = np.arange(n_arcs)[chain.links]
        cost[sent] = 1.0
        U[chain.sources, sent], U[chain.sinks, taken] = 1.0, -1.0
        A[chain.hubs.start + chain.source_hubs, sent] = 1.0
        A[chain.hubs.start + chain.sink_hubs, taken] = -1.0
        A[upper, links], A[lower, links] = (1.0, -1.0) if chain.upwards else (-1.0, 1.0)
    U[graph.grounds] = 0.0  # what the ground gets follows from the others
    return sparse.csc_array(U), sparse.csc_array(A), cost
