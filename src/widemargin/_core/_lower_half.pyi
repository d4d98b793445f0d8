from numpy.typing import NDArray

from .solution import Array

def add_product(block: NDArray, row: int, column: int, v: NDArray, out: Array) -> None: ...
