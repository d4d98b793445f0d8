"""How many threads BLAS may use: one while a machine learns, as many as it had for the factors of large matrices.

NumPy and SciPy bring a BLAS each, whose idle threads keep spinning for a while: calls that go from one to the other,
each of them short, make two teams fight for the same cores (adr/0032-threads-of-blas.md).
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from threading import Lock

from threadpoolctl import ThreadpoolController

LARGE = 1500  # items from which the factors of a matrix over them gain by threads


class _Learning:
    """The machines that learn now, in whatever threads: the first sets what BLAS may use, the last gives it back."""

    def __init__(self):
        self.lock, self.n_machines, self.given = Lock(), 0, []

    def begin(self):
        """Count a machine."""
        with self.lock:
            if self.n_machines == 0:
                self.given = _set_threads([1] * len(_libraries()))
            self.n_machines += 1

    def end(self):
        """Count it off."""
        with self.lock:
            self.n_machines -= 1
            if self.n_machines == 0:
                _set_threads(self.given)


_learning = _Learning()


@cache
def _libraries():
    """Return the handles on every BLAS, which take milliseconds to find."""
    return ThreadpoolController().select(user_api="blas").lib_controllers


def _set_threads(counts):
    """Set the threads of each BLAS and return what they were; nothing is done where they are these already."""
    before = [one.num_threads for one in _libraries()]
    for one, now, count in zip(_libraries(), before, counts, strict=True):
        if now != count:
            one.set_num_threads(count)
    return before


@contextmanager
def one_thread():
    """Keep BLAS to one thread; what it had before is given back when no machine learns any more."""
    _learning.begin()
    try:
        yield
    finally:
        _learning.end()


@contextmanager
def given_threads(n_items):
    """Let BLAS use the threads that it had, where a lone machine factorises matrices over so many items."""
    if _learning.n_machines != 1 or n_items < LARGE:
        yield
        return
    before = _set_threads(_learning.given)
    try:
        yield
    finally:
        _set_threads(before)
