"""Do all cases of an experiment, by two processes or one, and keep account of processor time and warnings."""

import time
import warnings
from collections import Counter
from types import GeneratorType

from joblib import Parallel, delayed

PROCESSES = 2  # the machine that the page speaks of has two cores


def silent(iterable, label, total):  # noqa: ARG001 -- the signature of a progress bar
    """Iterate without a progress bar."""
    return iterable


class Each:
    """`each(function, cases, label)` returns `[function(*case) for case in cases]`, yielded rows as lists.

    Attributes
    ----------
    cpu_seconds : float
        Processor time that other processes spent.
    warnings : Counter
        What they warned of.
    """

    def __init__(self, processes=PROCESSES, track=silent):
        self.processes = processes
        self.track = track
        self.cpu_seconds = 0.0
        self.warnings = Counter()

    def __call__(self, function, cases, label):
        """Return the results in order; one process is this one."""
        cases = list(cases)
        if self.processes == 1:
            return [complete(function, case) for case in self.track(cases, label, len(cases))]
        team = Parallel(n_jobs=self.processes, return_as="generator", max_nbytes=None)
        done = team(delayed(elsewhere)(function, case) for case in cases)
        results = []
        for result, seconds, warned in self.track(done, label, len(cases)):
            results.append(result)
            self.cpu_seconds += seconds
            self.warnings.update(warned)
        return results


def complete(function, case):
    """Return what the function gives, a generator's rows as a list."""
    result = function(*case)
    return list(result) if isinstance(result, GeneratorType) else result


def elsewhere(function, case):
    """Return the result, its processor time, and the warnings: another process has its own of both."""
    start = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        result = complete(function, case)
    return result, time.process_time() - start, told(caught)


def told(caught):
    """Return recorded warnings as texts."""
    return [f"{w.category.__name__}: {w.message}" for w in caught]
