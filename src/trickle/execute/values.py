"""`VALUES (1, DEFAULT)`: the word DEFAULT replaced by what the column's default is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..lake.model import Column
from ..sql.dialects import expression_to_spark
from ..sql.grammar.lexer import Token, lex


def default_text(column: Column) -> str:
    """A column's default as Spark SQL; a literal's text casts to any type that has one.

    >>> default_text(Column(1, "a", "varchar", default="it's"))
    "'it\\\\'s'"
    """
    if column.default is None:
        return "NULL"
    if column.default_kind == "expression":
        return expression_to_spark(column.default, "duckdb")
    text = column.default.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{text}'" if column.type == "varchar" else f"CAST('{text}' AS {_SPARK.get(column.type, column.type)})"


_SPARK = {
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float32": "float",
    "float64": "double",
    "timestamp": "timestamp_ntz",
    "timestamptz": "timestamp",
    "blob": "binary",
}


def fill_defaults(text: str, columns: Sequence[Column]) -> str:
    """The VALUES clause with each DEFAULT that stands for a whole value replaced.

    >>> fill_defaults("VALUES (1, DEFAULT), (2, 'x')", [Column(1, "a", "int32"), Column(2, "b", "varchar")])
    "VALUES (1, NULL), (2, 'x')"
    """
    edits = [(t, default_text(columns[n])) for n, t in _defaults(lex(text)) if n < len(columns)]
    for token, new in reversed(edits):
        text = text[: token.start] + new + text[token.end :]
    return text


def _defaults(tokens: list[Token]) -> Iterator[tuple[int, Token]]:
    """(place in its row, token) of every DEFAULT that is a value by itself."""
    depth, place = 0, 0
    for n, token in enumerate(tokens):
        if token.reads("("):
            depth += 1
            place = 0 if depth == 1 else place
        elif token.reads(")"):
            depth -= 1
        elif token.reads(",") and depth == 1:
            place += 1
        elif token.reads("DEFAULT") and depth == 1 and _alone(tokens, n):
            yield place, token


def _alone(tokens: list[Token], n: int) -> bool:
    before, after = tokens[n - 1], tokens[n + 1]
    return (before.reads("(") or before.reads(",")) and (after.reads(")") or after.reads(","))
