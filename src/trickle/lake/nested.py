"""DuckDB's text of nested values: `[1, NULL]`, `{'x': 1, 'y': [a, 'b, c']}`, `{key=value}`.

Strings stand bare unless they are empty, spell NULL, begin or end with a space, or hold one of `,:=[]{}()'"`;
then they stand in single quotes, with a backslash before a quote and before a backslash.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, TypeAlias

from .model import Column

NESTED = frozenset({"list", "struct", "map"})
Scalar: TypeAlias = Callable[[str, Column], Any]

_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'", re.DOTALL)
_BARE = re.compile(r"[^,=\]}]*")
_NULL = re.compile(r"NULL(?=[,=\]}]|$)")
_JSON = json.JSONDecoder()


def parse_nested(text: str, column: Column, scalar: Scalar) -> Any:
    """Lists as lists, structs as dicts by name, maps as lists of pairs; `scalar` reads what is inside."""
    reader = _Reader(text, scalar)
    value = reader.value(column)
    if reader.at != len(text):
        raise ValueError(f"unexpected text at position {reader.at}")
    return value


class _Reader:
    """A cursor over one text."""

    def __init__(self, text: str, scalar: Scalar) -> None:
        self.text = text
        self.scalar = scalar
        self.at = 0

    def value(self, column: Column) -> Any:
        if null := _NULL.match(self.text, self.at):
            self.at = null.end()
            return None
        match column.type:
            case "list":
                return self.items("[", "]", lambda: self.value(column.children[0]))
            case "map":
                return self.items("{", "}", lambda: self.entry(*column.children))
            case "struct":
                fields = {child.name.casefold(): child for child in column.children}
                found = dict(self.items("{", "}", lambda: self.field(fields)))
                return {child.name: found.get(child.name) for child in column.children}
        return self.scalar(self.json() if column.type == "json" else self.string(), column)

    def items(self, opening: str, closing: str, item: Callable[[], Any]) -> list[Any]:
        self.expect(opening)
        found: list[Any] = []
        while not self.accept(closing):
            if found:
                self.expect(", ")
            found.append(item())
        return found

    def entry(self, key: Column, value: Column) -> tuple[Any, Any]:
        left = self.value(key)
        self.expect("=")
        return left, self.value(value)

    def field(self, fields: dict[str, Column]) -> tuple[str, Any]:
        child = fields[self.string().casefold()]
        self.expect(": ")
        return child.name, self.value(child)

    def string(self) -> str:
        if quoted := _QUOTED.match(self.text, self.at):
            self.at = quoted.end()
            return re.sub(r"\\(.)", r"\1", quoted[1], flags=re.DOTALL)
        bare = _BARE.match(self.text, self.at)
        assert bare is not None
        self.at = bare.end()
        return bare[0]

    def json(self) -> str:
        """A JSON document stands unquoted, commas and brackets and all."""
        if self.text.startswith("'", self.at):
            return self.string()
        start = self.at
        _, self.at = _JSON.raw_decode(self.text, start)
        return self.text[start : self.at]

    def accept(self, token: str) -> bool:
        found = self.text.startswith(token, self.at)
        self.at += len(token) * found
        return found

    def expect(self, token: str) -> None:
        if not self.accept(token):
            raise ValueError(f"expected {token!r} at position {self.at}")
