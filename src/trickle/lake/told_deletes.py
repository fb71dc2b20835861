"""Which snapshots say that they deleted rows of a table, and in which rows died.

The same ones, but for deletes of DuckDB's that it committed at a second try (`placing`).
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, column, select
from sqlalchemy import table as sql_table

from . import positions, snapshots
from .catalog import Catalog
from .files import delete_files, has_table, inlined_deletes
from .model import Table
from .storage import Storage

_DELETES = frozenset({"deleted_from_table", "inlined_delete"})


def says(changes: str, table: Table) -> bool:
    """Whether a snapshot that made these changes says that it deleted rows of the table."""
    return not _DELETES.isdisjoint(snapshots.kinds(changes, table.id))


def told(catalog: Catalog, connection: Connection, table: Table, start: int, end: int) -> frozenset[int]:
    """Snapshots in (start, end] that say they deleted rows of the table."""
    made = snapshots.made(catalog, connection, start, end, {table.id})
    return frozenset(id for id, text in made if says(text, table))


def found(
    catalog: Catalog, connection: Connection, storage: Storage, table: Table, start: int, end: int
) -> frozenset[int]:
    """Snapshots in (start, end] in which rows of the table died, as it is written."""
    return frozenset().union(*found_parts(catalog, connection, storage, table, start, end))


def found_parts(
    catalog: Catalog, connection: Connection, storage: Storage, table: Table, start: int, end: int
) -> Iterator[frozenset[int]]:
    """The same in parts, what costs least first: the catalog, delete files of late deletes, all others."""
    yield frozenset(_in_catalog(catalog, connection, table, start, end))
    x = catalog.tables["delete_file"].c
    # Files that DuckDB made of inlined deletes hold their snapshots, too, but the catalog does not say up to which.
    for some in (x.partial_max > start, x.partial_max.is_(None)):
        files = delete_files(catalog, connection, table, x.begin_snapshot <= end, some)
        yield frozenset(at for _, f in files for at in positions.read(storage, f)[1].tolist() if start < at <= end)


def _in_catalog(catalog: Catalog, connection: Connection, table: Table, start: int, end: int) -> Iterator[int]:
    """Those that the catalog alone tells: deletes of their own, whole files, inlined rows."""
    d, x = catalog.tables["data_file"].c, catalog.tables["delete_file"].c
    for at, of in ((d.end_snapshot, d), (x.begin_snapshot, x)):
        yield from connection.scalars(select(at).where(of.table_id == table.id, at > start, at <= end))
    yield from (at for _, _, at in inlined_deletes(catalog, connection, table, end) if at > start)
    i = catalog.tables["inlined_data_tables"].c
    for name in connection.scalars(select(i.table_name).where(i.table_id == table.id)).all():
        if has_table(catalog, connection, name):
            ended = sql_table(name, column("end_snapshot"), schema=catalog.schema).c.end_snapshot
            yield from connection.scalars(select(ended).where(ended > start, ended <= end).distinct())
