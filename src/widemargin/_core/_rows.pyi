from numpy.typing import NDArray

from .comparisons import IntArray
from .solution import Array

def own(
    t: Array, weight: Array, h: float, squared: bool, slope: Array, curvature: Array
) -> tuple[float, float, float]: ...
def own_along(t: Array, dz: Array, weight: Array, h: float, squared: bool, step: float) -> tuple[float, float]: ...
def shared(
    t: Array,
    weight: Array,
    start: IntArray,
    h: float,
    squared: bool,
    slope: Array,
    curvature: Array,
    tie: Array,
) -> tuple[float, float, float]: ...
def shared_along(
    t: Array, dz: Array, weight: Array, start: IntArray, h: float, squared: bool, step: float, moved: NDArray
) -> tuple[float, float]: ...
def split(t: Array, weight: Array, sign: Array, radius: float, near: IntArray, up: Array, down: Array) -> int: ...
def pull_each(X: NDArray, G: Array, out: Array) -> None: ...
