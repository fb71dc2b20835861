"""From one SQL to another, by sqlglot: views that DuckDB wrote, queries that PostgreSQL users type."""

from __future__ import annotations

from typing import ClassVar

import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ErrorLevel, SqlglotError

from trickle.errors import QueryError


class SparkSql(Spark):
    """Spark 4's SQL: a doubled quote inside a string is one quote; sqlglot's own Spark reads two strings."""

    class Tokenizer(Spark.Tokenizer):
        STRING_ESCAPES: ClassVar[list[str]] = ["\\", "'", '"']


_DIALECTS: dict[str, str | type[Spark]] = {"spark": SparkSql, "postgres": "postgres", "duckdb": "duckdb"}
_NAMES = {"spark": "Spark", "postgres": "PostgreSQL", "duckdb": "DuckDB"}


def to_spark(query: str, dialect: str = "spark") -> str:
    """A query in Spark's words; one that already is stays as it was written, byte for byte."""
    return query if dialect == "spark" else _translate(query, dialect, "spark")


def expression_to_spark(text: str, dialect: str = "spark") -> str:
    """An expression in Spark's words."""
    if dialect == "spark":
        return text
    tree = _parse(f"SELECT {text}", dialect)
    if not isinstance(tree, exp.Select) or len(tree.expressions) != 1 or len(tree.args.keys() - {"kind"}) < 1:
        raise QueryError(f"not an expression: {text}")
    return _generate(tree.expressions[0], dialect, "spark")


def type_to_spark(text: str, dialect: str = "spark") -> str:
    """The name of a type in Spark's words.

    >>> type_to_spark("double precision", "postgres")
    'DOUBLE'
    """
    if dialect == "spark":
        return text
    try:
        return exp.DataType.build(text, dialect=_DIALECTS[dialect]).sql(dialect=SparkSql)
    except SqlglotError as error:
        raise QueryError(f'type "{text}" is not known') from error


def duckdb_to_spark(sql: str) -> str:
    """A query that DuckDB stored, for Spark.

    >>> duckdb_to_spark('SELECT "a b" FROM t')
    'SELECT `a b` FROM t'
    """
    return _translate(sql, "duckdb", "spark")


def spark_to_duckdb(sql: str) -> str:
    """A Spark query, for DuckDB.

    >>> spark_to_duckdb("SELECT `a b` FROM t")
    'SELECT "a b" FROM t'
    """
    return _translate(sql, "spark", "duckdb")


def _translate(sql: str, source: str, target: str) -> str:
    return _generate(_parse(sql, source), source, target)


def _parse(sql: str, dialect: str) -> exp.Expr:
    try:
        trees = sqlglot.parse(sql, read=_DIALECTS[dialect])
    except SqlglotError as error:
        raise _unreadable(dialect, str(error)) from error
    if len(trees) != 1 or trees[0] is None:
        raise QueryError(f"expected one query, found {len(trees)}")
    return trees[0]


def _generate(tree: exp.Expr, source: str, target: str) -> str:
    try:
        return tree.sql(dialect=_DIALECTS[target], unsupported_level=ErrorLevel.RAISE)
    except SqlglotError as error:
        raise QueryError(
            f"the query has no translation from {_NAMES[source]} to {_NAMES[target]}",
            detail=str(error),
            hint=f"write it in {_NAMES[target]} SQL",
        ) from error


def _unreadable(dialect: str, detail: str) -> QueryError:
    plain = detail.replace("\x1b[4m", "").replace("\x1b[0m", "")
    return QueryError(f"the {_NAMES[dialect]} query cannot be read", detail=plain)
