"""Write docs/reproduction.md from the saved results: only the introduction and the reasons (`_reasons`) are typed."""

import importlib
import json
import os
import re
from pathlib import Path

import pandas as pd

from ._reasons import REASONS
from ._run import PACKAGE, RESULTS, names
from ._seeds import DEFAULT

PAGE = PACKAGE.parent / "docs" / "reproduction.md"
LONGEST = 30  # rows of a table that the page shows; longer ones are linked

INTRODUCTION = """\
# The papers, run again

`make reproduce` runs everything on this page and writes it; `python -m experiments NAME` runs one part,
`--quick` a small version of it in seconds, `--list` names them all. Seeds are fixed; `--seed N` makes an independent
run of the same recipes. All figures and tables of the four papers are here but Figs 1 to 3 of Yu & Kim, drawings that
explain the binary SVM.

Each claim of a paper is put in our words and broken into checks that the program decides: a claim **held** if all
its checks hold, **held in part** if some do, **did not hold** if none does. Intervals are 95 % (Student's t) over
independent repetitions, differences are paired, "s.e." is the standard error. All checks were fixed before this run,
whose seeds no earlier run had. Where an earlier run, with other seeds, led to a check as it stands, a note says so.
What follows "Why" was written after the run: our reading of a result, not a result.

Times are those of this run: on the clock and, after the stroke, of the processor. Cases are shared by two processes of
one thread each; training times that a figure or a table reports are processor time of their process. The machine has
two cores and had other work as well: on an idle one the clock shows less, at best half of the processor time.
"""


def page(folder=RESULTS, at=PAGE):
    """Return the text of the page for the results in a folder, as read from the file `at`."""
    records = {path.parent.name: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*/report.json"))}
    wall, cpu = (sum(record[key] for record in records.values()) / 60 for key in ("seconds", "cpu_seconds"))
    total = f"In all {wall:.0f} minutes on the clock, {cpu:.0f} of processor time."
    parts = [INTRODUCTION, *overview(records), "", total, *absent(records)]
    for name, record in records.items():
        parts += ["", *section(name, record, folder / name, Path(os.path.relpath(folder / name, at.parent)))]
    return "\n".join(parts) + "\n"


def overview(records):
    """Yield the table of verdicts."""
    yield "| paper | item | verdict | repetitions | experiment | time |"
    yield "|---|---|---|---|---|---|"
    for name, record in records.items():
        for claim in record["claims"]:
            cells = [record["paper"], claim["item"], f"**{claim['verdict']}**", str(claim["repetitions"])]
            yield "| " + " | ".join([*cells, f"[{name}](#{anchor(record['title'])})", spent(record)]) + " |"


def spent(record):
    """Return the time on the clock, and that of the processor."""
    return f"{record['seconds']:.0f} s / {record['cpu_seconds']:.0f} s"


def absent(records):
    """Yield a sentence on the experiments without results."""
    missing = [name for name in names() if name not in records]
    if missing:
        yield "\nNot run yet, or without their data: " + ", ".join(f"`{name}`" for name in missing) + "."


def anchor(title):
    """Return the anchor that a heading gets: GitHub's, and MyST's with `myst_heading_anchors`."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def section(name, record, folder, link):
    """Yield the lines of one experiment, whose files lie in the folder and are linked from the page."""
    yield f"## {record['title']}"
    earlier = "" if record["seed"] == int(DEFAULT) else " **Results of an earlier run, with other seeds.**"
    yield f"\n*{record['paper']}.* `python -m experiments {name}`, {spent(record)}.{earlier}\n"
    yield recipe(name)
    for claim in record["claims"]:
        yield from claim_lines(claim, REASONS.get((name, claim["item"])))
    for picture, caption in record["pictures"]:
        yield f"\n![{record['title']}: {picture}]({link / picture}.png)\n"
        yield f"*{caption}* ([SVG]({link / picture}.svg))"
    for table, caption in record["tables"]:
        yield from table_lines(folder / f"{table}.csv", link / f"{table}.csv", caption)
    if record["warnings"]:
        yield "\nWarnings during the run:\n"
        yield from (f"- {n} times: {text}" for text, n in record["warnings"].items())


def recipe(name):
    """Return the docstring of an experiment, without its first line."""
    doc = importlib.import_module(f"{__package__}.{name}").__doc__
    return doc.partition("\n")[2].strip()


def claim_lines(claim, reason):
    """Yield a claim, its verdict, its checks, and why it failed where it did."""
    yield f"\n**{claim['item']}.** {claim['says']}\n"
    n = claim["repetitions"]
    yield f"> **{claim['verdict'].capitalize()}** ({n} repetition{'s' if n != 1 else ''})."
    yield ">"
    yield from (f"> - {'yes' if c['holds'] else '**no**'}: {c['what']}: {c['numbers']}" for c in claim["checks"])
    if reason:
        yield f"\nWhy: {reason}"
    if claim["note"]:
        yield f"\n{claim['note']}"


def table_lines(path, link, caption):
    """Yield a short table, or a link to a long one."""
    frame = pd.read_csv(path)
    yield f"\n{caption} ([CSV]({link}))"
    if len(frame) <= LONGEST:
        yield "\n| " + " | ".join(frame.columns) + " |"
        yield "|" + "---|" * frame.shape[1]
        yield from ("| " + " | ".join(map(cell, row)) + " |" for row in frame.itertuples(index=False, name=None))


def cell(value):
    """Return a value as the page shows it: three digits are enough to read, and what is missing is a dash."""
    if pd.isna(value):
        return "–"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def write(folder=RESULTS, at=PAGE):
    """Write the page."""
    at.write_text(page(folder, at), encoding="utf-8")
