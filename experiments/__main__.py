"""Run the papers' experiments: `python -m experiments --help`."""

import argparse
import os
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from . import _page, _run, _seeds
from ._each import PROCESSES, Each


def main(argv=None):
    """Parse, run, print; returns the exit status: 2 for an unknown name."""
    options = parse(argv)
    if options.list:
        for name in _run.names():
            sys.stdout.write(f"{name:32} {_run.module(name).__doc__.splitlines()[0]}\n")
        return 0
    chosen = options.names or _run.names()
    unknown = sorted(set(chosen) - set(_run.names()))
    if unknown:
        sys.stderr.write(f"no experiment named {unknown[0]!r}; there are: {', '.join(_run.names())}\n")
        return 2
    os.environ[_seeds.VARIABLE] = str(options.seed)
    if not options.page:
        run_all(chosen, _run.folder_for(options.out, quick=options.quick), quick=options.quick)
    if options.out is None and not options.quick:
        _page.write()
    return 0


def parse(argv):
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="experiments to run; all if none is given")
    parser.add_argument("--quick", action="store_true", help="small sizes, seconds each, into a temporary folder")
    parser.add_argument("--list", action="store_true", help="name the experiments")
    parser.add_argument("--page", action="store_true", help="only write docs/reproduction.md from the saved results")
    parser.add_argument("--seed", type=int, default=_seeds.DEFAULT, help="another one makes an independent run")
    parser.add_argument("--out", type=Path, help="folder for the results, instead of experiments/results and the page")
    return parser.parse_args(argv)


def run_all(chosen, out, *, quick):
    """Run the chosen experiments one after the other, with a progress bar, and print each verdict."""
    console = Console()
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        for name in chosen:

            def track(iterable, label, total, name=name):
                return bar.track(iterable, total=total, description=f"{name}: {label}")

            each = Each(1 if quick else PROCESSES, track)
            try:
                record = _run.run_and_save(name, out / name, quick=quick, each=each)
            except FileNotFoundError as missing:
                console.print(f"{name}: skipped. {missing}", markup=False)
                continue
            spent = f"{record['seconds']:.0f} s, processor time {record['cpu_seconds']:.0f} s"
            console.print(f"{name}: {spent}", markup=False)
            for claim in record["claims"]:
                console.print(f"  {claim['item']}: {claim['verdict']}", markup=False)
    console.print(f"results in {out}{'; quick ones, too few for a verdict' if quick else ''}", markup=False)


if __name__ == "__main__":
    sys.exit(main())
