"""Threads over blocks: results in the order of the work, so that sums do not depend on the number of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")
PARTS = 8  # per thread: enough to even out, few enough to cost nothing


class Pool:
    """Some threads, alive as long as their plan. The work must release the GIL to gain."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._threads = ThreadPoolExecutor(n_threads)

    def map(self, work: Callable[[S], T], items: Sequence[S]) -> Iterable[T]:
        """Return work(item) of each item, in order."""
        size = -(-len(items) // (PARTS * self.n_threads))
        parts = [items[k : k + size] for k in range(0, len(items), size)]
        for results in self._threads.map(lambda part: [work(item) for item in part], parts):
            yield from results
