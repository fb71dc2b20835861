"""What commands print: one `Output` with a face for people, one for programs and one for spreadsheets."""

from __future__ import annotations

import csv
import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..errors import TrickleError
from ..records import Record
from .values import to_json, to_text, unique

FORMATS = ("table", "json", "csv")
_UNFOLDED = 10_000
"""Width of what goes into a file or a pipe, where lines are never folded."""


@dataclass(frozen=True)
class Rows:
    """A result: named columns and the rows that are shown of it."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    is_cut: bool = False
    """There are more rows than these."""

    @classmethod
    def of(cls, records: Iterable[Record], kind: type[Record]) -> Rows:
        names = list(kind.__dataclass_fields__)
        return cls(names, [tuple(getattr(r, n) for n in names) for r in records])

    def only(self, columns: Sequence[str]) -> Rows:
        """
        >>> Rows(["a", "b"], [(1, 2)]).only(["b"])
        Rows(columns=['b'], rows=[(2,)], is_cut=False)
        """
        places = [self.columns.index(c) for c in columns]
        return Rows(list(columns), [tuple(row[p] for p in places) for row in self.rows], self.is_cut)


class Output(ABC):
    """Where a command puts its answer; errors go to stderr in the same face."""

    @abstractmethod
    def rows(self, found: Rows, title: str = "") -> None:
        """The rows of a query, or a list of facts."""

    @abstractmethod
    def fact(self, fact: Record, sentence: str) -> None:
        """One fact, and how a person would say it."""

    @abstractmethod
    def say(self, text: str = "", style: str = "") -> None:
        """A word to people; programs do not get it."""

    @abstractmethod
    def error(self, error: TrickleError) -> None:
        """What went wrong, why, and what to do."""


@dataclass
class TextOutput(Output):
    """Tables and sentences."""

    console: Console = field(default_factory=lambda: _console())

    def rows(self, found: Rows, title: str = "") -> None:
        table = Table(box=box.SIMPLE_HEAD, title=title or None, title_justify="left", show_edge=False, pad_edge=False)
        for n, name in enumerate(found.columns):
            numeric = any(isinstance(r[n], int | float | Decimal) and not isinstance(r[n], bool) for r in found.rows)
            table.add_column(Text(name), justify="right" if numeric else "left", overflow="fold")
        for row in found.rows:
            table.add_row(*(Text(to_text(v), style="dim" if v is None else "") for v in row))
        self.console.print(table, soft_wrap=False)
        more = "the first " if found.is_cut else ""
        self.console.print(Text(f"({more}{counted(len(found.rows), 'row')})", style="dim"))

    def fact(self, fact: Record, sentence: str) -> None:
        self.console.print(Text(sentence))

    def say(self, text: str = "", style: str = "") -> None:
        self.console.print(Text(text, style=style))

    def error(self, error: TrickleError) -> None:
        console = _console(stderr=True)
        console.print(Text.assemble(("error: ", "bold red"), error.message))
        if error.detail:
            console.print(Text(f"detail: {error.detail}"))
        if error.hint:
            console.print(Text.assemble(("hint: ", "bold"), error.hint))


class JsonOutput(Output):
    """One JSON document a line: an array of objects for rows, an object for a fact."""

    def rows(self, found: Rows, title: str = "") -> None:
        names = unique(found.columns)
        _print_json([dict(zip(names, map(to_json, row), strict=True)) for row in found.rows])

    def fact(self, fact: Record, sentence: str) -> None:
        _print_json(to_json(fact.asdict()))

    def say(self, text: str = "", style: str = "") -> None:
        return

    def error(self, error: TrickleError) -> None:
        said = {"code": error.code, "message": error.message, "detail": error.detail, "hint": error.hint}
        print(json.dumps({"error": said}, ensure_ascii=False), file=sys.stderr)


class CsvOutput(TextOutput):
    """A header and lines; NULL is an empty field, nested values are JSON. Anything but rows is said on stderr."""

    def __init__(self) -> None:
        super().__init__(_console(stderr=True))

    def rows(self, found: Rows, title: str = "") -> None:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(found.columns)
        writer.writerows([to_text(v, null="") for v in row] for row in found.rows)


def output(format: str) -> Output:
    """The face of that name."""
    if format == "json":
        return JsonOutput()
    return CsvOutput() if format == "csv" else TextOutput()


def counted(number: int, thing: str) -> str:
    """
    >>> counted(1, "row"), counted(0, "file")
    ('1 row', '0 files')
    """
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _console(stderr: bool = False) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _UNFOLDED
    return Console(stderr=stderr, highlight=False, soft_wrap=True, width=width)


def _print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False))
