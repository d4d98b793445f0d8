"""ONNX graphs say in onnxruntime what the estimators say."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, RobustScaler, StandardScaler

import widemargin
from fitted import CASES, EXTRAS, answers, calibrated, data_of, fit, fitted
from widemargin import ComparisonSVM, MarginClassifier, OnItems, OrdinalSVM, Pairs, RankingSVM, onnx
from widemargin.kernels import RBF, Linear
from widemargin.onnx import to_onnx

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

TOLERANCE = 1e-5  # of the spread of the utilities


def run(model, rows, dtype="float32"):
    """Return the outputs by name; of pairs, each row against the next."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    graph = to_onnx(model, dtype=dtype).SerializeToString()
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    rows = rows.astype(dtype)
    inputs = {"left": rows, "right": np.roll(rows, -1, axis=0)}
    inputs = inputs if len(session.get_inputs()) == 2 else {"X": rows}
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))


def assert_close(have, want):
    """Within the tolerance of the spread."""
    assert have.shape == want.shape
    assert np.max(np.abs(have - want)) <= TOLERANCE * np.ptp(want)


METHODS = {
    "utility": "utility",
    "value": "predict",
    "decision": "decision_function",
    "probability": "predict_proba",
}


def assert_agrees(model, rows):
    """The graph says what the estimator says of the same float32 numbers."""
    rows = rows.astype(np.float32).astype(float)
    said, have = answers(model, rows), run(model, rows)
    for name, method in METHODS.items():
        if name in have:
            assert have[name].dtype == np.float64
            assert_close(have[name], said[method])
    if "label" in have:
        assert have["label"].tolist() == said["predict"].tolist()
    return have


OUTPUTS = {
    "ComparisonSVM": {"label", "decision"},
    "MarginClassifier": {"label", "decision"},
    "MarginRegressor": {"value"},
    "OrdinalSVM": {"label", "utility"},
}


@pytest.mark.parametrize(("name", "kernel"), CASES)
def test_every_estimator_and_kernel_agrees(name, kernel):
    """Utilities, decisions and labels of new rows; the outputs are those that the docstring names."""
    assert set(assert_agrees(*fitted(name, kernel))) == OUTPUTS.get(name.removesuffix("CV"), {"utility"})


@pytest.mark.parametrize(("name", "parameters"), EXTRAS)
def test_what_only_some_estimators_have_agrees(name, parameters):
    """Options of one estimator."""
    data = data_of(name)
    assert_agrees(fit(getattr(widemargin, name)(**parameters), data), data.new)


@pytest.mark.parametrize("name", ["ComparisonSVM", "OrdinalSVM"])
def test_probabilities_agree(name):
    """Calibrated models give a probability per class, and the most probable label."""
    model, rows = calibrated(name)
    have = assert_agrees(model, rows)
    np.testing.assert_allclose(have["probability"].sum(axis=1), 1.0)
    inside = make_pipeline(FrozenEstimator(model))
    assert run(inside, rows)["probability"].tolist() == have["probability"].tolist()


@pytest.mark.parametrize("labels", [[False, True], np.int32([4, 2]), np.array(["no", "yes"], dtype=object)], ids=repr)
def test_two_classes_keep_their_type(labels):
    """Truth values, short integers, text as objects."""
    data = data_of("MarginClassifier")
    model = MarginClassifier().fit(data.X, np.asarray(labels)[data.y])
    have = assert_agrees(model, data.new)["label"]
    assert have.dtype == model.classes_.dtype


def test_a_search_is_its_best_estimator():
    """The graph of a search is that of the model it chose."""
    data = data_of("MarginClassifier")
    search = GridSearchCV(MarginClassifier(kernel="rbf"), {"C": [0.1, 1.0]}, cv=2).fit(data.X, data.y)
    assert run(search, data.new)["label"].tolist() == search.predict(data.new.astype(np.float32)).tolist()


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("labels", [["a", "bb", "é"], [2, 3, 7], [-1.0, 0.0, 5.0]])
def test_several_classes_agree(shape, labels):
    """Votes, the confidence that breaks their ties, and labels of any type."""
    data = data_of("MarginClassifier", n_classes=3)
    for dtype in {np.array(labels).dtype, np.dtype(object)} if labels[0] == "a" else {None}:
        y = np.array(labels, dtype=dtype)[data.y]
        model = MarginClassifier(kernel="rbf", decision_function_shape=shape).fit(data.X, y)
        have = assert_agrees(model, np.vstack([data.new, data.X * 2.0]))
        assert set(have["label"].tolist()) == set(labels)


@pytest.mark.parametrize("kernel", ["linear", "rbf", RBF(0.4) * Linear() + RBF("scale")])
@pytest.mark.parametrize("shift", [1e3, -4e6])
def test_data_far_from_zero_agree(kernel, shift):
    """Features around four million with a spread of 1 lose nothing: float64, from the middle of the data."""
    data = data_of("RankingSVM")
    assert_agrees(fit(RankingSVM(kernel=kernel, tol=1e-2), data, data.X + shift), data.new + shift)


@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        MinMaxScaler((-1, 2), clip=True),
        MinMaxScaler(),
        MaxAbsScaler(),
        RobustScaler(with_centering=False),
        RobustScaler(with_scaling=False),
        Normalizer("l1"),
        Normalizer("l2"),
        Normalizer("max"),
        make_pipeline(StandardScaler(), "passthrough", Normalizer()),
        "passthrough",
    ],
    ids=repr,
)
def test_pipelines_agree(scaler):
    """A scaler in front of a model is part of the graph; a row of zeros divides by nothing."""
    data = data_of("OrdinalSVM")
    model = make_pipeline(scaler, OrdinalSVM(kernel="rbf")).fit(data.X * [1.0, 100.0, 1e-3] + 5.0, data.y)
    new = np.vstack([data.new * [3.0, 100.0, 1e-3] + 5.0, np.zeros(3)]).astype(np.float32).astype(float)
    have = run(model, new)
    assert_close(have["utility"], model[-1].utility(model[:-1].transform(new)))
    assert have["label"].tolist() == model.predict(new).tolist()


def test_pipelines_of_pairs_agree():
    """`OnItems` scales both sides of a pair."""
    data = data_of("ComparisonSVM")
    model = fit(make_pipeline(OnItems(StandardScaler()), ComparisonSVM(kernel="rbf")), data, data.X * 100.0)
    new = (data.new * 100.0).astype(np.float32).astype(float)
    pairs = Pairs(new, np.column_stack([np.arange(12), np.roll(np.arange(12), -1)]))
    have = run(model, new)
    assert_close(have["decision"], model.decision_function(pairs))
    assert have["label"].tolist() == model.predict(pairs).tolist()
    assert have["label"].dtype == np.int64


def test_a_difference_of_exactly_the_tie_width_is_a_tie():
    """The graph and the estimator decide alike on the boundary, and between two equal items."""
    model = ComparisonSVM(formulation="lp").fit(Pairs([[0.0], [1.0], [3.0]], [(2, 0), (1, 0), (0, 0)]), [1, 0, 0])
    model.coef_, model.tie_width_ = np.array([1.0]), 2.0
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    left, right = np.float32([[2], [2.5], [0], [0], [4]]), np.float32([[0], [0], [2], [2.5], [4]])
    label, _ = session.run(["label", "decision"], {"left": left, "right": right})
    assert label.tolist() == [0, 1, 0, -1, 0]
    assert label.tolist() == model.predict(np.stack([left, right], axis=1)).tolist()


def test_float64_input_sparse_vectors_and_no_rows_agree():
    """What the input's type, the training data's format and an empty batch may be."""
    data = data_of("RankingSVM")
    model = fit(RankingSVM(kernel="rbf"), data, sparse.csr_array(data.X))
    np.testing.assert_allclose(run(model, data.new, "float64")["utility"], model.utility(data.new), rtol=1e-12)
    assert run(model, data.new[:0])["utility"].shape == (0,)
    assert run(model, data.new[:1])["utility"].shape == (1,)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.filterwarnings("ignore::widemargin.CollapseWarning")
def test_a_model_without_support_vectors_agrees(kernel):
    """Items that cannot be told apart have the utility 0, in the graph too."""
    model = RankingSVM(kernel=kernel, gamma=1.0).fit([[1.0], [1.0]], [0, 1])
    assert run(model, np.array([[0.0], [3.0]]))["utility"].tolist() == [0.0, 0.0]


def test_the_graph_says_where_it_comes_from():
    """Producer, estimator, and the names of the features in order."""
    frame = pd.DataFrame({"price": [0.0, 1.0, 2.0], "age": [1.0, 1.0, 3.0]})
    proto = to_onnx(make_pipeline(StandardScaler(), RankingSVM()).fit(frame, [0, 1, 2]))
    told = {entry.key: entry.value for entry in proto.metadata_props}
    assert (proto.producer_name, proto.producer_version) == ("widemargin", widemargin.__version__)
    assert told["estimator"] == "RankingSVM"
    assert json.loads(told["feature_names"]) == ["price", "age"]


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (RankingSVM(kernel=lambda X, Z: X @ Z.T), "code.*kernels.Linear"),
        (make_pipeline(PCA(1), RankingSVM()), "PCA.*expected one of MaxAbsScaler"),
        (StandardScaler(), "ends with StandardScaler"),
        (OrdinalSVM(classes=np.array([0, 1, 2.5], dtype=object)), "mixes types"),
    ],
)
def test_what_has_no_graph_is_refused_with_an_alternative(model, reason):
    """The message says what was found and what would do."""
    model.fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], np.array([0, 1, 1], dtype=object if "mixes" in reason else int))
    with pytest.raises(TypeError, match=reason):
        to_onnx(model)


def test_bad_calls_are_refused():
    """An unfitted model, and an input type that is none."""
    with pytest.raises(NotFittedError):
        to_onnx(RankingSVM())
    with pytest.raises(ValueError, match=r"dtype='half'.*float32"):
        to_onnx(fitted("RankingSVM")[0], dtype="half")


def test_a_missing_package_is_named_with_the_command(monkeypatch):
    """Without the extra, the message says what to install."""
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install widemargin\[onnx\]"):
        onnx.to_onnx(fitted("RankingSVM")[0])
