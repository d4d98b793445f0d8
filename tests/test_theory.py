import math
import warnings
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widemargin import theory


def risk_on_subsets(order, n):
    """Return R^n of one task by enumeration: f ranks 0..m-1 as `order` does, while 0 is truly the best."""
    subsets = list(combinations(range(len(order)), n))
    return sum(min(s) != max(s, key=order.__getitem__) for s in subsets) / len(subsets)


@st.composite
def sizes(draw):
    m = draw(st.integers(2, 40))
    return m, draw(st.integers(2, m))


def test_ordinal_bound_is_the_printed_formula():
    """The value is Theorem 2, term by term."""
    t, k, delta = 10**6, 7, 0.01
    want = 2 / t * (k * math.log2(8 * math.e * t / k) * math.log2(32 * t) + math.log2(8 * t / delta))
    assert theory.ordinal_bound(t, k, delta=delta) == pytest.approx(want, rel=1e-14)


def test_ordinal_bound_says_when_it_is_vacuous():
    """Ten pairs prove nothing: the bound exceeds 1, and is returned with a warning."""
    with pytest.warns(UserWarning, match="vacuous"):
        assert theory.ordinal_bound(10, 1) > 1


def test_ordinal_bound_says_when_k_is_too_large():
    """The theorem supposes k <= e t."""
    with pytest.warns(UserWarning, match="exceeds e \\* n_pairs"), pytest.warns(UserWarning, match="vacuous"):
        theory.ordinal_bound(10, 28)


def test_ordinal_bound_says_when_training_errors_forbid_it():
    """The theorem supposes that every training pair is right."""
    with pytest.warns(UserWarning, match="training_error=0.1"):
        theory.ordinal_bound(10**8, 3, training_error=0.1)


def test_ordinal_bound_is_silent_when_all_is_well_and_falls_with_data():
    """Many pairs and a small dimension satisfy all conditions, and more pairs help."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = [theory.ordinal_bound(10**p, 3) for p in (5, 6, 7, 8)]
    assert values == sorted(values, reverse=True)
    assert theory.ordinal_bound(10**6, 0) == pytest.approx(2e-6 * math.log2(8e6 / 0.05))


@pytest.mark.parametrize("m", [3, 4, 5, 6])
def test_corrected_reduction_holds_for_every_ranking_and_is_tight(m):
    """R <= m(m-1)/(n(n-1)) R^n for all m! rankings and all n; equality where the two best are swapped."""
    for n in range(2, m + 1):
        factor = theory.reduction_factor(m, n)
        bounds = {order: factor * risk_on_subsets(order, n) for order in permutations(range(m))}
        wrong = {order: bound for order, bound in bounds.items() if max(order) != order[0]}
        assert min(wrong.values()) == pytest.approx(1.0)
        swapped = (m - 2, m - 1, *range(m - 3, -1, -1))
        assert wrong[swapped] == pytest.approx(1.0)


def test_printed_reduction_has_a_counterexample():
    """With the two best of 100 swapped, R = 1 while (12) promises R <= 0.0006; the corrected bound is 1."""
    m, n = 100, 2
    risk = risk_on_subsets((98, 99, *range(97, -1, -1)), n)
    assert risk == pytest.approx(2 / (m * (m - 1)))
    assert theory.reduction_factor_printed(m, n, delta=0.05) * risk == pytest.approx(6.01e-4, rel=1e-2)
    assert theory.reduction_factor(m, n) * risk == pytest.approx(1.0)


def test_printed_reduction_is_the_printed_formula():
    """(12) as it stands; with n = m its logarithm diverges."""
    want = math.log(9**2 / (10**2 - 4**2)) - math.log(0.1)
    assert theory.reduction_factor_printed(10, 4, delta=0.1) == pytest.approx(want)
    assert theory.reduction_factor_printed(10, 10) == math.inf


@pytest.mark.parametrize("m", [3, 4, 5])
def test_corrected_full_ranking_holds_for_every_ranking_and_is_tight(m):
    """Any wrong pair means m(m-1)/2 R^2 >= 1, with equality for one swap of neighbours."""
    right = tuple(range(m - 1, -1, -1))
    risks = [risk_on_subsets(order, 2) for order in permutations(range(m)) if order != right]
    assert theory.full_ranking_factor(m) * min(risks) == pytest.approx(1.0)


def test_printed_full_ranking_has_a_counterexample():
    """One swap among 100 makes the ranking wrong for sure; (16) says at most 0.0006."""
    m = 100
    factor = theory.full_ranking_factor_printed(m, delta=0.05)
    assert factor == pytest.approx(math.log(9900 / 9898) - math.log(0.05))
    assert factor * 2 / (m * (m - 1)) < 1e-3
    assert theory.full_ranking_factor_printed(2) == math.inf


def test_full_sets_need_the_classical_number_of_tasks():
    """(18): (ln|H| + ln(1/delta)) / epsilon, for |H| of any size."""
    assert theory.sample_size_full_sets(100, 0.1, delta=0.05) == pytest.approx(math.log(2000) / 0.1)
    huge = theory.sample_size_full_sets(10**400, 0.5)
    assert huge == pytest.approx((400 * math.log(10) + math.log(20)) / 0.5)


@given(sizes(), st.integers(1, 10**6), st.floats(0.01, 0.5), st.floats(0.001, 0.5))
def test_corrected_subsets_reduce_to_full_sets(size, n_hypotheses, epsilon, delta):
    """(19) corrected is (18) times the reduction factor: equal to it for n = m."""
    m, n = size
    full = theory.sample_size_full_sets(n_hypotheses, epsilon, delta=delta)
    assert theory.sample_size_subsets(n_hypotheses, epsilon, m, m, delta=delta) == pytest.approx(full)
    need = theory.sample_size_subsets(n_hypotheses, epsilon, m, n, delta=delta)
    assert need == pytest.approx(full * m * (m - 1) / (n * (n - 1)))


def test_printed_subsets_vanish_for_whole_sets():
    """(19) as printed goes to 0 as n -> m, where the truth is (18)."""
    shown = (10**5, 9 * 10**5, 10**6 - 1, 10**6)
    printed = [theory.sample_size_subsets_printed(100, 0.1, 10**6, n) for n in shown]
    assert printed == sorted(printed, reverse=True)
    assert printed[-1] == 0.0
    want = (math.log(100) - math.log(0.025)) * math.log(0.025) / (0.1 * math.log(1 - 0.1))
    assert printed[0] == pytest.approx(want)
    assert printed[2] < theory.sample_size_full_sets(100, 0.1)


def test_only_the_corrected_number_of_tasks_unmasks_a_bad_function():
    """A function of risk epsilon may survive with probability delta / |H| at most: (19) is too small."""
    n_hypotheses, epsilon, delta, m, n = 50, 0.2, 0.05, 1000, 999
    risk = epsilon / theory.reduction_factor(m, n)  # the two best swapped, in a share epsilon of the tasks
    printed = theory.sample_size_subsets_printed(n_hypotheses, epsilon, m, n, delta=delta)
    corrected = theory.sample_size_subsets(n_hypotheses, epsilon, m, n, delta=delta)
    assert (1 - risk) ** math.ceil(corrected) <= delta / n_hypotheses
    assert (1 - risk) ** math.ceil(printed) > 5 * delta / n_hypotheses


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: theory.ordinal_bound(0, 1), "n_pairs=0"),
        (lambda: theory.ordinal_bound(10, -1), "fat_dimension=-1"),
        (lambda: theory.ordinal_bound(10, 1, delta=0), "delta=0"),
        (lambda: theory.reduction_factor(2, 3), "n=3 exceeds m=2"),
        (lambda: theory.reduction_factor(2.5, 2), "m=2.5"),
        (lambda: theory.full_ranking_factor(1), "n=2 exceeds m=1|m=1"),
        (lambda: theory.sample_size_full_sets(0, 0.1), "n_hypotheses=0"),
        (lambda: theory.sample_size_subsets(10, 1.5, 5, 2), "epsilon=1.5"),
        (lambda: theory.sample_size_subsets_printed(10, 0.1, 5, 1), "n=1"),
    ],
)
def test_impossible_parameters_are_named(call, match):
    """Errors say which parameter, what was got and what was expected."""
    with pytest.raises(ValueError, match=match):
        call()
