"""Files of which a refresh takes most rows: the few that stay are written anew, where to name the others costs more."""

from __future__ import annotations

import numpy as np

from ..execute.transaction import Transaction
from ..lake.draft import TableDraft
from ..lake.maintenance.moving import Moving
from ..lake.maintenance.worth import BY_DRIVER_MS, DELETED_MS, MB_MS
from ..lake.model import DataFile
from .sources import STORED_SCHEMA

READINGS = 10
"""How often a delete file is read, and written again with what goes later, before maintenance would come."""


def pays(file: DataFile, gone: int, least_share: float) -> bool:
    """Whether to write the rows that stay costs less than a delete file that names the others."""
    away = file.deleted + gone
    rest = file.records - away
    if rest <= 0 or away < least_share * file.records:
        return False
    naming = DELETED_MS * away * READINGS
    return BY_DRIVER_MS + MB_MS * file.bytes * rest / file.records / 2**20 < naming


def replace_worn(transaction: Transaction) -> None:
    """In the stored tables that a refresh changes, files that are as good as gone end with it."""
    for part in list(transaction.draft.tables.values()):
        if part.table.schema == STORED_SCHEMA and part.before is not None and not part.dropped:
            _replace_worn(transaction, part)


def _replace_worn(transaction: Transaction, part: TableDraft) -> None:
    least = float(transaction.lake.settings["refresh.replace_share"])
    for id, gone in list(part.removed.items()):
        file = part.seen.get(id)
        if file is None or id in part.ended or not pays(file, len(gone), least):
            continue
        rest = Moving(transaction.lake, part.table, (file,), transaction.base, staged=np.asarray(gone)).by_driver()
        if rest is not None:
            part.end(file)
            transaction.draft.add_files(part.table, rest)
