"""Build the sdist and a wheel from it, and try the wheel in clean environments: bare, and with each extra alone.

    python scripts/check_release.py [--extra plot ...]

Every environment is a new folder, so nothing that is installed here can help.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
FIT = "from widemargin import RankingSVM; m = RankingSVM().fit([[0.], [1.], [2.]], [0, 1, 2]); "
# extra -> code that needs it; without the extra the same code must say what to install
PROBES = {
    "cli": "import sys; sys.argv = ['widemargin', '--version']; from widemargin.cli import main; main()",
    "onnx": FIT + "from widemargin.onnx import to_onnx; to_onnx(m)",
    "plot": "import matplotlib; matplotlib.use('Agg')\n"
    "from widemargin.plotting import LeaderboardDisplay as L; L(names=['a'], utility=[1.0]).plot()",
}
MISSING = {
    "cli": PROBES["cli"],
    "onnx": PROBES["onnx"],
    "plot": "from widemargin.plotting import LeaderboardDisplay as L; L(names=['a'], utility=[1.0]).plot()",
}


def main():
    """Build, look inside, install, try."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extra", nargs="*", default=sorted(PROBES), choices=sorted(PROBES), help="extras to try")
    extras = parser.parse_args().extra
    with tempfile.TemporaryDirectory() as folder:
        sdist, wheel = build(Path(folder))
        look_inside(sdist, wheel)
        bare = environment(Path(folder) / "bare", str(wheel))
        run(bare, FIT + "print('fit in a clean environment, gap', m.duality_gap_)")
        for extra in extras:
            says_what_to_install(bare, extra)
            run(environment(Path(folder) / extra, f"{wheel}[{extra}]"), PROBES[extra])
            print(f"extra {extra}: works, and its absence is explained")
    print("release check passed")


def build(folder):
    """Return the paths of an sdist and of a wheel built from it."""
    builder = environment(folder / "builder", "build")
    call(builder, "-m", "build", "--outdir", str(folder), str(ROOT))
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


def look_inside(sdist, wheel):
    """The sdist has sources and licence and no build output; the wheel has the compiled loops and types."""
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[-1] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "pyproject.toml", "meson.build"} <= names
    assert not any(name.startswith((".venv", "build/", "docs/_build")) for name in names)
    inside = zipfile.ZipFile(wheel).namelist()
    assert "widemargin/py.typed" in inside
    assert any("_counting" in name and name.endswith((".so", ".pyd")) for name in inside)
    assert not any(name.startswith(("tests/", "benchmarks/", "experiments/")) for name in inside)


def environment(folder, *requirements):
    """Return the interpreter of a new environment with some things installed."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    call(python, "-m", "pip", "install", "--quiet", *requirements)
    return python


def says_what_to_install(python, extra):
    """Without an extra its feature ends with a sentence that names it."""
    done = subprocess.run(  # noqa: S603
        [python, "-c", MISSING[extra]], capture_output=True, text=True, check=False, cwd=tempfile.gettempdir()
    )
    assert done.returncode != 0, f"{extra} is not needed for its own feature"
    assert f"widemargin[{extra}]" in done.stderr, done.stderr


def run(python, code):
    """Run code away from the source tree."""
    call(python, "-c", code)


def call(python, *words):
    """Run an interpreter; stop at the first failure."""
    subprocess.run([python, *words], check=True, cwd=tempfile.gettempdir())  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
