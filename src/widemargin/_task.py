"""What the data alone determine, apart from C: made once, and shared by all fits along a path."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

SMALL, TINY = 1e-100, 1e-280  # values of C, and squared norms of multipliers below it, that may have lost parts


class Every:
    """The positions of all rows, where none was left out; many of them would be much memory for nothing."""

    def __getitem__(self, rows):
        """Return where these rows are in the user's data."""
        return self if isinstance(rows, slice) else rows


@dataclass
class Task:
    """Items, their map and their comparisons; and, for the next C, where the last solves ended."""

    X: Any  # the items that count
    kept: Any  # their positions in the user's data
    map_: Any  # from weights to utilities; the kernel matrix of a 1-norm machine
    comparisons: Any  # levels, rows, or one set of rows per pair of classes
    rest: dict = field(default_factory=dict)  # what else the estimator's rules need
    seen: Any = None  # the map by coefficients of items, where X is wide
    plan: Any = None  # Newton's layout of the data
    start: Any = None  # the last weights, as Newton sees them
    row_plans: dict = field(default_factory=dict)  # the same for explicit rows, by part
    implicit_pairs: Any = None  # what interior points over the pairs of a kernel share
    walks: dict = field(default_factory=dict)  # exact solutions that walk to the next C, by part; None once they failed
    answers: dict[int, Answer] = field(default_factory=dict)
    Cs: list[float] = field(default_factory=list)  # that will be asked for, where they are more than one fit's
    every: Any = None  # all rows of X, or its landmarks, as models keep them
    doubt: Any = None  # what refuses X if it is not finite, where that is left to the first look; else None

    @property
    def is_path(self):
        """Whether solves have neighbours."""
        return len(self.Cs) > 1

    @cached_property
    def in_columns(self):
        """The map's functions by columns, where its kernel has a small rank; else None."""
        return self.map_.in_columns

    def settle(self):
        """Refuse items that are not finite before they go where nobody would ask."""
        if self.doubt is not None:
            self.doubt()
            self.doubt = None

    def taken(self, X, used):
        """Return these rows of X; where they are all, the copy that all C share."""
        if used.size < X.shape[0]:
            return X[used]
        if self.every is None:
            self.every = X[used]
        return self.every

    def leave_columns(self):
        """Go on with the kernel itself."""
        self.in_columns, self.plan, self.start = None, None, None
        self.row_plans.clear()
        self.walks.clear()

    @cached_property
    def rows(self):
        """All pairs of the levels, written out."""
        return self.comparisons.rows()

    def answer(self, C, tol, solve, part=0):
        """Return (solver, solution) for C: the last one of this part where it is certified here too, else solve()."""
        last = self.answers.get(part)
        solution = None if last is None else last.at(C, tol)
        if solution is not None:
            return last.solver, solution
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # the status tells, and no gap is nan
            solver, solution = solve()
        self.answers[part] = Answer(C, solver, solution, self.map_)
        return solver, solution


@dataclass(frozen=True)
class Answer:
    """The solution of 1/2 |w|^2 + C * loss for one C, as seen from a larger one."""

    C: float
    solver: str
    solution: Any
    map_: Any

    def at(self, C, tol):
        """Return the solution with its objective and a true bound for another C; None where its gap is above tol.

        Multipliers a <= C give D = lead - 1/2 |v|^2, v = sum of a over the rows. Scaled by s <= C' / C they are
        feasible for C', and give at least s lead - 1/2 s^2 |v|^2: nothing is solved, and the data are not looked at.
        From s = 1 on, a bound on |v|^2 from above is enough.
        """
        old, grow = self.solution, C / self.C
        if grow < 1.0 or not old.gap <= tol or self._is_lost:
            return None
        primal = 0.5 * self._norm + grow * (old.objective - 0.5 * self._norm)
        for squared in (lambda: self._norm, lambda: self._dual_norm):  # the first is cheap, and near the second
            lead, v2 = old.dual + 0.5 * squared(), squared()
            s = min(grow, max(1.0, lead / v2)) if v2 > 0.0 else grow
            found = replace(old, objective=primal, dual=s * lead - 0.5 * s * s * v2, n_iter=1)
            if not found.gap <= tol:
                return None
        return replace(found, pulled=lambda: s * old.coefficients, dual_norm=s * s * v2)

    @property
    def _is_lost(self):
        """Whether squares are too small to be told from zero, where C is so tiny that they need not be."""
        return self.C < SMALL and self._dual_norm < TINY  # the norm costs a product

    @cached_property
    def _norm(self):
        known = self.solution.squared_norm
        return self.map_.squared_norm(self.solution.weights) if known is None else known

    @cached_property
    def _dual_norm(self):
        known = self.solution.dual_norm
        return self.map_.squared_norm(self.map_.adjoint_exact(self.solution.coefficients)) if known is None else known
