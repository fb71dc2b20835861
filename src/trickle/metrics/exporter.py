"""The metrics of a lake and of a process, in the text format of Prometheus."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from sqlalchemy import event

from ..errors import TrickleError
from ..events import Event
from ..ops.overview import Overview
from ..ops.streams import Streams
from ..registry.models import Refresh
from . import gauges
from .catalogue import GAUGE, METRICS
from .tally import Tally

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Busy = Callable[[], tuple[int, int]]
"""How many workers are busy, of how many."""


class Exporter:
    """Follows the history of refreshes line by line, whoever made them; everything else is read when asked for."""

    def __init__(self, streams: Streams, workers: Busy | None = None, from_start: bool = False) -> None:
        """Counters begin now or, `from_start`, with the oldest line of the history."""
        self.streams, self.workers = streams, workers
        self.tally = Tally()
        self._collectors = CollectorRegistry()
        self._collectors.register(self)
        self._lock = threading.Lock()
        self._line = 0 if from_start else self._newest()
        self._watched = _watch(streams.lake.catalog.engine, self.tally)

    def close(self) -> None:
        """Statements on the catalog are no longer timed."""
        self._watched()

    def __call__(self, told: Event) -> None:
        """As a subscriber: events are counted."""
        self.tally.add("trickle_events_total", told.kind)

    def text(self) -> bytes:
        with self._lock:
            return generate_latest(self._collectors)

    def describe(self) -> Sequence[Metric]:
        return ()  # or the registry would collect when it is told of this one

    def collect(self) -> Iterator[Metric]:
        made = {m.name: GaugeMetricFamily(m.name, m.meaning, labels=m.labels) for m in METRICS if m.kind == GAUGE}
        for name, labels, value in self._samples():
            made[name].add_metric(labels, float(value))
        yield from made.values()
        yield from self.tally.families()

    def _samples(self) -> Iterator[gauges.Sample]:
        yield "trickle_build_info", (version("spark-trickle"),), 1
        if self.workers is not None:
            busy, number = self.workers()
            yield "trickle_workers", ("busy",), busy
            yield "trickle_workers", ("idle",), number - busy
        try:
            self.follow()
            silence = self.streams.lake.settings["scheduler.lease_seconds"]
            found = list(gauges.lake(Overview.read(self.streams, silence)))
        except TrickleError:
            yield "trickle_catalog_up", (), 0
            return
        yield "trickle_catalog_up", (), 1
        yield from found

    def follow(self) -> None:
        """Count the refreshes since the last look."""
        with self.streams.lake.reading() as connection:
            for number, line in self.streams.registry.lines_after(connection, self._line):
                self.count(line)
                self._line = number

    def count(self, line: Refresh) -> None:
        name = line.name
        if line.error:
            self.tally.add("trickle_refresh_errors_total", name, line.reason)
            return
        self.tally.add("trickle_refreshes_total", name, line.action, line.reason)
        self.tally.observe("trickle_refresh_duration_seconds", line.duration_ms / 1000, name, line.action)
        self.tally.add("trickle_rows_inserted_total", name, by=line.rows_inserted)
        self.tally.add("trickle_rows_deleted_total", name, by=line.rows_deleted)
        self.tally.add("trickle_changed_rows_total", name, by=line.changed_rows)

    def _newest(self) -> int:
        with self.streams.lake.reading() as connection:
            return self.streams.registry.newest_line(connection)


def _watch(engine: Any, tally: Tally) -> Callable[[], None]:
    """Time every statement of the catalog; what is returned ends that."""

    def before(connection: Any, *_: Any) -> None:
        connection.info["trickle_began"] = time.perf_counter()

    def after(connection: Any, *_: Any) -> None:
        began = connection.info.pop("trickle_began", None)
        if began is not None:
            tally.observe("trickle_catalog_statement_seconds", time.perf_counter() - began)

    event.listen(engine, "before_cursor_execute", before)
    event.listen(engine, "after_cursor_execute", after)

    def end() -> None:
        event.remove(engine, "before_cursor_execute", before)
        event.remove(engine, "after_cursor_execute", after)

    return end
