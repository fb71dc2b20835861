"""Snapshots: the lake's one clock."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Select, bindparam, false, func, or_, select

from ..errors import HistoryExpired, LakeError, NotFound
from .catalog import Catalog
from .metadata import CatalogTables
from .model import Snapshot


@dataclass(frozen=True)
class SnapshotInfo:
    """A snapshot with what it did and who made it."""

    id: int
    time: datetime
    schema_version: int
    changes: str
    author: str | None
    message: str | None
    extra_info: str | None


def _columns(tables: CatalogTables) -> Select[Any]:
    s = tables["snapshot"].c
    return select(s.snapshot_id, s.snapshot_time, s.schema_version, s.next_catalog_id, s.next_file_id)


@lru_cache
def _newest(tables: CatalogTables) -> Select[Any]:
    """Built once: every refresh asks this several times."""
    return _columns(tables).order_by(tables["snapshot"].c.snapshot_id.desc()).limit(1)


@lru_cache
def _by_id(tables: CatalogTables) -> Select[Any]:
    return _columns(tables).where(tables["snapshot"].c.snapshot_id == bindparam("id"))


def head(catalog: Catalog, connection: Connection) -> Snapshot:
    """The newest snapshot."""
    row = connection.execute(_newest(catalog.tables)).first()
    if row is None:
        raise LakeError(f'lake "{catalog.label}" has no snapshot', hint="restore the catalog from a backup.")
    return Snapshot(*row)


def at(catalog: Catalog, connection: Connection, id: int) -> Snapshot:
    """The snapshot of that id; `HistoryExpired` if it is gone, `NotFound` if it never was."""
    row = connection.execute(_by_id(catalog.tables), {"id": id}).first()
    if row is not None:
        return Snapshot(*row)
    newest = head(catalog, connection)
    if 0 <= id < newest.id:
        raise HistoryExpired(
            f"snapshot {id} has expired", hint=f"the oldest snapshot kept is {oldest(catalog, connection)}."
        )
    raise NotFound(f"snapshot {id} does not exist", hint=f"the newest snapshot is {newest.id}.")


def oldest(catalog: Catalog, connection: Connection) -> int:
    return int(connection.execute(select(func.min(catalog.tables["snapshot"].c.snapshot_id))).scalar_one())


def at_time(catalog: Catalog, connection: Connection, time: datetime) -> Snapshot:
    """The newest snapshot that was committed at or before `time`."""
    s = catalog.tables["snapshot"].c
    rows = connection.execute(_columns(catalog.tables).order_by(s.snapshot_id.desc()))
    # Text times of SQLite catalogs have no fixed width, so they are compared here, not by the database.
    for row in rows:
        if row.snapshot_time <= time:
            return Snapshot(*row)
    raise NotFound(
        f"no snapshot is as old as {time.isoformat()}",
        hint=f"the oldest snapshot kept is {oldest(catalog, connection)}.",
    )


def listing(catalog: Catalog, connection: Connection, since: int = -1) -> list[SnapshotInfo]:
    """All snapshots after `since`, oldest first."""
    s, c = catalog.tables["snapshot"], catalog.tables["snapshot_changes"]
    rows = connection.execute(
        select(
            s.c.snapshot_id,
            s.c.snapshot_time,
            s.c.schema_version,
            func.coalesce(c.c.changes_made, ""),
            c.c.author,
            c.c.commit_message,
            c.c.commit_extra_info,
        )
        .select_from(s.outerjoin(c, c.c.snapshot_id == s.c.snapshot_id))
        .where(s.c.snapshot_id > since)
        .order_by(s.c.snapshot_id)
    )
    return [SnapshotInfo(*row) for row in rows]


_FEW_TABLES = 50
"""Tables whose commits the database is asked for by name."""


def made(
    catalog: Catalog, connection: Connection, start: int, end: int, among: Collection[int] | None = None
) -> list[tuple[int, str]]:
    """What the snapshots in (start, end] did, oldest first; with `among`, at least those that touched these tables."""
    wanted = tuple(sorted(among)) if among is not None and len(among) <= _FEW_TABLES else None
    rows = connection.execute(_made(catalog.tables, wanted), {"start": start, "end": end})
    return [(id, changes or "") for id, changes in rows]


@lru_cache
def _made(tables: CatalogTables, among: tuple[int, ...] | None) -> Select[Any]:
    c = tables["snapshot_changes"].c
    query = select(c.snapshot_id, c.changes_made).order_by(c.snapshot_id)
    query = query.where(c.snapshot_id > bindparam("start"), c.snapshot_id <= bindparam("end"))
    if among is None:
        return query
    return query.where(or_(false(), *(c.changes_made.contains(f":{id}") for id in among)))


ROWS_CHANGED = frozenset({"inserted_into_table", "deleted_from_table", "inlined_insert", "inlined_delete"})
"""How `changes_made` says that a table gained or lost rows."""
_TOKEN = re.compile(r'(\w+):((?:"(?:[^"]|"")*"|[^,"])+)')


def tokens(changes: str) -> list[tuple[str, str]]:
    """The entries of `changes_made` as (kind, what).

    >>> tokens('created_table:"s1"."we""ird, name",inserted_into_table:2')
    [('created_table', '"s1"."we""ird, name"'), ('inserted_into_table', '2')]
    """
    return [(m.group(1), m.group(2)) for m in _TOKEN.finditer(changes)]


def kinds(changes: str, table_id: int) -> set[str]:
    """What `changes_made` says of one table.

    >>> sorted(kinds("inserted_into_table:2,deleted_from_table:2,inlined_delete:21", 2))
    ['deleted_from_table', 'inserted_into_table']
    """
    return {kind for kind, what in tokens(changes) if what == str(table_id)}


def unquote(names: str) -> tuple[str, ...]:
    """The parts of a quoted, dotted name.

    >>> unquote('"s1"."we""ird, name"')
    ('s1', 'we"ird, name')
    """
    return tuple(next(csv.reader([names], delimiter=".", doublequote=True)))
