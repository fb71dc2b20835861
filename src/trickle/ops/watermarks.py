"""Watermarks: up to when each source is complete; sources of a group are read when they agree well enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from ..errors import AlreadyExists, ConfigError, NotFound
from ..records import Record, Records
from ..refresh.holds import aligned
from ..registry.scheduling import Scheduling, Watermark, WatermarkGroup
from ..schedules import read_duration
from ..sql.parse import table_name
from ..sql.statement import Name
from .gates import shown, source_name, user
from .streams import Streams


@dataclass(frozen=True)
class WatermarkRecord(Record):
    source: str
    watermark: datetime
    advanced_at: datetime
    advanced_by: str


@dataclass(frozen=True)
class WatermarkGroupRecord(Record):
    name: str
    sources: tuple[str, ...]
    tolerance_seconds: float
    created_at: datetime


@dataclass(frozen=True)
class WatermarkStatus(Record):
    name: str
    aligned: bool
    lag_seconds: float | None
    """Between its earliest and its latest watermark."""
    earliest: datetime | None
    latest: datetime | None
    with_watermark: int
    sources: int


def advance_watermark(streams: Streams, source: Name, watermark: Any) -> WatermarkRecord:
    """The source is complete up to this time; a time before the one it has is refused."""
    name, at = source_name(streams, source), moment(watermark)
    streams.migrate()
    scheduling = Scheduling(streams.registry)
    with streams.lake.catalog.writing() as connection:
        known = next((m for m in scheduling.watermarks(connection) if m.source == name), None)
        if known is not None and at < known.watermark:
            raise ConfigError(
                f'the watermark of "{source.label}" cannot go back',
                detail=f"it is {known.watermark.isoformat()}, not {at.isoformat()}.",
                hint="advance it to a later time.",
            )
        mark = Watermark(name, at, datetime.now(UTC), user())
        scheduling.put_watermark(connection, mark)
        scheduling.signal(connection)
    return _record(streams, mark)


def watermarks(streams: Streams) -> Records[WatermarkRecord]:
    with streams.lake.reading() as connection:
        found = Scheduling(streams.registry).watermarks(connection)
    return Records(_record(streams, mark) for mark in found)


def create_watermark_group(
    streams: Streams, name: str, sources: Sequence[str] | str, tolerance: Any = 0
) -> WatermarkGroupRecord:
    """Stream tables that read two of the sources wait while the watermarks lie further apart than the tolerance."""
    given = [s.strip() for s in sources.split(",")] if isinstance(sources, str) else list(sources)
    names = tuple(dict.fromkeys(source_name(streams, table_name(s)) for s in given))
    if not name.strip():
        raise ConfigError("a watermark group needs a name", hint="give it one.")
    if len(names) < 2:
        raise ConfigError(f'watermark group "{name}" needs two sources at least', hint="name them all.")
    seconds = 0.0 if tolerance in (0, 0.0, "0") else read_duration(tolerance)
    streams.migrate()
    scheduling = Scheduling(streams.registry)
    group = WatermarkGroup(name, names, seconds, datetime.now(UTC))
    with streams.lake.catalog.writing() as connection:
        if any(g.name == name for g in scheduling.watermark_groups(connection)):
            raise AlreadyExists(f'watermark group "{name}" exists already', hint="drop it first.")
        scheduling.put_watermark_group(connection, name, group)
        scheduling.signal(connection)
    return _group(streams, group)


def drop_watermark_group(streams: Streams, name: str) -> None:
    scheduling = Scheduling(streams.registry)
    known = [g.name for g in watermark_groups(streams)]
    if name not in known:
        raise NotFound(f'watermark group "{name}" does not exist', hint=f"there are: {', '.join(known) or 'none'}.")
    with streams.lake.catalog.writing() as connection:
        scheduling.put_watermark_group(connection, name, None)
        scheduling.signal(connection)


def watermark_groups(streams: Streams) -> Records[WatermarkGroupRecord]:
    with streams.lake.reading() as connection:
        found = Scheduling(streams.registry).watermark_groups(connection)
    return Records(_group(streams, group) for group in found)


def watermark_status(streams: Streams) -> Records[WatermarkStatus]:
    """For each group, whether its sources agree."""
    scheduling = Scheduling(streams.registry)
    with streams.lake.reading() as connection:
        marks = {m.source: m for m in scheduling.watermarks(connection)}
        groups = scheduling.watermark_groups(connection)
    return Records(_status(group, marks) for group in groups)


def _status(group: WatermarkGroup, marks: dict[str, Watermark]) -> WatermarkStatus:
    known = [marks[s].watermark for s in group.sources if s in marks]
    first, last = min(known, default=None), max(known, default=None)
    lag = (last - first).total_seconds() if first and last else None
    return WatermarkStatus(group.name, aligned(group, marks), lag, first, last, len(known), len(group.sources))


def _record(streams: Streams, mark: Watermark) -> WatermarkRecord:
    return WatermarkRecord(shown(streams, mark.source), mark.watermark, mark.advanced_at, mark.advanced_by)


def _group(streams: Streams, group: WatermarkGroup) -> WatermarkGroupRecord:
    names = tuple(shown(streams, source) for source in group.sources)
    return WatermarkGroupRecord(group.name, names, group.tolerance, group.created_at)


def moment(value: Any) -> datetime:
    """A time, UTC where no zone is said.

    >>> moment("2024-05-01 12:00").isoformat()
    '2024-05-01T12:00:00+00:00'
    """
    try:
        if isinstance(value, datetime):
            found = value
        elif isinstance(value, date):
            found = datetime(value.year, value.month, value.day)
        else:
            found = datetime.fromisoformat(str(value).strip())
    except ValueError:
        raise ConfigError(f"{value!r} is not a time", hint="write it like 2024-05-01T12:00:00.") from None
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
