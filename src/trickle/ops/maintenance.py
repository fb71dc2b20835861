"""Maintenance between refreshes: looked at now and then, done where it pays, never in a refresh's way."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ..errors import CommitConflict, TrickleError
from ..events import Events, Maintained, MaintenanceFailed
from ..lake.lake import MAIN
from ..lake.maintenance import jobs, worth
from ..lake.maintenance.targets import files
from ..lake.model import Snapshot, Table
from ..refresh.intermediates import stored_name
from ..refresh.result import RefreshResult
from ..refresh.sources import STORED_SCHEMA
from ..registry.maintenance import MaintenanceHistory
from ..registry.models import Maintenance, StreamTable
from . import clustering
from .expiry import Tidying
from .streams import Streams

LESSONS = 5
"""Earlier jobs of a table that tell how long one takes."""


@dataclass(frozen=True)
class Watch:
    """When something began."""

    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    clock: float = field(default_factory=time.perf_counter)

    @property
    def milliseconds(self) -> float:
        return (time.perf_counter() - self.clock) * 1000


@dataclass
class Caretaker:
    """Looks after the tables that refreshes write and read."""

    streams: Streams
    events: Events
    by: str = "user"
    _rounds: dict[str, int] = field(default_factory=dict)
    """Refreshes of each stream table since it was looked after; the first of a session is due at once."""

    def __post_init__(self) -> None:
        self.lake, self.settings = self.streams.lake, self.streams.lake.settings
        self.diary = MaintenanceHistory(self.streams.registry)
        self.tidying = Tidying(self.streams)

    def after(self, results: Iterable[RefreshResult], work: Callable[[str], None] | None = None) -> None:
        """What these refreshes wrote is looked after; whatever happens here, they have succeeded."""
        if self.settings["maintenance.automatic"] == "off":
            return
        due = [result.name for result in results if self._is_due(result)]
        for name in due:
            self._safely(name, work or self.look_after)
        if due:
            self._safely(due[0], self.tidy)

    def after_all_below(self, result: RefreshResult) -> None:
        """The same where the stream tables that it reads were refreshed first."""
        self.after([result], self.look_below)

    def _is_due(self, result: RefreshResult) -> bool:
        if result.snapshot is None or result.action in ("NO_DATA", "SKIP"):
            return False
        rounds = self._rounds.get(result.name, 0)
        self._rounds[result.name] = (rounds + 1) % int(self.settings["maintenance.every_refreshes"])
        return rounds == 0

    def _safely(self, name: str, work: Callable[[str], None]) -> None:
        try:
            work(name)
        except CommitConflict:
            return  # somebody else wrote there meanwhile: the next time will do
        except Exception as error:
            code = error.code if isinstance(error, TrickleError) else TrickleError.code
            logging.getLogger("trickle.maintenance").warning("after a refresh of %s: %s", name, error)
            self.events.tell(MaintenanceFailed(name, code, str(error)[:500]))

    # Files.

    def look_after(self, name: str) -> None:
        """Do what pays for the tables of one stream table."""
        owner = self._named(name)
        if owner is None:
            return
        with self.streams.refresher.locks[owner.id]:
            for table, readers in self._tables(owner):
                self._maintain(owner, table, readers)
        if self.settings["maintenance.cluster_sources"]:
            self._cluster(owner)

    def look_below(self, name: str) -> None:
        """Do what pays for one stream table and those that it reads."""
        owner = self._named(name)
        if owner is not None:
            with self.streams.reading() as connection:
                below = self.streams.registry.below(connection, owner)
            for label in dict.fromkeys([name, *(table.label for table in below)]):
                self.look_after(label)

    def _named(self, label: str) -> StreamTable | None:
        """The stream table that is called so, with or without a schema; None if it was dropped meanwhile."""
        dots = [n for n, letter in enumerate(label) if letter == "."]
        places = [(MAIN, label), *((label[:n], label[n + 1 :]) for n in dots)]
        with self.streams.reading() as connection:
            found = (self.streams.registry.find(connection, *place) for place in places if all(place))
            return next((table for table in found if table is not None and table.label == label), None)

    def _tables(self, owner: StreamTable) -> Iterator[tuple[Table, frozenset[int]]]:
        """The tables that it is stored in, and under the setting those it reads; each with who reads it."""
        head = self.lake.head()
        own = [owner.stored_name, *(stored_name(owner, name) for name in owner.intermediates)]
        wanted = [(STORED_SCHEMA, name) for name in own]
        if self.settings["maintenance.automatic"] == "all":
            wanted += [_parts(d.name) for d in owner.dependencies if not d.is_stream_table]
        for place in wanted:
            table = self.lake.table(*place, head)
            if table is not None:
                yield table, self._readers(owner, table)

    def _readers(self, owner: StreamTable, table: Table) -> frozenset[int]:
        with self.streams.reading() as connection:
            return frozenset({owner.id, *(t.id for t in self.streams.registry.readers(connection, [table.id]))})

    def _maintain(self, owner: StreamTable, table: Table, readers: frozenset[int]) -> None:
        head = self.lake.head()
        possible = jobs.jobs(self.lake, table, head)
        if not possible:
            return
        with self.streams.reading() as connection:
            refreshes = self.diary.readings(connection, readers)
            past = self.diary.lines(connection, table.id, limit=LESSONS)
        pace = worth.pace([(line.expected_ms, line.duration_ms) for line in past])
        weighed = worth.weigh(possible, refreshes, pace)
        payback = float(self.settings["maintenance.payback"])
        self._do(owner, table, head, [w for w in weighed if w.is_due(payback)])

    def _do(self, owner: StreamTable, table: Table, head: Snapshot, due: list[worth.Worth]) -> None:
        watch = Watch()
        for done in jobs.do(self.lake, table, head, [w.job for w in due]):
            chosen = [w for w in due if jobs.action(w.job) == done.action]
            self._note(owner.label, self._line(table, watch, done, chosen))
            watch = Watch()

    def _line(self, table: Table, watch: Watch, done: jobs.Done, chosen: list[worth.Worth]) -> Maintenance:
        return Maintenance(
            table_id=table.id,
            name=f"{table.schema}.{table.name}",
            started_at=watch.began,
            finished_at=datetime.now(UTC),
            action=done.action,
            reason=worth.reason(chosen),
            files_before=done.files_before,
            files_after=done.files_after,
            duration_ms=watch.milliseconds,
            expected_ms=sum(w.job.cost_ms for w in chosen),
            snapshot=done.snapshot,
            initiated_by=self.by,
        )

    def _cluster(self, owner: StreamTable) -> None:
        """Sources that nobody gave cluster keys, by those that most stream tables look them up by."""
        head = self.lake.head()
        for name in (d.name for d in owner.dependencies if not d.is_stream_table):
            table = self.lake.table(*_parts(name), head)
            if table is not None and not table.clustered_by and not clustering.is_small(self.streams, table):
                self._lay_out(owner, table, head)

    def _lay_out(self, owner: StreamTable, table: Table, head: Snapshot) -> None:
        with self.streams.reading() as connection:
            readers = self.streams.registry.readers(connection, [table.id])
            refreshes = self.diary.readings(connection, [reader.id for reader in readers])
        [worth_it] = worth.weigh([worth.Layout(tuple(files(self.lake, table, head)), False)], refreshes)
        if not worth_it.is_due(float(self.settings["maintenance.payback"])):
            return
        advised = {t.id: advice for t, advice in clustering.recommendations(self.streams, readers)}
        if table.id not in advised:
            return
        watch = Watch()
        done = clustering.cluster_as_recommended(self.streams, table, advised[table.id].recommended)
        if done is not None:
            kept = jobs.Done("CLUSTER", done.files_before, done.files_after, done.snapshot)
            self._note(owner.label, self._line(table, watch, kept, [worth_it]))

    # Snapshots.

    def tidy(self, name: str) -> None:
        """Let snapshots and files go that the settings do not keep."""
        watch = Watch()
        gone = self.tidying.expire(watch.began)
        self.tidying.clean()
        if gone:
            reason = f"{len(gone)} snapshots, up to {gone[-1].id}"
            took = (watch.began, datetime.now(UTC))
            facts = (0, "", *took, "EXPIRE", reason, 0, 0, watch.milliseconds, 0.0, None, self.by)
            self._note(name, Maintenance(*facts))

    def _note(self, name: str, line: Maintenance) -> None:
        self.streams.migrate()
        with self.lake.catalog.writing() as connection:
            self.diary.record(connection, line)
        facts = (line.name, line.action, line.files_before, line.files_after, line.duration_ms, line.snapshot)
        self.events.tell(Maintained(name, *facts))


def _parts(name: str) -> tuple[str, str]:
    """A table as plans name it, as schema and name."""
    schema, _, table = name.partition(".")
    return schema, table
