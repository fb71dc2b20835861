"""Rows on a terminal: a table where it fits, else a record for each row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from ..records import Record
from .values import Amount, OneLine, to_text

GAP = 3
"""Between two columns."""
LONGEST_WORD = 32
"""Longer ones may be broken."""


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

    def column(self, place: int) -> list[Any]:
        return [row[place] for row in self.rows]


@dataclass(frozen=True)
class Need:
    """The characters that a column takes: for its longest word, and for its longest line."""

    least: int
    wanted: int
    is_cut: bool = False
    """Its values are `OneLine`."""


def least_width(found: Rows) -> int:
    """The fewest characters in which a table of it can be read without breaking words.

    >>> least_width(Rows(["id", "note"], [(1, "some words"), (20, "a")])) == len("20") + GAP + len("words")
    True
    """
    return sum(need.least for need in _needs(found)) + GAP * (len(found.columns) - 1)


def as_table(found: Rows, width: int) -> Table:
    """Numbers on the right; words are broken only where they are very long."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    needs = list(_needs(found))
    for place, (need, size) in enumerate(zip(needs, shares(needs, width), strict=True)):
        table.add_column(
            Text(found.columns[place]),
            justify="right" if any(map(_is_number, found.column(place))) else "left",
            overflow="ellipsis" if need.is_cut else "fold",
            no_wrap=need.is_cut,
            width=size,
        )
    for row in found.rows:
        table.add_row(*map(_cell, row))
    return table


def shares(needs: Sequence[Need], width: int) -> list[int]:
    """The least for each column; what is left goes to those that are not cut first, by what they lack.

    >>> needs = [Need(3, 3), Need(5, 40), Need(5, 10, is_cut=True)]
    >>> shares(needs, 100), shares(needs, 39)
    ([3, 40, 10], [3, 25, 5])
    """
    spare = width - GAP * (len(needs) - 1) - sum(n.least for n in needs)
    sizes = [n.least for n in needs]
    for is_cut in (False, True):
        lacking = [n.wanted - n.least if n.is_cut == is_cut else 0 for n in needs]
        given = max(min(spare, sum(lacking)), 0)
        sizes = [size + lack * given // (sum(lacking) or 1) for size, lack in zip(sizes, lacking, strict=True)]
        spare -= given
    return sizes


def _needs(found: Rows) -> Iterator[Need]:
    for place, name in enumerate(found.columns):
        values = found.column(place)
        is_cut = any(isinstance(value, OneLine) for value in values)
        texts = [name, *map(to_text, values)]
        words = [word for text in ([name] if is_cut else texts) for word in text.split()]
        lines = [line for text in texts for line in text.splitlines()]
        longest, wanted = (max(map(cell_len, part), default=0) for part in (words, lines))
        yield Need(min(longest, wanted, LONGEST_WORD), wanted, is_cut)


def as_records(found: Rows) -> RenderableType:
    """One column a line, under a line for each row."""
    return Group(*(part for n, row in enumerate(found.rows, 1) for part in _record(n, found.columns, row)))


def _record(number: int, names: Iterable[str], row: Iterable[Any]) -> Iterator[RenderableType]:
    grid = Table.grid(padding=(0, 2))
    for name, value in zip(names, row, strict=True):
        grid.add_row(Text(name, style="bold", no_wrap=True), _cell(value))
    yield Rule(f"row {number}", align="left", style="dim")
    yield grid


def _cell(value: Any) -> Text:
    return Text(to_text(value), style="dim" if value is None else "")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal | Amount) and not isinstance(value, bool)
