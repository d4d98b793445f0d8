"""What a result must say of the place where it was measured, and the memory of this process."""

from __future__ import annotations

import contextlib
import ctypes
import datetime as dt
import gc
import importlib.metadata
import importlib.util
import os
import platform
import resource
import subprocess
from pathlib import Path

PACKAGES = (
    "widemargin",
    "numpy",
    "scipy",
    "scikit-learn",
    "scikit-survival",
    "skordinal",
    "highspy",
    "clarabel",
    "xgboost",
    "lightgbm",
)
KIB = 1024


def describe():
    """Return date, machine, commit and versions, a line each."""
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = f"{platform.system()}, Python {platform.python_version()}"
    return [
        f"{today}, {source()}",
        f"{cpu_model()}, {os.cpu_count()} cores, {memory:.0f} GiB, {system}",
        ", ".join(f"{name} {version(name)}" for name in PACKAGES if version(name)),
    ]


def cpu_model():
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def source():
    """Return the commit that was measured; an installed copy may be of any other."""
    tree = Path(__file__).resolve().parents[1]
    path = Path(importlib.util.find_spec("widemargin").origin).resolve()
    return f"commit {commit()}" if tree in path.parents and ".venv" not in path.parts else "an installed copy"


def commit():
    """Return the commit of the working tree, with a plus where files differ from it."""
    try:
        git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty=+"]
        return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def version(name):
    """Return the version of a package, or None."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def resident():
    """Return the bytes that this process holds now."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB


def forget_peak():
    """Start a new peak, where the system can: on Linux. Freed memory is handed back first, or it would hide use."""
    gc.collect()
    with contextlib.suppress(AttributeError, OSError, TypeError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def peak():
    """Return the most bytes held since `forget_peak`."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * KIB
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB
