"""Schemas, views, drops, transactions, and looking around."""

from __future__ import annotations

from trickle.sql.grammar.cursor import Cursor
from trickle.sql.statement import (
    Begin,
    Commit,
    CreateSchema,
    CreateView,
    Describe,
    DropSchema,
    DropTable,
    DropView,
    Rollback,
    Show,
)


def create_schema(cursor: Cursor) -> CreateSchema:
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    name = cursor.name("a schema name")
    cursor.finish("CREATE SCHEMA")
    return CreateSchema(name, if_not_exists)


def drop_schema(cursor: Cursor) -> DropSchema:
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.name("a schema name")
    cascade = _cascade(cursor)
    cursor.finish("DROP SCHEMA")
    return DropSchema(name, if_exists, cascade)


def create_view(cursor: Cursor, or_replace: bool) -> CreateView:
    """CREATE [OR REPLACE] VIEW [IF NOT EXISTS] name [(columns)] AS query; the cursor stands after VIEW."""
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    name = cursor.table_name("a view name")
    columns = cursor.column_names() if cursor.sees("(") else ()
    if not cursor.sees("AS") and not cursor.done():
        raise cursor.error(f"clause {cursor.word()} is not supported in CREATE VIEW")
    cursor.expect("AS")
    return CreateView(name, cursor.query(), columns, or_replace, if_not_exists)


def drop_view(cursor: Cursor) -> DropView:
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.table_name("a view name")
    cascade = _cascade(cursor)
    cursor.finish("DROP VIEW")
    return DropView(name, if_exists, cascade)


def drop_table(cursor: Cursor) -> DropTable:
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.table_name()
    if cursor.sees("PURGE"):
        raise cursor.error("PURGE is not supported in DROP TABLE", "expire snapshots to free the files")
    cascade = _cascade(cursor)
    cursor.finish("DROP TABLE")
    return DropTable(name, if_exists, cascade)


def _cascade(cursor: Cursor) -> bool:
    cascade = cursor.accept("CASCADE")
    cursor.accept("RESTRICT")
    return cascade


def begin(cursor: Cursor) -> Begin:
    cursor.accept_any("TRANSACTION", "WORK")
    cursor.finish("BEGIN")
    return Begin()


def commit(cursor: Cursor) -> Commit:
    cursor.accept_any("TRANSACTION", "WORK")
    cursor.finish("COMMIT")
    return Commit()


def rollback(cursor: Cursor) -> Rollback:
    cursor.accept_any("TRANSACTION", "WORK")
    cursor.finish("ROLLBACK")
    return Rollback()


def show(cursor: Cursor) -> Show:
    """SHOW TABLES | VIEWS | STREAM TABLES [IN schema], SHOW SCHEMAS, SHOW COLUMNS IN table"""
    if cursor.accept_any("SCHEMAS", "DATABASES", "NAMESPACES"):
        made = Show("schemas")
    elif cursor.accept("COLUMNS"):
        if not cursor.accept("FROM"):
            cursor.expect("IN")
        made = Show("columns", table=cursor.table_name())
    elif cursor.accept("TABLES"):
        made = Show("tables", _in_schema(cursor))
    elif cursor.accept("VIEWS"):
        made = Show("views", _in_schema(cursor))
    elif cursor.accept("STREAM", "TABLES"):
        made = Show("stream tables", _in_schema(cursor))
    else:
        hint = "use TABLES, VIEWS, STREAM TABLES, SCHEMAS or COLUMNS"
        raise cursor.error(f"SHOW {cursor.word()} is not supported", hint)
    cursor.finish("SHOW")
    return made


def _in_schema(cursor: Cursor) -> str | None:
    return cursor.name("a schema name") if cursor.accept_any("IN", "FROM") else None


def describe(cursor: Cursor) -> Describe:
    """DESCRIBE [TABLE] name; a table may be called TABLE."""
    if cursor.sees("TABLE") and cursor.is_name(cursor.peek(1)):
        cursor.take()
    name = cursor.table_name()
    cursor.finish("DESCRIBE")
    return Describe(name)
