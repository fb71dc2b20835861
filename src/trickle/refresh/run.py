"""One stream table brought to a data snapshot: look, choose, run, apply, commit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from ..errors import CommitConflict, HistoryExpired, SchemaChanged, TrickleError
from ..execute.transaction import Transaction
from ..lake import snapshots
from ..lake.draft import Draft
from ..lake.foreign import translated
from ..lake.model import Snapshot, Table
from ..learning import told_to
from ..registry.models import FUNCTION_CHANGED, SCHEMA_CHANGED, SHRANK, SUSPENDED, Refresh, StreamTable
from ..spark import called
from . import apply as applying
from . import holds, intermediates
from .advance import Advance
from .choose import Choice, Facts, choose
from .compile import Compiled, fingerprint
from .content import Content
from .declared import declared
from .look import Look, measure
from .phases import phase
from .replacing import replace_worn
from .result import RefreshResult
from .sources import Point
from .stopwatch import Stopwatch
from .windows import Window, changed_tables, makers

if TYPE_CHECKING:
    from .refresh import Refresher


class Run:
    """One refresh of one stream table."""

    def __init__(self, owner: Refresher, table: StreamTable, target: Snapshot, full: bool, initiated_by: str) -> None:
        self.owner, self.table, self.target = owner, table, target
        self.lake, self.registry = owner.lake, owner.registry
        self.full, self.initiated_by = full, initiated_by
        self.head = owner.lake.head()
        self.kept = table.intermediates
        self.seen = self.head.id
        self.ceiling: float | None = None
        self.watch = Stopwatch()

    def run(self) -> RefreshResult:
        try:
            with told_to(self.watch.learning):
                return self.done()
        except CommitConflict:
            raise
        except TrickleError as error:
            self.fail(error)
            raise

    def done(self) -> RefreshResult:
        with phase("look"):
            look = self.look()
        with phase("choose"):
            choice = self.choose(look)
        return self.act(look, choice)

    # Look.

    def look(self) -> Look:
        frontier = self.table.frontier
        if frontier is not None and not self.is_kept(frontier):
            return Look(self.target, self.windows(None), expired=True)
        if frontier is not None and not self.anything_changed(frontier):
            return Look(self.target, {})
        self.check_sources(frontier)
        return measure(self.lake, self.target, self.windows(Point.of(self.table)))

    def windows(self, start: Point | None) -> Mapping[str, Window]:
        return self.owner.sources.windows(self.tables(), start, Point(self.target.id, self.head.id))

    def anything_changed(self, frontier: int) -> bool:
        """By the catalog alone: did a source's rows or definition change since the frontier?"""
        if self.table.pending or self.full:
            return True
        if frontier == self.head.id:
            return False
        read = {d.table_id for d in self.table.dependencies}
        rows, definitions = changed_tables(self.lake, frontier, self.head.id, read)
        # A stream table among the sources is written after the data snapshot it holds: what was seen counts.
        known = {True: self.table.seen or frontier, False: frontier}
        return any(
            max(rows.get(d.table_id, -1), definitions.get(d.table_id, -1)) > known[d.is_stream_table]
            for d in self.table.dependencies
        )

    def tables(self) -> Mapping[str, Table]:
        return self.compiled.tables

    @property
    def compiled(self) -> Compiled:
        return self.owner.compiled(self.table, self.reading_point)

    @property
    def reading_point(self) -> Snapshot:
        """Where names are looked up: the head, whose stored tables exist even if the target is older."""
        return self.head

    def check_sources(self, frontier: int | None) -> None:
        """A source whose columns changed: the same meaning goes on, another one starts anew."""
        known = {d.name: d for d in self.table.dependencies}
        try:
            tables = self.tables()
        except TrickleError as error:
            raise SchemaChanged(
                f'stream table "{self.table.label}" no longer fits its sources',
                detail=error.message,
                hint="alter its query, or restore the source.",
            ) from error
        for table in tables.values():
            before = known.get(f"{table.schema}.{table.name}")
            if before is None or before.fingerprint != fingerprint(table, before.columns):
                if frontier is not None and not self.table.pending:
                    self.table = replace(self.table, pending=SCHEMA_CHANGED)
                return

    def is_kept(self, snapshot: int) -> bool:
        if snapshot == self.head.id:
            return True
        with self.lake.reading() as connection:
            try:
                snapshots.at(self.lake.catalog, connection, snapshot)
            except HistoryExpired:
                return False
        return True

    # Choose.

    def choose(self, look: Look) -> Choice:
        table = self.table
        changed = bool(look.windows) and (look.changed_rows > 0 or look.expired or look.misplaced)
        learns = changed and (table.refresh_mode == "AUTO" or table.options.get("fuse"))
        with self.lake.reading() as connection:
            history = self.registry.lessons(connection, table.id) if learns else []
            held = holds.Holds.read(connection, self.registry)
        self.ceiling = held.ceiling(table, history)
        facts = Facts(
            mode=table.refresh_mode,
            populated=table.frontier is not None,
            suspended=table.status == SUSPENDED,
            full_requested=self.full,
            pending=table.pending,
            obstacle=table.obstacle,
            changed=changed,
            changed_rows=look.changed_rows,
            source_rows=look.source_rows,
            expired=look.expired,
            misplaced=look.misplaced,
            append_only=table.append_only,
            removed=look.removed,
            history=history,
            held=held.reason(table),
            ceiling=self.ceiling,
        )
        choice = choose(facts)
        if choice.reason == "history_expired" and table.refresh_mode == "DIFFERENTIAL":
            raise self.expired()
        return choice

    def expired(self) -> HistoryExpired:
        return HistoryExpired(
            f'stream table "{self.table.label}" cannot go on from snapshot {self.table.frontier}',
            detail="the snapshot has expired, and refresh_mode is DIFFERENTIAL.",
            hint="refresh it with full=True.",
        )

    # Act.

    def act(self, look: Look, choice: Choice) -> RefreshResult:
        if choice.action == "SKIP":
            return self.note(choice, self.table.frontier, look.changed_rows)
        if choice.action == "NO_DATA":
            return self.note(choice, self.target.id)
        transaction = Transaction(self.lake, Draft(self.lake.head()))
        try:
            return self.write(transaction, look, choice)
        except applying.Drift:
            if choice.action != "DIFFERENTIAL":
                raise
            transaction.draft.discard(self.lake.storage)
            transaction = Transaction(self.lake, Draft(self.lake.head()))
            anew = replace(look, windows=self.windows(None), unchanged=frozenset())
            return self.write(transaction, anew, Choice("REINITIALIZE", "drift_reset"))
        except BaseException:
            transaction.draft.discard(self.lake.storage)
            raise

    def write(self, transaction: Transaction, look: Look, choice: Choice) -> RefreshResult:
        what = f'stream table "{self.table.label}"'
        transaction.may_rewrite = self.may_rewrite
        with translated(what), called(self.lake.spark, f"refresh of {what}"), phase("apply"):
            inserted, deleted = self.change(transaction, look, choice)
            replace_worn(transaction, self.compiled.kept_ids)
        with phase("commit"):
            return self.commit(transaction, look, choice, inserted, deleted)

    def may_rewrite(self, stored: Table) -> bool:
        """Whether nothing reads what changes in the stored rows: neither this refresh nor other stream tables."""
        with self.lake.reading() as connection:
            return stored.id not in self.compiled.kept_ids and not self.registry.readers(connection, {stored.id})

    def change(self, transaction: Transaction, look: Look, choice: Choice) -> tuple[int, int]:
        """Stage the difference between what is stored and what should be."""
        stored = self.owner.stored(self.table, transaction.base)
        if choice.action == "DIFFERENTIAL":
            return self.differential(transaction, stored, look)
        content = self.content()
        anew = choice.reason in (SCHEMA_CHANGED, FUNCTION_CHANGED)
        moved = content.refill(transaction, stored) if anew else content.replace(transaction, stored)
        self.kept = content.kept
        return moved

    def content(self) -> Content:
        return self.owner.content(self.table, self.compiled, self.target, self.head)

    def differential(self, transaction: Transaction, stored: Table, look: Look) -> tuple[int, int]:
        if self.compiled.storage is None:
            assert self.compiled.obstacle is not None
            raise self.compiled.obstacle
        compiled, sources = self.compiled, makers(self.lake, look.windows)
        intermediates.drop_unknown(transaction, self.table, compiled)
        appending = self.table.append_only and not look.removed
        work = Advance(
            transaction,
            compiled,
            sources,
            self.prefix,
            look.unchanged,
            look.changed_rows,
            appending=appending,
            declared=declared(self.lake, compiled, look),
        )
        moved = work.run(stored)
        self.kept = intermediates.take_up(transaction, self.table, compiled, sources, self.prefix)
        return moved

    @property
    def prefix(self) -> str:
        return f"{self.owner.prefix}_s{self.table.id}"

    # Commit.

    def commit(
        self, transaction: Transaction, look: Look, choice: Choice, inserted: int, deleted: int
    ) -> RefreshResult:
        draft, table, target = transaction.draft, self.table, self.target.id
        draft.requirements.append(lambda connection, _: self.registry.require(connection, self.table))
        found: list[RefreshResult] = []

        def rider(connection: Connection, snapshot: int) -> None:
            found.append(self.settle(connection, look, choice, inserted, deleted, snapshot))

        draft.message = f"refresh {table.label}"
        draft.extra_info = json.dumps(
            {"stream_table": table.label, "action": choice.action, "reason": choice.reason, "data_snapshot": target}
        )
        if draft.has_no_data:
            with self.lake.catalog.writing() as connection:
                self.registry.require(connection, self.table)
                return self.settle(connection, look, choice, 0, 0, None)
        draft.riders.append(rider)
        self.lake.commit(draft)
        return found[0]

    def settle(
        self, connection: Connection, look: Look, choice: Choice, inserted: int, deleted: int, snapshot: int | None
    ) -> RefreshResult:
        """The registry's side of a commit: frontier, dependencies, history."""
        table, target = self.table, self.target.id
        self.registry.advance(connection, table, target, snapshot, self.seen)
        self.put_options(connection, look)
        holds.passed(connection, self.registry, table)
        if choice.reason in (SCHEMA_CHANGED, FUNCTION_CHANGED):
            adapted = replace(table, dependencies=self.compiled.dependencies(), obstacle=self.compiled.construct)
            self.registry.put_dependencies(connection, adapted)
            self.registry.mark(connection, adapted, obstacle=adapted.obstacle)
            self.registry.functions.record(connection, table.id, self.compiled.functions)
        result = self.result(choice, inserted, deleted, target, table.snapshot if snapshot is None else snapshot)
        self.registry.record(connection, self.line(result, look.changed_rows))
        return result

    def put_options(self, connection: Connection, look: Look) -> None:
        """What the refresh found out about the table for good."""
        table = self.table.keeping(self.kept)
        if table.append_only and look.removed:
            # A source that lost rows does not only grow: from now on the table reckons with that.
            table = replace(table, options={**table.options, SHRANK: True})
        if table.append_only != self.table.append_only or table.intermediates != self.table.intermediates:
            self.registry.mark(connection, self.table, options=json.dumps(dict(table.options)))

    def note(self, choice: Choice, frontier: int | None, changed_rows: int = 0) -> RefreshResult:
        """A refresh without data: the registry alone is told."""
        result = self.result(choice, 0, 0, frontier, self.table.snapshot)
        with self.lake.catalog.writing() as connection:
            if choice.action == "NO_DATA" and frontier is not None and frontier != self.table.frontier:
                self.registry.require(connection, self.table)
                self.registry.advance(connection, self.table, frontier, None, self.head.id)
            if choice.reason == "fuse_blown":
                holds.blow(connection, self.registry, self.table, changed_rows, self.ceiling)
            self.registry.record(connection, self.line(result, changed_rows))
        return result

    def fail(self, error: TrickleError) -> None:
        with self.lake.catalog.writing() as connection:
            self.registry.fail(connection, self.table, f"{error.code}: {error.told}")
            line = self.line(self.result(Choice("SKIP", error.code), 0, 0, self.table.frontier, None), 0)
            self.registry.record(connection, replace(line, error=str(error)))

    def result(
        self, choice: Choice, inserted: int, deleted: int, data_snapshot: int | None, snapshot: int | None
    ) -> RefreshResult:
        return self.watch.result(self.table, choice.action, choice.reason, inserted, deleted, data_snapshot, snapshot)

    def line(self, result: RefreshResult, changed_rows: int) -> Refresh:
        return self.watch.line(self.table, result, changed_rows, self.initiated_by)
