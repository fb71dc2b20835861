"""Calls reach Spark as they were written: every function of Spark, with every number of arguments it takes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError

from trickle.sql.dialects import SparkSql
from trickle.sql.lower.functions import is_aggregate
from trickle.testing.spark_functions import Known, read

FUNCTIONS = read(Path(__file__).parent / "spark_functions.txt")
ARGUMENTS = (
    ("a", "b", "c", "d", "e", "f"),
    ("'x'", "'y'", "'z'", "'w'", "'v'", "'u'"),
    ("a", "'x'", "1", "b", "c", "d"),
    ("(a + b)", "(b - c)", "(c * 2)", "-1", "NULL", "f"),
    ("1", "2", "3", "4", "5", "6"),
    ("a", "'$.*'", "b", "c", "d", "e"),
    ("a", "'yyyy-MM-dd'", "b", "c", "d", "e"),
    ("'month'", "b", "c", "d", "e", "f"),
    ("a", "'month'", "c", "d", "e", "f"),
    ("a", "TRUE", "b", "c", "d", "e"),
    ("a", "FALSE", "b", "c", "d", "e"),
    ("DISTINCT a", "b", "c", "d", "e", "f"),
)
ALIASES = {
    "approx_percentile": "percentile_approx", "array_agg": "collect_list", "bit_get": "getbit", "ceiling": "ceil",
    "char": "chr", "char_length": "length", "character_length": "length", "curdate": "current_date",
    "date_diff": "datediff", "dateadd": "date_add", "ifnull": "coalesce", "lcase": "lower", "len": "length",
    "nvl": "coalesce", "position": "locate", "pow": "power", "random": "rand", "reduce": "aggregate", "sha1": "sha",
    "signum": "sign", "substr": "substring", "ucase": "upper", "var_samp": "variance",
}  # fmt: skip
"""Two names of one function of Spark."""
WORDED = {
    "and": "({0} AND {1})", "boolean": "CAST({0} AS BOOLEAN)", "date": "CAST({0} AS DATE)", "div": "({0} DIV {1})",
    "double": "CAST({0} AS DOUBLE)", "float": "CAST({0} AS FLOAT)", "int": "CAST({0} AS INT)", "mod": "{0} % {1}",
    "or": "({0} OR {1})", "string": "CAST({0} AS STRING)", "timestamp": "CAST({0} AS TIMESTAMP)",
}  # fmt: skip
"""Functions that Spark defines by an operator or a cast."""
SYNTAX = ("extract", "in", "named_struct", "not", "overlay", "struct", "trim")
"""Written with words of their own: their forms are below. (What `in(a, b)` is read as, a column, does not exist.)"""


def written(call: str) -> exp.Expr:
    tree: exp.Expr = sqlglot.parse_one(f"SELECT {call}", dialect=SparkSql)
    return tree.expressions[0]  # type: ignore[no-any-return]


def readings(function: Known) -> Iterator[tuple[tuple[str, ...], exp.Expr]]:
    """What is read of each call; what cannot be read is refused, which is no misreading."""
    for count in function.takes:
        for arguments in ARGUMENTS if function.aggregates else ARGUMENTS[:-1]:
            try:
                yield arguments[:count], written(f"{function.name}({', '.join(arguments[:count])})")
            except ParseError:
                continue


def means(name: str, arguments: tuple[str, ...]) -> set[str]:
    """The texts that mean the call."""
    listed = ", ".join(arguments)
    same = {f"{word.upper()}({listed})" for word in (name, ALIASES.get(name, name))}
    if not arguments:
        same.add(ALIASES.get(name, name).upper())
    if name in ("first", "last", "any_value", "first_value", "last_value") and arguments[1:] == ("TRUE",):
        same.add(f"{name.upper()}({arguments[0]}) IGNORE NULLS")
    if name == "sort_array" and arguments[1:] == ("TRUE",):
        same.add(f"SORT_ARRAY({arguments[0]})")
    return same | ({WORDED[name].format(*arguments)} if name in WORDED else set())


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if f.name not in SYNTAX], ids=lambda f: f.name)
def test_a_call_is_written_back_as_it_was_read(function: Known, caplog: pytest.LogCaptureFixture) -> None:
    for arguments, tree in readings(function):
        assert tree.sql(dialect=SparkSql) in means(function.name, arguments)
    assert caplog.records == [], "sqlglot left something out"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("extract(YEAR FROM a)", "EXTRACT(YEAR FROM a)"),
        ("named_struct('x', a, 'y z', b)", "STRUCT(a AS x, b AS `y z`)"),
        ("named_struct(concat('x', 'y'), a)", "NAMED_STRUCT(CONCAT('x', 'y'), a)"),
        ("not(a)", "NOT (a)"),
        ("overlay(a, b, c, d)", "OVERLAY(a PLACING b FROM c FOR d)"),
        ("overlay(a PLACING b FROM c)", "OVERLAY(a PLACING b FROM c)"),
        ("struct(a, t.b, a + 1, b AS c)", "STRUCT(a AS a, t.b AS b, a + 1 AS col3, b AS c)"),
        ("trim(a, b)", "TRIM(a FROM b)"),
        ("trim(a)", "TRIM(a)"),
        ("trim(TRAILING a FROM b)", "TRIM(TRAILING a FROM b)"),
        ("dateadd(MONTH, 1, a)", "DATE_ADD(MONTH, 1, a)"),
        ("datediff(HOUR, a, b)", "DATEDIFF(HOUR, a, b)"),
        ("listagg(DISTINCT a, ',') WITHIN GROUP (ORDER BY a)", "LISTAGG(DISTINCT a, ',') WITHIN GROUP (ORDER BY a)"),
        ("position(a IN b)", "LOCATE(a, b)"),
        ("substring(a FROM b FOR c)", "SUBSTRING(a, b, c)"),
    ],
)
def test_calls_with_words_of_their_own_mean_the_same(call: str, text: str) -> None:
    assert written(call).sql(dialect=SparkSql) == text


OVER_WINDOWS = {"cume_dist", "dense_rank", "lag", "lead", "nth_value", "ntile", "percent_rank", "rank"}
OF_GROUPS = {"grouping", "grouping_id"}
NOT_READ = {"any", "measure"}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)
def test_aggregates_are_known(function: Known) -> None:
    if function.name in OVER_WINDOWS | OF_GROUPS | NOT_READ:
        return
    assert all(is_aggregate(tree) == function.aggregates for _, tree in readings(function))
