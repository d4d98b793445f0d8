"""Models of SVM-light, SVM-rank and LIBLINEAR: small files written by hand, values worked out by hand."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fitted import fitted
from widemargin import MarginClassifier, MarginRegressor, RankingSVM
from widemargin.io import (
    ModelFileError,
    load_model,
    read_liblinear_model,
    read_svmlight_model,
    save_model,
    write_liblinear_model,
    write_svmlight_model,
)
from widemargin.kernels import Linear

RANK = """SVM-light Version V6.20
0 # kernel type
3 # kernel parameter -d 
1 # kernel parameter -g 
1 # kernel parameter -s 
1 # kernel parameter -r 
empty# kernel parameter -u 
4 # highest feature index 
12 # number of training documents 
2 # number of support vectors plus 1 
0 # threshold b, each following line is a SV (starting with alpha*y)
1 1:0.5 3:-2 4:0.25 #
"""  # noqa: W291 (as the program writes it)

KERNEL = """SVM-light Version V6.02
{type} # kernel type
2 # kernel parameter -d
0.5 # kernel parameter -g
2 # kernel parameter -s
3 # kernel parameter -r
empty# kernel parameter -u
2 # highest feature index
5 # number of training documents
4 # number of support vectors plus 1

0.75 # threshold b, each following line is a SV (starting with alpha*y)
2 qid:1 1:1 #first
-1 qid:2 1:1 2:-1 # a comment 3:5
0.5 #
"""

LIBLINEAR = """solver_type L2R_L2LOSS_RANKSVM
nr_class 2
nr_feature 3
bias -1
w
1.5 
0 
-2e-1 
"""  # noqa: W291


def stream(text):
    """Return text as a binary file."""
    return io.BytesIO(text.encode())


def written(write, model):
    """Return what a writer writes, ready to be read."""
    file = io.BytesIO()
    write(model, file)
    file.seek(0)
    return file


def test_a_linear_svm_rank_model_is_its_weights():
    """The one support vector of an SVM-rank file, times its coefficient, is the weight vector."""
    model = read_svmlight_model(stream(RANK))
    assert model.coef_.tolist() == [0.5, 0.0, -2.0, 0.25]
    assert model.utility([[2.0, 9.0, 1.0, 4.0]]).tolist() == [0.0]
    assert model.rank([[0, 0, 1, 0], [0, 0, 0, 0], [2, 0, 0, 0]]).tolist() == [3, 2, 1]
    assert read_svmlight_model(stream(RANK), n_features=6).n_features_in_ == 6


def test_a_linear_model_of_several_vectors_is_their_sum():
    """2 (1, 0) - (1, -1) + 0 = (1, 1)."""
    assert read_svmlight_model(stream(KERNEL.format(type=0))).coef_.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("kind", "kernel"),
    [
        (1, lambda x, z: (2 * (x @ z) + 3) ** 2),
        (2, lambda x, z: np.exp(-0.5 * (x - z) @ (x - z))),
        (3, lambda x, z: np.tanh(2 * (x @ z) + 3)),
    ],
)
def test_kernel_models_are_their_formula(kind, kernel):
    """The utility is sum alpha k(sv, x), with kernels as SVM-light defines them; the threshold is left out."""
    model = read_svmlight_model(stream(KERNEL.format(type=kind)))
    vectors, alpha = np.array([[1.0, 0.0], [1.0, -1.0], [0.0, 0.0]]), [2.0, -1.0, 0.5]
    rows = np.array([[0.3, -0.2], [1.0, 1.0], [-2.0, 0.5]])
    want = [sum(a * kernel(x, z) for a, z in zip(alpha, vectors, strict=True)) for x in rows]
    np.testing.assert_allclose(model.utility(rows), want, rtol=1e-13)


def damaged(text, line, new):
    """Return a text with one line (from 1) changed, or removed where new is None."""
    lines = text.splitlines()
    lines[line - 1 : line] = [] if new is None else [new]
    return stream("\n".join(lines))


@pytest.mark.parametrize(
    ("line", "new", "reason"),
    [
        (1, "SVM-multiclass Version V2.20", "line 1: got 'SVM-multi"),
        (2, "4 # kernel type", "line 2: kernel type 4 is code"),
        (2, "zero # kernel type", "line 2: got 'zero'"),
        (4, None, "line 4: .*expected a value and '# kernel parameter -g'"),
        (8, "2.5 # highest feature index", "line 8: got '2.5'; expected an integer"),
        (8, "3 # highest feature index", "line 12: got '4:0.25'.*from 1 to 3"),
        (10, "4 # number of support vectors plus 1", "line 13: the file ends here; expected support vector 2 of 3"),
        (10, "1 # number of support vectors plus 1", "line 12: got '1 1:0.5.* after the 0 support vectors"),
        (11, "nan # threshold b", "line 11: got 'nan'"),
        (12, "1 1:0.5 3:-2 3:1 #", "line 12: got '3:1'"),
        (12, "1 1:0.5 x:-2 #", "line 12: got 'x:-2'"),
        (12, "1 1:0.5 3:1_0 #", "line 12: got '1_0'"),
        (12, "1 1:0.5 3:inf #", "line 12: got 'inf'"),
        (12, "1 1:0.5 3 #", "line 12: got ''"),
        (12, "#", "line 12: got ''"),
    ],
)
def test_damaged_svmlight_files_are_refused_with_the_line(line, new, reason):
    """What was got, what was expected, and where."""
    with pytest.raises(ModelFileError, match=reason):
        read_svmlight_model(damaged(RANK, line, new))


def test_other_things_are_no_svmlight_model():
    """Bytes that are no text, too few features, a kernel that cannot be."""
    with pytest.raises(ModelFileError, match="not text"):
        read_svmlight_model(io.BytesIO(b"\x80\xff"))
    with pytest.raises(ModelFileError, match="uses feature 4; n_features=2"):
        read_svmlight_model(stream(RANK), n_features=2)
    with pytest.raises(ModelFileError, match="line 4: got -1; expected a number above 0"):
        read_svmlight_model(
            stream(KERNEL.format(type=2).replace("0.5 # kernel parameter -g", "-1 # kernel parameter -g"))
        )


def test_a_liblinear_ranking_model_is_its_weights():
    """One weight a line; with a bias, the last one is the bias's and ranks nothing."""
    assert read_liblinear_model(stream(LIBLINEAR)).coef_.tolist() == [1.5, 0.0, -0.2]
    model = read_liblinear_model(stream(LIBLINEAR.replace("bias -1", "bias 1") + "7\n"))
    assert type(model) is RankingSVM
    assert model.coef_.tolist() == [1.5, 0.0, -0.2]
    assert model.utility([[2.0, 1.0, 5.0]]).tolist() == [2.0]


def test_a_liblinear_regressor_adds_its_bias():
    """w.x + bias * (last weight) = 1.5 * 2 - 0.2 * 5 + 2 * 0.25."""
    text = LIBLINEAR.replace("RANKSVM", "SVR_DUAL").replace("bias -1", "bias 2") + "0.25\n"
    model = read_liblinear_model(stream(text))
    assert type(model) is MarginRegressor
    assert model.predict([[2.0, 1.0, 5.0]]).tolist() == [2.5]


@pytest.mark.parametrize(("labels", "want"), [("1 -1", [1, -1, -1]), ("-1 1", [-1, 1, 1]), ("3 7", [3, 7, 7])])
def test_a_liblinear_classifier_gives_the_first_label_above_zero(labels, want):
    """LIBLINEAR's sign belongs to the order of its label line, ours to the order of the classes; 0 is not above."""
    text = LIBLINEAR.replace("L2R_L2LOSS_RANKSVM", "L2R_L1LOSS_SVC_DUAL").replace(
        "nr_class 2", f"nr_class 2\nlabel {labels}"
    )
    model = read_liblinear_model(stream(text.replace("bias -1", "bias 1") + "1\n"))
    assert type(model) is MarginClassifier
    assert model.loss == "hinge"
    assert model.predict([[0.0, 0.0, 4.5], [0.0, 0.0, 5.5], [-1.0, 0.0, 0.0]]).tolist() == want


@pytest.mark.parametrize(
    ("line", "new", "reason"),
    [
        (1, "solver_type L2R_LR", "line 5: solver_type L2R_LR has no counterpart"),
        (1, "kernel linear", "line 1: got 'kernel linear'"),
        (2, "nr_class two", "line 2: got 'two'; expected an integer"),
        (2, "nr_class 2 3", "line 2: nr_class has 2 values"),
        (3, None, "line 4: 'w' begins but 'nr_feature'"),
        (3, "nr_feature 4", "line 9: the file has 3 weights; expected 4"),
        (3, "nr_feature 2", "line 8: the file has 3 weights; expected 2"),
        (3, "nr_class 2", "line 3: got 'nr_class 2'.*each once"),
        (4, "bias 1", "line 9: the file has 3 weights; expected 4"),
        (5, None, "line 5: got '1.5"),
        (7, "0,5", "line 7: got '0,5'"),
        (7, "nan", "line 7: got 'nan'"),
        (7, "1 2", "line 7: got '1 2'"),
    ],
)
def test_damaged_liblinear_files_are_refused_with_the_line(line, new, reason):
    """What was got, what was expected, and where."""
    with pytest.raises(ModelFileError, match=reason):
        read_liblinear_model(damaged(LIBLINEAR, line, new))


def test_other_things_are_no_liblinear_model():
    """Bytes that are no text, several classes, a file without weights."""
    with pytest.raises(ModelFileError, match="not text"):
        read_liblinear_model(io.BytesIO(b"\x80\xff"))
    with pytest.raises(ModelFileError, match="line 1: the file ends here"):
        read_liblinear_model(stream(""))
    text = LIBLINEAR.replace("L2R_L2LOSS_RANKSVM", "L2R_L2LOSS_SVC").replace("nr_class 2", "nr_class 3\nlabel 1 2 3")
    with pytest.raises(ModelFileError, match="expected two classes"):
        read_liblinear_model(stream(text))


@settings(max_examples=150)
@given(st.integers(0, 400), st.integers(0, 6), st.text(alphabet="0123456789.:#e-+ \nnaqid", max_size=4))
def test_edited_text_gives_a_model_or_a_refusal(at, n, text):
    """Whatever is edited, a reader gives finite weights or ModelFileError; a text file has no checksum."""
    for source, read in ((RANK, read_svmlight_model), (LIBLINEAR, read_liblinear_model)):
        try:
            model = read(stream(source[:at] + text + source[at + n :]))
        except ModelFileError:
            continue
        assert np.all(np.isfinite(model.coef_ if model.kernel == "linear" else model.dual_coef_))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_svmlight_files_that_we_write_say_the_same(kernel):
    """Numbers are written with all their digits."""
    model, rows = fitted("RankingSVM", kernel)
    back = read_svmlight_model(written(write_svmlight_model, model))
    np.testing.assert_allclose(back.utility(rows), model.utility(rows), rtol=1e-14, atol=1e-14)


def test_the_intercept_of_a_classifier_is_written_as_the_threshold():
    """SVM-light's decision is the utility minus b."""
    model, _ = fitted("MarginClassifier")
    text = written(write_svmlight_model, model).read().decode().splitlines()
    assert float(text[10].split()[0]) == -model.intercept_


def test_liblinear_files_that_we_write_say_the_same():
    """Weight for weight."""
    model, _ = fitted("TopRankSVM")
    assert read_liblinear_model(written(write_liblinear_model, model)).coef_.tolist() == model.coef_.tolist()


@pytest.mark.parametrize(
    ("write", "name", "kernel", "reason"),
    [
        (write_svmlight_model, "RankingSVM", "sum", "SVM-light has linear, poly, rbf"),
        (write_svmlight_model, "RankingSVM", "precomputed", "no single utility"),
        (write_liblinear_model, "RankingSVM", "rbf", "expected a ranker with kernel='linear'"),
        (write_liblinear_model, "MarginRegressor", "linear", "expected a ranker"),
    ],
)
def test_what_the_other_programs_cannot_hold_is_refused(write, name, kernel, reason):
    """No file says less than the model."""
    with pytest.raises(ModelFileError, match=reason):
        write(fitted(name, kernel)[0], io.BytesIO())


def test_a_linear_kernel_object_is_written_as_linear():
    """`kernels.Linear()` is kernel type 0, over its support vectors."""
    model = RankingSVM(kernel=Linear()).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [0, 1, 2])
    back = read_svmlight_model(written(write_svmlight_model, model))
    np.testing.assert_allclose(back.coef_, model.support_vectors_.T @ model.dual_coef_)


@pytest.mark.parametrize(
    ("read", "text"), [(read_svmlight_model, KERNEL.format(type=2)), (read_liblinear_model, LIBLINEAR)]
)
def test_models_that_came_in_can_be_saved_and_scored(read, text, tmp_path):
    """A converted model is a model: it saves, loads, ranks and scores."""
    model = read(stream(text))
    save_model(model, tmp_path / "model.wm")
    back, rows = load_model(tmp_path / "model.wm"), np.eye(3)[:, : model.n_features_in_]
    assert back.utility(rows).tolist() == model.utility(rows).tolist()
    assert 0.0 <= back.score(rows, [0, 1, 2]) <= 1.0
