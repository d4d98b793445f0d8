"""What solvers cost, in seconds of a processor of 2020 or so: whoever has spent another one's price lets it try.

The numbers were measured; only their ratios matter, and those little: giving up at the other's price costs at most
twice the cheaper one.
"""

from __future__ import annotations

import numpy as np

from .comparisons import IntArray

BYTE = 4.5e-11  # read from a matrix
PARTNERS = 2e-8  # of an item, summed over in a product with the Hessian
FLOP = 4e-11  # of products of matrices and their factors
ENTRY = 4e-8  # of a matrix that pairs are summed over
BYTES_MOVED = 32  # of each entry of a matrix that is made whole
DIRECTIONS, CG_STEPS = 5, 8  # that a preconditioner of all items serves at least, and that each takes
STEP, LOOK = 1e-4, 5.5e-7  # of Newton's, and the looks at an item's pairs along its line search
BEGIN, PASS = 0.06, 1.8e-5  # of an interior point over rows, and of its passes over one to the last digits
CUBE, OWN_CUBE = 3e-10, 1.8e-9  # of its factors: of all items, and of those that are compared with each other
ITERATIONS, PAIR = 5, 1.5e-8  # of an interior point under a kernel, and its passes over a pair in each


def cg_step(n: int, rank: int, *, is_rounded: bool) -> float:
    """Return the price of a step of conjugate gradients for n items, with a preconditioner of a rank or 0."""
    width = 4 if is_rounded else 8
    return BYTE * (width * n * (0.5 * n + rank) + 12 * rank * rank) + PARTNERS * n


def newton_step(n: int) -> float:
    """Return the price of a step for n items, directions apart."""
    return STEP + LOOK * n


def preconditioner(n: int, rank: int) -> float:
    """Return the price of a preconditioner, of finding the items that it is on, and of the whole matrix for that."""
    return FLOP * (3.0 * n + rank) * rank * rank + ENTRY * n * rank + BYTE * BYTES_MOVED * n * n


def direction(n: int, rank: int, n_served: float) -> float:
    """Return the price of a direction with a preconditioner of all items that serves so many."""
    return preconditioner(n, rank) / max(DIRECTIONS, n_served) + CG_STEPS * cg_step(n, rank, is_rounded=False)


def implicit_pairs(n: int, n_pairs: int) -> float:
    """Return the price of an interior point under a kernel, to a moderate gap from a fair start."""
    return FLOP * (1.0 + ITERATIONS / 3.0) * float(n) ** 3 + ITERATIONS * PAIR * n_pairs


def interior_point(n_pairs: int, sizes: IntArray) -> float:
    """Return the price of pairs of items under a kernel, written out; sizes are those of the groups."""
    n = float(np.sum(sizes))
    return BEGIN + PASS * n_pairs + CUBE * n**3 + OWN_CUBE * n * float(np.sum(sizes.astype(float) ** 2))
