"""A symmetric matrix by its lower half: strips of columns, each from the diagonal down.

Values may be float32 with what those miss beside them, in 16 bits: products then know 39 bits of each, for three
quarters of the memory of float64, and need not ask the kernel again.
"""

from __future__ import annotations

import mmap
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _lower_half
from .pool import HUGE

if TYPE_CHECKING:
    from .comparisons import IntArray
    from .solution import Array

STRIP = 512  # columns: short rows that follow each other are read at the speed of memory
LINE = 64  # bytes of a cache line, and of the widest registers
MOST_CANCELLED = 1e5  # what is summed, over the largest sum: up to there 39 bits give seven digits of it
SLOW = 4e-4  # seconds that small pages of the size of a huge one would take: where memory is in pieces it takes longer


@dataclass(frozen=True)
class LowerHalf:
    """The strips; above the diagonal nothing was written, and nothing is read."""

    strips: list[NDArray]
    rest: list[NDArray] = field(default_factory=list)  # what the values of each miss, or nothing

    @classmethod
    def room(cls, n: int, dtype: Any, width: int, *, is_fine: bool = False) -> LowerHalf:
        """Return strips of so many columns that are not filled; fine ones take float64 values as two parts."""
        shapes = [(n - a, min(width, n - a)) for a in range(0, n, width)]
        return cls(_cut(shapes, dtype), _cut(shapes, np.int16) if is_fine else [])

    @property
    def n_items(self) -> int:
        """Return the number of rows."""
        return self.strips[0].shape[0]

    @property
    def dtype(self) -> np.dtype:
        """Return the precision of the values."""
        return self.strips[0].dtype

    def put(self, row: int, column: int, values: NDArray) -> None:
        """Write values from (row, column) on: within a strip, from the diagonal down."""
        k, at = divmod(column, self.strips[0].shape[1])
        row -= column - at
        where = slice(row, row + values.shape[0]), slice(at, at + values.shape[1])
        if self.rest:
            values = values if values.strides[1] == values.itemsize else np.ascontiguousarray(values)  # a user's kernel
            _lower_half.split(values, self.strips[k][where], self.rest[k][where])
        else:
            self.strips[k][where] = values

    def product(self, v: Array) -> Array:
        """Return K v, or K times the columns of v; sums within some hundred rows have the precision of the values."""
        rows, a = np.atleast_2d(np.ascontiguousarray(v.T, dtype=self.dtype)), 0
        out = np.zeros(rows.shape)
        for strip in self.strips:
            _lower_half.add_product(strip, a, a, rows, out)
            a += strip.shape[1]
        return out.T.reshape(v.shape)

    def fine_product(self, V: Array) -> Array | None:
        """Return K v, or K times the columns of V, from values and their rest; None where that is missed.

        Values are right to two parts in 10^12: where sums cancel by more than five digits, more is needed.
        """
        if not self.rest:
            return None
        rows, a = np.atleast_2d(np.ascontiguousarray(V.T)), 0
        out = np.zeros(rows.shape)
        for strip, rest in zip(self.strips, self.rest, strict=True):
            _lower_half.add_fine_product(strip, rest, a, a, rows, out)
            a += strip.shape[1]
        if np.any(np.abs(rows).sum(axis=1) * self._largest > MOST_CANCELLED * np.abs(out).max(axis=1)):
            return None
        return out.T.reshape(V.shape)

    @cached_property
    def _largest(self) -> float:
        return float(np.abs(self.diag()).max())

    def leading(self, n: int) -> LowerHalf:
        """Return the matrix over the first n items; nothing is copied."""
        width = self.strips[0].shape[1]
        return LowerHalf(
            [strip[: n - k * width, : n - k * width] for k, strip in enumerate(self.strips[: -(-n // width)])]
        )

    def joined(self) -> NDArray:
        """Return a copy of the matrix as one array, which has nothing above its diagonal yet."""
        out, a = room(self.n_items, self.n_items, self.dtype), 0
        for strip in self.strips:
            b = a + strip.shape[1]
            out[a:, a:b] = strip
            a = b
        return out

    def diag(self) -> Array:
        """Return the diagonal."""
        return np.concatenate([np.diag(strip) for strip in self.strips]).astype(float)

    def corner(self, items: IntArray, dtype: Any) -> NDArray:
        """Return the lower half of the rows and columns of some items, given in ascending order."""
        out, a = np.empty((items.size, items.size), dtype), 0
        for strip in self.strips:
            i, j = np.searchsorted(items, [a, a + strip.shape[1]])
            _lower_half.gather(strip, a, items, i, j, out)
            a += strip.shape[1]
        return out

    def between(self, rows: IntArray, columns: IntArray) -> NDArray:
        """Return the rows of some items and the columns of others, both given in ascending order."""
        out, a = np.empty((rows.size, columns.size), self.dtype), 0
        for strip in self.strips:
            for some, others, part in ((rows, columns, out), (columns, rows, out.T)):
                first, (i, j) = np.searchsorted(some, a), np.searchsorted(others, [a, a + strip.shape[1]])
                values = strip[np.ix_(some[first:] - a, others[i:j] - a)]
                np.copyto(part[first:, i:j], values, where=some[first:, None] >= others[i:j])
            a += strip.shape[1]
        return out


def _cut(shapes: list[tuple[int, int]], dtype: Any) -> list[NDArray]:
    """Return arrays that are not filled, one behind the other: in huge pages together, if not each by itself."""
    ends = np.cumsum([n * m for n, m in shapes])
    every = room(1, int(ends[-1]), dtype)[0]
    return [part.reshape(shape) for part, shape in zip(np.split(every, ends[:-1]), shapes, strict=True)]


def room(n: int, m: int, dtype: Any) -> NDArray:
    """Return an array that is not filled: from a cache line on, large ones in huge pages, where there are any."""
    size = n * m * np.dtype(dtype).itemsize
    if 2 * size < HUGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        raw = np.empty(size + LINE, np.uint8)
        start = -raw.ctypes.data % LINE
    else:
        memory = mmap.mmap(-1, size + 2 * HUGE, access=mmap.ACCESS_COPY)  # what is not written to takes no memory
        raw = np.frombuffer(memory, np.uint8)
        start = -raw.ctypes.data % HUGE
        with suppress(OSError):  # a system without them
            _ask_for_huge_pages(memory, start)
    return raw[start : start + size].view(dtype).reshape(n, m)


def _ask_for_huge_pages(memory: mmap.mmap, start: int) -> None:
    """Have memory come in large pieces, four times as fast; not where the first one takes long to find."""
    memory.madvise(mmap.MADV_HUGEPAGE)
    begin = time.perf_counter()
    memory[start] = 0
    if time.perf_counter() - begin > SLOW:
        memory.madvise(mmap.MADV_NOHUGEPAGE)


def mirrored(K: NDArray, tile: int) -> NDArray:
    """Return K with its upper half filled from the lower one, in place; tile by tile: both stay in the cache."""
    n = len(K)
    for a in range(0, n, tile):
        b = min(a + tile, n)
        K[a:b, b:] = K[b:, a:b].T
        K[a:b, a:b] = np.tril(K[a:b, a:b]) + np.tril(K[a:b, a:b], -1).T
    return K
