"""The commands. Each one reads, calls the library, and prints; bad data end it with one line and exit code 2."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import track

from .. import __version__, io
from .. import demo as demo_module
from ..io._text import write_bytes
from ..onnx import to_onnx
from ..pairs import Pairs
from . import judge, leaders, learn, show
from .kinds import RECIPES, Kind, checked_target, guess
from .tables import Columns, DataError, Table, numbers, open_bytes, read_frame, read_table

app = typer.Typer(
    help="Learn what people prefer: rankings, ordered labels, votes with ties, choices.",
    epilog="Coming from SVM-rank: `svm_rank_learn -c 20 train.dat model` is `widemargin fit train.dat -o model`, and "
    "`svm_rank_classify test.dat model out` is `widemargin predict model test.dat -o out`.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Data = Annotated[str, typer.Argument(help="SVMlight / LETOR, CSV, TSV or Parquet file; - for stdin.")]
ModelFile = Annotated[str, typer.Argument(help="A model file that `widemargin fit` wrote.")]
Output = Annotated[str, typer.Option("--output", "-o", help="Where to write; - for stdout.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON, for machines.")]
Target = Annotated[str | None, typer.Option(help="Column with the target (CSV, Parquet); guessed from usual names.")]
Qid = Annotated[str | None, typer.Option(help="Column with the query ids; guessed from usual names.")]
Items = Annotated[
    str | None, typer.Option(help="For pairs: a file with the items' features, names in its first column.")
]
Names = Annotated[tuple[str, str, str], typer.Option(help="For pairs: the columns left, right, winner.")]
VOTES = ("left", "right", "winner")


def run():
    """Run a command; data that cannot be used give one line and exit code 2."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = lambda message, *_, **__: show.note(f"widemargin: warning: {_one_line(message)}")
            app()
    except (DataError, ValueError, TypeError, OSError, MemoryError, ImportError) as error:
        show.note(f"widemargin: error: {_one_line(error)}")
        raise SystemExit(2) from None


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False):
    if version:
        sys.stdout.write(f"widemargin {__version__}\n")
        raise typer.Exit


@app.command()
def fit(
    data: Data,
    output: Annotated[str, typer.Option("--output", "-o", help="Where to write the model.")] = "model.wm",
    kind: Annotated[Kind | None, typer.Option(help="What the data hold; guessed, and the guess is printed.")] = None,
    target: Target = None,
    qid: Qid = None,
    id: Annotated[str | None, typer.Option(help="Column that names the rows; it is not a feature.")] = None,  # noqa: A002
    drop: Annotated[list[str] | None, typer.Option(help="A column to leave out; may be repeated.")] = None,
    order: Annotated[str | None, typer.Option(help="Ordered labels, worst,...,best.")] = None,
    items: Items = None,
    votes: Names = VOTES,
    C: Annotated[
        float | None, typer.Option("--C", "-c", help="Weight of the errors; default: cross-validated.")
    ] = None,
    kernel: Annotated[str, typer.Option(help="linear, rbf, poly or sigmoid.")] = "linear",
    gamma: Annotated[str, typer.Option(help="Of the kernel: scale, auto or a number.")] = "scale",
    loss: Annotated[str | None, typer.Option(help="hinge or squared_hinge; for values epsilon_insensitive ...")] = None,
    tol: Annotated[float, typer.Option(help="Relative duality gap to reach.")] = 1e-4,
    folds: Annotated[int, typer.Option(help="Folds of the cross-validation.")] = 5,
    scale: Annotated[bool, typer.Option(help="Scale the features to comparable sizes first.")] = True,
    json: AsJson = False,
):
    """Learn a model from examples and write it to a file.

    C is chosen by cross-validation, by query where there are queries, along a path of warm starts; it weighs the mean
    error (C_scale="mean"), so that the same values suit small and large data.

    Example: widemargin fit train.dat -o model.wm
    """
    columns = Columns(target=target, qid=qid, row=id, drop=tuple(drop or ()))
    kind, X, y, groups, found = _examples(data, columns, kind, items, votes, order)
    options = {"kernel": kernel, "gamma": _gamma(gamma), "tol": tol} | ({} if loss is None else {"loss": loss})
    if kind is Kind.ordinal and order:
        options["classes"] = order.split(",")
    model, report = learn.fit(kind, X, y, groups, C=C, folds=folds, scale=scale, progress=_progress, **options)
    about = found | {"kind": kind.value, "n_rows": len(y), "votes": list(votes)}
    if report is not None:
        about["cross_validation"] = show.as_json(report) | {"measure": RECIPES[kind].score}
    is_new = not Path(output).exists()
    io.save_model(model, output, metadata=about)
    show.note(f"{'wrote' if is_new else 'replaced'} {output}")
    summary = _summary(model[-1], about) | {"model": output}
    show.write_json(summary) if json else sys.stdout.write(_lines(summary))


@app.command()
def predict(
    model: ModelFile,
    data: Data,
    output: Output = "-",
    items: Items = None,
    json: AsJson = False,
):
    """Print one prediction per row: a utility, a label, a value, or +1 / 0 / -1 for pairs.

    Example: widemargin predict model.wm test.dat -o predictions.txt
    """
    fitted, about, table = _loaded(model, data, items)
    values = fitted.predict(table.X)
    if json:
        show.write_json({"kind": about["kind"], "predictions": values}, output)
    else:
        show.write_rows({"prediction": values}, output, header=False)


@app.command()
def rank(
    model: ModelFile,
    data: Data,
    output: Output = "-",
    top: Annotated[int | None, typer.Option(help="Only the best so many of each query.")] = None,
    id: Annotated[str | None, typer.Option(help="Column that names the rows; else they are numbered from 1.")] = None,  # noqa: A002
    qid: Annotated[
        str | None, typer.Option(help="Column with the query ids; else the one that the model knows.")
    ] = None,
    json: AsJson = False,
):
    """Print the rows in order of preference, within each query: qid, rank, row, utility.

    Example: widemargin rank model.wm candidates.csv --top 10
    """
    fitted, _, table = _loaded(model, data, None, row=id, qid=qid)
    final = fitted[-1]
    if not hasattr(final, "rank"):
        raise DataError(f"{model} is of {type(final).__name__}, which has no ranks; use predict.")
    ready = fitted[:-1].transform(table.X) if len(fitted) > 1 else table.X
    utility, ranks = final.utility(ready), final.rank(ready, qid=table.qid)
    query = np.zeros(len(table), dtype=np.int64) if table.qid is None else table.qid
    first = {q: k for k, q in enumerate(dict.fromkeys(query.tolist()))}
    order = np.lexsort((ranks, [first[q] for q in query.tolist()]))
    order = order[ranks[order] <= top] if top is not None else order
    columns = {} if table.qid is None else {"qid": query[order]}
    columns |= {"rank": ranks[order], "row": table.row[order], "utility": utility[order]}
    show.write_json({name: list(column) for name, column in columns.items()}, output) if json else show.write_rows(
        columns, output
    )


@app.command()
def evaluate(
    model: ModelFile,
    data: Data,
    k: Annotated[int, typer.Option("--k", help="Depth of NDCG.")] = 10,
    per_query: Annotated[bool, typer.Option("--per-query", help="Print the metrics of each query, as CSV.")] = False,
    bootstrap: Annotated[int, typer.Option(help="Resamples for the 95 % intervals; 0 for none.")] = 200,
    items: Items = None,
    qid: Annotated[
        str | None, typer.Option(help="Column with the query ids; else the one that the model knows.")
    ] = None,
    json: AsJson = False,
):
    """Measure a model on labelled data with the metrics that fit its kind, with bootstrap intervals.

    Example: widemargin evaluate model.wm test.dat --k 5
    """
    fitted, about, table = _loaded(model, data, items, qid=qid, needs_target=True)
    kind, final = Kind(about["kind"]), fitted[-1]
    y = table.target if kind is Kind.pairs else checked_target(table, kind, _words(final))
    functions = judge.measures(kind, k, _labels(final), getattr(final, "tie_width_", 0.0))
    predicted = judge.predictions(fitted, kind, table.X)
    if per_query:
        columns = judge.per_query(functions, y, predicted, table.qid, _progress)
        show.write_json({name: list(c) for name, c in columns.items()}) if json else show.write_rows(columns)
        return
    found = judge.evaluate(functions, y, predicted, table.qid, n_bootstrap=bootstrap, progress=_progress)
    if json:
        show.write_json({"kind": kind.value, "n_rows": len(table), "metrics": found})
        return
    rows = [("metric", "value", "95 % interval")]
    for name, at in found.items():
        rows.append(
            (name, f"{at['value']:.4f}", "" if np.isnan(at["lower"]) else f"{at['lower']:.4f} to {at['upper']:.4f}")
        )
    sys.stdout.write(show.table(rows, right=(1,)))


@app.command()
def compare(
    data: Annotated[
        str, typer.Argument(help="Votes: a CSV, TSV or Parquet file with left, right, winner; - for stdin.")
    ],
    items: Items = None,
    votes: Names = VOTES,
    C: Annotated[
        float | None, typer.Option("--C", "-c", help="Weight of the errors; default: cross-validated.")
    ] = None,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    bootstrap: Annotated[int, typer.Option(help="Resamples of the votes for the intervals.")] = 200,
    ask: Annotated[int, typer.Option(help="How many next pairs to suggest.")] = 5,
    output: Annotated[str | None, typer.Option("--output", "-o", help="Write the leaderboard as CSV too.")] = None,
    picture: Annotated[str | None, typer.Option(help="Draw the leaderboard into this file.")] = None,
    json: AsJson = False,
):
    """Make a leaderboard from votes: utilities with intervals, and the pairs to ask next.

    The winner is a name, "left", "right" or "tie"; an empty one is a tie. Items may have features; without them each
    item is its own.

    Example: widemargin compare votes.csv --ask 10
    """
    found = leaders.leaders(data, items, votes, C=C, level=level, n_bootstrap=bootstrap, n_ask=ask, progress=_progress)
    if output is not None:
        show.write_rows(found.columns, output)
    if picture is not None:
        found.draw(picture)
    show.write_json(found.facts()) if json else sys.stdout.write(found.text())


@app.command()
def convert(
    source: Annotated[str, typer.Argument(help="A model: of widemargin, SVM-rank (SVM-light) or LIBLINEAR.")],
    output: Annotated[str, typer.Argument(help="Where to write: .onnx for ONNX, anything else a widemargin model.")],
):
    """Read an SVM-rank or LIBLINEAR model, or write a model as ONNX.

    Example: widemargin convert model.wm model.onnx
    """
    about = {}
    head = open_bytes(source).getvalue()[:64]
    if head.startswith(b"SVM-light"):
        model = io.read_svmlight_model(source)
    elif head.startswith((b"solver_type", b"nr_class", b"nr_feature")):
        model = io.read_liblinear_model(source)
    else:
        model, about = io.load_model(source), io.model_info(source)["metadata"]
    if Path(output).suffix == ".onnx":
        write_bytes(output, [to_onnx(model).SerializeToString()])
    else:
        io.save_model(model, output, metadata=about)
    show.note(f"wrote {output}")


@app.command()
def info(model: ModelFile, json: AsJson = False):
    """Say what a model file holds: kind, parameters, certificate, features.

    Example: widemargin info model.wm
    """
    fitted, about = _model(model)
    summary = _summary(fitted[-1], about)
    show.write_json(summary) if json else sys.stdout.write(_lines(summary))


@app.command()
def demo(picture: Annotated[str, typer.Option(help="Where to write the picture.")] = "demo.png"):
    """Show on generated data what widemargin does: a table and a picture.

    Example: widemargin demo
    """
    demo_module.main(["--picture", picture])


def _examples(data, columns, kind, items, votes, order):
    """Return kind, X, y, qid and feature names of a training file."""
    if kind is Kind.pairs or items is not None:
        pairs, y, names = _votes(data, items, votes)
        return Kind.pairs, pairs, y, None, {"features": names}
    table = read_table(data, columns)
    if kind is None:
        kind, why = (Kind.ordinal, "--order was given") if order else guess(table)
        show.note(f"kind: {kind.value} ({why}); --kind changes that")
    y = checked_target(table, kind, order.split(",") if order else None)
    if RECIPES[kind].needs_qid and table.qid is None and kind is Kind.choice:
        raise DataError("choices need query ids, one per set; pass --qid COLUMN.")
    groups = np.zeros(len(table), dtype=np.int64) if table.qid is None else table.qid
    return kind, table.X, y, groups, {"features": table.names, "target": table.target_name, "qid": table.qid_name}


def _votes(data, items, votes, features=None):
    """Return pairs, outcomes and feature names from a file of votes and one of items."""
    frame = read_frame(data)
    missing = [name for name in votes if name not in frame.columns]
    if missing:
        has = f"it has {', '.join(map(str, frame.columns))}"
        raise DataError(
            f"{data}: no column {missing[0]!r}; {has}. When fitting, --votes A B C names left, right, winner."
        )
    left, right, winner = votes
    if items is None:
        raise DataError("pairs need the items' features: pass --items FILE. For votes alone, use `widemargin compare`.")
    table = read_frame(items)
    if features is not None:
        table = table[[table.columns[0], *features]]
    pairs, y = Pairs.from_frame(frame, left=left, right=right, winner=winner, items=table)
    return Pairs(numbers(items, pairs.items), pairs.index), y, [str(name) for name in table.columns[1:]]


def _loaded(model, data, items, *, row=None, qid=None, needs_target=False):
    """Return the pipeline, what was noted when it was made, and the table that it is asked about."""
    fitted, about = _model(model)
    if about["kind"] == Kind.pairs:
        pairs, y, _ = _votes(data, items, tuple(about["votes"]), about["features"])
        return fitted, about, Table(X=pairs, names=None, target=y, qid=None, row=np.arange(1, len(pairs) + 1))
    names = about.get("features")
    columns = Columns(
        about.get("target"),
        qid or about.get("qid"),
        row,
        features=None if names is None else tuple(names),
        is_known=qid is None,
    )
    table = read_table(data, columns, n_features=fitted.n_features_in_, needs_target=needs_target)
    if table.X.shape[1] != fitted.n_features_in_:
        raise DataError(f"{data}: {table.X.shape[1]} features; the model was trained on {fitted.n_features_in_}.")
    return fitted, about, table


def _model(path):
    """Return a model as a pipeline, and its metadata."""
    if not Path(path).is_file():
        raise DataError(f"{path}: no such model file; `widemargin fit` writes one.")
    fitted, about = io.load_model(path), io.model_info(path)["metadata"]
    kinds = {recipe.estimator.__name__: kind.value for kind, recipe in RECIPES.items()} | {
        "RankingVectorMachine": "ranking"
    }
    fitted = fitted if hasattr(fitted, "steps") else learn.make_pipeline(fitted)
    name = type(fitted[-1]).__name__.removesuffix("CV")
    if name not in kinds:
        raise DataError(f"{path} holds a {name}, which the command line does not use; load it with widemargin.io.")
    return fitted, {"kind": kinds[name], "votes": VOTES} | about


def _summary(model, about):
    """Return what there is to know of a fitted model, in order."""
    facts = {
        "kind": about["kind"],
        "estimator": type(model).__name__,
        "C": model.C,
        "kernel": str(model.kernel),
        "features": model.n_features_in_,
        "training rows": about.get("n_rows"),
        "objective": getattr(model, "objective_", None),
        "duality gap": getattr(model, "duality_gap_", None),
        "solver": getattr(model, "solver_", None),
        "iterations": getattr(model, "n_iter_", None),
        "vectors": None if getattr(model, "support_", None) is None else int(np.size(model.support_)),
        "tie width": getattr(model, "tie_width_", None),
        "thresholds": getattr(model, "thresholds_", None),
        "cross-validation": about.get("cross_validation"),
    }
    return {name: value for name, value in facts.items() if value is not None}


def _lines(summary):
    rows = []
    for name, value in summary.items():
        if name == "cross-validation":
            text = f"{value['measure']} {value['score']:.4f} +- {value['standard_error']:.4f} at C = {value['C']:g}"
        else:
            text = f"{value:.6g}" if isinstance(value, float) else str(value)
        rows.append((name, text))
    return show.table(rows)


def _labels(model):
    return None if getattr(model, "classes_", None) is None else model.classes_.tolist()


def _words(model):
    """Return the ordered labels of a model where they are words."""
    labels = _labels(model)
    return labels if labels and isinstance(labels[0], str) else None


def _gamma(text):
    try:
        return text if text in {"scale", "auto"} else float(text)
    except ValueError:
        raise DataError(f"--gamma {text}: expected scale, auto or a number.") from None


def _progress(steps, name, total=None):
    return track(steps, description=name, total=total, console=Console(stderr=True), transient=True)


def _one_line(error):
    return " ".join(str(error).split()) or type(error).__name__
