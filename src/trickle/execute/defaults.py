"""Defaults of columns: constants kept as DuckLake's text, everything else as an expression DuckDB reads too."""

from __future__ import annotations

import sqlglot
from sqlglot import exp

from ..errors import QueryError
from ..lake.foreign import translated
from ..lake.model import Column
from ..lake.text import render
from ..lake.types import to_spark
from ..sql.dialects import SparkSql
from . import conform
from .binding import Binding

_CONSTANT = (exp.Literal, exp.Neg, exp.Cast, exp.TryCast, exp.Boolean, exp.Null, exp.Paren, exp.DataType)


def read_default(binding: Binding, column: Column, text: str, evaluate: bool = False) -> tuple[str, str | None]:
    """(kind, text) of a DEFAULT clause: a literal's text, or an expression in DuckDB's words."""
    if column.children:
        raise QueryError(f'nested column "{column.name}" cannot have a default', hint="leave it NULL.")
    tree = _parse(column, text)
    if not evaluate and not _is_constant(tree):
        _check(binding, column, text)
        return "expression", tree.sql(dialect="duckdb")
    target = to_spark(column)
    with translated(f'default of column "{column.name}"'):
        frame = binding.spark.sql(f"SELECT {text} AS v")
        conform.check_default(column, frame.schema.fields[0].dataType)
        value = frame.select(frame.v.cast(target)).toArrow().column(0)[0].as_py()
    return "literal", render(value, column)


def _parse(column: Column, text: str) -> exp.Expr:
    try:
        return sqlglot.parse_one(text, read=SparkSql)
    except sqlglot.errors.ParseError as error:
        raise QueryError(
            f'default of column "{column.name}" cannot be read', detail=str(error), hint="use a constant."
        ) from error


def _is_constant(tree: exp.Expr) -> bool:
    return all(isinstance(node, _CONSTANT) for node in tree.walk() if not isinstance(node, exp.DataTypeParam))


def _check(binding: Binding, column: Column, text: str) -> None:
    with translated(f'default of column "{column.name}"'):
        conform.check_default(column, binding.spark.sql(f"SELECT {text} AS v").schema.fields[0].dataType)
