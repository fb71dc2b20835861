"""Statements that change rows: INSERT, UPDATE, DELETE, MERGE, TRUNCATE."""

from __future__ import annotations

from trickle.errors import QueryError
from trickle.sql.dialects import to_spark
from trickle.sql.grammar.as_of import relation
from trickle.sql.grammar.cursor import Cursor
from trickle.sql.grammar.lexer import Token
from trickle.sql.statement import (
    Assignment,
    Delete,
    Insert,
    Match,
    Merge,
    MergeClause,
    Name,
    Truncate,
    Update,
)


def insert(cursor: Cursor) -> Insert:
    """INSERT INTO | OVERWRITE [TABLE] name [(columns) | BY NAME] query; the cursor stands after INSERT."""
    overwrite = cursor.accept("OVERWRITE")
    if not overwrite:
        cursor.expect("INTO")
    cursor.accept("TABLE")
    name = cursor.table_name()
    columns = None
    if cursor.sees("(") and not cursor.sees_query():
        columns = cursor.column_names()
    by_name = cursor.accept("BY", "NAME")
    if cursor.sees_any("PARTITION", "REPLACE", "DEFAULT", "SET"):
        raise cursor.error(f"{cursor.word()} is not supported in INSERT", "list columns and values")
    _refuse_tail(cursor, "INSERT", ("ON", "CONFLICT"), ("ON", "DUPLICATE"), ("RETURNING",))
    return Insert(name, cursor.query(), columns, overwrite, by_name)


def update(cursor: Cursor) -> Update:
    """UPDATE name [alias] SET column = expression, ... [WHERE condition]; the cursor stands after UPDATE."""
    name = cursor.table_name()
    alias = _alias(cursor, "SET")
    cursor.expect("SET")
    assignments = cursor.separated(lambda c: _assignment(c, name, alias, "WHERE", "FROM", "RETURNING"))
    where = _where(cursor, "UPDATE")
    return Update(name, assignments, alias, where)


def delete(cursor: Cursor) -> Delete:
    """DELETE FROM name [alias] [WHERE condition]; the cursor stands after DELETE."""
    cursor.expect("FROM")
    name = cursor.table_name()
    alias = _alias(cursor, "WHERE", "USING")
    where = _where(cursor, "DELETE")
    return Delete(name, alias, where)


def truncate(cursor: Cursor) -> Truncate:
    cursor.accept("TABLE")
    name = cursor.table_name()
    cursor.finish("TRUNCATE")
    return Truncate(name)


def merge(cursor: Cursor) -> Merge:
    """MERGE INTO name [alias] USING source [alias] ON condition WHEN ...; the cursor stands after MERGE."""
    cursor.expect("INTO")
    target = cursor.table_name()
    target_alias = _alias(cursor, "USING")
    cursor.expect("USING")
    source = _merge_source(cursor)
    source_alias = _alias(cursor, "ON")
    source_columns = cursor.column_names() if source_alias and cursor.sees("(") else ()
    cursor.expect("ON")
    on = cursor.expression("WHEN")
    clauses = []
    while cursor.accept("WHEN"):
        clauses.append(_merge_clause(cursor, target, target_alias))
    if not clauses:
        raise cursor.error(f"MERGE needs a WHEN clause, found {cursor.found()}")
    cursor.finish("MERGE")
    return Merge(target, source, on, tuple(clauses), target_alias, source_alias, source_columns)


def _merge_source(cursor: Cursor) -> str:
    """A bracketed query, or a table with its AS OF clause."""
    first = cursor.index
    if not cursor.sees("("):
        relation(cursor)
        return cursor.slice(first, cursor.index)
    if not cursor.sees_query():
        raise cursor.error("expected a query in the brackets")
    cursor.index = cursor.closing() + 1
    return f"({to_spark(cursor.slice(first + 1, cursor.index - 1), cursor.dialect)})"


def _merge_clause(cursor: Cursor, target: Name, alias: str | None) -> MergeClause:
    start = cursor.peek()
    by_source = False
    matched = not cursor.accept("NOT")
    cursor.expect("MATCHED")
    if not matched and cursor.accept("BY"):
        by_source = cursor.accept("SOURCE")
        if not by_source:
            cursor.expect("TARGET")
    condition = cursor.expression("THEN") if cursor.accept("AND") else None
    cursor.expect("THEN")
    kind: Match = "matched" if matched else "not_matched_by_source" if by_source else "not_matched"
    try:
        return _merge_action(cursor, kind, condition, target, alias)
    except QueryError as error:
        if error.detail:
            raise
        raise cursor.error(error.message, error.hint, start) from error


def _merge_action(cursor: Cursor, kind: Match, condition: str | None, target: Name, alias: str | None) -> MergeClause:
    if cursor.accept("DELETE"):
        return MergeClause(kind, "delete", condition)
    if cursor.accept("UPDATE", "SET", "*"):
        return MergeClause(kind, "update_all", condition)
    if cursor.accept("UPDATE", "SET"):
        assignments = cursor.separated(lambda c: _assignment(c, target, alias, "WHEN"))
        return MergeClause(kind, "update", condition, assignments=assignments)
    cursor.expect("INSERT")
    if cursor.accept("*"):
        return MergeClause(kind, "insert_all", condition)
    columns = cursor.listed(lambda c: _column(c, target, alias)) if cursor.sees("(") else None
    if columns is None:
        raise cursor.error("INSERT needs its columns", "write INSERT (a, b) VALUES (x, y), or INSERT *")
    cursor.expect("VALUES")
    return MergeClause(kind, "insert", condition, columns=columns, values=cursor.listed(Cursor.expression))


def _assignment(cursor: Cursor, table: Name, alias: str | None, *stops: str) -> Assignment:
    if cursor.sees("("):
        raise cursor.error("several columns cannot be assigned at once", "write a = x, b = y")
    column = _column(cursor, table, alias)
    cursor.expect("=")
    return column, cursor.expression(*stops)


def _column(cursor: Cursor, table: Name, alias: str | None) -> str:
    """A column of the table, its qualifier taken off."""
    start = cursor.peek()
    parts = cursor.names_along_dots("a column name")
    for qualifier in _qualifiers(table, alias):
        if len(parts) > len(qualifier) and [p.casefold() for p in parts[: len(qualifier)]] == qualifier:
            parts = parts[len(qualifier) :]
            break
    if len(parts) != 1:
        raise cursor.error(
            f'"{".".join(parts)}" is not a column of "{table.label}"',
            "a field inside a column is changed by assigning the whole column",
            start,
        )
    return parts[0]


def _qualifiers(table: Name, alias: str | None) -> list[list[str]]:
    if alias is not None:
        return [[alias.casefold()]]
    name = [table.name.casefold()]
    return [[table.schema.casefold(), *name], name] if table.schema else [name]


def _alias(cursor: Cursor, *stops: str) -> str | None:
    if cursor.accept("AS"):
        return cursor.name("an alias")
    if cursor.is_name() and not cursor.sees_any(*stops):
        return cursor.name("an alias")
    return None


def _where(cursor: Cursor, statement: str) -> str | None:
    if cursor.sees_any("USING", "FROM"):
        raise cursor.error(f"{cursor.word()} is not supported in {statement}", "use a subquery in WHERE, or MERGE INTO")
    where = cursor.expression("RETURNING", "ORDER", "LIMIT") if cursor.accept("WHERE") else None
    cursor.finish(statement)
    return where


def _refuse_tail(cursor: Cursor, statement: str, *tails: tuple[str, ...]) -> None:
    """Clauses other databases allow after the query, looked for outside brackets."""
    depth = 0
    for index in range(cursor.index, len(cursor.tokens) - 1):
        token = cursor.tokens[index]
        depth += token.reads("(") - token.reads(")")
        for tail in tails:
            if depth == 0 and _reads(cursor.tokens[index : index + len(tail)], tail):
                raise cursor.error(f"{' '.join(tail)} is not supported in {statement}", "use MERGE INTO", token)


def _reads(tokens: list[Token], words: tuple[str, ...]) -> bool:
    return len(tokens) == len(words) and all(token.reads(word) for token, word in zip(tokens, words, strict=True))
