"""Was every state of the lake consistent, while a scheduler was at work? By DuckDB's answer, snapshot by snapshot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

import trickle
from trickle.lake import snapshots
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
        return [fault for snapshot in chosen for fault in self._faults(written, snapshot)]

    def _faults(self, written: Sequence[Commit], snapshot: int) -> list[str]:
        held = {c.name: c.data_snapshot for c in written if c.snapshot <= snapshot}
        wanted: dict[int, list[Kept]] = {}
        for kept in self.kept:
            name = kept.query.name
            if name in held:
                unit = next((unit for unit in TOGETHER if name in unit), frozenset({name}))
                wanted.setdefault(max(held[m] for m in unit if m in held), []).append(kept)
        return [
            f"at snapshot {snapshot}, data snapshot {data}: {line}"
            for data, tables in wanted.items()
            for line in self._compare(tables, snapshot, data)
        ]

    def _compare(self, tables: Sequence[Kept], snapshot: int, data: int) -> list[str]:
        [views] = self.peer.run(self.lake, "SELECT view_name, sql FROM duckdb_views() WHERE database_name = 'lake'")
        texts = {row["view_name"]: row["sql"] for row in views.to_pylist()}
        names = [kept.query.name for kept in tables]
        stored = [self._as_of(texts[name], snapshot) for name in names]
        setting = [
            "DROP SCHEMA IF EXISTS memory.judge CASCADE",
            "CREATE SCHEMA memory.judge",
            "USE memory.judge",
            *(f"CREATE TABLE {t} AS FROM lake.main.{t} AT (VERSION => {data})" for t in SOURCES),
            *(f"CREATE VIEW {kept.query.name} AS {kept.query.judge}" for kept in self.kept),
        ]
        asked = [f"FROM {name}" for name in names]
        answers = self.peer.run(self.lake, *stored, *setting, *asked, "USE lake", "DROP SCHEMA memory.judge CASCADE")
        found, right = answers[: len(names)], answers[-len(names) - 2 : -2]
        triples = zip(tables, found, right, strict=True)
        return [line for kept, held, wanted in triples for line in difference(kept.query, held, wanted)]

    def _as_of(self, view: str, snapshot: int) -> str:
        """The query of a published view over the stored rows of a snapshot."""
        text = view[view.index("SELECT") :].rstrip("; \n")
        return _STORED.sub(rf'FROM lake.trickle."\1" AT (VERSION => {snapshot})', text)


def lags(db: trickle.Session, sources: Sequence[str], name: str) -> list[float]:
    """For each commit of a source, the seconds until a commit of the stream table held it.

    Commits after which the stream table was not written again do not count: they changed nothing for it.
    """
    at = times(db)
    mine = [c for c in commits(db) if c.name == name]
    ids = {str(db.lake.table("main", s, db.lake.head()).id) for s in sources}  # type: ignore[union-attr]
    with db.lake.reading() as connection:
        log = snapshots.listing(db.lake.catalog, connection)
    changed = [s.id for s in log if any(what in ids for _, what in snapshots.tokens(s.changes))]
    found = ((s, next((c for c in mine if c.data_snapshot >= s), None)) for s in changed)
    return [(at[c.snapshot] - at[s]).total_seconds() for s, c in found if c is not None]
