"""How a stream table lies in the lake: a stored table with hidden columns, and the view that shows the rest."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from itertools import count

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from ..delta.state import Storage
from ..errors import QueryError
from ..execute.ddl import partition_keys, sort_keys
from ..execute.transaction import Transaction
from ..lake.draft import TableDraft
from ..lake.entries import folder_of
from ..lake.model import Table, View
from ..lake.types import from_spark
from ..plan import is_reserved
from ..registry.models import StreamTable
from ..sql.names import quote_spark
from ..sql.statement import PartitionField
from .sources import STORED_SCHEMA


def add_stored_table(transaction: Transaction, table: StreamTable, rows: DataFrame, storage: Storage | None) -> Table:
    """A new, empty stored table with the columns that `rows` will have."""
    stored = laid_out(_new(transaction, table.stored_name, rows.schema), table, storage)
    transaction.draft.tables[stored.id] = TableDraft(stored, before=None)
    return stored


def add_table(transaction: Transaction, name: str, schema: StructType, cluster: Sequence[str]) -> Table:
    """A new, empty table beside the stored ones, sorted by these columns as far as they can be compared."""
    fresh = _new(transaction, name, schema)
    plain = [c for c in cluster if not _nested(fresh, c)]
    stored = replace(fresh, clustered_by=sort_keys(fresh, plain))
    transaction.draft.tables[stored.id] = TableDraft(stored, before=None)
    return stored


def _new(transaction: Transaction, name: str, schema: StructType) -> Table:
    schema_id, home = _home(transaction)
    ids = count(1)
    unique = str(uuid.uuid4())
    return Table(
        id=transaction.draft.provisional_id(),
        uuid=unique,
        schema_id=schema_id,
        schema=STORED_SCHEMA,
        name=name,
        path=home + folder_of(name, unique),
        columns=tuple(from_spark(f.name, f.dataType, ids) for f in schema.fields),
    )


def laid_out(stored: Table, table: StreamTable, storage: Storage | None) -> Table:
    """The stored table partitioned and sorted as the stream table's options say."""
    partition = table.options.get("partition_by") or []
    cluster = table.options.get("cluster_by")
    if cluster is None:
        keys = (storage.key or ()) if storage else ()
        cluster = [k for k in keys if not _nested(stored, k)]
    return replace(
        stored,
        partitioned_by=partition_keys(stored, [PartitionField(c) for c in partition]),
        clustered_by=sort_keys(stored, cluster),
    )


def _nested(stored: Table, name: str) -> bool:
    column = stored.column(name)
    return column is None or bool(column.children)


def _home(transaction: Transaction) -> tuple[int, str]:
    if STORED_SCHEMA not in transaction.schemas():
        transaction.draft.created_schemas[STORED_SCHEMA] = transaction.draft.provisional_id()
    return transaction.schema_home(STORED_SCHEMA)


def add_view(transaction: Transaction, table: StreamTable, labels: Sequence[str], visible: str | None) -> None:
    """The published view: exactly the query's columns."""
    schema_id, _ = transaction.schema_home(table.schema)
    view = View(
        id=transaction.draft.provisional_id(),
        uuid=str(uuid.uuid4()),
        schema_id=schema_id,
        schema=table.schema,
        name=table.name,
        sql=_select(table, labels, visible, quote_spark),
        dialect="spark",
    )
    transaction.draft.created_views[view.id] = (view, _select(table, labels, visible, _quote_duckdb))


def _select(table: StreamTable, labels: Sequence[str], visible: str | None, quote: object) -> str:
    assert callable(quote)
    where = f" WHERE {quote(visible)}" if visible else ""
    columns = ", ".join(quote(label) for label in labels)
    return f"SELECT {columns} FROM {quote(STORED_SCHEMA)}.{quote(table.stored_name)}{where}"


def _quote_duckdb(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class Fit(Enum):
    """How well a stored table's columns are those of rows to come."""

    ALL = "every column"
    SHOWN = "the columns it shows, not the hidden ones"
    NONE = "not even those"


def fit(stored: Table, schema: StructType) -> Fit:
    ids = count(1)
    columns = [from_spark(f.name, f.dataType, ids) for f in schema.fields]
    held, wanted = [[(c.name, *(i.type for i in c.walk())) for c in part] for part in (stored.columns, columns)]
    if held == wanted:
        return Fit.ALL
    shown = [[c for c in part if not is_reserved(c[0])] for part in (held, wanted)]
    return Fit.SHOWN if shown[0] == shown[1] else Fit.NONE


def refuse_reserved(labels: Sequence[str]) -> None:
    for label in labels:
        if is_reserved(label):
            raise QueryError(f'"{label}" is a reserved name', hint="give the column another name with AS.")
