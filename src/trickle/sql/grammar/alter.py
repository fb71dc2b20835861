"""ALTER TABLE, in Spark's words and in the standard's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from trickle.sql.grammar.cursor import Cursor
from trickle.sql.grammar.keys import constraint, sees_constraint
from trickle.sql.grammar.tables import cluster_clause, column_def, partition_clause
from trickle.sql.grammar.types import type_name
from trickle.sql.statement import (
    AddColumn,
    AddKey,
    Alteration,
    AlterTable,
    DropColumn,
    DropConstraint,
    DropDefault,
    DropNotNull,
    DropPrimaryKey,
    RenameColumn,
    RenameTable,
    SetCluster,
    SetDefault,
    SetNotNull,
    SetPartition,
    WidenColumn,
)

T = TypeVar("T")
_VERBS = ("ADD", "DROP", "ALTER", "CHANGE", "RENAME", "SET", "RESET", "CLUSTER", "PARTITIONED")


def alter_table(cursor: Cursor) -> AlterTable:
    """ALTER TABLE [IF EXISTS] name action, ...; the cursor stands after TABLE."""
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.table_name()
    actions = tuple(action for group in cursor.separated(_actions) for action in group)
    cursor.finish("ALTER TABLE")
    return AlterTable(name, actions, if_exists)


def _actions(cursor: Cursor) -> tuple[Alteration, ...]:
    if cursor.accept("ADD"):
        return tuple(_add(cursor))
    if cursor.accept("DROP"):
        return tuple(_drop(cursor))
    if cursor.accept("RENAME"):
        return (_rename(cursor),)
    if cursor.accept("ALTER"):
        cursor.accept("COLUMN")
        return (_change(cursor, cursor.name("a column name")),)
    if cursor.accept("CHANGE"):
        cursor.accept("COLUMN")
        return _hive_change(cursor)
    return (_layout(cursor),)


def _add(cursor: Cursor) -> Iterator[Alteration]:
    if sees_constraint(cursor):
        yield AddKey(constraint(cursor))
        return
    if cursor.sees_any("CONSTRAINT", "FOREIGN", "UNIQUE", "CHECK", "PARTITION") and cursor.peek(1).kind != "end":
        raise cursor.error(f"ADD {cursor.word()} is not supported in ALTER TABLE")
    cursor.accept_any("COLUMNS", "COLUMN")
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    columns = cursor.listed(column_def) if cursor.sees("(") else _while_no_verb(cursor, column_def)
    for column in columns:
        yield AddColumn(column, if_not_exists)


def _drop(cursor: Cursor) -> Iterator[Alteration]:
    if cursor.accept("PRIMARY", "KEY"):
        yield DropPrimaryKey()
        return
    if cursor.accept("CONSTRAINT"):
        if_exists = cursor.accept("IF", "EXISTS")
        yield DropConstraint(cursor.name("a constraint's name"), if_exists)
        return
    if cursor.sees("PARTITION"):
        raise cursor.error("DROP PARTITION is not supported in ALTER TABLE")
    cursor.accept_any("COLUMNS", "COLUMN")
    if_exists = cursor.accept("IF", "EXISTS")
    columns = cursor.column_names() if cursor.sees("(") else _while_no_verb(cursor, _column)
    for column in columns:
        yield DropColumn(column, if_exists)


def _column(cursor: Cursor) -> str:
    return cursor.name("a column name")


def _while_no_verb(cursor: Cursor, item: Callable[[Cursor], T]) -> list[T]:
    """item, item, ...; a comma before the verb of the next action is left to the caller."""
    items = [item(cursor)]
    while cursor.sees(",") and cursor.peek(1).key not in _VERBS:
        cursor.take()
        items.append(item(cursor))
    return items


def _rename(cursor: Cursor) -> Alteration:
    if cursor.accept("TO"):
        return RenameTable(cursor.table_name())
    cursor.accept("COLUMN")
    column = _column(cursor)
    cursor.expect("TO")
    return RenameColumn(column, _column(cursor))


def _change(cursor: Cursor, column: str) -> Alteration:
    """What follows ALTER COLUMN name."""
    if cursor.accept("TYPE") or cursor.accept("SET", "DATA", "TYPE"):
        return WidenColumn(column, type_name(cursor))
    if cursor.accept("SET", "NOT", "NULL"):
        return SetNotNull(column)
    if cursor.accept("DROP", "NOT", "NULL"):
        return DropNotNull(column)
    if cursor.accept("SET", "DEFAULT"):
        return SetDefault(column, cursor.expression())
    if cursor.accept("DROP", "DEFAULT"):
        return DropDefault(column)
    if cursor.sees("."):
        raise cursor.error("a field inside a column cannot be altered by itself", "alter the column's whole type")
    raise cursor.error(
        f"{cursor.found()} is not supported in ALTER COLUMN",
        "use TYPE, SET or DROP NOT NULL, SET or DROP DEFAULT",
    )


def _hive_change(cursor: Cursor) -> tuple[Alteration, ...]:
    """CHANGE COLUMN old new type: a rename, where the names differ, and a type."""
    column = _column(cursor)
    if cursor.sees_any("TYPE", "SET", "DROP"):
        return (_change(cursor, column),)
    to = _column(cursor)
    widen = WidenColumn(to, type_name(cursor))
    return (widen,) if to == column else (RenameColumn(column, to), widen)


def _layout(cursor: Cursor) -> Alteration:
    """How the table's files are laid out: PARTITIONED BY, CLUSTER BY."""
    reset = cursor.accept("RESET")
    if not reset:
        cursor.accept("SET")
    if cursor.sees_any("PARTITIONED", "PARTITION"):
        if reset or cursor.peek(2).reads("NONE"):
            cursor.index += 2 if reset else 3
            return SetPartition(())
        return SetPartition(partition_clause(cursor))
    if cursor.sees_any("CLUSTERED", "CLUSTER"):
        if reset or cursor.peek(2).reads("NONE"):
            cursor.index += 2 if reset else 3
            return SetCluster(())
        return SetCluster(cluster_clause(cursor))
    raise cursor.error(f"{cursor.found()} is not supported in ALTER TABLE")
