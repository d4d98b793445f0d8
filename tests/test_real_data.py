"""The loaders: the counts that the sets are known for, and clear words where a file is missing or another one."""

import csv
import gzip
import hashlib

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from real_data import DATA_HOME, needs
from widemargin import datasets
from widemargin.datasets import _files
from widemargin.datasets._files import read_file

LETOR3 = ["query", "min", "null"]


@needs("sushi")
@pytest.mark.parametrize("break_ties", ["id", "random"])
def test_sushi_has_the_counts_of_the_paper(break_ties):
    """17,832 ties and 7,168 other pairs, whatever orders equal scores; each rating is in one pair."""
    data = datasets.fetch_sushi(break_ties=break_ties, random_state=0, data_home=DATA_HOME)
    assert data.X.shape == (25_000, 2, 14)
    assert np.sum(data.y == 0) == 17_832
    assert np.sum(data.y != 0) == 7_168
    used = data.person[:, None] * 100 + data.sushi
    assert np.unique(used).size == used.size == 50_000
    assert set(np.unique(data.score)) == {0, 1, 2, 3, 4}


@needs("sushi")
def test_sushi_pairs_are_those_derived_by_hand():
    """Pair by pair what a list made apart from this package says (there +1 means that the second is better)."""
    data = datasets.fetch_sushi(data_home=DATA_HOME)
    with (DATA_HOME / "sushi" / "derived_pairs_25000.csv").open() as lines:
        rows = np.array([[int(v) for v in row.values()] for row in csv.DictReader(lines)])
    assert_array_equal(np.column_stack([data.person, data.sushi, data.score, -data.y]), rows)


@needs("sushi")
def test_sushi_features_are_those_of_the_sushi_and_the_person():
    """Fatty tuna is dearer than cucumber roll, people are alike within a pair, and a random order moves the pairs."""
    data = datasets.fetch_sushi(data_home=DATA_HOME)
    assert_array_equal(data.X[:, 0, 7:], data.X[:, 1, 7:])
    price = {name: data.X[data.sushi == data.sushi_names.index(name)][0, 5] for name in ("toro", "kappa_maki")}
    assert price["toro"] > price["kappa_maki"]
    assert np.all((data.X[..., 10:] > 24) & (data.X[..., 10:] < 146))  # degrees, in Japan
    random = [datasets.fetch_sushi(break_ties="random", random_state=s, data_home=DATA_HOME).sushi for s in (0, 0, 1)]
    assert_array_equal(random[0], random[1])
    assert not np.array_equal(random[0], random[2])


def check_ohsumed(data, n_features):
    """Assert what is known of OHSUMED in LETOR."""
    assert data.X.shape == (16_140, n_features)
    assert np.unique(data.qid).size == 106
    assert_array_equal(np.bincount(data.y), [11_303, 2_585, 2_252])
    assert np.sum(data.qid == 1) == 138
    assert data.docid.size == 16_140


@needs("ohsumed_letor2")
def test_ohsumed_of_letor_2():
    """25 features; the first three queries have 138, 153 and 235 documents."""
    data = datasets.fetch_ohsumed(data_home=DATA_HOME)
    check_ohsumed(data, 25)
    assert [int(np.sum(data.qid == q)) for q in (1, 2, 3)] == [138, 153, 235]
    assert_allclose(data.X[0, :3], [3.0, 2.07944154, 0.27272727])
    assert data.docid[0] == 40_626


@needs("ohsumed_letor2")
def test_folds_share_no_query():
    """Three parts train, the next validates, the next tests, counted round; every row is tested once."""
    data = datasets.fetch_ohsumed(data_home=DATA_HOME)
    for k, rows in enumerate(data.folds):
        parts = [set(data.part[r].tolist()) for r in rows]
        want = [(k + j) % 5 + 1 for j in range(5)]
        assert parts == [set(want[:3]), {want[3]}, {want[4]}]
        queries = [set(data.qid[r].tolist()) for r in rows]
        assert sum(map(len, queries)) == len(set.union(*queries)) == 106
    assert_array_equal(np.sort(np.concatenate([test for _, _, test in data.folds])), np.arange(16_140))


@needs("ohsumed_letor3")
@pytest.mark.parametrize("features", LETOR3)
def test_ohsumed_of_letor_3(features):
    """45 features; only "null" has missing values, and "query" lies in [0, 1]."""
    data = datasets.fetch_ohsumed("3.0", features=features, data_home=DATA_HOME)
    check_ohsumed(data, 45)
    assert bool(np.isnan(data.X).any()) == (features == "null")
    if features == "query":
        assert data.X.min() == 0.0
        assert data.X.max() == 1.0


@needs("ohsumed_letor3")
def test_terms_of_query_1():
    """138 documents; title and abstract add up; labels are those of the features' files."""
    title, abstract, both = (
        datasets.fetch_ohsumed_terms(s, data_home=DATA_HOME) for s in ("title", "abstract", "both")
    )
    assert both.X.shape == (138, 7)
    assert both.terms[0] == "advers"
    assert_array_equal(title.X + abstract.X, both.X)
    data = datasets.fetch_ohsumed("3.0", data_home=DATA_HOME)
    label = dict(zip(data.docid[data.qid == 1].tolist(), data.y[data.qid == 1].tolist(), strict=True))
    assert [label[d] for d in both.docid.tolist()] == both.y.tolist()


@needs("ohsumed_original")
def test_topics_of_ohsumed():
    """106 requests in order, and judgements for topics 1 to 63."""
    data = datasets.fetch_ohsumed_topics(data_home=DATA_HOME)
    assert_array_equal(data.qid, np.arange(1, 107))
    assert data.patient[0] == "60 year old menopausal woman without hormone replacement therapy"
    assert all(text and "\n." not in text for text in (*data.patient, *data.request))
    assert_array_equal(np.unique(data.judgements.qid), np.arange(1, 64))
    assert set(np.unique(data.judgements.y)) == {1, 2}


@needs("chess_kaggle2010")
def test_chess_has_its_counts():
    """65,053 games of 7,301 players in 100 months, 44.1 % drawn; the validation games are among them."""
    data = datasets.fetch_chess(data_home=DATA_HOME)
    assert data.y.size == 65_053
    assert np.unique(np.append(data.white, data.black)).size == 7_301
    assert (data.month.min(), data.month.max()) == (1, 100)
    assert round(100 * float(np.mean(data.y == 0)), 1) == 44.1
    assert_array_equal(data.score, (data.y + 1) / 2)
    part = datasets.fetch_chess("cross_validation", data_home=DATA_HOME)
    keys = ("month", "white", "black", "y")
    games = set(zip(*(data[k].tolist() for k in keys), strict=True))
    assert games.issuperset(zip(*(part[k].tolist() for k in keys), strict=True))


@needs("chess_kaggle2010")
def test_chess_test_games_have_no_score():
    """The games to predict come after the last known month and say nothing of their end."""
    data = datasets.fetch_chess("test", data_home=DATA_HOME)
    assert data.month.min() == 101
    assert np.isnan(data.score).all()
    assert data.y is None


@needs("llmfao")
def test_votes_have_their_counts():
    """8,931 votes on 59 models: 3,471 ties, 2,911 for the left answer, 2,549 for the right one."""
    data = datasets.fetch_llm_votes(data_home=DATA_HOME)
    assert data.index.shape == (8_931, 2)
    assert len(data.models) == 59
    assert set(data.index.ravel().tolist()) == set(range(59))
    assert [int(np.sum(data.y == k)) for k in (0, 1, -1)] == [3_471, 2_911, 2_549]
    assert data.pair.max() + 1 == len(data.answers) == 2_139
    assert set(data.prompt.tolist()) <= set(data.prompts)


@needs("mslr_sample5k")
@pytest.mark.parametrize("subset", ["train", "test"])
def test_mslr_sample_has_its_counts(subset):
    """5,000 rows, 43 queries, 136 features, grades 0 to 4."""
    data = datasets.fetch_mslr_sample(subset, data_home=DATA_HOME)
    assert data.X.shape == (5_000, 136)
    assert np.unique(data.qid).size == 43
    assert_array_equal(np.unique(data.y), np.arange(5))


@needs("ordinal_gagolewski")
def test_ordinal_sets_are_whole():
    """19 sets, as many as there are files, no value missing, labels from 1 on."""
    names = {path.name.split(".csv")[0] for path in (DATA_HOME / "ordinal_gagolewski").glob("*.csv*")}
    assert names == set(datasets.ORDINAL_NAMES)
    assert len(names) == 19
    for name in ("affairs", "auto_ord", "glass", "machine_ord", "stock_ord", "winequality-red"):
        data = datasets.fetch_ordinal(name, data_home=DATA_HOME)
        assert np.isfinite(data.X).all()
        assert data.X.shape == (data.y.size, len(data.feature_names))
        assert data.y.min() == 1


@needs("choice")
def test_swissmetro_has_its_counts():
    """10,728 answers, nine without a choice; the chosen way is always there to be chosen."""
    data = datasets.fetch_swissmetro(data_home=DATA_HOME)
    n = data.answers["CHOICE"].size
    assert n == 10_728 - 9
    assert_array_equal(np.bincount(data.qid, weights=data.y), np.ones(n))
    assert_array_equal(data.alternative[data.y == 1], data.answers["CHOICE"] - 1)
    assert_array_equal(data.X[data.alternative == 2, 2:], 0)  # a car has no timetable
    rail = (data.alternative < 2) & (data.answers["GA"][data.qid] == 1)
    assert_array_equal(data.X[rail, 1], 0)


@needs("choice")
def test_heating_has_its_counts():
    """900 households choose one of five; the costs are those of the file's first line."""
    data = datasets.fetch_heating(data_home=DATA_HOME)
    assert data.X.shape == (4_500, 2)
    assert_array_equal(np.bincount(data.qid, weights=data.y), np.ones(900))
    assert_allclose(data.X[:5], [[866, 199.69], [962.64, 151.72], [859.9, 553.34], [995.76, 505.6], [1135.5, 237.88]])


FETCHERS = [
    datasets.fetch_sushi,
    datasets.fetch_chess,
    datasets.fetch_llm_votes,
    datasets.fetch_heating,
    datasets.fetch_swissmetro,
    datasets.fetch_mslr_sample,
    datasets.fetch_ohsumed,
    datasets.fetch_ohsumed_terms,
    datasets.fetch_ohsumed_topics,
    lambda **options: datasets.fetch_ordinal("glass", **options),
]


def test_every_loader_is_tested_here():
    """A new loader joins the list above, or this fails."""
    names = {f.__name__ for f in FETCHERS} - {"<lambda>"} | {"fetch_ordinal"}
    assert names == {n for n in datasets.__all__ if n.startswith("fetch_")}


@pytest.mark.parametrize("fetch", FETCHERS)
def test_a_missing_file_says_what_to_do(fetch, tmp_path, monkeypatch):
    """The message names the file, its place and the variable; the variable decides where no folder is given."""
    with pytest.raises(FileNotFoundError, match=r"is missing. Either put it there .* WIDEMARGIN_DATA") as caught:
        fetch(data_home=tmp_path / "given")
    assert str(tmp_path / "given") in str(caught.value)
    monkeypatch.setenv("WIDEMARGIN_DATA", str(tmp_path / "variable"))
    with pytest.raises(FileNotFoundError, match="variable"):
        fetch()


@pytest.mark.parametrize(
    ("fetch", "options", "message"),
    [
        (datasets.fetch_sushi, {"break_ties": "none"}, "break_ties='none' is unknown"),
        (datasets.fetch_ohsumed, {"version": "4.0"}, "version='4.0' is unknown"),
        (datasets.fetch_ohsumed, {"features": "query"}, "not in LETOR 2.0; expected one of"),
        (datasets.fetch_ohsumed_terms, {"stream": "x"}, "stream='x' is unknown"),
        (datasets.fetch_mslr_sample, {"subset": "x"}, "subset='x' is unknown"),
        (datasets.fetch_chess, {"subset": "x"}, "subset='x' is unknown"),
        (datasets.fetch_ordinal, {"name": "x"}, "name='x' is unknown; expected one of abalone"),
    ],
)
def test_unknown_options_are_refused(fetch, options, message):
    """An option that does not exist is named, with those that do."""
    with pytest.raises(ValueError, match=message):
        fetch(**options)


@pytest.fixture
def known(monkeypatch):
    """Make `choice/a.csv` a known file with the given text and address."""

    def make(text, address=""):
        row = {"path": "choice/a.csv", "sha256": hashlib.sha256(text).hexdigest(), "address": address}
        monkeypatch.setattr(_files, "_table", lambda: {"choice/a.csv": row})

    return make


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv", b"x\n1\n"), ("a.csv", b"x\r\n1\r\n"), ("a.csv.gz", gzip.compress(b"x\n1\n", mtime=0))],
    ids=["plain", "other line ends", "packed"],
)
def test_a_file_may_be_packed_or_have_other_line_ends(known, tmp_path, name, content):
    """What counts is the text."""
    known(b"x\n1\n")
    (tmp_path / "choice").mkdir()
    (tmp_path / "choice" / name).write_bytes(content)
    assert read_file("choice/a.csv", data_home=tmp_path) == b"x\n1\n"


def test_another_file_of_the_same_name_is_refused(known, tmp_path):
    """An edited or older version would give other numbers: its SHA-256 tells."""
    known(b"x\n1\n")
    (tmp_path / "choice").mkdir()
    (tmp_path / "choice" / "a.csv").write_bytes(b"x\n2\n")
    with pytest.raises(ValueError, match=r"is not the file that is known by this name: its SHA-256 is"):
        read_file("choice/a.csv", data_home=tmp_path)


def test_a_download_is_checked_and_kept(known, tmp_path):
    """Only on request; the second reading needs no address; a wrong content is refused and leaves nothing."""
    origin = tmp_path / "origin.csv"
    origin.write_bytes(b"x\n1\n")
    known(b"x\n1\n", origin.as_uri())
    with pytest.raises(FileNotFoundError, match="download_if_missing=True"):
        read_file("choice/a.csv", data_home=tmp_path)
    assert read_file("choice/a.csv", data_home=tmp_path, download_if_missing=True) == b"x\n1\n"
    origin.unlink()
    assert read_file("choice/a.csv", data_home=tmp_path) == b"x\n1\n"
    origin.write_bytes(b"x\n2\n")
    with pytest.raises(ValueError, match="SHA-256"):
        read_file("choice/a.csv", data_home=tmp_path / "other", download_if_missing=True)
    assert not (tmp_path / "other").exists()


def test_the_table_of_files_is_well_formed():
    """Every file has a SHA-256 and a source; every address is https."""
    for path, row in _files._table().items():
        assert len(row["sha256"]) == 64
        assert path.split("/")[0] in _files.SOURCES
        assert not row["address"] or row["address"].startswith("https://")
