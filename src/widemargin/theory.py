"""The papers' guarantees as functions: what is printed, and where that is wrong, what is right.

000 is Herbrich, Graepel and Obermayer on ordinal regression; 003 is Pelckmans and Suykens on choosing the
best element of a set. In 003 a set has m elements and a task shows n of them, drawn uniformly; R(f) is the
risk of missing the best of all m, R^n(f) that of missing the best of n. Names that end in `_printed` keep a
formula that does not hold.
"""

import math
import warnings
from numbers import Integral, Real


def ordinal_bound(n_pairs, fat_dimension, *, delta=0.05, training_error=0.0):
    """Return the bound on the preference risk of 000, Theorem 2, as printed.

    With probability 1 - delta, R_pref <= 2/t * (k log2(8 e t / k) log2(32 t) + log2(8 t / delta)).

    Read it as a statement about margins rather than as a number: it supposes zero training error and k <= et,
    it counts t pairs of far fewer objects as if they were independent, and for samples of ordinary size
    it exceeds 1.

    Parameters
    ----------
    n_pairs : int
        t, the number of training pairs of different rank.
    fat_dimension : int
        k = afat(margin / 8): a bound on the fat-shattering dimension of the utilities at an eighth of the
        smallest |U(x1) - U(x2)| over those pairs.
    delta : float, default=0.05
        Probability with which the bound may fail.
    training_error : float, default=0.0
        Share of training pairs that are not in the right order.

    Returns
    -------
    float
        What the formula gives, be it a bound or not.

    Warns
    -----
    UserWarning
        If a condition of the theorem fails, or the bound is vacuous (1 or more).
    """
    t = _integer(n_pairs, "n_pairs", 1)
    k = _integer(fat_dimension, "fat_dimension", 0)
    complexity = k * math.log2(8 * math.e * t / k) * math.log2(32 * t) if k else 0.0  # its limit as k -> 0
    value = 2 / t * (complexity + math.log2(8 * t) - math.log2(_fraction(delta, "delta")))
    if training_error != 0:
        _warn(f"training_error={training_error:g}, but it assumes 0; it says nothing about this model")
    if k > math.e * t:
        _warn(f"fat_dimension={k} exceeds e * n_pairs = {math.e * t:g}; widen the margin or take more pairs")
    if value >= 1:
        _warn(f"the bound {value:.3g} is vacuous, since no risk exceeds 1; take more pairs")
    return value


def reduction_factor_printed(m, n, *, delta=0.05):
    """Return n_S of 003 (12), ln((m - 1)^2 / (m^2 - n^2)) - ln(delta), infinite for n = m.

    The lemma claims R(f) <= n_S R^n(f). It does not hold: (14) solves q^n_S <= delta for the exponent by
    adding logarithms where it should divide them, and counting sets until a pair turns up does not bound
    one risk by the other. An f that swaps the two best elements of every set has R = 1, while for m = 100
    and n = 2 the claim is R <= 0.0006. Use `reduction_factor`.

    Parameters
    ----------
    m, n : int
        Size of the set and of the subsets, 2 <= n <= m.
    delta : float, default=0.05
        Probability with which the claim may fail.

    Returns
    -------
    float
        The printed factor, not rounded up to a natural number; it can be negative.
    """
    m, n = _sizes(m, n)
    rest = m * m - n * n
    return (math.log((m - 1) ** 2 / rest) if rest else math.inf) - math.log(_fraction(delta, "delta"))


def reduction_factor(m, n):
    """Return m(m - 1) / (n(n - 1)), the factor with which R(f) <= factor * R^n(f): 003 Lemma 1, corrected.

    If f puts j above the best element r of the whole set, it errs on every subset that holds both, and a
    subset holds both with probability n(n - 1) / (m(m - 1)). No delta is needed. The factor cannot be
    smaller: an f that only swaps the two best elements attains it.

    Parameters
    ----------
    m, n : int
        Size of the set and of the subsets, 2 <= n <= m.

    Returns
    -------
    float
        The factor, 1 for n = m.
    """
    m, n = _sizes(m, n)
    return m * (m - 1) / (n * (n - 1))


def full_ranking_factor_printed(m, *, delta=0.05):
    """Return n'_S of 003 (16), ln(m(m - 1) / (m(m - 1) - 2)) - ln(delta), infinite for m = 2.

    The corollary claims Pr(some pair in the wrong order) <= n'_S R^2(f). It fails as (12) does: one swapped
    pair makes the left side 1 and R^2 = 2 / (m(m - 1)). Use `full_ranking_factor`.

    Parameters
    ----------
    m : int
        Size of the set, at least 2.
    delta : float, default=0.05
        Probability with which the claim may fail.

    Returns
    -------
    float
        The printed factor, not rounded up to a natural number.
    """
    m, _ = _sizes(m, 2)
    rest = m * (m - 1) - 2
    return (math.log((rest + 2) / rest) if rest else math.inf) - math.log(_fraction(delta, "delta"))


def full_ranking_factor(m):
    """Return m(m - 1) / 2, where Pr(some pair in the wrong order) <= factor * R^2(f): 003 (16), corrected.

    A wrong ranking has at least one wrong pair, and a random pair is that one with probability
    2 / (m(m - 1)). One swap of neighbours attains it.

    Parameters
    ----------
    m : int
        Size of the set, at least 2.

    Returns
    -------
    float
        The factor.
    """
    return reduction_factor(m, 2)


def sample_size_full_sets(n_hypotheses, epsilon, *, delta=0.05):
    """Return (ln|H| + ln(1/delta)) / epsilon, the number of tasks of 003 (18), which is right as printed.

    With so many tasks that show the whole set, an f of a finite class that makes no error on them has R(f) <=
    epsilon with probability 1 - delta.

    Parameters
    ----------
    n_hypotheses : int
        |H|, the number of functions to choose from.
    epsilon, delta : float
        Risk to be reached, and the probability of missing it.

    Returns
    -------
    float
        Number of tasks, not rounded up.
    """
    size = math.log(_integer(n_hypotheses, "n_hypotheses", 1)) - math.log(_fraction(delta, "delta"))
    return size / _fraction(epsilon, "epsilon")


def sample_size_subsets_printed(n_hypotheses, epsilon, m, n, *, delta=0.05):
    """Return (ln|H| - ln(delta/2)) ln(delta/2) / (epsilon ln(1 - n/m)), the number of tasks of 003 (19).

    It tends to 0 as n -> m, as if whole sets needed no data, though the text says that it becomes (18); it
    rests on (12), in yet another form. Use `sample_size_subsets`.

    Parameters
    ----------
    n_hypotheses, epsilon, delta
        As in `sample_size_full_sets`.
    m, n : int
        Size of the set and of the subsets, 2 <= n <= m.

    Returns
    -------
    float
        The printed number of tasks, 0 for n = m.
    """
    m, n = _sizes(m, n)
    log_half = math.log(_fraction(delta, "delta") / 2)
    tasks = (math.log(_integer(n_hypotheses, "n_hypotheses", 1)) - log_half) / _fraction(epsilon, "epsilon")
    return tasks * log_half / math.log1p(-n / m) if n < m else 0.0


def sample_size_subsets(n_hypotheses, epsilon, m, n, *, delta=0.05):
    """Return the number of tasks on n of m elements after which R(f) <= epsilon: 003 (19), corrected.

    L >= m(m - 1) / (n(n - 1)) * (ln|H| + ln(1/delta)) / epsilon: (18) for the risk epsilon /
    `reduction_factor` on subsets. For n = m it is (18).

    Parameters
    ----------
    n_hypotheses, epsilon, delta
        As in `sample_size_full_sets`.
    m, n : int
        Size of the set and of the subsets, 2 <= n <= m.

    Returns
    -------
    float
        Number of tasks, not rounded up.
    """
    return reduction_factor(m, n) * sample_size_full_sets(n_hypotheses, epsilon, delta=delta)


def _integer(value, name, least):
    """Return `value` if it is an integer of at least `least`."""
    if not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name}={value!r}, expected an integer of at least {least}.")
    return int(value)


def _sizes(m, n):
    """Return the sizes of set and subset if 2 <= n <= m."""
    if _integer(n, "n", 2) > _integer(m, "m", 2):
        raise ValueError(f"n={n} exceeds m={m}, expected subsets of at most the whole set; swap m and n?")
    return int(m), int(n)


def _fraction(value, name):
    """Return `value` if it is a number strictly between 0 and 1."""
    if not isinstance(value, Real) or not 0 < value < 1:
        raise ValueError(f"{name}={value!r}, expected a number strictly between 0 and 1, such as 0.05.")
    return float(value)


def _warn(problem):
    """Warn the caller of `ordinal_bound`."""
    warnings.warn(f"000, Theorem 2: {problem}.", UserWarning, stacklevel=3)
