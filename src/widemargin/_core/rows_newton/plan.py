"""What solves of the same rows for several C share: the problem's layout, and where the last solves ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..solution import Array
from .answer import Nothing, Verdict
from .iterations import Run
from .near import Near, near
from .problem import Point, Problem, Start
from .spaces import Coefficients, Columns, Vector

NEXT, NEXT_RANGE = 0.5, (1.0, 100.0)  # the last smoothing times this and its steps begins the solve for another C
EASY = 2  # steps up to which the last smoothing does, whatever it might have been
QUICK = 5  # steps up to which the smoothing that would have been enough begins the next solve
CAUTIOUS = 0.5  # of the way that rows' slopes went last is gone again: they come to a bound and stay there
FARTHEST = 2.0  # a step in log C, in terms of the last one, that is extrapolated
MOST_ENTRIES = 1 << 23  # of the differences of all rows, where they are written out for a path
AHEAD = 1.5  # rows are near up to this times the distance from which one came to its margin last time
KEPT = 0.5  # of the distance before that, at least
FIRST, SOME = 0.25, 1000  # the share of rows that are near at first, and rows that tell how far they are


class Setting(NamedTuple):
    """A problem without its C, and the way back to the map's weights, and to the items' coefficients."""

    problem: Problem
    weights: Callable[[Array], Array]
    coefficients: Callable[[Array], Array]  # of multipliers

    def is_rougher(self, dtype: np.dtype) -> bool:
        """Whether it has kernel values, in a lower precision."""
        space = self.problem.space
        return isinstance(space, Coefficients) and space.dtype.itemsize < dtype.itemsize


class Mark(NamedTuple):
    """Where a solve ended."""

    C: float
    f: Vector
    b: Array
    slopes: Array | None  # of the rows, where they may be held


class Slope(NamedTuple):
    """How fast solutions change with log C, and over which distance they did; slopes of rows with -1 / C."""

    f: Vector
    b: Array
    distance: float
    slopes: Array | None = None  # times the C where they were


@dataclass
class Plan:
    """What solves of the same rows share, and where the last ones ended: only C may change between them."""

    is_shared: bool = False  # whether several solves are to come
    most_kept: int = 4000  # differences up to which these share float64 kernel values: 64 MB
    setting: Setting | None = None
    nothing: Nothing | None = None
    last: Mark | None = None
    slope: Slope | None = None
    h: float = 0.0
    reach: float | None = None  # how far from its margin a row was, at a start, that came to it
    is_written: bool = False  # or need not be
    is_fine: bool = False  # rounded kernel values have failed once
    is_hard: bool = False  # few rows were better solved exactly

    def refined(self) -> bool:
        """Ask for exact kernel values from now on; False where they were so before."""
        self.is_fine = self.setting is not None and self.setting.is_rougher(np.dtype(np.float64))
        return self.is_fine

    def begin(self, problem: Problem) -> Start | None:
        """Return the last solution, moved on as it moved last with log C where that is not far."""
        if self.last is None:
            return None
        C, f, b, slopes = self.last
        ahead = float(np.log(problem.C / C))
        if self.slope is None or abs(ahead) > FARTHEST * self.slope.distance:
            return Start(f, b, self.h, slopes)
        if slopes is not None and self.slope.slopes is not None:
            slopes = slopes + CAUTIOUS * (1.0 - C / problem.C) * self.slope.slopes
        return Start(f.moved(ahead, self.slope.f), b + ahead * self.slope.b, self.h, slopes)

    def near(self, problem: Problem, point: Point) -> Near | None:
        """Return the problem of the rows that may come to their margins from a point."""
        if self.reach is None:
            some = np.abs(point.short[:: 1 + point.short.size // SOME])
            return near(problem, point, float(np.quantile(some, FIRST)))
        return near(problem, point, AHEAD * (self.reach + self.h), is_known=True)

    def write_out(self, setting: Setting) -> Setting:
        """Write the rows' differences out, by columns: for many solves that is quicker than by way of items."""
        if self.is_written or not (self.is_shared or self.last):
            return setting
        self.is_written, problem = True, setting.problem
        rows, space = problem.rows, problem.space
        if rows.is_single or not isinstance(space, Columns) or sparse.issparse(space.X):
            return setting
        X = space.X
        if rows.shape[0] * X.shape[1] > min(MOST_ENTRIES, 2 * X.size):
            return setting
        space = Columns(np.asfortranarray(rows.D @ X.astype(float, copy=False)))
        own = replace(rows, D=sparse.eye_array(rows.shape[0], format="csr"))
        problem = Problem(replace(problem.risk, rows=own), space, np.nan)
        self.setting = setting._replace(problem=problem)
        if self.last is not None:
            self.last = self.last._replace(f=space.vector(self.last.f.w))
        return self.setting

    def keep(self, problem: Problem, found: Run, said: Verdict, part: Near | None, n_iter: int) -> None:
        """Remember where a solve ended; one that did not is not followed."""
        C, last = problem.C, self.last
        slopes = said.slopes / C if problem.space.is_gram else None
        self.last = Mark(C, said.f, found.best.point.b, slopes) if found.is_done else None
        if self.last is None:
            self.slope = None
        elif last is not None and last.C != C:
            d = float(np.log(C / last.C))
            moved = None if slopes is None or last.slopes is None else (slopes - last.slopes) / (C / last.C - 1.0)
            self.slope = Slope(said.f.slope(last.f, d), (self.last.b - last.b) / d, abs(d), moved)
        elif self.is_shared:
            f, b = found.tangent()
            f = f if part is None else problem.space.vector(f.w)
            self.slope = Slope(f, b, 1.0)
        wider = float(np.clip(NEXT * n_iter, *NEXT_RANGE))
        self.h = found.h if n_iter <= EASY else found.fitting if n_iter <= QUICK else wider * found.h

    def keep_reach(self, first: Array, last: Array) -> None:
        """Remember the farthest shortfall that changed its sign since a start."""
        came = float(np.max(np.abs(first[(first > 0.0) != (last > 0.0)]), initial=0.0))
        self.reach = max(came, KEPT * (self.reach or 0.0))
