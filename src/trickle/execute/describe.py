"""SHOW and DESCRIBE: what there is, as records and as DataFrames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ..handing import local_frame
from ..lake.model import Table
from ..lake.types import to_spark
from ..records import Record, Records
from ..sql.statement import Describe, Name, Show
from .transaction import Transaction


@dataclass(frozen=True)
class TableRecord(Record):
    schema: str
    name: str
    columns: tuple[str, ...]
    primary_key: tuple[str, ...]
    partitioned_by: tuple[str, ...]
    clustered_by: tuple[str, ...]


@dataclass(frozen=True)
class ColumnRecord(Record):
    name: str
    type: str
    nullable: bool
    default: str | None
    key: bool


def tables(transaction: Transaction, schema: str | None = None) -> Records[TableRecord]:
    found = transaction.all_tables()
    return Records(_table(t) for t in found if schema is None or t.schema.casefold() == schema.casefold())


def columns(transaction: Transaction, name: Name) -> Records[ColumnRecord]:
    table = transaction.table(name)
    return Records(
        ColumnRecord(c.name, to_spark(c, table.label).simpleString(), c.nullable, c.default, c.id in table.primary_key)
        for c in table.columns
    )


def run(transaction: Transaction, statement: Show | Describe) -> Any:
    """The answer as a DataFrame."""
    if isinstance(statement, Describe):
        return _frame(transaction, columns(transaction, statement.name), _COLUMNS)
    if statement.kind == "columns" and statement.table is not None:
        return _frame(transaction, columns(transaction, statement.table), _COLUMNS)
    if statement.kind == "schemas":
        names = sorted(transaction.schemas())
        return local_frame(transaction.lake.spark, pa.table({"schema": pa.array(names, pa.string())}))
    if statement.kind == "views":
        named = [(v.schema, v.name) for v in transaction.all_views()]
    else:
        named = [(t.schema, t.name) for t in transaction.all_tables()]
    if statement.schema is not None:
        named = [n for n in named if n[0].casefold() == statement.schema.casefold()]
    data = {
        "schema": pa.array([n[0] for n in named], pa.string()),
        "name": pa.array([n[1] for n in named], pa.string()),
    }
    return local_frame(transaction.lake.spark, pa.table(data))


_COLUMNS = pa.schema(
    [
        ("name", pa.string()),
        ("type", pa.string()),
        ("nullable", pa.bool_()),
        ("default", pa.string()),
        ("key", pa.bool_()),
    ]
)


def _frame(transaction: Transaction, records: Records[Any], schema: pa.Schema) -> Any:
    return local_frame(transaction.lake.spark, pa.Table.from_pylist(records.asdicts(), schema=schema))


def _table(table: Table) -> TableRecord:
    names = {c.id: c.name for c in table.columns}
    return TableRecord(
        table.schema,
        table.name,
        tuple(c.name for c in table.columns),
        tuple(names[id] for id in table.primary_key if id in names),
        tuple(
            names[k.column_id] if k.transform == "identity" else f"{k.transform}({names[k.column_id]})"
            for k in table.partitioned_by
        ),
        tuple(k.expression.strip('"') for k in table.clustered_by),
    )
