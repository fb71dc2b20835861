"""One stream table refreshed again and again: its differential refresh against recomputing the query."""

from __future__ import annotations

import gc
import shutil
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from pyspark import SparkContext

import trickle

from ....records import Record
from ....refresh.phases import collected
from ..measure import Timing
from .rival import DuckDBRival
from .work import SparkWork, counted

FAR = 4
"""So many times as long as the other way, and once tells enough, however cold it was."""


@dataclass(frozen=True)
class Duel(Record):
    """What the rounds of one stream table found; times in milliseconds, counts as medians."""

    name: str
    table_rows: int
    """Rows of the sources."""
    changed_rows: int
    """Of the sources, in one round."""
    differential: Timing
    spark: Timing
    """Spark computes the query and writes the answer as Parquet: what one does without Trickle."""
    full: Timing | None
    """A FULL refresh of the same change, which writes only what differs."""
    duckdb: Timing | None
    """DuckDB computes the query over the same lake and writes the answer as Parquet."""
    phases: dict[str, float]
    work: SparkWork

    @property
    def gain(self) -> float:
        """How many times faster the differential refresh is than recomputing."""
        return self.spark.median / self.differential.median

    def asdict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "table_rows": self.table_rows,
            "changed_rows": self.changed_rows,
            "differential_ms": self.differential.asdict(),
            "spark_ms": self.spark.asdict(),
            "full_ms": self.full.asdict() if self.full else None,
            "duckdb_ms": self.duckdb.asdict() if self.duckdb else None,
            "gain": self.gain,
            "phases_ms": self.phases,
            **asdict(self.work),
        }


@dataclass
class Fighter:
    """A stream table and the times of its rounds."""

    db: trickle.Session
    name: str
    query: str
    folder: Path
    rival: DuckDBRival | None = None
    is_brief: bool = False
    """Whether a way that is far behind is timed once, and recomputing without Trickle in any case."""
    beaten: set[str] = field(default_factory=set)
    """The ways that are not taken any more."""
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    spent: float = 0.0
    """Milliseconds of the last differential refresh."""
    phases: list[dict[str, float]] = field(default_factory=list)
    works: list[SparkWork] = field(default_factory=list)
    _last: tuple[dict[str, float], SparkWork] = field(default_factory=lambda: ({}, SparkWork()))
    """Phases and work of the last differential refresh."""

    @property
    def twin(self) -> str:
        """The same stream table, kept by FULL refreshes."""
        return f"{self.name}_full"

    def create(self, twin: bool = False) -> None:
        self.db.create_stream_table(self.name, self.query, refresh_mode="DIFFERENTIAL")
        if twin:
            self.db.create_stream_table(self.twin, self.query, refresh_mode="FULL")

    def differential(self, timed: bool = True) -> None:
        """One refresh; it must have been differential."""
        if "differential" in self.beaten:
            return
        with collected() as clock, counted(self.db.spark, self.db.lake.shelf) as work:
            self.spent = undisturbed(self._refresh)
        self._last = clock.milliseconds, work
        if timed:
            self._note()

    def _note(self) -> None:
        phases, work = self._last
        self.times["differential"].append(self.spent)
        self.phases.append(phases)
        self.works.append(work)

    def _refresh(self) -> None:
        done = self.db.refresh_stream_table(self.name, upstream=False)
        if done.action not in ("DIFFERENTIAL", "NO_DATA"):
            raise AssertionError(f"{self.name} was refreshed by {done.action} {done.reason}")

    def full(self, timed: bool = True) -> None:
        """The twin, which has the same change before it."""
        if "full" in self.beaten:
            return
        spent = undisturbed(lambda: self.db.refresh_stream_table(self.twin, upstream=False))
        self.keep("full", spent, timed)
        self.hold_against(spent)

    def hold_against(self, full: float) -> None:
        """In brief, a differential refresh that is far behind a full one was the last."""
        if self.is_brief and self.spent > FAR * full and "differential" not in self.beaten:
            self.beaten.add("differential")
            if not self.phases:
                self._note()

    def recompute(self, timed: bool = True) -> None:
        target = self.folder / self.name
        shutil.rmtree(target, ignore_errors=True)
        if "spark" not in self.beaten:
            spent = undisturbed(lambda: self.db.sql(self.query).write.parquet(str(target)))
            self.keep("spark", spent, timed or self.is_brief)
            self.beaten |= {"spark"} if self.is_brief else set()
        if self.rival is not None:
            spent = self.rival.recompute(self.query, self.folder / f"{self.name}.duckdb.parquet")
            self.times["duckdb"] += [spent] if timed else []

    def keep(self, way: str, spent: float, timed: bool) -> None:
        is_far = self.is_brief and spent > FAR * self.spent
        if timed or is_far:
            self.times[way].append(spent)
        if is_far:
            self.beaten.add(way)

    def duel(self, table_rows: int, changed_rows: int) -> Duel:
        times = {kind: Timing(tuple(spent)) for kind, spent in self.times.items()}
        return Duel(
            self.name,
            table_rows,
            changed_rows,
            times["differential"],
            times["spark"],
            times.get("full"),
            times.get("duckdb"),
            {name: median(p[name] for p in self.phases) for name in self.phases[0]},
            SparkWork(*(round(median(getattr(w, f) for w in self.works)) for f in SparkWork.__dataclass_fields__)),
        )


def undisturbed(way: Callable[[], object]) -> float:
    """Without the garbage of what went before: Python's, and objects that the next call of the JVM would let go."""
    gc.collect()
    if (context := SparkContext._active_spark_context) is not None:
        context.getLocalProperty("trickle")
    return milliseconds(way)


def milliseconds(way: Callable[[], object]) -> float:
    start = perf_counter()
    way()
    return (perf_counter() - start) * 1000
