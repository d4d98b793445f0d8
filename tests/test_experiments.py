"""The experiments run, save what they found, and the page says what was saved."""

import json
from pathlib import Path

import numpy as np
import pytest
from experiments import _page, _run
from experiments.__main__ import main
from experiments._reasons import REASONS
from experiments._report import Check, Claim, Verdict
from experiments._statistics import estimate, side_by_side, summary
from pandas import DataFrame

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", _run.names())
def test_an_experiment_runs_quickly(name, tmp_path):
    """A small version runs without a warning, checks its claims, and draws figures with labelled axes."""
    try:
        report = _run.run(name, quick=True)
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    assert report.claims
    assert all(claim.checks and claim.repetitions > 0 for claim in report.claims)
    for picture in report.pictures:
        drawn = [ax for ax in picture.figure.axes if ax.axison and ax.has_data()]
        assert drawn
        assert all(ax.get_xlabel() and ax.get_ylabel() for ax in drawn if ax.get_label() != "<colorbar>")
    _run.save(report, report.record() | {"quick": True}, tmp_path)
    saved = {path.name for path in tmp_path.iterdir()}
    assert {f"{p.name}{end}" for p in report.pictures for end in (".png", ".svg")} <= saved
    assert {f"{t.name}.csv" for t in report.tables} <= saved


@pytest.mark.parametrize("name", _run.names())
def test_an_experiment_is_thin(name):
    """An experiment is a recipe: under 150 lines, with a docstring that says what is done."""
    text = (ROOT / "experiments" / f"{name}.py").read_text()
    assert len(text.splitlines()) < 150
    assert _page.recipe(name)


@pytest.mark.parametrize(
    ("held", "verdict"),
    [
        ((True, True), Verdict.HELD),
        ((True, False), Verdict.IN_PART),
        ((False, True), Verdict.IN_PART),
        ((False, False), Verdict.FAILED),
    ],
)
def test_the_verdict_follows_from_the_checks(held, verdict):
    """All checks: held; some: held in part; none: did not hold."""
    checks = tuple(Check("", h, "") for h in held)
    assert Claim("", "", checks, 1).verdict is verdict


def test_intervals_cover_as_often_as_they_say():
    """Of many 95 % intervals of a normal mean about 95 % hold it, also for few repetitions."""
    rng = np.random.default_rng(0)
    samples = rng.normal(3.0, 2.0, size=(4000, 5))
    covered = np.mean([abs(estimate(s).mean - 3.0) <= estimate(s).half_width for s in samples])
    assert abs(covered - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 4000)


def test_summary_is_the_estimate_of_each_group():
    """Grouping by one or two columns gives each group's mean, standard error and count."""
    frame = DataFrame({"a": [1, 1, 1, 2, 2], "b": list("xxyyy"), "v": [1.0, 3.0, 5.0, 2.0, 4.0]})
    one, two = summary(frame, "a", "v"), summary(frame, ["a", "b"], "v")
    np.testing.assert_allclose(one["mean"], [3.0, 3.0])
    np.testing.assert_allclose(one["se"], [2 / np.sqrt(3), 1.0])
    assert two[["a", "b", "n"]].to_numpy().tolist() == [[1, "x", 2], [1, "y", 1], [2, "y", 2]]


def test_a_summary_can_be_read_side_by_side():
    """Each cell holds its group's mean and standard error, rows and columns in the order they came."""
    frame = DataFrame({"size": [5, 5, 10, 10] * 2, "machine": ["a"] * 4 + ["b"] * 4, "v": [0.0, 1.0] * 4})
    table = side_by_side(summary(frame, ["machine", "size"], "v"), "size", ["machine"])
    assert table.columns.tolist() == ["size", "a", "b"]
    assert table.to_numpy().tolist() == [[5, *["0.500 ± 0.500"] * 2], [10, *["0.500 ± 0.500"] * 2]]


def test_the_command_names_the_experiments_and_refuses_others(capsys):
    """`--list` has a line for each experiment; an unknown name is status 2 and a line that names the known ones."""
    assert main(["--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == _run.names()
    assert main(["fig_99"]) == 2
    assert "fig_99" in capsys.readouterr().err


def test_the_command_saves_a_quick_run(tmp_path):
    """A quick run writes its record where it is told to, and leaves the page alone."""
    before = _page.PAGE.read_text("utf-8")
    assert main(["herbrich_margins", "--quick", "--out", str(tmp_path)]) == 0
    record = json.loads((tmp_path / "herbrich_margins" / "report.json").read_text("utf-8"))
    assert record["quick"] is True
    assert record["claims"][0]["verdict"] == Verdict.HELD
    assert _page.PAGE.read_text("utf-8") == before


def test_quick_results_never_replace_full_ones():
    """A quick run into the folder of the full results is refused."""
    with pytest.raises(ValueError, match="--out"):
        _run.folder_for(_run.RESULTS, quick=True)


def test_a_claim_that_failed_has_a_reason():
    """Every claim that did not hold, or only in part, is explained on the page; no reason is left without its claim."""
    records = {p.parent.name: json.loads(p.read_text("utf-8")) for p in _run.RESULTS.glob("*/report.json")}
    claims = {(name, claim["item"]): claim for name, record in records.items() for claim in record["claims"]}
    failed = {key for key, claim in claims.items() if claim["verdict"] != Verdict.HELD}
    assert failed == set(REASONS)


def test_the_page_is_what_the_results_say():
    """docs/reproduction.md is written by the program, from results of full runs."""
    assert _page.PAGE.read_text("utf-8") == _page.page()
    for path in _run.RESULTS.glob("*/report.json"):
        assert json.loads(path.read_text("utf-8"))["quick"] is False
