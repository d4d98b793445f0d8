"""What coefficients cost and which utilities they can reach: flow on a few arcs.

Every 1-norm machine here is `min cost'x + C risk(K b)` over arcs x >= 0 that deliver b = U x and, where there are
hubs, conserve flow at them: A x = 0. With theta = x / z, an interior point needs the response of b to a charge q
of the items, db = G q: the conductance matrix of the network after its hubs have been eliminated. A routing gives
G by a factor F, F F' = G, and the potentials of the hubs.

`Direct` is the points machine, 004 (102)-(104): one arc per item, or two for signed coefficients, and no hub.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse

from ..comparisons import IntArray
from ..solution import Array


class Metric(Protocol):
    """The factor F of the conductance G = F F', and the inverse of the hubs' own conductance."""

    def half(self, v: Array) -> Array:
        """Return F v."""

    def half_transposed(self, v: Array) -> Array:
        """Return F'v."""

    def half_solve(self, v: Array) -> Array:
        """Return F^-1 v."""

    def half_solve_transposed(self, v: Array) -> Array:
        """Return F^-T v."""

    def spread(self, K: Array, out: Array) -> Array:
        """Return K F, in `out`."""

    def hub_potentials(self, inflow: Array) -> Array:
        """Return what potentials send this inflow away from the hubs, the items held at 0."""


class Routing(Protocol):
    """Arcs, hubs and costs."""

    @property
    def positive(self) -> bool:
        """Return whether coefficients must not be negative."""

    @property
    def cost(self) -> Array:
        """Return the cost of each arc."""

    @property
    def U(self) -> sparse.csc_array:
        """Return the matrix from arcs to items."""

    @property
    def A(self) -> sparse.csc_array:
        """Return the matrix from arcs to hubs."""

    def deliver(self, x: Array) -> Array:
        """Return U x."""

    def charge(self, q: Array) -> Array:
        """Return U'q."""

    def inflow(self, x: Array) -> Array:
        """Return A x."""

    def lift(self, potential: Array) -> Array:
        """Return A'potential."""

    def settle(self, x: Array) -> tuple[float, Array]:
        """Return the cost of a truly feasible flow near x, and the b that it delivers."""

    @property
    def over_pairs(self) -> bool:
        """Return whether coefficients belong to pairs of items, not to items."""

    def carry(self, first: IntArray, second: IntArray, amount: Array) -> Array:
        """Return the arcs' flow for these coefficients: of items, or of pairs (better, worse)."""

    def steepest(self, g: Array) -> float:
        """Return the largest gain of g per unit of cost: a dual point is feasible where it is at most 1."""

    def metric(self, theta: Array, *, careful: bool) -> Metric:
        """Return the factored conductance for these arcs; carefully where cancellation has been met."""


@dataclass(frozen=True)
class Diagonal:
    """The conductance of separate arcs."""

    root: Array

    def half(self, v: Array) -> Array:
        """Return F v."""
        return self.root * v

    def half_transposed(self, v: Array) -> Array:
        """Return F'v."""
        return self.root * v

    def half_solve(self, v: Array) -> Array:
        """Return F^-1 v."""
        return v / self.root

    def half_solve_transposed(self, v: Array) -> Array:
        """Return F^-T v."""
        return v / self.root

    def spread(self, K: Array, out: Array) -> Array:
        """Return K F, in `out`."""
        return np.multiply(K, self.root, out=out)

    def hub_potentials(self, inflow: Array) -> Array:
        """Return nothing: there are no hubs."""
        return inflow


@dataclass(frozen=True)
class Direct:
    """Each item has its own coefficient: positive, or the difference of two positive ones."""

    cost: Array
    U: sparse.csc_array
    A: sparse.csc_array
    positive: bool
    over_pairs: bool = False

    def carry(self, first: IntArray, second: IntArray, amount: Array) -> Array:  # noqa: ARG002
        """Return the arcs' flow for these coefficients of items."""
        a = np.zeros(self.U.shape[0])
        a[first] = amount
        return np.maximum(a if self.positive else np.concatenate([a, -a]), 0.0)

    def deliver(self, x: Array) -> Array:
        """Return the coefficients."""
        if self.positive:
            return x
        plus, minus = x.reshape(2, -1)
        return plus - minus

    def charge(self, q: Array) -> Array:
        """Return q, and -q for the arcs that take away."""
        return q if self.positive else np.concatenate([q, -q])

    def inflow(self, x: Array) -> Array:  # noqa: ARG002
        """Return nothing: there are no hubs."""
        return np.zeros(0)

    def lift(self, potential: Array) -> Array:  # noqa: ARG002
        """Return 0 for every arc."""
        return np.zeros(self.cost.size)

    def settle(self, x: Array) -> tuple[float, Array]:
        """Return sum |b| and b = U x."""
        b = self.deliver(x)
        return float(np.abs(b).sum()), b

    def steepest(self, g: Array) -> float:
        """Return the largest g, or |g| where coefficients may be negative."""
        return float(g.max() if self.positive else np.abs(g).max())

    def metric(self, theta: Array, *, careful: bool) -> Diagonal:  # noqa: ARG002
        """Return the conductance of each item's arcs: sums of positive numbers, careful or not."""
        return Diagonal(np.sqrt(theta.reshape(1 if self.positive else 2, -1).sum(axis=0)))


def direct(n_items: int, *, positive: bool) -> Direct:
    """Give every item an arc of cost 1 that adds to its coefficient and, if signed, one that takes from it."""
    eye = sparse.eye_array(n_items, format="csc")
    U = sparse.csc_array(eye if positive else sparse.hstack([eye, -eye], format="csc"))
    return Direct(np.ones(U.shape[1]), U, sparse.csc_array((0, U.shape[1])), positive)
