"""Time and memory of the linear machine against the number of rows, log-log, with the slope of each."""

from __future__ import annotations

import numpy as np

from .datasets.graded import ROWS, SCALING
from .process import in_process, with_bar


def scaling(folder):
    """Measure, draw into the folder, and return the lines of a table with the slopes."""
    return lines_of([in_process(workload, "ours") for workload in with_bar(list(SCALING.values()))], folder)


def lines_of(results, folder):
    """Return the table; draws the plots."""
    failed = [result.skipped for result in results if result.skipped]
    if failed:
        return failed
    time, memory = ([getattr(r, name) for r in results] for name in ("cpu", "memory"))
    lines = ["| rows | CPU s | products | peak MB beyond X |", "|---|---|---|---|"]
    lines += [
        f"| {n:,} | {r.cpu:.3g} | {r.products:.3g} | {r.memory / 1e6:.3g} |" for n, r in zip(ROWS, results, strict=True)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    for name, values, unit in (("time", time, "CPU seconds"), ("memory", memory, "peak bytes beyond X")):
        slope = float(np.polyfit(np.log(ROWS), np.log(np.maximum(values, 1e-6)), 1)[0])
        draw(folder / f"scaling_{name}.png", values, unit, slope)
        lines.append(f"\nslope of {name}: {slope:.2f}")
    return lines


def draw(path, values, unit, slope):
    """Write one log-log plot."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (optional)

    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.add_subplot(xlabel="rows", ylabel=unit, title=f"slope {slope:.2f}")
    axes.loglog(ROWS, values, "o-", label="widemargin")
    axes.loglog(ROWS, values[-1] * np.array(ROWS) / ROWS[-1], ":", label="slope 1")
    axes.legend()
    figure.savefig(path, dpi=120)
