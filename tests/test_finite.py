"""Items that are not finite are refused wherever they hide, also where no pass over X is made for that alone."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from widemargin import RankingSVM, _finite
from widemargin.model_selection import c_path

ARRANGED = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "csr": sparse.csr_array,
}


@pytest.fixture(params=["read", "left"], autouse=True)
def way(request, monkeypatch):
    """Check X beforehand, or leave it to the looks of the fit."""
    monkeypatch.setattr(_finite, "LEFT_BYTES", 0 if request.param == "left" else 1 << 40)
    return request.param


def queries(n, size, *, p=4, dtype=np.float64):
    """Return items of three grades, in queries of a size."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, p))
    y = np.clip(np.rint(X @ np.arange(1.0, p + 1.0) / p + rng.standard_normal(n)), -1.0, 1.0)
    return X.astype(dtype), y, np.arange(n) // size


@pytest.mark.parametrize("shape", list(ARRANGED))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_one_bad_entry_is_found_in_any_layout_and_huge_ones_pass(shape, dtype, n_jobs):
    """The quick check squares the entries: what overflows is looked at again, what is not finite is refused."""
    arrange = ARRANGED[shape]
    X, y, _ = queries(60, 60, dtype=dtype)
    huge = X.copy()
    huge[7, 2] = 0.1 * np.sqrt(np.finfo(dtype).max) * 100
    _finite.check_finite(arrange(huge), "RankingSVM")
    for bad in (np.nan, np.inf, -np.inf):
        X[31, 3] = bad
        with pytest.raises(ValueError, match="Input X contains"):
            RankingSVM(n_jobs=n_jobs).fit(arrange(X), y)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("order", ["sorted", "shuffled", "one"])
def test_every_row_of_a_large_fit_is_seen(loss, dtype, n_jobs, order):
    """Rows of samples and rows that only the look at all pairs meets; the first, the last, and some between."""
    X, y, qid = queries(24_000, 30, dtype=dtype)
    qid = {"sorted": qid, "shuffled": np.random.default_rng(0).permutation(qid), "one": None}[order]
    model = RankingSVM(1e-4, loss=loss, n_jobs=n_jobs, tol=1e-3)
    for row, bad in zip((0, 11_111, 23_999, 5_000), (np.nan, np.inf, -np.inf, np.nan), strict=True):
        kept, X[row, 1] = X[row, 1], bad
        with pytest.raises(ValueError, match="Input X contains"):
            model.fit(X, y, qid=qid)
        X[row, 1] = kept
    assert model.fit(X, y, qid=qid).converged_


@pytest.mark.parametrize("n_lone", [1, 50])
def test_rows_without_a_pair_are_seen_too(n_lone):
    """Queries of one grade enter no sum."""
    X, y, qid = queries(6_000, 20)
    y[qid < n_lone] = 1.0
    for row in (0, 20 * n_lone - 1):
        broken = X.copy()
        broken[row, 2] = np.nan
        with pytest.raises(ValueError, match="Input X contains NaN"):
            RankingSVM().fit(broken, y, qid=qid)


@pytest.mark.parametrize("weight", ["none", "ones", "some zero"])
def test_rows_of_no_weight_are_seen_too(weight):
    """As scikit-learn refuses them."""
    X, y, qid = queries(3_000, 20)
    X[100, 0] = np.nan
    weights = {"none": None, "ones": np.ones(3_000), "some zero": np.where(np.arange(3_000) < 200, 0.0, 1.0)}[weight]
    with pytest.raises(ValueError, match="Input X contains NaN"):
        RankingSVM().fit(X, y, qid=qid, sample_weight=weights)


@pytest.mark.parametrize(
    "given",
    [{"C": np.inf}, {"kernel": "rbf"}, {"kernel": "rbf", "n_components": 5}, {"warm_start": True}, {"C": 1e-3}],
    ids=str,
)
@pytest.mark.parametrize("size", [2, 3, 300])
def test_every_solver_is_guarded(given, size):
    """Pairs written out, rows one by one, kernels: those that would not ask are given checked items."""
    X, y, qid = queries(300, size)
    X[123, 1] = np.inf
    with pytest.raises(ValueError, match="Input X contains infinity"):
        RankingSVM(**given).fit(X, y, qid=qid)


def test_a_path_refuses_as_a_fit_does():
    """At its first C."""
    X, y, qid = queries(3_000, 20)
    X[2_999, 3] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        c_path(RankingSVM(), X, y, qid=qid, Cs=[1e-3, 1e-2, 0.1])


def test_huge_items_that_are_finite_are_not_refused():
    """Products of theirs overflow; who is asked finds nothing wrong, and the fit says what became of it."""
    X, y, qid = queries(6_000, 30, dtype=np.float32)
    X[17] = 1e38
    with pytest.warns(ConvergenceWarning, match="scale the features"), np.errstate(over="ignore", invalid="ignore"):
        RankingSVM(1e-4, loss="squared_hinge", tol=1e-3).fit(X, y, qid=qid)


def test_what_is_left_is_not_read_for_that_alone(way, monkeypatch):
    """The check beforehand is made, or is not."""
    asked = []
    monkeypatch.setattr(_finite, "_squared_norm", lambda x: asked.append(x.size) or 0.0)
    X, y, qid = queries(6_000, 30)
    RankingSVM(1e-4).fit(X, y, qid=qid)
    assert sum(asked) == (X.size if way == "read" else 0)
