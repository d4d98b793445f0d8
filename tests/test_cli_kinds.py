"""The command line with every kind of model: ranked lists, votes under other names, columns left out, help."""

import io as std_io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from widemargin import ComparisonSVM, OnItems, Pairs, RankingSVM, io
from widemargin.cli import app as cli
from widemargin.datasets import make_choices, make_ordinal
from widemargin.uncertainty import bootstrap_utilities

COMMANDS = [c.name or c.callback.__name__ for c in cli.app.registered_commands]


def succeed(done):
    """Return the output of a command that ended well."""
    code, out, err = done
    assert code == 0, err
    return out


def frame_of(text):
    """Return printed CSV as a frame."""
    return pd.read_csv(std_io.StringIO(text))


@pytest.fixture
def cafes(tmp_path):
    """Items with two numbers and a word, and votes on them with ties, under other names than the usual."""
    rng = np.random.default_rng(0)
    features = pd.DataFrame({"price": rng.uniform(1, 5, 15), "noise": rng.uniform(0, 10, 15), "city": "Rome"})
    names = np.array([f"cafe{k}" for k in range(15)])
    index = np.array([rng.choice(15, 2, replace=False) for _ in range(80)])
    gap = np.diff((features["price"] - 0.3 * features["noise"]).to_numpy()[index], axis=1).ravel()
    features.insert(0, "name", names)
    features.to_csv(tmp_path / "items.csv", index=False)
    votes = pd.DataFrame({"a": names[index[:, 0]], "b": names[index[:, 1]]})
    votes["won"] = np.where(np.abs(gap) < 0.4, "tie", np.where(gap > 0, votes["a"], votes["b"]))
    votes.to_csv(tmp_path / "votes.csv", index=False)
    return features, votes


FIT_CAFES = ("fit", "votes.csv", "--items", "items.csv", "--votes", "a", "b", "won", "--drop", "city", "--C", 10)


def test_a_model_of_pairs_ranks_items(widemargin, cafes):
    """`rank` takes the file of items and orders it by the utility that decides the comparisons."""
    succeed(widemargin(*FIT_CAFES))
    board = frame_of(succeed(widemargin("rank", "model.wm", "items.csv")))
    assert list(board.columns) == ["rank", "row", "utility"]
    assert board["utility"].is_monotonic_decreasing
    items = cafes[0].set_index("name").loc[board["row"], ["price", "noise"]].to_numpy()
    against_first = Pairs(items, np.column_stack([np.zeros(15, dtype=int), np.arange(15)]))
    differences = io.load_model("model.wm").decision_function(against_first)
    np.testing.assert_allclose(board["utility"][0] - board["utility"], differences, atol=1e-12)
    code, _, err = widemargin("rank", "model.wm", "votes.csv")
    assert code == 2
    assert "give the file of items" in err


def test_a_model_of_ordered_labels_ranks_rows_and_names_their_labels(widemargin):
    """The list is by utility, with the labels that `predict` gives; --qid makes lists of it."""
    data = make_ordinal(60, random_state=0)
    frame = pd.DataFrame(data.X, columns=["a", "b"]).assign(label=data.y, who=np.tile(["x", "y"], 30))
    frame.to_csv("train.csv", index=False)
    succeed(widemargin("fit", "train.csv", "--drop", "who", "--C", 1))
    labels = np.array(succeed(widemargin("predict", "model.wm", "train.csv")).split(), dtype=int)
    board = frame_of(succeed(widemargin("rank", "model.wm", "train.csv")))
    assert list(board.columns) == ["rank", "row", "label", "utility"]
    assert board["utility"].is_monotonic_decreasing
    assert board["label"].is_monotonic_decreasing
    assert list(board["label"]) == list(labels[board["row"] - 1])
    lists = frame_of(succeed(widemargin("rank", "model.wm", "train.csv", "--qid", "who", "--top", 1)))
    assert list(lists["qid"]) == ["x", "y"]
    for who, row in zip(lists["qid"], lists["row"], strict=True):
        assert row == board["row"][frame["who"].to_numpy()[board["row"] - 1] == who].iloc[0]


def test_choices_and_values_are_ranked_and_classes_refused(widemargin):
    """The best of each set comes first; values have their value; classes have no order."""
    data = make_choices(20, random_state=0)
    pd.DataFrame(data.X).add_prefix("f").assign(qid=data.qid, chosen=data.y).to_csv("sets.csv", index=False)
    succeed(widemargin("fit", "sets.csv", "--C", 1))
    best = frame_of(succeed(widemargin("rank", "model.wm", "sets.csv", "--top", 1)))
    model = io.load_model("model.wm")
    chosen = model[-1].choose(model[:-1].transform(data.X), data.qid)
    assert list(best["row"]) == list(chosen + 1)
    frame = pd.DataFrame({"a": np.arange(30.0)})
    frame.assign(y=frame["a"] ** 1.5).to_csv("values.csv", index=False)
    succeed(widemargin("fit", "values.csv", "--C", 10))
    board = frame_of(succeed(widemargin("rank", "model.wm", "values.csv")))
    assert list(board["row"]) == list(range(30, 0, -1))
    want = np.loadtxt(std_io.StringIO(succeed(widemargin("predict", "model.wm", "values.csv"))))
    np.testing.assert_allclose(board["value"], want[::-1])
    frame.assign(y=np.where(frame["a"] > 9, "yes", "no")).to_csv("classes.csv", index=False)
    succeed(widemargin("fit", "classes.csv", "--C", 1))
    code, _, err = widemargin("rank", "model.wm", "classes.csv")
    assert code == 2
    assert "--kind ranking" in err


def test_votes_may_have_other_names_when_predicting(widemargin, cafes):
    """--votes overrides the names of the fit; predictions need no winner, measures do."""
    succeed(widemargin(*FIT_CAFES))
    want = succeed(widemargin("predict", "model.wm", "votes.csv", "--items", "items.csv"))
    measured = succeed(widemargin("evaluate", "model.wm", "votes.csv", "--items", "items.csv"))
    cafes[1].set_axis(["x", "y", "z"], axis=1).to_csv("other.csv", index=False)
    other = ("model.wm", "other.csv", "--items", "items.csv")
    code, _, err = widemargin("predict", *other)
    assert code == 2
    assert "no column 'a'; it has x, y, z. --votes" in err
    assert succeed(widemargin("predict", *other, "--votes", "x", "y", "z")) == want
    assert succeed(widemargin("evaluate", *other, "--votes", "x", "y", "z")) == measured
    cafes[1].set_axis(["x", "y", "z"], axis=1)[["x", "y"]].to_csv("other.csv", index=False)
    assert succeed(widemargin("predict", *other, "--votes", "x", "y", "z")) == want
    code, _, err = widemargin("evaluate", *other, "--votes", "x", "y", "z")
    assert code == 2
    assert "no column 'z'" in err


def test_python_makes_the_same_model_of_pairs(widemargin, cafes):
    """What the page says: scaled items, C of the mean error, and the ties that `info` shows."""
    told = json.loads(succeed(widemargin(*FIT_CAFES[:-2], "--json")))
    items = cafes[0].drop(columns="city")
    pairs, y = Pairs.from_frame(cafes[1], left="a", right="b", winner="won", items=items)
    model = make_pipeline(OnItems(StandardScaler()), ComparisonSVM(C=told["C"], C_scale="mean", ties=told["ties"])).fit(
        pairs, y
    )
    assert model[-1].tie_width_ == pytest.approx(told["tie width"], rel=1e-6)
    assert model[-1].objective_ == pytest.approx(told["objective"], rel=1e-9)


@pytest.mark.usefixtures("cafes")
def test_how_ties_are_learned_is_chosen_and_shown(widemargin):
    """Votes without ties do not collapse, and --ties decides."""
    votes = pd.read_csv("votes.csv")
    votes[votes["won"] != "tie"].to_csv("votes.csv", index=False)
    code, out, err = widemargin(*FIT_CAFES, "--json")
    assert code == 0
    assert "warning" not in err
    assert json.loads(out)["ties"] == "threshold"
    code, out, err = widemargin(*FIT_CAFES, "--json", "--ties", "margin")
    assert json.loads(out)["ties"] == "margin"
    assert "the optimum is u = 0" in err
    Path("x.csv").write_text("y,a\n1,2\n0,1\n2,2\n3,5\n")
    code, _, err = widemargin("fit", "x.csv", "--ties", "margin")
    assert code == 2
    assert "--ties is for pairs" in err


def test_columns_are_dropped_by_commas_repeats_or_a_name_with_a_comma(widemargin):
    """All ways leave the same features; words among the features are named together, ready to be dropped."""
    frame = pd.DataFrame({"y": [1, 0, 2, 0], "qid": [1, 1, 2, 2], "a": [2.0, 3, 1, 5], "b": "x", "c, d": "z"})
    frame.to_csv("x.csv", index=False)
    code, _, err = widemargin("fit", "x.csv", "--C", 1)
    assert code == 2
    assert "--drop b,c, d leaves them out" in err
    frame.assign(e="w").to_csv("x.csv", index=False)
    for words in (("b", "c, d", "e"), ("c, d", "e,b"), (" b , e", "c, d")):
        options = [part for word in words for part in ("--drop", word)]
        assert json.loads(succeed(widemargin("fit", "x.csv", "--C", 1, *options, "--json")))["features"] == 1
    code, _, err = widemargin("fit", "x.csv", "--C", 1, "--drop", "b,f")
    assert code == 2
    assert "--drop f: no such column" in err


def test_item_columns_are_dropped(widemargin, cafes):
    """--drop is for the items of `compare` too, and says when there are none."""
    code, _, err = widemargin("compare", "votes.csv", "--votes", "a", "b", "won", "--items", "items.csv")
    assert code == 2
    assert "items.csv: column 'city' holds 'Rome'" in err
    how = ("--votes", "a", "b", "won", "--drop", "city", "--bootstrap", 3, "--C", 1)
    board = json.loads(succeed(widemargin("compare", "votes.csv", "--items", "items.csv", *how, "--json")))
    assert {row["item"] for row in board["items"]} == set(cafes[0]["name"])
    code, _, err = widemargin("compare", "votes.csv", *how)
    assert code == 2
    assert "--drop" in err


def test_a_terminal_gets_short_numbers_in_columns_and_files_get_all_digits(widemargin):
    """Six digits for people, CSV with every digit for pipes and files."""
    frame = pd.DataFrame({"y": [1, 0, 2, 0], "qid": ["ann", "ann", "b", "b"], "a": [2.0, 3.1, 1.7, 5.3]})
    frame.to_csv("x.csv", index=False)
    succeed(widemargin("fit", "x.csv", "--C", 0.3))
    shown = succeed(widemargin("rank", "model.wm", "x.csv", terminal=True)).splitlines()
    piped = frame_of(succeed(widemargin("rank", "model.wm", "x.csv")))
    succeed(widemargin("rank", "model.wm", "x.csv", "-o", "ranks.csv", terminal=True))
    pd.testing.assert_frame_equal(pd.read_csv("ranks.csv"), piped, check_exact=True)
    u = io.load_model("model.wm").predict(frame[["a"]].to_numpy())
    np.testing.assert_array_equal(piped["utility"], u[piped["row"] - 1])
    assert shown[0].split() == ["qid", "rank", "row", "utility"]
    assert len({len(line) for line in shown}) == 1  # aligned
    digits = [line.split()[-1] for line in shown[1:]]
    assert max(len(word.strip("-0.").replace(".", "")) for word in digits) == 6
    np.testing.assert_allclose(np.array(digits, dtype=float), piped["utility"], rtol=1e-4)
    shown = succeed(widemargin("evaluate", "model.wm", "x.csv", "--per-query", terminal=True))
    assert shown.split()[:2] == ["qid", "NDCG@10"]
    succeed(widemargin("evaluate", "model.wm", "x.csv", "--per-query", "-o", "queries.csv", terminal=True))
    assert list(pd.read_csv("queries.csv")["qid"]) == ["ann", "b"]


def test_the_column_of_names_is_remembered(widemargin):
    """`rank` names rows as --id did when fitting, where the column is there."""
    Path("x.csv").write_text("y,qid,hotel,a\n1,1,ritz,2\n0,1,inn,3\n2,2,lodge,1\n0,2,hut,5\n")
    Path("z.csv").write_text("qid,a\n1,2\n1,3\n")
    succeed(widemargin("fit", "x.csv", "--id", "hotel", "--C", 1))
    assert list(frame_of(succeed(widemargin("rank", "model.wm", "x.csv")))["row"]) == ["ritz", "inn", "lodge", "hut"]
    assert list(frame_of(succeed(widemargin("rank", "model.wm", "z.csv")))["row"]) == [1, 2]


def test_models_fitted_on_frames_in_python_are_used_by_name(widemargin, cafes):
    """Features are found by their names, in any order, without a warning."""
    frame = pd.DataFrame({"qid": [1, 1, 2, 2], "a": [2.0, 3, 1, 5], "b": [0.0, 1, 0, 3], "y": [1, 0, 2, 0]})
    model = RankingSVM().fit(frame[["a", "b"]], frame["y"], qid=frame["qid"])
    io.save_model(model, "mine.wm")
    frame[["y", "b", "qid", "a"]].to_csv("x.csv", index=False)
    code, out, err = widemargin("rank", "mine.wm", "x.csv")
    assert (code, err) == (0, "")
    np.testing.assert_array_equal(frame_of(out)["utility"], model.predict(frame[["a", "b"]]))
    pairs, y = Pairs.from_frame(cafes[1], left="a", right="b", winner="won", items=cafes[0].drop(columns="city"))
    io.save_model(ComparisonSVM().fit(pairs, y), "pairs.wm")
    asked = ("--items", "items.csv", "--votes", "a", "b", "won")
    code, out, err = widemargin("predict", "pairs.wm", "votes.csv", *asked)
    assert (code, err) == (0, "")
    np.testing.assert_array_equal(np.array(out.split(), dtype=int), ComparisonSVM().fit(pairs, y).predict(pairs))


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_flags_without_a_type(widemargin, command):
    """There is nothing to type after a flag; what needs a value says what."""
    text = succeed(widemargin(command, "--help"))
    assert "bool" not in text.lower()
    assert re.search(r"--help +-h +Show this message", text)
    if command not in {"demo", "convert"}:
        assert re.search(r"--json +Write JSON", text)


def test_compare_shows_how_far_the_bootstrap_is(widemargin, cafes, monkeypatch):
    """Every resample passes through the bar, which is drawn on a terminal only."""
    seen = {}

    def counted(steps, name, _=None):
        for step in steps:
            seen[name] = seen.get(name, 0) + 1
            yield step

    how = ("compare", "votes.csv", "--votes", "a", "b", "won", "--bootstrap", 7)
    code, _, err = widemargin(*how, "--C", 1)
    assert (code, err) == (0, "")
    monkeypatch.setattr(cli, "_progress", counted)
    succeed(widemargin(*how))
    assert seen == {"cross-validation": 10, "bootstrap": 7}
    pairs, y = Pairs.from_frame(cafes[1], left="a", right="b", winner="won")
    how = {"n_boot": 4, "random_state": 0}
    watched = bootstrap_utilities(ComparisonSVM(), pairs, y, progress=lambda steps: counted(steps, "python"), **how)
    assert seen["python"] == 4
    np.testing.assert_array_equal(watched.samples, bootstrap_utilities(ComparisonSVM(), pairs, y, **how).samples)


CONFUSING = {
    "a column twice": ("y,a,a\n1,2,3\n", ("fit", "x.csv"), "two columns are called 'a'"),
    "an infinite number": (
        "y,qid,a\n1,1,2\n0,1,inf\n",
        ("fit", "x.csv"),
        "column 'a' holds inf, not a number, on line 3",
    ),
    "no such folder": ("y,a\n1,2\n", ("fit", "x.csv", "-o", "gone/m.wm"), "gone/m.wm: there is no folder gone"),
    "one row of each label": (
        "y,a\n1,2\n2,3\n3,4\n",
        ("fit", "x.csv"),
        "1 row of each label, so C cannot be cross-val",
    ),
    "a winner that did not play": (
        "left,right,winner\na,b,c\n",
        ("compare", "x.csv"),
        "x.csv: winner is 'c' for the pair",
    ),
    "no votes": ("left,right,winner\n", ("compare", "x.csv"), "x.csv: the file has no rows"),
    "an item twice": ("left,right,winner\na,b,a\n", ("fit", "x.csv", "--items", "items.csv"), "names 'a' twice"),
    "items of a ranking": (
        "y,a\n1,2\n",
        ("predict", "m.wm", "x.csv", "--items", "items.csv"),
        "--items and --votes are for",
    ),
}


@pytest.mark.parametrize("name", CONFUSING)
def test_what_confused_newcomers_is_one_line_that_helps(widemargin, name):
    """The file, the place in it, and what to do; before any work where that is possible."""
    content, words, message = CONFUSING[name]
    Path("x.csv").write_text(content)
    Path("items.csv").write_text("name,size\na,1\nb,2\na,3\n")
    io.save_model(RankingSVM().fit([[0.0], [1.0]], [0, 1]), "m.wm")
    code, out, err = widemargin(*words)
    assert (code, out) == (2, "")
    (line,) = [part for part in err.splitlines() if part.startswith("widemargin: error: ")]
    assert message in line


def test_small_classes_and_decimal_commas_are_read(widemargin):
    """Folds follow the rows that there are; a European CSV has ; between cells and , in numbers."""
    Path("x.csv").write_text("rating;x\n1;0,5\n2;1,5\n3;2,5\n3;3\n1;0,25\n2;1,75\n1;0\n")
    code, out, err = widemargin("fit", "x.csv", "--json")
    assert code == 0, err
    assert "warning" not in err
    assert json.loads(out)["cross-validation"]["score"] > 0.5
    values = frame_of(succeed(widemargin("rank", "model.wm", "x.csv")))
    assert values["row"][0] == 4
