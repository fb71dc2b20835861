"""Tables that a transaction has changed, as later parts of it read them: before, after, and what it did to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from pyspark.sql import DataFrame

from ..execute.transaction import Transaction
from ..lake import inlined, pieces
from ..lake.changes import change_pieces
from ..lake.draft import TableDraft
from ..lake.files import live_files
from ..lake.lake import Held
from ..lake.model import Bound, DataFile, Snapshot, Table
from ..lake.pieces import Piece
from ..plan import Version
from .lookups import Read, sought
from .windows import Columns, Maker, narrowed


@dataclass(frozen=True)
class Staged:
    """A table within a transaction; its changes are counted from `start` on."""

    transaction: Transaction
    table: Table
    start: Snapshot

    def makers(self, name: str) -> dict[Read, Maker]:
        """How each version of it is read by plans that call it `name`."""
        return {
            (name, Version.BEFORE): self.before,
            (name, Version.AFTER): self.after,
            (name, Version.CHANGES): self.changes,
        }

    def before(self, columns: Columns, bounds: Sequence[Bound]) -> DataFrame:
        table = narrowed(self.table, columns)
        return sought(*self.transaction.lake.state(table, self.start, bounds, here=True)[:2], bounds)

    def after(self, columns: Columns, bounds: Sequence[Bound]) -> DataFrame:
        return self.transaction.rows(self.table, bounds, here=True)

    def changes(self, columns: Columns, bounds: Sequence[Bound]) -> DataFrame | Held:
        """What was committed since the start, and what this transaction does on top."""
        table = narrowed(self.table, columns)
        lake, base = self.transaction.lake, self.transaction.base.id
        part = self.transaction.part(table)
        with lake.reading() as connection:
            found, rows = change_pieces(lake.catalog, connection, table, self.start.id, base)
            own: list[Piece] = []
            if part is not None:
                own = staged_pieces(part, live_files(lake.catalog, connection, table, base), base)
                rows = [*rows, *_ended(inlined.state(lake.catalog, connection, table, base), part)]
            request = lake.request(connection, table, [*found, *own], rows)
        return lake.weighted(request)


def staged_pieces(part: TableDraft, live: list[DataFile], base: int) -> list[Piece]:
    """What a transaction adds (+) and takes away (−), as pieces."""
    added = [
        Piece(f, staged=part.removed.get(id, np.empty(0, np.int64)))
        for id, f in part.added.items()
        if len(part.removed.get(id, ())) < f.records
    ]
    taken = []
    for file in live:
        whole = pieces.state_piece(file, base)
        if file.id in part.ended:
            taken.append(replace(whole, weight=-1))
        elif file.id in part.removed:
            taken.append(Piece(file, life=whole.life, staged=part.removed[file.id], only_deleted=True, weight=-1))
    return [*added, *taken]


def _ended(kept: list[inlined.InlinedRows], part: TableDraft) -> list[inlined.InlinedRows]:
    found = []
    for rows in kept:
        gone = part.inlined_removed.get(rows.store, set())
        chosen = [n for n, id in enumerate(rows.row_ids) if id in gone]
        if chosen:
            ids = tuple(rows.row_ids[n] for n in chosen)
            found.append(replace(rows, row_ids=ids, data=rows.data.take(chosen), weight=-1))
    return found
