"""Was every state of the lake consistent, while a scheduler was at work? By DuckDB's answer, snapshot by snapshot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa
from sqlalchemy import select

import trickle
from trickle.lake import snapshots, told_deletes
from trickle.registry.reading import base_tables
from trickle.scheduler.layout import Layout
from trickle.schedules import Every
from trickle.testing.daemon.shop import SOURCES, TOGETHER, Kept
from trickle.testing.duckdb_peer import DuckDBPeer, LakeAddress
from trickle.testing.streams.checker import difference

_STORED = re.compile(r'FROM "?trickle"?\."?(\w+)"?')


@dataclass(frozen=True)
class Commit:
    """A stream table's content was written at a snapshot, exact for a data snapshot."""

    name: str
    snapshot: int
    data_snapshot: int


def commits(db: trickle.Session) -> list[Commit]:
    """Every commit of a stream table, oldest first."""
    registry = db._streams.registry
    t, v = registry.tables["stream_table"].c, registry.tables["version"].c
    with db.lake.reading() as connection:
        rows = connection.execute(
            select(t.name, v.snapshot, v.data_snapshot).where(t.id == v.stream_table_id).order_by(v.snapshot)
        )
        return [Commit(*row) for row in rows]


def times(db: trickle.Session) -> dict[int, datetime]:
    with db.lake.reading() as connection:
        return {s.id: s.time for s in snapshots.listing(db.lake.catalog, connection)}


Answers = dict[str, pa.Table]
"""The rows of tables, by name."""


@dataclass(frozen=True)
class Judge:
    peer: DuckDBPeer
    lake: LakeAddress
    kept: Sequence[Kept]

    def faults(self, db: trickle.Session, at: Iterable[int] | None = None) -> list[str]:
        """At each of the snapshots (by default all that a stream table was written in), each table must be its
        query at its data snapshot, and those that belong together at one."""
        written = commits(db)
        chosen = sorted({c.snapshot for c in written}) if at is None else sorted(at)
        rewritten = _rewritten(db)
        exact_for = {
            snapshot: {name: data for name, data in self._exact_for(written, snapshot).items() if data not in rewritten}
            for snapshot in chosen
        }
        asked: dict[int, set[str]] = {}
        for held in exact_for.values():
            for name, data in held.items():
                asked.setdefault(data, set()).add(name)
        right = {data: self._right(data, sorted(names)) for data, names in asked.items()}
        views = self._views()
        return [line for snapshot, held in exact_for.items() for line in self._compare(views, snapshot, held, right)]

    def _exact_for(self, written: Sequence[Commit], snapshot: int) -> dict[str, int]:
        """The data snapshot of each table that is there at a snapshot, for those that belong together the same."""
        held = {c.name: c.data_snapshot for c in written if c.snapshot <= snapshot}
        known = [kept.query.name for kept in self.kept if kept.query.name in held]
        units = {name: next((unit for unit in TOGETHER if name in unit), frozenset({name})) for name in known}
        return {name: max(held[m] for m in units[name] if m in held) for name in known}

    def _compare(
        self, views: Mapping[str, str], snapshot: int, held: Mapping[str, int], right: Mapping[int, Answers]
    ) -> list[str]:
        found = self.peer.run(self.lake, *(self._as_of(views[name], snapshot) for name in held))
        queries = {kept.query.name: kept.query for kept in self.kept}
        return [
            f"at snapshot {snapshot}, data snapshot {data}: {line}"
            for (name, data), rows in zip(held.items(), found, strict=True)
            for line in difference(queries[name], rows, right[data][name])
        ]

    def _right(self, data: int, names: Sequence[str]) -> Answers:
        """What the queries give at a data snapshot, by DuckDB."""
        setting = [
            "DROP SCHEMA IF EXISTS memory.judge CASCADE",
            "CREATE SCHEMA memory.judge",
            "USE memory.judge",
            *(f"CREATE TABLE {t} AS FROM lake.main.{t} AT (VERSION => {data})" for t in SOURCES),
            *(f"CREATE VIEW {kept.query.name} AS {kept.query.judge}" for kept in self.kept),
        ]
        asked = [f"FROM {name}" for name in names]
        answers = self.peer.run(self.lake, *setting, *asked, "USE lake", "DROP SCHEMA memory.judge CASCADE")
        return dict(zip(names, answers[-len(names) - 2 : -2], strict=True))

    def _views(self) -> dict[str, str]:
        [found] = self.peer.run(self.lake, "SELECT view_name, sql FROM duckdb_views() WHERE database_name = 'lake'")
        return {row["view_name"]: row["sql"] for row in found.to_pylist()}

    def _as_of(self, view: str, snapshot: int) -> str:
        """The query of a published view over the stored rows of a snapshot."""
        text = view[view.index("SELECT") :].rstrip("; \n")
        return _STORED.sub(rf'FROM lake.trickle."\1" AT (VERSION => {snapshot})', text)


def _rewritten(db: trickle.Session) -> set[int]:
    """Snapshots that DuckDB shows with deletes that were not there yet when they were the last ones.

    Where it lost a race on PostgreSQL, its delete is told in one snapshot and stands in an older one.
    """
    lake, found = db.lake, set[int]()
    head = lake.head()
    with lake.reading() as connection:
        for name in SOURCES if not lake.catalog.is_sqlite else ():
            table = lake.definitions.table(connection, head, "main", name)
            assert table is not None
            told = told_deletes.told(lake.catalog, connection, table, 0, head.id)
            real = told_deletes.found(lake.catalog, connection, lake.storage, table, 0, head.id)
            for early in real - told:
                found |= set(range(early, min(at for at in told if at > early)))
    return found


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
    """For each stream table, and each commit after `since` to a table below it, the seconds until it was refreshed to
    that commit or beyond."""
    streams = db._streams
    with db.lake.reading() as connection:
        log = snapshots.listing(db.lake.catalog, connection, since)
        lines = streams.registry.history(connection, limit=1_000_000)
    tables = streams.all()
    ids = {d.name: str(d.table_id) for t in tables for d in t.dependencies}
    found: dict[str, list[float]] = {}
    for table in tables:
        below = {ids[name] for name in base_tables(tables)[table.stored]}
        changed = [s for s in log if any(what in below for _, what in snapshots.tokens(s.changes))]
        done = sorted(
            (line.data_snapshot, line.finished_at)
            for line in lines
            if line.stream_table_id == table.id and line.data_snapshot is not None and line.action != "SKIP"
        )
        waits = ((s.time, next((at for data, at in done if data >= s.id), None)) for s in changed)
        found[table.label] = sorted((at - time).total_seconds() for time, at in waits if at is not None)
    return found
