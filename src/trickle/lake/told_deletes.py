"""Deletes that do not stand where they were told: of a past that was changed after it was read.

DuckDB that commits a delete to a PostgreSQL catalog, loses the race for the next snapshot and tries again, says so in
the snapshot that it gets, but leaves the rows dead since the one that it tried first, which is another commit's.
Whoever has read that one already would never see them go.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, select

from . import positions, snapshots
from .catalog import Catalog
from .files import has_table, inlined_deletes, reflect
from .model import DeleteFile, Table
from .storage import Storage

_DELETES = frozenset({"deleted_from_table", "inlined_delete"})


def misplaced(
    catalog: Catalog, connection: Connection, storage: Storage, table: Table, start: int, end: int
) -> frozenset[int]:
    """Snapshots in (start, end] that say they deleted rows of the table, while no row of it died there."""
    said = told(catalog, connection, table, start, end)
    if not said:
        return said
    for known in _found(catalog, connection, storage, table, start, end):
        said -= known
        if not said:
            break
    return said


def told(catalog: Catalog, connection: Connection, table: Table, start: int, end: int) -> frozenset[int]:
    """Snapshots in (start, end] that say they deleted rows of the table."""
    made = snapshots.made(catalog, connection, start, end, {table.id})
    this = str(table.id)
    return frozenset(id for id, text in made if any(k in _DELETES and t == this for k, t in snapshots.tokens(text)))


def found(
    catalog: Catalog, connection: Connection, storage: Storage, table: Table, start: int, end: int
) -> frozenset[int]:
    """Snapshots in (start, end] in which rows of the table died."""
    return frozenset().union(*_found(catalog, connection, storage, table, start, end))


def _found(
    catalog: Catalog, connection: Connection, storage: Storage, table: Table, start: int, end: int
) -> Iterator[frozenset[int]]:
    """The same in parts, what costs least first: the catalog, delete files of late deletes, all others."""
    yield frozenset(_in_catalog(catalog, connection, table, start, end))
    x = catalog.tables["delete_file"].c
    columns = (x.path, x.path_is_relative, x.delete_count, x.file_size_bytes, x.footer_size, x.begin_snapshot)
    query = select(*columns, x.partial_max).where(x.table_id == table.id, x.begin_snapshot <= end)
    # Files that DuckDB made of inlined deletes hold their snapshots, too, but the catalog does not say up to which.
    for some in (x.partial_max > start, x.partial_max.is_(None)):
        dead: set[int] = set()
        for path, relative, *facts in connection.execute(query.where(some)):
            file = DeleteFile(-1, table.path + path if relative else path, *facts)
            dead.update(positions.read(storage, file)[1].tolist())
        yield frozenset(at for at in dead if start < at <= end)


def _in_catalog(catalog: Catalog, connection: Connection, table: Table, start: int, end: int) -> Iterator[int]:
    """Those that the catalog alone tells: deletes of their own, whole files, inlined rows."""
    d, x = catalog.tables["data_file"].c, catalog.tables["delete_file"].c
    for column, of in ((d.end_snapshot, d), (x.begin_snapshot, x)):
        yield from connection.scalars(select(column).where(of.table_id == table.id, column > start, column <= end))
    yield from (at for _, _, at in inlined_deletes(catalog, connection, table, end) if at > start)
    i = catalog.tables["inlined_data_tables"].c
    for name in connection.scalars(select(i.table_name).where(i.table_id == table.id)).all():
        if has_table(catalog, connection, name):
            ended = reflect(catalog, connection, name).c.end_snapshot
            yield from connection.scalars(select(ended).where(ended > start, ended <= end).distinct())
