"""Files of which a refresh takes most rows: the few that stay are written anew, where to name the others costs more.

A large file for itself; small ones of which much is gone together, as long as no more rows are written anew than the
refresh moves anyway: each would have a delete file of its own to be read, and written again, by every refresh to come.
Not where stream tables read the table: to them, and to their fuses, rows that were written anew would count as changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

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


def replace_worn(transaction: Transaction, is_read: Callable[[Table], bool]) -> None:
    """In the stored tables that a refresh changes, files that are as good as gone end with it."""
    least = float(transaction.lake.settings["refresh.replace_share"])
    for part in list(transaction.draft.tables.values()):
        is_stored = part.table.schema == STORED_SCHEMA and part.before is not None and not part.dropped
        if is_stored and least < NEVER:
            _replace_worn(transaction, part, least, is_read)


def _replace_worn(transaction: Transaction, part: TableDraft, least: float, is_read: Callable[[Table], bool]) -> None:
    seen = ((part.seen.get(id), len(gone)) for id, gone in part.removed.items() if id not in part.ended)
    worn = [(file, gone) for file, gone in seen if file is not None]
    moved = sum(gone for _, gone in worn) + sum(f.records for f in part.added.values())
    small = list(together(worn, moved))
    small = [] if small and is_read(part.table) else small
    alone = [[file] for file, gone in worn if file not in small and pays(file, gone, least)]
    for files in (small, *alone):
        if files:
            _replace(transaction, part, files)


def _replace(transaction: Transaction, part: TableDraft, files: Sequence[DataFile]) -> None:
    staged = {file.id: part.removed[file.id] for file in files}
    rest = Moving(transaction.lake, part.table, tuple(files), transaction.base, staged=staged).by_driver()
    if rest is not None:
        for file in files:
            part.end(file)
        transaction.draft.add_files(part.table, rest)
