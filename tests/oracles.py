"""The papers' optimisation problems, written down as printed (and corrected) and handed to general solvers.

Nothing here comes from `widemargin`. A problem is a list of `Row`: one inequality of the paper each,

    sum_i sign_i r(x_i) + level * b >= margin - slack,

with r(x) = <w, phi(x)>, b the unpenalised bias (if any), and `weight` the cost of the slack. Rows that name
the same `task` share one slack. `two_norm` minimises 1/2 ||w||^2 + C * sum of weight * slack over them with
CVXPY and Clarabel; `two_norm_dual` maximises the dual with the four-term kernel; `one_norm` is the linear
programme of the 1-norm machines, for HiGHS.

Every answer carries its own certificate: `objective` belongs to a feasible point, `lower` to a feasible dual
point, both recomputed in float64. If they differ by more than `RELIABLE`, `UnreliableOracleError` is raised.
Larger is preferred everywhere; a pair labelled +1 prefers its first item.
"""

import contextlib
import itertools
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
from scipy.optimize import linprog
from scipy.spatial.distance import cdist
from sklearn.isotonic import isotonic_regression

RELIABLE = 1e-7  # a tenth of the agreement that is asked of the estimators
TOLERANCES = (1e-14, 1e-12, 1e-10)  # tried in turn: Clarabel may fail where it is asked for too much


class UnreliableOracleError(ArithmeticError):
    """The oracle's own bounds do not meet: it may not judge anyone."""


class InfeasibleError(ValueError):
    """The hard margin does not exist."""


# Kernels ------------------------------------------------------------------------------------------


def gram(kernel, A, B, X):
    """Kernel values between A and B; `X` are the training items, for the scale of the RBF."""
    if kernel == "linear":
        return A @ B.T
    if kernel == "poly":
        return (A @ B.T + 1.0) ** 2
    return np.exp(-cdist(A, B, "sqeuclidean") / (X.shape[1] * X.var()))


def features(kernel, X):
    """Return features of the items, whose products are the kernel, and the function that gives those of
    new rows.
    """
    if kernel == "linear":
        return X, lambda Z: Z
    lam, U = np.linalg.eigh(gram(kernel, X, X, X))
    keep = lam > 1e-12 * lam[-1]
    lift = U[:, keep] / np.sqrt(lam[keep])
    return U[:, keep] * np.sqrt(lam[keep]), lambda Z: gram(kernel, Z, X, X) @ lift


# Rows of the papers -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """sum of signs[i] * r(x_i) + level * b >= margin - slack[task], slack of cost C * weight."""

    signs: dict
    level: float = 0.0
    margin: float = 1.0
    weight: float = 1.0
    task: int | None = None


def _ones(n, weight):
    return np.ones(n) if weight is None else np.asarray(weight, dtype=float)


def classification_rows(y, weight=None):
    """Yu & Kim (24): y_i (w x_i + b) >= 1 - xi_i, y in {-1, +1}."""
    return [Row({i: yi}, yi, 1.0, c) for i, (yi, c) in enumerate(zip(y, _ones(len(y), weight), strict=True))]


def regression_rows(y, epsilon, weight=None):
    """Yu & Kim (61)-(62): y_i - w x_i - b <= eps + xi_i and w x_i + b - y_i <= eps + xi^_i."""
    c = _ones(len(y), weight)
    above = [Row({i: 1.0}, 1.0, yi - epsilon, c[i]) for i, yi in enumerate(y)]
    return above + [Row({i: -1.0}, -1.0, -yi - epsilon, c[i]) for i, yi in enumerate(y)]


def ranking_rows(y, qid=None, weight=None):
    """Yu & Kim (85), Herbrich et al. (9): w x_i >= w x_j + 1 - xi_ij where x_i is preferred, in a query."""
    c, q = _ones(len(y), weight), np.zeros(len(y)) if qid is None else qid
    n = range(len(y))
    return [Row({i: 1.0, j: -1.0}, weight=c[i] * c[j]) for i in n for j in n if q[i] == q[j] and y[i] > y[j]]


def comparison_rows(index, y, weight=None, class_weight=None):
    """Venuto et al. (8) and (15): beta + s >= 1 - xi where significant; -(beta + s), -(beta - s) >= 1 -
    xi on ties.
    """
    c = _ones(len(y), weight) * [1.0 if class_weight is None else class_weight[k] for k in y]
    rows = []
    for (i, j), k, ck in zip(index, y, c, strict=True):
        if k:
            rows.append(Row({i: k, j: -k}, 1.0, 1.0, ck))
        else:
            rows += [Row({i: 1, j: -1}, -1.0, 1.0, ck), Row({i: -1, j: 1}, -1.0, 1.0, ck)]
    return rows


def balanced_class_weight(y):
    """scikit-learn's n / (2 count) over the sides of the flipped problem (8), where a tie counts twice."""
    significant, ties = np.count_nonzero(y), 2 * np.count_nonzero(y == 0)
    side = {True: (significant + ties) / (2 * significant), False: (significant + ties) / (2 * ties)}
    return {k: side[k != 0] for k in (-1, 0, 1)}


def inequality_rows(index, y, weight=None):
    """Venuto et al. (3), `rank`: the significant pairs only."""
    c = _ones(len(y), weight)
    return [Row({i: k, j: -k}, weight=ck) for (i, j), k, ck in zip(index, y, c, strict=True) if k]


def both_ways_rows(index, y, weight=None):
    """Venuto et al. section 4, `rank2`: 2n rows, an inequality twice, a tie once in each direction."""
    c = _ones(len(y), weight)
    rows = []
    for (i, j), k, ck in zip(index, y, c, strict=True):
        rows += [Row({i: s, j: -s}, weight=ck) for s in ((k, k) if k else (1, -1))]
    return rows


def choice_rows(y, qid, weight=None, *, slack="task"):
    """Pelckmans & Suykens (6): the chosen row beats every other of its set by 1 - e, one e per task (or
    per pair).
    """
    c, rows, tasks = _ones(len(y), weight), [], 0
    for q in dict.fromkeys(qid):
        members = [i for i in range(len(y)) if qid[i] == q]
        top = max(y[i] for i in members)
        rest = [i for i in members if y[i] < top]
        for r in members:
            if y[r] == top and rest:
                one = {"task": tasks} if slack == "task" else {}
                rows += [Row({r: 1, i: -1}, weight=c[r] if one else c[r] * c[i], **one) for i in rest]
                tasks += 1
    return rows


# The rows as arrays -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Arrays:
    D: np.ndarray  # (m, n) signs
    e: np.ndarray  # (m,) level
    m: np.ndarray  # (m,) margins
    S: np.ndarray  # (m, n_slacks), 1 where the row has that slack
    c: np.ndarray  # (n_slacks,) weights


def _arrays(rows, n):
    D = np.zeros((len(rows), n))
    for k, row in enumerate(rows):
        for i, sign in row.signs.items():
            D[k, i] += sign
    names = [("row", k) if row.task is None else ("task", row.task) for k, row in enumerate(rows)]
    slacks = {name: t for t, name in enumerate(dict.fromkeys(names))}
    S = np.zeros((len(rows), len(slacks)))
    c = np.zeros(len(slacks))
    for k, (row, name) in enumerate(zip(rows, names, strict=True)):
        S[k, slacks[name]] = 1.0
        c[slacks[name]] = row.weight
    e, m = (np.array([getattr(row, name) for row in rows], dtype=float) for name in ("level", "margin"))
    return _Arrays(D, e, m, S, c)


def risk(rows, u, b=0.0, loss="hinge"):
    """Weighted sum of the slacks (or of their squares) of utilities u and bias b, straight from the rows."""
    worst = {}
    for k, row in enumerate(rows):
        short = row.margin - row.level * b - sum(sign * u[i] for i, sign in row.signs.items())
        name = ("row", k) if row.task is None else ("task", row.task)
        worst[name] = (row.weight, max(short, 0.0, worst.get(name, (0.0, 0.0))[1]))
    return sum(c * (xi if loss == "hinge" else xi**2) for c, xi in worst.values())


def worst_slack(rows, u, b=0.0):
    """Largest violation of a hard margin."""
    return max(row.margin - row.level * b - sum(sign * u[i] for i, sign in row.signs.items()) for row in rows)


def best_level(rows, u, loss="hinge", *, hard=False):
    """Return the lowest and the highest bias that is optimal for utilities u, by looking at every
    breakpoint.
    """
    a = _arrays(rows, len(u))
    if not a.e.any():
        return 0.0, 0.0
    t, c = (a.m - a.D @ u) / a.e, a.S @ a.c  # a row costs below t if its level is > 0, above if < 0
    up = a.e > 0
    if hard or not np.any(t[up].max(initial=-np.inf) > t[~up].min(initial=np.inf)):
        return t[up].max(initial=-np.inf), t[~up].min(initial=np.inf)
    points = np.sort(t)
    if loss == "hinge":
        fall = np.array([c[up & (t > s)].sum() - c[~up & (t <= s)].sum() for s in points])  # just right of s
        rise = np.array([c[~up & (t < s)].sum() - c[up & (t >= s)].sum() for s in points])  # just left of s
        noise = 1e-9 * c.sum()
        return points[fall <= noise].min(), points[rise <= noise].max()

    def slope(s):
        return c[~up] @ np.maximum(0, s - t[~up]) - c[up] @ np.maximum(0, t[up] - s)

    k = np.searchsorted([slope(s) for s in points], 0.0)  # the root lies between points k - 1 and k
    on = (up & (t >= points[k])) | (~up & (t <= points[k - 1]))
    root = (c[on] @ t[on]) / c[on].sum()
    return root, root


# 2-norm machines ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Optimum:
    """What the estimators must reach."""

    objective: float
    lower: float
    utility: Callable  # of new rows
    u: np.ndarray  # utilities of the items
    level: tuple = (0.0, 0.0)  # optimal interval of the bias
    norm: float = 0.0  # ||w||

    @property
    def gap(self):
        """Relative distance of the two bounds; 0 where both are 0."""
        return (self.objective - self.lower) / self.objective if self.objective else 0.0


def _solve(problem, tol):
    """Run Clarabel; its status is not believed, except that it found nothing at all."""
    with warnings.catch_warnings(), contextlib.suppress(cp.SolverError):
        warnings.simplefilter("ignore")
        tolerances = {"tol_gap_abs": tol, "tol_gap_rel": tol, "tol_feas": tol, "tol_ktratio": 1e-10}
        problem.solve(solver=cp.CLARABEL, max_iter=500, **tolerances)
    return problem.status


def two_norm(rows, X, *, C, kernel="linear", loss="hinge"):
    """Minimise 1/2 w'w + C sum c xi (or c xi^2) over w, b, xi >= 0; no xi where C is infinite."""
    Phi, lift = features(kernel, X)
    a = _arrays(rows, len(X))
    B = a.D @ Phi
    upper, lower, w, level = _solved(a, rows, Phi, C, loss)
    reach = a.c.sum() * (B**2).sum(1).max()  # C * reach << 1: no utility comes near a margin
    if C * reach < (1e-3 if loss == "hinge" else 1e-5):
        w = _extrapolated(a, rows, Phi, C, loss=loss, reach=reach)
        upper, level = _primal_point(rows, Phi, w, C, loss)
    found = Optimum(upper, lower, lambda Z: lift(Z) @ w, Phi @ w, level, np.linalg.norm(w))
    if not found.gap <= RELIABLE:
        raise UnreliableOracleError(f"{upper} and {lower} differ by {found.gap:.1e} (C={C}, {kernel}, {loss})")
    return found


def _extrapolated(a, rows, Phi, C, *, loss, reach):
    """Weights at a C so small that 1/2 ||w||^2 drowns in the rounding of the slacks.

    There w(C) / C is constant (hinge) or a power series in C (squared): solved at two larger C and continued.
    """
    limit = 1e-8 if loss == "hinge" else 1e-3
    for start in np.array([1.0, 1e-1, 1e-2, 1e-3] if loss == "hinge" else [1e-4]) / reach:
        more, less = (_solved(a, rows, Phi, c, loss)[2] / c for c in (start, start / 10))
        zero = 1e-12 * np.sqrt(a.c.sum() * reach)  # of what w / C can be at most
        if np.linalg.norm(more - less) <= limit * np.linalg.norm(less) + zero:
            return C * (less + (less - more) * (start / 10 - C) / (start * 0.9))
    raise UnreliableOracleError(f"w / C still moves at C={start:.1e} ({loss})")


def _solved(a, rows, Phi, C, loss):
    """Best value, best bound, weights and interval of the bias that Clarabel and the polish can find."""
    B = a.D @ Phi
    best, statuses = (np.inf, -np.inf, None, None), []
    for tol, heavy in itertools.product(TOLERANCES, (False, True)):
        status, points = _clarabel(a, B, C, loss, tol=tol, heavy=heavy)
        statuses.append(status)
        for w, multipliers in points:
            lower, alpha = _dual_bound(a, B, C, loss, multipliers)
            for v in (w, B.T @ alpha):
                upper, level = _primal_point(rows, Phi, v, C, loss)
                best = (upper, best[1], v, level) if upper < best[0] else best
            best = (best[0], max(best[1], lower), *best[2:])
        if np.isfinite(best[0]) and best[0] - best[1] <= 1e-12 * best[0]:
            break
    if best[2] is None:
        raise InfeasibleError(f"Clarabel says {sorted(set(statuses))}")
    return best


def _clarabel(a, B, C, loss, *, tol, heavy):
    """Solve the primal in CVXPY; return the status and the points (w, alpha) that came out, raw and
    polished.
    """
    hard = np.isinf(C)
    scale = np.sqrt((B**2).sum(1).max())  # one number for all rows: the same problem in other units
    C_ = C * scale**2
    w, b, xi = cp.Variable(B.shape[1]), cp.Variable(), cp.Variable(a.c.size)
    left = (B / scale) @ w + (a.e * b if a.e.any() else 0.0)
    margins = left >= (a.m if hard else a.m - a.S @ xi)
    cost = 0.0 if hard else C_ * (a.c @ (xi if loss == "hinge" else cp.square(xi)))
    unit = 1.0 if hard or not heavy else C_
    positive = [xi >= 0] if loss == "hinge" and not hard else []
    problem = cp.Problem(cp.Minimize((0.5 * cp.sum_squares(w) + cost) / unit), [margins, *positive])
    status = _solve(problem, tol)
    if margins.dual_value is None or w.value is None:
        return status, []
    raw = w.value, margins.dual_value * unit
    polished = _polish(a, B / scale, C_, loss, (*raw, b.value if a.e.any() else 0.0, xi.value))
    return status, [(v / scale, alpha / scale**2) for v, alpha in (raw, polished)]


def _polish(a, B, C, loss, point):
    """Guess which rows hold with equality and which slacks are in use; solve the equations that remain."""
    (w, alpha, b, xi), hard = point, np.isinf(C)
    slack = B @ w + a.e * b - a.m + (0.0 if hard else a.S @ xi)
    active = alpha / alpha.max() > slack
    A, e, S, m = B[active], a.e[active, None], a.S[active], a.m[active]
    free = np.zeros(a.c.size, dtype=bool)
    if not hard:
        total = a.S.T @ alpha
        free = (1 - total / (C * a.c) < xi) if loss == "hinge" else total > 0
    S = S[:, free]
    k, f, q = len(m), int(free.sum()), w.size
    M = np.zeros((q + 1 + f + k, q + 1 + f + k))  # unknowns w, b, xi, alpha
    M[:q, :q] = np.eye(q)
    if loss != "hinge":
        M[q + 1 : q + 1 + f, q + 1 : q + 1 + f] = np.diag(2 * C * a.c[free])
    G = np.hstack([A, e, S])
    M[: q + 1 + f, q + 1 + f :], M[q + 1 + f :, : q + 1 + f] = -G.T, G
    right = np.concatenate([np.zeros(q + 1), -C * a.c[free] if loss == "hinge" and f else np.zeros(f), m])
    scaling = 1 / np.sqrt(np.maximum(np.abs(M).max(1), 1e-300))
    solution = scaling * np.linalg.lstsq(scaling[:, None] * M * scaling, scaling * right, rcond=1e-13)[0]
    full = np.zeros(len(a.m))
    full[active] = solution[q + 1 + f :]
    return solution[:q], full


def _primal_point(rows, Phi, w, C, loss):
    """Value, interval of the bias and weights of a feasible point near w."""
    u = Phi @ w
    if not np.isinf(C):
        level = best_level(rows, u, loss)
        return 0.5 * w @ w + C * risk(rows, u, _middle(level), loss), level
    level = best_level(rows, u, hard=True)
    short = worst_slack(rows, u, _middle(level))
    if short > 1e-7:
        return np.inf, level
    stretch = 1.0 if short < 0 or any(row.margin <= 0 for row in rows) else 1 - short  # until the margins hold
    return 0.5 * (w @ w) / stretch**2, level


def _middle(level):
    lo, hi = level
    return 0.5 * (lo + hi) if np.isfinite(lo + hi) else (hi if np.isinf(lo) else lo)


def _dual_bound(a, B, C, loss, alpha):
    """Make alpha feasible (box or task sum, balance of the bias) and return the dual's value there."""
    box = np.inf if np.isinf(C) or loss != "hinge" else C
    alpha = np.maximum(alpha, 0.0)
    total = a.S.T @ alpha
    over = np.divide(total, box * a.c, out=np.ones_like(total), where=total > box * a.c)
    alpha = alpha / (a.S @ over)
    if a.e.any():
        plus, minus = alpha[a.e > 0].sum(), alpha[a.e < 0].sum()
        heavy = a.e * (plus - minus) > 0
        alpha = np.where(heavy, alpha * min(plus, minus) / max(plus, minus, 1e-300), alpha)
    w, total = B.T @ alpha, a.S.T @ alpha
    square = 0.5 * w @ w + (0.0 if np.isinf(C) or loss == "hinge" else np.sum(total**2 / a.c) / (4 * C))
    linear = a.m @ alpha
    if np.isinf(box) and square > 0:  # no upper bound on alpha: stretch to the best multiple
        t = max(linear / (2 * square), 0.0)
        alpha, linear, square = t * alpha, t * linear, t**2 * square
    return linear - square, alpha


def two_norm_dual(rows, K, *, C, loss="hinge"):
    """Maximise m'a - 1/2 a'Qa [- sum (S'a)^2 / 4Cc], Q the four-term kernel of the rows; return (value,
    D'a).
    """
    a = _arrays(rows, len(K))
    Q = a.D @ K @ a.D.T  # for two pairs: K(i,u) - K(i,v) - K(j,u) + K(j,v)
    if not np.isinf(C) and loss != "hinge":
        Q = Q + a.S @ np.diag(1 / (2 * C * a.c)) @ a.S.T
    unit = 1 / np.diag(Q).max() if np.isinf(C) or loss != "hinge" else min(C, 1 / np.diag(Q).max())
    alpha = cp.Variable(len(rows))  # in units of `unit`
    limits = [alpha >= 0]
    if not np.isinf(C) and loss == "hinge":
        limits.append(a.S.T @ alpha <= C / unit * a.c)
    if a.e.any():
        limits.append(a.e @ alpha == 0)
    value = a.m @ alpha - 0.5 * unit * cp.quad_form(alpha, cp.psd_wrap(Q))
    _solve(cp.Problem(cp.Maximize(value), limits), 1e-10)
    if alpha.value is None:
        raise UnreliableOracleError("the dual was not solved")
    return float(value.value) * unit, a.D.T @ alpha.value * unit


# 1-norm machines ----------------------------------------------------------------------------------


def one_norm(rows, K, *, C, vectors="points", positive=False):
    """Yu & Kim (102)-(104); vectors="pairs": (94)-(96) with the four-term kernel. Minimise sum |alpha| +
    C sum c xi.
    """
    a = _arrays(rows, len(K))
    G = a.D @ K if vectors == "points" else a.D @ K @ a.D.T
    kappa, hard = np.abs(G).max(), np.isinf(C)
    unit = 1.0 if hard else min(1.0, C * kappa)  # HiGHS sees alpha * kappa, and no cost below 1
    M = np.hstack(([G] if positive else [G, -G]) + ([] if hard else [kappa * np.eye(len(rows))])) / kappa
    k = len(G.T) * (1 if positive else 2)
    cost = np.concatenate([np.ones(k), [] if hard else C * kappa * a.c]) / unit
    found = _linprog(cost, M, a.m)
    x = np.maximum(found.x[:k], 0.0) / kappa
    alpha = x if positive else x[: k // 2] - x[k // 2 :]
    y = -found.ineqlin.marginals * unit / kappa
    points = [(alpha, y), _vertex(a, G, C, alpha, y)]
    upper, alpha = min((_one_norm_point(a, G, C, v) for v, _ in points), key=lambda point: point[0])
    lower = max(_one_norm_bound(a, G, C, v, positive) for _, v in points)
    coef = alpha if vectors == "points" else a.D.T @ alpha
    best = Optimum(upper, lower, lambda K_new: K_new @ coef, K @ coef)
    if not best.gap <= RELIABLE:
        raise UnreliableOracleError(f"{upper} and {lower} differ by {best.gap:.1e} (C={C}, {vectors}, {positive})")
    return best


def _one_norm_point(a, G, C, alpha):
    """Value and coefficients of a feasible point near alpha."""
    short = (a.m - G @ alpha).max()
    if np.isinf(C) or short < 1e-9:  # stretch until the margins hold: rounding times a large C is not rounding
        alpha = alpha / (1 - max(short, 0.0))
    loss = 0.0 if np.isinf(C) else C * (a.c @ np.maximum(a.m - G @ alpha, 0.0))
    return np.abs(alpha).sum() + loss, alpha


def _one_norm_bound(a, G, C, y, positive):
    """Dual value of a feasible point near y: 0 <= y <= Cc, G'y <= 1 (and >= -1 where signs are free)."""
    y = np.clip(y, 0.0, C * a.c)
    price = G.T @ y
    return a.m @ y / max(1.0, price.max() if positive else np.abs(price).max())


def _vertex(a, G, C, alpha, y):
    """Solve for the coefficients in use and the multipliers of the rows on the margin that HiGHS has chosen."""
    used, room = np.abs(alpha) > 1e-9 * np.abs(alpha).max(initial=1e-300), a.m - G @ alpha
    on = np.abs(room) < 1e-8
    y = np.where(on, y, np.where(room > 0, C * a.c, 0.0)) if not np.isinf(C) else np.where(on, y, 0.0)
    face = G[np.ix_(on, used)]
    alpha, miss = np.where(used, alpha, 0.0), np.sign(alpha[used]) - G[:, used].T @ y
    if face.size:
        alpha[used] += np.linalg.lstsq(face, a.m[on] - face @ alpha[used], rcond=None)[0]
        y[on] += np.linalg.lstsq(face.T, miss, rcond=None)[0]
    return alpha, y


def _linprog(cost, M, m):
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(cost, A_ub=-M, b_ub=-m, bounds=(0, None), method="highs-ds", options=options)
    if found.status == 2:
        raise InfeasibleError(found.message)
    if found.x is None:
        raise UnreliableOracleError(found.message)
    return found


def pair_norm(coef, rows, *, positive=False):
    """Least sum |alpha| over pair coefficients with D'alpha = coef: the pairs machine's norm, seen from
    the items.
    """
    D = _arrays(rows, len(coef)).D.T
    scale = np.abs(coef).max(initial=0.0)
    if scale == 0:
        return 0.0
    A = D if positive else np.hstack([D, -D])
    found = linprog(np.ones(A.shape[1]), A_eq=A, b_eq=coef / scale, bounds=(0, None), method="highs-ds")
    if found.x is None:
        raise InfeasibleError(found.message)
    return scale * found.fun


# What SVMcompare adds -----------------------------------------------------------------------------


def comparison_lp(items, index, y):
    """Venuto et al. (7): the largest mu, and its w, with mu <= 1 - |w d| on ties and mu <= y w d - 1 on
    the others.
    """
    w, mu = cp.Variable(items.shape[1]), cp.Variable()
    d = items[index[:, 0]] - items[index[:, 1]]
    tie = y == 0
    limits = [mu >= 0, mu <= 1 - cp.abs(d[tie] @ w), mu <= cp.multiply(y[~tie], d[~tie] @ w) - 1]
    status = _solve(cp.Problem(cp.Maximize(mu), limits), 1e-12)
    if status not in {cp.OPTIMAL, cp.OPTIMAL_INACCURATE}:
        raise InfeasibleError(status)
    return float(mu.value), w.value


def comparison_errors(s, y, tau, weight=None):
    """Zero-one loss of t_tau(s) (4): a tie is predicted iff |s| <= tau."""
    predicted = np.where(np.abs(s) <= tau, 0, np.sign(s))
    return _ones(len(y), weight)[predicted != y].sum()


def best_taus(s, y, weight=None):
    """Venuto et al. (6): all intervals [lo, hi) of tau >= 0 with the fewest errors, by trying each."""
    cuts = np.unique(np.concatenate([[0.0], np.abs(s)]))
    errors = np.array([comparison_errors(s, y, tau, weight) for tau in cuts])
    best = np.isclose(errors, errors.min(), rtol=0, atol=1e-9)
    ends = np.append(cuts[1:], np.inf)
    intervals = []
    for lo, hi, good in zip(cuts, ends, best, strict=True):
        if good and intervals and intervals[-1][1] == lo:
            intervals[-1] = (intervals[-1][0], hi)
        elif good:
            intervals.append((lo, hi))
    return intervals


# Thresholds of ordinal regression -----------------------------------------------------------------


def closest_pair_midpoints(u, y, lower, upper):
    """Herbrich et al. (12): midpoints of the pairs of two adjacent ranks in Theta(k), at the smallest
    difference.
    """
    differences = {(i, j): u[i] - u[j] for i in np.flatnonzero(y == upper) for j in np.flatnonzero(y == lower)}
    theta = {pair: d for pair, d in differences.items() if d >= 1 - 1e-6}
    least = min(theta.values(), default=None)
    return [(u[i] + u[j]) / 2 for (i, j), d in theta.items() if d <= least + 1e-6]


def fewest_errors_cuts(u, y, upper):
    """All intervals [lo, hi) of the cut between ranks below `upper` and the others with the fewest 0-1
    errors. Utilities that are equal but for rounding are equal.
    """
    u = _without_rounding(u)
    ends = np.concatenate([[-np.inf], np.unique(u), [np.inf]])
    errors = [np.sum((u <= lo) & (y >= upper)) + np.sum((u > lo) & (y < upper)) for lo in ends[:-1]]
    return [(ends[k], ends[k + 1]) for k in np.flatnonzero(np.array(errors) == min(errors))]


def _without_rounding(u):
    """Utilities, each the lowest of those that follow each other within 1e-9 of the largest."""
    v, which = np.unique(u, return_inverse=True)
    begins = np.diff(v, prepend=-np.inf) > 1e-9 * np.abs(v).max()
    return v[begins][np.cumsum(begins) - 1][which]


def raw_thresholds(u, y, how="closest_pair"):
    """One cut per pair of adjacent ranks, not pooled: (12) where Theta(k) has members, else the fewest
    errors.
    """
    ranks, cuts = np.unique(y), []
    for lower, upper in itertools.pairwise(ranks):
        middle = closest_pair_midpoints(u, y, lower, upper) if how == "closest_pair" else []
        lo, hi = (min(middle), max(middle)) if middle else fewest_errors_cuts(u, y, upper)[0]
        cuts.append((lo + hi) / 2)
    return np.array(cuts)


def pooled(cuts):
    """The nearest monotone sequence, by pooling adjacent violators."""
    return isotonic_regression(cuts)
