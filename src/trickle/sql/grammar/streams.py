"""Stream tables and the functions around them; materialized views as their synonym."""

from __future__ import annotations

from trickle.sql.grammar.cursor import Cursor
from trickle.sql.grammar.literals import arguments, options
from trickle.sql.statement import (
    AlterStreamTable,
    Call,
    CreateStreamTable,
    DropStreamTable,
    ExplainStreamTable,
    Options,
    RefreshStreamTable,
    Value,
)

SCHEMA = "trickle"


def create_stream_table(cursor: Cursor, or_replace: bool) -> CreateStreamTable:
    """CREATE [OR REPLACE] STREAM TABLE [IF NOT EXISTS] name [WITH (...)] AS query, from after TABLE."""
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    name = cursor.table_name("a stream table name")
    given = options(cursor) if cursor.accept("WITH") else ()
    cursor.expect("AS")
    return CreateStreamTable(name, cursor.query(), given, if_not_exists, or_replace)


def create_materialized_view(cursor: Cursor, or_replace: bool) -> CreateStreamTable:
    """CREATE MATERIALIZED VIEW name WITH (trickle.stream = true, ...) AS query [WITH [NO] DATA]"""
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    start = cursor.peek()
    name = cursor.table_name("a materialized view name")
    given = dict(options(cursor)) if cursor.accept("WITH") else {}
    if given.pop(f"{SCHEMA}.stream", None) is not True:
        raise cursor.error(
            f'materialized view "{name.label}" is not a stream table',
            "add WITH (trickle.stream = true), or write CREATE STREAM TABLE",
            start,
        )
    plain: dict[str, Value] = {key.removeprefix(f"{SCHEMA}."): value for key, value in given.items()}
    cursor.expect("AS")
    if _cut_tail(cursor, "WITH", "NO", "DATA"):
        plain["initialize"] = False
    else:
        _cut_tail(cursor, "WITH", "DATA")
    return CreateStreamTable(name, cursor.query(), tuple(plain.items()), if_not_exists, or_replace)


def _cut_tail(cursor: Cursor, *words: str) -> bool:
    """Takes the words off the end of the statement, if it ends so."""
    tail = cursor.tokens[-1 - len(words) : -1]
    if not all(token.reads(word) for token, word in zip(tail, words, strict=False)):
        return False
    del cursor.tokens[-1 - len(words) : -1]
    return True


def alter_stream_table(cursor: Cursor) -> AlterStreamTable:
    """ALTER STREAM TABLE name SET (...) | AS query | SUSPEND | RESUME; the cursor stands after TABLE."""
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.table_name("a stream table name")
    given: Options = ()
    query = None
    suspend = resume = False
    if cursor.accept("SET"):
        given = options(cursor)
    elif cursor.accept("AS"):
        query = cursor.query()
    elif cursor.accept("SUSPEND"):
        suspend = True
    elif cursor.accept("RESUME"):
        resume = True
    else:
        raise cursor.error(
            f"expected SET, AS, SUSPEND or RESUME, found {cursor.found()}",
        )
    cursor.finish("ALTER STREAM TABLE")
    return AlterStreamTable(name, given, query, suspend, resume, if_exists)


def drop_stream_table(cursor: Cursor) -> DropStreamTable:
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.table_name("a stream table name")
    cascade = cursor.accept("CASCADE")
    cursor.accept("RESTRICT")
    cursor.finish("DROP STREAM TABLE")
    return DropStreamTable(name, if_exists, cascade)


def refresh(cursor: Cursor) -> RefreshStreamTable:
    """REFRESH STREAM TABLE | MATERIALIZED VIEW name [FULL]; the cursor stands after REFRESH."""
    if not cursor.accept("MATERIALIZED", "VIEW"):
        cursor.expect("STREAM", "TABLE")
    name = cursor.table_name("a stream table name")
    full = cursor.accept("FULL")
    cursor.finish("REFRESH STREAM TABLE")
    return RefreshStreamTable(name, full)


def explain_stream_table(cursor: Cursor, analyze: bool) -> ExplainStreamTable:
    name = cursor.table_name("a stream table name")
    cursor.finish("EXPLAIN STREAM TABLE")
    return ExplainStreamTable(name, analyze)


def call(cursor: Cursor) -> Call:
    """CALL trickle.function(value, name => value); the cursor stands after CALL."""
    start = cursor.peek()
    name = cursor.table_name("a function name")
    if (name.schema or "").casefold() != SCHEMA:
        raise cursor.error(f'function "{name.label}" cannot be called', f"write CALL {SCHEMA}.{name.name}(...)", start)
    if not cursor.sees("("):
        raise cursor.error(f"expected (, found {cursor.found()}", "a call needs its brackets, even without arguments")
    made = Call(arguments(cursor, name.name))
    cursor.finish("CALL")
    return made
