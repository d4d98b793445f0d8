from numpy.typing import NDArray

from .comparisons import IntArray
from .solution import Array

def gradient(
    u: Array,
    base: int,
    order: IntArray,
    rank: IntArray,
    starts: IntArray,
    groups: IntArray,
    weight: Array,
    thresholds: Array,
    shares: Array,
    few: int,
    g: Array,
    sums: Array,
) -> bool: ...
def gather(X: NDArray, which: IntArray, out: NDArray) -> None: ...
def look(
    X: NDArray,
    which: IntArray,
    w: NDArray,
    first: int,
    order: IntArray,
    rank: IntArray,
    starts: IntArray,
    groups: IntArray,
    weight: Array,
    thresholds: Array,
    shares: Array,
    few: int,
    most: int,
    g: Array,
    pull: Array,
    sums: Array,
) -> bool: ...
