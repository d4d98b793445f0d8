"""The commands. Each one reads, calls the library, and prints; bad data end it with one line and exit code 2."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from .. import __version__, io
from .. import demo as demo_module
from ..io._text import write_bytes
from ..onnx import to_onnx
from . import about as facts
from . import inputs, judge, leaders, learn, options, show, standings
from .kinds import RECIPES, Kind, checked_target
from .options import (
    VOTES,
    AsJson,
    Data,
    Drop,
    ErrorWeight,
    Gamma,
    Items,
    Kernel,
    KnownNames,
    KnownQid,
    Loss,
    ModelFile,
    Names,
    Output,
    Qid,
    Target,
    Ties,
)
from .tables import Columns, DataError, open_bytes

app = typer.Typer(
    help="Learn what people prefer: rankings, ordered labels, votes with ties, choices.",
    epilog="Coming from SVM-rank: `svm_rank_learn -c 20 train.dat model` is `widemargin fit train.dat -o model`, and "
    "`svm_rank_classify test.dat model out` is `widemargin predict model test.dat -o out`.",
    cls=options.Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
command = app.command(cls=options.Command)
UsageError = typer.BadParameter.__base__  # what is wrong with the words of a command, whoever ships click


def run():
    """Run a command; data that cannot be used give one line and exit code 2."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = _warn_once()
            code = app(standalone_mode=False)
    except UsageError as error:
        if error.format_message():  # empty where no argument was given: the help has been printed
            show.note(f"widemargin: error: {_sentence(_one_line(error.format_message()))}{_see_help(error.ctx)}")
        raise SystemExit(2) from None
    except (DataError, ValueError, TypeError, OSError, MemoryError, ImportError) as error:
        show.note(f"widemargin: error: {_one_line(error)}")
        raise SystemExit(2) from None
    raise SystemExit(code if isinstance(code, int) else 0)


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False):
    if version:
        sys.stdout.write(f"widemargin {__version__}\n")
        raise typer.Exit


@command
def fit(
    data: Data,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write the model.")
    ] = "model.wm",
    kind: Annotated[Kind | None, typer.Option(help="What the data hold; guessed, and the guess is printed.")] = None,
    target: Target = None,
    qid: Qid = None,
    id: Annotated[  # noqa: A002
        str | None, typer.Option(metavar="COLUMN", help="Column that names the rows; it is not a feature.")
    ] = None,
    drop: Drop = None,
    order: Annotated[str | None, typer.Option(metavar="WORST,...,BEST", help="Labels in their order.")] = None,
    items: Items = None,
    votes: Names = VOTES,
    ties: Annotated[
        Ties | None, typer.Option(help="For pairs: how ties are learned from; default: what cross-validates better.")
    ] = None,
    C: ErrorWeight = None,
    kernel: Annotated[Kernel, typer.Option(help="Shape of the utility.")] = Kernel.linear,
    gamma: Gamma = "scale",
    loss: Loss = None,
    tol: Annotated[float, typer.Option(help="Relative duality gap to reach.")] = 1e-4,
    folds: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")] = 5,
    scale: Annotated[bool, typer.Option(help="Scale the features to comparable sizes first.")] = True,
    json: AsJson = False,
):
    """Learn a model from examples and write it to a file.

    C is chosen by cross-validation, by query where there are queries. It weighs the mean error, so that the same values
    suit small and large data: in Python that is C_scale="mean" after a StandardScaler. Votes are learned with
    ties="margin" or "threshold", what cross-validates better (with --C: "margin", and "threshold" if nothing ties);
    Python's ComparisonSVM has "margin" until told otherwise.

    Example: widemargin fit train.dat -o model.wm

    Example: widemargin fit hotels.csv --target stars --qid guest --drop name,city
    """
    show.check_place(output)
    columns = Columns(target=target, qid=qid, row=id, drop=tuple(drop or ()))
    worst_to_best = order.split(",") if order else None
    kind, X, y, groups, found = inputs.examples(data, columns, kind, items, votes, worst_to_best)
    how = {"kernel": kernel.value, "gamma": _gamma(gamma), "tol": tol} | ({} if loss is None else {"loss": loss})
    how |= {"C": C, "folds": folds, "scale": scale, "progress": _progress}
    if ties is not None and kind is not Kind.pairs:
        raise DataError(f"--ties is for pairs; these data are of kind {kind.value}.")
    if kind is Kind.ordinal and order:
        how["classes"] = worst_to_best
    model, report = (
        learn.fit_pairs(X, y, ties=ties and ties.value, **how)
        if kind is Kind.pairs
        else learn.fit(kind, X, y, groups, **how)
    )
    about = found | {"kind": kind.value, "n_rows": len(y), "votes": list(votes)}
    if report is not None:
        about["cross_validation"] = show.as_json(report) | {"measure": RECIPES[kind].score}
    is_new = not Path(output).exists()
    io.save_model(model, output, metadata=about)
    show.note(f"{'wrote' if is_new else 'replaced'} {output}")
    summary = facts.summary(model[-1], about) | {"model": output}
    show.write_json(summary) if json else sys.stdout.write(facts.lines(summary))


@command
def predict(
    model: ModelFile,
    data: Data,
    output: Output = "-",
    items: Items = None,
    votes: KnownNames = None,
    json: AsJson = False,
):
    """Print one prediction per row: a utility, a label, a value, or +1 / 0 / -1 for pairs.

    A file of pairs needs no winner.

    Example: widemargin predict model.wm test.dat -o predictions.txt

    Example: widemargin predict model.wm pairs.csv --items items.csv
    """
    show.check_place(output)
    fitted, about, table = inputs.asked(model, data, items=items, votes=votes)
    values = fitted.predict(table.X)
    if json:
        show.write_json({"kind": about["kind"], "predictions": values}, output)
    else:
        show.write_rows({"prediction": values}, output, header=False)


@command
def rank(
    model: ModelFile,
    data: Data,
    output: Output = "-",
    top: Annotated[int | None, typer.Option(min=1, help="Only the best so many of each query.")] = None,
    id: Annotated[  # noqa: A002
        str | None, typer.Option(metavar="COLUMN", help="Column that names the rows; else they are numbered from 1.")
    ] = None,
    qid: KnownQid = None,
    json: AsJson = False,
):
    """Print the rows in order of preference, within each query: qid, rank, row, utility.

    A model of pairs ranks items: DATA is then the file of items, names in its first column. Of ordered labels the label
    is printed too, of values the value. Not on a terminal, or with -o, this is CSV.

    Example: widemargin rank model.wm candidates.csv --top 10
    """
    show.check_place(output)
    fitted, about, table = inputs.candidates(model, data, row=id, qid=qid)
    columns = standings.standings(fitted, Kind(about["kind"]), table, top=top, name=model)
    show.write_columns(columns, output, machine=json)


@command
def evaluate(
    model: ModelFile,
    data: Data,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write JSON or --per-query; - for stdout.")
    ] = "-",
    k: Annotated[int, typer.Option("--k", min=1, help="Depth of NDCG.")] = 10,
    per_query: Annotated[bool, typer.Option("--per-query", help="Print the metrics of each query.")] = False,
    bootstrap: Annotated[int, typer.Option(min=0, help="Resamples for the 95 % intervals; 0 for none.")] = 200,
    items: Items = None,
    votes: KnownNames = None,
    qid: KnownQid = None,
    json: AsJson = False,
):
    """Measure a model on labelled data with the metrics that fit its kind, with bootstrap intervals.

    Metrics per query are CSV where they are not printed on a terminal.

    Example: widemargin evaluate model.wm test.dat --k 5

    Example: widemargin evaluate model.wm votes.csv --items items.csv
    """
    show.check_place(output)
    fitted, about, table = inputs.asked(model, data, items=items, votes=votes, qid=qid, needs_target=True)
    kind, final = Kind(about["kind"]), fitted[-1]
    y = table.target if kind is Kind.pairs else checked_target(table, kind, about.get("order") or facts.words(final))
    functions = judge.measures(kind, k, facts.labels(final), getattr(final, "tie_width_", 0.0))
    predicted = judge.predictions(fitted, kind, table.X)
    if per_query:
        show.write_columns(judge.per_query(functions, y, predicted, table.qid, _progress), output, machine=json)
        return
    found = judge.evaluate(functions, y, predicted, table.qid, n_bootstrap=bootstrap, progress=_progress)
    if json:
        show.write_json({"kind": kind.value, "n_rows": len(table), "metrics": found}, output)
    else:
        show.write(judge.text(found), output)


@command
def compare(
    data: Annotated[
        str, typer.Argument(help="Votes: a CSV, TSV or Parquet file with left, right, winner; - for stdin.")
    ],
    items: Items = None,
    drop: Drop = None,
    votes: Names = VOTES,
    C: ErrorWeight = None,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    bootstrap: Annotated[int, typer.Option(min=1, help="Resamples of the votes for the intervals.")] = 200,
    ask: Annotated[int, typer.Option(min=0, help="How many next pairs to suggest.")] = 5,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the leaderboard as CSV too.")
    ] = None,
    picture: Annotated[str | None, typer.Option(metavar="FILE", help="Draw the leaderboard into this file.")] = None,
    json: AsJson = False,
):
    """Make a leaderboard from votes: utilities with intervals, and the pairs to ask next.

    The winner is a name, "left", "right" or "tie"; an empty one is a tie. Items may have features; without them each
    item is its own.

    The model is ComparisonSVM(loss="squared_hinge", C_scale="mean"), which tells apart items that the hinge would give
    one utility; how it learns from ties is cross-validated, as in `widemargin fit`.

    Example: widemargin compare votes.csv --ask 10
    """
    show.check_place(output, picture)
    if picture is not None:
        leaders.check_picture(picture)
    if drop and items is None:
        raise DataError("--drop leaves out columns of --items; there are none.")
    how = {"C": C, "level": level, "n_bootstrap": bootstrap, "n_ask": ask, "progress": _progress}
    found = leaders.leaders(data, items, votes, drop=tuple(drop or ()), **how)
    if output is not None:
        show.write_rows(found.columns, output)
    if picture is not None:
        found.draw(picture)
    show.write_json(found.facts()) if json else sys.stdout.write(found.text())


@command
def convert(
    source: Annotated[str, typer.Argument(help="A model: of widemargin, SVM-rank (SVM-light) or LIBLINEAR.")],
    output: Annotated[str, typer.Argument(help="Where to write: .onnx for ONNX, anything else a widemargin model.")],
):
    """Read an SVM-rank or LIBLINEAR model, or write a model as ONNX.

    Example: widemargin convert model.wm model.onnx
    """
    show.check_place(output)
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


@command
def info(model: ModelFile, json: AsJson = False):
    """Say what a model file holds: kind, parameters, certificate, features.

    Example: widemargin info model.wm
    """
    fitted, about = inputs.load(model)
    summary = facts.summary(fitted[-1], about)
    show.write_json(summary) if json else sys.stdout.write(facts.lines(summary))


@command
def demo(picture: Annotated[str, typer.Option(metavar="FILE", help="Where to write the picture.")] = "demo.png"):
    """Show on small data what widemargin does: a table and a picture.

    Example: widemargin demo
    """
    show.check_place(picture)
    demo_module.main(["--picture", picture])


def _warn_once():
    """Return what shows a warning in one line, the same one no second time."""
    told = set()

    def show_warning(message, *_, **__):
        line = _one_line(message)
        if line not in told:
            told.add(line)
            show.note(f"widemargin: warning: {line}")

    return show_warning


def _gamma(text):
    try:
        return text if text in {"scale", "auto"} else float(text)
    except ValueError:
        raise DataError(f"--gamma {text}: expected scale, auto or a number.") from None


def _progress(steps, name, total=None):
    console = Console(stderr=True)
    return track(steps, description=name, total=total, console=console, transient=True, disable=not console.is_terminal)


def _sentence(text):
    return text if text.endswith((".", "?")) else f"{text}."


def _see_help(context):
    return "" if context is None else f" See `{context.command_path} --help`."


def _one_line(error):
    return " ".join(str(error).split()) or type(error).__name__
