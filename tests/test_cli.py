"""The command line: what a newcomer types, what a machine reads, and what bad data get."""

import io as std_io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from widemargin import RankingSVM, io
from widemargin.cli import app as cli
from widemargin.cli import judge
from widemargin.datasets import make_choices, make_comparisons, make_graded_queries, make_ordinal
from widemargin.metrics import concordance, ndcg_score


def succeed(done):
    """Return the output of a command that ended well."""
    code, out, err = done
    assert code == 0, err
    return out


@pytest.fixture(scope="module")
def queries():
    """Graded queries: training and test data."""
    return [make_graded_queries(30, docs_per_query=8, n_features=4, noise=0.1, random_state=s) for s in (0, 0)]


@pytest.fixture
def letor(queries, tmp_path):
    """The same data as two SVMlight files."""
    for data, name in zip(queries, ("train.dat", "test.dat"), strict=True):
        dump_svmlight_file(data.X, data.y, str(tmp_path / name), query_id=data.qid, zero_based=False)
    return tmp_path


def test_a_letor_file_is_fitted_ranked_and_evaluated(widemargin, letor, queries):
    """The path of someone who knows svm_rank_learn and svm_rank_classify."""
    code, out, err = widemargin("fit", "train.dat", "-o", "model.wm")
    assert code == 0, err
    assert "kind: ranking" in err
    assert "RankingSVM" in out
    succeed(widemargin("predict", "model.wm", "test.dat", "-o", "predictions.txt"))
    utilities = np.loadtxt(letor / "predictions.txt")
    assert utilities.shape == queries[1].y.shape
    assert concordance(queries[1].y, utilities, qid=queries[1].qid) > 0.9
    found = json.loads(succeed(widemargin("evaluate", "model.wm", "test.dat", "--json", "--k", 5)))
    want = ndcg_score(queries[1].y, utilities, qid=queries[1].qid, k=5)
    assert found["metrics"]["NDCG@5"]["value"] == pytest.approx(want, abs=1e-9)
    assert found["metrics"]["NDCG@5"]["lower"] < want < found["metrics"]["NDCG@5"]["upper"]


@pytest.mark.usefixtures("letor")
def test_ranks_are_printed_best_first_within_queries(widemargin, queries):
    """`rank` prints each query's rows from best to worst, as many as asked."""
    succeed(widemargin("fit", "train.dat", "--C", 1))
    board = pd.read_csv(std_io.StringIO(succeed(widemargin("rank", "model.wm", "test.dat", "--top", 3))))
    assert list(board.columns) == ["qid", "rank", "row", "utility"]
    for qid, part in board.groupby("qid"):
        assert part["utility"].is_monotonic_decreasing
        inside = np.flatnonzero(queries[1].qid == qid) + 1
        assert set(part["row"]) <= set(inside)
        assert list(part["rank"]) == [1, 2, 3]


def test_stdin_and_csv_give_what_the_file_gives(widemargin, letor, queries):
    """`-` reads stdin, and a CSV with the same numbers gives the same model."""
    succeed(widemargin("fit", "train.dat", "--C", 1))
    direct = succeed(widemargin("predict", "model.wm", "test.dat"))
    piped = succeed(widemargin("predict", "model.wm", "-", stdin=(letor / "test.dat").read_bytes()))
    assert piped == direct
    data = queries[0]
    frame = pd.DataFrame(data.X, columns=list("abcd")).assign(qid=data.qid, grade=data.y)
    frame.to_csv("train.csv", index=False)
    frame.sample(frac=1, random_state=0)[["d", "qid", "b", "a", "c"]].to_parquet("test.parquet")
    succeed(widemargin("fit", "train.csv", "--C", 1, "-o", "csv.wm"))
    from_csv = np.loadtxt(std_io.StringIO(succeed(widemargin("predict", "csv.wm", "test.parquet"))))
    order = frame.sample(frac=1, random_state=0).index
    np.testing.assert_allclose(from_csv, np.loadtxt(std_io.StringIO(direct))[order], rtol=1e-2, atol=1e-2)


@pytest.mark.usefixtures("letor")
def test_per_query_metrics_average_to_the_overall_ones(widemargin):
    """The mean of the per-query NDCG is the overall NDCG."""
    succeed(widemargin("fit", "train.dat", "--C", 1))
    rows = pd.read_csv(std_io.StringIO(succeed(widemargin("evaluate", "model.wm", "test.dat", "--per-query"))))
    whole = json.loads(succeed(widemargin("evaluate", "model.wm", "test.dat", "--json", "--bootstrap", 0)))
    assert rows["NDCG@10"].mean() == pytest.approx(whole["metrics"]["NDCG@10"]["value"])
    assert list(rows["qid"]) == sorted(rows["qid"])  # in order of first appearance, which is sorted here


def test_bootstrap_over_queries_is_what_refitting_the_metric_gives(queries):
    """Weighted means of the per-query values are the metrics of the resampled rows, concordance included."""
    data = queries[0]
    predicted = data.X @ np.array([1.0, 0.5, -0.2, 0.1])
    functions = judge.measures(cli.Kind.ranking, 5, None, 0.0)
    quiet = lambda steps, *_: steps  # noqa: E731
    samples = judge._from_queries(functions, data.y, predicted, data.qid, 3, np.random.default_rng(0), quiet)
    picked = np.random.default_rng(0).multinomial(30, np.full(30, 1 / 30), size=3)
    for k in range(3):
        drawn = [np.flatnonzero(data.qid == q) for q in range(30) for _ in range(picked[k, q])]
        rows, again = np.concatenate(drawn), np.repeat(np.arange(30), [d.size for d in drawn])
        for name, function in functions.items():
            assert samples[name][k] == pytest.approx(function(data.y[rows], predicted[rows], again))


@pytest.mark.parametrize("words", [False, True])
def test_ordered_labels(widemargin, words):
    """Whole numbers are guessed as ordinal; words are, once their order is given."""
    data = make_ordinal(80, random_state=0)
    names = np.array(["", "awful", "poor", "fair", "good", "great"])
    frame = pd.DataFrame(data.X, columns=["a", "b"]).assign(label=names[data.y] if words else data.y)
    frame.to_csv("train.csv", index=False)
    order = ["--order", ",".join(names[1:])] if words else []
    code, _, err = widemargin("fit", "train.csv", "--folds", 3, *order)
    assert code == 0, err
    assert "kind: ordinal" in err
    predicted = succeed(widemargin("predict", "model.wm", "train.csv")).split()
    assert set(predicted) <= set(names[1:] if words else "12345")
    assert "mean error in ranks" in succeed(widemargin("evaluate", "model.wm", "train.csv"))


def test_choices_values_and_classes_are_guessed(widemargin):
    """One chosen row per query is a choice; real targets are values; words are classes."""
    data = make_choices(40, random_state=0)
    frame = pd.DataFrame(data.X).add_prefix("f").assign(qid=data.qid, chosen=data.y)
    frame.to_csv("choices.csv", index=False)
    assert "kind: choice" in widemargin("fit", "choices.csv", "--C", 1)[2]
    assert "right choices" in succeed(widemargin("evaluate", "model.wm", "choices.csv"))
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    frame.assign(y=frame["a"] + 0.1 * frame["b"]).to_csv("values.csv", index=False)
    assert "kind: value" in widemargin("fit", "values.csv", "--C", 100)[2]
    assert float(succeed(widemargin("evaluate", "model.wm", "values.csv")).split("R^2")[1].split()[0]) > 0.9
    frame.assign(y=np.where(frame["a"] > 0, "yes", "no")).to_csv("classes.csv", index=False)
    assert "kind: class" in widemargin("fit", "classes.csv", "--C", 100)[2]
    assert set(succeed(widemargin("predict", "model.wm", "classes.csv")).split()) == {"yes", "no"}


def test_pairs_with_item_features(widemargin):
    """Votes and a file of items give a model of comparisons."""
    data = make_comparisons(120, random_state=0)
    items = pd.DataFrame(np.asarray(data.X).reshape(-1, 2), columns=["a", "b"])
    items.insert(0, "name", [f"item{k}" for k in range(len(items))])
    votes = pd.DataFrame({"left": items["name"][::2].to_numpy(), "right": items["name"][1::2].to_numpy()})
    votes["winner"] = np.select([data.y > 0, data.y < 0], ["left", "right"], "tie")
    items.to_csv("items.csv", index=False)
    votes.to_csv("votes.csv", index=False)
    succeed(widemargin("fit", "votes.csv", "--items", "items.csv", "--kernel", "rbf", "--folds", 3))
    predicted = succeed(widemargin("predict", "model.wm", "votes.csv", "--items", "items.csv")).split()
    assert np.mean(np.array(predicted, dtype=int) == data.y) > 0.7
    assert "AUC of comparisons" in succeed(widemargin("evaluate", "model.wm", "votes.csv", "--items", "items.csv"))


def votes_of(strengths, n, seed):
    """Return a frame of noisy votes between items of known strength, ties where they are close."""
    rng = np.random.default_rng(seed)
    names = np.array([f"m{k}" for k in range(len(strengths))])
    index = np.array([rng.choice(len(strengths), 2, replace=False) for _ in range(n)])
    gap = strengths[index[:, 0]] - strengths[index[:, 1]] + rng.normal(scale=0.5, size=n)
    winner = np.where(np.abs(gap) < 0.2, "tie", np.where(gap > 0, names[index[:, 0]], names[index[:, 1]]))
    return pd.DataFrame({"left": names[index[:, 0]], "right": names[index[:, 1]], "winner": winner})


def test_votes_become_a_leaderboard_with_intervals_and_next_pairs(widemargin):
    """The order of clearly different items is found, with intervals around it, a picture and what to ask."""
    votes_of(np.array([0.0, 2.0, 1.0, 3.0]), 120, 0).to_csv("votes.csv", index=False)
    done = widemargin("compare", "votes.csv", "--json", "--bootstrap", 20, "--ask", 2, "--picture", "board.png")
    board = json.loads(succeed(done))
    assert [row["item"] for row in board["items"]] == ["m3", "m1", "m2", "m0"]
    assert all(row["lower"] <= row["utility"] <= row["upper"] for row in board["items"])
    assert len(board["ask_next"]) == 2
    assert Path("board.png").stat().st_size > 1000
    text = succeed(widemargin("compare", "votes.csv", "--bootstrap", 5, "--C", 1, "-o", "board.csv"))
    assert "Ask next: " in text
    assert list(pd.read_csv("board.csv")["item"]) == ["m3", "m1", "m2", "m0"]


def test_items_that_never_met_are_named(widemargin):
    """Two groups of items without a vote between them get a warning."""
    one, two = votes_of(np.array([0.0, 1.0]), 20, 0), votes_of(np.array([0.0, 1.0]), 20, 1)
    pd.concat([one, two.replace({"m0": "n0", "m1": "n1"})]).to_csv("votes.csv", index=False)
    code, _, err = widemargin("compare", "votes.csv", "--bootstrap", 5, "--C", 1)
    assert code == 0
    assert "widemargin: warning: " in err
    assert "n0" in err


def test_models_are_converted(widemargin, queries):
    """A model becomes ONNX that onnxruntime runs, and foreign models come in."""
    runtime = pytest.importorskip("onnxruntime")
    data = queries[0]
    model = RankingSVM(C=0.5).fit(data.X, data.y, qid=data.qid)
    io.save_model(model, "mine.wm")
    succeed(widemargin("convert", "mine.wm", "mine.onnx"))
    (utility,) = runtime.InferenceSession("mine.onnx").run(None, {"X": data.X.astype(np.float32)})
    np.testing.assert_allclose(utility.ravel(), model.utility(data.X), atol=1e-5)
    io.write_svmlight_model(model, "foreign.dat")
    succeed(widemargin("convert", "foreign.dat", "back.wm"))
    np.testing.assert_allclose(io.load_model("back.wm").utility(data.X), model.utility(data.X), atol=1e-5)


def test_a_column_that_does_not_exist_is_named(widemargin):
    """A mistyped --qid, --id or --drop must not give another kind of model."""
    Path("x.csv").write_text("y,guest,a\n1,1,2\n0,1,3\n2,2,1\n0,2,5\n")
    for option in ("--qid", "--id", "--drop"):
        code, _, err = widemargin("fit", "x.csv", option, "guset")
        assert code == 2
        assert "guset" in err
        assert "it has y, guest, a" in err


def test_a_file_without_the_models_queries_is_one_list_and_says_so(widemargin):
    """The query column is remembered by its name; without it there is a note, and --qid names another."""
    Path("x.csv").write_text("y,guest,a\n1,1,2\n0,1,3\n2,2,1\n0,2,5\n")
    Path("z.csv").write_text("y,who,a\n1,1,2\n0,1,3\n2,2,1\n0,2,5\n")
    succeed(widemargin("fit", "x.csv", "--qid", "guest", "--C", 1, "--kind", "ranking"))
    code, out, err = widemargin("rank", "model.wm", "z.csv")
    assert code == 0
    assert "no column 'guest', so all rows are one list" in err
    assert out.splitlines()[0] == "rank,row,utility"
    assert succeed(widemargin("rank", "model.wm", "z.csv", "--qid", "who")).splitlines()[0] == "qid,rank,row,utility"


def test_items_of_votes_are_checked_by_name(widemargin):
    """Text among the items' features names file, column and line; numbers give a leaderboard."""
    votes_of(np.array([0.0, 2.0, 1.0]), 60, 0).to_csv("votes.csv", index=False)
    Path("bad.csv").write_text("name,size,city\nm0,1,Rome\nm1,2,Oslo\nm2,3,Bern\n")
    code, _, err = widemargin("compare", "votes.csv", "--items", "bad.csv")
    assert code == 2
    assert "bad.csv: column 'city' holds 'Rome'" in err
    Path("items.csv").write_text("name,size\nm0,0.1\nm1,2\nm2,1.1\n")
    out = succeed(widemargin("compare", "votes.csv", "--items", "items.csv", "--bootstrap", 10))
    assert out.splitlines()[1].split()[1] == "m1"
    assert "C = " in out


BAD = {
    "no such file": (None, "nowhere.csv", "nowhere.csv: No such file"),
    "no target": ("a,b\n1,2\n", "x.csv", "which column is the target"),
    "a word among numbers": ("y,qid,a\n1,1,2\n0,1,red\n", "x.csv", "column 'a' holds 'red', not a number, on line 3"),
    "an empty cell": ("y,qid,a\n1,1,2\n0,1,\n", "x.csv", "column 'a' is empty on line 3"),
    "an empty target": ("y,qid,a\n1,1,2\n,1,3\n", "x.csv", "the target y is empty on line 3"),
    "an empty file": ("", "x.csv", "x.csv: the file is empty."),
    "no rows": ("y,qid,a\n", "x.csv", "the file has no rows"),
    "one grade": ("y,qid,a\n1,1,2\n1,1,3\n1,2,3\n1,2,1\n", "x.csv", "nothing to compare"),
    "one query": ("y,qid,a\n1,1,2\n2,1,3\n", "x.csv", "pass --C"),
    "broken svmlight": ("1 qid:1 1:2\n2 qid:1 x:3\n", "x.dat", "not an SVMlight file"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_data_end_with_one_line_and_exit_code_2(widemargin, name):
    """No traceback: what was wrong, where, and what to do."""
    content, path, message = BAD[name]
    if content is not None:
        Path(path).write_text(content)
    code, out, err = widemargin("fit", path)
    assert code == 2
    (line,) = [part for part in err.splitlines() if part.startswith("widemargin: error: ")]
    assert message in line
    assert "Traceback" not in err
    assert not out
    assert not Path("model.wm").exists()


def test_a_foreign_model_file_is_refused(widemargin):
    """A file that is not a model gives one line, and a file with other features names the difference."""
    Path("model.wm").write_text("hello")
    Path("x.csv").write_text("y,a\n1,2\n")
    code, _, err = widemargin("predict", "model.wm", "x.csv")
    assert code == 2
    assert err.startswith("widemargin: error: ")


def test_columns_of_the_model_must_be_there(widemargin, queries):
    """Predicting on a file without a trained column names it."""
    data = queries[0]
    frame = pd.DataFrame(data.X, columns=list("abcd")).assign(qid=data.qid, grade=data.y)
    frame.to_csv("train.csv", index=False)
    frame.drop(columns="b").to_csv("less.csv", index=False)
    succeed(widemargin("fit", "train.csv", "--C", 1))
    code, _, err = widemargin("predict", "model.wm", "less.csv")
    assert code == 2
    assert "the column 'b' that the model was trained on is missing" in err


def test_info_reads_any_saved_model(widemargin, queries):
    """A model saved from Python, without the command line's notes, is described and used."""
    data = queries[0]
    io.save_model(RankingSVM(C=0.5).fit(data.X, data.y, qid=data.qid), "mine.wm")
    facts = json.loads(succeed(widemargin("info", "mine.wm", "--json")))
    assert facts["kind"] == "ranking"
    assert facts["C"] == 0.5
    assert facts["duality gap"] <= 1e-4


@pytest.mark.parametrize("command", [c.name or c.callback.__name__ for c in cli.app.registered_commands])
def test_every_command_has_help_with_an_example(widemargin, command):
    """`--help` shows how the command is typed."""
    assert f"widemargin {command}" in succeed(widemargin(command, "--help")).replace("\n", " ")


def test_the_version_is_printed(widemargin):
    """`--version` works without a command."""
    assert succeed(widemargin("--version")).startswith("widemargin 0")


def test_without_typer_the_message_says_what_to_install():
    """The console script without its extra is one line, not a traceback."""
    code = "import sys; sys.modules['typer'] = None; from widemargin.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 1
    assert "pip install 'widemargin[cli]'" in done.stderr
    assert "Traceback" not in done.stderr
