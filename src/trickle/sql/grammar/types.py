"""Type names: Spark's, and the standard's spellings of the same types."""

from __future__ import annotations

import re

from trickle.sql.dialects import type_to_spark
from trickle.sql.grammar.cursor import Cursor

_STANDARD = {
    "BLOB": "BINARY",
    "BOOL": "BOOLEAN",
    "BYTEA": "BINARY",
    "CHARACTER VARYING": "STRING",
    "DOUBLE PRECISION": "DOUBLE",
    "FLOAT4": "FLOAT",
    "FLOAT8": "DOUBLE",
    "INT2": "SMALLINT",
    "INT4": "INT",
    "INT8": "BIGINT",
    "TEXT": "STRING",
    "TIMESTAMP WITH LOCAL TIME ZONE": "TIMESTAMP",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMP",
    "TIMESTAMP WITHOUT TIME ZONE": "TIMESTAMP_NTZ",
    "TIMESTAMPTZ": "TIMESTAMP",
    "VARCHAR": "STRING",
}
_MORE_WORDS = (
    ("PRECISION",),
    ("VARYING",),
    ("WITH", "LOCAL", "TIME", "ZONE"),
    ("WITH", "TIME", "ZONE"),
    ("WITHOUT", "TIME", "ZONE"),
)


def type_name(cursor: Cursor) -> str:
    """A type as Spark writes it.

    >>> type_name(Cursor("double precision")), type_name(Cursor("ARRAY<INT>")), type_name(Cursor("int[]"))
    ('DOUBLE', 'ARRAY<INT>', 'ARRAY<int>')
    """
    first = cursor.index
    if cursor.peek().kind != "word":
        raise cursor.error(f"expected a type, found {cursor.found()}")
    interval = cursor.sees("INTERVAL")
    cursor.take()
    if interval:
        _interval_fields(cursor)
    any(cursor.accept(*words) for words in _MORE_WORDS)
    if cursor.sees("("):
        cursor.index = cursor.closing() + 1
    if cursor.sees_any("<", "<>"):
        _skip_generic(cursor)
    if cursor.dialect != "spark":
        while cursor.accept("[", "]"):
            pass
        return type_to_spark(cursor.slice(first, cursor.index), cursor.dialect)
    written = cursor.slice(first, cursor.index)
    spark = _STANDARD.get(re.sub(r"\s+", " ", written).upper(), written)
    while cursor.accept("[", "]"):
        spark = f"ARRAY<{spark}>"
    return spark


def _interval_fields(cursor: Cursor) -> None:
    """INTERVAL DAY TO SECOND and its kin."""
    fields = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
    if cursor.accept_any(*fields) and cursor.accept("TO") and not cursor.accept_any(*fields):
        raise cursor.error(f"expected a unit of time, found {cursor.found()}")


def _skip_generic(cursor: Cursor) -> None:
    depth, start = 0, cursor.peek()
    while not cursor.done():
        token = cursor.take()
        depth += token.reads("<") - token.reads(">")
        if depth == 0:
            return
    raise cursor.error('the bracket "<" is not closed', at=start)
