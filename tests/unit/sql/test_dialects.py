from collections.abc import Callable

import duckdb
import pytest

from trickle.errors import QueryError
from trickle.sql.dialects import (
    duckdb_to_spark,
    expression_to_spark,
    spark_to_duckdb,
    to_spark,
    type_to_spark,
)


@pytest.mark.parametrize("query", ["SELECT  'it''s'  -- so\n", "SELECT not even SQL ((", ""])
def test_spark_text_stays_byte_for_byte(query: str) -> None:
    assert to_spark(query) == query
    assert expression_to_spark(query) == query


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT 'it''s' AS a", [("it's",)]),
        (r"SELECT 'tab\tbed' AS a", [("tab\tbed",)]),
        ('SELECT "say ""x""" AS a', [('say "x"',)]),
        ("SELECT 7 div 2, 7 / 2", [(3, 3.5)]),
        ("SELECT `a b` FROM (SELECT 1 AS `a b`)", [(1,)]),
        ("SELECT 1 <=> NULL", [(False,)]),
        ("SELECT collect_list(a) FROM VALUES (1), (2) AS t(a)", [([1, 2],)]),
        ("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a) FROM VALUES (1), (2) AS t(a)", [(1.5,)]),
        ("SELECT a FROM VALUES (1), (NULL) AS t(a) ORDER BY a", [(None,), (1,)]),
    ],
)
def test_a_spark_query_means_the_same_to_duckdb(query: str, rows: list[tuple[object, ...]]) -> None:
    assert duckdb.sql(spark_to_duckdb(query)).fetchall() == rows


def test_a_cast_that_fails_in_spark_fails_in_duckdb() -> None:
    with pytest.raises(duckdb.ConversionException):
        duckdb.sql(spark_to_duckdb("SELECT CAST('x' AS INT)")).fetchall()
    assert duckdb.sql(spark_to_duckdb("SELECT TRY_CAST('x' AS INT)")).fetchall() == [(None,)]


@pytest.mark.parametrize(
    ("query", "spark"),
    [
        ('SELECT "Ab" FROM main.t', "SELECT `Ab` FROM main.t"),
        ("SELECT 'back\\slash'", "SELECT 'back\\\\slash'"),
        ("SELECT a::TIMESTAMP", "SELECT CAST(a AS TIMESTAMP_NTZ)"),
        ("SELECT a::TIMESTAMPTZ", "SELECT CAST(a AS TIMESTAMP)"),
        ("FROM t", "SELECT * FROM t"),
        ("SELECT a // 2", "SELECT a DIV 2"),
        ("SELECT * FROM t ORDER BY a", "SELECT * FROM t ORDER BY a NULLS LAST"),
    ],
)
def test_a_duckdb_query_becomes_spark_sql(query: str, spark: str) -> None:
    assert duckdb_to_spark(query) == spark


@pytest.mark.parametrize(
    ("query", "spark"),
    [
        ('SELECT "A b"::text FROM t', "SELECT CAST(`A b` AS STRING) FROM t"),
        ("SELECT a ILIKE 'x%' FROM t", "SELECT a ILIKE 'x%' FROM t"),
        (
            "SELECT 5 / 2, a::int / 2, a / 2.0, a::float8 / b",
            "SELECT 5 DIV 2, CAST(a AS INT) DIV 2, a / 2.0, CAST(a AS DOUBLE) / b",
        ),
        ("SELECT 1 FROM t, u LEFT JOIN v ON u.a = v.a", "SELECT 1 FROM t, u LEFT JOIN v ON u.a = v.a"),
        (
            "SELECT 1 FROM t, u RIGHT JOIN v ON u.a = v.a JOIN x USING (b), y",
            "SELECT 1 FROM t CROSS JOIN (u RIGHT JOIN v ON u.a = v.a JOIN x USING (b)), y",
        ),
        (
            "SELECT 1 FROM t RIGHT JOIN u ON t.a = u.a, (SELECT 1 AS a) v NATURAL JOIN x",
            "SELECT 1 FROM t RIGHT JOIN u ON t.a = u.a CROSS JOIN ((SELECT 1 AS a) AS v NATURAL JOIN x)",
        ),
        ("SELECT TIMESTAMP '2024-01-01'", "SELECT CAST('2024-01-01' AS TIMESTAMP_NTZ)"),
        (
            "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a) FROM t",
            "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a NULLS LAST) FROM t",
        ),
    ],
)
def test_a_postgresql_query_becomes_spark_sql(query: str, spark: str) -> None:
    assert to_spark(query, "postgres") == spark


@pytest.mark.parametrize("expression", ["a / b", "sum(a) / count(*)", "extract(epoch FROM a) / 60", "a / 2"])
def test_a_division_that_may_be_of_integers_is_refused(expression: str) -> None:
    with pytest.raises(QueryError, match="divides integers") as caught:
        to_spark(f"SELECT {expression} FROM t", "postgres")
    assert "cast one side" in caught.value.hint


@pytest.mark.parametrize(
    ("translate", "query", "message"),
    [
        (duckdb_to_spark, "SELECT FROM WHERE (", "cannot be read"),
        (spark_to_duckdb, "SELECT a FROM t GROUP BY window(ts, '1 hour')", "cannot be read"),
        (duckdb_to_spark, "SELECT 1; SELECT 2", "expected one query"),
        (duckdb_to_spark, "", "expected one query"),
        (lambda q: to_spark(q, "postgres"), "SELECT * FROM t FOR UPDATE", "no translation"),
        (lambda q: expression_to_spark(q, "postgres"), "a FROM t", "not one expression"),
        (lambda q: expression_to_spark(q, "postgres"), "a, b", "not one expression"),
        (lambda q: expression_to_spark(q, "postgres"), "a b", "not one expression"),
        (lambda q: type_to_spark(q, "postgres"), "no such type", "not known"),
    ],
)
def test_what_cannot_be_translated_is_an_error(translate: Callable[[str], str], query: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        translate(query)


@pytest.mark.parametrize(
    "call",
    [
        "regexp_replace(s, 'a', 'b')",
        "regexp_replace(s, '(a)', '\\1', 'g')",
        "to_char(n, '999')",
        "to_char(d, 'Day')",
        "initcap(s)",
        "trunc(n, 1)",
    ],
)
def test_words_of_postgres_that_spark_reads_differently_are_refused(call: str) -> None:
    with pytest.raises(QueryError, match="means something else in Spark SQL"):
        to_spark(f"SELECT {call} FROM t", "postgres")


@pytest.mark.parametrize(
    ("call", "spark"),
    [
        ("log(x)", "LOG10(x)"),
        ("log10(x)", "LOG10(x)"),
        ("extract(dow from d)", "(EXTRACT(DAYOFWEEK_ISO FROM d) % 7)"),
        ("left(right(s, 2), -1)", "SUBSTRING(RIGHT(s, 2), 1, LENGTH(RIGHT(s, 2)) + (-1))"),
        ("to_timestamp(x)", "TIMESTAMP_SECONDS(x)"),
    ],
)
def test_words_of_postgres_are_said_as_spark_means_them(call: str, spark: str) -> None:
    assert spark in to_spark(f"SELECT {call} AS y FROM t", "postgres")
