import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from widemargin.metrics import concordance, concordance_scorer, ndcg_scorer
from widemargin.model_selection import ItemDisjointKFold, PairKFold, QueryKFold

SPLITTERS = (QueryKFold, PairKFold, ItemDisjointKFold)


class IndexedPairs:
    """The smallest thing that a splitter takes for Pairs."""

    def __init__(self, index):
        self.index = np.asarray(index)

    def __len__(self):
        return len(self.index)

    def __getitem__(self, rows):
        return IndexedPairs(self.index[rows])


class Slope(RegressorMixin, BaseEstimator):
    """A ranker that remembers its queries: utility = sign * first column."""

    def __init__(self, sign=1):
        self.sign = sign

    def fit(self, X, y, *, qid=None):  # noqa: ARG002
        """Keep the query ids."""
        self.n_queries_ = None if qid is None else len(set(qid))
        return self

    def predict(self, X):
        """Return the utility."""
        return self.sign * X[:, 0]

    def score(self, X, y, *, qid=None, sample_weight=None):
        """Return the share of concordant pairs."""
        return concordance(y, self.predict(X), qid=qid, sample_weight=sample_weight)


@st.composite
def many_pairs(draw):
    n_items, n_pairs = draw(st.integers(4, 12)), draw(st.integers(3, 40))
    pair = st.lists(st.integers(0, n_items - 1), min_size=2, max_size=2, unique=True)
    return np.array(draw(st.lists(pair, min_size=n_pairs, max_size=n_pairs)))


def unordered(index):
    return {tuple(sorted(pair)) for pair in index.tolist()}


@given(st.lists(st.sampled_from("abcdefg"), min_size=8, max_size=40), st.booleans(), st.integers(2, 4))
def test_queries_stay_whole_and_are_tested_once(qid, shuffle, n_splits):
    """No query is on both sides, test folds partition the rows, folds differ by one query at most."""
    ids, n = np.array(qid), len(qid)
    if len(set(qid)) < n_splits:
        with pytest.raises(ValueError, match=f"n_splits={n_splits}, expected at most {len(set(qid))}"):
            next(QueryKFold(n_splits).split(np.zeros((n, 1)), qid=qid))
        return
    splits = list(QueryKFold(n_splits, shuffle=shuffle, random_state=0).split(np.zeros((n, 1)), qid=qid))
    for train, test in splits:
        assert not set(ids[train]) & set(ids[test])
        np.testing.assert_array_equal(np.sort(np.append(train, test)), np.arange(n))
    sizes = [test.size for _, test in splits]
    assert sum(sizes) == n
    assert min(sizes) >= 1
    assert max(sizes) - min(sizes) <= max(qid.count(q) for q in qid)


def test_query_folds_do_not_depend_on_the_order_of_rows():
    """Without shuffle the fold of a query is fixed by its id and length, sorted rows or not."""
    rng = np.random.default_rng(0)
    ids = rng.choice(["x", "b", "q", "a", "k"], 50)
    p = rng.permutation(50)
    folds = [set(ids[test]) for _, test in QueryKFold(3).split(ids, qid=ids)]
    assert folds == [set(ids[p][test]) for _, test in QueryKFold(3).split(ids, qid=ids[p])]


def test_shuffle_follows_the_seed():
    """The same seed gives the same folds, other seeds others; lengths alone do not decide."""
    ids = np.repeat(np.arange(8), np.arange(1, 9))

    def folds(seed):
        splitter = QueryKFold(2, shuffle=True, random_state=seed)
        return tuple(tuple(test) for _, test in splitter.split(ids, qid=ids))

    assert folds(3) == folds(3)
    assert len({folds(seed) for seed in range(10)}) > 1


def test_query_ids_come_as_qid_or_as_groups():
    """Exactly one of them; sparse X and lists have a length, too."""
    ids, X = ["a", "b", "a"], np.zeros((3, 1))
    splitter = QueryKFold(2)
    want = [test.tolist() for _, test in splitter.split(X, qid=ids)]
    assert want == [test.tolist() for _, test in splitter.split(X, None, ids)]
    assert want == [test.tolist() for _, test in splitter.split(sparse.csr_array(X), qid=ids)]
    assert want == [test.tolist() for _, test in splitter.split(X.tolist(), qid=ids)]
    for options, got in (({}, "neither"), ({"qid": ids, "groups": ids}, "both")):
        with pytest.raises(ValueError, match=f"got {got} of qid and groups"):
            next(splitter.split(X, **options))
    with pytest.raises(ValueError, match="qid has shape"):
        next(splitter.split(X, qid=ids[:2]))


@given(many_pairs(), st.booleans())
def test_pairs_never_leak_their_mirror_images(index, shuffle):
    """(a, b), (b, a) and repeats share a fold; every pair is tested once."""
    splitter = PairKFold(2, shuffle=shuffle, random_state=1)
    if len(unordered(index)) < 2:
        return
    tested = []
    for train, test in splitter.split(IndexedPairs(index)):
        assert not unordered(index[train]) & unordered(index[test])
        assert train.size + test.size == len(index)
        tested += test.tolist()
    assert sorted(tested) == list(range(len(index)))


def test_a_plain_kfold_does_leak():
    """What PairKFold is for."""
    index = np.array([[0, 1], [2, 3], [1, 0], [3, 2]])
    train, test = next(KFold(2).split(index))
    assert unordered(index[train]) & unordered(index[test])


@given(many_pairs())
def test_pairs_and_arrays_split_alike(index):
    """In an array (n, 2, p) items are known by their features."""
    items = np.arange(index.max() + 1)[:, None] * [1.0, -2.0]
    for splitter in (PairKFold(2), ItemDisjointKFold(2, shuffle=True, random_state=0)):
        answers = []
        for X in (IndexedPairs(index), items[index], items[index].tolist()):
            try:
                answers.append([(a.tolist(), b.tolist()) for a, b in splitter.split(X)])
            except ValueError as error:
                answers.append(str(error))
        assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("shuffle", [False, True])
def test_test_items_are_never_trained_on(shuffle):
    """Items of test pairs occur in no training pair, and a pair is tested at most once."""
    index = np.random.default_rng(0).integers(0, 30, (400, 2))
    index = index[index[:, 0] != index[:, 1]]
    tested, splits = (
        [],
        list(ItemDisjointKFold(3, shuffle=shuffle, random_state=0).split(IndexedPairs(index))),
    )
    for train, test in splits:
        assert not set(index[train].ravel()) & set(index[test].ravel())
        straddle = np.isin(index, np.unique(index[test])).sum(axis=1) == 1
        assert not straddle[train].any()
        assert train.size > 0.3 * len(index)
        assert test.size > 0.05 * len(index)
        tested += test.tolist()
    assert len(tested) == len(set(tested))


def test_small_components_lose_no_pair():
    """Where items are compared in little islands, islands go into folds whole and every pair is tested."""
    index = np.array([[4 * k + i, 4 * k + j] for k in range(10) for i, j in ((0, 1), (1, 2), (3, 2))])
    splits = list(ItemDisjointKFold(5).split(IndexedPairs(index)))
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(len(index)))
    assert all(train.size + test.size == len(index) for train, test in splits)
    assert [test.size for _, test in splits] == [6] * 5


def test_a_star_cannot_be_split_by_items():
    """If every pair has the same item, no fold can both train and test: an error says so."""
    index = np.column_stack([np.zeros(9, int), np.arange(1, 10)])
    with pytest.raises(ValueError, match=r"training and \d+ test pairs, expected some of both"):
        list(ItemDisjointKFold(3).split(IndexedPairs(index)))


@pytest.mark.parametrize("splitter", [PairKFold, ItemDisjointKFold])
def test_things_that_are_not_pairs_are_refused(splitter):
    """A matrix has no pairs."""
    with pytest.raises(ValueError, match=r"X has shape \(6, 2\), expected Pairs"):
        next(splitter(2).split(np.zeros((6, 2))))


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_splitters_look_like_scikit_learns(splitter):
    """Number of splits, repr and refusal of a single split."""
    assert splitter(3).get_n_splits() == splitter(3).get_n_splits(None, None, None) == 3
    assert repr(splitter(3)) == f"{splitter.__name__}(n_splits=3, random_state=None, shuffle=False)"
    X = np.arange(12.0).reshape(3, 2, 2)
    options = {"qid": [1, 2, 3]} if splitter is QueryKFold else {}
    with pytest.raises(ValueError, match="n_splits == 1"):
        next(splitter(1).split(X, **options))


def search_data():
    rng = np.random.default_rng(0)
    qid = rng.choice(["u", "v", "w", "x", "y", "z"], 80)
    X = rng.normal(size=(80, 2))
    y = np.clip(np.round(X[:, 0] + 1.5 + 0.3 * rng.normal(size=80)), 0, 4)
    return X, y, qid


@pytest.mark.parametrize("scoring", [None, concordance_scorer, ndcg_scorer])
def test_qid_travels_through_pipeline_and_search(scoring):
    """Under metadata routing one `qid` reaches the splitter, fit and the scorer."""
    X, y, qid = search_data()
    with config_context(enable_metadata_routing=True):
        ranker = Slope().set_fit_request(qid=True).set_score_request(qid=True)
        pipe = make_pipeline(StandardScaler(), ranker)
        search = GridSearchCV(pipe, {"slope__sign": [-1, 1]}, cv=QueryKFold(3), scoring=scoring)
        search.fit(X, y, qid=qid)
    assert search.best_params_ == {"slope__sign": 1}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_[-1].n_queries_ == 6


def test_the_scorer_compares_within_the_queries_of_each_fold():
    """The scores of cross_validate are those of the metric on each test fold with its ids."""
    X, y, qid = search_data()
    with config_context(enable_metadata_routing=True):
        have = cross_validate(
            clone(Slope()).set_fit_request(qid=True),
            X,
            y,
            cv=QueryKFold(3),
            scoring={"c": concordance_scorer, "n": ndcg_scorer},
            params={"qid": qid},
        )
    folds = [test for _, test in QueryKFold(3).split(X, qid=qid)]
    want = [concordance(y[t], X[t, 0], qid=qid[t]) for t in folds]
    np.testing.assert_allclose(have["test_c"], want)
    assert not np.allclose(want, [concordance(y[t], X[t, 0]) for t in folds])


def test_with_routing_off_groups_split_by_query():
    """Positional groups reach the splitter; qid goes to fit as a fit parameter."""
    X, y, qid = search_data()
    search = GridSearchCV(Slope(), {"sign": [-1, 1]}, cv=QueryKFold(3), scoring=concordance_scorer)
    search.fit(X, y, groups=qid, qid=qid)
    assert search.best_params_ == {"sign": 1}
