"""What a path of 20 values of C costs, in fits of its own kind: `python -m benchmarks.paths --help`.

A middle fit is at the tenth value of the path, a mean fit the average over all of them, each cold. Times are CPU time,
the best of a few rounds, in each of which the path and all fits take their turn. The last column is the largest
relative difference between the objectives of the path and of the fits, both computed again in float64 from the data: at
most the two tolerances together.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from widemargin.model_selection import c_path

from .objective import RefereeError
from .path_cases import CASES

ROUNDS, PATIENCE = 3, 3.0  # of all measurements, and seconds that one may take if there is to be another


@dataclass(frozen=True)
class Result:
    """CPU seconds of the fits and of the path, and how far their objectives are apart."""

    name: str
    middle: float
    mean: float
    path: float
    apart: float
    gap: float  # the largest on the path

    def line(self):
        """Return a line of the table."""
        times = f"{self.middle:.4f} | {self.mean:.4f} | {self.path:.4f}"
        ratios = f"{self.path / self.middle:.1f} | {self.path / self.mean:.1f}"
        return f"| {self.name} | {times} | {ratios} | {self.gap:.0e} | {self.apart:.0e} |"


def measure(name, *, quick=False):
    """Measure one case; raises where path and fits differ by more than both certify."""
    case = CASES[name](quick)
    Cs = case.Cs[::5] if quick else case.Cs

    def fit(C):
        return clone(case.estimator).set_params(C=C).fit(case.X, case.y, **case.more)

    cpu, times = np.inf, np.full(len(Cs), np.inf)
    for _ in range(1 if quick else ROUNDS):
        fits = [_timed(lambda C=C: fit(C)) for C in Cs]
        now, path = _timed(lambda: c_path(case.estimator, case.X, case.y, Cs, **case.more))
        cpu, times = min(cpu, now), np.minimum(times, [t for t, _ in fits])
        if now + times.sum() > PATIENCE:
            break
    apart = 0.0
    for (_, alone), model in zip(fits, path.estimators, strict=True):
        one, other = case.objective(alone), case.objective(model)
        for found, true in ((alone, one), (model, other)):
            if abs(found.objective_ - true) > 1e-6 * abs(true):
                raise RefereeError(f"{name}, C={model.C:.3g}: objective_ = {found.objective_!r}, but it is {true!r}")
        if abs(one - other) > max(alone.duality_gap_, model.duality_gap_) * max(one, other) + 1e-9 * one:
            raise RefereeError(f"{name}, C={model.C:.3g}: {one!r} alone, {other!r} on the path")
        apart = max(apart, abs(one - other) / one)
    return Result(name, float(times[len(Cs) // 2]), float(times.mean()), cpu, apart, float(path.gaps.max()))


def _timed(work):
    """Return the CPU time of a call, and its result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def table(results):
    """Yield the lines of a Markdown table."""
    yield "| path | middle fit, s | mean fit, s | path, s | in middle fits | in mean fits | worst gap | apart |"
    yield "|---" * 8 + "|"
    for result in results:
        yield result.line()


def main(arguments=None):
    """Run the cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tiny sizes and four values of C")
    parser.add_argument("--only", nargs="*", default=[""], help="cases whose names start so")
    parser.add_argument("--out", type=Path, help="write the table into a file too")
    options = parser.parse_args(arguments)
    names = [name for name in CASES if name.startswith(tuple(options.only))]
    lines = []
    with warnings.catch_warnings(), threadpool_limits(limits=1, user_api="blas"):  # else waiting threads count as well
        warnings.simplefilter("ignore")
        for line in table(measure(name, quick=options.quick) for name in names):
            lines.append(line)
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
