"""Where Newton lives: weights of columns, or coefficients of items under their Gram matrix.

A vector of the space is a function: its coordinates `w` and its utilities `u` at the items.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from .. import _rows
from ..comparisons import IntArray
from ..lower_half import LowerHalf, mirrored
from ..solution import Array

CONVERTED = 4096  # rows of X converted to float64 at a time
TILE = 64  # differences written out at a time
PROBES, DRIFT = 64, 1e-13  # utilities that are looked at, and the share of the largest that they may be off


class Vector(NamedTuple):
    """A function by its coordinates and its utilities."""

    w: Array
    u: Array

    def moved(self, step: float, along: Vector) -> Vector:
        """Return self + step * along."""
        return Vector(self.w + step * along.w, self.u + step * along.u)

    def slope(self, before: Vector, distance: float) -> Vector:
        """Return (self - before) / distance."""
        return Vector((self.w - before.w) / distance, (self.u - before.u) / distance)


@dataclass
class Kept:
    """The last sums over the curved rows by some columns, and the curvatures that they are of."""

    S: Array | None = None
    curvature: Array | None = None
    most: Array = field(default_factory=lambda: np.zeros(0))  # the largest diagonal since they were made from nothing

    def keep(self, S: Array, curvature: Array) -> None:
        """Remember sums."""
        self.S, self.curvature, self.most = S, curvature, np.maximum(self.most, S.diagonal())


@dataclass(frozen=True)
class Columns:
    """u = X w, X dense (float32 or float64, never copied whole) or CSR."""

    X: Any
    kept: Kept = field(default_factory=Kept, compare=False)
    is_gram = is_rounded = False

    @property
    def n_items(self) -> int:
        """Return the number of items."""
        return self.X.shape[0]

    @property
    def n_coordinates(self) -> int:
        """Return the number of columns."""
        return self.X.shape[1]

    def vector(self, w: Array) -> Vector:
        """Return the function with coordinates w."""
        if sparse.issparse(self.X) or self.X.dtype == np.float64:
            return Vector(w, self.X @ w)
        starts = range(0, self.n_items, CONVERTED)
        return Vector(w, np.concatenate([self.X[i : i + CONVERTED].astype(float) @ w for i in starts]))

    def exact(self, w: Array, g: Array, known: Array | None = None) -> tuple[Vector, Vector]:
        """Return a function and a gradient by their coordinates; utilities that are known serve while some are right.

        They were added up over steps, and what rounding does to one of them it does to all.
        """
        some = slice(None, None, 1 + self.n_items // PROBES)
        if known is not None:
            true = self.X[some] @ w
            if np.max(np.abs(known[some] - true), initial=0.0) <= DRIFT * np.max(np.abs(true), initial=0.0):
                return Vector(w, known), self.gradient(g)
        return self.vector(w), self.gradient(g)

    def gradient(self, w: Array) -> Vector:
        """Return the gradient with coordinates w, without utilities."""
        return Vector(w, np.zeros(0))

    def pulled(self, g: Array) -> Array:
        """Return X'g."""
        X = self.X
        if sparse.issparse(X) or (X.dtype == np.float64 and not X.flags.c_contiguous):
            return X.T @ g
        return self.pulled_each(g[None])[0]

    def pulled_each(self, G: Array) -> Array:
        """Return X'g for each row g of G; X, which is dense, is read once where it lies by rows."""
        X, out = self.X, np.zeros((len(G), self.n_coordinates))
        if X.flags.c_contiguous:
            _rows.pull_each(X, np.ascontiguousarray(G), out)
            return out
        for i in range(0, self.n_items, CONVERTED):
            part = X[i : i + CONVERTED].astype(float, copy=False).T
            for k, g in enumerate(G):
                out[k] += part @ g[i : i + CONVERTED]
        return out

    def inner(self, a: Vector, b: Vector) -> float:
        """Return the inner product of the weights."""
        return float(a.w @ b.w)

    def zero(self) -> Vector:
        """Return the function that is zero."""
        return Vector(np.zeros(self.X.shape[1]), np.zeros(self.n_items))

    def at(self, items: IntArray) -> Columns:
        """Return the space over some of the items."""
        return Columns(self.X[items])

    def spread(self, w: Array, items: IntArray) -> Array:  # noqa: ARG002
        """Return w: columns are the same for all items."""
        return w


class Coefficients:
    """Functions by coefficients of items, under some form of their Gram matrix K: what all forms share."""

    is_gram = True
    products: Callable[[Array], Array] | None  # with K in float64, where its values are rounded
    factors: list[Any]  # the last one over curved items, or none

    @property
    def n_items(self) -> int:
        """Return the number of items."""
        raise NotImplementedError

    @property
    def n_coordinates(self) -> int:
        """Return the number of items."""
        return self.n_items

    @property
    def dtype(self) -> np.dtype:
        """Return the precision of the values."""
        raise NotImplementedError

    @property
    def is_rounded(self) -> bool:
        """Whether the values are rounded ones."""
        return self.products is not None

    @property
    def rounding(self) -> float:
        """Return the relative precision of the values."""
        return float(np.finfo(self.dtype).eps)

    def product(self, V: Array) -> Array:
        """Return K v, or K times the columns of V; sums of some hundred values have the precision of K."""
        raise NotImplementedError

    def vector(self, w: Array) -> Vector:
        """Return the function with coordinates w."""
        return Vector(w, self.product(w))

    def gradient(self, w: Array) -> Vector:
        """Return the gradient with coordinates w."""
        return self.vector(w)

    def exact(self, w: Array, g: Array, known: Array | None = None) -> tuple[Vector, Vector]:  # noqa: ARG002
        """Return a function and a gradient by their coordinates, from float64 values of K."""
        u, image = (self.products or self.product)(np.column_stack([w, g])).T
        return Vector(w, u), Vector(g, image)

    def pulled(self, g: Array) -> Array:
        """Return g: it is its own coordinates."""
        return g

    def inner(self, a: Vector, b: Vector) -> float:
        """Return a'Kb."""
        return float(a.w @ b.u)

    def zero(self) -> Vector:
        """Return the function that is zero."""
        return Vector(np.zeros(self.n_items), np.zeros(self.n_items))

    def at(self, items: IntArray) -> Coefficients:
        """Return the space over the leading items."""
        raise NotImplementedError

    def spread(self, w: Array, items: IntArray) -> Array:
        """Return the coordinates over all items: zero where there were none."""
        out = np.zeros(self.n_items)
        out[items] = w
        return out

    def diag(self) -> Array:
        """Return the squared norm of each item."""
        raise NotImplementedError

    def corner(self, items: IntArray, dtype: DTypeLike = float) -> NDArray:
        """Return the rows and columns of some items, given in ascending order; the lower half counts."""
        raise NotImplementedError

    def between(self, items: IntArray, others: IntArray) -> NDArray:
        """Return the rows of some items and the columns of others, both given in ascending order."""
        raise NotImplementedError


@dataclass(frozen=True)
class Gram(Coefficients):
    """u = K w."""

    half: LowerHalf
    products: Callable[[Array], Array] | None = None
    exact_half: LowerHalf | None = None  # in float64, where it is kept
    factors: list[Any] = field(default_factory=list, compare=False)

    @property
    def n_items(self) -> int:
        """Return the number of items."""
        return self.half.n_items

    @property
    def dtype(self) -> np.dtype:
        """Return the precision of the values."""
        return self.half.dtype

    def product(self, V: Array) -> Array:
        """Return K v, or K times the columns of V."""
        return self.half.product(V)

    def at(self, items: IntArray) -> Gram:
        """Return the space over the leading items; nothing is copied."""
        return Gram(self.half.leading(items.size))

    def diag(self) -> Array:
        """Return the squared norm of each item."""
        return self._diagonal

    @cached_property
    def _diagonal(self) -> Array:
        return self.half.diag()

    def corner(self, items: IntArray, dtype: DTypeLike = float) -> NDArray:
        """Return the lower half of the rows and columns of some items, given in ascending order."""
        return self.half.corner(items, dtype)

    def between(self, items: IntArray, others: IntArray) -> NDArray:
        """Return the rows of some items and the columns of others."""
        return self.half.between(items, others)

    def square(self, items: IntArray) -> NDArray:
        """Return the rows and columns of some items, given in ascending order, in the precision of K."""
        return mirrored(self.half.corner(items, self.dtype), TILE)


@dataclass(frozen=True)
class Paired(Coefficients):
    """The items are differences of two others, which are fewer: u = D K D'w, K the Gram matrix of those others."""

    K: NDArray
    ends: IntArray  # (n, 2): the first less the second
    products: Callable[[Array], Array] | None = None
    factors: list[Any] = field(default_factory=list, compare=False)

    @property
    def n_items(self) -> int:
        """Return the number of differences."""
        return len(self.ends)

    @property
    def dtype(self) -> np.dtype:
        """Return the precision of the values."""
        return self.K.dtype

    def product(self, V: Array) -> Array:
        """Return K v, or K times the columns of V."""
        if V.ndim == 2:
            return np.column_stack([self.product(v) for v in V.T])
        first, second = self.ends.T
        v = np.bincount(first, V, len(self.K)) - np.bincount(second, V, len(self.K))
        u = (self.K @ v.astype(self.dtype, copy=False)).astype(float, copy=False)
        return u[first] - u[second]

    def at(self, items: IntArray) -> Paired:
        """Return the space over the leading differences."""
        return Paired(self.K, self.ends[: items.size])

    def diag(self) -> Array:
        """Return the squared norm of each difference."""
        own, (first, second) = np.diag(self.K), self.ends.T
        return (own[first] + own[second] - 2.0 * self.K[first, second]).astype(float)

    def corner(self, items: IntArray, dtype: DTypeLike = float) -> NDArray:
        """Return the rows and columns of some differences; the lower half counts."""
        first, second = self.ends[items].T
        out = np.empty((items.size, items.size), dtype)
        for a in range(0, items.size, TILE):
            rows, end = slice(a, a + TILE), min(a + TILE, items.size)
            near = self.K[first[rows]]
            near -= self.K[second[rows]]
            out[rows, :end] = near.take(first[:end], axis=1)
            out[rows, :end] -= near.take(second[:end], axis=1)
        return out

    def between(self, items: IntArray, others: IntArray) -> NDArray:
        """Return the rows of some differences and the columns of others."""
        first, second = self.ends[items].T
        near = np.subtract(*self.K[self.ends[others].T])
        return (near.take(first, axis=1) - near.take(second, axis=1)).T


Space: TypeAlias = Columns | Gram | Paired
