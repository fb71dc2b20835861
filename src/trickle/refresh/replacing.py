"""Files of which a refresh takes most rows: the few that stay are written anew, where to name the others costs more.

A large file for itself; small ones of which much is gone with the rows that come, in one file, as long as no more rows
are written anew than the refresh moves anyway: each would have a delete file of its own to be read, and written again,
by every refresh to come. Not where stream tables read the table: to them, and to their fuses, rows that were written
anew would count as changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

import pyarrow as pa

from ..execute.transaction import Transaction
from ..lake.draft import TableDraft
from ..lake.maintenance.moving import Moving
from ..lake.maintenance.worth import BY_DRIVER_MS, DELETED_MS, MB_MS
from ..lake.model import DataFile, Table
from .sources import STORED_SCHEMA

READINGS = 10
"""How often a delete file is read, and written again with what goes later, before maintenance would come."""
SMALL_FILE = 20_000
"""Rows of a file that costs more to open than to write."""
WORN = 0.25
"""The share of its rows that is gone of a small file that is written anew."""
NEVER = 1.0
"""The share that no file can lose more than."""
Worn = tuple[DataFile, int]
"""A file, and how many of its rows the refresh takes."""


def pays(file: DataFile, gone: int, least_share: float) -> bool:
    """Whether to write the rows that stay costs less than a delete file that names the others."""
    away = file.deleted + gone
    rest = file.records - away
    if rest <= 0 or away < least_share * file.records:
        return False
    naming = DELETED_MS * away * READINGS
    return BY_DRIVER_MS + MB_MS * file.bytes * rest / file.records / 2**20 < naming


def together(worn: Iterable[Worn], moved: int) -> Iterator[DataFile]:
    """The small files that are written anew as one: those with the fewest rows left, `moved` rows at most in all."""
    small = [(file.live - gone, file) for file, gone in worn if file.records <= SMALL_FILE]
    for rest, file in sorted(small, key=lambda part: part[0]):
        if 0 < rest <= min(moved, (1 - WORN) * file.records):
            moved -= rest
            yield file


def arrive(transaction: Transaction, stored: Table, rows: pa.Table | None = None) -> None:
    """Write the rows that come, after those that go were removed, and with them what stays of small worn files."""
    part = transaction.draft.of(stored)
    files = _small(transaction, part, coming=rows.num_rows if rows is not None else 0)
    rest = _taken(transaction, part, files) if files and transaction.may_rewrite(stored) else None
    found = [r for r in (rows, rest) if r is not None]
    if found:
        schema = found[0].schema
        rows = pa.concat_tables([r.select(schema.names).cast(schema) for r in found])
        transaction.draft.add_files(stored, transaction.lake.writer(stored).write_arrow(rows))


def replace_worn(transaction: Transaction, intermediates: Set[int]) -> None:
    """In the stored tables that a refresh changes, large files that are as good as gone end with it.

    Small ones of intermediates, too: not sooner, as what reads them follows their changes.
    """
    least = _least_share(transaction)
    for part in list(transaction.draft.tables.values()):
        if part.table.schema != STORED_SCHEMA or part.before is None or part.dropped or least >= NEVER:
            continue
        small = _small(transaction, part) if part.table.id in intermediates else []
        alone = [[file] for file, gone in _worn(part) if file not in small and pays(file, gone, least)]
        for files in filter(None, (small, *alone)):
            _replace(transaction, part, files)


def _small(transaction: Transaction, part: TableDraft, coming: int = 0) -> list[DataFile]:
    """The small files that are worn; `coming`: rows to be written yet."""
    worn = _worn(part) if _least_share(transaction) < NEVER else []
    moved = coming + sum(f.records for f in part.added.values()) + sum(gone for _, gone in worn)
    return list(together(worn, moved))


def _worn(part: TableDraft) -> list[Worn]:
    """Files that go on with fewer rows."""
    seen = ((part.seen.get(id), len(gone)) for id, gone in part.removed.items() if id not in part.ended)
    return [(file, gone) for file, gone in seen if file is not None]


def _taken(transaction: Transaction, part: TableDraft, files: Sequence[DataFile]) -> pa.Table | None:
    """What stays of files, which end; None if the driver should not hold it."""
    rest = _moving(transaction, part, files).few()
    if rest is not None:
        _end(part, files)
    return rest


def _replace(transaction: Transaction, part: TableDraft, files: Sequence[DataFile]) -> None:
    rest = _moving(transaction, part, files).by_driver()
    if rest is not None:
        _end(part, files)
        transaction.draft.add_files(part.table, rest)


def _moving(transaction: Transaction, part: TableDraft, files: Sequence[DataFile]) -> Moving:
    staged = {file.id: part.removed[file.id] for file in files}
    return Moving(transaction.lake, part.table, tuple(files), transaction.base, staged=staged)


def _end(part: TableDraft, files: Iterable[DataFile]) -> None:
    for file in files:
        part.end(file)


def _least_share(transaction: Transaction) -> float:
    return float(transaction.lake.settings["refresh.replace_share"])
