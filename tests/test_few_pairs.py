"""Queries of two or three items: their few pairs are looked at one by one; the optimum is that of implicit pairs."""

import numpy as np
import pytest
from scipy import sparse

from widemargin import RankingSVM, _solving_levels
from widemargin._core import newton
from widemargin.exceptions import NoComparisonsError
from widemargin.model_selection import c_path


def duels(n_queries, per_query=2, p=6, noise=0.5, seed=0):
    """Return items of many small queries, scattered over the rows, with two grades."""
    rng = np.random.default_rng(seed)
    n = n_queries * per_query
    X = rng.normal(size=(n, p)).astype(np.float32)
    y = (X @ rng.normal(size=p) + noise * rng.normal(size=n) > 0).astype(float)
    return X, y, rng.permutation(np.repeat(np.arange(n_queries), per_query))


def implicit(monkeypatch):
    """Leave all pairs implicit."""
    monkeypatch.setattr(_solving_levels, "FEW_PAIRS", (0, 0))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [1e-4, 1.0])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_pairs_one_by_one_have_the_optimum_of_implicit_ones(loss, C, form, monkeypatch):
    """Weights included; more than 20,000 pairs, so that neither is the exact interior point."""
    X, y, qid = duels(22_000, 3)
    weight = np.random.default_rng(1).integers(1, 3, len(y)).astype(float)
    model = RankingSVM(C=C, loss=loss, tol=1e-5)
    few = model.fit(form(X), y, qid=qid, sample_weight=weight).objective_
    assert (model.solver_, model.converged_) == ("newton", True)
    implicit(monkeypatch)
    many = model.fit(form(X), y, qid=qid, sample_weight=weight).objective_
    assert few == pytest.approx(many, rel=2e-5)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_path_of_few_pairs_is_that_of_implicit_ones(loss, monkeypatch):
    """At every C, to what both certify."""
    X, y, qid = duels(2000)
    model, Cs = RankingSVM(loss=loss, tol=1e-4), np.logspace(-4, 1, 6)
    few = c_path(model, X, y, Cs, qid=qid)
    implicit(monkeypatch)
    many = c_path(model, X, y, Cs, qid=qid)
    assert max(few.gaps.max(), many.gaps.max()) <= 1e-4
    np.testing.assert_allclose(few.objectives, many.objectives, rtol=2e-4)


def test_what_is_not_reached_one_by_one_is_tried_with_implicit_pairs(monkeypatch):
    """No step allowed to the rows: Newton on implicit pairs still reaches the gap. So does a warm start."""
    X, y, qid = duels(50_000)
    seen = []
    solve = newton.newton
    monkeypatch.setattr(newton, "newton", lambda *args, **how: seen.append(1) or solve(*args, **how))
    assert RankingSVM(C=0.1, tol=1e-4).fit(X, y, qid=qid).converged_
    assert not seen
    monkeypatch.setattr("widemargin._core.rows_newton.MOST_STEPS", 1)
    assert RankingSVM(C=0.1, tol=1e-4).fit(X, y, qid=qid).converged_
    assert RankingSVM(C=0.1, tol=1e-4, warm_start=True).fit(X, y, qid=qid).converged_
    assert len(seen) == 2


def test_queries_of_one_grade_have_nothing_to_compare():
    """Few pairs are not no pairs."""
    X, _, qid = duels(50)
    with pytest.raises(NoComparisonsError, match="one class in every one of the 50 queries"):
        RankingSVM().fit(X, qid.astype(float), qid=qid)
