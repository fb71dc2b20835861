"""What there is to say about stream tables, as records."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from ..lake import snapshots
from ..records import Record, Records
from ..registry.models import Refresh, StreamTable
from ..sql.statement import Name
from . import circles
from .streams import Streams


@dataclass(frozen=True)
class StatusRecord(Record):
    name: str
    schema: str
    status: str
    refresh_mode: str
    effective_mode: str
    data_snapshot: int | None
    snapshot: int | None
    last_refresh_at: datetime | None
    lag_seconds: float | None
    last_action: str | None
    last_reason: str | None
    last_error: str | None


@dataclass(frozen=True)
class HistoryRecord(Record):
    name: str
    started_at: datetime
    finished_at: datetime
    action: str
    reason: str
    rows_inserted: int
    rows_deleted: int
    duration_ms: float
    data_snapshot: int | None
    snapshot: int | None
    initiated_by: str
    error: str | None


@dataclass(frozen=True)
class StreamTableRecord(Record):
    name: str
    schema: str
    query: str
    dialect: str
    refresh_mode: str
    status: str
    data_snapshot: int | None
    snapshot: int | None
    created_at: datetime | None


@dataclass(frozen=True)
class DependencyRecord(Record):
    name: str
    source: str
    columns: tuple[str, ...]


def effective_mode(table: StreamTable) -> str:
    """What the mode comes down to: AUTO of a query without a differential form is FULL."""
    if table.refresh_mode == "AUTO":
        return "FULL" if table.obstacle else "DIFFERENTIAL"
    return table.refresh_mode


def status(streams: Streams, name: Name | None = None) -> Records[StatusRecord]:
    """How every stream table stands, or one of them."""
    tables = streams.all() if name is None else [streams.find(name)]
    return Records(_status(streams, t) for t in tables)


def _status(streams: Streams, table: StreamTable) -> StatusRecord:
    with streams.lake.reading() as connection:
        last = next(iter(streams.registry.history(connection, table.id, 1)), None)
    return StatusRecord(
        table.name,
        table.schema,
        table.status if table.frontier is not None or table.status != "ACTIVE" else "UNPOPULATED",
        table.refresh_mode,
        effective_mode(table),
        table.frontier,
        table.snapshot,
        last.finished_at if last else None,
        lag_seconds(streams, table),
        last.action if last else None,
        last.reason if last else None,
        table.last_error or None,
    )


def lag_seconds(streams: Streams, table: StreamTable) -> float | None:
    """For how long the oldest change that it does not show yet has been waiting; 0 when it is fresh."""
    if table.frontier is None:
        return None
    oldest = _oldest_waiting(streams, table, table.frontier)
    return 0.0 if oldest is None else max(0.0, (datetime.now(UTC) - oldest).total_seconds())


def _oldest_waiting(streams: Streams, table: StreamTable, frontier: int) -> datetime | None:
    """When the first change after the frontier was committed, in the base tables below the stream table."""
    circle = circles.of(streams, table) or [table]
    base = {str(d.table_id) for t in circle for d in t.dependencies if not d.is_stream_table}
    with streams.lake.reading() as connection:
        since = snapshots.listing(streams.lake.catalog, connection, frontier)
    own = next((s.time for s in since if any(what in base for _, what in snapshots.tokens(s.changes))), None)
    waiting = [own, *(_oldest_waiting(streams, source, frontier) for source in streams.upstream(table))]
    return min((w for w in waiting if w is not None), default=None)


def history(streams: Streams, name: Name | None = None, limit: int = 20) -> Records[HistoryRecord]:
    """The newest refreshes first."""
    id = None if name is None else streams.find(name).id
    with streams.lake.reading() as connection:
        lines = streams.registry.history(connection, id, limit)
    return Records(_history(line) for line in lines)


def _history(line: Refresh) -> HistoryRecord:
    return HistoryRecord(
        line.name,
        line.started_at,
        line.finished_at,
        line.action,
        line.reason,
        line.rows_inserted,
        line.rows_deleted,
        line.duration_ms,
        line.data_snapshot,
        line.snapshot,
        line.initiated_by,
        line.error or None,
    )


def stream_tables(streams: Streams) -> Records[StreamTableRecord]:
    return Records(
        StreamTableRecord(
            t.name, t.schema, t.query, t.dialect, t.refresh_mode, t.status, t.frontier, t.snapshot, t.created_at
        )
        for t in streams.all()
    )


def dependencies(streams: Streams) -> Records[DependencyRecord]:
    return Records(DependencyRecord(t.label, d.name, d.columns) for t in streams.all() for d in t.dependencies)
