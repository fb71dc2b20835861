"""Declared keys: [CONSTRAINT name] PRIMARY KEY (…), FOREIGN KEY (…) REFERENCES …, and what is said behind them."""

from __future__ import annotations

from trickle.sql.grammar.cursor import Cursor
from trickle.sql.statement import ForeignKey, PrimaryKey

_KEYS = ("PRIMARY", "FOREIGN")


def sees_constraint(cursor: Cursor) -> bool:
    """Does a table constraint stand here, named or not?"""
    at = 2 if cursor.sees("CONSTRAINT") else 0
    return (cursor.peek(at).key in _KEYS and cursor.peek(at + 1).reads("KEY")) or (
        cursor.peek(at).key in ("UNIQUE", "CHECK") and cursor.peek(at + 1).reads("(")
    )


def constraint(cursor: Cursor) -> PrimaryKey | ForeignKey:
    """A table constraint; the cursor stands before it."""
    name = constraint_name(cursor)
    if cursor.accept("PRIMARY", "KEY"):
        return primary_key(cursor, cursor.column_names(), name)
    if cursor.accept("FOREIGN", "KEY"):
        return foreign_key(cursor, cursor.column_names(), name)
    raise cursor.error(f"constraint {cursor.word()} is not supported")


def constraint_name(cursor: Cursor) -> str:
    """[CONSTRAINT name]; empty where there is none."""
    return cursor.name("a constraint's name") if cursor.accept("CONSTRAINT") else ""


def primary_key(cursor: Cursor, columns: tuple[str, ...], name: str = "") -> PrimaryKey:
    return PrimaryKey(columns, name, rely=_relied_upon(cursor))


def foreign_key(cursor: Cursor, columns: tuple[str, ...], name: str = "") -> ForeignKey:
    """REFERENCES table [(column, …)]"""
    cursor.expect("REFERENCES")
    table = cursor.table_name()
    there = cursor.column_names() if cursor.sees("(") else ()
    return ForeignKey(columns, table, there, rely=_relied_upon(cursor), name=name)


def _relied_upon(cursor: Cursor) -> bool:
    """[NOT ENFORCED] [RELY | NORELY]: whether the key may be relied upon. No declared key is enforced."""
    rely = False
    while True:
        if cursor.sees("ENFORCED"):
            raise cursor.error("keys are declared, not enforced", "write NOT ENFORCED, or leave ENFORCED out")
        if cursor.accept("RELY"):
            rely = True
        elif not (cursor.accept("NOT", "ENFORCED") or cursor.accept("NORELY")):
            return rely
