from collections.abc import Iterable
from typing import Any

from numpy import bool_, int8, int32, int64
from numpy.typing import NDArray

from .solution import Array

class Margins:
    k: int
    level: float
    a: Array
    side: NDArray[int8]
    gap: Array
    members: NDArray[int64]
    def __init__(
        self,
        starts: NDArray[int32],
        items: NDArray[int32],
        values: Array,
        e: Array,
        K: Array,
        is_gram: bool,
        scale: float,
    ) -> None: ...
    def hold(self, wanted: Iterable[Any]) -> NDArray[bool_]: ...
    def solve(self, target: Array) -> Array: ...
    def walk(
        self, rise: Array, shift: Array, cost: Array, lag: float, limit: int, radius: float
    ) -> tuple[float, int]: ...
