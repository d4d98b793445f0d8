"""Run the workloads and print the table."""

from __future__ import annotations

import argparse
import sys
import warnings
from functools import partial
from pathlib import Path

from . import machine, objective
from .datasets import WORKLOADS
from .measure import measure
from .process import in_process, progress, with_bar
from .scaling import scaling
from .startup import startup
from .table import table


def main(argv=None):
    """Parse, run, print; returns the exit status: 1 where a process failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, in one process: a smoke test")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="workloads whose names start with one of these")
    parser.add_argument("--solvers", nargs="+", metavar="NAME", help="only these solvers; ours always runs")
    parser.add_argument("--out", type=Path, help="write the report here too")
    parser.add_argument("--scaling", type=Path, metavar="DIR", help="time and memory against rows; plots into DIR")
    options = parser.parse_args(argv)
    if options.scaling:
        lines = [*machine.describe(), "", *scaling(options.scaling)]
    else:
        run = quick_results if options.quick else full_results
        results = run(chosen(options.only), options.solvers, partial(keep, options.out))
        lines = [*report(results), "", *([] if options.quick else startup())]
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    return int("failed:" in text)


def keep(path, results):
    """Write what is known so far: a long run that is interrupted loses nothing."""
    if path:
        path.write_text("\n".join(report(results)) + "\n", encoding="utf-8")


def chosen(prefixes):
    """Return the workloads that a user asked for."""
    return [w for w in WORKLOADS.values() if prefixes is None or w.name.startswith(tuple(prefixes))]


def report(results):
    """Return the lines of the report."""
    return [*machine.describe(), "", *table(results)]


def quick():
    """Run every workload at a tiny size, all solvers that are installed, the referee included; seconds in all."""
    return quick_results(chosen(None))


def quick_results(workloads, names=None, keep=None):
    """Return results of tiny problems, in this process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return collect(workloads, names, partial(measure, quick=True), keep)


def full_results(workloads, names=None, keep=None):
    """Return results of full problems, each in a process of its own."""
    return collect(workloads, names, in_process, keep)


def collect(workloads, names, run, keep=None):
    """Run ours, then the peers against our lower bound; no answer may lie below what was certified."""
    results = []
    for workload in with_bar(workloads):
        rows = [run(workload, "ours")]
        own = rows[0]
        if workload.threads and not own.skipped:
            rows.append(run(workload, "ours", threads=2, bound=own.bound))
        rows += [run(workload, peer, bound=own.bound) for peer in workload.peers if names is None or peer in names]
        if own.certificate is not None:
            for row in rows:
                if row.objective is not None:
                    objective.check_bound(row.objective, own.certificate)
        progress(f"{workload.name}: {', '.join(map(summary, rows))}")
        results += rows
        if keep:
            keep(results)
    return results


def summary(row):
    """Return a few words for the progress line."""
    return f"{row.solver} " + (f"({row.skipped})" if row.skipped else f"{row.cpu:.3g} s")
