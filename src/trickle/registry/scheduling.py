"""Reading and writing what schedulers share: leases, signals, gates, watermarks, groups, fuses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, exists, func, insert, or_, select, update

from .models import StreamTable
from .store import Registry
from .tables import RegistryTables, aware

SIGNAL = "scheduler"
BLOWN, PASS = "blown", "pass"
"""A fuse that stops its table; one that lets the next refresh through."""


@dataclass(frozen=True)
class Gate:
    source: str
    gated: bool
    gated_at: datetime
    ungated_at: datetime | None
    gated_by: str


@dataclass(frozen=True)
class Watermark:
    source: str
    watermark: datetime
    advanced_at: datetime
    advanced_by: str


@dataclass(frozen=True)
class WatermarkGroup:
    name: str
    sources: tuple[str, ...]
    tolerance: float
    """Seconds that the watermarks of its sources may lie apart."""
    created_at: datetime


@dataclass(frozen=True)
class RefreshGroup:
    name: str
    members: tuple[str, ...]
    created_at: datetime


@dataclass(frozen=True)
class Fuse:
    stream_table_id: int
    state: str
    blown_at: datetime | None
    changed_rows: int
    ceiling: float | None


@dataclass(frozen=True)
class Scheduling:
    """On a connection of the catalog; readers answer nothing where the registry has no such tables yet."""

    registry: Registry

    # Waking schedulers.

    def signal(self, connection: Connection) -> None:
        """Tell every scheduler to look again."""
        t = self.registry.tables["signal"]
        done = connection.execute(update(t).where(t.c.name == SIGNAL).values(number=t.c.number + 1))
        if not done.rowcount:
            connection.execute(insert(t).values(name=SIGNAL, number=1))

    def signals(self, connection: Connection) -> int:
        t = self.registry.tables["signal"].c
        return int(connection.execute(select(t.number).where(t.name == SIGNAL)).scalar() or 0)

    def control(self, connection: Connection, name: str) -> str | None:
        if not self.registry.is_current(connection):
            return None
        t = self.registry.tables["control"].c
        return connection.execute(select(t.value).where(t.name == name)).scalar()

    def set_control(self, connection: Connection, name: str, value: str | None) -> None:
        self._put(connection, "control", {"name": name}, None if value is None else {"value": value})

    # Leases.

    def lease(self, connection: Connection, ids: Sequence[int], owner: str, now: datetime, seconds: float) -> bool:
        """Take all of them, or none: those that nobody holds, whose time is over, or whose owner is gone."""
        t = self.registry.tables["lease"]
        held = connection.execute(
            select(func.count()).where(t.c.stream_table_id.in_(ids), t.c.owner != owner, t.c.until > now)
        ).scalar_one()
        if held:
            return False
        connection.execute(delete(t).where(t.c.stream_table_id.in_(ids)))
        until = now + timedelta(seconds=seconds)
        connection.execute(insert(t), [{"stream_table_id": id, "owner": owner, "until": until} for id in ids])
        return True

    def renew(self, connection: Connection, owner: str, now: datetime, seconds: float) -> bool:
        """Keep what it holds; whether it is still known to be at work."""
        t, s = self.registry.tables["lease"], self.registry.tables["scheduler"]
        connection.execute(update(t).where(t.c.owner == owner).values(until=now + timedelta(seconds=seconds)))
        return bool(connection.execute(update(s).where(s.c.owner == owner).values(seen_at=now)).rowcount)

    def release(self, connection: Connection, ids: Iterable[int] | None, owner: str) -> None:
        """Give back these, or everything (None)."""
        t = self.registry.tables["lease"]
        chosen = t.c.owner == owner if ids is None else (t.c.owner == owner) & t.c.stream_table_id.in_(list(ids))
        connection.execute(delete(t).where(chosen))

    def leases(self, connection: Connection, now: datetime) -> dict[int, tuple[str, datetime]]:
        """Who holds what, and until when."""
        t = self.registry.tables["lease"].c
        rows = connection.execute(select(t.stream_table_id, t.owner, t.until).where(t.until > now))
        return {id: (owner, aware(until)) for id, owner, until in rows}

    def arrive(self, connection: Connection, owner: str, host: str, process: int, now: datetime) -> None:
        values = {"host": host, "process": process, "started_at": now, "seen_at": now}
        self._put(connection, "scheduler", {"owner": owner}, values)

    def leave(self, connection: Connection, owner: str) -> None:
        self.release(connection, None, owner)
        self._put(connection, "scheduler", {"owner": owner}, None)

    def schedulers(self, connection: Connection) -> list[Row[Any]]:
        if not self.registry.is_current(connection):
            return []
        return list(connection.execute(select(self.registry.tables["scheduler"])))

    # Gates and watermarks.

    def holds_anything(self, connection: Connection) -> bool:
        """Whether there is a gate, a group of watermarks or a fuse that blew: most often there is none."""
        return bool(connection.execute(_anything(self.registry.tables)).scalar())

    def gates(self, connection: Connection) -> list[Gate]:
        return [
            Gate(r.source, r.gated, aware(r.gated_at), aware(r.ungated_at) if r.ungated_at else None, r.gated_by)
            for r in self._rows(connection, "gate", "source")
        ]

    def put_gate(self, connection: Connection, gate: Gate) -> None:
        values = {"gated": gate.gated, "gated_at": gate.gated_at, "ungated_at": gate.ungated_at}
        self._put(connection, "gate", {"source": gate.source}, {**values, "gated_by": gate.gated_by})

    def watermarks(self, connection: Connection) -> list[Watermark]:
        rows = self._rows(connection, "watermark", "source")
        return [Watermark(r.source, aware(r.watermark), aware(r.advanced_at), r.advanced_by) for r in rows]

    def put_watermark(self, connection: Connection, mark: Watermark) -> None:
        values = {"watermark": mark.watermark, "advanced_at": mark.advanced_at, "advanced_by": mark.advanced_by}
        self._put(connection, "watermark", {"source": mark.source}, values)

    def watermark_groups(self, connection: Connection) -> list[WatermarkGroup]:
        rows = self._rows(connection, "watermark_group", "name")
        return [WatermarkGroup(r.name, tuple(json.loads(r.sources)), r.tolerance, aware(r.created_at)) for r in rows]

    def put_watermark_group(self, connection: Connection, name: str, group: WatermarkGroup | None) -> None:
        values = None
        if group is not None:
            values = {"sources": json.dumps(group.sources), "tolerance": group.tolerance}
            values["created_at"] = group.created_at
        self._put(connection, "watermark_group", {"name": name}, values)

    # Groups and fuses.

    def refresh_groups(self, connection: Connection) -> list[RefreshGroup]:
        rows = self._rows(connection, "refresh_group", "name")
        return [RefreshGroup(r.name, tuple(json.loads(r.members)), aware(r.created_at)) for r in rows]

    def put_refresh_group(self, connection: Connection, name: str, group: RefreshGroup | None) -> None:
        values = None
        if group is not None:
            values = {"members": json.dumps(group.members), "created_at": group.created_at}
        self._put(connection, "refresh_group", {"name": name}, values)

    def fuses(self, connection: Connection) -> dict[int, Fuse]:
        rows = self._rows(connection, "fuse", "stream_table_id")
        return {
            r.stream_table_id: Fuse(
                r.stream_table_id, r.state, aware(r.blown_at) if r.blown_at else None, r.changed_rows, r.ceiling
            )
            for r in rows
        }

    def put_fuse(self, connection: Connection, id: int, fuse: Fuse | None) -> None:
        values = None if fuse is None else {k: v for k, v in vars(fuse).items() if k != "stream_table_id"}
        self._put(connection, "fuse", {"stream_table_id": id}, values)

    def note_reads(self, connection: Connection, reads: Mapping[int, datetime]) -> None:
        if self.registry.is_current(connection):
            for id, at in reads.items():
                self._put(connection, "read", {"stream_table_id": id}, {"read_at": at})

    def reads(self, connection: Connection) -> dict[int, datetime]:
        """When stream tables that learn their tier were last read."""
        return {r.stream_table_id: aware(r.read_at) for r in self._rows(connection, "read", "stream_table_id")}

    # Standing and upkeep.

    def standings(self, connection: Connection) -> list[Row[Any]]:
        """What changes of stream tables from refresh to refresh, and no more: asked often."""
        t = self.registry.tables["stream_table"].c
        names = ("id", "version", "status", "frontier", "seen", "pending", "errors_in_row", "last_error")
        return list(connection.execute(select(*(t[name] for name in names))))

    def last_starts(self, connection: Connection) -> dict[int, datetime]:
        """When each stream table was last refreshed, or tried to be."""
        h = self.registry.tables["refresh_history"].c
        rows = connection.execute(select(h.stream_table_id, func.max(h.started_at)).group_by(h.stream_table_id))
        return {id: aware(at) for id, at in rows}

    def rest(self, connection: Connection, tables: Iterable[tuple[int, int]], head: int) -> None:
        """Tables, each with the frontier it had, for which nothing changed up to the head: exact for it as they are."""
        t = self.registry.tables["stream_table"]
        for id, frontier in tables:
            chosen = (t.c.id == id) & (t.c.frontier == frontier)
            connection.execute(update(t).where(chosen).values(frontier=head, seen=head))

    def forget_history(self, connection: Connection, before: datetime) -> int:
        """Drop history lines from before a time; of each stream table the newest line of its kind stays."""
        h = self.registry.tables["refresh_history"]
        newest = select(func.max(h.c.id)).group_by(h.c.stream_table_id, h.c.action)
        gone = connection.execute(delete(h).where(h.c.finished_at < before, h.c.id.not_in(newest)))
        return int(gone.rowcount)

    def forget_versions(self, connection: Connection, oldest: int) -> int:
        """Drop what was written before the oldest snapshot that is kept; the newest of that is still what is read."""
        v = self.registry.tables["version"]
        last = v.alias()
        newest = select(func.max(last.c.snapshot)).where(
            last.c.stream_table_id == v.c.stream_table_id, last.c.snapshot < oldest
        )
        gone = connection.execute(delete(v).where(v.c.snapshot < newest.scalar_subquery()))
        return int(gone.rowcount)

    def suspend(self, connection: Connection, table: StreamTable, why: str) -> None:
        self.registry.mark(connection, table, status="SUSPENDED", last_error=why)
        self.signal(connection)

    # One row by its key.

    def _put(self, connection: Connection, name: str, key: dict[str, Any], values: dict[str, Any] | None) -> None:
        """Write a row anew, or remove it (None)."""
        t = self.registry.tables[name]
        [(column, wanted)] = key.items()
        connection.execute(delete(t).where(t.c[column] == wanted))
        if values is not None:
            connection.execute(insert(t).values(**key, **values))

    def _rows(self, connection: Connection, name: str, order: str) -> list[Row[Any]]:
        if not self.registry.is_current(connection):
            return []
        t = self.registry.tables[name]
        return list(connection.execute(select(t).order_by(t.c[order])))


@lru_cache
def _anything(tables: RegistryTables) -> Select[Any]:
    """Built once: every refresh asks this."""
    kinds = (tables[name] for name in ("gate", "watermark_group", "fuse"))
    return select(or_(*(exists(select(t.c[0])) for t in kinds)))
