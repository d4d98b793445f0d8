"""The 1-norm machines: all pairs as a graph, coefficients as flow, one interior point, an exact finish.

`machine` scales a problem and sees the trivial cases; `iterations` is the interior point, with its linear algebra in
`system` and its passes over the pairs in `pair_barrier`; `problem` judges points and multipliers by the data alone;
`optimal_face` and, as a last resort, `face_program` make answers exact. What coefficients cost is a `routing`:
one arc per item for the points machine, `chains` of levels for the pairs machine. For many C, `path` adds a
`vertex_walk` from one optimum to the next, after a `leap` where that is far.
"""

from .machine import ranking_vectors
from .path import MachinePath, VectorPath

__all__ = ["MachinePath", "VectorPath", "ranking_vectors"]
