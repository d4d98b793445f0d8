"""Time one solver on one workload; the referee looks at every answer.

As a program, `python -m benchmarks.measure '{"workload": ..., "solver": ...}'` prints the result as a line of JSON:
every measurement has a process of its own, so that peaks of memory are its own too.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from dataclasses import asdict, dataclass

import numpy as np

from . import machine, objective, solvers
from .datasets import find
from .problem import Workload

MEMORY_SHARE = 8e9  # bytes that a peer may need for its pairs
PATIENCE = 5.0  # seconds above which a fit is not repeated
REFERENCE = 0.01  # share of tol to which the lower bound is computed, untimed
UNITS = 5  # products X @ w timed before and after each fit


@dataclass
class Result:
    """A line of the table."""

    workload: str
    solver: str
    threads: int = 1
    cpu: float | None = None
    wall: float | None = None
    unit: float | None = None  # CPU seconds of one float64 product X @ w
    objective: float | None = None
    certified: float | None = None  # the solver's own relative gap
    gap: float | None = None  # the referee's: (objective - best bound) / objective
    bound: float | None = None  # best lower bound known after this solver
    certificate: float | None = None  # the bound that the solver itself certified
    memory: float | None = None  # bytes beyond what was held before the fit
    size: int = 1
    note: str = ""
    skipped: str = ""

    @property
    def products(self):
        """Return the time in products X @ w."""
        return self.cpu / self.unit if self.cpu is not None and self.unit else None


def measure(workload: Workload, solver: str, *, quick=False, threads=1, bound=None):
    """Return the result of a solver: of the first of its efforts that reaches the gap."""
    result = Result(workload.name, solver, threads)
    module = solvers.load(solver)
    result.skipped = workload.missing() or module.skip() or ""
    if result.skipped:
        return result
    problem = workload.make(quick)
    if hasattr(module, "needs") and module.needs(problem) > MEMORY_SHARE:
        result.skipped = f"its pairs need {module.needs(problem) / 1e9:.0f} GB"
        return result
    if threads > 1 and not (solver == "ours" and module.supports_threads(problem)):
        result.skipped = "no n_jobs"
        return result
    more = {"n_jobs": threads} if threads > 1 else {}
    warm_up(module, workload.make(quick=True), more)
    repeat = 1 if quick else workload.repeat
    for effort in module.EFFORTS:
        answer = run(module, problem, {**effort, **more}, result, repeat if len(module.EFFORTS) == 1 else 1)
        result.bound = bound
        consider(problem, module, answer, result)
        if len(module.EFFORTS) > 1:
            result.note = ", ".join(f"{key}={value:g}" for key, value in effort.items())
        if result.gap is None or result.gap <= problem.tol:
            break
    if len(module.EFFORTS) > 1 and repeat > 1:
        run(module, problem, {**effort, **more}, result, repeat)  # the effort is chosen: now it gets its best of three
    if answer.predict is not None and problem.kind == "ranking" and workload.peers:
        share = objective.concordance(problem, np.asarray(answer.predict(problem.X), dtype=float))
        result.note = ", ".join(filter(None, [result.note, f"concordance {share:.3f}"]))
    return result


def warm_up(module, problem, more):
    """Fit a small problem of the same kind: imports, caches and lazy initialisation are not timed."""
    effort = {**module.EFFORTS[0], **more}
    module.fit(problem, module.prepare(problem, effort) if hasattr(module, "prepare") else effort)


def run(module, problem, effort, result, repeat):
    """Fit several times: the best times, the memory of the first fit; the unit is timed in between."""
    effort = module.prepare(problem, effort) if hasattr(module, "prepare") else effort
    product = unit_of(problem)
    result.cpu = result.wall = result.unit = np.inf
    result.memory = None
    for _ in range(repeat):
        result.unit = min(result.unit, best_cpu(product))
        machine.forget_peak()
        before = machine.resident()
        wall, cpu = time.perf_counter(), time.process_time()
        answer = module.fit(problem, effort)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        if result.memory is None:
            result.memory = max(0, machine.peak() - before)
        result.cpu, result.wall = min(result.cpu, cpu), min(result.wall, wall)
        if cpu > PATIENCE:
            break
    result.unit = min(result.unit, best_cpu(product)) if product else None
    result.size = answer.size
    return answer


def unit_of(problem):
    """Return the float64 product X @ w of a linear problem."""
    if problem.kernel != "linear":
        return None
    X, w = problem.X.astype(np.float64), np.ones(problem.X.shape[1])
    return lambda: X @ w


def best_cpu(product):
    """Return the least CPU time of a few calls."""
    best = np.inf
    for _ in range(UNITS if product else 0):
        start = time.process_time()
        product()
        best = min(best, time.process_time() - start)
    return best


def consider(problem, module, answer, result):
    """Let the referee recompute what the answer is worth; raise where the solver claimed too much."""
    verdict = objective.judge(problem, answer)
    result.note, result.certified, result.objective = answer.note, answer.gap, answer.objective
    if verdict is None:
        return
    objective.check(problem, answer, verdict)
    bounds = [b for b in (result.bound, verdict.bound) if b is not None]
    if problem.kind != "vector_pairs":
        result.objective = verdict.objective
    if answer.gap is not None:
        result.certificate = answer.objective * (1.0 - answer.gap)
        bounds.append(result.certificate)
        if problem.tol > 1e-6 and result.cpu < PATIENCE:
            bounds += reference(problem, module, result.certificate)
    result.bound = max(bounds)
    result.gap = (result.objective - result.bound) / abs(result.objective)


def reference(problem, module, certificate):
    """Return the lower bounds of a careful fit, whose objective no certificate may exceed."""
    careful = module.fit(problem.tightened(REFERENCE), {})
    verdict = objective.judge(problem, careful)
    objective.check(problem, careful, verdict)
    objective.check_bound(verdict.objective, certificate)
    return [verdict.bound, careful.objective * (1.0 - careful.gap)]


def main():
    """Measure what the argument names and print the result."""
    task = json.loads(sys.argv[1])
    warnings.simplefilter("ignore")
    result = measure(find(task.pop("workload")), task.pop("solver"), **task)
    sys.stdout.write(json.dumps(asdict(result), default=float) + "\n")


if __name__ == "__main__":
    main()
