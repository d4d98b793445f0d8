"""widemargin: Newton's method over implicit pairs, interior points over explicit rows; every gap certified."""

import numpy as np

from widemargin import ComparisonSVM, OrdinalSVM, Pairs, RankingSVM, RankingVectorMachine, TopRankSVM

from ..problem import Answer

EFFORTS = ({},)


def skip():
    """Return None: it is what is measured."""


def supports_threads(problem):
    """Whether the estimator of this problem takes n_jobs."""
    return "n_jobs" in estimator(problem).get_params()


def estimator(problem, **more):
    """Return the estimator of a problem."""
    how = {"C": problem.C, "kernel": problem.kernel, "gamma": problem.gamma, "tol": problem.tol, **more}
    if problem.kind.startswith("vector"):
        vectors = "pairs" if problem.kind == "vector_pairs" else "points"
        return RankingVectorMachine(vectors=vectors, positive=problem.options["positive"], **how)
    how["loss"] = problem.loss
    if problem.kind == "comparison":
        return ComparisonSVM(**how)
    if problem.kind.startswith("choice"):
        return TopRankSVM(slack="task" if problem.kind == "choice" else "pair", **how)
    return OrdinalSVM(**how) if problem.options.get("ordinal") else RankingSVM(**how)


def prepare(problem, effort):
    """Fit the model whose scoring is timed."""
    return estimator(problem).fit(problem.X, problem.y) if problem.kind == "scoring" else effort


def fit(problem, effort):
    """Fit, or score."""
    if problem.kind == "scoring":
        effort.utility(problem.new)
        return Answer(size=len(effort.dual_coef_))
    model = estimator(problem, **effort)
    if problem.kind == "comparison":
        model.fit(Pairs(problem.X, problem.index), problem.y)
    elif problem.qid is None:
        model.fit(problem.X, problem.y)
    else:
        model.fit(problem.X, problem.y, qid=problem.qid)
    return answer(problem, model)


def answer(problem, model):
    """Return what was learned, over all items where a kernel is used."""
    if problem.kernel == "linear":
        weights = model.coef_
    else:
        weights = np.zeros(problem.X.shape[0])
        weights[model.support_] = model.dual_coef_
    level = getattr(model, "intercept_", 0.0)
    return Answer(weights, level, model.objective_, model.duality_gap_, note=model.solver_, predict=model.utility)
