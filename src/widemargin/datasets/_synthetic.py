"""Generators of preference data. Each returns the utility that made the labels.

Larger is preferred, everywhere, also where a paper counts ranks from the best
or prints the sign the other way.
"""

import numpy as np
from sklearn.utils import Bunch, check_random_state

PAPER_THRESHOLDS = (-1.0, -0.1, 0.25, 1.0)


def make_graded_queries(n_queries=20, *, docs_per_query=20, n_features=10, n_grades=5, noise=0.3, random_state=None):
    """Make queries whose documents carry relevance grades.

    A document's utility is linear in its features; its grade is where utility + noise falls among the
    documents of the same query, cut into `n_grades` parts of (nearly) equal size. The documents of a query
    lie around a point of the query's own, so grades of different queries cannot be compared: `qid` matters.

    Parameters
    ----------
    n_queries : int, default=20
        Number of queries.
    docs_per_query : int or (int, int), default=20
        Number of documents of each query, or the smallest and the largest number, drawn uniformly.
    n_features : int, default=10
        Number of features.
    n_grades : int, default=5
        Grades are 0, ..., n_grades - 1. A query with fewer documents than grades leaves some out.
    noise : float, default=0.3
        Standard deviation of the noise, where the utility has standard deviation 1 within a query.
    random_state : int, RandomState instance or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    data : :class:`sklearn.utils.Bunch`
        `X` (n, n_features), `y` (n,) grades, `qid` (n,), `utility` (n,) without noise and
        `coef` (n_features,), of length 1, with utility = X @ coef.

    Examples
    --------
    >>> from widemargin.datasets import make_graded_queries
    >>> data = make_graded_queries(3, docs_per_query=(5, 9), n_features=4, random_state=0)
    >>> data.X.shape[1], len(set(data.qid))
    (4, 3)
    """
    _check_noise(noise)
    rng = check_random_state(random_state)
    low, high = np.broadcast_to(docs_per_query, 2)
    sizes = rng.randint(low, high + 1, size=n_queries)
    qid = np.repeat(np.arange(n_queries), sizes)
    coef = _unit_vector(rng, n_features)
    X = rng.standard_normal((n_queries, n_features))[qid] + rng.standard_normal((qid.size, n_features))
    utility = X @ coef
    y = _grades_within(utility + noise * rng.standard_normal(qid.size), qid, n_grades)
    return Bunch(X=X, y=y, qid=qid, utility=utility, coef=coef)


def make_ordinal(
    n_samples=1000,
    *,
    utility="product",
    n_features=2,
    thresholds=None,
    noise=0.125,
    noise_is="variance",
    random_state=None,
):
    """Make ordered labels 1, ..., k by cutting a noisy utility at thresholds.

    Features are uniform on [0, 1]. The defaults are the task of [1]_, section 4.1, equations (13) and (14):
    U(x) = 10 (x1 - 0.5)(x2 - 0.5), labels 1 to 5, thresholds -1, -0.1, 0.25 and 1.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    utility : {"product", "linear"}, default="product"
        "product" is (14); features after the second do not matter. "linear" is a random direction
        of length 10.
    n_features : int, default=2
        Number of features; "product" needs two.
    thresholds : None, int or array-like, default=None
        Increasing cuts; or a number of labels, cut at the quantiles of the noiseless utilities so that they
        are about equally frequent. None: the cuts of (13) for "product", 5 for "linear".
    noise : float, default=0.125
        Size of the Gaussian noise that is added to the utility.
    noise_is : {"variance", "std"}, default="variance"
        What `noise` measures. The paper prints N(0, 0.125) and does not say; only the variance gives its
        curves.
    random_state : int, RandomState instance or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    data : :class:`sklearn.utils.Bunch`
        `X` (n, n_features), `y` (n,) integers, `utility` (n,) without noise, `thresholds` (k - 1,), and
        `coef` (n_features,), or None for "product". Label k means that
        thresholds[k - 2] < utility + noise <= thresholds[k - 1].

    References
    ----------
    .. [1] R. Herbrich, T. Graepel, K. Obermayer. "Support vector learning for ordinal regression", 1999.

    Examples
    --------
    >>> from widemargin.datasets import make_ordinal
    >>> data = make_ordinal(200, random_state=0)
    >>> sorted(set(data.y.tolist()))
    [1, 2, 3, 4, 5]
    """
    _check_choice("utility", utility, ("product", "linear"))
    _check_choice("noise_is", noise_is, ("variance", "std"))
    if utility == "product" and n_features < 2:
        raise ValueError(f'utility="product" needs n_features >= 2, got {n_features}; use utility="linear".')
    _check_noise(noise)
    rng = check_random_state(random_state)
    X = rng.random_sample((n_samples, n_features))
    coef = 10.0 * _unit_vector(rng, n_features) if utility == "linear" else None
    u = 10.0 * (X[:, 0] - 0.5) * (X[:, 1] - 0.5) if coef is None else (X - 0.5) @ coef
    cuts = _cuts(thresholds, u, PAPER_THRESHOLDS if coef is None else 5)
    std = np.sqrt(noise) if noise_is == "variance" else noise
    y = 1 + np.searchsorted(cuts, u + std * rng.standard_normal(n_samples), side="left")
    return Bunch(X=X, y=y, utility=u, thresholds=cuts, coef=coef)


def make_comparisons(n_pairs=100, *, norm=2, tie_share=0.5, noise=0.25, random_state=None):
    """Make pairs of points with "better", "worse" or "no difference": the simulation of [1]_, section 4.1.

    Points are uniform on the square [-3, 3]^2 and their utility is r(x) = ||x||^2 in the given norm. A pair
    is tied when |r(first) - r(second) + noise| <= 1. In the paper +1 says that the *second* point is better;
    here +1 says that the first one is.

    Parameters
    ----------
    n_pairs : int, default=100
        Number of pairs.
    norm : {1, 2, numpy.inf}, default=2
        Whose square is the utility.
    tie_share : float or None, default=0.5
        Share of tied pairs (the paper's rho): pairs are drawn until there are round(tie_share * n_pairs)
        ties and as many other pairs as are missing. None takes pairs as they come. A forced share
        changes how frequent ties are; the true utility with a tie width of 1 is then no longer the best
        possible rule.
    noise : float, default=0.25
        Standard deviation of the noise.
    random_state : int, RandomState instance or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    data : :class:`sklearn.utils.Bunch`
        `X` (n_pairs, 2, 2), `y` (n_pairs,) in {1, 0, -1}, `utility` (n_pairs, 2) without noise
        and `tie_width`, which is 1.

    References
    ----------
    .. [1] D. Venuto, T. D. Hocking, S. Spanurattana, M. Sugiyama. "Support vector comparison machines".

    Examples
    --------
    >>> from widemargin.datasets import make_comparisons
    >>> data = make_comparisons(40, tie_share=0.25, random_state=0)
    >>> data.X.shape, int((data.y == 0).sum())
    ((40, 2, 2), 10)
    """
    _check_choice("norm", norm, (1, 2, np.inf))
    if tie_share is not None and not 0.0 <= tie_share <= 1.0:
        raise ValueError(f"tie_share is a share of the pairs, so it lies in [0, 1] or is None; got {tie_share}.")
    _check_noise(noise)
    rng = check_random_state(random_state)
    X, y = _draw_pairs(rng, n_pairs, norm, noise)
    if tie_share is not None:
        n_ties = round(tie_share * n_pairs)
        X, y = _with_ties(X, y, n_ties, n_pairs - n_ties, lambda: _draw_pairs(rng, n_pairs + 100, norm, noise))
        mixed = rng.permutation(n_pairs)  # the rarer kind was drawn last
        X, y = X[mixed], y[mixed]
    return Bunch(X=X, y=y, utility=_squared_norm(X, norm), tie_width=1.0)


def make_choices(
    n_customers=100,
    *,
    n_shown=10,
    n_products=100,
    n_features=10,
    noise=0.0,
    warehouse=None,
    random_state=None,
):
    """Make choices from sets: the artificial warehouse of [1]_, section 4.

    Every customer sees `n_shown` products, drawn without replacement, and takes the one with the largest
    utility. The features of a row are the elementwise product of the customer's and the product's features,
    so one linear utility orders every customer's products and, without noise, makes no mistake. Features
    that depend on the customer alone would cancel in every comparison.

    Parameters
    ----------
    n_customers : int, default=100
        Number of customers, which is the number of sets.
    n_shown : int, default=10
        Products that a customer sees; the paper takes 2, 10 and 50.
    n_products : int, default=100
        Products in the warehouse. Ignored when `warehouse` is given.
    n_features : int, default=10
        Features of a customer, and of a product. Ignored when `warehouse` is given.
    noise : float, default=0.0
        Standard deviation of the noise that is added to the utilities before the choice; the utilities
        themselves have a standard deviation of about 1.5.
    warehouse : Bunch or None, default=None
        Result of an earlier call, whose `products` and `coef` serve again: new customers, same warehouse.
    random_state : int, RandomState instance or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    data : :class:`sklearn.utils.Bunch`
        Long format, one row per customer and product shown: `X` (n, n_features), `y` (n,) 1 for the
        chosen row and 0 for the others, `qid` (n,) the customer, `product` (n,) which product it is,
        `utility` (n,) = X @ coef without noise; `coef` (n_features,), of length 1;
        `products` (n_products, n_features), `customers` (n_customers, n_features).

    References
    ----------
    .. [1] K. Pelckmans, J. A. K. Suykens. "TopRanking: predicting the most relevant element of a set".

    Examples
    --------
    >>> from widemargin.datasets import make_choices
    >>> train = make_choices(50, n_shown=2, random_state=0)
    >>> test = make_choices(20, n_shown=100, warehouse=train, random_state=1)
    >>> train.X.shape, test.X.shape, int(test.y.sum())
    ((100, 10), (2000, 10), 20)
    """
    _check_noise(noise)
    rng = check_random_state(random_state)
    if warehouse is None:
        warehouse = Bunch(products=rng.standard_normal((n_products, n_features)), coef=_unit_vector(rng, n_features))
    products, coef = warehouse.products, warehouse.coef
    if not 1 <= n_shown <= len(products):
        raise ValueError(f"n_shown={n_shown} of {len(products)} products cannot be shown; give 1 to {len(products)}.")
    customers = _mixture_of_gaussians(rng, n_customers, coef.size)
    product = rng.random_sample((n_customers, len(products))).argsort(axis=1, kind="stable")[:, :n_shown].ravel()
    qid = np.repeat(np.arange(n_customers), n_shown)
    X = customers[qid] * products[product]
    utility = X @ coef
    felt = (utility + noise * rng.standard_normal(utility.size)).reshape(n_customers, n_shown)
    y = (np.arange(n_shown) == felt.argmax(axis=1)[:, None]).ravel().astype(np.int64)
    return Bunch(X=X, y=y, qid=qid, product=product, utility=utility, coef=coef, products=products, customers=customers)


def make_ranking(n_samples=200, *, n_features=5, utility="linear", weights="uniform", n_swaps=0, random_state=None):
    """Make one global order of points: the synthetic data of [1]_, section 5.3.1.

    Features are uniform on [0, 1]. The order follows F(x) = <w, x> or F(x) = exp(-||w - x||^2) for a random
    w. (The paper prints the square outside the exponential: both readings give the same order.)

    Parameters
    ----------
    n_samples : int, default=200
        Number of points.
    n_features : int, default=5
        Number of features.
    utility : {"linear", "rbf"}, default="linear"
        Which F orders the points.
    weights : {"uniform", "normal"} or array-like of shape (n_features,), default="uniform"
        How w is drawn, which the paper does not say: uniform on [0, 1] like the points, or standard normal.
        A linear ranking vector machine with non-negative coefficients can express the first kind only.
        Or w itself, for more points of the same F.
    n_swaps : int, default=0
        Noise: so many places of the order, drawn without replacement, are each exchanged with the next one,
        from the worst place to the best. Each exchange makes exactly one pair discordant.
    random_state : int, RandomState instance or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    data : :class:`sklearn.utils.Bunch`
        `X` (n, n_features), `y` (n,) the places 1, ..., n with n the best (in the paper 1 is the best),
        `utility` (n,) and `coef` (n_features,), the vector w. Any subset of the rows keeps its order.

    References
    ----------
    .. [1] H. Yu, S. Kim. "SVM tutorial: classification, regression and ranking", 2012.

    Examples
    --------
    >>> from widemargin.datasets import make_ranking
    >>> data = make_ranking(6, random_state=0)
    >>> bool((data.y.argsort() == data.utility.argsort()).all())
    True
    """
    _check_choice("utility", utility, ("linear", "rbf"))
    if isinstance(weights, str):
        _check_choice("weights", weights, ("uniform", "normal"))
    elif np.shape(weights) != (n_features,):
        raise ValueError(f"weights has shape {np.shape(weights)}; expected {(n_features,)}, or 'uniform' or 'normal'.")
    if not 0 <= n_swaps < max(n_samples, 1):
        raise ValueError(f"n_swaps={n_swaps} needs n_samples > n_swaps >= 0, got n_samples={n_samples}.")
    rng = check_random_state(random_state)
    X = rng.random_sample((n_samples, n_features))
    w = _ranking_weights(rng, weights, n_features)
    u = X @ w if utility == "linear" else np.exp(-np.square(X - w).sum(axis=1))
    order = np.argsort(u, kind="stable")
    for k in np.sort(rng.permutation(max(n_samples - 1, 0))[:n_swaps]):
        order[[k, k + 1]] = order[[k + 1, k]]
    y = np.empty(n_samples, dtype=np.int64)
    y[order] = np.arange(1, n_samples + 1)
    return Bunch(X=X, y=y, utility=u, coef=w)


def _ranking_weights(rng, weights, n_features):
    """Return w, drawn or given."""
    if not isinstance(weights, str):
        return np.array(weights, dtype=float)
    return rng.random_sample(n_features) if weights == "uniform" else rng.standard_normal(n_features)


def make_xor():
    """Return the XOR problem of [1]_, Table 1, with its solution in closed form.

    With the kernel (1 + <x, z>)^2 and a hard margin all four points are support vectors: alpha = 1/8,
    objective 1/4, bias 0, and the decision function is -x1 x2.

    Returns
    -------
    data : :class:`sklearn.utils.Bunch`
        `X` (4, 2), `y` (4,) in {-1, 1}, `utility` (4,) = -x1 x2, `alpha` (4,), `objective`, `intercept`, and
        `kernel`, the parameters of the kernel in scikit-learn's words.

    References
    ----------
    .. [1] H. Yu, S. Kim. "SVM tutorial: classification, regression and ranking", 2012, section 2.3.1.

    Examples
    --------
    >>> from widemargin.datasets import make_xor
    >>> make_xor().y
    array([-1,  1,  1, -1])
    """
    X = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    return Bunch(
        X=X,
        y=np.array([-1, 1, 1, -1]),
        utility=-X[:, 0] * X[:, 1],
        alpha=np.full(4, 1 / 8),
        objective=0.25,
        intercept=0.0,
        kernel={"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0},
    )


def _check_choice(name, got, allowed):
    """Refuse a value that is not among the allowed ones."""
    if got not in allowed:
        raise ValueError(f"{name}={got!r} is unknown; choose one of {', '.join(map(repr, allowed))}.")


def _check_noise(noise):
    """Refuse a noise that is negative or not a finite number."""
    if not (np.isfinite(noise) and noise >= 0.0):
        raise ValueError(f"noise must be a finite number >= 0, got {noise!r}; 0 makes data without noise.")


def _unit_vector(rng, n_features):
    """Return a random direction."""
    v = rng.standard_normal(n_features)
    return v / np.linalg.norm(v)


def _grades_within(score, qid, n_grades):
    """Return the part, of n_grades, in which each row falls among the rows of its query; qid is sorted."""
    order = np.lexsort((score, qid))
    sizes = np.bincount(qid)
    place = np.arange(qid.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    grades = np.empty(qid.size, dtype=np.int64)
    grades[order] = place * n_grades // np.repeat(sizes, sizes)
    return grades


def _cuts(thresholds, utility, default):
    """Return increasing cuts: those given, or quantiles of the utilities for a number of labels."""
    thresholds = default if thresholds is None else thresholds
    if np.ndim(thresholds) == 0:
        return np.quantile(utility, np.arange(1, thresholds) / thresholds)
    cuts = np.asarray(thresholds, dtype=float)
    if np.any(np.diff(cuts) <= 0.0):
        raise ValueError(f"thresholds must increase, got {cuts.tolist()}; sort them and drop repeated ones.")
    return cuts


def _squared_norm(X, norm):
    """Return ||x||^2 over the last axis."""
    return np.square(np.linalg.norm(X, ord=norm, axis=-1))


def _draw_pairs(rng, n_pairs, norm, noise):
    """Return n_pairs pairs of points of the square and their noisy labels, +1 = first preferred."""
    X = rng.uniform(-3.0, 3.0, size=(n_pairs, 2, 2))
    r = _squared_norm(X, norm)
    difference = r[:, 0] - r[:, 1] + noise * rng.standard_normal(n_pairs)
    return X, np.where(np.abs(difference) <= 1.0, 0, np.sign(difference)).astype(np.int64)


def _with_ties(X, y, n_ties, n_others, draw):
    """Return n_ties ties and n_others other pairs: of those given, then of those that `draw()` adds."""
    for _ in range(1000):
        ties, others = np.flatnonzero(y == 0)[:n_ties], np.flatnonzero(y != 0)[:n_others]
        X, y = X[np.append(ties, others)], y[np.append(ties, others)]
        if y.size == n_ties + n_others:
            return X, y
        more_X, more_y = draw()
        X, y = np.concatenate([X, more_X]), np.concatenate([y, more_y])
    raise ValueError(
        f"found {ties.size} of {n_ties} ties and {others.size} of {n_others} other pairs in 1000 rounds; "
        "lower noise, or pass tie_share=None."
    )


def _mixture_of_gaussians(rng, n, n_features, n_centres=3):
    """Return points around a few random centres, spread 1 around centres of spread 1."""
    centres = rng.standard_normal((n_centres, n_features))
    return centres[rng.randint(n_centres, size=n)] + rng.standard_normal((n, n_features))
