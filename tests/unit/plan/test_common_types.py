"""The types of columns that hold values of two others: Spark's, or none."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from trickle.plan.common_types import common_type

TOLD = {
    ("smallint", "INT"): "INT",
    ("int", "bigint"): "bigint",
    ("int", "double"): "DOUBLE",
    ("float", "int"): "DOUBLE",
    ("decimal(8,2)", "double"): "DOUBLE",
    ("decimal(8,2)", "float"): "DOUBLE",
    ("bigint", "decimal(4,2)"): "DECIMAL(22, 2)",
    ("decimal(30,2)", "decimal(20,15)"): "DECIMAL(38, 10)",
    ("decimal(38,0)", "decimal(38,10)"): "DECIMAL(38, 0)",
    ("date", "timestamp"): "TIMESTAMP",
    ("timestamp_ntz", "timestamp"): "TIMESTAMP",
    ("timestamp_ntz", "date"): "TIMESTAMP_NTZ",
    ("string", "tinyint"): "BIGINT",
    ("int", "string"): "BIGINT",
    ("decimal(8,2)", "string"): "DOUBLE",
    ("string", "float"): "DOUBLE",
    ("date", "string"): "date",
    ("string", "timestamp"): "timestamp",
    ("timestamp_ntz", "string"): "timestamp_ntz",
    ("boolean", "string"): "boolean",
    ("binary", "string"): "binary",
    ("array<int>", "array<int>"): "array<int>",
    ("array<int>", "array<string>"): "ARRAY<BIGINT>",
    ("array<int>", "array<decimal(4,2)>"): "ARRAY<DECIMAL(12, 2)>",
    ("struct<x:int,y:date>", "struct<x:bigint,y:date>"): "STRUCT<x: BIGINT, y: DATE>",
}
NONE = [
    ("boolean", "int"),
    ("date", "int"),
    ("array<int>", "string"),
    ("array<int>", "array<date>"),
    ("struct<x:int>", "struct<z:bigint>"),
    ("struct<x:int>", "struct<x:bigint,y:int>"),
]


@pytest.mark.parametrize(("pair", "both"), TOLD.items())
def test_a_column_of_two_types_has_the_type_that_holds_both(pair: tuple[str, str], both: str) -> None:
    assert common_type(*pair) == both
    assert (common_type(*reversed(pair)) or "").lower() == both.lower()


@pytest.mark.parametrize(("one", "two"), NONE)
def test_some_types_have_none_in_common(one: str, two: str) -> None:
    assert common_type(one, two) is None


def test_what_is_not_known_has_none() -> None:
    assert common_type("int", None) is None


@pytest.mark.spark
def test_spark_itself_unites_them_so(quick: SparkSession) -> None:
    def united(one: str, two: str) -> str:
        rows = quick.sql(f"SELECT CAST(NULL AS {one}) AS x UNION ALL SELECT CAST(NULL AS {two})")
        return rows.schema["x"].dataType.simpleString()

    said = {pair: united(*pair) for pair in TOLD}
    assert said == {pair: type.replace(" ", "").lower() for pair, type in TOLD.items()}
