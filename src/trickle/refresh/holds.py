"""What keeps a stream table from being refreshed: gates, watermarks that lie apart, a blown fuse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import fmean, pstdev

from sqlalchemy import Connection

from ..registry.models import Refresh, StreamTable
from ..registry.reading import base_tables
from ..registry.scheduling import BLOWN, PASS, Fuse, Scheduling, Watermark, WatermarkGroup
from ..registry.store import Registry

SAMPLES = 5
"""Refreshes to learn from before a fuse without a ceiling can blow."""
SENSITIVITY = 3.0


@dataclass(frozen=True)
class Holds:
    """What holds at one moment."""

    gated: frozenset[str] = frozenset()
    """Sources, as plans name them."""
    apart: tuple[WatermarkGroup, ...] = ()
    """Groups whose watermarks are further apart than they may be."""
    fuses: Mapping[int, Fuse] | None = None
    base: Mapping[str, frozenset[str]] | None = None
    """For each stream table, as plans name it, the tables at the bottom of what it reads."""

    @classmethod
    def read(cls, connection: Connection, registry: Registry, tables: Iterable[StreamTable] = ()) -> Holds:
        """As the registry says; the stream tables are read from there unless they are given."""
        scheduling = Scheduling(registry)
        if not registry.is_current(connection) or not scheduling.holds_anything(connection):
            return cls()
        gated = frozenset(g.source for g in scheduling.gates(connection) if g.gated)
        marks = {m.source: m for m in scheduling.watermarks(connection)}
        apart = tuple(g for g in scheduling.watermark_groups(connection) if not aligned(g, marks))
        below = base_tables(tables or registry.all(connection)) if apart else None
        return cls(gated, apart, scheduling.fuses(connection), below)

    def reason(self, table: StreamTable) -> str:
        """The first that holds it, as the reason of a SKIP; empty if it may go."""
        if not (self.gated or self.apart or self.fuses):
            return ""
        if any(d.name in self.gated for d in table.dependencies):
            return "gated"
        below = (self.base or {}).get(table.stored, frozenset())
        if any(len(below.intersection(group.sources)) > 1 for group in self.apart):
            return "watermark"
        return "fuse_blown" if self.fuse_state(table) == BLOWN else ""

    def fuse_state(self, table: StreamTable) -> str:
        found = (self.fuses or {}).get(table.id)
        return found.state if found else ""

    def ceiling(self, table: StreamTable, history: Sequence[Refresh]) -> float | None:
        """The most changed rows that the next refresh may bring; None for any number."""
        return None if self.fuse_state(table) == PASS else fuse_ceiling(table, history)


def aligned(group: WatermarkGroup, marks: Mapping[str, Watermark]) -> bool:
    """Whether all watermarks lie within the tolerance; as long as no source has one, nobody waits."""
    known = [marks[s].watermark for s in group.sources if s in marks]
    if not known:
        return True
    spread = (max(known) - min(known)).total_seconds()
    return len(known) == len(group.sources) and spread <= group.tolerance


def fuse_ceiling(table: StreamTable, history: Sequence[Refresh]) -> float | None:
    """The ceiling that was set, else mean + k·σ of what past changes brought; None without a fuse, or with too few.

    σ counts as half the mean at least: changes of always the same size would make a fuse of a hair.
    """
    mode = table.options.get("fuse") or "off"
    fixed = table.options.get("fuse_ceiling")
    if mode == "off":
        return None
    if mode == "on" and fixed is not None:
        return float(fixed)
    sizes = [h.changed_rows for h in history if h.action == "DIFFERENTIAL" and not h.error and h.changed_rows]
    if len(sizes) < SAMPLES:
        return None if fixed is None else float(fixed)
    k = float(table.options.get("fuse_sensitivity") or SENSITIVITY)
    learned = fmean(sizes) + k * max(pstdev(sizes), fmean(sizes) / 2)
    return learned if fixed is None else min(learned, float(fixed))


def blow(connection: Connection, registry: Registry, table: StreamTable, rows: int, ceiling: float | None) -> None:
    """From now on the table is stopped, until its fuse is reset."""
    scheduling = Scheduling(registry)
    if scheduling.fuses(connection).get(table.id, Fuse(0, "", None, 0, None)).state != BLOWN:
        scheduling.put_fuse(connection, table.id, Fuse(table.id, BLOWN, datetime.now(UTC), rows, ceiling))
        scheduling.signal(connection)


def passed(connection: Connection, registry: Registry, table: StreamTable) -> None:
    """The refresh that a reset fuse let through is done."""
    if table.options.get("fuse") and registry.is_current(connection):
        scheduling = Scheduling(registry)
        if scheduling.fuses(connection).get(table.id):
            scheduling.put_fuse(connection, table.id, None)
