from numpy.typing import NDArray

from .comparisons import IntArray
from .solution import Array

FEW_LEVELS: int

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
def ascending(
    u: Array, order: IntArray, rank: IntArray, starts: IntArray, groups: IntArray, by_u: IntArray
) -> None: ...
def laplacian_product(
    u: Array,
    v: Array,
    order: IntArray,
    by_u: IntArray,
    rank: IntArray,
    starts: IntArray,
    groups: IntArray,
    weight: Array,
    thresholds: Array,
    shares: Array,
    out: Array,
) -> None: ...
def degrees(
    u: Array,
    base: int,
    order: IntArray,
    rank: IntArray,
    starts: IntArray,
    groups: IntArray,
    weight: Array,
    thresholds: Array,
    shares: Array,
    out: Array,
) -> None: ...
def laplacian_rows(
    u: Array,
    base: int,
    order: IntArray,
    rank: IntArray,
    starts: IntArray,
    groups: IntArray,
    weight: Array,
    thresholds: Array,
    shares: Array,
    X: NDArray,
    out: NDArray,
) -> None: ...
