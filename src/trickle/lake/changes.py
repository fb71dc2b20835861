"""The change feed of a table: what a range of snapshots added and took away, net."""

from __future__ import annotations

from collections import defaultdict

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from sqlalchemy import Connection, select

from . import pieces, snapshots
from .catalog import Catalog
from .files import delete_files_by, files_changed, inlined_deletes
from .kept import Kept
from .model import WEIGHT, Table
from .pieces import Piece
from .placing import Placing

REWRITE = "rewrite_delete"
_MOST_BYTES, _PIECE_BYTES = 16 << 20, 2048
"""What the pieces of changes may take, and about what one takes."""


class ChangedPieces:
    """Which physical rows ranges of snapshots gained and lost; a refresh asks when it looks, and when it reads."""

    def __init__(self, catalog: Catalog, placing: Placing) -> None:
        self.catalog, self.placing = catalog, placing
        self._known: tuple[int, Kept[list[Piece]]] = -1, Kept(_MOST_BYTES)

    def get(self, connection: Connection, table: Table, start: int, end: int) -> list[Piece]:
        """Found again until the next commit, which may write the files of older ones anew."""
        key = table.id, start, end
        kept = self._kept_at(snapshots.head(self.catalog, connection).id)
        found = kept.get(key)
        if found is None:
            found = change_pieces(self.catalog, connection, self.placing, table, start, end)
            kept.put(key, found, _PIECE_BYTES * (1 + len(found)))
        return found

    def _kept_at(self, newest: int) -> Kept[list[Piece]]:
        known_at, kept = self._known
        if known_at != newest:
            kept = Kept(_MOST_BYTES)
            self._known = newest, kept
        return kept


def change_pieces(
    catalog: Catalog, connection: Connection, placing: Placing, table: Table, start: int, end: int
) -> list[Piece]:
    """The physical rows gained and lost in (start, end], but those that the catalog holds itself."""
    files = files_changed(catalog, connection, table, start, end)
    written = delete_files_by(catalog, connection, table, files, end)
    deletes = placing.deletes(connection, table, written, start)
    in_catalog: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for file_id, position, snapshot in inlined_deletes(catalog, connection, table, end):
        in_catalog[file_id].append((position, snapshot))
    moved = rewrites(catalog, connection, table, start, end)
    return pieces.change(files, deletes, in_catalog, start, end, moved)


def rewrites(catalog: Catalog, connection: Connection, table: Table, start: int, end: int) -> frozenset[int]:
    """Snapshots in the range that rewrote the table's files and changed no row of it."""
    c = catalog.tables["snapshot_changes"].c
    rows = connection.execute(
        select(c.snapshot_id, c.changes_made).where(
            c.snapshot_id > start, c.snapshot_id <= end, c.changes_made.contains(REWRITE)
        )
    )
    said = ((id, snapshots.kinds(made, table.id)) for id, made in rows)
    return frozenset(id for id, kinds in said if REWRITE in kinds and not kinds & snapshots.ROWS_CHANGED)


def consolidate(rows: DataFrame) -> DataFrame:
    """Equal rows summed up, those that cancel left out."""
    names = [n for n in rows.columns if n != WEIGHT]
    keys = [F.col("`" + n.replace("`", "``") + "`") for n in names]
    return rows.groupBy(*keys).agg(F.sum(WEIGHT).alias(WEIGHT)).where(F.col(WEIGHT) != 0)
