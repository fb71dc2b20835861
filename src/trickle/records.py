"""Facts that functions return: small frozen records, and lists of them that show themselves as tables."""

from __future__ import annotations

import dataclasses
import html
from typing import Any, TypeVar

T = TypeVar("T", bound="Record")


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


class Records(list[T]):
    """A list of facts; a table in notebooks."""

    def asdicts(self) -> list[dict[str, Any]]:
        return [r.asdict() for r in self]

    def _repr_html_(self) -> str:
        if not self:
            return "<i>none</i>"
        names = list(self[0].asdict())
        head = "".join(f"<th>{html.escape(n)}</th>" for n in names)
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(v))}</td>" for v in r.asdict().values()) + "</tr>" for r in self
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
