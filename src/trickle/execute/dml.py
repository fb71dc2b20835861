"""INSERT, UPDATE, DELETE, TRUNCATE and append, on a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ..errors import QueryError
from ..handing import local_frame
from ..lake.foreign import translated
from ..lake.model import Bound, Column, Table
from ..lake.scan import FILE, POSITION, STORED_ROW_ID
from ..sql.bounds import bounds
from ..sql.statement import Delete, Insert, Name, Truncate, Update, quote_spark
from . import conform, rows
from .binding import Binding
from .transaction import Located, Transaction
from .values import fill_defaults


def insert(transaction: Transaction, binding: Binding, statement: Insert) -> int:
    """Rows of a query into a table; how many."""
    table = transaction.table(statement.name)
    is_small = statement.source.lstrip().upper().startswith("VALUES")
    text = fill_defaults(statement.source, _targets(table, statement.columns)) if is_small else statement.source
    source = binding.run(text, f'INSERT INTO "{table.label}"')
    by_name = statement.by_name
    fitted = conform.by_name(source, table) if by_name else conform.by_place(source, table, statement.columns)
    if statement.overwrite:
        clear(transaction, table)
    return write(transaction, table, fitted, is_small)


def _targets(table: Table, names: Sequence[str] | None) -> list[Column]:
    """The columns that an INSERT fills, in order; those it names wrongly are found out later."""
    if names is None:
        return list(table.columns)
    return [c for n in names if (c := table.column(n)) is not None]


def write(transaction: Transaction, table: Table, fitted: DataFrame, is_small: bool = False) -> int:
    """Rows that fit the table as new files; few ones are written by the driver."""
    writer = transaction.lake.writer(table)
    if is_small:
        with translated(f'INSERT INTO "{table.label}"'):
            data = fitted.toArrow()
        files = writer.write_arrow(data) if data.num_rows else []
    else:
        files = writer.write_spark(fitted)
    transaction.draft.add_files(table, files)
    return sum(f.records for f in files)


def append(transaction: Transaction, name: Name, data: Any) -> int:
    """Rows from Python into a table: a Spark or pandas DataFrame, an Arrow table, a list of dicts."""
    table = transaction.table(name)
    held = conform.local(data, table)
    if held is None:
        if not hasattr(data, "sparkSession"):
            raise QueryError(
                f'rows for table "{table.label}" cannot be a {type(data).__name__}',
                hint="give a Spark or pandas DataFrame, a pyarrow.Table or a list of dicts.",
            )
        return write(transaction, table, conform.by_name(data, table))
    if held.num_rows == 0:
        return 0
    if held.num_rows <= transaction.lake.settings["lake.small_write_rows"]:
        transaction.draft.add_files(table, transaction.lake.writer(table).write_arrow(held))
        return int(held.num_rows)
    return write(transaction, table, local_frame(transaction.lake.spark, held))


def delete(transaction: Transaction, binding: Binding, statement: Delete) -> int:
    """Rows that satisfy the condition go; how many."""
    table = transaction.table(statement.name)
    if statement.where is None:
        return clear(transaction, table)
    located = transaction.located(table, _bounds(table, statement.where, statement.alias))
    source = _source(binding, located, statement.alias or statement.name.name)
    query = f"SELECT {rows.DELETE} AS {rows.OPERATION}, {FILE}, {POSITION} FROM {source} WHERE " + binding.expression(
        statement.where
    )
    with translated(f'DELETE FROM "{table.label}"'):
        found = binding.spark.sql(query)
    with rows.gathered(transaction, found, located.most_rows, table, only_places=True) as work:
        return rows.apply(transaction, table, located, work)


def update(transaction: Transaction, binding: Binding, statement: Update) -> int:
    """Rows that satisfy the condition get new values; how many."""
    table = transaction.table(statement.name)
    where = "" if statement.where is None else f" WHERE {binding.expression(statement.where)}"
    pruned = _bounds(table, statement.where, statement.alias) if statement.where else ()
    located = transaction.located(table, pruned)
    source = _source(binding, located, statement.alias or statement.name.name)
    values = {}
    for name, text in statement.assignments:
        column = table.column(name)
        if column is None:
            raise QueryError(
                f'table "{table.label}" has no column "{name}"',
                hint=f"its columns are {', '.join(c.name for c in table.columns)}.",
            )
        values[column.id] = None if text.strip().upper() == "DEFAULT" else binding.expression(text)
    assigned = [f"{text} AS __trickle_v{id}" for id, text in values.items() if text is not None]
    query = "SELECT " + ", ".join(["*", *assigned]) + f" FROM {source}{where}"
    with translated(f'UPDATE "{table.label}"'):
        evaluated = binding.spark.sql(query)
        found = evaluated.select(*_updated(table, evaluated, values), *_places(rows.UPDATE))
    with rows.gathered(transaction, found, located.most_rows, table) as work:
        return rows.apply(transaction, table, located, work)


def truncate(transaction: Transaction, statement: Truncate) -> int:
    return clear(transaction, transaction.table(statement.name))


def clear(transaction: Transaction, table: Table) -> int:
    """Every row goes, by the catalog alone: no file is read."""
    from ..lake import inlined
    from ..lake.files import live_files

    lake, part = transaction.lake, transaction.draft.of(table)
    count = sum(f.records - len(part.removed.get(id, ())) for id, f in part.added.items())
    for file in list(part.added.values()):
        part.end(file)
    if part.before is None:
        return count
    with lake.reading() as connection:
        files = live_files(lake.catalog, connection, table, transaction.base.id)
        stored = inlined.state(lake.catalog, connection, table, transaction.base.id)
    for file in files:
        if file.id not in part.ended:
            gone = (file.delete.count if file.delete else 0) + len(file.inlined_deletes)
            count += file.records - gone - len(part.removed.get(file.id, ()))
            part.end(file)
    for kept in stored:
        store = part.inlined_removed.setdefault(kept.store, set())
        count += len(set(kept.row_ids) - store)
        store.update(kept.row_ids)
    return count


def _bounds(table: Table, where: str, alias: str | None) -> tuple[Bound, ...]:
    names = [alias] if alias else [table.name, f"{table.schema}.{table.name}"]
    return bounds(where, {c.name: c.type for c in table.columns}, names)


def _source(binding: Binding, located: Located, alias: str) -> str:
    return f"{binding.name(located.frame)} AS {quote_spark(alias)}"


def _updated(table: Table, evaluated: DataFrame, values: dict[int, str | None]) -> list[Any]:
    types = {f.name: f.dataType for f in evaluated.schema.fields}
    found = []
    for column in table.columns:
        own = F.col(quote_spark(column.name))
        if column.id not in values:
            found.append(own)
            continue
        if values[column.id] is None:
            value = conform.default(column)
        else:
            name = f"__trickle_v{column.id}"
            value = conform.assigned(table, column, F.col(name), types[name])
        found.append(conform.not_null(table, column, value).alias(column.name))
    return found


def _places(operation: int) -> list[Any]:
    return [F.lit(operation).alias(rows.OPERATION), F.col(FILE), F.col(POSITION), F.col(STORED_ROW_ID)]
