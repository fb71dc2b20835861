"""How long commits took to show in the stream tables above them, and how long they may take."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import trickle
from trickle.lake import snapshots
from trickle.registry.models import Refresh, StreamTable
from trickle.registry.reading import base_tables
from trickle.scheduler.layout import Layout
from trickle.schedules import Every


def promises(db: trickle.Session) -> dict[str, float]:
    """How far each stream table may lag: its interval, and that of what it reads before; on change: at once."""
    streams = db._streams
    groups = [group.members for group in db.refresh_groups()]
    layout = Layout.of(streams.all(), groups, Every(1.0))
    allowed: list[float] = []
    for unit in layout.units:
        clocks = [clock for member in unit.members for clock in member.clocks]
        own = min(clock.seconds if isinstance(clock, Every) else 0.0 for clock in clocks)
        allowed.append(own + max((allowed[source] for source in unit.sources), default=0.0))
    places = {member.id: place for place, unit in enumerate(layout.units) for member in unit.members}
    return {t.label: allowed[places[t.id]] for t in streams.all()}


def lags(db: trickle.Session, since: int) -> dict[str, list[float]]:
    """For each stream table, and each commit after `since` to a table below it, the seconds until it showed the commit.

    Until it was refreshed to it or beyond, or what it reads was, and had not changed by it.
    """
    streams = db._streams
    with db.lake.reading() as connection:
        log = snapshots.listing(db.lake.catalog, connection, since)
        lines = streams.registry.history(connection, limit=1_000_000)
    tables = streams.all()
    ids = {d.name: str(d.table_id) for t in tables for d in t.dependencies}
    found: dict[str, list[float]] = {}
    shown = _shown(tables, lines)
    for table in tables:
        below = {ids[name] for name in base_tables(tables)[table.stored]}
        changed = [s for s in log if any(what in below for _, what in snapshots.tokens(s.changes))]
        done = sorted((at, data) for at, data in shown[table.stored])
        waits = ((s.time, next((at for at, data in done if data >= s.id), None)) for s in changed)
        found[table.label] = sorted((at - time).total_seconds() for time, at in waits if at is not None)
    return found


Shown = list[tuple[datetime, int]]
"""When a stream table came to be exact for a data snapshot."""


def _shown(tables: Sequence[StreamTable], lines: Sequence[Refresh]) -> dict[str, Shown]:
    """Of each stream table, by its stored name."""
    ran: dict[int, list[Refresh]] = {t.id: [] for t in tables}
    for line in sorted(lines, key=lambda line: line.finished_at):
        if line.data_snapshot is not None and line.action != "SKIP":
            ran[line.stream_table_id].append(line)
    named, shown = {t.stored: t for t in tables}, dict[str, Shown]()

    def of(table: StreamTable) -> Shown:
        if table.stored not in shown:
            own = [(line.finished_at, line.data_snapshot or 0) for line in ran[table.id]]
            shown[table.stored] = own + (
                rested(table, own) if all(d.is_stream_table for d in table.dependencies) else []
            )
        return shown[table.stored]

    def rested(table: StreamTable, own: Shown) -> Shown:
        """A table of stream tables alone follows them without a refresh while none of them changes."""
        sources = [named[d.name] for d in table.dependencies]
        changes = [
            (line.finished_at, line.data_snapshot or 0)
            for source in sources
            for line in ran[source.id]
            if line.rows_inserted or line.rows_deleted
        ]
        found = []
        for time in sorted({at for source in sources for at, _ in of(source)}):
            if _upto(changes, time) <= _upto(own, time):
                found.append((time, min(_upto(of(source), time) for source in sources)))
        return found

    for table in tables:
        of(table)
    return shown


def _upto(shown: Shown, time: datetime) -> int:
    """The newest data snapshot by then; before the first if there is none."""
    return max((data for at, data in shown if at <= time), default=-1)
