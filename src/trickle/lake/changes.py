"""The change feed of a table: what a range of snapshots added and took away, net."""

from __future__ import annotations

from collections import defaultdict

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from sqlalchemy import Connection, select

from . import inlined, pieces, snapshots
from .catalog import Catalog
from .files import delete_files_by, files_changed, inlined_deletes
from .inlined import InlinedRows
from .model import WEIGHT, Table
from .pieces import Piece
from .placing import Placing

REWRITE = "rewrite_delete"
_DATA = frozenset({"inserted_into_table", "deleted_from_table", "inlined_insert", "inlined_delete"})


def change_pieces(
    catalog: Catalog, connection: Connection, placing: Placing, table: Table, start: int, end: int
) -> tuple[list[Piece], list[InlinedRows]]:
    """The physical rows gained and lost in (start, end]."""
    files = files_changed(catalog, connection, table, start, end)
    written = delete_files_by(catalog, connection, table, files, end)
    deletes = placing.deletes(connection, table, written, start)
    in_catalog: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for file_id, position, snapshot in inlined_deletes(catalog, connection, table, end):
        in_catalog[file_id].append((position, snapshot))
    moved = rewrites(catalog, connection, table, start, end)
    found = pieces.change(files, deletes, in_catalog, start, end, moved)
    return found, inlined.change(catalog, connection, table, start, end)


def rewrites(catalog: Catalog, connection: Connection, table: Table, start: int, end: int) -> frozenset[int]:
    """Snapshots in the range that rewrote the table's files and changed no row of it."""
    c = catalog.tables["snapshot_changes"].c
    rows = connection.execute(
        select(c.snapshot_id, c.changes_made).where(
            c.snapshot_id > start, c.snapshot_id <= end, c.changes_made.contains(REWRITE)
        )
    )
    said = ((id, snapshots.kinds(made, table.id)) for id, made in rows)
    return frozenset(id for id, kinds in said if REWRITE in kinds and not kinds & _DATA)


def consolidate(rows: DataFrame) -> DataFrame:
    """Equal rows summed up, those that cancel left out."""
    names = [n for n in rows.columns if n != WEIGHT]
    keys = [F.col("`" + n.replace("`", "``") + "`") for n in names]
    return rows.groupBy(*keys).agg(F.sum(WEIGHT).alias(WEIGHT)).where(F.col(WEIGHT) != 0)
