"""Deletes that do not stand where they were told: of a past that was changed after it was read.

DuckDB that commits a delete to a PostgreSQL catalog, loses the race for the next snapshot and tries again, says so in
the snapshot that it gets, but leaves the rows dead since the one that it tried first, which is another commit's.
Whoever has read that one already would never see them go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sqlalchemy import Connection, column, select
from sqlalchemy import table as sql_table

from . import positions, snapshots
from .catalog import Catalog
from .files import by_few, delete_files, has_table, inlined_deletes
from .model import Snapshot, Table
from .storage import Storage

_DELETES = frozenset({"deleted_from_table", "inlined_delete"})


def misplaced(
    catalog: Catalog, connection: Connection, storage: Storage, table: Table, start: Snapshot, end: int
) -> dict[int, int]:
    """How many deletes, by snapshot, whoever read the table up to `start` has not seen, and (start, end] will not show.

    Rows that are dead since a snapshot that did not say so, by delete files written after `start`; and snapshots that
    say they deleted, while no row died there.
    """
    said = told(catalog, connection, table, start.id, end)
    if not said:
        return {}
    early = _untold(catalog, connection, storage, table, start)
    for known in _found(catalog, connection, storage, table, start.id, end):
        said -= known
        if not said:
            break
    return early | dict.fromkeys(said, 1)


def _untold(
    catalog: Catalog, connection: Connection, storage: Storage, table: Table, start: Snapshot
) -> dict[int, int]:
    x = catalog.tables["delete_file"].c
    dead = Counter[int]()
    for _, file in delete_files(catalog, connection, table, x.delete_file_id >= start.next_file_id):
        dead.update(at for at in positions.read(storage, file)[1].tolist() if at <= start.id)
    s, c, found = catalog.tables["snapshot"], catalog.tables["snapshot_changes"], dict[int, int]()
    there = select(s.c.snapshot_id, c.c.changes_made).outerjoin_from(s, c, c.c.snapshot_id == s.c.snapshot_id)
    for some in by_few(sorted(dead)):
        # Of snapshots that have expired, nobody knows any more what they said.
        for id, text in connection.execute(there.where(s.c.snapshot_id.in_(some))):
            if not snapshots.kinds(text or "", table.id) & _DELETES:
                found[id] = dead[id]
    return found


def told(catalog: Catalog, connection: Connection, table: Table, start: int, end: int) -> frozenset[int]:
    """Snapshots in (start, end] that say they deleted rows of the table."""
    made = snapshots.made(catalog, connection, start, end, {table.id})
    return frozenset(id for id, text in made if snapshots.kinds(text, table.id) & _DELETES)


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
