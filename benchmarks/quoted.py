"""Figures of programs that pip does not install: quoted, not measured here.

Measured in November 2026 on a 2-core machine, process CPU seconds, one thread, single runs, on the same kinds of
synthetic data. There one float64 product X @ w over 1,000,000 x 136 took 0.081 s: compare products, not seconds.

LIBLINEAR-ranksvm: C.-P. Lee and C.-J. Lin, "Large-scale linear RankSVM", 2014. SVM-rank: T. Joachims, "Training linear
SVMs in linear time", 2006. dlib: D. E. King, "Dlib-ml", 2009.
"""

from typing import NamedTuple

UNIT_PER_ENTRY = 0.081 / (1_000_000 * 136)  # CPU seconds of X @ w per entry of X on that machine


class Quoted(NamedTuple):
    """A figure, and how large X was."""

    workload: str
    solver: str
    seconds: float
    entries: int
    note: str = ""

    @property
    def products(self):
        """Return the time in products X @ w of that machine."""
        return self.seconds / (UNIT_PER_ENTRY * self.entries)


QUOTED = (
    Quoted("graded-100k", "LIBLINEAR-ranksvm", 0.40, 100_000 * 136, "gap 1e-3, no certificate"),
    Quoted("graded-1m", "LIBLINEAR-ranksvm", 3.99, 1_000_000 * 136, "gap 1e-3, no certificate, 2.3 GB"),
    Quoted("hinge-100k", "SVM-rank", 35.0, 100_000 * 136),
    Quoted("hinge-100k", "dlib", 25.0, 100_000 * 136, "two grades only"),
    Quoted("ordering-100k", "LIBLINEAR-ranksvm", 0.33, 100_000 * 50),
    Quoted("ordering-1m", "LIBLINEAR-ranksvm", 7.2, 1_000_000 * 50),
)
