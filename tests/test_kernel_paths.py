"""What solves along C share under a kernel, besides the kernel: the last ways, how far gaps exceed, all items."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from widemargin import OrdinalSVM, RankingSVM
from widemargin._core.comparisons import from_levels
from widemargin._core.gram import WholeGram
from widemargin._core.losses import HINGE, SQUARED_HINGE
from widemargin._core.newton.kernel import PLAIN, Ascent, direction
from widemargin._core.newton.kernel_goal import KernelGoal
from widemargin._core.newton.memory import MOST_CG, Memory
from widemargin._core.risks import GroupedPairRisk
from widemargin.model_selection import c_path

LOSSES = [pytest.param(HINGE, id="hinge"), pytest.param(SQUARED_HINGE, id="squared")]
CS = np.logspace(-3, 0, 10)


def curved(seed, n=600):
    """Return items and their noisy values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)


def steps_along(model, monkeypatch, n_draws=4):
    """Return how many steps of conjugate gradients some paths take, all certified."""
    saw, seen = Memory.saw, []
    with monkeypatch.context() as watched:
        watched.setattr(Memory, "saw", lambda self, n, *rest: seen.append(n or MOST_CG) or saw(self, n, *rest))
        for seed in range(n_draws):
            path = c_path(model, *curved(seed), CS)
            assert path.gaps.max() <= model.tol
    return sum(seen)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_last_ways_save_steps(loss, monkeypatch):
    """A tenth of them, about, where directions take many."""
    model = RankingSVM(kernel="rbf", gamma=0.1, loss=loss)
    known = steps_along(model, monkeypatch)
    monkeypatch.setattr(Memory, "known", lambda _, n: np.empty((0, 2, n)))
    assert known < steps_along(model, monkeypatch)


def test_directions_leave_what_the_certificate_allows(monkeypatch):
    """Once the last one has told how much more than that the gap becomes: 0.82 of `tol` on average, else 0.70."""
    model = RankingSVM(kernel="rbf", gamma=0.1, loss="squared_hinge")

    def gap():
        return np.mean([c_path(model, *curved(seed), CS).gaps[3:] for seed in range(4)])

    learnt = gap()
    assert learnt <= model.tol
    monkeypatch.setattr(Memory, "learn", lambda *_: None)
    assert learnt > gap() + 0.05 * model.tol


def test_what_gaps_exceed_is_learnt_from_first_certificates():
    """Of each solve; what comes after a direction that was not enough says less. Less than nothing is nothing."""
    memory, at = Memory(), type("Look", (), {"b": np.zeros(1), "s": np.zeros(1)})()
    for told, expected in [(0.1, 0.1), (0.6, 0.6), (-0.1, 0.0)]:
        memory.learn(told)
        memory.learn(9.0)
        assert memory.excess == expected
        memory.keep(1.0, at, 0.5, 1)


@pytest.mark.parametrize("is_warm", [False, True])
def test_directions_are_told_of_ways_on_a_path_alone(is_warm):
    """Of those between three solutions; none where the last solve was easy, and none for a start from nothing."""
    memory = Memory(is_warm=is_warm, last_steps=10)
    memory.trail = [(C, np.full(4, C), np.full(4, 2.0 * C)) for C in (1.0, 3.0, 4.0)]
    ways = memory.known(4)
    assert ways.shape == (2, 2, 4)
    assert ways[:, :, 0].tolist() == [[2.0, 4.0], [1.0, 2.0]]
    goal = type("Goal", (), {"start": lambda _, b: b, "look": lambda _, b, __: b})()
    told = Ascent(goal, np.zeros(4), np.zeros(4), 1e-4, memory).known
    assert (told is not None) is is_warm
    memory.last_steps = 1
    assert memory.known(4).shape == (0, 2, 4)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("is_compiled", [False, True])
def test_a_direction_that_is_known_takes_no_steps(loss, is_compiled):
    """It is no failure, either, though nothing is left of its residual but rounding."""
    X, u = curved(0, n=100)
    levels = from_levels(np.argsort(np.argsort(u)), np.zeros(100, np.int64), np.ones(100))
    goal = KernelGoal(WholeGram(rbf_kernel(X, gamma=0.1)), GroupedPairRisk(levels, loss), 0.1)
    at = goal.start(0.1 * np.random.default_rng(1).normal(size=100))
    strips = goal.gram.strips if is_compiled else None
    enough = 0.1 * float(at.R @ at.KR)
    way = direction(goal, at, PLAIN, enough, strips)
    again = direction(goal, at, PLAIN, enough, strips, np.stack([way.x, way.Kx])[None])
    assert way.n_steps > 1
    assert again.n_steps == 1
    assert again.is_enough
    share = float(again.x @ way.x) / float(way.x @ way.x)
    assert np.allclose(again.x, share * way.x, rtol=1e-9)
    rest = at.R + again.x + goal.C * at.hessp(again.Kx)  # of the best multiple, which no other one lowers
    assert abs(float(rest @ way.Kx)) <= 1e-9 * abs(float(at.R @ way.Kx))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_levels", [3, 500])
def test_a_loss_near_utilities_that_were_seen_is_theirs(loss, n_levels):
    """Never less than it is, nor more than rounding; farther away it is looked at."""
    rng = np.random.default_rng(0)
    levels = from_levels(rng.integers(n_levels, size=500), rng.integers(3, size=500), rng.uniform(0.5, 2.0, 500))
    risk, seen = GroupedPairRisk(levels, loss), rng.normal(size=500)
    terms, g, _ = risk.evaluate(seen)
    for far in (0.0, 1e-9, 1e-7, 1e-6, 1e-5, 0.1):
        u = seen + far * rng.normal(size=500)
        true = risk.evaluate(u)[0].loss
        assert true * (1 - 1e-13) <= risk.loss_near(u, terms.loss, g, seen) <= true * (1 + 1e-10)


@pytest.mark.parametrize(
    "model", [RankingSVM(kernel="rbf"), OrdinalSVM(kernel="rbf"), RankingSVM(kernel="precomputed")]
)
def test_models_of_a_path_share_their_items(model):
    """One copy serves all C, and it is no part of the user's data; kernel values are not kept."""
    X, u = curved(0, n=60)
    data = rbf_kernel(X) if model.kernel == "precomputed" else X
    first, *others = c_path(model, data, np.digitize(u, [-0.5, 0.5]), [1e-3, 1e-2, 1e-1]).estimators
    assert np.array_equal(first.support_, np.arange(60))
    if model.kernel == "precomputed":
        assert first.support_vectors_.size == 0
        return
    assert np.array_equal(first.support_vectors_, X)
    assert not np.shares_memory(first.support_vectors_, X)
    for other in others:
        assert (other.support_vectors_ is first.support_vectors_) is (other.support_.size == 60)
