"""From stream tables and groups to units in order, each with its clocks; made anew when a definition changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from ..dag import STREAM, Graph, diamonds, together
from ..registry.models import StreamTable
from ..schedules import Calculated, Clock, Every, Manual, Schedule, read_duration, read_schedule, resolve
from .state import Member, Read, Unit

PACES = {"hot": 1.0, "warm": 2.0, "cold": 10.0}
WARM, COLD = timedelta(hours=1), timedelta(days=1)
"""Not read for that long, a table that learns its tier is warm, or cold."""


@dataclass(frozen=True)
class Layout:
    tables: Mapping[int, StreamTable]
    units: tuple[Unit, ...]
    """Sources before their readers."""

    @classmethod
    def of(
        cls,
        tables: Sequence[StreamTable],
        groups: Iterable[Iterable[str]],
        default: Clock,
        unread: Mapping[int, timedelta] | None = None,
    ) -> Layout:
        """`groups` are named sets that are committed together, by label; `unread` is since when nobody read a table."""
        graph = graph_of(tables)
        by_stored = {t.stored: t for t in tables}
        stored = {t.label: t.stored for t in tables}
        named = [[stored[label] for label in group if label in stored] for group in groups]
        atomic = [d for d in diamonds(graph) if by_stored[d.meets].options.get("diamond_consistency") != "none"]
        units = together(graph, [*(d.members for d in atomic), *named])
        clocks = _clocks(tables, graph, default)
        slow = {d.meets for d in atomic if by_stored[d.meets].options.get("diamond_schedule_policy") == "slowest"}
        place = {name: n for n, unit in enumerate(units) for name in unit}
        found = []
        for n, unit in enumerate(units):
            members = tuple(_member(by_stored[name], clocks[name]) for name in unit)
            sources = {place[s] for name in unit for s in graph.sources[name] if s in place} - {n}
            pace = min(PACES.get(tier(by_stored[name], unread or {}), 1.0) for name in unit)
            found.append(Unit(members, tuple(sorted(sources)), bool(slow.intersection(unit)), pace))
        return cls({t.id: t for t in tables}, tuple(found))


def tier(table: StreamTable, unread: Mapping[int, timedelta]) -> str:
    """The tier that was set, or the one that it was learned to be in."""
    given = str(table.options.get("tier", "hot"))
    if given != "auto":
        return given
    since = unread.get(table.id, timedelta())
    return "cold" if since > COLD else "warm" if since > WARM else "hot"


def graph_of(tables: Iterable[StreamTable]) -> Graph:
    """The stored tables and who reads them, under the names of plans."""
    kinds, sources = {}, {}
    for table in tables:
        kinds[table.stored] = STREAM
        sources[table.stored] = tuple(d.name for d in table.dependencies)
    known = {name: "table" for read in sources.values() for name in read}
    return Graph({**known, **kinds}, sources)


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
