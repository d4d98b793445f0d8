"""Kernels of small rank: solved in a few columns, and right for the whole kernel."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import polynomial_kernel

from widemargin import ComparisonSVM, MarginClassifier, MarginRegressor, OrdinalSVM, Pairs, RankingSVM, TopRankSVM
from widemargin._core.kernels import RBF, Kernel, Linear, Polynomial
from widemargin._core.low_rank import LEAST_ITEMS, NOTHING, LowRankMap, _needs_more, _pivoted
from widemargin._core.maps import ItemsMap, KernelMap
from widemargin._core.newton.passes import LinearPairs
from widemargin.model_selection import c_path

N, RANK = 1600, 6  # more items than have their kernel matrix whole; monomials up to degree 2 of two features
POLY = {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0}


def plane(n=N, p=2, seed=0):
    """Items, and a curved function of them with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] * X[:, 1] + X[:, 0] + 0.5 * rng.normal(size=n)


def cases():
    """An estimator of each kind, at a C where the regulariser counts, with more items than are solved exactly."""
    X, y = plane()
    grades, halves = np.digitize(y, [-1.0, 0.0, 1.0]), np.arange(N).reshape(-1, 2)
    beats = np.where(np.abs(y[::2] - y[1::2]) < 0.3, 0, np.sign(y[::2] - y[1::2])).astype(int)
    sets = np.repeat(np.arange(N // 4), 4)
    first = (y == np.repeat(y.reshape(-1, 4).max(axis=1), 4)).astype(int)
    return {
        "ranking": (RankingSVM(C=1e-4), (X, y), {}),
        "ordinal": (OrdinalSVM(C=1e-4), (X, grades), {}),
        "ordinal, few pairs": (OrdinalSVM(C=1e-2), (X, (y > np.sort(y)[-16]).astype(int)), {}),
        "comparison": (ComparisonSVM(C=0.1), (Pairs(X, halves), beats), {}),
        "choice": (TopRankSVM(C=0.1), (X, first), {"qid": sets}),
        "classes": (MarginClassifier(C=0.1), (X, grades), {}),
        "values": (MarginRegressor(C=0.1), (X, y), {}),
    }


@pytest.fixture
def by_kernel(monkeypatch):
    """Return a function that fits without a look at the rank: the oracle."""

    def fit(model, data, more):
        with monkeypatch.context() as patch:
            patch.setattr(LowRankMap, "exact", lambda *_: None)
            return clone(model).fit(*data, **more)

    return fit


@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        Polynomial(3, 0.5, 1.0),
        Polynomial(3, 0.5, 0.0),
        Polynomial(2, 0.5, 1.0) + Polynomial(3, 0.5, 0.0),
        Polynomial(3, 0.5, 0.0) * Linear(),
    ],
)
def test_the_rank_is_at_most_what_the_form_says(kernel):
    """And for most items that much, but for functions that two parts share."""
    X = plane(80, 3)[0]
    rank = np.linalg.matrix_rank(kernel(X, X))
    assert rank <= kernel.rank(3) < 80
    assert rank == kernel.rank(3) or not isinstance(kernel, Linear | Polynomial)
    assert np.isinf((kernel + RBF(1.0)).rank(3))
    assert np.isinf(Polynomial(2.5, 1.0, 1.0).rank(3))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, np.float32], ids=["dense", "sparse", "float32"])
@pytest.mark.parametrize(("kernel", "rank"), [(Polynomial(2, 0.5, 1.0), RANK), (RBF(0.1), None)], ids=["poly", "rbf"])
def test_a_small_rank_is_found(kernel, rank, kind):
    """F F' is the kernel matrix to rounding, for finite ranks and for those that fall off fast."""
    X = kind(plane()[0])
    map_, K = LowRankMap.exact(kernel, X), kernel(X, X)
    assert map_.n_features == rank or (rank is None and map_.n_features < N / 10)
    assert_allclose(map_.gram(), K, atol=1e-13 * K.max())
    w = np.random.default_rng(1).normal(size=map_.n_features) * map_.F.std(axis=0)
    b = map_.item_coefficients(w)
    assert np.count_nonzero(b) <= map_.n_features
    assert_allclose(K @ b, map_.forward(w), atol=1e-9 * np.abs(map_.forward(w)).max())


class Counted(Kernel):
    """A kernel that counts its columns."""

    def __init__(self, kernel):
        self.kernel, self.n_columns = kernel, 0

    def __call__(self, X, Z):
        """Return the kernel's values."""
        self.n_columns += Z.shape[0]
        return self.kernel(X, Z)

    def diag(self, X):
        """Return the diagonal."""
        return self.kernel.diag(X)


@pytest.mark.parametrize(
    ("kernel", "p", "most"), [(RBF(1.0), 5, 8), (RBF(0.1), 5, 16), (Polynomial(4, 1.0, 1.0), 8, 16)]
)
def test_that_a_rank_is_not_small_is_found_out_early(kernel, p, most):
    """A few columns of 3,000 show it."""
    counted = Counted(kernel)
    assert LowRankMap.exact(counted, plane(3000, p)[0]) is None
    assert counted.n_columns <= most


@pytest.mark.parametrize("n", [40, 600, 1600])
def test_few_items_tell_at_once_that_a_rank_is_not_small(n):
    """Values between one item more than there may be columns are enough; no column is made."""
    counted, X = Counted(RBF(1.0)), plane(n, 5)[0]
    assert LowRankMap.exact(counted, X) is None
    assert counted.n_columns == n // LEAST_ITEMS + 1


@pytest.mark.parametrize("seed", range(40))
def test_what_some_items_tell_is_what_columns_find(seed):
    """A rank that is said to be larger is, nearly singular kernels and copies of items included."""
    rng = np.random.default_rng(seed)
    kernel = (RBF(10.0 ** rng.uniform(-6, 1)), Polynomial(int(rng.integers(1, 6)), 1.0, 1.0))[seed % 2]
    X = np.round(rng.normal(size=(120, int(rng.integers(1, 4)))), int(rng.integers(0, 4)))
    nothing = NOTHING * float(kernel.diag(X).max())
    for most in (3, 12, 40):
        _, pivots, rest = _pivoted(kernel, X, kernel.diag(X).astype(float), most, nothing)
        assert not (_needs_more(kernel, X, most, nothing) and rest.max() <= nothing), pivots.size


@pytest.mark.parametrize("rank", [3, 20, 60])
def test_what_is_left_out_is_bounded(rank):
    """left_out(g) >= g'(K - F F')g, with equality for one item; no function of the landmarks loses anything."""
    X, kernel, rng = plane(300)[0], RBF(0.5), np.random.default_rng(0)
    map_, K = LowRankMap.from_kernel(kernel, X, rank), kernel(X, X)
    E = K - map_.gram()
    for g in rng.normal(size=(20, 300)):
        assert 0.0 <= g @ E @ g <= map_.left_out(g)
    one = np.zeros(300)
    one[np.argmax(map_.rest)] = 2.0
    assert map_.left_out(one) == pytest.approx(one @ E @ one, rel=1e-9)
    w = map_.corner.T @ rng.normal(size=rank)
    b = map_.item_coefficients(w)
    assert b @ K @ b == pytest.approx(map_.squared_norm(w), rel=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("name", cases())
def test_a_small_rank_changes_the_way_only(name, loss, by_kernel):
    """Objective and bound agree with those of the kernel route; few support vectors make the same utilities."""
    model, data, more = cases()[name]
    squared = {"values": "squared_epsilon_insensitive"}.get(name, "squared_hinge")
    model.set_params(**POLY, **({} if loss == "hinge" else {"loss": squared}))
    quick, slow = clone(model).fit(*data, **more), by_kernel(model, data, more)
    assert quick.support_.size <= RANK < slow.support_.size
    for one, other in ((quick, slow), (slow, quick)):
        assert one.converged_
        assert one.duality_gap_ <= model.tol
        assert one.objective_ * (1 - one.duality_gap_) <= other.objective_ * (1 + 1e-9)
    X = data[0].items if isinstance(data[0], Pairs) else data[0]
    K = polynomial_kernel(X, X[quick.support_], degree=2, gamma=0.5, coef0=1.0)
    assert_allclose(quick.utility(X), K @ quick.dual_coef_, rtol=1e-9, atol=1e-9 * np.abs(quick.utility(X)).max())
    assert_allclose(quick.utility(X), slow.utility(X), atol=0.1 * np.std(slow.utility(X)))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_objective_is_that_of_the_kernel(loss):
    """Computed again from the model and the kernel, all pairs written out."""
    X, y = plane()
    model = OrdinalSVM(C=1e-4, loss=loss, **POLY).fit(X, np.digitize(y, [-1.0, 0.0, 1.0]))
    grades = np.digitize(y, [-1.0, 0.0, 1.0])
    K = polynomial_kernel(X, X[model.support_], degree=2, gamma=0.5, coef0=1.0)
    u = K @ model.dual_coef_
    short = np.maximum(0.0, 1.0 - (u[:, None] - u[None, :]))[grades[:, None] > grades[None, :]]
    want = 0.5 * model.dual_coef_ @ u[model.support_] + 1e-4 * np.sum(short ** (2 if loss != "hinge" else 1))
    assert model.objective_ == pytest.approx(want, rel=1e-9)


@pytest.mark.parametrize("name", ["ranking", "classes", "values"])
def test_columns_that_leave_out_too_much_are_left(name, by_kernel, monkeypatch):
    """The kernel route answers then, for every part of the task that is not solved yet."""
    model, data, more = cases()[name]
    model.set_params(**POLY)
    seen, true = [], LowRankMap.left_out
    monkeypatch.setattr(
        LowRankMap, "left_out", lambda self, g: seen.append(g) or (1e6 if len(seen) > 1 else true(self, g))
    )
    if name == "ranking":
        seen.append(None)
    mixed, slow = clone(model).fit(*data, **more), by_kernel(model, data, more)
    assert len(seen) == (1 if name == "values" else 2)
    assert mixed.converged_
    assert mixed.objective_ == pytest.approx(slow.objective_, rel=2 * model.tol)
    assert (mixed.support_.size > RANK) == (name != "values")


def test_a_gap_that_cannot_be_closed_is_said(monkeypatch):
    """Where the kernel does not fit into memory, the bound of the columns stands, with a warning."""
    X, y = plane()
    monkeypatch.setattr(LowRankMap, "left_out", lambda *_: 1.0)
    with pytest.warns(ConvergenceWarning, match="rounding stopped"):
        model = RankingSVM(C=1e-6, memory_limit=5e6, **POLY).fit(X, y)
    assert model.duality_gap_ == pytest.approx(0.5 / model.objective_, rel=1e-3)


def test_a_path_is_its_fits():
    """In columns as elsewhere."""
    X, y = plane()
    grades, model = np.digitize(y, [-1.0, 0.0, 1.0]), OrdinalSVM(**POLY)
    path = c_path(model, X, grades, np.logspace(-6, 0, 7))
    for C, point in zip(path.Cs, path.estimators, strict=True):
        alone = clone(model).set_params(C=C).fit(X, grades)
        assert point.support_.size == RANK
        assert point.objective_ == pytest.approx(alone.objective_, rel=2 * model.tol)
        assert_allclose(point.utility(X), alone.utility(X), atol=0.1 * np.std(alone.utility(X)))
    assert path.gaps.max() <= model.tol


def test_a_path_looks_at_the_data_less_than_its_fits(monkeypatch):
    """Each point starts on the line through the last two: less than a third of the looks and of the Hessians."""
    X, y = plane()
    grades, Cs, looks, hessians = np.digitize(y, [-1.0, 0.0, 1.0]), np.logspace(-6, 0, 20), [], []
    look, gram = LinearPairs.look, LinearPairs.gram
    monkeypatch.setattr(LinearPairs, "look", lambda self, w: looks.append(1) or look(self, w))
    monkeypatch.setattr(LinearPairs, "gram", lambda self, w: hessians.append(1) or gram(self, w))
    c_path(OrdinalSVM(**POLY), X, grades, Cs)
    along = len(looks), len(hessians)
    for C in Cs:
        OrdinalSVM(C=C, **POLY).fit(X, grades)
    assert along[0] <= 0.3 * (len(looks) - along[0])
    assert along[1] <= 0.3 * (len(hessians) - along[1])


def test_a_path_leaves_the_columns_once(monkeypatch):
    """Later points are the kernel's, and right."""
    X, y = plane()
    Cs, left = np.logspace(-6, -2, 5), []
    want = c_path(RankingSVM(**POLY), X, y, Cs)
    monkeypatch.setattr(LowRankMap, "left_out", lambda *_: left.append(1) or (1e9 if len(left) == 3 else 0.0))
    path = c_path(RankingSVM(**POLY), X, y, Cs)
    assert len(left) == 3
    assert [model.support_.size == RANK for model in path.estimators] == [True, True, False, False, False]
    assert_allclose(path.objectives, want.objectives, rtol=2e-4)
    assert path.gaps.max() <= 1e-4


@pytest.mark.parametrize("cls", [RankingSVM, MarginRegressor])
def test_a_small_rank_needs_little_memory(cls):
    """20,000 items, whose kernel matrix would take 1.6 GB in half precision and half of it."""
    X, y = plane(20_000)
    tracemalloc.start()
    model = cls(C=1e-6, memory_limit=1e8, **POLY).fit(X, np.round(y))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.converged_
    assert model.support_.size == RANK
    assert peak < 5e7


def test_a_rank_that_does_not_fit_is_not_small():
    """Columns are counted against the memory limit as those of n_components are."""
    X = plane()[0]
    assert ItemsMap(Polynomial(2, 0.5, 1.0), X, RANK).in_columns.n_features == RANK
    assert ItemsMap(Polynomial(2, 0.5, 1.0), X, RANK - 1).in_columns is None
    assert KernelMap(np.eye(3)).in_columns is None
