"""The gallery runs, and stays short enough to be read."""

import runpy
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_an_example_runs_without_a_warning(path, monkeypatch, tmp_path, capsys):
    """Each example runs from top to bottom, and shows something: a line of text or a picture."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out or plt.get_fignums()
    plt.close("all")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_an_example_is_one_idea(path):
    """An example has fewer than 80 lines and begins with what it shows."""
    lines = path.read_text().splitlines()
    assert len(lines) < 80
    assert lines[0].startswith('"""')
