"""IMMEDIATE: stream tables maintained inside the transaction that changes their sources."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection

from ..delta.declared import NOTHING, Declared
from ..errors import CommitConflict
from ..execute.transaction import Transaction
from ..lake import snapshots
from ..lake.draft import Requirement, Rider
from ..lake.foreign import translated
from ..lake.model import Snapshot, Table
from ..registry.models import SUSPENDED, StreamTable
from ..sql.statement import Name
from .advance import Advance
from .compile import Compiled
from .declared import declared, references
from .look import measure
from .refresh import Refresher
from .sources import STORED_SCHEMA
from .staged import touched
from .stopwatch import Stopwatch
from .windows import Window, changed_tables, held_in, makers


@dataclass
class Upkeep:
    """The IMMEDIATE stream tables of one transaction: brought along when it reads one of them, and when it commits.

    Each time the whole change of the transaction is carried over anew: what was staged before is taken back first.
    """

    refresher: Refresher
    transaction: Transaction
    _staged: list[_Maintenance] = field(default_factory=list)
    _stamp: tuple[object, ...] = ()
    _busy: bool = False

    def before_reading(self, table: Table) -> None:
        if table.schema == STORED_SCHEMA and not self._busy:
            self.bring_along()

    def bring_along(self) -> None:
        """Every IMMEDIATE stream table that the transaction concerns follows it."""
        if self._stamp == self._current_stamp():
            return
        self._busy = True
        try:
            self._take_back()
            for table in self._concerned():
                maintenance = _Maintenance(self.refresher, self.transaction, table)
                self._staged.append(maintenance)
                maintenance.run()
        finally:
            self._busy = False
        self._stamp = self._current_stamp()

    def _concerned(self) -> Iterator[StreamTable]:
        lake, registry = self.refresher.lake, self.refresher.registry
        if not touched(self.transaction):
            return
        with lake.reading() as connection:
            tables = registry.in_mode(connection, "IMMEDIATE")
        for table in _in_order(tables):
            if table.status == SUSPENDED or table.frontier is None or table.pending:
                continue
            stored = self.transaction.find_table(Name(STORED_SCHEMA, table.stored_name))
            # Asked of each anew: those before it may have been touched by now.
            if stored is not None and {d.table_id for d in table.dependencies} & touched(self.transaction):
                yield table

    def _take_back(self) -> None:
        for maintenance in self._staged:
            maintenance.take_back()
        self._staged.clear()

    def _current_stamp(self) -> tuple[object, ...]:
        """What the transaction did to tables that are not ours."""
        own = {id for m in self._staged for id in m.stored_ids}
        parts = sorted((id, part) for id, part in self.transaction.draft.tables.items() if id not in own)
        return tuple(
            (id, tuple(p.added), tuple(p.ended), sum(map(len, p.removed.values())), str(p.inlined_removed))
            for id, p in parts
        )


def _in_order(tables: list[StreamTable]) -> list[StreamTable]:
    """Sources before their readers."""
    by_stored = {t.stored: t for t in tables}
    found: dict[int, StreamTable] = {}

    def visit(table: StreamTable) -> None:
        if table.id in found:
            return
        for dependency in table.dependencies:
            if dependency.name in by_stored:
                visit(by_stored[dependency.name])
        found[table.id] = table

    for table in tables:
        visit(table)
    return list(found.values())


@dataclass
class _Maintenance:
    refresher: Refresher
    transaction: Transaction
    table: StreamTable
    stored_ids: tuple[int, ...] = ()
    requirement: Requirement | None = None
    rider: Rider | None = None

    def run(self) -> None:
        watch = Stopwatch()
        compiled = self.refresher.compiled(self.table, self.transaction.base)
        assert compiled.storage is not None
        stored = self.refresher.stored(self.table, self.transaction.base)
        self.stored_ids = (stored.id, *(kept.table.id for kept in compiled.kept))
        prefix = f"{self.refresher.prefix}_i{self.table.id}"
        windows = {name: held_in(self.transaction, t, self.start_of(t)) for name, t in compiled.tables.items()}
        work = Advance(
            self.transaction,
            compiled,
            makers(self.refresher.lake, windows),
            prefix,
            self.unchanged(compiled),
            self.most_rows(),
            appending=False,
            declared=self.declared(compiled, windows),
        )
        with translated(f'stream table "{self.table.label}"'):
            changed = work.run(stored)
        watch.stop()
        self.stage(watch, *changed)

    def most_rows(self) -> int:
        """How many rows the transaction adds or takes away."""
        parts = self.transaction.draft.tables.values()
        added = sum(f.records for p in parts for f in p.added.values())
        ended = sum(p.seen[id].records for p in parts for id in p.ended)
        return added + ended + sum(len(gone) for p in parts for gone in p.removed.values())

    def start_of(self, table: Table) -> Snapshot:
        """Where the stream table stands: its frontier, or the commit of an upstream one that holds it."""
        lake, registry = self.refresher.lake, self.refresher.registry
        assert self.table.frontier is not None
        with lake.reading() as connection:
            at: int | None = self.table.frontier
            if table.schema == "trickle":
                for source in registry.stored(connection, [f"{table.schema}.{table.name}"]):
                    at = registry.commit_for(
                        connection, source.id, self.table.frontier, self.table.seen or self.table.frontier
                    )
            return snapshots.at(lake.catalog, connection, at if at is not None else self.table.frontier)

    def unchanged(self, compiled: Compiled) -> frozenset[str]:
        assert self.table.frontier is not None
        read = {table.id for table in compiled.tables.values()}
        rows, _ = changed_tables(self.refresher.lake, self.table.frontier, self.transaction.base.id, read)
        moved = rows.keys() | touched(self.transaction)
        return frozenset(name for name, table in compiled.tables.items() if table.id not in moved)

    def declared(self, compiled: Compiled, windows: Mapping[str, Window]) -> Declared:
        if not any(references(compiled.tables)):
            return NOTHING
        lake = self.refresher.lake
        return declared(lake, compiled, measure(lake, self.transaction.base, windows))

    def take_back(self) -> None:
        """As if it had not been run."""
        draft = self.transaction.draft
        for part in (draft.tables.pop(id, None) for id in self.stored_ids):
            for file in part.added.values() if part is not None else ():
                self.refresher.lake.storage.remove(file.path)
                draft.written.remove(file.path)
        draft.requirements[:] = [r for r in draft.requirements if r is not self.requirement]
        draft.riders[:] = [r for r in draft.riders if r is not self.rider]

    def stage(self, watch: Stopwatch, inserted: int, deleted: int) -> None:
        """The frontier and the history line go with the transaction's own commit."""
        registry, table, base = self.refresher.registry, self.table, self.transaction.base

        def unchanged_since(connection: Connection, head: Snapshot) -> None:
            registry.require(connection, table)
            rows, _ = changed_tables(self.refresher.lake, base.id, head.id)
            if {d.table_id for d in table.dependencies} & rows.keys():
                raise CommitConflict(
                    f'a source of stream table "{table.label}" was changed by another commit',
                    hint="run the transaction again.",
                )

        def rider(connection: Connection, snapshot: int) -> None:
            registry.advance(connection, table, snapshot, snapshot, seen=snapshot)
            result = watch.result(table, "DIFFERENTIAL", "", inserted, deleted, snapshot, snapshot)
            registry.record(connection, watch.line(table, result, initiated_by="transaction"))

        self.requirement, self.rider = unchanged_since, rider
        self.transaction.draft.requirements.append(unchanged_since)
        self.transaction.draft.riders.append(rider)
        self.transaction.draft.extra_info = json.dumps({"base_snapshot": base.id, "immediate": True})
