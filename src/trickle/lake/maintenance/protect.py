"""Snapshots that must not expire: pinned by an owner until released."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Column, Connection, MetaData, String, Table, delete, insert, select

from .. import snapshots
from ..catalog import Catalog
from ..files import has_table

if TYPE_CHECKING:
    from ..lake import Lake

NAME = "trickle_protected_snapshot"


def _table(catalog: Catalog) -> Table:
    return Table(
        NAME,
        MetaData(schema=catalog.schema),
        Column("snapshot_id", BigInteger, primary_key=True, autoincrement=False),
        Column("owner", String, primary_key=True),
    )


def protect(lake: Lake, snapshot: int, owner: str) -> None:
    """Keep a snapshot until its owner releases it; pinning twice is pinning once."""
    table = _table(lake.catalog)
    with lake.catalog.writing() as connection:
        snapshots.at(lake.catalog, connection, snapshot)
        table.create(connection, checkfirst=True)
        _forget(connection, table, snapshot, owner)
        connection.execute(insert(table).values(snapshot_id=snapshot, owner=owner))


def release(lake: Lake, snapshot: int, owner: str) -> None:
    with lake.catalog.writing() as connection:
        if has_table(lake.catalog, connection, NAME):
            _forget(connection, _table(lake.catalog), snapshot, owner)


def _forget(connection: Connection, table: Table, snapshot: int, owner: str) -> None:
    connection.execute(delete(table).where(table.c.snapshot_id == snapshot, table.c.owner == owner))


def protected(catalog: Catalog, connection: Connection) -> set[int]:
    """Every pinned snapshot."""
    if not has_table(catalog, connection, NAME):
        return set()
    return set(connection.execute(select(_table(catalog).c.snapshot_id)).scalars())
