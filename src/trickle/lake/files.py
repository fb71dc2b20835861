"""The files of a table: which hold its rows at a snapshot, pruned before Spark sees them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import (
    Connection,
    FromClause,
    MetaData,
    ScalarSelect,
    Select,
    TableClause,
    and_,
    column,
    func,
    inspect,
    or_,
    select,
    union,
)
from sqlalchemy import Table as SqlTable
from sqlalchemy import table as sql_table
from sqlalchemy.sql import ColumnElement

from .catalog import Catalog
from .definitions import alive
from .model import Bound, Column, DataFile, DeleteFile, Table
from .prune import PartitionPruner, Pruner, sql_condition

_MOST_BOUNDS = 16
"""Bounds that prune: each joins the statistics once more, and SQLite joins at most 64 tables."""
_LISTED_FILES = 256
"""Files that are tested here rather than in the catalog database: conditions of many keys are long to write."""
_FEW_FILES = 500
"""Files that a query names one by one."""


def live_files(
    catalog: Catalog, connection: Connection, table: Table, at: int, bounds: Sequence[Bound] = ()
) -> list[DataFile]:
    """The data files that hold rows at snapshot `at` and may hold rows within all bounds."""
    usable = [(b, c) for b in bounds if (c := table.column(b.column)) is not None and not c.children]
    if usable:
        files = _pruned(catalog, connection, table, at, usable[:_MOST_BOUNDS])
    else:
        files = _fetch(connection, table, _file_query(catalog, table, at, catalog.tables["data_file"]))
    if usable and table.partitioned_by:
        files = _prune_partitions(catalog, connection, table, files, [b for b, _ in usable])
    return _with_inlined_deletes(catalog, connection, table, files, at)


def files_changed(catalog: Catalog, connection: Connection, table: Table, start: int, end: int) -> list[DataFile]:
    """Every data file that gained or lost rows in (start, end], as a whole or in part; deletes come apart."""
    d = catalog.tables["data_file"]
    touched = union(*_touched(catalog, connection, table, start, end)).subquery()
    query = (
        _columns(catalog)
        .select_from(touched.join(d, d.c.data_file_id == touched.c.data_file_id))
        .where(d.c.begin_snapshot <= end, or_(d.c.end_snapshot.is_(None), d.c.end_snapshot > start))
    )
    return _fetch(connection, table, query)


def _touched(
    catalog: Catalog, connection: Connection, table: Table, start: int, end: int
) -> Iterator[Select[tuple[int]]]:
    """Ids of files that may have changed, each by an index: a table has many files, a change touches few."""
    d, x = catalog.tables["data_file"].c, catalog.tables["delete_file"].c
    for at in (d.begin_snapshot, d.end_snapshot):
        yield select(d.data_file_id).where(d.table_id == table.id, at > start, at <= end)
    yield select(d.data_file_id).where(d.table_id == table.id, d.partial_max > start)
    yield select(x.data_file_id).where(x.table_id == table.id, x.begin_snapshot > start, x.begin_snapshot <= end)
    yield select(x.data_file_id).where(x.table_id == table.id, x.partial_max > start, x.begin_snapshot <= end)
    if not catalog.is_sqlite:
        late = x.delete_file_id >= next_file(catalog, start)
        yield select(x.data_file_id).where(x.table_id == table.id, late, x.begin_snapshot <= end)
    kept = _inlined_delete_table(catalog, connection, table)
    if kept is not None:
        within = and_(kept.c.begin_snapshot > start, kept.c.begin_snapshot <= end)
        yield select(kept.c.file_id.label("data_file_id")).where(within)


def delete_files_by(
    catalog: Catalog, connection: Connection, table: Table, files: Sequence[DataFile], end: int
) -> dict[int, list[DeleteFile]]:
    """Every delete file of these data files written up to `end`, by the data file it speaks of."""
    x = catalog.tables["delete_file"].c
    found: dict[int, list[DeleteFile]] = defaultdict(list)
    for some in by_few([f.id for f in files]):
        for of, file in delete_files(catalog, connection, table, x.begin_snapshot <= end, x.data_file_id.in_(some)):
            found[of].append(file)
    return found


def delete_files(
    catalog: Catalog, connection: Connection, table: Table, *which: ColumnElement[bool]
) -> Iterator[tuple[int, DeleteFile]]:
    """Delete files of the table, each behind the id of the data file it speaks of."""
    x = catalog.tables["delete_file"].c
    query = select(
        x.data_file_id,
        x.delete_file_id,
        x.path,
        x.path_is_relative,
        x.delete_count,
        x.file_size_bytes,
        x.footer_size,
        x.begin_snapshot,
        x.partial_max,
    ).where(x.table_id == table.id, *which)
    for data_file_id, id, path, relative, *rest in connection.execute(query):
        yield data_file_id, DeleteFile(id, table.path + path if relative else path, *rest)


def next_file(catalog: Catalog, at: int) -> ScalarSelect[int]:
    """Files of later snapshots have this id or a greater one."""
    s = catalog.tables["snapshot"].c
    return select(s.next_file_id).where(s.snapshot_id == at).scalar_subquery()


def by_few(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """So many ids at once as a query names one by one."""
    return (ids[n : n + _FEW_FILES] for n in range(0, len(ids), _FEW_FILES))


def inlined_deletes(catalog: Catalog, connection: Connection, table: Table, end: int) -> list[tuple[int, int, int]]:
    """(data file, position, snapshot) of deletes that DuckDB keeps in the catalog."""
    t = _inlined_delete_table(catalog, connection, table)
    if t is None:
        return []
    rows = connection.execute(select(t.c.file_id, t.c.row_id, t.c.begin_snapshot).where(t.c.begin_snapshot <= end))
    return [(int(f), int(p), int(s)) for f, p, s in rows]


def _inlined_delete_table(catalog: Catalog, connection: Connection, table: Table) -> TableClause | None:
    name = f"ducklake_inlined_delete_{table.id}"
    if not _may_inline(catalog, connection, table) or not has_table(catalog, connection, name):
        return None
    return sql_table(name, column("file_id"), column("row_id"), column("begin_snapshot"), schema=catalog.schema)


def files_lacking(
    catalog: Catalog,
    connection: Connection,
    table: Table,
    files: Iterable[DataFile],
    column_id: int,
    since: int,
) -> set[int]:
    """Ids of the files written before the column existed."""
    older = [f.id for f in files if f.begin < since]
    if not older:
        return set()
    leaves = [c.id for c in (table.column_by_id(column_id) or table.columns[0]).walk()]
    s = catalog.tables["file_column_stats"].c
    # A merged file keeps its oldest snapshot but may hold the column: then it has statistics for it.
    holding = connection.execute(
        select(s.data_file_id).where(s.table_id == table.id, s.column_id.in_(leaves)).distinct()
    ).scalars()
    return set(older) - set(holding)


def partition_values(catalog: Catalog, connection: Connection, table: Table) -> dict[int, dict[int, str | None]]:
    """Data file → partition key index → value text."""
    p = catalog.tables["file_partition_value"].c
    rows = connection.execute(
        select(p.data_file_id, p.partition_key_index, p.partition_value).where(p.table_id == table.id)
    )
    found: dict[int, dict[int, str | None]] = defaultdict(dict)
    for file_id, index, value in rows:
        found[file_id][index] = value
    return found


def has_table(catalog: Catalog, connection: Connection, name: str) -> bool:
    return inspect(connection).has_table(name, schema=catalog.schema)


def reflect(catalog: Catalog, connection: Connection, name: str) -> SqlTable:
    return SqlTable(name, MetaData(), schema=catalog.schema, autoload_with=connection)


def _may_inline(catalog: Catalog, connection: Connection, table: Table) -> bool:
    i = catalog.tables["inlined_data_tables"].c
    return connection.execute(select(func.count()).where(i.table_id == table.id)).scalar_one() > 0


def _columns(catalog: Catalog) -> Select[Any]:
    d = catalog.tables["data_file"].c
    return select(
        d.data_file_id,
        d.path,
        d.path_is_relative,
        d.record_count,
        d.file_size_bytes,
        d.footer_size,
        d.row_id_start,
        d.begin_snapshot,
        d.end_snapshot,
        d.partial_max,
        d.mapping_id,
        d.partition_id,
    )


def _file_query(catalog: Catalog, table: Table, at: int, source: FromClause) -> Select[Any]:
    """The files of `source` with the deletes that count at a snapshot."""
    d, x = catalog.tables["data_file"], catalog.tables["delete_file"]
    theirs = and_(x.c.table_id == table.id, x.c.data_file_id == d.c.data_file_id, alive(x, at))
    return (
        _columns(catalog)
        .add_columns(
            x.c.delete_file_id,
            x.c.path,
            x.c.path_is_relative,
            x.c.delete_count,
            x.c.file_size_bytes,
            x.c.footer_size,
            x.c.begin_snapshot,
            x.c.partial_max,
        )
        .select_from(source.outerjoin(x, theirs))
        .where(d.c.table_id == table.id, alive(d, at))
        .order_by(d.c.data_file_id)
    )


def _fetch(connection: Connection, table: Table, query: Select[Any]) -> list[DataFile]:
    home = table.path
    return [_file(home, row) for row in connection.execute(query)]


def _file(home: str, row: Sequence[Any]) -> DataFile:
    id, path, relative, *rest = row[:12]
    file = DataFile(id, home + path if relative else path, *rest)
    if len(row) == 12 or row[12] is None:
        return file
    delete_id, delete_path, delete_relative, *facts = row[12:20]
    where = home + delete_path if delete_relative else delete_path
    return replace(file, delete=DeleteFile(delete_id, where, *facts))


def _pruned(
    catalog: Catalog, connection: Connection, table: Table, at: int, usable: Sequence[tuple[Bound, Column]]
) -> list[DataFile]:
    """Coarse conditions inside the catalog database where files are many, the exact test here on what is left."""
    source: FromClause = catalog.tables["data_file"]
    joined, shown = [_stats(catalog, number) for number in range(len(usable))], []
    for stats, (_, of) in zip(joined, usable, strict=True):
        # SQLite joins in this order: statistics first, so that deletes are looked up for few files.
        source = source.outerjoin(stats, _of_column(catalog, stats, table, of))
        c = stats.c
        shown += [c.min_value, c.max_value, c.null_count, c.value_count, c.contains_nan]
    query = _file_query(catalog, table, at, source)
    width = len(query.selected_columns)
    pruners = [(width + 5 * i, Pruner.of(bound, of)) for i, (bound, of) in enumerate(usable)]
    query = query.add_columns(*shown)
    rows = sorted(connection.execute(query.order_by(None).limit(_LISTED_FILES + 1)).all(), key=lambda row: row[0])
    if len(rows) > _LISTED_FILES:
        conditions = [
            sql_condition(*pair, stats, connection.dialect.name) for pair, stats in zip(usable, joined, strict=True)
        ]
        rows = list(connection.execute(query.where(*conditions)))
    return [
        _file(table.path, row[:width])
        for row in rows
        if all(pruner.keeps(*row[place : place + 5]) for place, pruner in pruners)
    ]


def _of_column(catalog: Catalog, stats: Any, table: Table, of: Column) -> ColumnElement[bool]:
    d = catalog.tables["data_file"]
    return and_(stats.c.table_id == table.id, stats.c.column_id == of.id, stats.c.data_file_id == d.c.data_file_id)


def _stats(catalog: Catalog, number: int) -> Any:
    return catalog.tables["file_column_stats"].alias(f"s{number}")


def _prune_partitions(
    catalog: Catalog, connection: Connection, table: Table, files: list[DataFile], bounds: Sequence[Bound]
) -> list[DataFile]:
    values = partition_values(catalog, connection, table)
    width = range(len(table.partitioned_by))
    pruner = PartitionPruner.of(bounds, table)
    return [
        f for f in files if f.partition_id != table.partition_id or pruner.keeps([values[f.id].get(i) for i in width])
    ]


def _with_inlined_deletes(
    catalog: Catalog, connection: Connection, table: Table, files: list[DataFile], at: int
) -> list[DataFile]:
    gone: dict[int, list[int]] = defaultdict(list)
    for file_id, position, _ in inlined_deletes(catalog, connection, table, at):
        gone[file_id].append(position)
    if not gone:
        return files
    return [replace(f, inlined_deletes=tuple(sorted(gone[f.id]))) if f.id in gone else f for f in files]
