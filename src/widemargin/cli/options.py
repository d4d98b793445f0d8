"""What the commands' options are called and how help shows them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer
from typer.core import TyperCommand, TyperGroup

Data = Annotated[str, typer.Argument(help="SVMlight / LETOR, CSV, TSV or Parquet file; - for stdin.")]
ModelFile = Annotated[str, typer.Argument(help="A model file that `widemargin fit` wrote.")]
Output = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - for stdout.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON, for machines.")]
Target = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Column with the target (CSV, Parquet); guessed from usual names.")
]
Qid = Annotated[str | None, typer.Option(metavar="COLUMN", help="Column with the query ids; guessed from usual names.")]
KnownQid = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Column with the query ids; else the one that the model knows.")
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN,...", help="Columns that are not features, separated by commas; may be repeated."),
]
Items = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="For pairs: a file with the items' features, names in its first column."),
]
Names = Annotated[
    tuple[str, str, str],
    typer.Option(metavar="LEFT RIGHT WINNER", help="For pairs: the columns with the two items and the winner."),
]
KnownNames = Annotated[
    tuple[str, str, str] | None,
    typer.Option(
        metavar="LEFT RIGHT WINNER", help="For pairs: the columns of the votes; else those that the model knows."
    ),
]
ErrorWeight = Annotated[
    float | None,
    typer.Option("--C", "-c", metavar="NUMBER", help="Weight of the errors; default: cross-validated."),
]
Gamma = Annotated[str, typer.Option(metavar="NUMBER", help="Of the kernel: scale, auto or a number.")]
Loss = Annotated[
    str | None,
    typer.Option(metavar="LOSS", help="hinge, squared_hinge; of values epsilon_insensitive, or that with squared_."),
]
VOTES = ("left", "right", "winner")


class Kernel(StrEnum):
    """Shapes of utilities."""

    linear = "linear"
    rbf = "rbf"
    poly = "poly"
    sigmoid = "sigmoid"


class Ties(StrEnum):
    """Ways to learn from ties."""

    margin = "margin"
    threshold = "threshold"
    both_ways = "both_ways"


class _PlainFlags:
    """Help shows a flag without a type: there is nothing to type after it."""

    def get_params(self, ctx):
        """Return the parameters; a flag's placeholder is empty."""
        params = super().get_params(ctx)
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return params


class Command(_PlainFlags, TyperCommand):
    """A command; the paragraphs of its help flow."""

    def __init__(self, *args, help=None, **more):  # noqa: A002 (its name)
        paragraphs = [" ".join(part.split()) for part in (help or "").split("\n\n")]
        super().__init__(*args, help="\n\n".join(paragraphs), **more)


class Group(_PlainFlags, TyperGroup):
    """The program: all commands."""
