"""Values as a terminal, JSON and CSV write them."""

from __future__ import annotations

import json
import math
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any


class Amount(str):
    """A number with its unit: it stands on the right."""


class OneLine(str):
    """Text of which one line is shown to people, cut where the line ends."""


def to_json(value: Any) -> Any:
    """A value in JSON's own types: decimals, dates and bytes become strings, so that nothing is lost.

    >>> to_json({"price": Decimal("2.50"), "raw": b"\\x00\\xff", "map": [("k", 1)], "ratio": float("nan")})
    {'price': '2.50', 'raw': '00ff', 'map': [['k', 1]], 'ratio': 'NaN'}
    """
    match value:
        case float() if not math.isfinite(value):
            return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
        case None | bool() | int() | float() | str():
            return value
        case dict():
            return {str(k): to_json(v) for k, v in value.items()}
        case list() | tuple():
            return [to_json(v) for v in value]
        case bytes():
            return value.hex()
        case datetime() | date() | time():
            return value.isoformat()
        case Decimal():
            return format(value, "f")
    return str(value)


def to_text(value: Any, null: str = "NULL") -> str:
    """A value in one line of a table.

    >>> to_text(("id", "name")), to_text(None), to_text({"a": [1, None]}), to_text(True)
    ('id, name', 'NULL', '{"a": [1, null]}', 'true')
    """
    match value:
        case None:
            return null
        case bool():
            return str(value).lower()
        case tuple() if all(isinstance(v, str) for v in value):
            return ", ".join(value)
        case dict() | list() | tuple():
            return json.dumps(to_json(value), ensure_ascii=False)
        case datetime():
            return value.isoformat(sep=" ")
    return str(to_json(value))


def unique(names: list[str]) -> list[str]:
    """Names that can be the keys of one object: a repeated one gets a number.

    >>> unique(["a", "b", "a"])
    ['a', 'b', 'a_2']
    """
    made: list[str] = []
    for name in names:
        tries = (name if n == 1 else f"{name}_{n}" for n in range(1, len(names) + 2))
        made.append(next(t for t in tries if t not in made))
    return made
