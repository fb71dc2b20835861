"""One statement, from text to value."""

from __future__ import annotations

from collections.abc import Callable

from trickle.errors import QueryError
from trickle.sql.grammar import alter, changes, functions, objects, streams, tables
from trickle.sql.grammar.cursor import QUERY_STARTS, Cursor, table_name
from trickle.sql.statement import Query, Statement

__all__ = ["parse", "table_name"]


def parse(text: str, dialect: str = "spark") -> Statement:
    """The statement a text holds; queries and expressions inside stay as they were written.

    Double quotes around a name are understood where only a name can stand; inside queries and expressions
    they mean what they mean to Spark, a string. With dialect "postgres" they always mean a name, and queries
    and expressions are translated to Spark's SQL.

    >>> parse("DELETE FROM orders WHERE id = 3;")
    Delete(name=Name(schema=None, name='orders'), alias=None, where='id = 3')
    """
    cursor = Cursor(text, dialect)
    _cut_semicolons(cursor)
    if cursor.done():
        raise QueryError("there is no statement", hint="write one statement")
    return _statement(cursor)


def _cut_semicolons(cursor: Cursor) -> None:
    while len(cursor.tokens) > 1 and cursor.tokens[-2].reads(";"):
        del cursor.tokens[-2]
    for index, token in enumerate(cursor.tokens):
        if token.reads(";"):
            follows = cursor.tokens[index + 1]
            raise cursor.error("there is more than one statement", "run them one by one, or as a script", follows)


def _statement(cursor: Cursor) -> Statement:
    if cursor.sees_query():
        return _query(cursor)
    verb = cursor.word()
    rule = _VERBS.get(verb) if cursor.peek().kind == "word" else None
    if rule is None:
        raise cursor.error(f"{cursor.found()} does not start a statement", _hint(verb))
    cursor.take()
    return rule(cursor)


def _hint(verb: str) -> str:
    if verb in (
        "SET",
        "USE",
        "CACHE",
        "ANALYZE",
        "OPTIMIZE",
        "VACUUM",
        "GRANT",
        "COPY",
        "LOAD",
        "MSCK",
        "COMMENT",
    ):
        return f"{verb} is not supported"
    return "a statement starts with a verb such as SELECT, CREATE, INSERT or REFRESH"


def _query(cursor: Cursor) -> Query:
    if cursor.sees("WITH"):
        _refuse_changes_under_with(cursor)
    return Query(cursor.query())


def _refuse_changes_under_with(cursor: Cursor) -> None:
    """WITH ... INSERT: the verb after the last bracket of the list of common table expressions."""
    depth = 0
    for index, token in enumerate(cursor.tokens):
        depth += token.reads("(") - token.reads(")")
        verb = token.key
        if depth == 0 and index and cursor.tokens[index - 1].reads(")"):
            if verb in ("INSERT", "UPDATE", "DELETE", "MERGE"):
                raise cursor.error(f"WITH before {verb} is not supported", f"put it into the query of {verb}", token)
            if verb in QUERY_STARTS:
                return


def _create(cursor: Cursor) -> Statement:
    or_replace = cursor.accept("OR", "REPLACE")
    if cursor.accept("STREAM", "TABLE"):
        return streams.create_stream_table(cursor, or_replace)
    if cursor.accept("MATERIALIZED", "VIEW"):
        return streams.create_materialized_view(cursor, or_replace)
    if cursor.accept("TABLE"):
        return tables.create_table(cursor, or_replace)
    if cursor.accept("VIEW"):
        return objects.create_view(cursor, or_replace)
    if cursor.accept("FUNCTION"):
        return functions.create_function(cursor, or_replace)
    if cursor.sees_any("SCHEMA", "DATABASE", "NAMESPACE") and not or_replace:
        cursor.take()
        return objects.create_schema(cursor)
    raise _unsupported_object(cursor, "CREATE")


def _alter(cursor: Cursor) -> Statement:
    if cursor.accept("STREAM", "TABLE") or cursor.accept("MATERIALIZED", "VIEW"):
        return streams.alter_stream_table(cursor)
    if cursor.accept("TABLE"):
        return alter.alter_table(cursor)
    raise _unsupported_object(cursor, "ALTER")


def _drop(cursor: Cursor) -> Statement:
    if cursor.accept("STREAM", "TABLE") or cursor.accept("MATERIALIZED", "VIEW"):
        return streams.drop_stream_table(cursor)
    if cursor.accept("TABLE"):
        return objects.drop_table(cursor)
    if cursor.accept("VIEW"):
        return objects.drop_view(cursor)
    if cursor.accept("FUNCTION"):
        return functions.drop_function(cursor)
    if cursor.accept_any("SCHEMA", "DATABASE", "NAMESPACE"):
        return objects.drop_schema(cursor)
    raise _unsupported_object(cursor, "DROP")


def _unsupported_object(cursor: Cursor, verb: str) -> QueryError:
    if cursor.done():
        return cursor.error(f"{verb} what?", f"write {verb} TABLE, VIEW, SCHEMA or STREAM TABLE")
    return cursor.error(f"{verb} {cursor.word()} is not supported")


def _explain(cursor: Cursor) -> Statement:
    """EXPLAIN [ANALYZE] STREAM TABLE name, or Spark's own EXPLAIN of a query."""
    analyze = cursor.accept("ANALYZE")
    if cursor.accept("STREAM", "TABLE"):
        return streams.explain_stream_table(cursor, analyze)
    mode = f"{cursor.take().text} " if cursor.sees_any("EXTENDED", "FORMATTED", "COST", "CODEGEN") else ""
    if analyze or not cursor.sees_query():
        raise cursor.error("EXPLAIN takes a query or STREAM TABLE name")
    return Query(f"EXPLAIN {mode}{cursor.query()}")


def _start(cursor: Cursor) -> Statement:
    cursor.expect("TRANSACTION")
    return objects.begin(cursor)


_VERBS: dict[str, Callable[[Cursor], Statement]] = {
    "ABORT": objects.rollback,
    "ALTER": _alter,
    "BEGIN": objects.begin,
    "CALL": streams.call,
    "COMMIT": objects.commit,
    "CREATE": _create,
    "DELETE": changes.delete,
    "DESC": objects.describe,
    "DESCRIBE": objects.describe,
    "DROP": _drop,
    "EXPLAIN": _explain,
    "INSERT": changes.insert,
    "MERGE": changes.merge,
    "REFRESH": streams.refresh,
    "ROLLBACK": objects.rollback,
    "SHOW": objects.show,
    "START": _start,
    "TRUNCATE": changes.truncate,
    "UPDATE": changes.update,
}
