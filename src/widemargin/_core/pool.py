"""Threads over blocks: results in the order of the work, so that sums do not depend on the number of threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

PAGE = 512  # numbers of a page of memory
HUGE, LARGE = 1 << 21, 1 << 22  # bytes of a huge page, and from which on NumPy asks for them
S = TypeVar("S")
T = TypeVar("T")


class Pool:
    """Some threads, alive as long as their plan. The work must release the GIL to gain."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._others = ThreadPoolExecutor(n_threads - 1)

    def map(self, work: Callable[[S], T], items: Sequence[S]) -> list[T]:
        """Return work(item) of each item, in order. Every thread, this one too, takes the next item that there is."""
        turn, results = count(), {}

        def take() -> None:
            while (k := next(turn)) < len(items):
                results[k] = work(items[k])

        others = [self._others.submit(take) for _ in range(min(self.n_threads - 1, len(items)))]
        take()
        for other in others:
            if not other.cancel():  # one that has not begun has nothing left to do
                other.result()
        return [results[k] for k in range(len(items))]


def room(n: int, dtype: DTypeLike, n_threads: int) -> NDArray:
    """Return an array to write to; one thread gets new pages from the system faster than two at once.

    A large one begins where a huge page does, else its first two and last two megabytes come in small ones.
    It is NumPy's memory, which the next fit may have again.
    """
    size = n * np.dtype(dtype).itemsize
    if size < LARGE:
        out = np.empty(n, dtype)
    else:
        raw = np.empty(size + HUGE, np.uint8)
        start = -raw.ctypes.data % HUGE
        out = raw[start : start + size].view(dtype)
    if n_threads > 1:
        out[::PAGE] = 0
    return out
