"""Model files: what goes in comes out to the last bit, and anything else is refused with a reason."""

import io
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import BaseCrossValidator, GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, RobustScaler, StandardScaler

import widemargin
from fitted import CASES, EXTRAS, NAMES, answers, calibrated, data_of, fit, fitted
from widemargin import ComparisonSVM, MarginClassifier, OnItems, OrdinalSVM, RankingSVM
from widemargin._core.links import CumulativeLogit
from widemargin.io import ModelFileError, load_model, model_info, save_model
from widemargin.io._container import pack, unpack
from widemargin.kernels import RBF, Kernel
from widemargin.model_selection import PairKFold

OLD = sorted((Path(__file__).parent / "fixtures" / "models_v1").glob("*.wm"))
X4, Y4 = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 5.0]]), np.array([0, 1, 1, 2])


def saved(model, **options):
    """Return the bytes of a model's file."""
    file = io.BytesIO()
    save_model(model, file, **options)
    return file.getvalue()


def loaded(data):
    """Return the model of a file's bytes."""
    return load_model(io.BytesIO(data))


def assert_same(have, want, where="model"):
    """Two things are the same: types, dtypes, shapes and every bit."""
    assert type(have) is type(want), where
    if isinstance(want, BaseEstimator | Kernel | BaseCrossValidator | CumulativeLogit):
        have, want = vars(have), vars(want)
    if isinstance(want, dict):
        assert have.keys() == want.keys(), where
        for key in want:
            assert_same(have[key], want[key], f"{where}.{key}")
    elif isinstance(want, list | tuple):
        assert len(have) == len(want), where
        for i, pair in enumerate(zip(have, want, strict=True)):
            assert_same(*pair, f"{where}[{i}]")
    elif sparse.issparse(want):
        for part in ("shape", "data", "indices", "indptr"):
            assert_same(getattr(have, part), getattr(want, part), f"{where}.{part}")
    elif isinstance(want, np.ndarray):
        assert (have.dtype, have.shape) == (want.dtype, want.shape), where
        same = have.tolist() == want.tolist() if want.dtype == object else have.tobytes() == want.tobytes()
        assert same, where
    else:
        assert repr(have) == repr(want), where


def assert_round_trip(model, rows=None):
    """A model comes back whole, and says the same of new rows."""
    back = loaded(saved(model))
    assert_same(back, model)
    if rows is not None:
        assert_same(answers(back, rows), answers(model, rows))
    return back


# --- round trips ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "kernel"), CASES)
def test_every_estimator_and_kernel_comes_back(name, kernel):
    """Parameters, fitted attributes and predictions are the same to the last bit."""
    assert_round_trip(*fitted(name, kernel))


@pytest.mark.parametrize(("name", "parameters"), EXTRAS)
def test_what_only_some_estimators_have_comes_back(name, parameters):
    """Options of one estimator, with their own attributes."""
    data = data_of(name)
    assert_round_trip(fit(getattr(widemargin, name)(**parameters), data), data.new)


@pytest.mark.parametrize("name", ["ComparisonSVM", "OrdinalSVM"])
def test_models_with_probabilities_come_back(name):
    """The wrapper, its curve and the estimator inside; with a splitter as `cv`, and around a model taken as it is."""
    model, rows = calibrated(name)
    assert_round_trip(model, rows)
    data = data_of(name)
    cv = PairKFold(2, shuffle=True, random_state=0) if name == "ComparisonSVM" else 2
    frozen = type(model)(FrozenEstimator(model.estimator_), cv=cv)
    assert_round_trip(fit(frozen, data))


@pytest.mark.parametrize("convert", [np.float32, np.asfortranarray, sparse.csr_array, sparse.csr_matrix])
def test_kinds_of_matrices_come_back(convert):
    """Support vectors keep precision and sparsity."""
    data = data_of("RankingSVM")
    X = convert(data.X) if convert is not np.float32 else data.X.astype(np.float32)
    assert_round_trip(fit(RankingSVM(kernel="rbf"), data, X), data.new)


@pytest.mark.filterwarnings("ignore::widemargin.CollapseWarning")
def test_a_model_without_support_vectors_comes_back():
    """Arrays of no elements keep their shapes."""
    model = RankingSVM(kernel="rbf", gamma=1.0).fit([[1.0], [1.0]], [0, 1])
    assert model.support_vectors_.shape == (0, 1)
    assert_round_trip(model, np.array([[0.0], [3.0]]))


@pytest.mark.parametrize(
    "parameters",
    [
        {"C": float("inf"), "loss": "squared_hinge"},
        {"C": np.float32(2.0), "max_iter": np.int64(500), "verbose": np.bool_(False)},
        {"memory_limit": 10**9, "C_scale": "mean"},
    ],
)
def test_parameters_keep_their_types(parameters):
    """Numbers come back as the types they were, infinity included."""
    assert_round_trip(RankingSVM(**parameters).fit([[0.0], [1.0], [2.0]], [0, 1, 2]))


@pytest.mark.parametrize("labels", [["bad", "fair", "good"], [1.0, 2.0, 4.0], [False, True]])
def test_labels_come_back(labels):
    """Classes of text, numbers and truth values, as arrays and as objects."""
    y = np.array(labels)[Y4 % len(labels)]
    for dtype in {y.dtype, np.dtype(object)} if y.dtype.kind == "U" else {y.dtype}:
        assert_round_trip(MarginClassifier().fit(X4, y.astype(dtype)), X4)
    assert_round_trip(OrdinalSVM(classes=labels).fit(X4, y), X4)


def test_feature_names_and_the_query_column_come_back():
    """A model of a frame takes the same frame after loading, and refuses another."""
    frame = pd.DataFrame(X4, columns=["a", "b"]).assign(q=1)
    back = assert_round_trip(RankingSVM().fit(frame, Y4, qid="q"))
    assert back.rank(frame, qid="q").tolist() == back.rank(frame[["a", "b"]]).tolist()
    assert model_info(io.BytesIO(saved(back)))["feature_names"] == ["a", "b"]
    with pytest.raises(ValueError, match="feature names"):
        back.predict(frame[["b", "a"]])


@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        MinMaxScaler((-1, 1), clip=True),
        MaxAbsScaler(),
        RobustScaler(quantile_range=(10.0, 90.0)),
        Normalizer("l1"),
        make_pipeline(StandardScaler(), MinMaxScaler()),
        "passthrough",
    ],
    ids=repr,
)
def test_pipelines_come_back(scaler):
    """A scaler in front of a model is part of it."""
    model = make_pipeline(scaler, OrdinalSVM(kernel=RBF() * RBF(2.0))).fit(X4, Y4)
    back = assert_round_trip(model)
    assert back.predict(X4 + 0.3).tolist() == model.predict(X4 + 0.3).tolist()


def test_pipelines_of_pairs_come_back():
    """`OnItems` and what it wraps, with names of columns and the form of its output."""
    data = data_of("ComparisonSVM")
    scaler = StandardScaler().set_output(transform="pandas")
    back = assert_round_trip(fit(make_pipeline(OnItems(scaler), ComparisonSVM()), data, pd.DataFrame(data.X)))
    assert set(back.predict(widemargin.Pairs(pd.DataFrame(data.X), data.index))) <= {-1, 0, 1}


def test_what_a_search_hands_out_is_not_kept():
    """Requests for metadata stay with the session: a loaded model asks for what its class asks for."""
    with config_context(enable_metadata_routing=True):
        model = RankingSVM().set_fit_request(sample_weight=True).fit(X4, Y4)
        requests = loaded(saved(model)).get_metadata_routing().fit.requests
    assert requests == {"qid": True, "sample_weight": None}


def test_metadata_comes_back_and_the_same_model_gives_the_same_bytes():
    """`model_info` tells what was said; nothing in a file depends on when it was written."""
    model, _ = fitted("RankingSVM", "rbf")
    about = {"source": "votes.csv", "n": 3, "nested": {"list": [1, 2.5, None, True, "é"]}}
    info = model_info(io.BytesIO(saved(model, metadata=about)))
    assert info["metadata"] == about
    assert (info["format_version"], info["n_features"], info["feature_names"]) == (1, 3, None)
    assert info["estimator"] == "RankingSVM(kernel='rbf')"
    assert saved(model, metadata=about) == saved(model, metadata=about)


def test_arrays_can_be_read_by_hand():
    """The format is what its page says: three lines, JSON, arrays at multiples of 64."""
    model, _ = fitted("RankingSVM")
    data = saved(model)
    first, _, sizes, rest = data.split(b"\n", 3)
    assert first == b"widemargin model 1"
    n_text = int(sizes.split()[1])
    content, block = json.loads(rest[:n_text]), rest[n_text:]
    place = content["arrays"][content["model"]["state"]["coef_"]["array"]]
    assert place["start"] % 64 == 0
    assert np.frombuffer(block, place["dtype"], place["shape"][0], place["start"]).tolist() == model.coef_.tolist()


# --- files of older versions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", OLD, ids=lambda p: p.stem)
def test_files_of_version_1_keep_loading(path):
    """A file written by version 1 gives the model and the predictions that it was written with."""
    told = model_info(path)["metadata"]
    model, rows = load_model(path), np.array(told["rows"])
    if told["paired"]:
        rows = rows.reshape(-1, 2, rows.shape[1])
    have = model.predict(rows)
    if have.dtype.kind == "f":
        np.testing.assert_allclose(have, told["prediction"], rtol=1e-12)
    else:
        assert have.tolist() == told["prediction"]


def test_there_is_an_old_file_of_every_estimator():
    """The table of old files is complete for the estimators of that time."""
    assert {path.stem.split("-")[0] for path in OLD} >= set(NAMES) & {
        "ComparisonSVM", "MarginClassifier", "MarginRegressor", "OrdinalSVM", "RankingSVM", "RankingVectorMachine",
        "TopRankSVM",
    }  # fmt: skip


# --- damage -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small():
    """The bytes of a small file."""
    return saved(RankingSVM(kernel="rbf").fit([[0.0], [1.0]], [0, 1]))


def test_any_changed_byte_is_refused(small):
    """Every byte is under the checksum or is the checksum: flip any bit and the file is refused."""
    for i in range(len(small)):
        damaged = bytearray(small)
        damaged[i] ^= 1 << (i % 8)
        with pytest.raises(ModelFileError):
            loaded(bytes(damaged))


def test_any_shorter_or_longer_file_is_refused(small):
    """A file cut anywhere, or with anything behind it, is refused."""
    for n in range(len(small)):
        with pytest.raises(ModelFileError):
            loaded(small[:n])
    with pytest.raises(ModelFileError, match=rf"{len(small) + 1} bytes, expected {len(small)}"):
        loaded(small + b"\0")


@settings(max_examples=200)
@given(st.binary(max_size=300), st.integers(0, 3000), st.integers(0, 300))
def test_edits_are_refused(small, text, at, n):
    """Bytes put in, taken out or written over anywhere never give a model, unless nothing changed."""
    data = small[:at] + text + small[at + n :]
    if data != small:
        with pytest.raises(ModelFileError):
            loaded(data)


WORDS = ["object", "estimator", "array", "dict", "Sum", "RankingSVM", "Pipeline", "<f8", "__class__"]
KEYS = ["kind", "class", "items", "array", "shape", "parameters", "state", "value", "predict", "kernel"]
NUMBERS = st.integers(-3, 2**40) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=8) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=8,
)


def nodes(tree, path=()):
    """Yield the path of every node of a JSON tree."""
    yield path
    for key in tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ():
        yield from nodes(tree[key], (*path, key))


@settings(max_examples=300)
@given(st.data())
def test_a_forged_file_gives_a_model_or_a_refusal(small, data):
    """With a right checksum but any other content, nothing but a model of ours or ModelFileError comes out."""
    content, arrays = unpack(small, "small")
    path = data.draw(st.sampled_from([p for p in nodes(content["model"]) if p]))
    place = content["model"]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = data.draw(JSON)
    try:
        model = loaded(b"".join(pack(content, arrays)))
    except ModelFileError:
        return
    assert isinstance(model, RankingSVM)


def forged(change):
    """Return a small file with changed content and a right checksum."""
    content, arrays = unpack(saved(fitted("RankingSVM", "rbf")[0]), "small")
    change(content["model"])
    return b"".join(pack(content, arrays))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda m: m.update({"class": "os.system"}), "class 'os.system'"),
        (lambda m: m["state"]["_kernel"].update({"class": "Function"}), "class 'Function'"),
        (lambda m: m["state"].update(predict="x"), "no attribute 'predict'"),
        (lambda m: m["state"].update(__class__="x"), "no attribute '__class__'"),
        (lambda m: m["state"].update(C=2.0), "no attribute 'C'"),
        (lambda m: m["parameters"].update(trapdoor=1), "no parameter 'trapdoor'"),
        (lambda m: m["parameters"].update(C={"kind": "pickle"}), "kind 'pickle'"),
        (lambda m: m["state"]["dual_coef_"].update(array=99), "does not follow the format"),
        (lambda m: m.update(kind="tuple", items=[]), "holds a tuple"),
    ],
)
def test_forged_content_is_refused_with_the_reason(change, reason):
    """Classes, attributes and kinds outside the closed tables have no way in."""
    with pytest.raises(ModelFileError, match=reason):
        loaded(forged(change))


@pytest.mark.parametrize(
    "place",
    [
        {"dtype": "|O8", "shape": [1], "order": "C", "start": 0},
        {"dtype": "<f8", "shape": [10**9, 10**9], "order": "C", "start": 0},
        {"dtype": "<f8", "shape": [0, 10**30], "order": "C", "start": 0},
        {"dtype": "<f8", "shape": [-1], "order": "C", "start": 0},
        {"dtype": "<f8", "shape": [1], "order": "C", "start": -8},
        {"dtype": "<U0", "shape": [10**15], "order": "C", "start": 0},
        {"dtype": "<U999999999", "shape": [1], "order": "C", "start": 0},
    ],
)
def test_arrays_that_the_file_cannot_hold_are_refused(small, place, monkeypatch):
    """An announced size beyond the file's own, or a dtype that holds objects, is refused before memory is taken."""
    content, arrays = unpack(small, "small")
    dumps = json.dumps
    monkeypatch.setattr(json, "dumps", lambda tree, **options: dumps({**tree, "arrays": [place]}, **options))
    data = b"".join(pack(content, arrays))
    monkeypatch.undo()
    with pytest.raises(ModelFileError):
        loaded(data)


def test_loading_runs_no_code(small):
    """The interpreter's own audit sees no compilation, import, pickle, process or file while a model is built."""
    code = (
        "import io, sys; from widemargin.io import load_model; data = sys.stdin.buffer.read(); seen = [];"
        "load_model(io.BytesIO(data)); sys.addaudithook(lambda event, args: seen.append(event));"
        "load_model(io.BytesIO(data)); print(set(seen))"
    )
    done = subprocess.run([sys.executable, "-c", code], input=small, capture_output=True, check=True)  # noqa: S603
    events = eval(done.stdout)  # noqa: S307
    harmless = {"object.__getattr__", "object.__setattr__", "sys._getframe", "builtins.id"}
    assert not events - harmless


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (pickle.dumps({"a": 1}), "pickle"),
        (b"PK\x03\x04...", "zip"),
        (b"SVM-light Version V6.20\n", "read_svmlight_model"),
        (b"solver_type L2R_LR\n", "read_liblinear_model"),
        (b"\x08\x08\x12\nwidemargin", "does not begin"),
        (b"widemargin model 2\nanything", "version 2.*upgrade"),
        (b"widemargin model 0\nanything", "version 0"),
        (b"widemargin model 1\n", "cut short"),
    ],
)
def test_foreign_and_newer_files_are_refused_with_the_reason(tmp_path, data, reason):
    """The message names the file, says what it is and what to do."""
    path = tmp_path / "other.wm"
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=reason) as caught:
        load_model(path)
    assert str(path) in str(caught.value)


# --- what a file cannot hold ------------------------------------------------------------------------------------


class OwnKernel(RBF):
    """A kernel that a user wrote."""


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (RankingSVM(kernel=lambda X, Z: X @ Z.T), r"RankingSVM\.kernel is .*code.*kernels\.Linear"),
        (RankingSVM(kernel=OwnKernel(1.0) + RBF(1.0)), r"RankingSVM\.kernel\.left is .*OwnKernel.*code"),
        (make_pipeline(PCA(1), RankingSVM()), "PCA.*skops"),
        (GridSearchCV(MarginClassifier(), {"C": [1.0]}, cv=2), "best_estimator_"),
        (RankingSVM(memory_limit=np.longdouble(1e9)), "memory_limit is a longdouble"),
    ],
)
def test_what_a_file_cannot_hold_is_refused_with_an_alternative(tmp_path, model, reason):
    """The message names the place; no file is made, and one that was there stays."""
    path = tmp_path / "model.wm"
    path.write_text("precious")
    model.fit(np.vstack([X4, X4]), np.tile(Y4 > 0, 2))
    with pytest.raises(ModelFileError, match=reason):
        save_model(model, path)
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]


def test_an_attribute_that_hides_a_method_is_refused_when_saving():
    """What could not be loaded is not written."""
    model = RankingSVM().fit(X4, Y4)
    model.predict = None
    with pytest.raises(ModelFileError, match="no attribute 'predict'"):
        saved(model)


def test_what_is_no_fitted_model_is_refused(tmp_path):
    """An unfitted model, data, or metadata that JSON would change."""
    path = tmp_path / "model.wm"
    with pytest.raises(NotFittedError):
        save_model(RankingSVM(), path)
    with pytest.raises(ModelFileError, match="dict; expected a fitted"):
        save_model({"a": 1}, path)
    model, _ = fitted("RankingSVM")
    for metadata in ({"when": object()}, {1: "one"}, {"x": float("nan")}, [1], {"pair": (1, 2)}):
        with pytest.raises(ModelFileError, match="metadata"):
            save_model(model, path, metadata=metadata)
    assert not list(tmp_path.iterdir())


# --- writing ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch, step):
    """A full disk or a lost device in the middle: the old file is whole and nothing else is left behind."""
    path = tmp_path / "model.wm"
    save_model(fitted("RankingSVM")[0], path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(*((os, "fsync", fail) if step == "fsync" else (Path, "replace", fail)))
    with pytest.raises(OSError, match="no space"):
        save_model(fitted("RankingSVM", "rbf")[0], path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_replacing_keeps_permissions_and_links(tmp_path):
    """A link still points to the file, which has the new content and the old permissions."""
    path, link = tmp_path / "model.wm", tmp_path / "latest.wm"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    save_model(fitted("RankingSVM")[0], link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert_same(load_model(str(path)), fitted("RankingSVM")[0])
    with pytest.raises(OSError, match="regular file"):
        save_model(fitted("RankingSVM")[0], tmp_path)
