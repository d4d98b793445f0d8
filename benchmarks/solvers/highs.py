"""HiGHS `ipm`, crossover off, on the split form of the 1-norm machine: utilities are variables, s = K a.

Q. Huangfu and J. A. J. Hall, "Parallelizing the dual revised simplex method", 2018; L. Schork and J. Gondzio, 2020.
"""

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from ..problem import Answer
from . import absent
from .linear_svc_pairs import written_out

EFFORTS = ({},)


def skip():
    """Return why it cannot run here, or None."""
    return absent("highspy")


def split_form(problem):
    """Return cost, matrix and lower row bounds of min sum(p + n) + C sum xi, K(p - n) - s = 0, s_u - s_v + xi >= 1."""
    m = len(problem.y)
    K = sparse.csc_array(rbf_kernel(problem.X, gamma=problem.gamma))
    better, worse = written_out(problem.y, problem.queries)
    n_pairs, signs = better.size, (1.0,) if problem.options["positive"] else (1.0, -1.0)
    rows, ones = np.arange(n_pairs), np.ones(n_pairs)
    B = sparse.csc_array((ones, (rows, better)), (n_pairs, m)) - sparse.csc_array((ones, (rows, worse)), (n_pairs, m))
    blocks = [[*(sign * K for sign in signs), -sparse.eye_array(m), None]]
    blocks.append([*(None for _ in signs), B, sparse.eye_array(n_pairs)])
    cost = np.concatenate([np.ones(len(signs) * m), np.zeros(m), np.full(n_pairs, problem.C)])
    return cost, sparse.csc_array(sparse.block_array(blocks)), np.concatenate([np.zeros(m), ones])


def model_of(problem):
    """Return the linear program as HiGHS takes it."""
    import highspy  # noqa: PLC0415 (optional)

    cost, A, lower = split_form(problem)
    m, infinity = len(problem.y), highspy.kHighsInf
    free = slice(cost.size - m - (A.shape[0] - m), cost.size - (A.shape[0] - m))
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = A.shape[1], A.shape[0]
    program.col_cost_ = cost
    bound = np.zeros(cost.size)
    bound[free] = -infinity
    program.col_lower_, program.col_upper_ = bound, np.full(cost.size, infinity)
    program.row_lower_ = lower
    program.row_upper_ = np.concatenate([np.zeros(m), np.full(A.shape[0] - m, infinity)])
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_, program.a_matrix_.value_ = A.indptr, A.indices, A.data
    return program


def fit(problem, _effort):
    """Solve at HiGHS's own tolerances, 1e-7 and 1e-8."""
    import highspy  # noqa: PLC0415 (optional)

    solver = highspy.Highs()
    for option, value in {"output_flag": False, "solver": "ipm", "run_crossover": "off", "threads": 1}.items():
        solver.setOptionValue(option, value)
    solver.passModel(model_of(problem))
    solver.run()
    x, m = np.array(solver.getSolution().col_value), len(problem.y)
    return Answer(x[:m].clip(0.0) if problem.options["positive"] else x[:m] - x[m : 2 * m])
