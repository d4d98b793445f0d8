"""What passes between a workload, a solver and the referee."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Problem:
    """Data and an objective.

    `kind` names the objective that the referee recomputes: "ranking" (all pairs y_i > y_j of a query; ordinal labels
    are one query), "comparison" (explicit pairs, ties as margin), "choice" (one slack per set), "choice_pair" (one per
    pair), "vectors" (1-norm over points), "vector_pairs" (1-norm over pairs), "scoring" (no objective: utilities).
    """

    kind: str
    X: Any
    y: np.ndarray
    qid: np.ndarray | None = None
    C: float = 1.0
    loss: str = "squared_hinge"
    kernel: str = "linear"
    gamma: float = 1.0
    tol: float = 1e-3
    index: np.ndarray | None = None  # "comparison": positions of the two items of each pair
    new: np.ndarray | None = None  # "scoring": the rows to score
    options: dict = field(default_factory=dict)  # "positive" of the 1-norm machines, "ordinal" for labels

    @property
    def queries(self):
        """Return the query of each row: zeros where there is one."""
        return np.zeros(len(self.y), dtype=np.int64) if self.qid is None else self.qid

    def tightened(self, share):
        """Return the same problem to a share of the tolerance."""
        return replace(self, tol=share * self.tol)


@dataclass(frozen=True)
class Answer:
    """What a solver found: weights of columns (linear) or of items (kernel), or None where it has other aims."""

    weights: np.ndarray | None = None
    level: float = 0.0  # the free level of "comparison"
    objective: float | None = None  # what the solver says of itself
    gap: float | None = None  # relative, certified by the solver
    size: int = 1  # support vectors of "scoring": times are compared per vector
    note: str = ""
    predict: Callable | None = None  # utilities of rows, where concordance is all that can be compared


@dataclass(frozen=True)
class Workload:
    """A named problem; `make(quick)` gives it, small for a smoke test."""

    name: str
    make: Callable[[bool], Problem]
    peers: tuple[str, ...] = ()  # solvers besides ours
    missing: Callable[[], str | None] = lambda: None  # why the data are not there
    threads: bool = False  # report two threads too
    repeat: int = 3
