"""Types keep their meaning from one spelling to the next, and what has no spelling is refused by name."""

from __future__ import annotations

from itertools import count

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as spark

from trickle.errors import QueryError, UnsupportedType
from trickle.lake.model import Column
from trickle.lake.types import from_spark, parse_ddl, storable, struct_type, to_arrow, to_spark, widens

ATOMS = [
    spark.BooleanType(),
    spark.ByteType(),
    spark.ShortType(),
    spark.IntegerType(),
    spark.LongType(),
    spark.FloatType(),
    spark.DoubleType(),
    spark.StringType(),
    spark.BinaryType(),
    spark.DateType(),
    spark.TimestampType(),
    spark.TimestampNTZType(),
]
decimals = st.integers(1, 38).flatmap(
    lambda precision: st.builds(spark.DecimalType, st.just(precision), st.integers(0, precision))
)


def structs(inner: st.SearchStrategy[spark.DataType]) -> st.SearchStrategy[spark.StructType]:
    named = st.lists(inner, min_size=1, max_size=3)
    return named.map(lambda types: spark.StructType([spark.StructField(f"f{i}", t) for i, t in enumerate(types)]))


spark_types = st.recursive(
    st.sampled_from(ATOMS) | decimals,
    lambda inner: inner.map(spark.ArrayType) | st.builds(spark.MapType, st.sampled_from(ATOMS), inner) | structs(inner),
    max_leaves=6,
)


def column(type: str, *children: Column, name: str = "c") -> Column:
    return Column(1, name, type, children=children)


@given(spark_types)
def test_a_spark_type_comes_back_from_its_columns(dtype: spark.DataType) -> None:
    assert struct_type([from_spark("c", dtype, count(1))], with_ids=False)["c"].dataType == dtype


@given(spark_types)
def test_a_spark_type_comes_back_from_its_ddl(dtype: spark.DataType) -> None:
    assert parse_ddl(dtype.simpleString()) == dtype


@given(spark_types)
def test_ids_are_given_to_parents_before_children(dtype: spark.DataType) -> None:
    ids = [c.id for c in from_spark("c", dtype, count(5)).walk()]
    assert ids == list(range(5, 5 + len(ids)))


@given(spark_types)
def test_every_arrow_field_carries_the_id_of_its_column(dtype: spark.DataType) -> None:
    tree = from_spark("c", dtype, count(1))
    found = list(arrow_ids(to_arrow([tree]).field(0)))
    assert found == [c.id for c in tree.walk()]


def arrow_ids(field: pa.Field) -> list[int]:
    if pa.types.is_map(field.type):
        inside = [field.type.key_field, field.type.item_field]
    elif pa.types.is_struct(field.type):
        inside = list(field.type)
    else:
        inside = [field.type.value_field] if pa.types.is_list(field.type) else []
    return [int(field.metadata[b"PARQUET:field_id"]), *(id for f in inside for id in arrow_ids(f))]


def test_struct_fields_carry_ids_for_spark_wherever_spark_allows_them() -> None:
    nested = from_spark("s", parse_ddl("array<struct<a:int,b:struct<c:string>>>"), count(1))
    schema = struct_type([nested])
    inner = schema["s"].dataType.elementType
    assert schema["s"].metadata == {"parquet.field.id": 1}
    assert inner["a"].metadata == {"parquet.field.id": 3}
    assert inner["b"].dataType["c"].metadata == {"parquet.field.id": 5}


@pytest.mark.parametrize(
    "text, expected",
    [
        ("INT", spark.IntegerType()),
        ("  decimal ( 10 , 2 ) ", spark.DecimalType(10, 2)),
        ("numeric", spark.DecimalType(10, 0)),
        ("dec(5)", spark.DecimalType(5, 0)),
        ("timestamp_ltz", spark.TimestampType()),
        ("varchar(10)", spark.VarcharType(10)),
        ("map<string,int>", spark.MapType(spark.StringType(), spark.IntegerType())),
        ("array<array<double>>", spark.ArrayType(spark.ArrayType(spark.DoubleType()))),
    ],
)
def test_ddl_is_read_as_spark_reads_it(text: str, expected: spark.DataType) -> None:
    assert parse_ddl(text) == expected


def test_ddl_of_a_struct_may_quote_names_forbid_nulls_and_comment() -> None:
    parsed = parse_ddl("struct<`a b`: int NOT NULL COMMENT 'it''s, <b>', C string>")
    assert parsed == spark.StructType(
        [spark.StructField("a b", spark.IntegerType(), False), spark.StructField("C", spark.StringType())]
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "integr",
        "decimal(39,0)",
        "decimal(4,5)",
        "array<int",
        "array<int>>",
        "map<int>",
        "varchar",
        "int!",
        "int int",
    ],
)
def test_text_that_is_no_type_is_an_error_that_names_it(text: str) -> None:
    with pytest.raises(QueryError, match=r'type ".*" is not a type of Spark') as caught:
        parse_ddl(text)
    assert f'"{text}"' in caught.value.message


@pytest.mark.parametrize(
    "type", ["uuid", "time", "timetz", "interval", "timestamp_ns", "int128", "uint128", "geometry", "variant"]
)
def test_what_spark_cannot_read_is_refused_by_column_and_table(type: str) -> None:
    with pytest.raises(UnsupportedType, match=f'column "c" of table "orders" has type {type}') as caught:
        to_spark(column(type), table="orders")
    assert caught.value.hint


@pytest.mark.parametrize("text", ["void", "interval", "variant", "time"])
def test_what_the_lake_cannot_hold_is_refused_by_column(text: str) -> None:
    with pytest.raises(UnsupportedType, match='column "c" has type'):
        from_spark("c", parse_ddl(text), count(1))


def test_a_struct_with_no_field_or_the_same_field_twice_is_refused() -> None:
    with pytest.raises(UnsupportedType, match="without fields"):
        from_spark("c", spark.StructType([]), count(1))
    with pytest.raises(QueryError, match='struct "c" has field "a" twice'):
        from_spark("c", parse_ddl("struct<a:int,A:int>"), count(1))


@pytest.mark.parametrize("text", ["char(3)", "varchar(3)"])
def test_lengths_of_strings_are_not_kept(text: str) -> None:
    assert from_spark("c", parse_ddl(text), count(1)).type == "varchar"


@pytest.mark.parametrize(
    "lake_type, expected",
    [
        ("uint8", "smallint"),
        ("uint16", "int"),
        ("uint32", "bigint"),
        ("uint64", "decimal(20,0)"),
        ("json", "string"),
        ("timestamp_s", "timestamp_ntz"),
        ("timestamp_ms", "timestamp_ntz"),
    ],
)
def test_types_only_duckdb_writes_are_read_as_the_next_that_holds_them(lake_type: str, expected: str) -> None:
    assert to_spark(column(lake_type)).simpleString() == expected


@pytest.mark.parametrize(
    "old, new",
    [
        ("int8", "int16"),
        ("int16", "int64"),
        ("int32", "float64"),
        ("float32", "float64"),
        ("date", "timestamp"),
        ("decimal(10,2)", "decimal(12,2)"),
        ("decimal(10,2)", "decimal(12,4)"),
        ("int32", "decimal(12,2)"),
        ("varchar", "varchar"),
    ],
)
def test_wider_types_widen(old: str, new: str) -> None:
    assert widens(column(old), column(new))


@pytest.mark.parametrize(
    "old, new",
    [
        ("int64", "int32"),
        ("int64", "float64"),
        ("int32", "float32"),
        ("float64", "float32"),
        ("decimal(10,2)", "decimal(11,4)"),
        ("decimal(10,2)", "decimal(9,2)"),
        ("int8", "decimal(5,2)"),
        ("int64", "decimal(19,0)"),
        ("date", "timestamptz"),
        ("timestamp", "timestamptz"),
        ("int32", "varchar"),
        ("boolean", "int32"),
    ],
)
def test_types_that_lose_or_that_spark_cannot_read_from_old_files_do_not_widen(old: str, new: str) -> None:
    assert not widens(column(old), column(new))


def test_nested_types_widen_field_by_field_and_keep_their_shape() -> None:
    old = column("struct", column("int32", name="a"), column("varchar", name="b"))
    assert widens(old, column("struct", column("int64", name="A"), column("varchar", name="b")))
    assert not widens(old, column("struct", column("int64", name="a"), column("int32", name="b")))
    assert not widens(old, column("struct", column("int64", name="a")))
    assert not widens(old, column("varchar"))


@pytest.mark.parametrize(
    "source, target, expected",
    [
        ("bigint", "int", True),
        ("decimal(10,2)", "double", True),
        ("string", "int", False),
        ("int", "string", True),
        ("timestamp", "string", True),
        ("date", "timestamp_ntz", True),
        ("timestamp", "date", True),
        ("boolean", "int", False),
        ("int", "boolean", False),
        ("int", "date", False),
        ("string", "binary", False),
        ("void", "struct<a:int>", True),
        ("array<int>", "array<bigint>", True),
        ("array<string>", "array<int>", False),
        ("array<int>", "string", False),
        ("map<int,int>", "map<string,string>", True),
        ("struct<a:int,b:string>", "struct<x:bigint,y:string>", True),
        ("struct<a:int>", "struct<a:int,b:int>", False),
        ("struct<a:int>", "struct<a:int not null>", False),
    ],
)
def test_store_assignment_is_that_of_ansi(source: str, target: str, expected: bool) -> None:
    assert storable(parse_ddl(source), parse_ddl(target)) is expected
