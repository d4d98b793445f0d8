from .comparisons import IntArray
from .solution import Array

class Walk:
    k: int
    n_pivots: int
    n_candidates: int
    reach: float
    blur: float
    columns: IntArray
    minus: IntArray
    rows: IntArray
    signs: Array
    coefficients: Array
    edges: Array
    side: IntArray
    s: Array
    pull: Array
    def __init__(
        self,
        K: Array,
        blocks: IntArray,
        head: IntArray,
        reach: IntArray,
        better: IntArray,
        worse: IntArray,
        weight: Array,
        goal: Array,
        positive: bool,
        over_pairs: bool,
    ) -> None: ...
    def walk(self, C: float, limit: int) -> bool | None: ...
    def place(self) -> None: ...
