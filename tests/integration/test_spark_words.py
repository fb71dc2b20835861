"""What is rendered for Spark answers as what was written does: Spark is asked both."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from trickle.plan import Version
from trickle.sql.lower import lower
from trickle.sql.render import render
from trickle.testing import spark_functions

pytestmark = pytest.mark.spark

LISTED = Path(__file__).parents[1] / "unit/sql/spark_functions.txt"
TABLE = "spark_words"
ROWS = """VALUES
    (1, 1000, 'a', '{"a": 1, "b": 2}', DATE '2024-03-15', TIMESTAMP '2024-03-15 10:20:30', 'month', 2),
    (2, 7, 'b', '[1, 2]', DATE '0999-12-31', TIMESTAMP '2023-01-31 23:59:59', 'year', 3),
    (2, 7, 'b', '[1, 2]', DATE '0999-12-31', TIMESTAMP '2023-01-31 23:59:59', 'year', 3),
    (3, -5, ' c ', NULL, NULL, NULL, NULL, 1)
    AS t(id, n, s, j, d, ts, grain, freq)"""
OF_ROWS = [
    "hash(*)", "xxhash64(s, *)", "struct(t.*)", "coalesce(t.id, n)", "to_json(struct(* EXCEPT (ts)))",
    "to_char(n, '99999')", "to_char(d, 'yyyy')", "date_trunc(grain, ts)", "trunc(d, grain)",
    "date_trunc('quarter', ts)",
    "log10(abs(n))", "log2(abs(n))", "log(abs(n))", "log(3, abs(n))", "get_json_object(j, '$.*')",
    "get_json_object(j, '$[*]')", "parse_json(j)::STRING", "date_format(d, 'y')", "date_format(ts, 'yyyy-MM-dd HH:mm')",
    "to_date(string(d), 'y-M-d')", "unix_timestamp(ts)", "from_unixtime(n, 'y')", "date_sub(d, id + 1)",
    "instr(s, 'c')",
    "ltrim(' ', s)", "rtrim(s)", "trim(BOTH ' ' FROM s)", "str_to_map('a:1')['a']", "levenshtein(s, 'abc', 1)",
    "space(id)", "unix_date(d)", "like(s, 'a%')", "regexp_like(s, '^[ab]$')", "regexp_extract(j, '([0-9])')",
    "from_utc_timestamp(ts, 'Asia/Tokyo')", "array_size(array(n))", "named_struct('a b', n, 'c', s)",
    "mod(n + 1, id + 1)",
    "div(n + 1, id)", "position('b', s)", "datediff(MONTH, d, ts)", "dateadd(HOUR, n, ts)", "extract(DOW FROM ts)",
    "overlay(s, 'xyz', 1, 1)", "signum(n)", "pow(n, 2)", "reduce(array(n, id), 0, (x, y) -> x + y)",
]  # fmt: skip
OF_GROUPS = [
    "listagg(s) WITHIN GROUP (ORDER BY s)", "string_agg(s, '|') WITHIN GROUP (ORDER BY s DESC)",
    "percentile(n, 0.5, freq)", "percentile(n, array(0.2, 0.9), freq)",
    "max_by(id, n, 2)", "min_by(id, n, 3)", "max_by(id, n)", "first(n, true)",
    "approx_percentile(n, 0.5)", "mode(n, true)", "bitmap_construct_agg(bitmap_bit_position(id))",
]  # fmt: skip


OF_THOSE_THAT_DIFFER = ["count(DISTINCT *)", "sum(DISTINCT n)"]


@pytest.fixture
def words(quick: SparkSession) -> SparkSession:
    quick.sql(f"SELECT * FROM {ROWS}").createOrReplaceTempView(TABLE)
    return quick


def answers(spark: SparkSession, calls: list[str], rest: str = "") -> tuple[list[object], list[object]]:
    """Spark's answers to the calls as they were written and as they are rendered."""
    listed = ", ".join(f"{call} AS c{n}" for n, call in enumerate(calls))
    query = f"SELECT {listed} FROM {TABLE} AS t{rest}"
    schema = [(f.name, f.dataType.simpleString()) for f in spark.table(TABLE).schema.fields]
    lowered = lower(query, {TABLE: schema})
    rendered = render(lowered.plan, _name, lowered.labels)
    return tuple(sorted(map(repr, spark.sql(text).collect())) for text in (query, rendered))  # type: ignore[return-value]


def _name(table: str, version: Version) -> str:
    return table


@pytest.mark.parametrize(
    ("calls", "rest"),
    [(OF_ROWS, ""), (OF_GROUPS, " GROUP BY id"), (OF_THOSE_THAT_DIFFER, " GROUP BY id")],
    ids=["rows", "groups", "distinct"],
)
def test_calls_answer_as_they_were_written(words: SparkSession, calls: list[str], rest: str) -> None:
    written, rendered = answers(words, calls, rest)
    assert rendered == written


def test_every_function_of_spark_is_listed(quick: SparkSession) -> None:
    assert spark_functions.names(quick) == [f.name for f in spark_functions.read(LISTED)]
