from numpy.typing import NDArray

PACK: int

def values(X: NDArray, origin: NDArray, right: NDArray, out: NDArray, most: int = 64) -> None: ...
