"""Cases go to two processes and come back in order; their time, warnings and seeds are not lost on the way."""

import os
import time
import warnings

import numpy as np
import pytest
from experiments import _seeds
from experiments._each import Each

CASES = [(k,) for k in range(6)]


def rows(k):
    """Yield where a case was done and a draw of its own, later cases sooner, and warn once."""
    time.sleep(0.02 * (5 - k))
    if k == 3:
        warnings.warn("three", UserWarning, stacklevel=2)
    sum(range(100_000))
    yield k, os.getpid()
    yield _seeds.generator(k).uniform(), _seeds.seed(k)


def test_two_processes_do_what_one_does():
    """The results are in order, made elsewhere, and the draws are those of this process."""
    each = Each(2)
    found = each(rows, CASES, "cases")
    assert [first[0] for first, _ in found] == list(range(6))
    assert os.getpid() not in {first[1] for first, _ in found}
    assert [second for _, second in found] == [(_seeds.generator(k).uniform(), _seeds.seed(k)) for k in range(6)]
    assert each.warnings == {"UserWarning: three": 1}
    assert each.cpu_seconds > 0


def test_one_process_is_this_one():
    """A warning is then one of this process, and so is the time."""
    each = Each(1)
    with pytest.warns(UserWarning, match="three"):
        found = each(rows, CASES, "cases")
    assert {first[1] for first, _ in found} == {os.getpid()}
    assert not each.warnings
    assert each.cpu_seconds == 0


def test_the_progress_bar_is_told_of_every_case():
    """It gets the label and the number of cases, and is what is iterated."""
    told = []

    def track(iterable, label, total):
        for item in iterable:
            told.append((label, total))
            yield item

    assert Each(1, track)(abs, [(-1,), (-2,)], "label") == [1, 2]
    assert told == [("label", 2)] * 2


def test_another_seed_is_another_run(monkeypatch):
    """The same run draws the same; another run, and another draw, do not."""
    draw = _seeds.generator(1, 2).uniform(size=3)
    np.testing.assert_array_equal(_seeds.generator(1, 2).uniform(size=3), draw)
    assert not np.allclose(_seeds.generator(1, 3).uniform(size=3), draw)
    monkeypatch.setenv(_seeds.VARIABLE, "5")
    assert not np.allclose(_seeds.generator(1, 2).uniform(size=3), draw)
