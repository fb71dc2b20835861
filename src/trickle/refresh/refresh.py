"""Whoever refreshes the stream tables of a lake: finds them, runs lost races again, knows their queries."""

from __future__ import annotations

import itertools
import threading
from collections import defaultdict

from ..errors import CommitConflict, SchemaChanged
from ..lake.lake import Lake
from ..lake.model import Snapshot, Table
from ..registry.models import StreamTable
from ..registry.store import Registry, unknown
from .choose import Choice
from .compile import Compiled
from .content import Content
from .look import Look
from .queries import Queries
from .result import RefreshResult
from .run import Run
from .sources import STORED_SCHEMA, Point, Sources

_NUMBERS = itertools.count(1)


class Refresher:
    """Refreshes the stream tables of one lake."""

    def __init__(self, lake: Lake, registry: Registry) -> None:
        self.lake, self.registry = lake, registry
        self.sources = Sources(lake, registry)
        self.prefix = f"__trickle_{next(_NUMBERS)}"
        """Begins the names of relations that Spark sees: sessions that share a Spark do not meet."""
        self.queries = Queries(lake)
        self.locks: dict[int, threading.Lock] = defaultdict(threading.Lock)

    def find(self, schema: str, name: str) -> StreamTable:
        with self.lake.reading() as connection:
            found = self.registry.find(connection, schema, name)
            if found is None:
                raise unknown(name, self.registry.labels(connection))
        return found

    def refresh(
        self, table: StreamTable, target: Snapshot | None = None, full: bool = False, initiated_by: str = "user"
    ) -> RefreshResult:
        """Bring the table to the target (the head); lost races are run again from the start."""
        tries = self.lake.settings["lake.commit_retries"]
        with self.locks[table.id]:
            for attempt in range(tries + 1):
                try:
                    return self._refresh_once(table, target or self.lake.head(), full, initiated_by)
                except CommitConflict:
                    if attempt == tries:
                        raise
                    table = self.find(table.schema, table.name)
        raise AssertionError("unreachable")

    def _refresh_once(self, table: StreamTable, target: Snapshot, full: bool, initiated_by: str) -> RefreshResult:
        if table.frontier is not None and table.frontier > target.id:
            # Somebody was faster, with a newer target: a frontier never moves back.
            if not full:
                run = Run(self, table, target, full, initiated_by)
                return run.result(Choice("NO_DATA"), 0, 0, table.frontier, table.snapshot)
            target = self.lake.snapshot(table.frontier)
        return Run(self, table, target, full, initiated_by).run()

    def compiled(self, table: StreamTable, at: Snapshot) -> Compiled:
        """The query as it stands at a snapshot."""
        return self.queries.at(table, at)

    def look(self, table: StreamTable) -> Look:
        """What the next refresh would find, by the catalog alone."""
        return Run(self, table, self.lake.head(), False, "preview").look()

    def preview(self, table: StreamTable) -> Choice:
        """What the next refresh would do."""
        run = Run(self, table, self.lake.head(), False, "preview")
        return run.choose(run.look())

    def content(self, table: StreamTable, compiled: Compiled, target: Snapshot, seen: Snapshot) -> Content:
        """What a query gives at a data snapshot, of its sources the commits seen."""
        windows = self.sources.windows(compiled.tables, None, Point(target.id, seen.id))
        return Content(self.lake, table, compiled, windows, f"{self.prefix}_c{table.id}")

    def stored(self, table: StreamTable, at: Snapshot) -> Table:
        found = self.lake.table(STORED_SCHEMA, table.stored_name, at)
        if found is None:
            raise SchemaChanged(
                f'the stored rows of stream table "{table.label}" are gone',
                detail=f'table "{table.stored}" was dropped.',
                hint="drop the stream table and create it again.",
            )
        return found
