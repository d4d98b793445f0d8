"""Which map, which solver: the choices that an estimator makes between the data and the optimum."""

from __future__ import annotations

import sys
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import cache

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from threadpoolctl import ThreadpoolController

from . import _core
from ._core import kernels, maps
from ._core.gram import BYTES_HALF, BYTES_ROOMY, BYTES_WHOLE
from ._core.losses import HINGE, SQUARED_HINGE
from ._core.solution import Status
from ._memory import check_memory, most_memory

LOSSES = {
    "hinge": HINGE,
    "squared_hinge": SQUARED_HINGE,
    "epsilon_insensitive": HINGE,
    "squared_epsilon_insensitive": SQUARED_HINGE,
}
EXACT_ROWS = 5_000  # explicit rows up to this are solved to rounding, whatever tol
EXACT_KERNEL_ROWS = 300  # the same with a kernel: beyond, Newton is 2 to 20 times faster
FEW_KERNEL_ROWS = 1_500  # the same where it has failed, or tol is fine
FIRST_ROWS = 200  # rows up to which a path begins with an exact solve: it is as quick as Newton without a start
EXPLICIT_PAIRS = 20_000  # pairs are written out up to this: the interior point is exact there, and fast enough
EXACT_ITEMS = 300  # of a kernel up to which it is: beyond, Newton is 10 to 100 times faster
EXPLICIT_PAIRS_FINE = 200_000  # the same where Newton is slow on a kernel: a fine tol, or a C that makes it steep
EXPLICIT_PAIRS_RESCUE = 1_000_000  # the same where Newton did not reach the gap
FEW_PAIRS = (2, 1)  # times the items: so many pairs of a hinge, or a squared hinge, are looked at one by one
FINE, STEEP = 1e-7, 100.0
ROW_STEPS = 100  # of Newton on few rows: as dear as an exact solve
LOOSE = 1e-6  # gap from which it need not be
WALK_STEPS = 10, 0.005, 0.4  # the same, the others times items and pairs / items: as dear as a walk to the next C
HELD_STEPS = 2  # of Newton's are as dear as one that holds the rows of a kernel at their margins
WALK_PAIRS = 200_000  # pairs up to which a walk looks at them all
WALK_VALUES = 5_000_000  # kernel values, or features, that a walk has at hand
SAME = 1e-10  # gap up to which an exact answer is kept for another C
KEPT_ITEMS = 10_000  # items or differences up to which a path keeps float64 kernel values: 400 MB
ROUNDED_ITEMS = 300  # items above which Newton works on float32 kernel values (its certificates never do)
ROUNDED_TOL = 1e-6  # gap down to which those lead
ROUNDED_VALUES = (1e-20, 1e30)  # largest kernel values that are safe in float32
GRAM_ITEMS = 5000  # items up to which a linear model with more features than that goes through its Gram matrix
ASYMMETRIC, SOME_ROWS = (
    1e-6,
    256,
)  # share of the largest value that rounding may make of K - K.T; rows looked at at a time
INDEFINITE = -1e-8  # smallest eigenvalue, as a share of the largest, that a kernel matrix may have
DENTED = -1e-12  # the same from which on it is more than rounding: bounds are then true for an exact solution only
STEEP_ROWS = 3_000.0  # C times the mean of the diagonal from which Newton mostly fails on few rows


@cache
def _libraries():
    """Return the handle on BLAS, which takes milliseconds to find."""
    return ThreadpoolController()


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


class Solving:
    """From items to a map, from a task to a solution; the parameters are those of `PreferenceEstimator`."""

    def _make_map(self, X, *, implicit=False):
        """Return the map from weights to the utilities of the items X; remembers the kernel.

        `implicit` says that the map is for pairs that are not written out: Newton needs products of K only.
        """
        self._resolve_kernel(X)
        if self._is_linear:
            return maps.LinearMap(X)
        if self.n_components is not None:
            return self._convex(self._make_low_rank(X))
        most_columns = self._rank_that_fits(X.shape[0])
        if implicit and self._may_round(X):
            map_ = maps.ItemsMap(self._kernel, X, most_columns)
            if map_.in_columns is None:
                self._check_gram_memory(X.shape[0], BYTES_HALF)
            return map_
        if not implicit and X.shape[0] > FEW_KERNEL_ROWS and self._is_psd and np.isfinite(self._kernel.diag(X)).all():
            return maps.ItemsMap(self._kernel, X, most_columns)
        return self._convex(maps.KernelMap(self._make_gram(X)))

    @property
    def _is_psd(self):
        """Whether the kernel is positive semi-definite by its form."""
        return self._kernel is not None and self._kernel.is_psd

    def _make_low_rank(self, X):
        """Return the map of a low-rank kernel; says what it leaves out."""
        if self._kernel is None:
            raise ValueError("n_components chooses landmark items; a precomputed kernel has none. Pass None.")
        rank = min(self.n_components, X.shape[0])
        what, need = f"a kernel of rank {rank} over {X.shape[0]} items", BYTES_WHOLE * X.shape[0] * rank
        check_memory(what, need, self.memory_limit, "a smaller n_components")
        map_ = maps.LowRankMap.from_kernel(self._kernel, X, rank)
        if self.verbose:
            sys.stderr.write(
                f"{type(self).__name__}: {map_.n_features} landmarks leave out {map_.loss:.2e} of the kernel's trace; "
                "objective and gap are those of the low-rank kernel.\n"
            )
        return map_

    def _may_round(self, X):
        """Whether Newton may take its directions from float32 kernel values."""
        if not self._is_psd or X.shape[0] <= ROUNDED_ITEMS or self.tol < ROUNDED_TOL:
            return False
        low, high = ROUNDED_VALUES
        return low < float(np.max(self._kernel.diag(X))) < high

    def _make_gram(self, X):
        """Return the kernel matrix of the items; says what it needs before it is allocated."""
        self._check_gram_memory(X.shape[0], BYTES_WHOLE)
        self._resolve_kernel(X)
        if self._kernel is None:
            return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=float)
        K = self._kernel(X, X)
        if not np.all(np.isfinite(K)):
            raise ValueError(
                f"kernel={self.kernel!r} gave NaN or infinite values; look at gamma, degree and the scale of X."
            )
        return K

    def _resolve_kernel(self, X):
        kernel = self._kernel_template()
        self._kernel = None if kernel is None else kernel.resolve(X)
        self._is_dented = False

    def _convex(self, map_):
        """Refuse an indefinite kernel matrix: the 2-norm problem is then not convex and no bound exists."""
        if self._is_psd:
            return map_
        if isinstance(map_, maps.KernelMap):
            self._check_symmetric(map_.K)
        ratio = kernels.lowest_eigenvalue_ratio(map_.kernel_block())
        if ratio < INDEFINITE:
            raise ValueError(
                f"the kernel matrix has an eigenvalue of {ratio:.1e} of the largest; expected none below "
                f"{INDEFINITE:.0e}: the problem is not convex. Use a positive semi-definite kernel, or "
                "RankingVectorMachine, which takes any."
            )
        is_small = map_.n_items <= FEW_KERNEL_ROWS  # more are not solved exactly
        self._is_dented = is_small and not kernels.is_nearly_psd(map_.kernel_block(), DENTED)
        return map_

    def _check_symmetric(self, K):
        """Refuse a kernel matrix that is not that of a kernel; some rows at a time."""
        size = ASYMMETRIC * float(max(K.max(), -K.min()))
        for a in range(0, len(K), SOME_ROWS):
            off = np.abs(K[a : a + SOME_ROWS] - K[:, a : a + SOME_ROWS].T)
            i, j = np.unravel_index(np.argmax(off), off.shape)
            if off[i, j] > size:
                raise ValueError(
                    f"the kernel matrix is not symmetric: K[{a + i}, {j}] = {K[a + i, j]:.6g}, but K[{j}, {a + i}] = "
                    f"{K[j, a + i]:.6g}. Expected k(x, z) = k(z, x) for any two items; for rounding, (K + K.T) / 2."
                )

    def _check_gram_memory(self, n, bytes_per_entry):
        """Say what an exact kernel needs before allocating it, and a rank that would fit."""
        rank = max(1, self._rank_that_fits(n))
        instead = "the features with n_components=1000" if self._is_precomputed else f"n_components={rank}"
        check_memory(f"an exact kernel over {n} items", bytes_per_entry * n * n, self.memory_limit, instead)

    def _rank_that_fits(self, n):
        return int(min(1000, most_memory(self.memory_limit) / (BYTES_WHOLE * n)))

    def _scaled_C(self, total_weight):
        C = float(self.C)  # not of a lower precision, which the certificate would have too
        return C / total_weight if self.C_scale == "mean" and total_weight > 0 else C

    def _solve_rows(self, task, rows, part=0):
        """Solve explicit rows, the given part of the task."""
        C = self._scaled_C(float(rows.weight.sum()))
        begins = part not in task.answers and rows.shape[0] <= FIRST_ROWS
        most = 0 if self._is_on_path(task) and not begins else self._most_exact_rows(task.map_)

        def solve(map_):
            plan = self._row_plan(task, part)
            found = self._walk(task, C, part) or self._solve_rows_at(rows, map_, C, plan, most)
            n_steps = found[1].n_iter * (HELD_STEPS if map_.is_gram else 1)
            if found[0] == "newton" and self._walk_may_pay(task, map_, rows.merged.shape[0], n_steps, part):
                self._begin_walk(task, rows.merged, map_, C, found[1], part)
            return found

        return task.answer(C, self.tol, lambda: self._solve_by_rank(task, solve), part)

    def _row_plan(self, task, part):
        """Return what the solves of a part share."""
        most = min(KEPT_ITEMS, int(np.sqrt(most_memory(self.memory_limit) / BYTES_WHOLE)))
        return task.row_plans.setdefault(part, _core.rows_newton.Plan(task.is_path, most))

    def _solve_by_rank(self, task, solve):
        """Return solve(map): in the columns of a kernel of small rank where they serve, else for the kernel itself."""
        columns = task.in_columns
        if columns is not None:
            solver, solution = solve(columns)
            found = solver, self._for_items(columns, solution)
            if found[1].status is not Status.STALLED:
                return found
            task.leave_columns()
            try:
                self._check_gram_memory(task.map_.n_items, BYTES_HALF)
            except MemoryError:  # the honest gap of what could be done
                return found
            return min(found, solve(task.map_), key=lambda found: found[1].gap)
        return solve(task.map_)

    def _for_items(self, columns, solution):
        """Return the solution by coefficients of the items; its bound holds for the kernel that they have."""
        w, g = solution.weights, solution.coefficients
        known, more = solution.dual_norm, columns.left_out(g)
        by_g = columns.squared_norm(columns.adjoint_exact(g)) if known is None else known
        found = replace(
            solution,
            weights=columns.item_coefficients(w),
            dual=solution.dual - 0.5 * more,
            utilities=columns.forward_exact(w),
            squared_norm=columns.squared_norm(w),
            dual_norm=by_g + more,
        )
        spoilt = solution.gap <= self.tol < found.gap and solution.status is Status.CONVERGED
        return replace(found, status=Status.STALLED) if spoilt else found

    def _most_exact_rows(self, map_):
        """Return the number of explicit rows up to which they are solved to rounding."""
        if not map_.is_gram:
            return EXACT_ROWS
        return EXACT_KERNEL_ROWS if self.tol >= ROUNDED_TOL and not self._is_dented else FEW_KERNEL_ROWS

    def _is_on_path(self, task):
        """Whether a solve has neighbours and need not be exact: then Newton is the quicker one."""
        return task.is_path and self.tol >= ROUNDED_TOL and not self._is_dented

    def _solve_rows_at(self, rows, map_, C, plan, most):
        """Solve exactly where rows are few or slacks are forbidden, else by Newton to the gap tol."""
        rows = rows.merged if rows.shape[0] > most else rows
        are_few = rows.shape[0] <= (FEW_KERNEL_ROWS if map_.is_gram else EXACT_ROWS)
        is_steep = most > 0 and map_.is_gram and C * np.mean(map_.diag()) > STEEP_ROWS  # alone: on a path rows are held
        if np.isinf(C) or rows.shape[0] <= most or (are_few and (plan.is_hard or is_steep)):
            return self._exactly(rows, map_, C)
        max_iter = min(self.max_iter, ROW_STEPS) if are_few else self.max_iter
        found = self._rows_newton(rows, map_, C, plan, max_iter)
        with suppress(MemoryError):  # then the honest gap of what could be done
            if found[1].status is not Status.CONVERGED and plan.refined():
                found = min(found, self._rows_newton(rows, map_, C, plan, max_iter), key=lambda f: f[1].gap)
            if found[1].status is not Status.CONVERGED:
                plan.is_hard = True
                found = min(found, self._exactly(rows, map_, C), key=lambda f: f[1].gap)
        return found

    def _exactly(self, rows, map_, C):
        if map_.is_gram:
            self._check_gram_memory(map_.n_items, BYTES_WHOLE)
        return self._interior_point(rows, map_, C)

    def _rows_newton(self, rows, map_, C, plan, max_iter):
        need = _core.rows_newton.gram_bytes(rows, map_, plan, self.tol, C)
        if need:
            self._check_gram_memory(map_.n_items, need / map_.n_items**2)
        how = {"tol": self.tol, "max_iter": max_iter, "report": self._progress(), "plan": plan}
        return "newton", _core.rows_newton.rows_newton(rows, map_, C, LOSSES[self.loss], **how)

    def _solve_levels(self, task, *, exact_pairs=EXPLICIT_PAIRS):
        """Solve all pairs of levels: written out where they are few, hard or must be exact; else implicit."""
        levels, map_ = task.comparisons, task.in_columns or task.map_
        C = self._scaled_C(_total_weight(levels))
        is_needed = exact_pairs > EXPLICIT_PAIRS  # more are asked for where rules need exactness
        is_exact = levels.n_pairs <= exact_pairs and (is_needed or self._is_exact_quick(levels, map_))
        hard_kernel = map_.is_gram and (self.tol < FINE or C * np.mean(map_.diag()) > STEEP)
        is_few = is_exact or (hard_kernel and levels.n_pairs <= EXPLICIT_PAIRS_FINE)
        is_explicit = np.isinf(C) or (is_few and (is_needed or not self._is_on_path(task)))
        tol = min(self.tol, SAME) if is_explicit and is_needed else self.tol
        if is_explicit or self._has_few_pairs(task, map_):
            task.settle()

        def solve(map_):
            if not is_explicit:
                return self._walk(task, C) or self._solve_implicit(task, map_, C)
            found = self._from_nearby(task, map_, C)
            return found or self._interior_point(task.rows, map_, C, is_loose=not is_exact)

        return task.answer(C, tol, lambda: self._solve_by_rank(task, solve))

    def _is_exact_quick(self, levels, map_):
        """Whether few pairs are to be solved to rounding: with a kernel only of few items, or if bounds need it."""
        return not map_.is_gram or levels.n_items <= EXACT_ITEMS or self._is_dented

    def _solve_implicit(self, task, map_, C):
        """Solve implicit pairs by Newton; where that fails, or is dear, by solvers that write them out."""
        if self._has_few_pairs(task, map_):
            plan = self._row_plan(task, 0)
            found = self._rows_newton(task.rows, map_, C, plan, self.max_iter)
            if found[1].status is Status.CONVERGED:
                return found
        is_whole = not map_.is_gram or BYTES_WHOLE * map_.n_items**2 <= most_memory(self.memory_limit)
        budget = self._budget(task, map_) if is_whole else np.inf
        if budget < np.inf and 0 in task.answers and task.answers[0].solver == "interior_point":
            return self._interior_point(task.rows, map_, C, is_loose=True)  # Newton was given up for the last C
        name, solution = self._newton(task, map_, C, budget)
        if map_.is_rounded and solution.status is Status.STALLED and is_whole:
            task.plan = self._plan(task, map_.exact())
            name, solution = self._newton(task, map_, C, budget)
        out_of_reach = task.comparisons.n_pairs > EXPLICIT_PAIRS_RESCUE or not is_whole
        n_pairs = task.comparisons.n_pairs
        if (
            map_.is_gram
            and is_whole
            and n_pairs <= WALK_PAIRS
            and self._walk_may_pay(task, map_, n_pairs, solution.n_iter)
        ):
            self._begin_walk(task, task.rows, map_, C, solution)
        if solution.status is Status.CONVERGED or out_of_reach:
            return name, solution
        task.plan[2].memory.forget()
        return self._walk(task, C) or min(
            (name, solution), self._interior_point(task.rows, map_, C, is_loose=True), key=lambda found: found[1].gap
        )

    def _budget(self, task, map_):
        """Return the price at which Newton had better leave pairs to an interior point, which takes any C alike."""
        levels, is_exact = task.comparisons, self.tol < LOOSE
        is_few = levels.n_pairs <= EXPLICIT_PAIRS_FINE and levels.n_items <= _core.interior_point.ITEM_LIMIT
        if not (map_.is_gram and is_few and (task.is_path or not is_exact)):
            return np.inf
        return _core.prices.interior_point(levels.n_pairs, np.diff(levels.starts), is_exact=is_exact)

    def _walk(self, task, C, part=0):
        """Return the exact solution by a walk from the last one's; None where there is none, or it does not arrive."""
        walk = task.walks.get(part)
        if walk is None or np.isinf(C):
            return None
        solution = walk.to(C, self.tol)
        if solution is None:
            task.walks[part] = None  # and not again
        return solution and ("margin_walk", solution)

    def _walk_may_pay(self, task, map_, n_rows, n_steps, part=0):
        """Whether Newton took so many steps on a path that few rows change sides from here on, in comparison."""
        steps = np.dot(WALK_STEPS, (1.0, map_.n_items, n_rows / map_.n_items))
        n_values = map_.n_items * (map_.n_items if map_.is_gram else map_.n_features)
        is_slow = self._is_on_path(task) and n_steps > steps and part not in task.walks
        return is_slow and not LOSSES[self.loss].squared and 0 < n_values <= WALK_VALUES

    def _begin_walk(self, task, rows, map_, C, solution, part=0):
        """Take up Newton's answer, where rows have slacks of their own and one level at most."""
        if rows.task is not None or rows.E.shape[1] > 1:
            return
        with suppress(MemoryError):
            if map_.is_gram:
                self._check_gram_memory(map_.n_items, BYTES_WHOLE)
            walk, u = _core.margin_walk.MarginWalk(rows, map_), map_.forward_exact(solution.weights)
            if walk.begin(C, u, solution.levels, solution.objective - solution.dual):
                task.walks[part] = walk

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
        _, solution = self._newton(task, map_, C)
        u = map_.forward_exact(solution.weights)
        found = _core.interior_point.from_nearby(task.rows, map_, C, LOSSES[self.loss], u, self.max_iter)
        return found and ("interior_point", found)

    def _interior_point(self, rows, map_, C, *, is_loose=False):
        if map_.is_gram:
            self._check_gram_memory(map_.n_items, BYTES_WHOLE)
        how = {"tol": self.tol, "max_iter": self.max_iter, "report": self._progress(), "is_loose": is_loose}
        return "interior_point", _core.interior_point.interior_point(rows, map_, C, LOSSES[self.loss], **how)

    def _newton(self, task, map_, C, budget=np.inf):
        """Solve implicit pairs, from where the task's last solve ended."""
        if task.plan is None:
            task.plan = self._plan(task, map_)
        risk, seen, plan = task.plan
        how = {"tol": self.tol, "max_iter": self.max_iter, "verbose": bool(self.verbose), "budget": budget}
        n_threads = effective_n_jobs(self.n_jobs)
        alone = _libraries().limit(limits=1, user_api="blas") if n_threads > 1 else nullcontext()
        plan.memory.n_ahead = sum(C > self.C for C in task.Cs)
        with alone:  # threads take blocks: BLAS must not bring its own
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
        """Return the risk, the map that Newton sees (coefficients of items for wide X) and the layout of the data."""
        if self._is_linear and 2 * map_.n_features > map_.n_items and map_.n_items <= GRAM_ITEMS:
            map_ = maps.KernelMap(map_.gram())
        risk = _core.risks.GroupedPairRisk(task.comparisons, LOSSES[self.loss])
        is_roomy = not map_.is_gram or BYTES_ROOMY * map_.n_items**2 <= most_memory(self.memory_limit)
        how = {"is_shared": task.is_path, "is_roomy": is_roomy, "doubt": task.doubt}
        plan = _core.newton.Plan.of(risk, map_, effective_n_jobs(self.n_jobs), **how)
        return risk, map_, plan

    def _progress(self):
        """Return what a solver calls with (iteration, gap), or None."""
        if not self.verbose:
            return None
        name = type(self).__name__
        return lambda k, gap: sys.stderr.write(f"{name}: iteration {k}, duality gap {gap:.1e}\n")
