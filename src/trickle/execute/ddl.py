"""CREATE, ALTER and DROP of tables, schemas and views, on a transaction."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from pyspark.sql.types import StructType

from ..errors import AlreadyExists, DependentsExist, NotFound, QueryError
from ..lake.ddl import parse_ddl
from ..lake.draft import TableDraft
from ..lake.entries import folder_of
from ..lake.lake import MAIN
from ..lake.model import Column, PartitionKey, SortKey, Table, View
from ..lake.types import from_spark
from ..sql.dialects import spark_to_duckdb
from ..sql.statement import (
    ColumnDef,
    CreateSchema,
    CreateTable,
    CreateView,
    DropSchema,
    DropTable,
    DropView,
    Name,
    PartitionField,
)
from . import conform, dml, keys
from .binding import Binding
from .columns import require_column
from .defaults import read_default
from .transaction import Transaction


def create_table(transaction: Transaction, binding: Binding, statement: CreateTable) -> int:
    """A new table, filled if the statement has a query; how many rows went in."""
    existing = transaction.find_table(statement.name)
    if existing is not None and statement.if_not_exists:
        return 0
    if existing is not None and statement.or_replace:
        drop(transaction, existing)
        existing = None
    _refuse_taken(transaction, statement.name, existing)
    source = binding.run(statement.as_query, f'CREATE TABLE "{statement.name.label}"') if statement.as_query else None
    columns = _columns(binding, statement.columns) if statement.columns else _columns_of(source.schema)  # type: ignore[union-attr]
    table = _new_table(transaction, statement, columns)
    transaction.draft.tables[table.id] = TableDraft(table, before=None)
    if source is None:
        return 0
    return dml.write(transaction, table, conform.by_place(source, table, None))


def _refuse_taken(transaction: Transaction, name: Name, existing: object) -> None:
    if existing is not None:
        raise AlreadyExists(f'table "{name.label}" exists already', hint="use IF NOT EXISTS, or OR REPLACE.")
    if transaction.find_view(name) is not None:
        raise AlreadyExists(f'a view "{name.label}" exists already', hint="choose another name, or drop the view.")


def _new_table(transaction: Transaction, statement: CreateTable, columns: tuple[Column, ...]) -> Table:
    schema = statement.name.schema or MAIN
    schema_id, home = transaction.schema_home(schema)
    unique = str(uuid.uuid4())
    table = Table(
        id=transaction.draft.provisional_id(),
        uuid=unique,
        schema_id=schema_id,
        schema=schema,
        name=statement.name.name,
        path=home + folder_of(statement.name.name, unique),
        columns=columns,
    )
    return replace(
        keys.with_keys(transaction, table, statement),
        partitioned_by=partition_keys(table, statement.partitioned_by),
        clustered_by=sort_keys(table, statement.cluster_by),
    )


def _columns(binding: Binding, definitions: Sequence[ColumnDef]) -> tuple[Column, ...]:
    ids = count(1)
    return tuple(new_column(binding, d, ids) for d in definitions)


def new_column(binding: Binding, definition: ColumnDef, ids: Iterator[int], existing_rows: bool = False) -> Column:
    """A column as the definition says; `existing_rows` get its default too."""
    column = from_spark(definition.name, parse_ddl(definition.type), ids, nullable=definition.nullable)
    if definition.default is None:
        return column
    kind, text = read_default(binding, column, definition.default)
    initial = text if kind == "literal" else None
    if existing_rows and kind == "expression":
        _, initial = read_default(binding, column, definition.default, evaluate=True)
    return replace(column, default=text, default_kind=kind, initial_default=initial)


def _columns_of(schema: StructType) -> tuple[Column, ...]:
    ids = count(1)
    names = [f.name.casefold() for f in schema.fields]
    twice = next((f.name for f in schema.fields if names.count(f.name.casefold()) > 1), None)
    if twice is not None:
        raise QueryError(f'the query gives column "{twice}" twice', hint="name its columns with AS.")
    return tuple(from_spark(f.name, f.dataType, ids) for f in schema.fields)


def partition_keys(table: Table, fields: Sequence[PartitionField]) -> tuple[PartitionKey, ...]:
    keys = []
    for field in fields:
        column = require_column(table, field.column)
        if column.children:
            raise QueryError(f'nested column "{column.name}" cannot partition a table', hint="use a plain column.")
        if field.transform != "identity" and column.type not in ("date", "timestamp", "timestamptz"):
            raise QueryError(
                f'{field.transform}("{column.name}") needs a date or timestamp', hint=f"its type is {column.type}."
            )
        keys.append(PartitionKey(column.id, field.transform))
    return tuple(keys)


def sort_keys(table: Table, names: Sequence[str]) -> tuple[SortKey, ...]:
    keys = []
    for name in names:
        column = require_column(table, name)
        if column.children:
            raise QueryError(f'nested column "{column.name}" cannot cluster a table', hint="use a plain column.")
        keys.append(SortKey('"' + column.name.replace('"', '""') + '"'))
    return tuple(keys)


def drop_table(transaction: Transaction, statement: DropTable) -> int:
    found = transaction.find_table(statement.name)
    if found is None:
        if statement.if_exists:
            return 0
        transaction.table(statement.name)  # says what is there instead
    else:
        drop(transaction, found)
    return 0


def drop(transaction: Transaction, table: Table) -> None:
    part = transaction.draft.of(table)
    part.dropped = True
    part.added.clear()
    part.removed.clear()


def create_schema(transaction: Transaction, statement: CreateSchema) -> int:
    if statement.name.casefold() in transaction.schemas():
        if statement.if_not_exists:
            return 0
        raise AlreadyExists(f'schema "{statement.name}" exists already', hint="use IF NOT EXISTS.")
    if statement.name.casefold() == "trickle":
        raise QueryError('schema "trickle" is reserved', hint="choose another name.")
    transaction.draft.created_schemas[statement.name] = transaction.draft.provisional_id()
    return 0


def drop_schema(transaction: Transaction, statement: DropSchema) -> int:
    found = transaction.schemas().get(statement.name.casefold())
    if found is None:
        if statement.if_exists:
            return 0
        raise NotFound(f'schema "{statement.name}" does not exist', hint="SHOW SCHEMAS lists them.")
    if statement.name.casefold() == MAIN:
        raise QueryError('schema "main" cannot be dropped', hint="drop its tables instead.")
    if statement.name.casefold() == "trickle":
        raise QueryError('schema "trickle" holds what stream tables store', hint="drop the stream tables instead.")
    tables = [t for t in transaction.all_tables() if t.schema.casefold() == statement.name.casefold()]
    views = [v for v in transaction.all_views() if v.schema.casefold() == statement.name.casefold()]
    if (tables or views) and not statement.cascade:
        names = ", ".join([t.name for t in tables] + [v.name for v in views])
        raise DependentsExist(f'schema "{statement.name}" is not empty', detail=names, hint="add CASCADE to drop all.")
    for table in tables:
        drop(transaction, table)
    for view in views:
        _forget_view(transaction, view)
    if statement.name in transaction.draft.created_schemas:
        del transaction.draft.created_schemas[statement.name]
    else:
        transaction.draft.dropped_schemas[statement.name] = found[0]
    return 0


def create_view(transaction: Transaction, binding: Binding, statement: CreateView) -> int:
    existing = transaction.find_view(statement.name)
    if existing is not None and statement.if_not_exists:
        return 0
    if existing is not None and not statement.or_replace:
        raise AlreadyExists(f'view "{statement.name.label}" exists already', hint="use OR REPLACE.")
    if transaction.find_table(statement.name) is not None:
        raise AlreadyExists(f'a table "{statement.name.label}" exists already', hint="choose another name.")
    analyzed = binding.run(statement.query, f'CREATE VIEW "{statement.name.label}"')
    if statement.columns and len(statement.columns) != len(analyzed.columns):
        raise QueryError(
            f'view "{statement.name.label}" names {len(statement.columns)} columns, its query gives '
            f"{len(analyzed.columns)}",
            hint="name each column once.",
        )
    if existing is not None:
        _forget_view(transaction, existing)
    schema = statement.name.schema or MAIN
    schema_id, _ = transaction.schema_home(schema)
    view = View(
        id=transaction.draft.provisional_id(),
        uuid=str(uuid.uuid4()),
        schema_id=schema_id,
        schema=schema,
        name=statement.name.name,
        sql=statement.query,
        dialect="spark",
        column_aliases=statement.columns,
    )
    transaction.draft.created_views[view.id] = (view, _for_duckdb(statement.query))
    return 0


def _for_duckdb(query: str) -> str:
    """The view's text for DuckDB; where it has no such form, Spark's own, which DuckDB will refuse to run."""
    try:
        return spark_to_duckdb(query)
    except QueryError:
        return query


def drop_view(transaction: Transaction, statement: DropView) -> int:
    found = transaction.find_view(statement.name)
    if found is not None:
        _forget_view(transaction, found)
    elif not statement.if_exists:
        raise NotFound(f'view "{statement.name.label}" does not exist', hint="SHOW VIEWS lists them.")
    return 0


def _forget_view(transaction: Transaction, view: View) -> None:
    if view.id < 0:
        del transaction.draft.created_views[view.id]
    else:
        transaction.draft.dropped_views[view.id] = view
