"""Find the experiments, run them, save what they found."""

import importlib
import json
import os
import pkgutil
import platform
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import matplotlib as mpl
import numpy as np
import scipy
import sklearn

import widemargin

from . import _seeds
from ._each import Each, told
from ._style import RC

PACKAGE = Path(__file__).parent
RESULTS = PACKAGE / "results"
LONGEST = "venuto_curves"
BESIDE = PACKAGE.parents[1] / "shared" / "data"  # a data folder that lies beside the project


def names():
    """Return the names of all experiments, the longest last: the others need not wait for it."""
    found = (module.name for module in pkgutil.iter_modules([str(PACKAGE)]))
    return sorted((name for name in found if not name.startswith("_")), key=lambda name: (name == LONGEST, name))


def module(name):
    """Return the module of an experiment."""
    return importlib.import_module(f"{__package__}.{name}")


def run(name, *, quick, each=None):
    """Return the report of an experiment; FileNotFoundError, with the reason, where its data are missing."""
    if BESIDE.is_dir():
        os.environ.setdefault("WIDEMARGIN_DATA", str(BESIDE))
    with mpl.rc_context(RC):
        return module(name).run(quick, each or Each(processes=1))


def run_and_save(name, folder, *, quick, each):
    """Run an experiment and write its CSV, PNG, SVG and report.json into the folder; return the record."""
    wall, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        report = run(name, quick=quick, each=each)
    record = report.record() | {
        "quick": quick,
        "seconds": round(time.perf_counter() - wall, 1),
        "cpu_seconds": round(time.process_time() - cpu + each.cpu_seconds, 1),
        "processes": each.processes,
        "seed": _seeds.base(),
        "warnings": each.warnings + Counter(told(caught)),
        "versions": versions(),
    }
    save(report, record, folder)
    return record


def versions():
    """Return what the numbers may depend on."""
    modules = (widemargin, np, scipy, sklearn)
    return {"python": platform.python_version()} | {m.__name__: m.__version__ for m in modules}


def save(report, record, folder):
    """Write tables, pictures and the record; what an earlier run left goes."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for table in report.tables:
        table.frame.to_csv(folder / f"{table.name}.csv", index=False, float_format="%.6g")
    with mpl.rc_context(RC):
        for picture in report.pictures:
            picture.figure.savefig(folder / f"{picture.name}.png")
            picture.figure.savefig(folder / f"{picture.name}.svg", metadata={"Date": None})
    text = json.dumps(record, indent=1, ensure_ascii=False)
    (folder / "report.json").write_text(text + "\n", encoding="utf-8")


def folder_for(out, *, quick):
    """Return where results go: quick ones never where the full ones are."""
    if not quick:
        return out or RESULTS
    out = out or Path(tempfile.mkdtemp(prefix="experiments-"))
    if out.resolve() == RESULTS.resolve():
        raise ValueError(f"--quick would overwrite the full results in {RESULTS}; give another --out.")
    return out
