from numpy.typing import NDArray

from .comparisons import IntArray

def dense(x: NDArray, codes: IntArray) -> bool: ...
def dense_by_order(x: NDArray, codes: IntArray) -> bool: ...
def sort_levels(
    level: IntArray,
    group: IntArray,
    n_levels: int,
    n_groups: int,
    order: IntArray,
    rank: IntArray,
    starts: IntArray,
) -> int: ...
def runs(x: IntArray) -> tuple[int, int]: ...
def level_runs(rank: IntArray, starts: IntArray, ends: IntArray) -> None: ...
def sort_in_place(
    level: IntArray, group: IntArray, first: int, n_levels: int, n_groups: int, most: int, starts: IntArray
) -> int: ...
