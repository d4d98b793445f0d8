"""Which map, which solver: the choices that an estimator makes between the data and the optimum."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import replace

import numpy as np
from scipy import sparse

from . import _core
from ._core import kernels, maps
from ._core.gram import BYTES_HALF, BYTES_WHOLE
from ._core.losses import BY_NAME as LOSSES
from ._core.solution import Status
from ._memory import check_memory, most_memory
from ._solving_levels import LevelSolving
from ._threads import given_threads

EXACT_ROWS = 5_000  # explicit rows up to this are solved to rounding, whatever tol
EXACT_KERNEL_ROWS = 300  # the same with a kernel: beyond, Newton is 2 to 20 times faster
FEW_KERNEL_ROWS = 1_500  # the same where it has failed, or tol is fine
FIRST_ROWS = 200  # rows up to which a path begins with an exact solve: it is as quick as Newton without a start
ROW_STEPS = 100  # of Newton on few rows with slacks of their own: as dear as an exact solve
WALK_STEPS = 10, 0.005, 0.4  # the same, the others times items and pairs / items: as dear as a walk to the next C
HELD_STEPS = 2  # of Newton's are as dear as one that holds the rows of a kernel at their margins
WALK_VALUES = 5_000_000  # kernel values, or features, that a walk has at hand
KEPT_ITEMS = 10_000  # items or differences up to which a path keeps float64 kernel values: 400 MB
ROUNDED_ITEMS = 300  # items above which Newton works on float32 kernel values (its certificates never do)
ROUNDED_TOL = 1e-6  # gap down to which those lead
ROUNDED_VALUES = (1e-20, 1e30)  # largest kernel values that are safe in float32
ASYMMETRIC, SOME_ROWS = (
    1e-6,
    256,
)  # share of the largest value that rounding may make of K - K.T; rows looked at at a time
INDEFINITE = -1e-8  # smallest eigenvalue, as a share of the largest, that a kernel matrix may have
DENTED = -1e-12  # the same from which on it is more than rounding: bounds are then true for an exact solution only
STEEP_ROWS = 3_000.0  # C times the mean of the diagonal from which Newton mostly fails on few rows


class Solving(LevelSolving):
    """From items to a map, from a task to a solution; the parameters are those of `PreferenceEstimator`."""

    def _make_map(self, X, *, implicit=False, given=None):
        """Return the map from weights to the utilities of the items X; remembers the kernel.

        `implicit` says that the map is for pairs that are not written out: Newton needs products of K only.
        What was given, if X is a part of it, decides the kernel's scale.
        """
        self._resolve_kernel(X if given is None else given)
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

    def _first_copies(self, X, codes=tuple):
        """Return where rows that a kernel and `codes()` tell apart occur first, and which of those each row is.

        None where that are nearly all. A linear machine looks at all rows faster than at which are the same; of
        kernel values, sparse rows, and those that landmarks are drawn from, all stay.
        """
        is_plain = self._is_linear or self._is_precomputed or self.n_components is not None or sparse.issparse(X)
        return None if is_plain else _core.repeated.first_copies(X, *codes())

    def _items(self, X, kept):
        """Return the rows that a kernel tells apart, where they are, and which of those each row is."""
        found = self._first_copies(X)
        return (X, kept, np.arange(X.shape[0])) if found is None else (X[found[0]], kept[found[0]], found[1])

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
            plan, seen = self._row_plan(task, part), self._seen(task, map_) if map_.is_gram else map_
            found = self._walk(task, C, part) or self._solve_rows_at(rows, seen, C, plan, most)
            n_steps = found[1].n_iter * (HELD_STEPS if seen.is_gram else 1)
            if found[0] == "newton" and self._walk_may_pay(task, seen, rows.merged.shape[0], n_steps, part):
                self._begin_walk(task, rows.merged, seen, C, found[1], part)
            if seen is map_:
                return found
            loss = LOSSES[self.loss]
            return self._in_columns_of(
                map_, found, lambda u: _core.interior_point.loss_value(rows, rows.D @ u, found[1].levels, C, loss)
            )

        return task.answer(C, self.tol, lambda: self._solve_by_rank(task, solve), part)

    def _in_columns_of(self, map_, found, loss):
        """Return what was found for coefficients of the items in the columns of X, and what it costs there.

        Coefficients of items that depend on each other may cancel; weights of the columns are summed up, and do not.
        """
        name, seen = found
        w = map_.adjoint_exact(seen.weights)
        u, norm = map_.forward_exact(w), map_.squared_norm(w)
        solution = replace(seen, weights=w, utilities=u, squared_norm=norm, objective=0.5 * norm + loss(u))
        is_spoilt = seen.status is Status.CONVERGED and seen.gap <= self.tol < solution.gap
        return name, replace(solution, status=Status.STALLED) if is_spoilt else solution

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
        max_iter = min(self.max_iter, ROW_STEPS) if are_few and rows.task is None else self.max_iter
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

    def _interior_point(self, rows, map_, C):
        if map_.is_gram:
            self._check_gram_memory(map_.n_items, BYTES_WHOLE)
        how = {"tol": self.tol, "max_iter": self.max_iter, "report": self._progress()}
        with given_threads(map_.n_items if map_.is_gram else map_.n_features):
            return "interior_point", _core.interior_point.interior_point(rows, map_, C, LOSSES[self.loss], **how)

    def _progress(self):
        """Return what a solver calls with (iteration, gap), or None."""
        if not self.verbose:
            return None
        name = type(self).__name__
        return lambda k, gap: sys.stderr.write(f"{name}: iteration {k}, duality gap {gap:.1e}\n")
