from numpy.typing import NDArray

from .comparisons import IntArray

def dense(x: NDArray, codes: IntArray) -> bool: ...
def dense_by_order(x: NDArray, codes: IntArray) -> bool: ...
def is_sorted(x: IntArray) -> bool: ...
def sort_levels(
    level: IntArray,
    group: IntArray,
    is_sorted: bool,
    first: int,
    n_levels: int,
    n_groups: int,
    order: IntArray,
    rank: IntArray,
    starts: IntArray,
) -> int: ...
