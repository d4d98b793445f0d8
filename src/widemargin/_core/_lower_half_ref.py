"""Twins of the compiled loops in `_lower_half.pyx`, in a few lines of NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .solution import Array


def add_product(block: NDArray, row: int, column: int, V: NDArray, out: Array) -> None:
    """Add to each row of out what a block of the lower half of K gives of K v, v a row of V, and its mirror image."""
    n, m = block.shape
    rows, columns = row + np.arange(n)[:, None], column + np.arange(m)
    below = np.where(columns < rows, block, 0.0).astype(float)
    own = np.where(columns == rows, block, 0.0).astype(float)
    out[:, row : row + n] += V[:, column : column + m] @ (below + own).T
    out[:, column : column + m] += V[:, row : row + n] @ below


def split(values: Array) -> tuple[NDArray, NDArray]:
    """Return values as float32, and what those miss in 65534ths of their last place; nothing of tiny ones."""
    near = values.astype(np.float32)
    _, exponent = np.frexp(near)
    half_place = np.where(np.abs(near) >= np.finfo(np.float32).tiny, np.ldexp(1.0, exponent - 25), np.inf)
    return near, np.rint((values - near) / half_place * 32767).astype(np.int16)


def joined(near: NDArray, rest: NDArray) -> Array:
    """Return the values that were split."""
    return near + np.ldexp(rest / 32767.0, np.frexp(near)[1] - 25)
