"""Products whose warnings are of no use."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def times(A: NDArray, v: NDArray) -> NDArray:
    """Return A v in the precision of A, without the GIL: `@` of a vector holds it.

    OpenBLAS (0.3.31, AVX-512) multiplies five float32 columns together with lanes that it then leaves out. Where these
    happen to be signalling nan it flags an invalid value, of which NumPy would warn; the product is right.
    """
    with np.errstate(invalid="ignore"):
        return np.dot(A, v.astype(A.dtype, copy=False))
