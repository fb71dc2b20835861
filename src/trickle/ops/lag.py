"""How far stream tables lag behind: one pass over what was committed, for one of them or for thousands."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection

from ..lake import snapshots
from ..registry.models import StreamTable
from ..registry.reading import base_tables
from .ledger import Ledger


def lags(
    ledger: Ledger, connection: Connection, tables: Sequence[StreamTable], known: Sequence[StreamTable]
) -> dict[int, float | None]:
    """By id, for how many seconds the oldest change that a table does not show has been waiting; 0 when it is fresh.

    `known` are all stream tables: a change in a table at the bottom waits for everyone above it.
    """
    filled = [t.frontier for t in tables if t.frontier is not None]
    changed = _changes(ledger, connection, min(filled)) if filled else {}
    ids = {d.name: d.table_id for t in known for d in t.dependencies}
    below = base_tables(known)
    now = datetime.now(UTC)
    return {t.id: _lag(t, [ids[name] for name in below[t.stored]], changed, now) for t in tables}


Changes = dict[str, tuple[list[int], list[datetime]]]
"""For each stored table, by its id, the snapshots that changed it and their times, oldest first."""


def _changes(ledger: Ledger, connection: Connection, since: int) -> Changes:
    found: Changes = defaultdict(lambda: ([], []))
    for snapshot in snapshots.listing(ledger.catalog, connection, since):
        for what in {what for _, what in snapshots.tokens(snapshot.changes)}:
            found[what][0].append(snapshot.id)
            found[what][1].append(snapshot.time)
    return found


def _lag(table: StreamTable, base: Sequence[int], changed: Changes, now: datetime) -> float | None:
    if table.frontier is None:
        return None
    waiting = []
    for id in base:
        numbers, times = changed.get(str(id), ([], []))
        first = bisect_right(numbers, table.frontier)
        waiting += times[first : first + 1]
    return max(0.0, (now - min(waiting)).total_seconds()) if waiting else 0.0
