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
