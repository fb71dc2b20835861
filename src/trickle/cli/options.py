"""What is said before the command: which lake, which settings, which face."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ..config import Settings
from ..errors import TrickleWarning
from ..progress import progress
from ..project import Project, find_project
from .completion import one_of, stream_table_names, table_names
from .output import FORMATS, Output, output

if TYPE_CHECKING:
    from ..ops.ledger import Ledger
    from ..session import Session
    from ..sql.names import Name

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")]
Table = Annotated[str, typer.Argument(help="A table, with its schema if that is not main.", autocompletion=table_names)]
SomeTable = Annotated[str | None, typer.Argument(help="A table; without it, all tables.", autocompletion=table_names)]


StreamTableName = Annotated[
    str,
    typer.Argument(help="A stream table, with its schema if that is not main.", autocompletion=stream_table_names),
]
SomeStreamTable = Annotated[
    str | None,
    typer.Argument(help="A stream table; without it, all of them.", autocompletion=stream_table_names),
]
Query = Annotated[str | None, typer.Argument(help="The defining query.")]
QueryFile = Annotated[str | None, typer.Option("--file", "-f", help="Read the query from a file; - is stdin.")]
Dialect = Annotated[
    str,
    typer.Option(
        "--dialect",
        help="The SQL that the query is written in: spark, duckdb or postgres.",
        autocompletion=one_of("spark", "duckdb", "postgres"),
    ),
]
Format = Annotated[
    str | None,
    typer.Option("--format", help=f"How rows are printed: {', '.join(FORMATS)}.", autocompletion=one_of(*FORMATS)),
]


@dataclass
class Options:
    """The global options; a command's own `--json` or `--format` changes the face."""

    lake: str | None = None
    data_path: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    format: str = "table"
    verbose: bool = False

    @cached_property
    def project(self) -> Project:
        """What the nearest `trickle.toml` says."""
        return find_project()

    @property
    def location(self) -> str:
        return self.lake or self.project.lake

    @property
    def output(self) -> Output:
        return output(self.format)

    def progress(self, text: str) -> AbstractContextManager[None]:
        """A word on what takes long, for people at a terminal."""
        return progress(text) if self.format == "table" else nullcontext()

    def chosen(self) -> Settings:
        return Settings.of(self.project.settings, self.settings)

    @contextmanager
    def open(self, create: bool = False) -> Iterator[Session]:
        """A session on the lake, which must be there unless it may be created."""
        from ..lake.location import require_lake

        if not create:
            require_lake(self.location, self.chosen())
        with self.session() as session:
            yield session

    def session(self) -> Session:
        """Another session on the same lake, for whoever closes it."""
        with self.progress("loading Spark's modules …") if "pyspark" not in sys.modules else nullcontext():
            from ..session import connect
            from ..spark import hush

        if not self.verbose:
            hush()
        return connect(self.location, self.data_path, settings=self.settings)

    @contextmanager
    def look(self) -> Iterator[Ledger]:
        """What the catalog alone can tell, in a moment: neither Spark nor its modules are started."""
        from ..lake.location import catalog_at, require_lake
        from ..ops.ledger import Ledger

        require_lake(self.location, self.chosen())
        catalog = catalog_at(self.location, self.chosen())
        try:
            catalog.check()
            yield Ledger.at(catalog)
        finally:
            catalog.close()


def named(text: str | None) -> Name | None:
    """A name as SQL writes it, if one was given.

    >>> named("sales.`my orders`").label
    'sales.my orders'
    """
    return required(text) if text is not None else None


def required(text: str) -> Name:
    """The same of a name that must be there."""
    from ..sql.grammar.cursor import table_name

    return table_name(text)


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
def warnings_as_lines(given: Options) -> Iterator[None]:
    """A warning of Trickle's is a line on stderr, in the face that was asked for."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        given.output.warn(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", TrickleWarning)
        warnings.showwarning = show
        yield


@contextmanager
def logs_as_lines(given: Options) -> Iterator[None]:
    """So is what Trickle logs beside its work: a webhook that was not taken, a request that failed."""

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            why = record.exc_info[1] if record.exc_info else None
            given.output.warn(record.getMessage() + (f": {type(why).__name__}: {why}" if why else ""))

    logger, lines = logging.getLogger("trickle"), Lines(logging.WARNING)
    logger.addHandler(lines)
    try:
        yield
    finally:
        logger.removeHandler(lines)


@contextmanager
def quiet_spark() -> Iterator[None]:
    """What Spark logs is dropped, what Trickle writes is not: Java inherits another descriptor 2."""
    nobody = logging.NullHandler()  # what no handler takes, Python prints
    logging.getLogger().addHandler(nobody)
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
        logging.getLogger().removeHandler(nobody)
