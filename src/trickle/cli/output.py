"""What commands print: one `Output` with a face for people, one for programs and one for spreadsheets."""

from __future__ import annotations

import csv
import json
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.text import Text

from ..errors import TrickleError
from ..records import Record
from .tables import Rows, as_records, as_table, least_width
from .values import to_json, to_text, unique

FORMATS = ("table", "json", "csv")
_UNFOLDED = 10_000
"""Width of what goes into a file or a pipe, where lines are never folded."""


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
    def warn(self, text: str) -> None:
        """Something that is not wrong, but worth knowing."""

    @abstractmethod
    def error(self, error: TrickleError) -> None:
        """What went wrong, why, and what to do."""


@dataclass
class TextOutput(Output):
    """Tables and sentences."""

    console: Console = field(default_factory=lambda: _console())

    def rows(self, found: Rows, title: str = "") -> None:
        if title:
            self.console.print(Text(title, style="italic"))
        width = self.console.width
        shown = as_records(found) if least_width(found) > width else as_table(found, width)
        self.console.print(shown, soft_wrap=False)
        more = "the first " if found.is_cut else ""
        self.console.print(Text(f"({more}{counted(len(found.rows), 'row')})", style="dim"))

    def fact(self, fact: Record, sentence: str) -> None:
        self.console.print(Text(sentence))

    def say(self, text: str = "", style: str = "") -> None:
        self.console.print(Text(text, style=style))

    def warn(self, text: str) -> None:
        _console(stderr=True).print(Text.assemble(("warning: ", "bold yellow"), text))

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

    def warn(self, text: str) -> None:
        print(json.dumps({"warning": text}, ensure_ascii=False), file=sys.stderr)

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


def counted(number: int, thing: str, things: str = "") -> str:
    """
    >>> counted(1, "row"), counted(0, "file"), counted(2, "refresh", "refreshes")
    ('1 row', '0 files', '2 refreshes')
    """
    return f"{number} {thing}" if number == 1 else f"{number} {things or thing + 's'}"


def _console(stderr: bool = False) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _UNFOLDED
    return Console(stderr=stderr, highlight=False, soft_wrap=True, width=width)


def _print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False))
