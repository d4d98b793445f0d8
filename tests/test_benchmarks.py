"""The benchmarks run, and their referee agrees with the estimators."""

import pytest
from benchmarks.path_cases import CASES, TABLE
from benchmarks.paths import measure
from benchmarks.run import chosen, quick_results, report


@pytest.mark.parametrize("name", ["graded-10k", "choice-2k-task", "compare-5k", "signed-200"])
def test_a_benchmark_runs_at_a_tiny_size(name):
    """The referee recomputes objective and gap, and raises where an estimator's own differ."""
    text = "\n".join(report(quick_results(chosen([name]))))
    assert "| ours |" in text
    assert "failed:" not in text


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::widemargin.CollapseWarning")
def test_a_path_is_measured_at_a_tiny_size(name):
    """Path and fits have the objectives that they claim, and differ by no more than they certify."""
    result = measure(name, quick=True)
    assert result.apart <= (1e-3 if name in TABLE else 1e-4)  # the tolerances of the two sets of cases
    assert result.line().count("|") == 9
