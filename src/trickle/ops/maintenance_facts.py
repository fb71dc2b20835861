"""What maintenance did by itself, as records; told without Spark."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ..records import Record, Records
from ..registry.maintenance import MaintenanceHistory
from ..registry.models import Maintenance
from ..sql.names import Name
from .ledger import MAIN, Ledger


@dataclass(frozen=True)
class MaintenanceRecord(Record):
    table: str
    started_at: datetime
    finished_at: datetime
    action: str
    reason: str
    files_before: int
    files_after: int
    duration_ms: float
    snapshot: int | None
    initiated_by: str


def maintenance_history(ledger: Ledger, name: Name | None = None, limit: int = 20) -> Records[MaintenanceRecord]:
    """The newest first: of all tables, of a source, or of the table that a stream table is stored in."""
    wanted = None if name is None else _stored(ledger, name)
    with ledger.reading() as connection:
        lines = MaintenanceHistory(ledger.registry).lines(connection, name=wanted, limit=limit)
    return Records(_record(line) for line in lines)


def _stored(ledger: Ledger, name: Name) -> str:
    if ledger.exists(name):
        return ledger.find(name).stored
    return f"{name.schema or MAIN}.{name.name}"


def _record(line: Maintenance) -> MaintenanceRecord:
    return MaintenanceRecord(
        line.name,
        line.started_at,
        line.finished_at,
        line.action,
        line.reason,
        line.files_before,
        line.files_after,
        line.duration_ms,
        line.snapshot,
        line.initiated_by,
    )
