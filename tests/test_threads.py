"""Threads of BLAS: one while a machine learns, what the user set afterwards, and that again for large factors."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from widemargin import (
    ComparisonSVM,
    MarginClassifier,
    MarginRegressor,
    OrdinalSVM,
    RankingSVM,
    RankingVectorMachine,
    TopRankSVM,
    _threads,
)
from widemargin.model_selection import c_path

SETTING = 2  # threads that the user allows: more than one on any machine
X = np.random.default_rng(0).normal(size=(40, 3))
GRADES = np.arange(40) % 4
SETS = np.repeat(np.arange(10), 4)
CHOSEN = X[:, 0] == np.maximum.reduceat(X[:, 0], np.arange(0, 40, 4))[SETS]


def counts():
    """Return the threads of every BLAS; other packages may have brought one that never has more than one."""
    return {one.num_threads for one in _threads._libraries() if one.info().get("threading_layer") != "disabled"}


pytestmark = pytest.mark.skipif(not counts(), reason="no BLAS here whose threads can be counted")


def seeing_kernel():
    """Return a linear kernel, and the numbers of threads that BLAS has when it is asked for values."""
    seen = set()

    def kernel(A, B):  # a function: clones of an estimator share it
        seen.update(counts())
        return A @ B.T

    return kernel, seen


@pytest.fixture(autouse=True)
def _set():
    with threadpool_limits(limits=SETTING, user_api="blas"):
        yield


@pytest.mark.parametrize(
    ("machine", "data"),
    [
        (RankingSVM, (X, GRADES)),
        (OrdinalSVM, (X, GRADES)),
        (MarginClassifier, (X, GRADES % 2)),
        (MarginRegressor, (X, X[:, 0])),
        (RankingVectorMachine, (X, GRADES)),
        (ComparisonSVM, (X.reshape(20, 2, 3), np.tile([1, 0, -1, 1], 5))),
        (TopRankSVM, (X, CHOSEN, SETS)),
    ],
)
@pytest.mark.parametrize("is_path", [False, True])
def test_blas_has_one_thread_while_a_machine_learns(machine, data, is_path):
    """Whatever the user allows; and what the user allowed holds again afterwards."""
    kernel, seen = seeing_kernel()
    given = {} if len(data) < 3 else {"qid": data[2]}
    if is_path:
        c_path(machine(kernel=kernel), *data[:2], [0.1, 1.0], **given)
    else:
        machine(kernel=kernel).fit(*data[:2], **given)
    assert seen == {1}
    assert counts() == {SETTING}


def test_a_fit_that_fails_gives_the_threads_back():
    """An error is no reason to leave the user with one thread."""
    with pytest.raises(ValueError, match="loss"):
        RankingSVM(loss="none").fit(X, GRADES)
    assert counts() == {SETTING}
    assert _threads._learning.n_machines == 0


def test_machines_that_learn_at_once_give_the_threads_back_together():
    """Whichever ends first: what the user allowed holds when the last one has ended."""
    first, second = _threads.one_thread(), _threads.one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert counts() == {1}
    second.__exit__(None, None, None)
    assert counts() == {SETTING}


def test_large_factors_have_the_threads_that_were_given():
    """Not more than the user allowed, nor outside of a fit, nor beside another one; small ones have one."""
    with threadpool_limits(limits=1, user_api="blas"), _threads.one_thread(), _threads.given_threads(_threads.LARGE):
        assert counts() == {1}
    with _threads.one_thread():
        with _threads.given_threads(_threads.LARGE - 1):
            assert counts() == {1}
        with _threads.given_threads(_threads.LARGE):
            assert counts() == {SETTING}
        with _threads.one_thread(), _threads.given_threads(_threads.LARGE):
            assert counts() == {1}
        assert counts() == {1}
    assert counts() == {SETTING}


def test_interior_points_of_large_kernels_ask_for_them(monkeypatch):
    """The solver that factorises a matrix over the items at every iteration has more threads than one."""
    monkeypatch.setattr(_threads, "LARGE", 10)
    asked, advance = set(), RankingSVM._implicit_solution

    def noting(self, *arguments):
        asked.update(counts())
        return advance(self, *arguments)

    monkeypatch.setattr(RankingSVM, "_implicit_solution", noting)
    X, rng = np.random.default_rng(1).normal(size=(320, 20)), np.random.default_rng(2)
    RankingSVM(kernel="rbf", C=10.0).fit(X, rng.integers(0, 4, 320))
    assert asked == {SETTING}
