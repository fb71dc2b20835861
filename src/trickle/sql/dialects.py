"""From one SQL to another, by sqlglot: views that DuckDB wrote, queries that PostgreSQL users type."""

from __future__ import annotations

from typing import Any, ClassVar

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.generators.spark import SparkGenerator
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.parsers.spark import SparkParser

from trickle.errors import QueryError
from trickle.sql.as_written import BUILDERS
from trickle.sql.commas import with_commas_last
from trickle.sql.postgres_arrays import with_arrays_spelled_out
from trickle.sql.postgres_words import with_words_of_spark


class Spark4(Spark):
    """Spark 4's SQL, where sqlglot's own Spark is still that of version 3.

    A doubled quote inside a string is one quote, not two strings; CAST raises on bad input; window() is a function
    too; percentile_cont is exact, not percentile_approx.
    """

    class Tokenizer(Spark.Tokenizer):
        STRING_ESCAPES: ClassVar[list[str]] = ["\\", "'", '"']

    class Parser(SparkParser):
        STRICT_CAST = True
        FUNC_TOKENS: ClassVar[Any] = {*SparkParser.FUNC_TOKENS, TokenType.WINDOW}

    class Generator(SparkGenerator):
        TRANSFORMS: ClassVar[dict[type[exp.Expr], Any]] = {
            node: rule for node, rule in SparkGenerator.TRANSFORMS.items() if node is not exp.WithinGroup
        }


class SparkSql(Spark4):
    """As it is read to be said to Spark again: what sqlglot would word differently is kept."""

    class Parser(Spark4.Parser):
        FUNCTIONS: ClassVar[dict[str, Any]] = {**Spark4.Parser.FUNCTIONS, **BUILDERS}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: parser for name, parser in Spark4.Parser.FUNCTION_PARSERS.items() if name not in BUILDERS
        }


class SparkForOthers(Spark4):
    """As it is read to be said to another engine: Spark puts nothing between words, and Sunday is day 1."""

    class Parser(Spark4.Parser):
        def _parse_string_agg(self) -> exp.GroupConcat:
            found = super()._parse_string_agg()
            if found.args.get("separator") is None:
                found.set("separator", exp.Literal.string(""))
            return found

        def _parse_extract(self) -> Any:
            found = super()._parse_extract()
            part = found.this.name.upper()
            if part in ("DAYOFWEEK", "DOW"):
                return exp.Paren(this=exp.Add(this=found, expression=exp.Literal.number(1)))
            if part in ("DAYOFWEEKISO", "DAYOFWEEK_ISO", "DOW_ISO"):
                found.set("this", exp.var("ISODOW"))
            return found


DIALECTS: dict[str, str | type[Spark]] = {"spark": SparkSql, "postgres": "postgres", "duckdb": "duckdb"}
FOR_OTHERS: dict[str, str | type[Spark]] = {**DIALECTS, "spark": SparkForOthers}
"""How a query is read that another engine is to answer."""
_NAMES = {"spark": "Spark", "postgres": "PostgreSQL", "duckdb": "DuckDB"}


def to_spark(query: str, dialect: str = "spark") -> str:
    """A query in Spark's words; one that already is stays as it was written, byte for byte."""
    return query if dialect == "spark" else _translate(query, dialect, "spark")


def expression_to_spark(text: str, dialect: str = "spark") -> str:
    """An expression in Spark's words."""
    if dialect == "spark":
        return text
    tree = _parse(f"SELECT {text}", dialect)
    parts = {part for part, value in tree.args.items() if value}
    if parts != {"expressions"} or len(tree.expressions) != 1 or isinstance(tree.expressions[0], exp.Alias):
        raise QueryError(f'"{text}" is not one expression')
    return _generate(tree.expressions[0], dialect, "spark")


def type_to_spark(text: str, dialect: str = "spark") -> str:
    """The name of a type in Spark's words.

    >>> type_to_spark("double precision", "postgres")
    'DOUBLE'
    """
    if dialect == "spark":
        return text
    try:
        tree = exp.DataType.build(text, dialect=DIALECTS[dialect])
    except SqlglotError as error:
        raise QueryError(f'type "{text}" is not known') from error
    return _generate(tree, dialect, "spark")


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
        trees = sqlglot.parse(sql, read=FOR_OTHERS[dialect])
    except SqlglotError as error:
        raise _unreadable(dialect, str(error)) from error
    if len(trees) != 1 or trees[0] is None:
        raise QueryError(f"expected one query, found {len(trees)}")
    return trees[0]


def meant(tree: exp.Expr, dialect: str) -> exp.Expr:
    """The tree with what its dialect says silently said openly, so that Spark's words mean the same."""
    if dialect != "spark":
        tree = with_commas_last(tree.transform(_without_zone))
    if dialect == "postgres":
        tree = annotate_types(with_words_of_spark(with_arrays_spelled_out(tree)), dialect="postgres")
        _refuse_unclear_division(tree)
    return tree


def is_translatable(text: str, dialect: str) -> bool:
    """Does the query mean the same in Spark's words? Some things sqlglot drops or shifts without a word."""
    if dialect == "spark":
        return True
    tree = _parse(text, dialect)
    counted = any(node.args.get("offset") for node in tree.find_all(exp.Unnest))
    tied = any(options.args.get("with_ties") for options in tree.find_all(exp.LimitOptions))
    return not (counted or tied or tree.find(exp.GenerateSeries, exp.ExplodingGenerateSeries))


def _generate(tree: exp.Expr, source: str, target: str) -> str:
    if target == "spark":
        tree = meant(tree, source)
    elif source == "postgres":
        _refuse_unclear_division(annotate_types(tree, dialect="postgres"))
    try:
        return tree.sql(dialect=DIALECTS[target], unsupported_level=ErrorLevel.RAISE)
    except SqlglotError as error:
        raise QueryError(
            f"the query has no translation from {_NAMES[source]} to {_NAMES[target]}",
            detail=str(error),
            hint=f"write it in {_NAMES[target]} SQL",
        ) from error


def _without_zone(node: exp.Expr) -> exp.Expr:
    """TIMESTAMP has no zone in DuckDB and PostgreSQL; Spark calls that type TIMESTAMP_NTZ."""
    if isinstance(node, exp.DataType) and node.this == exp.DType.TIMESTAMP:
        node.set("this", exp.DType.TIMESTAMPNTZ)
    return node


def _refuse_unclear_division(tree: exp.Expr) -> None:
    """PostgreSQL cuts the quotient of two integers, Spark does not: the types must be seen in the text."""
    for division in tree.find_all(exp.Div):
        sides = (division.left, division.right)
        if not any(side.is_type(*exp.DataType.REAL_TYPES) for side in sides) and not all(map(_is_whole, sides)):
            raise QueryError(
                f"whether {division.sql('postgres')} divides integers cannot be seen",
                detail="PostgreSQL cuts the quotient of two integers, Spark does not.",
                hint="cast one side, as in a::float8 / b or a::int / b::int",
            )


def _is_whole(node: exp.Expr) -> bool:
    node = node.unnest()
    known = isinstance(node, exp.Cast) and node.is_type(*exp.DataType.INTEGER_TYPES)
    return known or node.is_int or isinstance(node, exp.Count)


def _unreadable(dialect: str, detail: str) -> QueryError:
    plain = detail.replace("\x1b[4m", "").replace("\x1b[0m", "")
    return QueryError(f"the {_NAMES[dialect]} query cannot be read", detail=plain)
