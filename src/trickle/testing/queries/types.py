"""Types of columns, each with few values: keys collide, copies of rows are common."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Type:
    """A family of types that may stand for each other; values are literals of Spark SQL."""

    letter: str
    declared: tuple[str, ...]
    values: tuple[str, ...] = ()


NUMBER = Type("n", ("INT", "INT", "BIGINT", "SMALLINT"), ("0", "1", "1", "2", "3", "-2"))
DECIMAL = Type("m", ("DECIMAL(8,2)",), ("0.00", "1.50", "1.50", "-2.25", "10.01"))
DOUBLE = Type("f", ("DOUBLE",), ("CAST(0.5 AS DOUBLE)", "CAST(1.25 AS DOUBLE)", "CAST(-2 AS DOUBLE)"))
TEXT = Type("s", ("STRING",), ("''", "'x'", "'x'", "'y'", "'xy'"))
TRUTH = Type("b", ("BOOLEAN",), ("TRUE", "FALSE"))
DAY = Type("d", ("DATE",), ("DATE '2024-02-28'", "DATE '2024-02-29'", "DATE '2024-03-01'"))
MOMENT = Type("t", ("TIMESTAMP",), ("TIMESTAMP '2024-02-29 12:30:00'", "TIMESTAMP '2024-03-01 00:00:00'"))
LIST = Type("l", ("ARRAY<INT>",), ("array(1, 2)", "array(1)", "array(2, NULL)", "array(3, 3, 0)"))
PAIR = Type("p", ("STRUCT<a: INT, b: STRING>",), ("named_struct('a', 1, 'b', 'x')", "named_struct('a', 2, 'b', 'y')"))
RATIO = Type("r", ("DOUBLE",))
"""A quotient: compared, grouped and shown, but never added up, for the order of adding would show."""

STORED = (NUMBER, NUMBER, TEXT, TEXT, DECIMAL, DOUBLE, TRUTH, DAY, MOMENT, LIST, PAIR)
SIMPLE = (NUMBER, TEXT, DECIMAL, DOUBLE, TRUTH, DAY, MOMENT)
NUMERIC = (NUMBER, DECIMAL, DOUBLE)


@dataclass(frozen=True)
class Column:
    name: str
    type: Type


@dataclass(frozen=True)
class Field:
    """A column in sight, as an expression names it."""

    text: str
    type: Type


Scope = tuple[Field, ...]


@dataclass(frozen=True)
class Query:
    """A SELECT and its columns."""

    text: str
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Source:
    """What stands after FROM, and what it puts in sight."""

    text: str
    scope: Scope


def named(types: list[Type]) -> tuple[Column, ...]:
    """Columns of these types, named by them: the second number is n2 in every query, so that names meet.

    >>> [c.name for c in named([NUMBER, TEXT, NUMBER])]
    ['n1', 's1', 'n2']
    """
    counts: dict[str, int] = {}
    columns = []
    for type in types:
        counts[type.letter] = counts.get(type.letter, 0) + 1
        columns.append(Column(f"{type.letter}{counts[type.letter]}", type))
    return tuple(columns)
