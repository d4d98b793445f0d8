from numpy.typing import NDArray

from .comparisons import IntArray
from .solution import Array

def conjugate_gradients(
    first: NDArray,
    others: list[NDArray],
    C: float,
    u: Array,
    order: IntArray,
    by_u: IntArray,
    rank: IntArray,
    starts: IntArray,
    weight: Array,
    thresholds: Array,
    shares: Array,
    items: IntArray,
    inverse: Array,
    change: Array,
    basis: NDArray,
    across: float,
    known: Array,
    r: Array,
    x: Array,
    share: float,
    enough: float,
    most: int,
) -> int: ...
