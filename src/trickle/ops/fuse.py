"""Fuses: a change larger than usual stops a stream table until somebody says what shall become of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from ..errors import ConfigError
from ..records import Record, Records
from ..refresh.holds import fuse_ceiling
from ..registry.models import Refresh, StreamTable
from ..registry.scheduling import BLOWN, PASS, Fuse, Scheduling
from ..sql.statement import Name
from .streams import Streams

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


def fuse_status(streams: Streams, name: Name | None = None) -> Records[FuseRecord]:
    tables = streams.all() if name is None else [streams.find(name)]
    with streams.lake.reading() as connection:
        fuses = Scheduling(streams.registry).fuses(connection)
        histories = {t.id: streams.registry.history(connection, t.id, 50) for t in tables}
    return Records(_record(t, fuses.get(t.id), fuse_ceiling(t, histories[t.id])) for t in tables)


def _record(table: StreamTable, fuse: Fuse | None, ceiling: float | None) -> FuseRecord:
    mode = str(table.options.get("fuse") or "off")
    armed = "off" if mode == "off" else "armed"
    state = {BLOWN: "blown", PASS: "reset"}.get(fuse.state, armed) if fuse else armed
    return FuseRecord(
        table.label,
        mode,
        state,
        ceiling,
        fuse.blown_at if fuse else None,
        fuse.changed_rows if fuse and fuse.state == BLOWN else None,
    )


def reset_fuse(streams: Streams, name: Name, action: str = "apply") -> FuseRecord:
    """What a blown fuse held back is applied, computed anew, or skipped: then the table no longer equals its query."""
    if action not in ACTIONS:
        raise ConfigError(f"a fuse cannot be reset with {action!r}", hint=f"it must be one of {', '.join(ACTIONS)}.")
    table = streams.find(name)
    streams.migrate()
    scheduling, registry = Scheduling(streams.registry), streams.registry
    with streams.lake.catalog.writing() as connection:
        known = scheduling.fuses(connection).get(table.id)
        if known is None or known.state != BLOWN:
            raise ConfigError(f'the fuse of stream table "{table.label}" is not blown', hint="see fuse_status().")
        scheduling.put_fuse(connection, table.id, replace(known, state=PASS) if action == "apply" else None)
        if action == "reinitialize":
            registry.mark(connection, table, pending="fuse_reset")
        scheduling.signal(connection)
    if action == "skip_changes":
        _skip(streams, table)
    return fuse_status(streams, name)[0]


def _skip(streams: Streams, table: StreamTable) -> None:
    """The frontier moves past the changes that were held back."""
    head, now = streams.lake.head().id, datetime.now(UTC)
    with streams.lake.catalog.writing() as connection:
        streams.registry.require(connection, table)
        streams.registry.advance(connection, table, head, None, head)
        facts = (table.id, table.label, now, now, "SKIP", "changes_skipped", 0, 0, 0, 0.0, head, None, "user")
        streams.registry.record(connection, Refresh(*facts))
