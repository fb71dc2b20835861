"""What the history of a stream table recommends; nothing while there is too little of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from ..records import Record, Records
from ..registry.models import Refresh, StreamTable
from ..sql.statement import Name
from .streams import Streams

LINES = 500
"""Of the history, the newest of each kind that are looked at."""
EACH = 3
"""So many refreshes of each kind are compared at least: a first load alone says little."""
SHARE = 10
"""A refresh should take at most a tenth of its interval."""
CLEARLY = 0.8
"""Only a mode that takes at most this share of the other's time is recommended over it."""
STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)


@dataclass(frozen=True)
class ScheduleRecommendation(Record):
    name: str
    schedule: str
    recommended: str | None
    confidence: float
    samples: int
    reason: str


@dataclass(frozen=True)
class ModeRecommendation(Record):
    name: str
    refresh_mode: str
    recommended: str | None
    confidence: float
    samples: int
    reason: str


def recommend_schedule(streams: Streams, name: Name) -> Records[ScheduleRecommendation]:
    return Records([_schedule(streams, streams.find(name))])


def schedule_recommendations(streams: Streams) -> Records[ScheduleRecommendation]:
    return Records(_schedule(streams, table) for table in streams.all())


def recommend_refresh_mode(streams: Streams, name: Name | None = None) -> Records[ModeRecommendation]:
    tables = streams.all() if name is None else [streams.find(name)]
    return Records(_mode(streams, table) for table in tables)


def _worked(streams: Streams, table: StreamTable) -> list[Refresh]:
    """What computed something, of each kind by itself: more history of whatever kind never buries another."""
    with streams.lake.reading() as connection:
        return streams.registry.lessons(connection, table.id, LINES)


def _schedule(streams: Streams, table: StreamTable) -> ScheduleRecommendation:
    least = streams.lake.settings["scheduler.minimum_samples"]
    past = _worked(streams, table)
    recommended, reason = schedule_for(past, least)
    current = str(table.options.get("schedule", "calculated"))
    sure = confidence(len(past), least) if recommended else 0.0
    return ScheduleRecommendation(table.label, current, recommended, sure, len(past), reason)


def _mode(streams: Streams, table: StreamTable) -> ModeRecommendation:
    least = streams.lake.settings["scheduler.minimum_samples"]
    past = _worked(streams, table)
    recommended, reason = mode_for(past, table.obstacle, least)
    sure = 0.0 if recommended is None else 1.0 if table.obstacle else confidence(len(past), least)
    return ModeRecommendation(table.label, table.refresh_mode, recommended, sure, len(past), reason)


def confidence(samples: int, least: int) -> float:
    """n / (n + least): grows with the history, never reaches 1.

    >>> confidence(10, 10), confidence(90, 10)
    (0.5, 0.9)
    """
    return samples / (samples + least)


def schedule_for(past: Sequence[Refresh], least: int) -> tuple[str | None, str]:
    """An interval in which a slow refresh takes a tenth; when changes are much rarer than that, `on_change`."""
    if len(past) < least:
        return None, f"{len(past)} of {least} refreshes that are needed"
    slow = sorted(h.duration_ms for h in past)[int(0.95 * (len(past) - 1))] / 1000
    interval = next((step for step in STEPS if step >= SHARE * slow), STEPS[-1])
    times = sorted(h.started_at for h in past)
    gap = median((b - a).total_seconds() for a, b in pairwise(times))
    if gap > SHARE * interval:
        return "on_change", f"changes come every {gap:.0f} s, a refresh takes {slow:.1f} s"
    return _spelled(interval), f"19 of 20 refreshes take at most {slow:.1f} s"


def mode_for(past: Sequence[Refresh], obstacle: str, least: int) -> tuple[str | None, str]:
    """The mode that took clearly less time, AUTO where neither did."""
    if obstacle:
        return "FULL", f"{obstacle} has no differential form"
    changes = [h.duration_ms for h in past if h.action == "DIFFERENTIAL"]
    whole = [h.duration_ms for h in past if h.action != "DIFFERENTIAL"]
    if len(past) < least or min(len(changes), len(whole)) < EACH:
        needed = f"{least} are needed, {EACH} of each kind"
        return None, f"{len(changes)} differential and {len(whole)} full refreshes; {needed}"
    found = f"differential {median(changes):.0f} ms, full {median(whole):.0f} ms"
    if median(changes) <= CLEARLY * median(whole):
        return "DIFFERENTIAL", found
    return ("FULL" if median(whole) <= CLEARLY * median(changes) else "AUTO"), found


def _spelled(seconds: int) -> str:
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= size and seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
