"""Results as a Markdown table."""

from __future__ import annotations

from .quoted import QUOTED

HEAD = (
    "workload",
    "solver",
    "CPU s",
    "wall s",
    "products",
    "gap certified",
    "gap recomputed",
    "peer / ours",
    "peak MB",
    "",
)


def table(results):
    """Return the lines of the table, quoted figures beside the measured ones."""
    lines = [_line(HEAD), _line(["---"] * len(HEAD))]
    for name in dict.fromkeys(result.workload for result in results):
        rows = [result for result in results if result.workload == name]
        own = next((r for r in rows if r.solver == "ours" and r.threads == 1 and not r.skipped), None)
        lines += [_line(_cells(row, own, rows)) for row in rows]
        lines += [
            _line([q.workload, f"{q.solver} (quoted)", _number(q.seconds), "", _number(q.products), *[""] * 4, q.note])
            for q in QUOTED
            if q.workload == name
        ]
    return lines


def _cells(row, own, rows):
    """Return a result as words."""
    solver = row.solver if row.threads == 1 else f"{row.solver}, {row.threads} threads"
    if row.skipped:
        return [row.workload, solver, *[""] * 7, f"skipped: {row.skipped}"]
    times = [_number(row.cpu), _number(row.wall), _number(row.products)]
    gaps = [_number(row.certified), _number(row.gap)]
    return [
        row.workload,
        solver,
        *times,
        *gaps,
        _ratio(row, own, rows),
        _number(row.memory and row.memory / 1e6),
        row.note,
    ]


def _ratio(row, own, rows):
    """Return how much longer a peer takes; for ours, the quickest peer; for two threads, the gain in wall time."""
    if own is None or row is own:
        peers = [r.cpu / r.size for r in rows if r.solver != "ours" and not r.skipped]
        return f"{min(peers) / (own.cpu / own.size):.1f}" if peers and own is not None else ""
    if row.threads > 1:
        return f"{own.wall / row.wall:.2f} of 1 thread"
    return f"{(row.cpu / row.size) / (own.cpu / own.size):.1f}"


def _number(x):
    return "" if x is None else f"{x:.3g}"


def _line(cells):
    return "| " + " | ".join(cells) + " |"
