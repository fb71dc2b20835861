"""From stream tables and groups to units in order, each with its clocks; made anew when a definition changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from ..dag import Graph
from ..registry.models import StreamTable
from ..registry.units import Units
from ..schedules import Calculated, Clock, Every, Manual, Schedule, read_duration, read_schedule, resolve
from .state import NO_LIMIT, Member, Read, Unit

PACES = {"hot": 1.0, "warm": 2.0, "cold": 10.0}
WARM, COLD = timedelta(hours=1), timedelta(days=1)
"""Not read for that long, a table that learns its tier is warm, or cold."""


@dataclass(frozen=True)
class Layout:
    tables: Mapping[int, StreamTable]
    units: tuple[Unit, ...]
    """Sources before their readers."""

    @cached_property
    def keys(self) -> tuple[tuple[int, ...], ...]:
        """The ids of each unit's members."""
        return tuple(tuple(m.id for m in unit.members) for unit in self.units)

    @classmethod
    def of(
        cls,
        tables: Sequence[StreamTable],
        groups: Iterable[Iterable[str]],
        default: Clock,
        unread: Mapping[int, timedelta] | None = None,
    ) -> Layout:
        """`groups` are named sets that are committed together, by label; `unread` is since when nobody read a table."""
        units = Units.of(tables, groups)
        graph, meets = units.graph, {d.meets for d in units.diamonds}
        clocks = _clocks(tables, graph, default)
        place = {t.stored: n for n, unit in enumerate(units.members) for t in unit}
        found = []
        for n, unit in enumerate(units.members):
            members = tuple(_member(t, clocks[t.stored]) for t in unit)
            sources = {place[s] for t in unit for s in graph.sources[t.stored] if s in place} - {n}
            slowest = any(t.stored in meets and t.options.get("diamond_schedule_policy") == "slowest" for t in unit)
            pace = _pace([tier(t, unread or {}) for t in unit])
            limit = min(t.options.get("worker_limit") or NO_LIMIT for t in unit)
            found.append(Unit(members, tuple(sorted(sources)), slowest, pace, limit))
        return cls({t.id: t for t in tables}, tuple(found))


def tier(table: StreamTable, unread: Mapping[int, timedelta]) -> str:
    """The tier that was set, or the one that it was learned to be in."""
    given = str(table.options.get("tier", "hot"))
    if given != "auto":
        return given
    since = unread.get(table.id, timedelta())
    return "cold" if since > COLD else "warm" if since > WARM else "hot"


def _pace(tiers: Iterable[str]) -> float:
    """That of the hottest; a frozen member sets none."""
    return min((PACES[name] for name in tiers if name in PACES), default=1.0)


def _member(table: StreamTable, clocks: tuple[Clock, ...]) -> Member:
    return Member(table.id, tuple(Read(d.table_id, d.is_stream_table) for d in table.dependencies), clocks)


def _clocks(tables: Sequence[StreamTable], graph: Graph, default: Clock) -> dict[str, tuple[Clock, ...]]:
    schedules = {t.stored: schedule_of(t) for t in tables}
    return resolve(schedules, {name: graph.readers(name) for name in schedules}, default)


def schedule_of(table: StreamTable) -> Schedule:
    """A frozen table waits to be told; a calculated one with a target lag is refreshed twice within it."""
    if table.options.get("tier") == "frozen":
        return Manual()
    schedule = read_schedule(table.options.get("schedule", "calculated"))
    lag = table.options.get("target_lag")
    return Every(read_duration(lag) / 2) if lag and isinstance(schedule, Calculated) else schedule
