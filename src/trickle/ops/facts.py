"""What there is to say about stream tables, as records."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ..records import Record, Records
from ..registry.models import Refresh, StreamTable
from ..sql.names import Name
from .lag import lags
from .ledger import Ledger


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
    learning_ms: float = 0.0
    """Of the duration: spent once, on queries and statements that were new to Spark."""


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


def status(ledger: Ledger, name: Name | None = None) -> Records[StatusRecord]:
    """How every stream table stands, or one of them."""
    wanted = None if name is None else ledger.find(name)
    with ledger.reading() as connection:
        tables = ledger.registry.all(connection) if wanted is None else [wanted]
        known = tables if wanted is None else [wanted, *ledger.registry.below(connection, wanted)]
        last = ledger.registry.last_lines(connection, None if wanted is None else wanted.id)
        lag = lags(ledger, connection, tables, known)
    return Records(_status(t, last.get(t.id), lag[t.id]) for t in tables)


def _status(table: StreamTable, last: Refresh | None, lag: float | None) -> StatusRecord:
    return StatusRecord(
        table.name,
        table.schema,
        table.status if table.frontier is not None or table.status != "ACTIVE" else "UNPOPULATED",
        table.refresh_mode,
        effective_mode(table),
        table.frontier,
        table.snapshot,
        last.finished_at if last else None,
        lag,
        last.action if last else None,
        last.reason if last else None,
        table.last_error or None,
    )


def history(ledger: Ledger, name: Name | None = None, limit: int = 20) -> Records[HistoryRecord]:
    """The newest refreshes first."""
    id = None if name is None else ledger.find(name).id
    with ledger.reading() as connection:
        lines = ledger.registry.history(connection, id, limit)
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
        line.learning_ms,
    )


def stream_tables(ledger: Ledger) -> Records[StreamTableRecord]:
    return Records(
        StreamTableRecord(
            t.name, t.schema, t.query, t.dialect, t.refresh_mode, t.status, t.frontier, t.snapshot, t.created_at
        )
        for t in ledger.all()
    )


def dependencies(ledger: Ledger) -> Records[DependencyRecord]:
    return Records(DependencyRecord(t.label, d.name, d.columns) for t in ledger.all() for d in t.dependencies)
