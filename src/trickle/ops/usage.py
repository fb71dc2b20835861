"""What refreshes did lately, in numbers, and how much the sources changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ..lake import snapshots
from ..records import Record, Records
from ..refresh.look import measure
from ..refresh.windows import Window
from ..registry.models import Refresh, StreamTable
from ..sql.statement import Name
from .streams import Streams

COMPUTED = ("DIFFERENTIAL", "FULL", "REINITIALIZE")


@dataclass(frozen=True)
class RefreshMetrics(Record):
    """Of one stream table; durations are of refreshes that computed something."""

    name: str
    refreshes: int
    differential: int
    full: int
    no_data: int
    skipped: int
    errors: int
    rows_inserted: int
    rows_deleted: int
    changed_rows: int
    average_ms: float | None
    p95_ms: float | None
    slowest_ms: float | None


@dataclass(frozen=True)
class MetricsSummary(Record):
    """The same of all stream tables together."""

    hours: float
    stream_tables: int
    refreshes: int
    differential: int
    full: int
    no_data: int
    skipped: int
    errors: int
    rows_inserted: int
    rows_deleted: int
    changed_rows: int
    average_ms: float | None
    p95_ms: float | None
    slowest_ms: float | None


@dataclass(frozen=True)
class ChangeStats(Record):
    source: str
    readers: tuple[str, ...]
    commits: int
    """That changed its rows, of the snapshots of the last hours."""
    last_change_at: datetime | None
    waiting_rows: int
    """Changed rows, at most, that the reader furthest behind has not taken in yet."""


def refresh_metrics(streams: Streams, name: Name | None = None, hours: float = 24.0) -> Records[RefreshMetrics]:
    tables = streams.all() if name is None else [streams.find(name)]
    found = defaultdict(list)
    for line in _lines(streams, hours, tables[0].id if name is not None else None):
        found[line.stream_table_id].append(line)
    return Records(RefreshMetrics(t.label, *_numbers(found[t.id])) for t in tables)


def metrics_summary(streams: Streams, hours: float = 24.0) -> MetricsSummary:
    return MetricsSummary(hours, len(streams.all()), *_numbers(_lines(streams, hours)))


def _lines(streams: Streams, hours: float, id: int | None = None) -> list[Refresh]:
    with streams.lake.reading() as connection:
        return list(streams.registry.lines_since(connection, datetime.now(UTC) - timedelta(hours=hours), id))


Numbers = tuple[int, int, int, int, int, int, int, int, int, float | None, float | None, float | None]


def _numbers(lines: Sequence[Refresh]) -> Numbers:
    took = sorted(h.duration_ms for h in lines if h.action in COMPUTED and not h.error)
    return (
        len(lines),
        _count(lines, "DIFFERENTIAL"),
        _count(lines, "FULL", "REINITIALIZE"),
        _count(lines, "NO_DATA"),
        _count(lines, "SKIP"),
        sum(bool(h.error) for h in lines),
        sum(h.rows_inserted for h in lines),
        sum(h.rows_deleted for h in lines),
        sum(h.changed_rows for h in lines),
        sum(took) / len(took) if took else None,
        percentile(took, 0.95),
        took[-1] if took else None,
    )


def _count(lines: Iterable[Refresh], *actions: str) -> int:
    return sum(h.action in actions and not h.error for h in lines)


def percentile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest value that is not below this share of all.

    >>> percentile([1, 2, 3, 4], 0.5), percentile([7], 0.95), percentile([], 0.5)
    (2, 7, None)
    """
    if not ordered:
        return None
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


# Sources.


def change_stats(streams: Streams, source: str | None = None, hours: float = 24.0) -> Records[ChangeStats]:
    """For each table that stream tables read: how often it changed, and what is still to be taken in."""
    readers: dict[str, list[StreamTable]] = defaultdict(list)
    for table in streams.all():
        for dependency in table.dependencies:
            if not dependency.is_stream_table:
                readers[dependency.name].append(table)
    label = source if source is None or "." in source else f"main.{source}"
    chosen = [name for name in sorted(readers) if label is None or name.casefold() == label.casefold()]
    return Records(_change(streams, name, readers[name], hours) for name in chosen)


def _change(streams: Streams, name: str, readers: Sequence[StreamTable], hours: float) -> ChangeStats:
    id = next(str(d.table_id) for d in readers[0].dependencies if d.name == name)
    since = datetime.now(UTC) - timedelta(hours=hours)
    with streams.lake.reading() as connection:
        listed = snapshots.listing(streams.lake.catalog, connection)
    times = [s.time for s in listed if s.time >= since and any(what == id for _, what in snapshots.tokens(s.changes))]
    labels = tuple(r.label for r in readers)
    return ChangeStats(
        name.removeprefix("main."), labels, len(times), max(times, default=None), _rows(streams, name, readers)
    )


def _rows(streams: Streams, name: str, readers: Sequence[StreamTable]) -> int:
    """Between the frontier furthest behind and the head, by the catalog alone."""
    lake = streams.lake
    head = lake.head()
    schema, _, short = name.partition(".")
    table = lake.table(schema, short, head)
    frontiers = [r.frontier for r in readers if r.frontier is not None]
    if table is None or not frontiers:
        return 0
    return measure(lake, head, {name: Window(table, lake.snapshot(min(frontiers)), head)}).changed_rows
