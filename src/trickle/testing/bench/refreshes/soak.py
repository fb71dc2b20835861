"""A thousand refreshes of a join-aggregate: does the last one cost what the first ones did?"""

from __future__ import annotations

import resource
from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean

from sqlalchemy import func, select

from ....records import Record
from ..arena import Arena
from .duel import milliseconds
from .scenarios import SCENARIOS, Facts
from .verdict import Verdict

ROWS, CHANGED, CYCLES = 1_000_000, 100, 1000
WEIGHED = 25
"""Cycles between two looks at what the heap holds; to collect garbage takes a while, which no cycle is charged for."""
SETTINGS = {
    "maintenance.automatic": "all",
    "maintenance.keep_snapshots": 30,
    "maintenance.grace_seconds": 0.0,
}
"""Under which refreshes are followed by all maintenance that pays, and what nobody reads is removed at once."""


@dataclass(frozen=True)
class Lap(Record):
    """One cycle, maintenance included."""

    cycle: int
    milliseconds: float
    files: int
    python_mb: float
    java_mb: float
    """Of the heap, what was in use when garbage was last collected for this."""


def measure(arena: Arena, cycles: int = CYCLES, say: Callable[[str], None] = print) -> list[Lap]:
    db, facts = arena.db, Facts(arena, arena.sized(ROWS))
    facts.create()
    query = next(s.query for s in SCENARIOS if s.name == "join-aggregate")
    db.create_stream_table("soak", query, refresh_mode="DIFFERENTIAL")
    laps, heap = [], _java_mb(arena)
    for cycle in range(1, cycles + 1):
        facts.change(CHANGED)
        spent = milliseconds(lambda: db.refresh_stream_table("soak"))
        if cycle % WEIGHED == 0:
            heap = _java_mb(arena)
        laps.append(lap := Lap(cycle, spent, _files(arena), _python_mb(), heap))
        if cycle % 100 == 0:
            say(f"cycle {cycle}: {spent:.0f} ms, {lap.files} files, {lap.python_mb:.0f} MB and {heap:.0f} MB of heap")
    return laps


def verdicts(laps: list[Lap]) -> list[Verdict]:
    """Late cycles against early ones."""
    early, late = _middle(laps, 0.05, 0.15), _middle(laps, 0.9, 1.0)
    return [
        Verdict("late cycles against early ones", _typical(late) / _typical(early), 1.2),
        Verdict("driver memory, late against early", late[-1].python_mb / early[-1].python_mb, 1.2),
        Verdict("heap, late against early", late[-1].java_mb / early[-1].java_mb, 1.3),
        Verdict("files, most of late cycles against most of early ones", _most(late) / _most(early), 1.5),
    ]


def _middle(laps: list[Lap], start: float, end: float) -> list[Lap]:
    return laps[int(len(laps) * start) : max(1, int(len(laps) * end))]


def _typical(laps: list[Lap]) -> float:
    return mean(lap.milliseconds for lap in laps)


def _most(laps: list[Lap]) -> int:
    return max(lap.files for lap in laps)


def _files(arena: Arena) -> int:
    catalog = arena.db.lake.catalog
    files = catalog.tables["data_file"]
    with catalog.reading() as connection:
        return connection.execute(select(func.count()).where(files.c.end_snapshot.is_(None))).scalar_one()


def _python_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _java_mb(arena: Arena) -> float:
    """What is in use when garbage has been collected: how much of it stands around is up to the collector."""
    runtime = arena.spark._jvm.java.lang.Runtime.getRuntime()  # type: ignore[union-attr]
    runtime.gc()
    return float(runtime.totalMemory() - runtime.freeMemory()) / 2**20
