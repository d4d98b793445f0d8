"""The generators: labels follow the utility that is returned, shares are what was asked, seeds decide all."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from widemargin import datasets
from widemargin.datasets import (
    make_choices,
    make_comparisons,
    make_graded_queries,
    make_ordinal,
    make_ranking,
    make_xor,
)

RANDOM = [make_choices, make_comparisons, make_graded_queries, make_ordinal, make_ranking]
NOISY = [make_choices, make_comparisons, make_graded_queries, make_ordinal]


def discordant_pairs(y, u):
    """Return how many pairs y and u order in opposite ways."""
    return int(np.sum(np.sign(y[:, None] - y) * np.sign(u[:, None] - u) < 0)) // 2


def test_every_generator_is_tested_here():
    """A new generator joins the lists above, or this fails."""
    assert sorted(f.__name__ for f in [*RANDOM, make_xor]) == [n for n in datasets.__all__ if n.startswith("make_")]


@pytest.mark.parametrize("make", RANDOM)
def test_seed_decides_the_data(make):
    """The same seed gives the same arrays, another seed does not, and no global state is touched."""
    np.random.seed(3)
    before = np.random.get_state()[1].copy()
    a, b, c = (
        make(30, random_state=5),
        make(30, random_state=np.random.RandomState(5)),
        make(30, random_state=6),
    )
    for key in ("X", "y", "utility"):
        assert_array_equal(a[key], b[key])
    assert not np.array_equal(a.X, c.X)
    assert_array_equal(np.random.get_state()[1], before)


@pytest.mark.parametrize("make", NOISY)
@pytest.mark.parametrize("noise", [-1.0, np.nan, np.inf])
def test_bad_noise_is_refused(make, noise):
    """Noise is a finite number, not below zero."""
    with pytest.raises(ValueError, match="noise must be a finite number"):
        make(10, noise=noise)


@pytest.mark.parametrize("make", NOISY)
def test_noise_changes_labels_only(make):
    """Noise moves some labels, never the features or the true utility."""
    keep = {"tie_share": None} if make is make_comparisons else {}
    clean, noisy = make(200, noise=0.0, random_state=0, **keep), make(200, noise=1.0, random_state=0, **keep)
    assert_array_equal(clean.X, noisy.X)
    assert_array_equal(clean.utility, noisy.utility)
    assert 0 < np.sum(clean.y != noisy.y) < clean.y.size


def test_graded_queries_follow_the_utility_within_queries_only():
    """Without noise no query has a discordant pair; between queries there are many."""
    data = make_graded_queries(12, docs_per_query=(3, 25), noise=0.0, random_state=0)
    assert_allclose(data.utility, data.X @ data.coef)
    assert_allclose(np.linalg.norm(data.coef), 1.0)
    for q in np.unique(data.qid):
        assert discordant_pairs(data.y[data.qid == q], data.utility[data.qid == q]) == 0
    assert discordant_pairs(data.y, data.utility) > 100


def test_graded_queries_have_the_asked_sizes_and_grades():
    """Sizes lie in the range, all of it is used, and grades are equally frequent in a query."""
    sizes = np.bincount(make_graded_queries(200, docs_per_query=(3, 6), random_state=0).qid)
    assert (sizes.min(), sizes.max(), sizes.size) == (3, 6, 200)
    data = make_graded_queries(4, docs_per_query=12, n_features=3, n_grades=4, random_state=0)
    assert data.X.shape == (48, 3)
    for q in range(4):
        assert_array_equal(np.bincount(data.y[data.qid == q]), [3, 3, 3, 3])


def test_noise_of_graded_queries_makes_mistakes_possible():
    """With noise some pairs of a query are discordant, yet fewer than half."""
    data = make_graded_queries(1, docs_per_query=100, noise=0.5, random_state=0)
    assert 0 < discordant_pairs(data.y, data.utility) < 0.25 * 100 * 99 / 2


def test_ordinal_defaults_are_the_papers_task():
    """(13) and (14) without noise: label i iff the utility lies between thresholds i - 1 and i."""
    data = make_ordinal(500, noise=0.0, random_state=0)
    assert_allclose(data.utility, 10.0 * (data.X[:, 0] - 0.5) * (data.X[:, 1] - 0.5))
    edges = np.array([-np.inf, -1.0, -0.1, 0.25, 1.0, np.inf])
    assert np.all(edges[data.y - 1] < data.utility)
    assert np.all(data.utility <= edges[data.y])
    assert set(data.y) == {1, 2, 3, 4, 5}
    assert data.X.min() >= 0.0
    assert data.X.max() <= 1.0


def test_ordinal_threshold_belongs_to_the_lower_label():
    """A utility that is exactly on a cut gets the label below it."""
    data = make_ordinal(50, noise=0.0, random_state=0)
    on_the_cut = make_ordinal(50, thresholds=[np.sort(data.utility)[9]], noise=0.0, random_state=0)
    assert np.sum(on_the_cut.y == 1) == 10


def test_ordinal_noise_is_variance_or_standard_deviation():
    """A variance of 0.25 is a standard deviation of 0.5; the two readings of one number differ."""
    as_std = make_ordinal(400, noise=0.5, noise_is="std", random_state=0)
    assert_array_equal(make_ordinal(400, noise=0.25, random_state=0).y, as_std.y)
    assert np.any(make_ordinal(400, noise=0.5, random_state=0).y != as_std.y)


def test_noise_has_the_stated_variance():
    """The share of labels above one cut is what a normal distribution of that variance gives."""
    data = make_ordinal(20_000, thresholds=[0.0], noise=0.125, random_state=0)
    near = np.abs(data.utility - 0.35) < 0.02
    assert_allclose(np.mean(data.y[near] == 2), 0.839, atol=0.03)  # Phi(0.35 / sqrt(0.125))


def test_ordinal_labels_by_number_are_equally_frequent():
    """A number of labels cuts at quantiles; the linear utility is X @ coef up to a constant."""
    data = make_ordinal(90, utility="linear", n_features=4, thresholds=3, noise=0.0, random_state=0)
    assert_array_equal(np.bincount(data.y)[1:], [30, 30, 30])
    assert_allclose(np.ptp(data.utility - data.X @ data.coef), 0.0, atol=1e-12)
    assert discordant_pairs(data.y, data.utility) == 0


@pytest.mark.parametrize("norm", [1, 2, np.inf])
def test_comparisons_follow_the_squared_norm(norm):
    """Without noise +1 says that the first is larger by more than 1, 0 that they differ by at most 1."""
    data = make_comparisons(300, norm=norm, noise=0.0, random_state=0)
    size = {
        1: np.abs(data.X).sum(axis=2),
        2: np.hypot(*np.moveaxis(data.X, 2, 0)),
        np.inf: np.abs(data.X).max(2),
    }
    difference = np.square(size[norm]) @ [1.0, -1.0]
    assert_allclose(np.square(size[norm]), data.utility)
    assert_array_equal(data.y, np.where(np.abs(difference) <= data.tie_width, 0, np.sign(difference)))
    assert np.abs(data.X).max() <= 3.0


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_comparisons_have_the_asked_share_of_ties(share):
    """The share is exact and the ties are not all at one end."""
    data = make_comparisons(200, tie_share=share, random_state=0)
    assert data.X.shape == (200, 2, 2)
    assert np.sum(data.y == 0) == round(200 * share)
    assert abs(np.mean(data.y[:100] == 0) - share) < 0.1


def test_comparisons_come_as_they_are_without_a_share():
    """A natural sample has few ties, and both signs are equally frequent."""
    y = make_comparisons(4000, tie_share=None, random_state=0).y
    assert 0.10 < np.mean(y == 0) < 0.18
    assert abs(np.mean(y)) < 0.04


def test_a_share_that_cannot_be_had_is_refused():
    """Where ties never happen the search for them ends with advice."""
    with pytest.raises(ValueError, match="tie_share=None"):
        make_comparisons(5, noise=1e12, tie_share=1.0, random_state=0)
    with pytest.raises(ValueError, match="tie_share is a share"):
        make_comparisons(5, tie_share=1.5)


def test_choices_take_the_best_product_shown():
    """Without noise the chosen row of a set has its largest utility, and a set shows no product twice."""
    data = make_choices(60, n_shown=7, n_products=20, n_features=3, random_state=0)
    assert_allclose(data.X, data.customers[data.qid] * data.products[data.product])
    assert_allclose(data.utility, data.X @ data.coef)
    shown = data.product.reshape(60, 7)
    assert all(len(set(row)) == 7 for row in shown.tolist())
    assert_array_equal(data.y.reshape(60, 7).argmax(1), data.utility.reshape(60, 7).argmax(1))
    assert_array_equal(data.y.reshape(60, 7).sum(1), 1)
    assert len(set(data.product)) == 20


def test_noisy_customers_sometimes_choose_another_product():
    """With noise the best product is missed at times, yet taken more often than by chance."""
    data = make_choices(500, n_shown=5, noise=1.0, random_state=0)
    best = data.utility.reshape(500, 5).argmax(1) == data.y.reshape(500, 5).argmax(1)
    assert 0.4 < best.mean() < 0.95


def test_new_customers_visit_the_same_warehouse():
    """A second call with the warehouse keeps products and utility and draws other customers."""
    train = make_choices(10, n_products=8, n_shown=3, random_state=0)
    test = make_choices(10, n_shown=8, warehouse=train, random_state=1)
    assert_array_equal(train.products, test.products)
    assert_array_equal(train.coef, test.coef)
    assert not np.array_equal(train.customers, test.customers)
    assert_array_equal(np.sort(test.product.reshape(10, 8), axis=1), np.tile(np.arange(8), (10, 1)))
    with pytest.raises(ValueError, match="n_shown=9 of 8 products"):
        make_choices(10, n_shown=9, warehouse=train)


@pytest.mark.parametrize("weights", ["uniform", "normal"])
@pytest.mark.parametrize("utility", ["linear", "rbf"])
def test_ranking_is_the_order_of_the_utility(utility, weights):
    """Places are a permutation of 1..n in the order of F, whose w is returned."""
    data = make_ranking(80, utility=utility, weights=weights, random_state=0)
    assert_array_equal(np.sort(data.y), np.arange(1, 81))
    assert discordant_pairs(data.y, data.utility) == 0
    direct = data.X @ data.coef if utility == "linear" else -np.linalg.norm(data.X - data.coef, axis=1)
    assert discordant_pairs(data.y, direct) == 0
    assert np.all(data.coef >= 0) == (weights == "uniform")


@pytest.mark.parametrize("n_swaps", [1, 10, 49])
def test_each_swap_makes_one_discordant_pair(n_swaps):
    """So many swaps, so many discordant pairs; n - 1 is the most."""
    data = make_ranking(50, n_swaps=n_swaps, random_state=0)
    assert discordant_pairs(data.y, data.utility) == n_swaps


def test_too_many_swaps_are_refused():
    """There are n - 1 places to swap."""
    with pytest.raises(ValueError, match="n_swaps=50"):
        make_ranking(50, n_swaps=50)


def test_xor_solution_satisfies_the_optimality_conditions():
    """The function sum alpha y k(x, .) has margin 1 everywhere, and primal = dual = 1/4."""
    data = make_xor()
    K = (1.0 + data.X @ data.X.T) ** 2
    signed = data.alpha * data.y
    assert_allclose(K @ signed + data.intercept, data.utility)
    assert_allclose(data.y * data.utility, 1.0)
    assert_allclose(signed.sum(), 0.0)
    assert_allclose(0.5 * signed @ K @ signed, data.objective)
    assert_allclose(data.alpha.sum() - 0.5 * signed @ K @ signed, data.objective)


@pytest.mark.parametrize(
    ("make", "parameter", "value"),
    [
        (make_ordinal, "utility", "cubic"),
        (make_ordinal, "noise_is", "sd"),
        (make_comparisons, "norm", 3),
        (make_ranking, "utility", "poly"),
        (make_ranking, "weights", "ones"),
    ],
)
def test_unknown_words_are_refused(make, parameter, value):
    """The message names the parameter, what was got and what is allowed."""
    with pytest.raises(ValueError, match=f"{parameter}={value!r} is unknown; choose one of"):
        make(10, **{parameter: value})


def test_impossible_ordinal_tasks_are_refused():
    """One feature has no product, and thresholds increase."""
    with pytest.raises(ValueError, match="n_features >= 2"):
        make_ordinal(10, n_features=1)
    with pytest.raises(ValueError, match="thresholds must increase"):
        make_ordinal(10, thresholds=[1.0, 0.0])
