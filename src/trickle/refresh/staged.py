"""What a transaction has done to a table so far, as a change that can be read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..execute.transaction import Transaction
from ..lake import inlined, pieces
from ..lake.draft import TableDraft
from ..lake.held import Rows
from ..lake.model import DataFile, Table
from ..lake.pieces import Piece


def touched(transaction: Transaction) -> set[int]:
    """The tables whose rows the transaction changes."""
    return {id for id, part in transaction.draft.tables.items() if part.inserts or part.deletes or part.inlined_removed}


def changed_rows(transaction: Transaction, table: Table) -> tuple[int, int]:
    """At most so many rows of the table came in the transaction, and so many went."""
    part = transaction.part(table)
    if part is None:
        return 0, 0
    gone = sum(len(positions) for positions in part.removed.values())
    gone += sum(part.seen[id].records for id in part.ended) + sum(map(len, part.inlined_removed.values()))
    return sum(f.records for f in part.added.values()), gone


def changes(transaction: Transaction, table: Table, start: int) -> Rows:
    """What was committed to a table since a snapshot, and what the transaction does on top."""
    lake, base = transaction.lake, transaction.base.id
    part = transaction.part(table)
    with lake.reading() as connection:
        found, rows = lake.change_pieces(connection, table, start, base)
        own: list[Piece] = []
        if part is not None:
            own = _pieces(part, lake.live_files(connection, table, base), base)
            kept = inlined.state(lake.catalog, connection, table, base)
            rows = [*rows, *_ended(kept, part)]
        request = lake.request(connection, table, [*found, *own], rows)
    return lake.weighted(request)


def _pieces(part: TableDraft, live: list[DataFile], base: int) -> list[Piece]:
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
