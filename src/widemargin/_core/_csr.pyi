from numpy.typing import NDArray

from .comparisons import IntArray
from .solution import Array

def product(
    data: NDArray, indices: NDArray, indptr: NDArray, which: IntArray, start: int, stop: int, w: Array, out: Array
) -> None: ...
def adjoint(
    data: NDArray,
    indices: NDArray,
    indptr: NDArray,
    which: IntArray,
    start: int,
    stop: int,
    g: Array,
    out: Array,
    squared: bool,
) -> None: ...
def times(data: Array, indices: NDArray, indptr: NDArray, which: IntArray, X: NDArray, out: Array) -> None: ...
