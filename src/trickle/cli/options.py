"""What is said before the command: which lake, which settings, which face."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ..config import Settings, read_project
from ..errors import NotFound
from .output import FORMATS, Output, output

if TYPE_CHECKING:
    from ..session import Session

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")]
Table = Annotated[str, typer.Argument(help="A table, with its schema if that is not main.")]
SomeTable = Annotated[str | None, typer.Argument(help="A table; without it, all tables.")]
StreamTableName = Annotated[str, typer.Argument(help="A stream table, with its schema if that is not main.")]
SomeStreamTable = Annotated[str | None, typer.Argument(help="A stream table; without it, all of them.")]
Query = Annotated[str | None, typer.Argument(help="The defining query.")]
QueryFile = Annotated[str | None, typer.Option("--file", "-f", help="Read the query from a file; - is stdin.")]
Dialect = Annotated[
    str, typer.Option("--dialect", help="The SQL that the query is written in: spark, duckdb or postgres.")
]
Format = Annotated[str | None, typer.Option("--format", help=f"How rows are printed: {', '.join(FORMATS)}.")]

EXAMPLE = "Example: "
"""Opens the line below a command's help that may be typed as it stands."""


@dataclass
class Options:
    """The global options; a command's own `--json` or `--format` changes the face."""

    lake: str | None = None
    data_path: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    format: str = "table"

    @property
    def location(self) -> str:
        return self.lake or "."

    @property
    def output(self) -> Output:
        return output(self.format)

    def chosen(self) -> Settings:
        return Settings.of(read_project(), self.settings)

    @contextmanager
    def open(self, create: bool = False) -> Iterator[Session]:
        """A session on the lake, which must be there unless it may be created."""
        from ..lake.lake import lake_exists
        from ..session import connect

        if not create and not lake_exists(self.location, self.chosen()):
            raise NotFound(
                f'there is no lake at "{self.location}"',
                hint=f"create one with `trickle --lake {self.location} init`, or name another with --lake.",
            )
        with connect(self.location, self.data_path, settings=self.settings) as session:
            yield session


def options(ctx: typer.Context, json: bool = False, format: str | None = None) -> Options:
    """The global options, with the face that the command asks for."""
    found = cast(Options, ctx.obj)
    if format is not None and format not in FORMATS:
        raise typer.BadParameter(f"{format!r} is not one of {', '.join(FORMATS)}", param_hint="--format")
    found.format = format or ("json" if json else found.format)
    return found


def assignments(texts: list[str], option: str = "--set") -> dict[str, str]:
    """The names and values of a repeated `--set name=value`.

    >>> assignments(["spark.master=local[2]"])
    {'spark.master': 'local[2]'}
    """
    for text in texts:
        if "=" not in text:
            raise typer.BadParameter(f"{text!r} is not of the form name=value", param_hint=option)
    return dict(text.split("=", 1) for text in texts)


@contextmanager
def quiet_spark() -> Iterator[None]:
    """What Spark logs is dropped, what Trickle writes is not: Java inherits another descriptor 2."""
    logging.disable()
    sys.stderr.flush()
    terminal, before = os.dup(2), sys.stderr
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    sys.stderr = os.fdopen(terminal, "w", buffering=1, closefd=False)
    try:
        yield
    finally:
        sys.stderr.flush()
        sys.stderr = before
        os.dup2(terminal, 2)
        os.close(terminal)
        logging.disable(logging.NOTSET)
