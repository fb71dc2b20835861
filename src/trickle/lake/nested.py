"""DuckDB's text of nested values: `[1, NULL]`, `{'x': 1, 'y': [a, 'b, c']}`, `{key=value}`.

Two spellings. As DuckDB casts to text: strings stand bare unless they are empty, spell NULL, begin or end with a
space, or hold one of `,:=[]{}()'"`; then they stand in quotes, with a backslash before a quote or a backslash.
As DuckDB inlines a struct that is in no list or map: SQL literals, `'it''s'` and `CAST('2020-01-01' AS DATE)`.
DuckDB reads both by the rules of the first, which loses quotes and backslashes; so do we, and take the second
spelling by its own rules only where the first fails.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, TypeAlias

from .model import Column

NESTED = frozenset({"list", "struct", "map"})
Scalar: TypeAlias = Callable[[str, Column], Any]

_WRITTEN = re.compile(r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,=\]}:'"])*""", re.DOTALL)
_PIECE = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^'"]+)""", re.DOTALL)
_LITERAL = re.compile(r"(?:CAST\()?'((?:[^']|'')*)'(?: AS [\w ]+(?:\([\d,]+\))?\))?|([^,}]*)")
_NULL = re.compile(r"NULL(?=[,=\]}]|$)")
_JSON = json.JSONDecoder()


def parse_nested(text: str, column: Column, scalar: Scalar) -> Any:
    """Lists as lists, structs as dicts by name, maps as lists of pairs; `scalar` reads what is inside."""
    try:
        return _Reader(text, scalar).whole(column, literal=False)
    except (ValueError, ArithmeticError, KeyError):
        if column.type != "struct":
            raise
        return _Reader(text, scalar).whole(column, literal=True)


class _Reader:
    """A cursor over one text; `literal` says that SQL literals are read."""

    def __init__(self, text: str, scalar: Scalar) -> None:
        self.text = text
        self.scalar = scalar
        self.at = 0

    def whole(self, column: Column, literal: bool) -> Any:
        value = self.value(column, literal)
        if self.at != len(self.text):
            raise ValueError(f"unexpected text at position {self.at}")
        return value

    def value(self, column: Column, literal: bool) -> Any:
        if null := _NULL.match(self.text, self.at):
            self.at = null.end()
            return None
        match column.type:
            case "list":
                return self.items("[", "]", lambda: self.value(column.children[0], literal=False))
            case "map":
                return self.items("{", "}", lambda: self.entry(*column.children))
            case "struct":
                return self.struct(column, literal)
        return self.scalar(self.document() if self.bare_json(column) else self.string(literal), column)

    def items(self, opening: str, closing: str, item: Callable[[], Any]) -> list[Any]:
        self.expect(opening)
        found: list[Any] = []
        while not self.accept(closing):
            if found:
                self.expect(", ")
            found.append(item())
        return found

    def entry(self, key: Column, value: Column) -> tuple[Any, Any]:
        left = self.value(key, literal=False)
        self.expect("=")
        return left, self.value(value, literal=False)

    def struct(self, column: Column, literal: bool) -> dict[str, Any]:
        fields = {child.name.casefold(): child for child in column.children}
        found = dict(self.items("{", "}", lambda: self.field(fields, literal)))
        return {child.name: found.get(child.name) for child in column.children}

    def field(self, fields: dict[str, Column], literal: bool) -> tuple[str, Any]:
        child = fields[self.string(literal).casefold()]
        self.expect(": ")
        return child.name, self.value(child, literal)

    def string(self, literal: bool) -> str:
        return self.literal() if literal else self.written()

    def written(self) -> str:
        """Quoted pieces and bare ones side by side; a backslash means something only inside quotes."""
        match = self.take(_WRITTEN)
        if match[0].startswith("CAST("):
            raise ValueError("a literal")
        pieces = _PIECE.findall(match[0])
        return "".join(bare or re.sub(r"\\(.)", r"\1", one or two, flags=re.DOTALL) for one, two, bare in pieces)

    def literal(self) -> str:
        match = self.take(_LITERAL)
        return str(match[2]) if match[1] is None else match[1].replace("''", "'")

    def bare_json(self, column: Column) -> bool:
        return column.type == "json" and not self.text.startswith("'", self.at)

    def document(self) -> str:
        """A JSON document may stand unquoted, commas and brackets and all."""
        start = self.at
        _, self.at = _JSON.raw_decode(self.text, start)
        return self.text[start : self.at]

    def take(self, pattern: re.Pattern[str]) -> re.Match[str]:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise ValueError(f"nothing to read at position {self.at}")
        self.at = match.end()
        return match

    def accept(self, token: str) -> bool:
        found = self.text.startswith(token, self.at)
        self.at += len(token) * found
        return found

    def expect(self, token: str) -> None:
        if not self.accept(token):
            raise ValueError(f"expected {token!r} at position {self.at}")
