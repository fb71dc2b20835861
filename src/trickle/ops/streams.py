"""The stream tables of a lake: their life from CREATE to DROP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from sqlalchemy import Connection

from ..errors import AlreadyExists, CommitConflict, DependentsExist, NotIncremental, QueryError
from ..execute import ddl
from ..execute.transaction import Transaction
from ..lake.changes import consolidate
from ..lake.foreign import translated
from ..lake.lake import MAIN, Lake
from ..lake.maintenance.expire import Need
from ..lake.model import WEIGHT, Snapshot, Table
from ..plan import hidden, is_reserved
from ..refresh import intermediates
from ..refresh.compile import Compiled, compile_query
from ..refresh.content import Content
from ..refresh.fixpoint import Fixpoint
from ..refresh.refresh import Refresher
from ..refresh.result import RefreshResult
from ..refresh.sources import STORED_SCHEMA
from ..refresh.stopwatch import Stopwatch
from ..refresh.stored import Fit, refuse_reserved
from ..registry.models import SHRANK, SUSPENDED, StreamTable
from ..registry.store import Registry
from ..sql.names import quote_spark
from ..sql.statement import Name
from . import advice, circles
from .exclusive import exclusive
from .ledger import Ledger
from .options import STORED_OTHERWISE, consistent, read_options, with_defaults

T = TypeVar("T")
VISIBLE = hidden("visible")


class Streams(Ledger):
    """A ledger whose stream tables are created, altered, refreshed and dropped."""

    def __init__(self, lake: Lake, registry: Registry, refresher: Refresher) -> None:
        super().__init__(lake.catalog, registry)
        self.lake, self.refresher = lake, refresher

    @classmethod
    def of(cls, lake: Lake) -> Streams:
        registry = Registry(lake.catalog.schema)
        lake.functions = registry.functions.reader(lake.reading)
        return cls(lake, registry, Refresher(lake, registry))

    def needed(self, connection: Connection) -> Need:
        """What must not expire: asked by whoever holds the catalog's lock, so that no frontier moves meanwhile."""
        return Need(frozenset(self.registry.needed(connection)), self.registry.oldest_frontier(connection))

    def changes(self, name: Name, start: int, end: Snapshot) -> DataFrame:
        """The net change of what a stream table shows in (start, end] of the lake's snapshots."""
        table = self.find(name)
        stored = self.refresher.stored(table, end)
        shown = [c.name for c in stored.columns if not is_reserved(c.name)]
        rows = self.lake.raw_changes(stored, start, end.id)
        if stored.column(VISIBLE) is not None:
            rows = rows.where(F.col(VISIBLE))
        return consolidate(rows.select(*map(quote_spark, shown), WEIGHT))

    # Create.

    def create(
        self, name: Name, query: str, options: Mapping[str, Any], dialect: str = "spark", initialize: bool = True
    ) -> StreamTable:
        """Define a stream table and, unless told not to, fill it: one commit."""
        chosen = with_defaults(options)
        table = StreamTable(
            id=0,
            schema=name.schema or MAIN,
            name=name.name,
            query=query,
            dialect=dialect,
            refresh_mode=chosen["refresh_mode"],
            options=chosen,
            stored_name=name.name if name.schema in (None, MAIN) else f"{name.schema}.{name.name}",
            version=1,
        )
        self.migrate()
        watch = Stopwatch()
        compiled = self._compile(Transaction.begin(self.lake), table)
        table = replace(
            table, obstacle=compiled.construct, dependencies=compiled.dependencies(), functions=compiled.functions
        )
        target = self.lake.head()
        if initialize:
            target = self._refresh_upstream(table, target)
        transaction = Transaction.begin(self.lake)
        self._refuse_taken(transaction, name)
        try:
            with translated(f'stream table "{table.label}"'):
                content = self.refresher.content(table, compiled, target, transaction.base)
                inserted = content.create(transaction, fill=initialize)
            kept = table.keeping(content.kept)
            self._commit_created(transaction, kept, target, inserted, watch, initialize)
        except BaseException:
            transaction.draft.discard(self.lake.storage)
            raise
        advice.warn(self, made := self.find(name), compiled)
        return made

    def _compile(self, transaction: Transaction, table: StreamTable) -> Compiled:
        """The query; strict modes refuse what has no differential form."""
        float_sums = table.options.get("float_sums") == "algebraic"
        compiled = compile_query(transaction, table.query, table.dialect, float_sums)
        if compiled.query is not None:
            refuse_reserved(compiled.query.labels)
        if compiled.obstacle is not None and table.refresh_mode in ("DIFFERENTIAL", "IMMEDIATE"):
            raise NotIncremental(
                f'stream table "{table.label}" cannot be maintained incrementally',
                detail=f"{compiled.obstacle.message}. {compiled.obstacle.detail}".strip(),
                hint=compiled.obstacle.hint,
            )
        circles.check(self, table, compiled)
        return compiled

    def _refuse_taken(self, transaction: Transaction, name: Name) -> None:
        if self.exists(name):
            raise AlreadyExists(f'stream table "{name.label}" exists already', hint="use OR REPLACE, or IF NOT EXISTS.")
        if transaction.find_table(name) or transaction.find_view(name):
            raise AlreadyExists(f'"{name.label}" exists already', hint="choose another name.")

    def _commit_created(
        self,
        transaction: Transaction,
        table: StreamTable,
        target: Snapshot,
        inserted: int,
        watch: Stopwatch,
        initialize: bool,
    ) -> None:
        def rider(connection: Connection, snapshot: int) -> None:
            if self.registry.find(connection, table.schema, table.name) is not None:
                raise AlreadyExists(f'stream table "{table.label}" exists already', hint="it was created meanwhile.")
            added = self.registry.add(connection, table)
            if initialize:
                self.registry.advance(connection, added, target.id, snapshot, transaction.base.id)
                result = watch.result(added, "FULL", "initial_load", inserted, 0, target.id, snapshot)
                self.registry.record(connection, watch.line(added, result))

        transaction.draft.riders.append(rider)
        transaction.draft.message = f"create stream table {table.label}"
        self.lake.commit(transaction.draft)

    # Alter.

    def alter(
        self,
        name: Name,
        options: Mapping[str, Any] | None = None,
        query: str | None = None,
        dialect: str | None = None,
    ) -> StreamTable:
        """Change options, the query, or both; a new query is filled in the same commit, and warned of like a first."""
        made = self._again(lambda: self._alter(name, read_options(options or {}), query, dialect))
        if query is not None:
            advice.warn(self, made, self.refresher.compiled(made, self.lake.head()))
        return made

    def _alter(self, name: Name, options: Mapping[str, Any], query: str | None, dialect: str | None) -> StreamTable:
        table = self.find(name)
        chosen = consistent({**table.options, **options, **({SHRANK: False} if "append_only" in options else {})})
        changed = replace(table, options=chosen, version=table.version + 1)
        changed = replace(changed, refresh_mode=changed.options["refresh_mode"])
        if query is not None:
            changed = replace(changed, query=query, dialect=dialect or table.dialect)
        elif all(chosen.get(o) == table.options.get(o) for o in STORED_OTHERWISE):
            compiled = self._compile(Transaction.begin(self.lake), changed)
            self.store(table, replace(changed, obstacle=compiled.construct))
            return self.find(name)
        with exclusive(self, self.circle(table) or [table]):
            return self._alter_query(self.find(name), changed)

    def _again(self, work: Callable[[], T]) -> T:
        """Lost races are run again."""
        for _ in range(self.lake.settings["lake.commit_retries"]):
            with suppress(CommitConflict):
                return work()
        return work()

    def _alter_query(self, before: StreamTable, table: StreamTable) -> StreamTable:
        watch = Stopwatch()
        compiled = self._compile(Transaction.begin(self.lake), table)
        table = replace(
            table,
            obstacle=compiled.construct,
            dependencies=compiled.dependencies(),
            functions=compiled.functions,
            pending="",
        )
        target = self._refresh_upstream(table, self.lake.head())
        if circles.of(self, table):
            circles.close(self, before, table, target, watch)
            return self.find(Name(table.schema, table.name))
        transaction = Transaction.begin(self.lake)
        content = self.refresher.content(table, compiled, target, transaction.base)
        stored = self.refresher.stored(before, transaction.base)
        try:
            with translated(f'stream table "{table.label}"'):
                readers = self._adapting_readers(transaction, before, content, stored)
                inserted, deleted = content.refill(transaction, stored)
        except BaseException:
            transaction.draft.discard(self.lake.storage)
            raise

        def rider(connection: Connection, snapshot: int) -> None:
            self.registry.redefine(connection, table.keeping(content.kept))
            for reader in readers:
                self.registry.mark(connection, reader, pending="source_schema_changed")
            self.registry.advance(connection, table, target.id, snapshot, transaction.base.id)
            result = watch.result(table, "REINITIALIZE", "query_changed", inserted, deleted, target.id, snapshot)
            self.registry.record(connection, watch.line(table, result))

        transaction.draft.requirements.append(lambda connection, _: self.registry.require(connection, before))
        transaction.draft.riders.append(rider)
        transaction.draft.message = f"alter stream table {table.label}"
        self.lake.commit(transaction.draft)
        return self.find(Name(table.schema, table.name))

    def _adapting_readers(
        self, transaction: Transaction, table: StreamTable, content: Content, stored: Table
    ) -> list[StreamTable]:
        """Readers that must start anew because the stored table does; refused if what they see would change."""
        fit = content.fit(transaction, stored)
        if fit is Fit.NONE:
            self._refuse_readers(table, "its columns change")
        others = [t for t in circles.of(self, table) if t.id != table.id]
        return [*others, *self.readers(table)] if fit is Fit.SHOWN else others

    # Drop.

    def drop(self, name: Name, cascade: bool = False) -> list[str]:
        """Remove a stream table, and with `cascade` those that read it; the names that went, readers first."""
        with exclusive(self, [self.find(name)]):
            return self._again(lambda: self._drop(name, cascade))

    def _drop(self, name: Name, cascade: bool) -> list[str]:
        table = self.find(name)
        transaction = Transaction.begin(self.lake)
        gone: list[StreamTable] = []
        self.stage_drop(transaction, table, cascade, gone)
        transaction.draft.message = f"drop stream table {table.label}"
        self.lake.commit(transaction.draft)
        return [t.label for t in reversed(gone)]

    def stage_drop(self, transaction: Transaction, table: StreamTable, cascade: bool, gone: list[StreamTable]) -> None:
        if any(t.id == table.id for t in gone):
            return
        gone.append(table)
        readers = [r for r in self.readers(table) if r.id != table.id]
        if readers and not cascade:
            self._refuse_readers(table, "it is read by others")
        for reader in readers:
            self.stage_drop(transaction, reader, True, gone)
        stored = transaction.find_table(Name(STORED_SCHEMA, table.stored_name))
        if stored is not None:
            ddl.drop(transaction, stored)
        intermediates.drop_all(transaction, table)
        view = transaction.find_view(Name(table.schema, table.name))
        if view is not None:
            transaction.draft.dropped_views[view.id] = view
        transaction.draft.riders.append(lambda connection, _: self.registry.remove(connection, table.id))

    def _refuse_readers(self, table: StreamTable, why: str) -> None:
        readers = self.readers(table)
        if readers:
            names = ", ".join(r.label for r in readers)
            raise DependentsExist(
                f'stream table "{table.label}" has dependents',
                detail=f"{why}: {names}.",
                hint="drop them first, or use cascade=True where it is dropped itself.",
            )

    # Refresh.

    def refresh(
        self, name: Name, full: bool = False, upstream: bool = True, initiated_by: str = "user"
    ) -> RefreshResult:
        """Bring a stream table to the head; stale ones that it reads are brought to the same snapshot first."""
        table = self.find(name)
        target = self.lake.head()
        if any(d.is_stream_table for d in table.dependencies):
            target = self._refresh_upstream(table, target) if upstream else self._fresh_for(table, target)
            table = self.find(name)
        return self.bring(table, target, full, initiated_by)[table.id]

    def bring(self, table: StreamTable, target: Snapshot, full: bool, by: str) -> dict[int, RefreshResult]:
        """Refresh one stream table, and with it those that stand in a circle with it."""
        circle = circles.of(self, table)
        if not circle:
            return {table.id: self.refresher.refresh(table, target, full, by)}
        results = Fixpoint.refresh(self.refresher, circle, target, full, by)
        return {member.id: result for member, result in zip(circle, results, strict=True)}

    def _refresh_in_order(self, table: StreamTable, target: Snapshot, done: dict[int, RefreshResult]) -> None:
        if table.id in done:
            return
        for source in self.upstream(table):
            self._refresh_in_order(source, target, done)
        if table.status != SUSPENDED:
            fresh = self.find(Name(table.schema, table.name))
            done.update(self.bring(fresh, self._fresh_for(table, target), False, "upstream"))

    def _refresh_upstream(self, table: StreamTable, target: Snapshot) -> Snapshot:
        """Bring what it reads to the target; up to where all of that is fresh then."""
        done: dict[int, RefreshResult] = {}
        for source in self.upstream(table):
            self._refresh_in_order(source, target, done)
        return self._fresh_for(table, target)

    def _fresh_for(self, table: StreamTable, target: Snapshot) -> Snapshot:
        """The newest snapshot, not after the target, for which all stream tables that it reads are fresh."""
        return self.fresh_for(table, self.upstream(table), target)

    def fresh_for(self, table: StreamTable, sources: Sequence[StreamTable], target: Snapshot) -> Snapshot:
        """The same with the stream tables that it reads given."""
        oldest = target.id
        for source in sources:
            if source.frontier is None:
                raise QueryError(
                    f'stream table "{table.label}" reads "{source.label}", which is not filled yet',
                    hint=f'refresh "{source.label}" first.',
                )
            oldest = min(oldest, source.frontier)
        return target if oldest == target.id else self.lake.snapshot(oldest)
