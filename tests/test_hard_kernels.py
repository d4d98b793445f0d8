"""Newton's steps where a kernel nearly separates noisy pairs: float64, better preconditioners, better starts."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import linalg
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from widemargin import MarginClassifier, RankingSVM
from widemargin._core import gram as grams
from widemargin._core import span as spans
from widemargin._core.comparisons import from_levels
from widemargin._core.gram import FineGram, HalfGram, WholeGram
from widemargin._core.interior_point import ImplicitPairs
from widemargin._core.kernels import RBF
from widemargin._core.losses import HINGE, SQUARED_HINGE
from widemargin._core.maps import ItemsMap, KernelMap
from widemargin._core.newton import Plan, kernel, memory, newton
from widemargin._core.newton.memory import Memory
from widemargin._core.risks import GroupedPairRisk
from widemargin._core.solution import Status
from widemargin._core.span import Span
from widemargin.model_selection import c_path

GAMMA = 0.2


def noisy(n, seed=0):
    """Return features and five noisy grades, in one list."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    u = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n)
    return X, np.digitize(u, np.quantile(u, [0.2, 0.4, 0.6, 0.8]))


def risk_of(y, loss):
    """Return the risk of all pairs."""
    return GroupedPairRisk(from_levels(y, np.zeros_like(y), np.ones(y.size)), loss)


@pytest.mark.parametrize(("loss", "C"), [(HINGE, 100.0), (SQUARED_HINGE, 1000.0)], ids=["hinge", "squared"])
@pytest.mark.parametrize("is_rounded", [False, True])
def test_better_directions_need_fewer_steps(loss, C, is_rounded, monkeypatch):
    """Once conjugate gradients have cost as much, a preconditioner of all items; the same optimum without.

    Ten draws with two kinds of BLAS took 0.28 to 0.67 of the steps; a hinge with rounded products 0.55 to 0.82.
    """
    X, y = noisy(400)
    risk = risk_of(y, loss)
    map_ = ItemsMap(RBF(GAMMA), X) if is_rounded else KernelMap(rbf_kernel(X, gamma=GAMMA))
    saw, seen = Memory.saw, []  # steps of conjugate gradients
    monkeypatch.setattr(Memory, "saw", lambda self, n, *rest: seen.append(n) or saw(self, n, *rest))
    helped, with_help = newton(risk, map_, C, tol=1e-4), sum(seen)
    monkeypatch.setattr(Memory, "_are_hard", lambda *_: False)
    alone = newton(risk, map_, C, tol=1e-4)
    assert helped.status is alone.status is Status.CONVERGED
    assert helped.gap <= 1e-4
    assert helped.n_iter < alone.n_iter
    assert with_help < (0.9 if is_rounded and loss is HINGE else 0.7) * (sum(seen) - with_help)
    assert helped.dual <= alone.objective
    assert alone.dual <= helped.objective


@pytest.mark.parametrize("is_roomy", [False, True])
def test_float64_values_are_taken_where_there_is_memory(is_roomy, monkeypatch):
    """A lone fit computes them when it needs them."""
    X, y = noisy(400)
    whole, asked = HalfGram.whole, []
    monkeypatch.setattr(HalfGram, "whole", lambda self: asked.append(self) or whole(self))
    risk, map_ = risk_of(y, SQUARED_HINGE), ItemsMap(RBF(GAMMA), X)
    found = newton(risk, map_, 100.0, plan=Plan.of(risk, map_, is_roomy=is_roomy))
    assert bool(asked) is is_roomy
    assert found.gap <= 1e-4


@pytest.mark.parametrize("limit", [None, 64 * 400**2 - 1])
def test_an_estimator_knows_whether_there_is_memory(limit, monkeypatch):
    """By `memory_limit`."""
    seen, of = [], Plan.of
    monkeypatch.setattr(Plan, "of", lambda *args, **more: seen.append(more["is_roomy"]) or of(*args, **more))
    X, y = noisy(400)
    model = RankingSVM(C=0.1, kernel="rbf", memory_limit=limit).fit(X, y)
    assert seen == [limit is None]
    assert model.duality_gap_ <= 1e-4


def test_the_best_bound_outlives_a_change_to_float64(monkeypatch):
    """A change on the way to the end: the gap reported is the one that ended it."""
    monkeypatch.setattr(Memory, "_are_hard", lambda self, _: self.price > 0.0)
    monkeypatch.setattr("widemargin._core.prices.implicit_pairs", lambda *_: np.inf)
    X, y = noisy(350)
    model = RankingSVM(C=10.0, kernel="rbf").fit(X, y)
    assert model.solver_ == "newton"
    assert model.duality_gap_ <= 1e-4


@pytest.mark.parametrize("C", [3e6, 1e7])
@pytest.mark.parametrize("is_hard", [False, True])
def test_rounding_that_grew_over_the_steps_is_no_certificate(C, is_hard, monkeypatch):
    """Utilities are summed up over the steps, and looked at anew before a gap is reported."""
    rng = np.random.default_rng(58)
    X, y = rng.normal(size=(150, 3)), rng.integers(0, 4, 150)
    K = rbf_kernel(X, gamma=3.0)
    monkeypatch.setattr(Memory, "_are_hard", lambda *_: is_hard)
    found = newton(risk_of(y, SQUARED_HINGE), KernelMap(K), C)
    u = K @ found.weights
    short = np.maximum(0.0, 1.0 - (u[:, None] - u))[y[:, None] > y]
    assert found.objective == pytest.approx(0.5 * found.weights @ u + C * np.sum(short**2), rel=1e-9)
    alone = RankingSVM(C=C, kernel="precomputed", loss="squared_hinge", tol=1e-8).fit(K, y)
    assert found.dual <= alone.objective_ * (1 + 1e-9)


def test_all_items_are_asked_for_after_toil_and_with_memory_alone(monkeypatch):
    """An easy path over a given matrix does not factor it."""
    X, y = noisy(1600)
    monkeypatch.setattr(Span, "best", None)
    path = c_path(RankingSVM(kernel="precomputed"), rbf_kernel(X, gamma=0.01), y, [1e-6, 1e-5, 1e-4])
    assert path.gaps.max() <= 1e-4
    gram = WholeGram(rbf_kernel(X[:100]))
    assert not Memory(is_roomy=False, toil=1e9, usual=1e9)._are_hard(gram)
    monkeypatch.undo()
    assert Memory(is_roomy=True, toil=1e9, usual=1e9)._are_hard(gram)


def test_a_preconditioner_that_does_not_exist_is_done_without(monkeypatch):
    """Values over too many decades have no Cholesky factor."""

    def fails(*_):
        raise linalg.LinAlgError

    X, y = noisy(200)
    risk, map_ = risk_of(y, SQUARED_HINGE), KernelMap(rbf_kernel(X, gamma=GAMMA))
    monkeypatch.setattr(Memory, "_are_hard", lambda *_: True)
    monkeypatch.setattr(memory.Steady, "of", fails)
    assert newton(risk, map_, 1.0).gap <= 1e-4


def test_a_spent_budget_ends_the_steps():
    """With an honest gap."""
    X, y = noisy(200)
    risk, map_ = risk_of(y, HINGE), KernelMap(rbf_kernel(X, gamma=GAMMA))
    best = newton(risk, map_, 1.0)
    few = newton(risk, map_, 1.0, budget=0.0)
    assert few.status is Status.MAX_ITER
    assert few.n_iter == 1
    assert few.dual <= best.objective <= few.objective * (1 + 1e-4)


def test_what_a_preconditioner_cost_says_nothing_of_the_next_solve():
    """It counts where this one is given up, and the next is not expected to pay it again; steps from a solution are."""
    X, y = noisy(200)
    goal = kernel.KernelGoal(WholeGram(rbf_kernel(X, gamma=GAMMA)), risk_of(y, HINGE), 1.0)
    ascent = kernel.Ascent(goal, np.zeros(200), np.zeros(200), 1e-4, Memory(made=100.0, price=0.1))
    assert ascent._is_too_dear(1.0, ascent.at.primal)
    assert not ascent.memory.is_near
    for is_warm in (False, True):
        ascent.memory = Memory(price=100.0, is_warm=is_warm)
        assert ascent._is_too_dear(1.0, ascent.at.primal)
        assert ascent.memory.is_near is is_warm


def test_a_sample_that_is_worse_than_nothing_is_no_start(monkeypatch):
    """A kernel that separates a sample's noise is far off at the other items."""
    X, y = noisy(600)
    monkeypatch.setattr(kernel, "SIZES", (250,))
    tried, is_worse = [], kernel.Ascent.is_worse_than_zero
    monkeypatch.setattr(kernel.Ascent, "is_worse_than_zero", lambda self: tried.append(is_worse(self)) or tried[-1])
    risk = risk_of(y, SQUARED_HINGE)
    found = [newton(risk, ItemsMap(RBF(GAMMA), X), C) for C in (100.0, 1e-3)]
    assert tried == [True, False]
    assert max(solution.gap for solution in found) <= 1e-4


def test_the_first_smoothing_curves_all_pairs():
    """At a huge C the first steps must not go astray: the objective is below that of no function after a few."""
    X, y = noisy(300)
    risk, map_ = risk_of(y, HINGE), KernelMap(rbf_kernel(X, gamma=GAMMA))
    few = newton(risk, map_, 1e4, max_iter=3)
    assert few.objective < 1e4 * risk.evaluate(np.zeros(300))[0].loss


def test_no_preconditioner_is_made_for_values_that_are_left_at_once(monkeypatch):
    """Where directions became hard at the last C float64 values come first, and one preconditioner for them."""
    X, y = noisy(600)
    made, build = [], memory.Steady.of
    monkeypatch.setattr(memory.Steady, "of", lambda *how: made.append(build(*how)) or made[-1])
    path = c_path(RankingSVM(kernel="rbf", gamma=0.1, loss="squared_hinge"), X, y, np.logspace(0, 2, 6))
    assert path.gaps.max() <= 1e-4
    assert {one.basis.dtype for one in made} == {np.dtype(float)}


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_path_that_has_little_to_gain_does_without_all_items(loss, monkeypatch):
    """A kernel of full rank, solves of few steps: factors would cost more than the steps that they save."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 10))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 2 + X[:, 3] + 0.3 * rng.normal(size=500)
    monkeypatch.setattr(Span, "best", None)
    estimator, Cs = RankingSVM(kernel="rbf", gamma=0.1, loss=loss, tol=1e-3), np.logspace(-4, -1, 8)
    path = c_path(estimator, X, y, Cs)
    assert path.gaps.max() <= 1e-3
    assert {model.solver_ for model in path.estimators} == {"newton"}


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(("n", "solver"), [(300, "interior_point"), (320, "newton")])
def test_few_pairs_of_many_items_need_not_be_exact(loss, n, solver):
    """A factor of all items costs more than Newton's steps; the gap is true either way."""
    X, y = noisy(n)
    how = {"kernel": "rbf", "gamma": GAMMA, "loss": loss, "C": 0.1}
    model = RankingSVM(**how).fit(X, y, qid=np.arange(n) // 20)
    exact = RankingSVM(**how, tol=1e-9).fit(X, y, qid=np.arange(n) // 20)
    assert model.solver_ == solver
    assert exact.solver_ == "interior_point"
    assert model.duality_gap_ <= 1e-4
    assert exact.duality_gap_ <= 1e-9
    assert model.objective_ * (1 - model.duality_gap_) <= exact.objective_ <= model.objective_ * (1 + 1e-9)


@pytest.mark.parametrize("C", [1e3, 1e5])
def test_a_matrix_that_rounding_made_indefinite_is_solved_exactly(C):
    """Values in float32 have eigenvalues below zero by more than float64 rounds: no bound of Newton's is true there."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(350, 4))
    y = np.sign(X[:, 0] + 0.5 * rng.normal(size=350))
    K = rbf_kernel(X, gamma=0.125).astype(np.float32)
    model, exact = (MarginClassifier(kernel="precomputed", C=C, tol=tol).fit(K, y) for tol in (1e-4, 1e-7))
    assert model.objective_ <= exact.objective_ * (1 + 1e-4)
    path = c_path(MarginClassifier(kernel="precomputed"), K, y, [C / 10, C])
    assert path.objectives[1] <= exact.objective_ * (1 + 1e-4)


@pytest.mark.parametrize("kind", [ItemsMap, KernelMap])
def test_a_steep_square_is_climbed_to(kind, monkeypatch):
    """By way of smaller C in fewer steps, to the same solution; `max_iter` counts all steps."""
    X, y = noisy(300)
    X = np.column_stack([X, np.random.default_rng(1).normal(size=(300, 15))])
    risk = risk_of(y, SQUARED_HINGE)
    map_ = ItemsMap(RBF(0.05), X) if kind is ItemsMap else KernelMap(rbf_kernel(X, gamma=0.05))
    solved, seen = kernel._ascended, []
    monkeypatch.setattr(kernel, "_ascended", lambda *args, **how: seen.append(args[2]) or solved(*args, **how))
    found = newton(risk, map_, 100.0, tol=1e-6)
    assert seen[0] * 120.0 <= kernel.GENTLE
    assert np.all(np.diff(seen) > 0.0)
    assert seen[-1] == 100.0
    few = newton(risk, map_, 100.0, tol=1e-6, max_iter=3)
    assert few.status is Status.MAX_ITER
    assert few.n_iter <= 4
    assert few.dual <= found.objective <= few.objective
    monkeypatch.setattr(kernel, "_ladder", lambda *_: [])
    alone = newton(risk, map_, 100.0, tol=1e-6)
    assert found.status is alone.status is Status.CONVERGED
    assert found.n_iter < alone.n_iter
    assert found.dual <= alone.objective * (1 + 1e-9)
    assert alone.dual <= found.objective * (1 + 1e-9)
    apart = np.max(np.abs(found.utilities - alone.utilities))  # by no more than both gaps allow
    assert apart <= 2.0 * np.sqrt(2e-6 * found.objective)


@pytest.fixture
def rungs(monkeypatch):
    """Return what becomes of the values of C that Newton solves for: how often it steps, and how it ends."""
    solved, seen = kernel._ascended, []

    def watched(*args, **how):
        found = solved(*args, **how)
        seen.append((args[2], found.status))
        return found

    monkeypatch.setattr(kernel, "_ascended", watched)
    return seen


def test_a_long_climb_is_left_to_another_solver(rungs):
    """After two rungs, where there is one, and at once where these have cost its price; not where loss dominates."""
    X, y = noisy(300)
    steep = np.column_stack([X, np.random.default_rng(1).normal(size=(300, 15))])
    risk, map_ = risk_of(y, SQUARED_HINGE), KernelMap(rbf_kernel(steep, gamma=0.05))
    alone = newton(risk, map_, 1e4)
    assert alone.status is Status.CONVERGED
    assert len(rungs) > kernel.LONG
    for budget, n_rungs, last in [(1e9, 2, Status.CONVERGED), (1e-9, 1, Status.MAX_ITER)]:
        rungs.clear()
        early = newton(risk, map_, 1e4, budget=budget)
        assert early.status is Status.MAX_ITER
        assert len(rungs) == n_rungs + 1
        assert rungs[-2][1] is last
        assert early.dual <= alone.objective <= early.objective
    rungs.clear()
    noise = np.random.default_rng(0).permutation(y)
    found = newton(risk_of(noise, SQUARED_HINGE), KernelMap(rbf_kernel(X[:, :1], gamma=0.5)), 1e4, budget=1e9)
    assert found.status is Status.CONVERGED
    assert len(rungs) == 2


def test_pairs_are_written_out_where_rounding_stops_the_other_solver(monkeypatch):
    """Newton is not asked a second time: it would not reach the gap either, and take long to say so."""
    X, y = noisy(300)
    X = np.column_stack([X, np.random.default_rng(1).normal(size=(300, 15))])
    solve, asked, newton_ = ImplicitPairs.solve, [], RankingSVM._newton
    monkeypatch.setattr(ImplicitPairs, "solve", lambda *a, **k: replace(solve(*a, **k), status=Status.STALLED))
    monkeypatch.setattr(RankingSVM, "_newton", lambda *a: asked.append(a) or newton_(*a))
    model = RankingSVM(1e4, kernel="rbf", gamma=0.05, loss="squared_hinge").fit(X, y)
    assert model.converged_
    assert model.solver_ == "interior_point"
    assert len(asked) == 1


def test_a_climb_that_was_left_is_begun_anew_where_the_other_solver_fails(rungs, monkeypatch):
    """From the first rung, and without the limits of the solve before."""
    X, y = noisy(300)
    X = np.column_stack([X, np.random.default_rng(1).normal(size=(300, 15))])
    monkeypatch.setattr(ImplicitPairs, "of", lambda *_: None)
    model = RankingSVM(1e4, kernel="rbf", gamma=0.05, loss="squared_hinge").fit(X, y)
    Cs = [C for C, _ in rungs]
    begins = [k for k, C in enumerate(Cs) if Cs[0] == C]
    assert model.converged_
    assert len(begins) == 2
    assert begins[1] <= kernel.FEW + 1
    assert len(Cs) - begins[1] > kernel.LONG
    risk, map_ = risk_of(y, SQUARED_HINGE), KernelMap(rbf_kernel(X, gamma=0.05))
    plan = Plan.of(risk, map_)
    for budget in (1e-9, np.inf):
        newton(risk, map_, 1.0, plan=plan, budget=budget)
        assert plan.memory.allowed <= 3e-9 if budget < 1.0 else plan.memory.allowed == np.inf


@pytest.mark.parametrize(("kind", "C"), [("list", 1e2), ("list", 1e4), ("list", 1e6), ("queries", 1e4)])
def test_a_steep_square_ends_in_an_interior_point(kind, C, monkeypatch):
    """Alone and on a path: what Newton finds alone, within both gaps."""
    X, y = noisy(400)
    X = np.column_stack([X, np.random.default_rng(1).normal(size=(400, 15))])
    qid = None if kind == "list" else np.arange(400) // 20
    model = RankingSVM(C, kernel="rbf", gamma=0.05, loss="squared_hinge")
    path = c_path(model, X, y, [C / 10, C], qid=qid).estimators
    found = [clone(model).fit(X, y, qid=qid), path[1]]
    assert [one.solver_ for one in found] == 2 * ["interior_point"]
    monkeypatch.setattr(ImplicitPairs, "of", lambda *_: None)
    alone = clone(model).fit(X, y, qid=qid)
    for one in found:
        assert one.converged_
        assert one.objective_ * (1 - one.duality_gap_) <= alone.objective_
        assert alone.objective_ * (1 - alone.duality_gap_) <= one.objective_


def test_help_that_costs_more_than_is_left_ends_a_lone_solve():
    """The interior point that follows has no use for a preconditioner; on a path steps go on without it."""
    X, _ = noisy(300)
    gram = WholeGram(rbf_kernel(X, gamma=GAMMA))
    hard = {"toil": 1e9, "usual": 1e9, "allowed": 1e-9}
    lone, first = Memory(**hard), Memory(n_ahead=1, **hard)
    assert not lone._are_hard(gram)
    assert lone.is_spent
    assert not first._are_hard(gram)
    assert not first.is_spent
    for n_ahead, room, is_made in [(0, 0.9, False), (0, 1.1, True), (1, 1.9, False), (1, 2.1, True)]:
        memory = Memory(toil=1e9, usual=1e9, n_ahead=n_ahead)
        memory.allowed = room * memory._foreseen(gram, 1e9)
        assert memory._are_hard(gram) is is_made


def test_items_that_matter_are_not_looked_for_where_all_are_said_to(monkeypatch):
    """In a kernel of full rank, with directions that are no dearer than with a preconditioner of all items."""
    X, _ = noisy(300)
    monkeypatch.setattr(WholeGram, "full_span", property(lambda _: pytest.fail("they were")))
    gram = WholeGram(rbf_kernel(X, gamma=5.0))
    memory = Memory(toil=1e9, usual=1e-5)
    assert not memory._are_hard(gram)
    assert memory.rank == 300


@pytest.fixture
def few_are_many(monkeypatch):
    """Treat some hundred items as thousands."""
    monkeypatch.setattr(memory, "FEW_ITEMS", 100)
    monkeypatch.setattr(grams, "KEPT_ITEMS", 100)
    monkeypatch.setattr(spans, "LEAST_SPAN", 20)


def test_all_that_matter_of_many_items_are_found():
    """They leave little of any other, and their basis is orthonormal; None where they would be too many."""
    X, _ = noisy(600)
    kernel_of = RBF(0.02)
    span, K = Span.found(kernel_of, X), kernel_of(X, X)
    assert span.size < 150
    assert np.max(1.0 - np.sum(span.basis**2, axis=1)) <= 1e-4
    assert np.allclose(K[:, span.items] @ span.inverse, span.basis, atol=1e-9)
    assert Span.found(RBF(2.0), X) is None


def test_the_lower_half_of_many_items_is_their_matrix(few_are_many):  # noqa: ARG001
    """In float64; there is none where the items that matter are too many."""
    X, _ = noisy(600)
    K, V = RBF(0.02)(X, X), np.random.default_rng(0).normal(size=(600, 2))
    fine = HalfGram.of(RBF(0.02), X).whole()
    assert isinstance(fine, FineGram)
    assert np.allclose(fine.product(V), K @ V, atol=1e-11)
    assert np.allclose(fine.exact_product(V[:, 0]), K @ V[:, 0], atol=1e-11)
    assert np.allclose(fine.columns(np.array([3, 5])), K[:, [3, 5]])
    assert np.allclose(fine.diagonal, np.diag(K), rtol=1e-14)
    assert fine.span is fine.wide_span is fine.full_span
    assert fine.whole() is None
    assert HalfGram.of(RBF(2.0), X).whole() is None


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE], ids=["hinge", "squared"])
@pytest.mark.parametrize(("gamma", "helps"), [(0.02, {"full"}), (GAMMA, {"wide"}), (2.0, set())])
def test_hard_directions_of_many_items_are_helped(loss, gamma, helps, few_are_many, monkeypatch):  # noqa: ARG001
    """By all that matter where these are few, else by a wider span where a narrow one fails; the same optimum without.

    A span that leaves most of the kernel is no help.
    """
    monkeypatch.setattr(memory, "MOST_ROUNDED_CG", 2)
    for price in ("preconditioner", "direction"):
        monkeypatch.setattr(f"widemargin._core.prices.{price}", lambda *_: 1e-9)
    X, y = noisy(400)
    risk, seen, of = risk_of(y, loss), [], memory.Steady.of
    monkeypatch.setattr(memory.Steady, "of", lambda span, *rest: seen.append(span) or of(span, *rest))
    helped = newton(risk, ItemsMap(RBF(gamma), X), 10.0)
    assert {"full" if span.is_full else "wide" for span in seen} == helps
    monkeypatch.setattr(Memory, "condition", lambda *_: memory.PLAIN)
    monkeypatch.setattr(Memory, "_are_hard", lambda *_: False)
    alone = newton(risk, ItemsMap(RBF(gamma), X), 10.0)
    assert helped.status is alone.status is Status.CONVERGED
    assert helped.dual <= alone.objective * (1 + 1e-12)
    assert alone.dual <= helped.objective * (1 + 1e-12)
