"""Facts that functions return: small frozen records, and lists of them that show themselves as tables."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

T = TypeVar("T", bound="Record")

MOST_ROWS = 50
"""Shown of a long list."""
MOST_CHARACTERS = 40
"""Shown of a long value."""


@dataclasses.dataclass(frozen=True)
class Record:
    """Base of all facts.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Fact(Record):
    ...     name: str
    >>> Fact("a").asdict()
    {'name': 'a'}
    """

    def asdict(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}

    def _repr_html_(self) -> str:
        return html_table(("", type(self).__name__), self.asdict().items())


class Records(list[T]):
    """A list of facts; a table at a prompt and in notebooks.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Fact(Record):
    ...     name: str
    ...     rows: int
    >>> Records([Fact("orders", 12), Fact("customers", 3)])
    name       rows
    orders     12
    customers  3
    """

    def asdicts(self) -> list[dict[str, Any]]:
        return [r.asdict() for r in self]

    def __repr__(self) -> str:
        if not self:
            return "[]"
        rows = [tuple(map(_brief, r.asdict().values())) for r in self[:MOST_ROWS]]
        more = [f"… and {len(self) - MOST_ROWS} more"] if len(self) > MOST_ROWS else []
        return "\n".join([*text_table(tuple(self[0].asdict()), rows), *more])

    def _repr_html_(self) -> str:
        if not self:
            return "<i>none</i>"
        return html_table(tuple(self[0].asdict()), (tuple(r.asdict().values()) for r in self))


def text_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A header and lines, each column as wide as it must be."""
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    lines = (zip(row, widths, strict=True) for row in (names, *rows))
    return ["  ".join(cell.ljust(width) for cell, width in line).rstrip() for line in lines]


def html_table(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """The same for notebooks, nothing cut off.

    >>> html_table(("a",), [("<1>",)])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;1&gt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{html.escape(n)}</th>" for n in names)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(v))}</td>" for v in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _brief(value: Any) -> str:
    """
    >>> _brief(None), _brief("two\\nlines"), len(_brief("x" * 100))
    ('', 'two lines', 40)
    """
    text = "" if value is None else " ".join(str(value).split())
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"
