"""Values and conditions over the columns in sight."""

from __future__ import annotations

from collections.abc import Callable

from trickle.testing.queries.types import (
    DAY,
    DECIMAL,
    DOUBLE,
    LIST,
    MOMENT,
    NUMBER,
    NUMERIC,
    PAIR,
    RATIO,
    SIMPLE,
    TEXT,
    TRUTH,
    Scope,
    Type,
)
from trickle.testing.queries.writer import Writer


def value(w: Writer, scope: Scope, type: Type, deep: int = 2) -> str:
    """An expression of this type: most often a column."""
    columns = [f.text for f in scope if f.type is type]
    if columns and (deep == 0 or w.chance(0.6)):
        return w.pick(*columns)
    if deep == 0 or w.chance(0.1):
        return literal(w, type)
    if columns and type is not TRUTH and w.chance(0.3):
        return _choice(w, scope, type, deep - 1)
    return _MAKERS[type](w, lambda wanted: value(w, scope, wanted, deep - 1))


def literal(w: Writer, type: Type) -> str:
    return w.pick(*type.values) if type.values else "CAST(0.5 AS DOUBLE)"


def _choice(w: Writer, scope: Scope, type: Type, deep: int) -> str:
    this, other = value(w, scope, type, deep), value(w, scope, type, deep)
    return w.pick(
        f"coalesce({this}, {other})",
        f"CASE WHEN {condition(w, scope, deep)} THEN {this} ELSE {other} END",
        f"CASE WHEN {condition(w, scope, deep)} THEN {this} END",
        f"nullif({this}, {other})",
        f"if({condition(w, scope, deep)}, {this}, {other})",
    )


Of = Callable[[Type], str]


def _number(w: Writer, of: Of) -> str:
    return w.write(
        lambda: f"({of(NUMBER)} + {of(NUMBER)})",
        lambda: f"({of(NUMBER)} - 1)",
        lambda: f"{of(NUMBER)} * 2",
        lambda: f"-({of(NUMBER)})",
        lambda: f"abs({of(NUMBER)})",
        lambda: f"({of(NUMBER)}) % 3",
        lambda: f"greatest({of(NUMBER)}, {of(NUMBER)})",
        lambda: f"length({of(TEXT)})",
        lambda: f"year({of(DAY)})",
        lambda: f"month({of(DAY)})",
        lambda: f"hour({of(MOMENT)})",
        lambda: f"CAST({of(TRUTH)} AS INT)",
        lambda: f"size({of(LIST)})",
        lambda: f"({of(PAIR)}).a",
    )


def _decimal(w: Writer, of: Of) -> str:
    return w.write(
        lambda: f"({of(DECIMAL)} + {of(DECIMAL)})",
        lambda: f"({of(DECIMAL)} - 0.25)",
        lambda: f"abs({of(DECIMAL)})",
        lambda: f"CAST({of(NUMBER)} AS DECIMAL(10,2))",
    )


def _double(w: Writer, of: Of) -> str:
    return w.write(
        lambda: f"({of(DOUBLE)} + {of(DOUBLE)})",
        lambda: f"abs({of(DOUBLE)})",
        lambda: f"({of(NUMBER)}) / 2",
        lambda: f"CAST({of(NUMBER)} AS DOUBLE)",
    )


def _text(w: Writer, of: Of) -> str:
    return w.write(
        lambda: f"upper({of(TEXT)})",
        lambda: f"concat({of(TEXT)}, 'z')",
        lambda: f"substring({of(TEXT)}, 1, 1)",
        lambda: f"replace({of(TEXT)}, 'x', 'w')",
        lambda: f"CAST({of(w.pick(NUMBER, DECIMAL, DAY, MOMENT))} AS STRING)",
        lambda: f"({of(PAIR)}).b",
    )


def _truth(w: Writer, of: Of) -> str:
    return w.write(
        lambda: f"({of(NUMBER)} > 1)",
        lambda: f"(NOT {of(TRUTH)})",
        lambda: f"coalesce({of(TRUTH)}, FALSE)",
        lambda: f"({of(TEXT)} IS NULL)",
        lambda: f"({of(TRUTH)} AND {of(TRUTH)})",
        lambda: f"({of(TRUTH)} OR {of(TRUTH)})",
    )


def _day(w: Writer, of: Of) -> str:
    return w.write(lambda: f"CAST(date_add({of(DAY)}, 1) AS DATE)", lambda: f"CAST({of(MOMENT)} AS DATE)")


def _moment(w: Writer, of: Of) -> str:
    return w.write(lambda: f"date_trunc('DAY', {of(MOMENT)})", lambda: f"CAST({of(DAY)} AS TIMESTAMP)")


def _list(w: Writer, of: Of) -> str:
    return w.write(lambda: f"array({of(NUMBER)}, {of(NUMBER)})", lambda: f"array(1, {of(NUMBER)}, NULL)")


def _pair(w: Writer, of: Of) -> str:
    return f"named_struct('a', {of(NUMBER)}, 'b', {of(TEXT)})"


def _ratio(w: Writer, of: Of) -> str:
    return of(RATIO)


_MAKERS: dict[Type, Callable[[Writer, Of], str]] = {
    NUMBER: _number,
    DECIMAL: _decimal,
    DOUBLE: _double,
    TEXT: _text,
    TRUTH: _truth,
    DAY: _day,
    MOMENT: _moment,
    LIST: _list,
    PAIR: _pair,
    RATIO: _ratio,
}

COMPARISONS = ("=", "=", "<>", "<", "<=", ">", ">=", "<=>")


def condition(w: Writer, scope: Scope, deep: int = 2) -> str:
    """A predicate; unknown as often as not."""
    if deep and w.chance(0.25):
        this, other = condition(w, scope, deep - 1), condition(w, scope, deep - 1)
        return w.pick(f"({this} AND {other})", f"({this} OR {other})", f"NOT ({this})", f"({this}) IS TRUE")
    known = [f.type for f in scope if f.type in SIMPLE]
    type = w.pick(*known) if known else NUMBER
    this = value(w, scope, type, min(deep, 1))
    return w.write(
        lambda: compared(w, scope, this, type),
        lambda: compared(w, scope, this, type),
        lambda: f"{this} IS {w.pick('NULL', 'NOT NULL')}",
        lambda: f"{this} {w.pick('IN', 'IN', 'NOT IN')} ({_listed(w, type)})",
        lambda: f"{this} {w.pick('BETWEEN', 'NOT BETWEEN')} {literal(w, type)} AND {literal(w, type)}",
        lambda: f"{this} IS {w.pick('', 'NOT ')}DISTINCT FROM {value(w, scope, type, 0)}",
        lambda: f"{value(w, scope, TEXT, 0)} LIKE {w.pick(chr(39) + 'x%' + chr(39), chr(39) + '_' + chr(39))}",
        lambda: value(w, scope, TRUTH, 1),
    )


def compared(w: Writer, scope: Scope, this: str, type: Type) -> str:
    """A comparison with something of the same type, or another type of numbers."""
    other = w.pick(*NUMERIC) if type in NUMERIC and w.chance(0.3) else type
    return f"{this} {w.pick(*COMPARISONS)} {value(w, scope, other, 1)}"


def _listed(w: Writer, type: Type) -> str:
    return ", ".join([literal(w, type), literal(w, type), *(["NULL"] if w.chance(0.2) else [])])
