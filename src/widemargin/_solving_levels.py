"""Which solver for all pairs of levels: implicit, written out, or by the interior point over the pairs of a kernel."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from operator import attrgetter

import numpy as np
from joblib import effective_n_jobs

from . import _core
from ._core import maps
from ._core.gram import BYTES_ROOMY, BYTES_WHOLE
from ._core.losses import BY_NAME as LOSSES
from ._core.solution import Status
from ._memory import most_memory
from ._threads import given_threads

EXPLICIT_PAIRS = 20_000  # pairs are written out up to this: the interior point is exact there, and fast enough
EXACT_ITEMS = 300  # of a kernel up to which it is: beyond, Newton is 10 to 100 times faster
EXPLICIT_PAIRS_FINE = 200_000  # the same where Newton is slow on a kernel: a fine tol, or a hinge that C makes steep
EXPLICIT_PAIRS_RESCUE = 1_000_000  # the same where Newton did not reach the gap
FEW_PAIRS = (2, 1)  # times the items: so many pairs of a hinge, or a squared hinge, are looked at one by one
FINE, STEEP = 1e-7, 100.0
LOOSE = 1e-6  # gap from which it need not be
HANDED_H = 0.5  # of Newton's smoothing where it hands over: its slopes stop at the margins, a barrier's go on
LOST = 1.0  # gap of Newton's point from which on it is as good as another C's solution
WALK_PAIRS = 200_000  # pairs up to which a walk looks at them all
WALK_PARTNERS = 15  # the same for each item, where an interior point is the other way
SAME = 1e-10  # gap up to which an exact answer is kept for another C
GRAM_ITEMS = 5000  # items up to which a linear model with more features than that goes through its Gram matrix


def _total_weight(levels):
    """Return the weight of all pairs; refuse weights whose products have none, or no finite one."""
    with np.errstate(over="ignore"):
        total = levels.total_weight
    if not 0.0 < total < np.inf:
        raise ValueError(
            f"the weights of the pairs, products of their items' sample_weight, sum to {total}; expected a finite "
            "number above 0. Multiply sample_weight by a number that brings it near 1."
        )
    return total


class LevelSolving:
    """From levels to a solution; what it does not define is `Solving`'s, of which it is a part."""

    def _different(self, X, levels):
        """Return the items that a kernel tells apart within a level, where they are, and levels that count copies.

        No pair is lost, since copies of one level are not compared: 100,000 answers on few items are few rows.
        """
        found = self._first_copies(X, lambda: (levels.level, levels.group))
        if found is None:
            return X, slice(None), levels
        first, which = found
        weight = np.bincount(which, levels.weight, first.size)
        return X[first], first, _core.comparisons.from_levels(levels.level[first], levels.group[first], weight)

    def _solve_levels(self, task, *, exact_pairs=EXPLICIT_PAIRS):
        """Solve all pairs of levels: written out where they are few, hard or must be exact; else implicit."""
        levels, map_ = task.comparisons, task.in_columns or task.map_
        C = self._scaled_C(_total_weight(levels))
        is_needed = exact_pairs > EXPLICIT_PAIRS  # more are asked for where rules need exactness
        is_exact = levels.n_pairs <= exact_pairs and (is_needed or self._is_exact_quick(levels, map_))
        is_steep = not LOSSES[self.loss].squared and map_.is_gram and C * np.mean(map_.diag()) > STEEP
        hard_kernel = map_.is_gram and (self.tol < FINE or is_steep)
        is_few = is_exact or (hard_kernel and levels.n_pairs <= EXPLICIT_PAIRS_FINE)
        is_explicit = np.isinf(C) or (is_few and (is_needed or not self._is_on_path(task)))
        tol = min(self.tol, SAME) if is_explicit and is_needed else self.tol
        if is_explicit or self._has_few_pairs(task, map_):
            task.settle()

        def solve(map_):
            if not is_explicit:
                return self._solve_unwritten(task, map_, C)
            found = self._from_nearby(task, map_, C) or (None if is_exact else self._implicit_pairs(task, map_, C))
            return found or self._interior_point(task.rows, map_, C)

        return task.answer(C, tol, lambda: self._solve_by_rank(task, solve))

    def _is_exact_quick(self, levels, map_):
        """Whether few pairs are to be solved to rounding: with a kernel only of few items, or if bounds need it."""
        return not map_.is_gram or levels.n_items <= EXACT_ITEMS or self._is_dented

    def _solve_unwritten(self, task, map_, C):
        """Solve pairs that are not written out, unless they are few; in coefficients of the items where X is wide."""
        if self._has_few_pairs(task, map_):
            plan = self._row_plan(task, 0)
            found = self._rows_newton(task.rows, map_, C, plan, self.max_iter)
            if found[1].status is Status.CONVERGED:
                return found
        seen = self._seen(task, map_)
        found = self._walk(task, C) or self._solve_implicit(task, seen, C)
        if seen is map_:
            return found
        risk = _core.risks.GroupedPairRisk(task.comparisons, LOSSES[self.loss])
        return self._in_columns_of(map_, found, lambda u: C * risk.evaluate(u)[0].loss)

    def _seen(self, task, map_):
        """Return what solvers see instead of few items with many features: the Gram matrix."""
        if not self._is_linear or 2 * map_.n_features <= map_.n_items or map_.n_items > GRAM_ITEMS:
            return map_
        if task.seen is None:
            task.seen = maps.KernelMap(map_.gram())
        return task.seen

    def _solve_implicit(self, task, map_, C):
        """Solve implicit pairs by Newton; where that fails, or is dear, by solvers that write them out."""
        budget, last = self._budget(task, map_), task.answers.get(0)
        if budget < np.inf and last is not None and self._was_dear(task, last):
            found = self._implicit_pairs(task, map_, C, self._from_last(task, C)) or self._written_out(task, map_, C)
            if found is not None and found[1].status is Status.CONVERGED:
                return found
        name, solution = self._implicit_newton(task, map_, C, budget)
        n_pairs = task.comparisons.n_pairs
        most = WALK_PARTNERS * map_.n_items if self._may_take_implicit_pairs(task, map_) else WALK_PAIRS
        may_walk = map_.is_gram and self._is_whole(map_) and n_pairs <= most
        if may_walk and self._walk_may_pay(task, map_, n_pairs, solution.n_iter):
            self._begin_walk(task, task.rows, map_, C, solution)
        if solution.status is Status.CONVERGED:
            return name, solution
        task.plan[2].memory.forget()
        found = self._walk(task, C) or self._written_out(task, map_, C)
        return (name, solution) if found is None else min((name, solution), found, key=lambda one: one[1].gap)

    def _was_dear(self, task, last):
        """Whether Newton was given up at the last C, or nearly, and left a start."""
        if task.start is None or task.plan is None:
            return False
        return last.solver == "interior_point" or (last.solver == "newton" and task.plan[2].memory.is_near)

    def _implicit_newton(self, task, map_, C, budget):
        """Solve by Newton; where that costs as much as the interior point over the pairs of a kernel, by that.

        Where that fails by rounding, few pairs are written out before Newton goes on without a limit.
        """
        start = task.start
        name, solution = self._sure_newton(task, map_, C, budget)
        if solution.status is Status.CONVERGED or not self._may_take_implicit_pairs(task, map_):
            return name, solution
        found = self._implicit_pairs(task, map_, C, self._handed_over(task, C, solution))
        if found is not None or budget == np.inf:
            return found or (name, solution)
        if LOSSES[self.loss].squared:
            task.start = start  # a climb was left half way
        is_rounding = task.implicit_pairs is not None and task.comparisons.n_pairs <= EXPLICIT_PAIRS_FINE
        found = self._written_out(task, map_, C) if is_rounding else None
        is_found = found is not None and found[1].status is Status.CONVERGED
        return found if is_found else self._sure_newton(task, map_, C, np.inf)

    def _from_last(self, task, C):
        """Return where an interior point begins at the solution for the last C."""
        return self._near(task, C, task.answers[0].solution.objective)

    def _handed_over(self, task, C, solution):
        """Return where an interior point goes on from where Newton was left."""
        start = _core.interior_point.Start(task.start, HANDED_H * task.plan[2].end_h)
        if not np.isfinite(solution.objective):
            return start
        if LOSSES[self.loss].squared:
            return self._near(task, C, solution.objective, gap=solution.gap)
        near = self._near(task, C, solution.objective)
        return max(start, near, key=attrgetter("h")) if solution.gap > LOST else start

    def _near(self, task, C, objective, **how):
        """Return a start at the weights of the last solve, whose objective this is."""
        cost, squared = C * task.comparisons.total_weight, LOSSES[self.loss].squared
        return _core.interior_point.Start.near(task.start, objective, cost, squared=squared, **how)

    def _sure_newton(self, task, map_, C, budget):
        """Solve by Newton, by float64 kernel values where rounded ones do not do."""
        found = self._newton(task, map_, C, budget)
        if map_.is_rounded and found[1].status is Status.STALLED and self._is_whole(map_):
            task.plan = self._plan(task, map_.exact())
            found = self._newton(task, map_, C, budget)
        return found

    def _is_whole(self, map_):
        """Whether there is memory for the whole kernel matrix in float64."""
        return not map_.is_gram or BYTES_WHOLE * map_.n_items**2 <= most_memory(self.memory_limit)

    def _written_out(self, task, map_, C):
        """Solve pairs written out; None where they are too many, or the kernel matrix does not fit."""
        fits = self._is_whole(map_) and task.comparisons.n_pairs <= EXPLICIT_PAIRS_RESCUE
        return self._interior_point(task.rows, map_, C) if fits else None

    def _budget(self, task, map_):
        """Return the price at which Newton had better leave pairs to an interior point, which takes any C alike."""
        levels = task.comparisons
        if map_.is_gram and self._may_take_implicit_pairs(task, map_):
            return _core.prices.implicit_pairs(levels.n_items, levels.n_pairs)
        is_few = levels.n_pairs <= EXPLICIT_PAIRS_FINE and levels.n_items <= _core.interior_point.ITEM_LIMIT
        if not (map_.is_gram and self._is_whole(map_) and is_few and task.is_path and self.tol < LOOSE):
            return np.inf
        return _core.prices.interior_point(levels.n_pairs, np.diff(levels.starts))

    def _may_take_implicit_pairs(self, task, map_):
        """Whether an interior point over the pairs of a kernel, or of a linear one, solves this, and has the memory."""
        if self.tol < LOOSE or self._is_dented or (LOSSES[self.loss].squared and not map_.is_gram):
            return False
        n, n_pairs = task.comparisons.n_items, task.comparisons.n_pairs
        p = 0 if map_.is_gram else map_.n_features
        need = _core.interior_point.BYTES_MATRIX * (n**2 + p**2 + n * p) + _core.interior_point.BYTES_PAIR * n_pairs
        return n <= _core.interior_point.MOST_ITEMS and need <= most_memory(self.memory_limit)

    def _implicit_pairs(self, task, map_, C, start=None):
        """Solve pairs under a kernel by an interior point that does not write them out; None where that fails."""
        if np.isinf(C) or not self._may_take_implicit_pairs(task, map_):
            return None
        with given_threads(map_.n_items):
            found = self._implicit_solution(task, map_, C, start)
        if found is None:
            return None
        if map_.is_gram:
            task.start = found.weights
            found = replace(found, weights=map_.adjoint_exact(found.weights))
        return "interior_point", _core.newton.nonzero(task.implicit_pairs.risk, map_, C, found)

    def _implicit_solution(self, task, map_, C, start):
        """Return what that interior point finds, with the pairs laid out once for all C; None where it fails."""
        if task.implicit_pairs is None:
            risk, spaces = _core.risks.GroupedPairRisk(task.comparisons, LOSSES[self.loss]), _core.interior_point
            if map_.is_gram:
                found = self._first_copies(task.X)  # of several levels: those of one are one item already
                make = partial(spaces.kernel_space, map_.gram(), which=None if found is None else found[1])
            else:
                make = partial(spaces.ColumnSpace.of, map_.columns())
            task.implicit_pairs = spaces.ImplicitPairs.of(risk, make)
        if task.implicit_pairs is None:
            return None
        how = {"tol": self.tol, "max_iter": self.max_iter, "report": self._progress()}
        found = task.implicit_pairs.solve(C, start=start, **how)
        if found.status is not Status.CONVERGED and start is not None and map_.is_gram:
            found = task.implicit_pairs.solve(C, **how)
        if found.status is not Status.CONVERGED:
            found = task.implicit_pairs.solve(C, start=start, is_careful=True, **how)
        return found if found.status is Status.CONVERGED else None

    def _has_few_pairs(self, task, map_):
        """Whether the pairs of a linear machine are so few that Newton had better look at each by itself."""
        most = FEW_PAIRS[LOSSES[self.loss].squared] * task.comparisons.n_items
        return not map_.is_gram and task.comparisons.n_pairs <= most and not getattr(self, "warm_start", False)

    def _from_nearby(self, task, map_, C):
        """Return the exact solution by way of Newton's, on a path; None elsewhere, and where that fails."""
        if not (task.is_path and task.answers) or np.isinf(C):
            return None
        if map_.is_gram:
            self._check_gram_memory(map_.n_items, BYTES_WHOLE)
        seen = self._seen(task, map_)
        budget = np.inf if LOSSES[self.loss].squared else self._budget(task, seen)  # steps end with the rows that bend
        _, solution = self._newton(task, seen, C, budget)
        if budget < np.inf and solution.status is not Status.CONVERGED:
            return None
        u = seen.forward_exact(solution.weights)
        found = _core.interior_point.from_nearby(task.rows, map_, C, LOSSES[self.loss], u, self.max_iter)
        return found and ("interior_point", found)

    def _newton(self, task, map_, C, budget=np.inf):
        """Solve implicit pairs, from where the task's last solve ended."""
        if task.plan is None:
            task.plan = self._plan(task, map_)
        risk, seen, plan = task.plan
        how = {"tol": self.tol, "max_iter": self.max_iter, "verbose": bool(self.verbose), "budget": budget}
        plan.memory.n_ahead = sum(C > self.C for C in task.Cs)
        start = self._last_weights(task, seen) if task.start is None else task.start
        solution = _core.newton.newton(risk, seen, C, start=start, plan=plan, **how)
        task.start = solution.weights
        by_items = seen is not map_
        return "newton", replace(solution, weights=map_.adjoint_exact(task.start)) if by_items else solution

    def _last_weights(self, task, map_):
        """Return the weights of the last fit where `warm_start` asks for them and they fit these features."""
        asks = self._is_linear and getattr(self, "warm_start", False)
        last = getattr(self, "coef_", None) if asks and map_ is task.map_ else None
        fits = last is not None and last.shape == (map_.n_features,) and np.all(np.isfinite(last))
        return last if fits else None

    def _plan(self, task, map_):
        """Return the risk, the map that Newton sees and the layout of the data."""
        risk = _core.risks.GroupedPairRisk(task.comparisons, LOSSES[self.loss])
        is_roomy = not map_.is_gram or BYTES_ROOMY * map_.n_items**2 <= most_memory(self.memory_limit)
        how = {"is_shared": task.is_path, "is_roomy": is_roomy, "doubt": task.doubt}
        plan = _core.newton.Plan.of(risk, map_, effective_n_jobs(self.n_jobs), **how)
        return risk, map_, plan
