from numpy.typing import NDArray

from .comparisons import IntArray
from .solution import Array

FEW_LEVELS: int

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
