"""Newton's direction where rows share slacks under a kernel: that of the whole system, written out."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from widemargin import TopRankSVM, _solving
from widemargin._core import comparisons
from widemargin._core.losses import HINGE, SQUARED_HINGE
from widemargin._core.lower_half import LowerHalf
from widemargin._core.row_risk import RowsRisk
from widemargin._core.rows_newton import curved_tasks, directions
from widemargin._core.rows_newton.problem import Problem
from widemargin._core.rows_newton.spaces import Gram
from widemargin.datasets import make_choices
from widemargin.model_selection import c_path


def gram_of(K):
    """Return the space of a kernel matrix by strips."""
    half = LowerHalf.room(len(K), K.dtype, 64)
    for a in range(0, len(K), 64):
        half.put(a, a, K[a:, a : a + 64])
    return Gram(half)


def posed(loss, h, seed, sign=1.0):
    """Return a problem of 40 tasks whose rows have one item each, some of them the same, and a point."""
    rng = np.random.default_rng(seed)
    task = np.repeat(np.arange(40), rng.integers(1, 6, 40))
    m, n = task.size, 100
    rows = comparisons.from_choices(
        np.zeros(m, int), np.ones(m, int), task, rng.uniform(0.5, 2.0, 40), 2, shared_slack=True
    )
    D = sparse.csr_array((rng.choice([-1.0, 1.0], m), rng.integers(0, n, m), np.arange(m + 1)), shape=(m, n))
    X = rng.normal(size=(n, 3))
    K = sign * np.exp(-0.3 * np.sum((X[:, None] - X) ** 2, axis=2))
    problem = Problem(RowsRisk(replace(rows, D=D), loss, h), gram_of(K), 3.0)
    return problem, problem.point(problem.space.vector(rng.normal(size=n)), np.zeros(0)), K


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE], ids=["hinge", "squared"])
@pytest.mark.parametrize("h", [5.0, 0.5, 1e-3])
@pytest.mark.parametrize("seed", range(4))
def test_the_direction_solves_newtons_equation(loss, h, seed):
    """(I + C D'HD K) x = -r: tasks whose slack is at its bound or not, rows that share an item."""
    problem, point, K = posed(loss, h, seed)
    view, D = problem.view(point), problem.rows.D.toarray()
    H = np.column_stack([problem.risk.hessian_in_rows(view.look)(z) for z in np.eye(len(D))])
    curved = np.flatnonzero(view.look.curvature)
    assert curved.size > 0
    step = curved_tasks.solved(problem, problem.space, view, curved)
    left = step.w + problem.C * D.T @ (H @ (D @ (K @ step.w))) + view.residual.w
    assert_allclose(left, 0.0, atol=1e-9 * np.abs(view.residual.w).max())
    assert_allclose(step.u, K @ step.w, atol=1e-10)


def test_without_curved_rows_the_direction_is_down_the_residual():
    """All margins are met by far."""
    problem, point, _ = posed(HINGE, 0.5, 0)
    view = problem.view(replace(point, short=np.full_like(point.short, -10.0)))
    step = curved_tasks.solved(problem, problem.space, view, np.flatnonzero(view.look.curvature))
    assert_allclose(step.w, -view.residual.w)


def test_a_factor_that_is_none_leaves_it_to_conjugate_gradients(monkeypatch):
    """A matrix that is not that of a kernel; and curved rows that are too many to factor."""
    problem, point, _ = posed(HINGE, 0.5, 1, sign=-5.0)
    view = problem.view(point)
    assert curved_tasks.solved(problem, problem.space, view, np.flatnonzero(view.look.curvature)) is None
    asked = []
    monkeypatch.setattr(directions, "_by_conjugate_gradients", lambda *how: asked.append(how) or (None, None, True))
    directions.direction(problem, view)
    assert len(asked) == 1
    problem, point, _ = posed(HINGE, 0.5, 1)
    monkeypatch.setattr(curved_tasks, "STEPS", 0)
    directions.direction(problem, problem.view(point))
    assert len(asked) == 2


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_choices_under_a_kernel_agree_with_the_interior_point(loss, monkeypatch):
    """At any C, alone and along a path; conjugate gradients took some thousand products for it."""
    made, Cs = make_choices(60, noise=0.5, random_state=0), [1e-3, 1.0, 30.0, 1e3]
    exact = [TopRankSVM(C=C, kernel="rbf", loss=loss, tol=1e-9).fit(made.X, made.y, qid=made.qid) for C in Cs]
    assert {model.solver_ for model in exact} == {"interior_point"}
    monkeypatch.setattr(_solving, "EXACT_KERNEL_ROWS", 0)
    estimator = TopRankSVM(kernel="rbf", loss=loss)
    alone = [TopRankSVM(C=C, kernel="rbf", loss=loss).fit(made.X, made.y, qid=made.qid) for C in Cs]
    path = c_path(estimator, made.X, made.y, Cs, qid=made.qid)
    for true, *found in zip(exact, alone, path.estimators, strict=True):
        for model in found:
            assert model.solver_ in ("newton", "margin_walk")
            assert model.duality_gap_ <= 1e-4
            assert true.objective_ * (1 - 1e-8) <= model.objective_ <= true.objective_ * (1 + 1e-4)
