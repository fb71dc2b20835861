"""Types of expressions: as Spark has them, or unknown."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from sqlglot import parse_one

from trickle.plan import Column, type_of

COLUMNS = [Column(*c) for c in (("m", "DECIMAL(8, 2)"), ("i", "INT"), ("f", "DOUBLE"), ("s", "STRING"), ("d", "DATE"))]
TOLD = {
    "1.5": "DECIMAL(2, 1)",
    "m + 1.125": "DECIMAL(10, 3)",
    "m * m": "DECIMAL(17, 4)",
    "m / 2": "DECIMAL(12, 6)",
    "i + m": "DECIMAL(13, 2)",
    "m + f": "DOUBLE",
    "sum(m * (1 - m))": "DECIMAL(28, 4)",
    "avg(m)": "DECIMAL(12, 6)",
    "sum(m) FILTER (WHERE i > 1)": "DECIMAL(18, 2)",
    "coalesce(i, 1.5)": "DECIMAL(11, 1)",
    "CASE WHEN i > 1 THEN m ELSE f END": "DOUBLE",
    "CASE WHEN m > 1.5 THEN i END": "INT",
    "greatest(i, m)": "DECIMAL(12, 2)",
    "count(m)": "BIGINT",
    "m > 1.5": "BOOLEAN",
    "CAST(m AS DOUBLE)": "DOUBLE",
    "i / 2": "DOUBLE",
    "m * m * m * m * m": "DECIMAL(38, 6)",
    "sum(m * m * m * m * m)": "DECIMAL(38, 6)",
    "m * m * m * m / 3": "DECIMAL(37, 10)",
    "date_trunc('DAY', d)": "TIMESTAMP",
    "trunc(d, 'MM')": "DATE",
    "year(d)": "INT",
    "weekofyear(d)": "INT",
    "coalesce(i, 1)": "INT",
    "coalesce(i, 1) + 1": "INT",
    "sum(CASE WHEN i > 1 THEN i ELSE 0 END)": "BIGINT",
    "upper(coalesce(s, 'x'))": "STRING",
    "greatest(i, CAST(i AS BIGINT))": "BIGINT",
    "dayofweek(d)": "INT",
    "coalesce(CAST(i AS DECIMAL(38, 0)), m)": "DECIMAL(38, 0)",
}


@pytest.mark.parametrize(("text", "type"), TOLD.items())
def test_what_is_told_is_what_spark_says(text: str, type: str) -> None:
    assert type_of(parse_one(text, dialect="spark"), COLUMNS) == type


UNSURE = ["d - d", "now() - now()", "round(i)", "round(m, 1)", "floor(m)", "m + s", "coalesce(i, s)", "array(m)"]


@pytest.mark.parametrize("text", UNSURE)
def test_what_is_not_sure_is_not_told(text: str) -> None:
    assert type_of(parse_one(text, dialect="spark"), COLUMNS) is None


@pytest.mark.spark
def test_spark_itself_says_the_same(quick: SparkSession) -> None:
    columns = ", ".join(f"{c.name} {c.type}" for c in COLUMNS)
    rows = quick.createDataFrame([], columns)
    said = {text: rows.selectExpr(f"{text} AS x").schema["x"].dataType.simpleString() for text in TOLD}
    assert said == {text: type.replace(" ", "").lower() for text, type in TOLD.items()}
