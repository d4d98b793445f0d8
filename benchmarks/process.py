"""A measurement in a process of its own, and what is said meanwhile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import track

from .measure import Result
from .objective import RefereeError

CONSOLE = Console(stderr=True)
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def in_process(workload, solver, **how):
    """Measure in a fresh process with one BLAS thread."""
    task = json.dumps({"workload": workload.name, "solver": solver, **how})
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", f"{__package__}.measure", task],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **ONE_THREAD},
        cwd=Path(__file__).parents[1],
    )
    if done.returncode == 0:
        return Result(**json.loads(done.stdout.splitlines()[-1]))
    reason = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    if "RefereeError" in reason:
        raise RefereeError(f"{workload.name}, {solver}: {reason}")
    return Result(workload.name, solver, how.get("threads", 1), skipped=f"failed: {reason}")


def progress(text):
    """Write a line about what was done, above the bar."""
    CONSOLE.print(text, highlight=False, markup=False)


def with_bar(steps):
    """Return the steps; a bar on standard error shows how many are done."""
    return track(steps, description="workloads", console=CONSOLE)
