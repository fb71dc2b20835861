"""Fuses: a change larger than usual stops a stream table until somebody says what shall become of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sqlalchemy import Connection

from ..errors import ConfigError
from ..lake import snapshots
from ..records import Record, Records
from ..refresh.holds import fuse_ceiling
from ..registry.models import Refresh, StreamTable
from ..registry.scheduling import BLOWN, PASS, Fuse, Scheduling
from ..sql.names import Name
from .ledger import Ledger

ACTIONS = ("apply", "reinitialize", "skip_changes")


@dataclass(frozen=True)
class FuseRecord(Record):
    name: str
    fuse: str
    state: str
    """off, armed, blown, or reset: the next refresh goes through."""
    ceiling: float | None
    """The most changed rows that it lets through now; none while there is too little history to learn from."""
    blown_at: datetime | None
    changed_rows: int | None
    """Of the change that blew it."""


def fuse_status(ledger: Ledger, name: Name | None = None) -> Records[FuseRecord]:
    tables = ledger.all() if name is None else [ledger.find(name)]
    with ledger.reading() as connection:
        fuses = Scheduling(ledger.registry).fuses(connection)
        learn = [t for t in tables if t.options.get("fuse")]
        histories = {t.id: ledger.registry.history(connection, t.id, 50) for t in learn}
    return Records(_record(t, fuses.get(t.id), fuse_ceiling(t, histories.get(t.id, ()))) for t in tables)


def _record(table: StreamTable, fuse: Fuse | None, ceiling: float | None) -> FuseRecord:
    return FuseRecord(
        table.label,
        _mode(table),
        fuse_state(table, fuse),
        ceiling,
        fuse.blown_at if fuse else None,
        fuse.changed_rows if fuse and fuse.state == BLOWN else None,
    )


def _mode(table: StreamTable) -> str:
    return str(table.options.get("fuse") or "off")


def fuse_state(table: StreamTable, fuse: Fuse | None) -> str:
    """off, armed, blown or reset."""
    armed = "off" if _mode(table) == "off" else "armed"
    return {BLOWN: "blown", PASS: "reset"}.get(fuse.state, armed) if fuse else armed


def reset_fuse(ledger: Ledger, name: Name, action: str = "apply") -> FuseRecord:
    """What a blown fuse held back is applied, computed anew, or skipped: then the table no longer equals its query."""
    if action not in ACTIONS:
        raise ConfigError(f"a fuse cannot be reset with {action!r}", hint=f"it must be one of {', '.join(ACTIONS)}.")
    ledger.migrate()
    scheduling, registry = Scheduling(ledger.registry), ledger.registry
    with ledger.catalog.writing() as connection:
        table = ledger.found(connection, name)
        known = scheduling.fuses(connection).get(table.id)
        if known is None or known.state != BLOWN:
            raise ConfigError(f'the fuse of stream table "{table.label}" is not blown', hint="see fuse_status().")
        scheduling.put_fuse(connection, table.id, replace(known, state=PASS) if action == "apply" else None)
        if action == "reinitialize":
            registry.mark(connection, table, pending="fuse_reset")
        if action == "skip_changes" and not table.pending:
            _skip(ledger, connection, table)
        scheduling.signal(connection)
    return fuse_status(ledger, name)[0]


def _skip(ledger: Ledger, connection: Connection, table: StreamTable) -> None:
    """The frontier moves past the changes that were held back, in the transaction that mends the fuse: a scheduler
    that looks in between would apply them. A table that starts anew has nothing to skip."""
    head, now = snapshots.head(ledger.catalog, connection).id, datetime.now(UTC)
    ledger.registry.advance(connection, table, head, None, head)
    facts = (table.id, table.label, now, now, "SKIP", "changes_skipped", 0, 0, 0, 0.0, head, None, "user")
    ledger.registry.record(connection, Refresh(*facts))
