"""A connection to a lake: the only place that wires the rooms together."""

from __future__ import annotations

import html
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from . import functions
from . import spark as sparks
from .config import Settings
from .errors import CommitConflict, QueryError, SessionClosed
from .events import Events
from .execute import alter, ddl, describe, dml, merge
from .execute.binding import Binding
from .execute.transaction import Transaction
from .health_methods import HealthMethods
from .key_methods import KeyMethods
from .lake import snapshots
from .lake.draft import Draft
from .lake.foreign import translated
from .lake.lake import Lake, missing, open_lake
from .lake.model import Snapshot
from .maintenance_methods import MaintenanceMethods
from .ops import guard
from .ops.maintenance import Caretaker
from .ops.reads import Reads
from .ops.streams import Streams
from .project import find_project
from .records import Record, Records
from .refresh import immediate
from .schedule_methods import ScheduleMethods
from .sql import statement as st
from .sql.grammar.relations import Reference
from .sql.parse import parse, table_name
from .sql.script import split
from .stream_methods import StreamTableMethods
from .stream_statements import STREAM_STATEMENTS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")


@dataclass(frozen=True)
class StatementResult(Record):
    """What a statement did: how many rows it touched, and the snapshot it made (None inside a transaction)."""

    rows: int
    snapshot: int | None


@dataclass(frozen=True)
class SnapshotRecord(Record):
    id: int
    time: datetime
    changes: str
    author: str | None
    message: str | None
    extra_info: str | None


def connect(
    location: str | os.PathLike[str] | None = None,
    data_path: str | os.PathLike[str] | None = None,
    spark: SparkSession | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Session:
    """Open the lake at a directory or a `postgresql://` URL; create it if it is not there.

    Without a location, the lake that the nearest `trickle.toml` names, or else the current directory; its settings
    hold for any location, unless `settings` says otherwise.

    The catalog of a directory is its `catalog.sqlite`, the files lie in its `data/`. A shared catalog in PostgreSQL
    needs `data_path` when it is created. Without `spark`, the running session is used, or one is started when rows
    are first read or written.

        db = trickle.connect("shop")
        db = trickle.connect("postgresql://trickle@db/lake", data_path="s3a://bucket/lake/")
        db = trickle.connect(settings={"spark.master": "local[4]"})
    """
    project = find_project()
    chosen = Settings.of(project.settings, settings or {})
    where, files = project.placed(location, data_path)
    if spark is None:
        sparks.require(chosen)
    given = sparks.prepare(spark) if spark is not None else None
    start = partial(sparks.start, chosen) if given is None else lambda: given
    return Session(open_lake(where, files, start, chosen))


class Session(StreamTableMethods, ScheduleMethods, HealthMethods, KeyMethods, MaintenanceMethods):
    """A connection to one lake; also a context manager."""

    def __init__(self, lake: Lake) -> None:
        self._lake: Lake | None = lake
        self._transaction: Transaction | None = None
        self._upkeep: immediate.Upkeep | None = None
        self._stream_tables = Streams.of(lake)
        self.events = Events()
        self._caretaker = Caretaker(self._stream_tables, self.events)
        self._reads = Reads(self._stream_tables)
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"<trickle.Session {self._lake.catalog.label}>" if self._lake else "<trickle.Session closed>"

    def _repr_html_(self) -> str:
        """In notebooks: the lake, and how its stream tables stand."""
        if self._lake is None:
            return "<i>closed trickle session</i>"
        label, files = html.escape(self._lake.catalog.label), html.escape(self._lake.storage.root)
        return f"<b>{label}</b>, snapshot {self.head()}, files in {files}{self.stream_table_status()._repr_html_()}"

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def lake(self) -> Lake:
        """The lake below; `SessionClosed` once the session is closed."""
        if self._lake is None:
            raise SessionClosed("the session is closed", hint="open a new one with trickle.connect().")
        return self._lake

    @property
    def _streams(self) -> Streams:
        self.lake  # noqa: B018  raises if the session is closed
        return self._stream_tables

    def _require_no_transaction(self, what: str) -> None:
        if self._transaction is not None:
            raise QueryError(f"{what} cannot run inside a transaction", hint="COMMIT or ROLLBACK first.")

    @property
    def spark(self) -> SparkSession:
        """The Spark session, which is started when it is first asked for."""
        return self.lake.spark

    @property
    def settings(self) -> Settings:
        """What was set, over the defaults: `db.settings["refresh.small_result_rows"]`."""
        return self.lake.settings

    def close(self) -> None:
        """Roll back what is open and let go of the catalog; the Spark session stays."""
        with self._lock:
            if self._transaction is not None:
                self._rollback()
            if self._lake is not None:
                self._reads.close()
                self._lake.close()
            self._lake = None

    # Statements.

    def sql(self, text: str) -> Any:
        """Run one statement: a query gives a Spark DataFrame, anything else a `StatementResult`.

        db.sql("INSERT INTO orders VALUES (1, 'Ada', 10)").rows
        db.sql("SELECT customer, sum(amount) FROM orders GROUP BY customer").show()
        """
        statement = parse(text)
        with self._lock:
            if isinstance(statement, st.Query):
                return self._query(statement)
            if isinstance(statement, st.Begin | st.Commit | st.Rollback):
                return self._control(statement)
            if isinstance(statement, st.Show | st.Describe):
                return self._reading(lambda t, _: describe.run(t, statement))
            if type(statement) in STREAM_STATEMENTS:
                return STREAM_STATEMENTS[type(statement)](self, statement)
            for name in _changed_names(statement):
                guard.refuse_owned(self._streams, name)
            run = _STATEMENTS.get(type(statement))
            if run is None:
                raise QueryError(
                    f"{type(statement).__name__} is not supported by this release", hint="see docs/reference/sql.md."
                )
            cascade = isinstance(statement, st.DropTable | st.DropSchema) and statement.cascade

            def work(transaction: Transaction, binding: Binding) -> int:
                rows = run(transaction, binding, statement)
                guard.check_definitions(self._streams, transaction, cascade)
                return rows

            return self._writing(work)

    def script(self, text: str) -> list[Any]:
        """Run the statements of a script one by one; the result of each."""
        return [self.sql(one) for one in split(text)]

    def append(self, name: str, data: Any) -> StatementResult:
        """Add rows: a Spark or pandas DataFrame, an Arrow table or a list of dicts; columns go by name.

        db.append("orders", [{"id": 1, "customer": "Ada", "amount": 10}])
        """
        with self._lock:
            target = table_name(name)
            guard.refuse_owned(self._streams, target)
            return self._writing(lambda t, _: dml.append(t, target, data))

    def table(self, name: str, at: int | None = None) -> DataFrame:
        """A table or view as a DataFrame, now or as of a snapshot.

        db.table("orders", at=42).toPandas()
        """
        wanted = table_name(name)
        with self._lock:
            version = "" if at is None else f" VERSION AS OF {int(at)}"
            return self._reading(lambda _, b: b.run(f"SELECT * FROM {wanted.quote_spark()}{version}"))

    def changes(self, name: str, start: int, end: int | None = None) -> DataFrame:
        """The net change of a table in (start, end]: its columns and `__w`, how many copies came (+) or went (−).

        db.changes("orders", start=42).show()
        """
        wanted = table_name(name)
        with self._lock:
            last = self.lake.head() if end is None else self.lake.snapshot(end)
            if start > last.id:
                raise QueryError(f"the range ({start}, {last.id}] is empty", hint="start must not be after end.")
            if self._streams.exists(wanted):
                return self._streams.changes(wanted, start, last)
            table = self.lake.table(wanted.schema or "main", wanted.name, last)
            if table is None:
                raise missing("table", wanted.label, [t.name for t in self.tables()])
            with translated(f'changes of table "{table.label}"'):
                return self.lake.changes(table, start, last.id)

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """Several statements, one snapshot; an error rolls all of them back.

        with db.transaction():
            db.sql("DELETE FROM orders WHERE id = 1")
            db.sql("INSERT INTO archive VALUES (1)")
        """
        self.sql("BEGIN")
        try:
            yield self
        except BaseException:
            with suppress(SessionClosed):
                if self._transaction is not None:
                    self.sql("ROLLBACK")
            raise
        if self._transaction is not None:
            self.sql("COMMIT")

    # Facts.

    def head(self) -> int:
        """The id of the newest snapshot."""
        return self.lake.head().id

    def snapshots(self) -> Records[SnapshotRecord]:
        """Every snapshot that is kept, oldest first."""
        with self.lake.reading() as connection:
            found = snapshots.listing(self.lake.catalog, connection)
        return Records(SnapshotRecord(s.id, s.time, s.changes, s.author, s.message, s.extra_info) for s in found)

    def tables(self, schema: str | None = None) -> Records[describe.TableRecord]:
        """The tables of the lake, or of one schema."""
        return self._reading(lambda t, _: describe.tables(t, schema))

    def columns(self, name: str) -> Records[describe.ColumnRecord]:
        """The columns of a table."""
        wanted = table_name(name)
        return self._reading(lambda t, _: describe.columns(t, wanted))

    def version(self) -> str:
        """The version of Trickle, not of the lake."""
        from importlib.metadata import version

        return version("spark-trickle")

    # How statements run.

    def _query(self, statement: st.Query) -> DataFrame:
        return self._reading(lambda _, b: b.run(statement.text))

    def _reading(self, work: Callable[[Transaction, Binding], T]) -> T:
        transaction = self._transaction or Transaction(self.lake, Draft(self.lake.head()), self._reads)
        return self._bound(transaction, work)

    def _bound(self, transaction: Transaction, work: Callable[[Transaction, Binding], T]) -> T:
        binding = Binding(transaction, self._fact)
        try:
            return work(transaction, binding)
        finally:
            binding.close()

    def _fact(self, reference: Reference) -> DataFrame | None:
        """A function or a registry table of schema `trickle`, as a relation."""
        return functions.relation(self, reference)

    def _writing(self, work: Callable[[Transaction, Binding], int]) -> StatementResult:
        if self._transaction is not None:
            return StatementResult(self._bound(self._transaction, work), None)
        tries = self.lake.settings["lake.commit_retries"]
        for attempt in range(tries + 1):
            transaction = Transaction.begin(self.lake)
            try:
                rows = self._bound(transaction, work)
            except BaseException:
                transaction.draft.discard(self.lake.storage)
                raise
            try:
                return StatementResult(rows, self._commit(immediate.Upkeep(self._streams.refresher, transaction)))
            except CommitConflict:
                if attempt == tries:
                    raise
        raise AssertionError("unreachable")

    def _commit(self, upkeep: immediate.Upkeep) -> int | None:
        draft = upkeep.transaction.draft
        if draft.is_empty:
            return None
        try:
            upkeep.bring_along()
        except BaseException:
            draft.discard(self.lake.storage)
            raise
        return self.lake.commit(draft)

    def _control(self, statement: st.Begin | st.Commit | st.Rollback) -> StatementResult:
        if isinstance(statement, st.Begin):
            if self._transaction is not None:
                raise QueryError("a transaction is open already", hint="COMMIT or ROLLBACK it first.")
            self._transaction = Transaction.begin(self.lake)
            self._upkeep = immediate.Upkeep(self._streams.refresher, self._transaction)
            self._transaction.on_read = self._upkeep.before_reading
            return StatementResult(0, None)
        if self._transaction is None:
            raise QueryError("no transaction is open", hint="BEGIN one first.")
        if isinstance(statement, st.Rollback):
            self._rollback()
            return StatementResult(0, None)
        upkeep, self._transaction, self._upkeep = self._upkeep, None, None
        assert upkeep is not None
        return StatementResult(0, self._commit(upkeep))

    def _rollback(self) -> None:
        assert self._transaction is not None
        self._transaction.draft.discard(self.lake.storage)
        self._transaction = self._upkeep = None

    @property
    def base_snapshot(self) -> Snapshot:
        """The snapshot that statements read from now."""
        return (self._transaction or Transaction.begin(self.lake)).base


def _changed_names(statement: st.Statement) -> list[st.Name]:
    """The tables or views that a statement changes."""
    match statement:
        case st.Insert() | st.Update() | st.Delete() | st.Truncate() | st.AlterTable() | st.DropTable() | st.DropView():
            return [statement.name]
        case st.CreateTable() | st.CreateView():
            return [statement.name]
        case st.Merge():
            return [statement.target]
        case _:
            return []


_STATEMENTS: dict[type, Callable[[Transaction, Binding, Any], int]] = {
    st.AlterTable: alter.alter_table,
    st.CreateSchema: lambda t, _, s: ddl.create_schema(t, s),
    st.CreateTable: ddl.create_table,
    st.CreateView: ddl.create_view,
    st.Delete: dml.delete,
    st.DropSchema: lambda t, _, s: ddl.drop_schema(t, s),
    st.DropTable: lambda t, _, s: ddl.drop_table(t, s),
    st.DropView: lambda t, _, s: ddl.drop_view(t, s),
    st.Insert: dml.insert,
    st.Merge: merge.merge,
    st.Truncate: lambda t, _, s: dml.truncate(t, s),
    st.Update: dml.update,
}
