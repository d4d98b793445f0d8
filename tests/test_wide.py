"""More features than items: solved in the span of the items, and the weights are those of the features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from widemargin import ComparisonSVM, MarginClassifier, MarginRegressor, Pairs, RankingSVM, TopRankSVM
from widemargin._core import maps
from widemargin.model_selection import c_path

RNG = np.random.default_rng(0)
N, P = 80, 200
X = RNG.normal(size=(N, P)) * (RNG.random((N, P)) < 0.3)
U = X[:, :10].sum(axis=1) + 0.3 * RNG.normal(size=N)
INDEX = RNG.integers(0, N, (150, 2))
VOTES = np.where(np.abs(U[INDEX[:, 0]] - U[INDEX[:, 1]]) < 0.5, 0, np.sign(U[INDEX[:, 0]] - U[INDEX[:, 1]])).astype(int)

MACHINES = {
    "classifier": (MarginClassifier, lambda Z: (Z, U > 0.0), {}),
    "three classes": (MarginClassifier, lambda Z: (Z, np.digitize(U, [-0.5, 0.5])), {}),
    "regressor": (MarginRegressor, lambda Z: (Z, U), {}),
    "comparison": (ComparisonSVM, lambda Z: (Pairs(Z, INDEX), VOTES), {}),
    "threshold": (ComparisonSVM, lambda Z: (Pairs(Z, INDEX), VOTES), {"ties": "threshold"}),
    "choice": (TopRankSVM, lambda Z: (Z, U), {"qid": np.arange(N) // 5}),
    "ranking": (RankingSVM, lambda Z: (Z, np.digitize(U, [-0.5, 0.5])), {"qid": np.arange(N) // 20}),
}


def fitted(name, Z, C, **how):
    cls, data, more = MACHINES[name]
    fit_more = {key: value for key, value in more.items() if key == "qid"}
    rest = {key: value for key, value in more.items() if key != "qid"}
    return cls(C, **rest, **how).fit(*data(Z), **fit_more)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("form", ["dense", "float32", "sparse", "sparse and large"])
@pytest.mark.parametrize("name", MACHINES)
def test_wide_items_have_the_objective_of_their_gram_matrix(name, form, C, monkeypatch):
    """Whichever way X comes: the kernel machine on X X', and utilities that the weights give."""
    if form == "sparse and large":
        monkeypatch.setattr(maps, "WRITTEN_OUT", 1)
    Z = {"dense": X, "float32": X.astype(np.float32)}.get(form, sparse.csr_array(X))
    values = np.asarray(Z.toarray() if sparse.issparse(Z) else Z, dtype=float)
    model = fitted(name, Z, C, tol=1e-5)
    by_kernel = fitted(name, values @ values.T, C, kernel="precomputed", tol=1e-5)
    assert model.converged_
    assert model.coef_.shape[-1] == P
    assert_allclose(model.objective_, by_kernel.objective_, rtol=2e-5, atol=1e-12)
    assert_allclose(
        model.utility(values), values @ model.coef_.T, atol=1e-6 * (1.0 + np.abs(values @ model.coef_.T).max())
    )
    half = 0.5 * np.sum(model.coef_**2)
    assert half <= model.objective_ * (1.0 + 1e-9)


@pytest.mark.parametrize("name", ["classifier", "regressor", "comparison"])
def test_paths_of_wide_items_are_fits(name, monkeypatch):
    """Sparse X that is not written out: along C every point is certified, and has weights of the features."""
    monkeypatch.setattr(maps, "WRITTEN_OUT", 1)
    cls, data, _ = MACHINES[name]
    Cs = np.logspace(-3, 2, 6)
    path = c_path(cls(), *data(sparse.csr_array(X)), Cs)
    for C, model in zip(Cs, path.estimators, strict=True):
        alone = fitted(name, X, C)
        assert model.duality_gap_ <= 1e-4
        assert model.coef_.shape == alone.coef_.shape
        assert_allclose(model.objective_, alone.objective_, rtol=2e-4)
