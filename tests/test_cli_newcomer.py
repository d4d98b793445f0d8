"""The command line as a newcomer meets it: zipped files, holes in columns, words as grades, mistyped words."""

import gzip
import json
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from widemargin import RankingSVM, io
from widemargin.datasets import make_graded_queries


def succeed(done):
    """Return the output of a command that ended well."""
    code, out, err = done
    assert code == 0, err
    return out


def error_of(done):
    """Return the one line of a command that could not use what it was given."""
    code, out, err = done
    assert (code, out) == (2, "")
    (line,) = [part for part in err.splitlines() if not part.startswith("kind: ")]
    assert line.startswith("widemargin: error: ")
    return line


@pytest.fixture
def frame():
    """Graded queries with words as grades."""
    data = make_graded_queries(12, docs_per_query=6, n_features=3, noise=0.1, random_state=0)
    found = pd.DataFrame(data.X, columns=["a", "b", "c"])
    return found.assign(qid=data.qid, grade=np.array(["bad", "fair", "good", "great", "best"])[data.y.astype(int)])


def test_gzipped_files_are_read_from_a_path_and_from_stdin(widemargin):
    """By their first bytes, whatever they are called; a damaged one is said to be so."""
    text = "2 qid:1 1:3 2:1\n1 qid:1 1:2 2:4\n1 qid:2 1:0 2:5\n2 qid:2 1:1 2:5\n"
    packed = gzip.compress(text.encode())
    Path("plain.dat").write_text(text)
    Path("packed.dat.gz").write_bytes(packed)
    Path("cut.gz").write_bytes(packed[:-12])
    succeed(widemargin("fit", "packed.dat.gz", "--C", 1))
    want = succeed(widemargin("predict", "model.wm", "plain.dat"))
    assert succeed(widemargin("predict", "model.wm", "packed.dat.gz")) == want
    assert succeed(widemargin("predict", "model.wm", "-", stdin=packed)) == want
    assert "cut.gz: gzipped, but damaged or cut short" in error_of(widemargin("fit", "cut.gz"))


def test_a_gzipped_csv_is_a_csv(widemargin, frame):
    """The suffix before .gz counts."""
    numbers = frame.assign(grade=frame["grade"].map({"bad": 0, "fair": 1, "good": 2, "great": 3, "best": 4}))
    numbers.to_csv("x.csv.gz", index=False)
    numbers.to_csv("x.tsv.gz", index=False, sep="\t")
    first, second = (
        json.loads(succeed(widemargin("fit", name, "--C", 1, "--json"))) for name in ("x.csv.gz", "x.tsv.gz")
    )
    assert first == second
    assert first["training rows"] == len(frame)


def test_columns_with_holes_are_not_called_words(widemargin):
    """A column of words is named first; numbers with holes are to be filled, and say how many there are."""
    Path("x.csv").write_text("y,qid,a,b,name\n1,1,2,,Rome\n0,1,,3,Oslo\n2,1,,4,Lima\n")
    line = error_of(widemargin("fit", "x.csv"))
    assert "column 'name' holds 'Rome', not a number, on line 2. Mend it" in line
    assert "--drop name leaves it out" in line
    line = error_of(widemargin("fit", "x.csv", "--drop", "name"))
    assert "column 'a' is empty on line 3, and 2 more empty cells in a, b. Fill in a number" in line
    assert "--drop a,b leaves them out" in line
    assert "--id" not in line


def test_words_are_grades_where_their_order_is_given(widemargin, frame):
    """With queries they are ranked, as their numbers would be; without an order the message asks for it."""
    words = ["bad", "fair", "good", "great", "best"]
    frame.to_csv("words.csv", index=False)
    frame.assign(grade=frame["grade"].map(words.index)).to_csv("numbers.csv", index=False)
    assert "pass --order worst,...,best" in error_of(widemargin("fit", "words.csv"))
    order = ("--order", ",".join(words))
    facts = json.loads(succeed(widemargin("fit", "words.csv", *order, "--C", 1, "--json", "-o", "words.wm")))
    assert facts["kind"] == "ranking"
    succeed(widemargin("fit", "numbers.csv", "--C", 1, "-o", "numbers.wm"))
    for command in (("predict",), ("evaluate", "--json")):
        found = succeed(widemargin(*command, "words.wm", "words.csv"))
        assert found == succeed(widemargin(*command, "numbers.wm", "numbers.csv"))


def test_weights_say_what_the_utility_is_made_of(widemargin, frame):
    """`fit` and `info` show the weights of a linear utility by name, the largest first, and JSON has all."""
    frame.assign(grade=10 * frame["b"] - frame["a"]).to_csv("x.csv", index=False)
    out = succeed(widemargin("fit", "x.csv", "--C", 1))
    (line,) = [line for line in out.splitlines() if line.startswith("weights")]
    assert line.split()[1::2][:2] == ["b", "a"]
    assert line.split()[2].startswith("+")
    weights = json.loads(succeed(widemargin("info", "model.wm", "--json")))["weights"]
    np.testing.assert_array_equal([weights[name] for name in "abc"], io.load_model("model.wm")[-1].coef_)
    wide = RankingSVM().fit(np.random.default_rng(0).normal(size=(30, 12)), np.arange(30))
    io.save_model(wide, "wide.wm")
    assert "... (12; --json has all)" in succeed(widemargin("info", "wide.wm"))
    assert len(json.loads(succeed(widemargin("info", "wide.wm", "--json")))["weights"]) == 12
    io.save_model(RankingSVM(kernel="rbf").fit([[0.0], [1.0]], [0, 1]), "rbf.wm")
    assert "weights" not in succeed(widemargin("info", "rbf.wm"))


MISTYPED = {
    "a command": (("fiit", "x.csv"), "'fiit'"),
    "an option": (("fit", "x.csv", "--targt", "y"), "--targt"),
    "a kind": (("fit", "x.csv", "--kind", "rankng"), "'rankng'"),
    "a number": (("fit", "x.csv", "--C", "much"), "--C"),
    "no data": (("rank", "model.wm"), "Missing argument"),
}


@pytest.mark.parametrize("name", MISTYPED)
def test_a_mistyped_command_is_one_line_too(widemargin, name):
    """As bad data are, with where to read on."""
    words, message = MISTYPED[name]
    line = error_of(widemargin(*words))
    assert message in line
    assert "--help`." in line


def test_without_arguments_the_help_is_shown(widemargin):
    """Once, and with no error."""
    code, out, err = widemargin()
    assert code in {0, 2}
    assert (out + err).count("Usage: widemargin") == 1
    assert "error" not in err


def test_only_the_model_that_is_kept_warns_and_once(widemargin):
    """Of two ways to learn from ties one may collapse; that is no concern of who gets the other."""
    rng = np.random.default_rng(0)
    items = pd.DataFrame(rng.normal(size=(8, 3)), columns=["a", "b", "c"])
    draws = [(rng.choice(8, 2, replace=False), rng.logistic()) for _ in range(150)]
    index, noise = (np.array(part) for part in zip(*draws, strict=True))
    gap = (2 * items.to_numpy() @ [1, -0.5, 0.2])[index] @ [1, -1] + noise
    items.insert(0, "name", [f"i{k}" for k in range(8)])
    items.to_csv("items.csv", index=False)
    names = items["name"].to_numpy()[index]
    winner = np.where(np.abs(gap) < 0.7, "tie", np.where(gap > 0, names[:, 0], names[:, 1]))
    pd.DataFrame({"left": names[:, 0], "right": names[:, 1], "winner": winner}).to_csv("votes.csv", index=False)
    code, out, err = widemargin("fit", "votes.csv", "--items", "items.csv")
    assert code == 0
    assert "threshold" in out
    assert "warning" not in err
    assert "the optimum is u = 0" in widemargin("fit", "votes.csv", "--items", "items.csv", "--ties", "margin")[2]
    Path("ties.csv").write_text("left,right,winner\na,b,tie\na,c,tie\n")
    _, _, err = widemargin("compare", "ties.csv", "--bootstrap", 5)
    assert err.count("warning: ComparisonSVM: the optimum is u = 0") == 1


def test_one_class_is_named_as_it_was_written(widemargin):
    """Not as NumPy writes it."""
    Path("x.csv").write_text("y,a\nno,1\nno,2\n")
    assert "y has one class ('no')" in error_of(widemargin("fit", "x.csv"))


def test_other_numbers_of_features_are_counted(widemargin):
    """In the words of the file, not of its reader."""
    Path("x.dat").write_text("1 1:2 2:3 3:1\n2 1:1 2:1 3:1\n")
    io.save_model(RankingSVM().fit([[0.0], [1.0]], [0, 1]), "m.wm")
    assert "x.dat: 3 features; the model was trained on 1." in error_of(widemargin("predict", "m.wm", "x.dat"))


def test_documents_are_ranked_by_the_names_that_letor_gives_them(widemargin):
    """After a # at the end of each line; where a line has none, rows are numbered."""
    lines = [
        "2 qid:1 1:3 #docid = GX03 inc = 1",
        "1 qid:1 1:2 # docid=GX01",
        "1 qid:2 1:0 #docid = 7",
        "2 qid:2 1:1 #docid = 9",
    ]
    Path("x.dat").write_text("\n".join(lines) + "\n")
    succeed(widemargin("fit", "x.dat", "--C", 1))

    def rows():
        return pd.read_csv(StringIO(succeed(widemargin("rank", "model.wm", "x.dat"))), dtype=str)["row"].tolist()

    assert rows() == ["GX03", "GX01", "9", "7"]
    Path("x.dat").write_text("\n".join([*lines[:3], "2 qid:2 1:1"]) + "\n")
    assert rows() == ["1", "2", "4", "3"]


def one_list(n=40):
    """Return a CSV of one list, whose target the first column nearly gives."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 2))
    return pd.DataFrame(X, columns=["a", "b"]).assign(y=3 * X[:, 0] + rng.standard_normal(n)).to_csv(index=False)


def test_one_list_is_cross_validated_by_its_rows(widemargin):
    """Without query ids nothing else can be held out; too few rows to hold two out ask for --C."""
    Path("x.csv").write_text(one_list())
    found = json.loads(succeed(widemargin("fit", "x.csv", "--kind", "ranking", "--target", "y", "--json")))
    assert 0.8 < found["cross-validation"]["score"] < 1.0
    Path("x.csv").write_text("y,a\n1,2\n2,3\n3,4.5\n")
    assert "1 query, so C cannot be cross-validated" in error_of(widemargin("fit", "x.csv", "--kind", "ranking"))


def test_a_best_C_at_the_end_of_those_tried_is_said(widemargin):
    """The grid may be too short: the next value is named."""
    Path("x.csv").write_text("y,a\n" + "".join(f"{k},{1e-4 * k * k}\n" for k in range(30)))
    code, _, err = widemargin("fit", "x.csv", "--kind", "value", "--no-scale")
    assert code == 0
    assert "C = 1000 is the largest value tried and the best; --C 10000 may be better still" in err


def test_a_picture_of_no_known_kind_is_refused_before_the_work(widemargin):
    """Its name is wrong, not the votes, which do not even exist."""
    line = error_of(widemargin("compare", "votes.csv", "--picture", "board.pgn"))
    assert "board.pgn: expected a name that ends in a kind of picture" in line
    assert ".png" in line
