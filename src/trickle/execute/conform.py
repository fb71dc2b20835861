"""Rows made to fit a table: columns by place or by name, defaults filled in, types assigned as SQL says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, NullType

from ..errors import ConstraintViolated, QueryError
from ..lake.foreign import MARKER
from ..lake.model import Column, Table
from ..lake.text import parse
from ..lake.types import storable, to_arrow, to_spark
from ..sql.dialects import expression_to_spark
from ..sql.statement import quote_spark


def by_place(rows: DataFrame, table: Table, names: Sequence[str] | None) -> DataFrame:
    """The frame's columns in order into the named ones (all, if none are named)."""
    targets = [_column(table, n) for n in names] if names is not None else list(table.columns)
    given = rows.schema.fields
    if len(given) != len(targets):
        raise QueryError(
            f'table "{table.label}" takes {len(targets)} values here, {len(given)} were given',
            hint=f"the columns are {', '.join(c.name for c in targets)}.",
        )
    inner = rows.toDF(*(f"_{n}" for n in range(len(given))))
    values = {c.id: (F.col(f"_{n}"), f.dataType) for n, (c, f) in enumerate(zip(targets, given, strict=True))}
    return inner.select(*fitted(table, values))


def by_name(rows: DataFrame, table: Table) -> DataFrame:
    """The frame's columns into those of the same name."""
    values = {}
    for field in rows.schema.fields:
        values[_column(table, field.name).id] = (F.col(quote_spark(field.name)), field.dataType)
    if len(values) != len(rows.columns):
        raise QueryError(f'rows for table "{table.label}" name a column twice', hint="columns compare without case.")
    return rows.select(*fitted(table, values))


def fitted(table: Table, values: Mapping[int, tuple[SparkColumn, DataType]]) -> list[SparkColumn]:
    """One expression per column of the table, from values by column id and defaults."""
    found = []
    for column in table.columns:
        value = assigned(table, column, *values[column.id]) if column.id in values else default(column)
        found.append(not_null(table, column, value).alias(column.name))
    return found


def assigned(table: Table, column: Column, value: SparkColumn, source: DataType) -> SparkColumn:
    """A value as the column stores it; `QueryError` where SQL does not assign that type."""
    check_storable(table, column, source)
    target = to_spark(column, table.label)
    return value if source == target else value.cast(target)


def check_storable(table: Table, column: Column, source: DataType) -> None:
    target = to_spark(column, table.label)
    if not isinstance(source, NullType) and not storable(source, target):
        raise QueryError(
            f'column "{column.name}" of table "{table.label}" cannot hold {source.simpleString()}',
            detail=f"its type is {target.simpleString()}.",
            hint=f"cast the value: CAST(… AS {target.simpleString().upper()}).",
        )


def check_default(column: Column, source: DataType) -> None:
    target = to_spark(column)
    if not isinstance(source, NullType) and not storable(source, target):
        raise QueryError(
            f'the default of column "{column.name}" is {source.simpleString()}, not {target.simpleString()}',
            hint=f"cast it: CAST(… AS {target.simpleString().upper()}).",
        )


def default(column: Column) -> SparkColumn:
    """What a row that leaves the column out gets."""
    target = to_spark(column)
    if column.default is None:
        return F.lit(None).cast(target)
    if column.default_kind == "expression":
        return F.expr(expression_to_spark(column.default, "duckdb")).cast(target)
    return F.lit(parse(column.default, column)).cast(target)


def not_null(table: Table, column: Column, value: SparkColumn) -> SparkColumn:
    if column.nullable:
        return value
    message = f'{MARKER}column "{column.name}" of table "{table.label}" must not be NULL'
    return F.coalesce(value, F.raise_error(F.lit(message)).cast(to_spark(column)))


def _column(table: Table, name: str) -> Column:
    found = table.column(name)
    if found is None:
        raise QueryError(
            f'table "{table.label}" has no column "{name}"',
            hint=f"its columns are {', '.join(c.name for c in table.columns)}.",
        )
    return found


# Rows that the driver holds.


def local(data: Any, table: Table) -> pa.Table | None:
    """pandas, Arrow or a list of dicts in the table's shape; None if it is none of these."""
    schema = to_arrow(table.columns, table.label)
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if isinstance(data, pa.Table):
        return _fit_arrow(data, table, schema)
    if isinstance(data, list):
        return _fit_arrow(_from_dicts(data, table, schema), table, schema)
    if type(data).__module__.startswith("pandas"):
        return _fit_arrow(_from_pandas(data, table, schema), table, schema)
    return None


def _from_dicts(rows: list[Any], table: Table, schema: pa.Schema) -> pa.Table:
    if not all(isinstance(r, dict) for r in rows):
        raise QueryError(f'rows for table "{table.label}" must be dicts', hint='like [{"id": 1, "name": "a"}].')
    names = list(dict.fromkeys(key for row in rows for key in row))
    fields = [schema.field(_column(table, n).name) for n in names]
    with _values_fit(table):
        arrays = [pa.array([r.get(n) for r in rows], f.type) for n, f in zip(names, fields, strict=True)]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields)) if fields else schema.empty_table()


def _from_pandas(data: Any, table: Table, schema: pa.Schema) -> pa.Table:
    fields = [schema.field(_column(table, str(n)).name).with_name(str(n)) for n in data.columns]
    with _values_fit(table):
        return pa.Table.from_pandas(data, schema=pa.schema(fields), preserve_index=False)


def _fit_arrow(data: pa.Table, table: Table, schema: pa.Schema) -> pa.Table:
    given = {_column(table, n).id: data.column(i) for i, n in enumerate(data.column_names)}
    if len(given) != data.num_columns:
        raise QueryError(f'rows for table "{table.label}" name a column twice', hint="columns compare without case.")
    arrays = []
    with _values_fit(table):
        for column, field in zip(table.columns, schema, strict=True):
            array = given[column.id] if column.id in given else _default_array(column, field.type, data.num_rows)
            arrays.append(_checked(table, column, _cast(array, field.type)))
    return pa.Table.from_arrays(arrays, schema=schema)


def _cast(array: pa.ChunkedArray, type: pa.DataType) -> pa.ChunkedArray:
    if (
        pa.types.is_timestamp(type)
        and pa.types.is_timestamp(array.type)
        and (type.tz is None) != (array.type.tz is None)
    ):
        # A wall clock and an instant meet in UTC, as both engines are set.
        return array.cast(pa.timestamp("us", array.type.tz)).cast(pa.int64()).cast(type)
    return array.cast(type)


def _default_array(column: Column, type: pa.DataType, rows: int) -> pa.Array:
    if column.default is not None and column.default_kind == "expression":
        raise QueryError(
            f'column "{column.name}" has an expression as default',
            hint="give its values, or use INSERT, which evaluates it.",
        )
    value = None if column.default is None else parse(column.default, column)
    return pa.array([value] * rows, type)


def _checked(table: Table, column: Column, array: pa.ChunkedArray) -> pa.ChunkedArray:
    if not column.nullable and array.null_count:
        raise ConstraintViolated(
            f'column "{column.name}" of table "{table.label}" must not be NULL',
            hint="correct the rows; nothing was written.",
        )
    return array


class _values_fit:
    """Arrow's errors about values become `QueryError`."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, pa.ArrowException | TypeError | ValueError | OverflowError) and not isinstance(
            error, QueryError
        ):
            raise QueryError(
                f'a value does not fit table "{self.table.label}"', detail=str(error), hint="correct or cast it."
            ) from error
