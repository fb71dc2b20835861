"""One column type, four spellings: DuckLake's word, Spark's type, Arrow's type, and Spark DDL text.

`CHAR(n)` and `VARCHAR(n)` become `varchar`: DuckLake keeps no length. Types that Spark cannot read from
Parquet as what they are (uuid, time, interval, nanoseconds, hugeint, …) are refused by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa
from pyspark.sql import types as spark

from ..errors import QueryError, UnsupportedType
from .ddl import parse_ddl as parse_ddl
from .model import Column
from .text import decimal_arguments, word

FIELD_ID = "parquet.field.id"
ARROW_FIELD_ID = b"PARQUET:field_id"

_UTC = pa.timestamp("us", tz="UTC")
_ATOMS: dict[str, tuple[spark.DataType, pa.DataType]] = {
    "boolean": (spark.BooleanType(), pa.bool_()),
    "int8": (spark.ByteType(), pa.int8()),
    "int16": (spark.ShortType(), pa.int16()),
    "int32": (spark.IntegerType(), pa.int32()),
    "int64": (spark.LongType(), pa.int64()),
    "uint8": (spark.ShortType(), pa.uint8()),
    "uint16": (spark.IntegerType(), pa.uint16()),
    "uint32": (spark.LongType(), pa.uint32()),
    "uint64": (spark.DecimalType(20, 0), pa.uint64()),
    "float32": (spark.FloatType(), pa.float32()),
    "float64": (spark.DoubleType(), pa.float64()),
    "varchar": (spark.StringType(), pa.string()),
    "json": (spark.StringType(), pa.string()),
    "blob": (spark.BinaryType(), pa.binary()),
    "date": (spark.DateType(), pa.date32()),
    "timestamp": (spark.TimestampNTZType(), pa.timestamp("us")),
    "timestamp_us": (spark.TimestampNTZType(), pa.timestamp("us")),
    "timestamp_ms": (spark.TimestampNTZType(), pa.timestamp("ms")),
    "timestamp_s": (spark.TimestampNTZType(), pa.timestamp("us")),
    "timestamptz": (spark.TimestampType(), _UTC),
}
_WORDS: dict[type[spark.DataType], str] = {
    spark.BooleanType: "boolean",
    spark.ByteType: "int8",
    spark.ShortType: "int16",
    spark.IntegerType: "int32",
    spark.LongType: "int64",
    spark.FloatType: "float32",
    spark.DoubleType: "float64",
    spark.StringType: "varchar",
    spark.CharType: "varchar",
    spark.VarcharType: "varchar",
    spark.BinaryType: "blob",
    spark.DateType: "date",
    spark.TimestampNTZType: "timestamp",
    spark.TimestampType: "timestamptz",
}
_WIDER: dict[str, frozenset[str]] = {
    "int8": frozenset({"int16", "int32", "int64", "float64"}),
    "int16": frozenset({"int32", "int64", "float64"}),
    "int32": frozenset({"int64", "float64"}),
    "uint8": frozenset({"int16", "int32", "int64", "uint16", "uint32", "float64"}),
    "uint16": frozenset({"int32", "int64", "uint32", "float64"}),
    "uint32": frozenset({"int64"}),  # as a double Spark reads the upper half as negative
    "float32": frozenset({"float64"}),
    "date": frozenset({"timestamp"}),
    "timestamp_s": frozenset({"timestamp"}),
    "timestamp_ms": frozenset({"timestamp"}),
}
_WHOLE_DIGITS = {"int8": 10, "int16": 10, "int32": 10, "int64": 20}
"""Digits before the point that a decimal needs for Spark's vectorized reader to read integers as it."""


def from_spark(name: str, dtype: spark.DataType, ids: Iterator[int], nullable: bool = True) -> Column:
    """A Spark type as a column tree with fresh ids, parents before children.

    Fields inside are nullable: DuckLake enforces NOT NULL on whole columns only.

    >>> tree = from_spark("tags", spark.ArrayType(spark.StringType()), iter((7, 8)))
    >>> [(c.id, c.name, c.type) for c in tree.walk()]
    [(7, 'tags', 'list'), (8, 'element', 'varchar')]
    """
    column = Column(next(ids), name, _word(name, dtype), nullable)
    return replace(column, children=tuple(from_spark(n, t, ids) for n, t in _inside(name, dtype)))


def to_spark(column: Column, table: str = "") -> spark.DataType:
    """The type Spark reads the column as; nested struct fields carry their field ids."""
    return _to_spark(column, table, with_ids=True)


def struct_type(columns: Sequence[Column], with_ids: bool = True, table: str = "") -> spark.StructType:
    """The columns as a Spark schema; ids make Spark find renamed columns in old files."""
    return spark.StructType([_field(c, table, with_ids) for c in columns])


def unnumbered(type: spark.StructType) -> spark.StructType:
    """The same columns without field ids, for files to be read by name: a query's columns bring ids of many tables."""
    return spark.StructType([spark.StructField(f.name, _unnumbered(f.dataType), f.nullable) for f in type.fields])


def to_arrow(columns: Sequence[Column], table: str = "") -> pa.Schema:
    """The columns as an Arrow schema; every field, also of list elements and map entries, carries its id."""
    return pa.schema([_arrow_field(c, table) for c in columns])


def widens(old: Column, new: Column) -> bool:
    """Whether the new type keeps every value, DuckDB accepts the change, and Spark reads old files as it."""
    if old.children or new.children:
        return _same_shape(old, new) and all(map(widens, old.children, new.children))
    if old.type == new.type:
        return True
    if word(new.type) == "decimal":
        return _widens_to_decimal(old.type, *decimal_arguments(new.type))
    return new.type in _WIDER.get(old.type, frozenset())


def storable(source: spark.DataType, target: spark.DataType) -> bool:
    """Whether a value of `source` may be stored in a column of `target`: Spark's ANSI store assignment.

    >>> storable(spark.LongType(), spark.IntegerType()), storable(spark.StringType(), spark.IntegerType())
    (True, False)
    """
    match source, target:
        case (spark.NullType(), _):
            return True
        case (spark.ArrayType(), spark.ArrayType()):
            nulls = target.containsNull or not source.containsNull
            return nulls and storable(source.elementType, target.elementType)
        case (spark.MapType(), spark.MapType()):
            nulls = target.valueContainsNull or not source.valueContainsNull
            keys = storable(source.keyType, target.keyType)
            return nulls and keys and storable(source.valueType, target.valueType)
        case (spark.StructType(), spark.StructType()):
            return len(source) == len(target) and all(map(_storable_field, source, target))
        case (spark.NumericType(), spark.NumericType()):
            return True
        case (spark.DatetimeType(), spark.DatetimeType()):
            return True
        case (spark.AtomicType(), spark.StringType()):
            return True
    return type(source) is type(target) and source == target


def _storable_field(source: spark.StructField, target: spark.StructField) -> bool:
    return (target.nullable or not source.nullable) and storable(source.dataType, target.dataType)


def _word(name: str, dtype: spark.DataType) -> str:
    match dtype:
        case spark.DecimalType():
            return f"decimal({dtype.precision},{dtype.scale})"
        case spark.ArrayType():
            return "list"
        case spark.MapType():
            return "map"
        case spark.StructType():
            return "struct"
    found = _WORDS.get(type(dtype))
    if found is None:
        raise UnsupportedType(
            f'column "{name}" has type {dtype.simpleString()}, which the lake cannot hold',
            hint=f"cast it, for example CAST({name} AS STRING).",
        )
    return found


def _inside(name: str, dtype: spark.DataType) -> list[tuple[str, spark.DataType]]:
    match dtype:
        case spark.ArrayType():
            return [("element", dtype.elementType)]
        case spark.MapType():
            return [("key", dtype.keyType), ("value", dtype.valueType)]
        case spark.StructType():
            return _struct_fields(name, dtype)
    return []


def _struct_fields(name: str, dtype: spark.StructType) -> list[tuple[str, spark.DataType]]:
    if not dtype.fields:
        raise UnsupportedType(f'column "{name}" is a struct without fields, which the lake cannot hold')
    twice = [n for n, count in Counter(f.name.casefold() for f in dtype.fields).items() if count > 1]
    if twice:
        raise QueryError(f'struct "{name}" has field "{twice[0]}" twice', detail="names are compared without case.")
    return [(f.name, f.dataType) for f in dtype.fields]


def _unnumbered(type: spark.DataType) -> spark.DataType:
    match type:
        case spark.StructType():
            return unnumbered(type)
        case spark.ArrayType():
            return spark.ArrayType(_unnumbered(type.elementType), type.containsNull)
        case spark.MapType():
            return spark.MapType(_unnumbered(type.keyType), _unnumbered(type.valueType), type.valueContainsNull)
        case _:
            return type


def _to_spark(column: Column, table: str, with_ids: bool) -> spark.DataType:
    match word(column.type), column.children:
        case "list", (element,):
            return spark.ArrayType(_to_spark(element, table, with_ids))
        case "map", (key, value):
            return spark.MapType(_to_spark(key, table, with_ids), _to_spark(value, table, with_ids))
        case "struct", (_, *_):
            return struct_type(column.children, with_ids, table)
        case "decimal", ():
            return spark.DecimalType(*decimal_arguments(column.type))
    return _atom(column, table)[0]


def _field(column: Column, table: str, with_ids: bool) -> spark.StructField:
    metadata = {FIELD_ID: column.id} if with_ids else None
    return spark.StructField(column.name, _to_spark(column, table, with_ids), column.nullable, metadata)


def _arrow_field(column: Column, table: str) -> pa.Field:
    id = {ARROW_FIELD_ID: str(column.id).encode()}
    return pa.field(column.name, _arrow_type(column, table), column.nullable, id)


def _arrow_type(column: Column, table: str) -> pa.DataType:
    match word(column.type), column.children:
        case "list", (element,):
            return pa.list_(_arrow_field(element, table))
        case "map", (key, value):
            return pa.map_(_arrow_field(replace(key, nullable=False), table), _arrow_field(value, table))
        case "struct", (_, *_):
            return pa.struct([_arrow_field(c, table) for c in column.children])
        case "decimal", ():
            return pa.decimal128(*decimal_arguments(column.type))
    return _atom(column, table)[1]


def _atom(column: Column, table: str) -> tuple[spark.DataType, pa.DataType]:
    found = _ATOMS.get(column.type)
    if found is None:
        where = f' of table "{table}"' if table else ""
        raise UnsupportedType(
            f'column "{column.name}"{where} has type {column.type}, which Spark cannot read',
            hint=f"store it as another type, for example with DuckDB: CREATE TABLE … AS SELECT … "
            f"CAST({column.name} AS VARCHAR).",
        )
    return found


def _same_shape(old: Column, new: Column) -> bool:
    names = [[c.name.casefold() for c in side.children] for side in (old, new)]
    return old.type == new.type and names[0] == names[1]


def _widens_to_decimal(old: str, precision: int, scale: int) -> bool:
    if word(old) == "decimal":
        old_precision, old_scale = decimal_arguments(old)
        return scale >= old_scale and precision - scale >= old_precision - old_scale
    return old in _WHOLE_DIGITS and precision - scale >= _WHOLE_DIGITS[old]
