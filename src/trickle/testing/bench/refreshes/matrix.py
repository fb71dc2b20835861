"""Kinds of queries × sizes of tables × sizes of changes: where a differential refresh pays, and whether AUTO knows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from statistics import median
from typing import Any

from ..arena import Arena
from .duel import Duel, Fighter, undisturbed
from .floor import aggregate_floor
from .rival import DuckDBRival, duckdb_rival
from .scenarios import SCENARIOS, Facts, Scenario
from .verdict import Verdict

AUTO_WARMUPS = 5
RECOMPUTED_WARMUPS = 2
"""Of the rounds to warm up, the last so many also recompute: what runs for seconds is compiled soon."""
MOST_CHANGED = 0.5
"""Share of the facts that may change in all rounds together before there are fewer rounds to warm up."""


@dataclass(frozen=True)
class Plan:
    rows: Sequence[int] = (10_000, 100_000, 1_000_000, 10_000_000)
    changes: Sequence[float] = (0.0001, 0.001, 0.01, 0.1, 0.5)
    """Shares of the facts."""
    scenarios: Sequence[str] = ()
    rounds: int = 5
    warmups: int = 15
    """At most: changes of many rows go through fewer."""
    auto: bool = False
    """Measure AUTO beside it."""
    duckdb: bool = False
    """Let DuckDB recompute it too."""
    full: bool = True
    """Measure FULL refreshes of the same change, too."""
    brief: bool = False
    """Time what takes far longer than the differential refresh only once."""

    @property
    def wanted(self) -> list[Scenario]:
        return [s for s in SCENARIOS if not self.scenarios or s.name in self.scenarios]


@dataclass(frozen=True)
class Cell:
    scenario: str
    rows: int
    change: float
    duel: Duel
    floor_ms: float = math.nan
    """Spark's floor, measured when the rounds were done."""
    auto_ms: float | None = None
    """Median of a stream table in AUTO mode."""
    auto_actions: tuple[str, ...] = ()
    """What AUTO did in the timed rounds."""

    @property
    def auto_ratio(self) -> float | None:
        """How far AUTO is from the better of the two."""
        if self.auto_ms is None or self.duel.full is None:
            return None
        return self.auto_ms / min(self.duel.differential.median, self.duel.full.median)

    def asdict(self) -> dict[str, Any]:
        found: dict[str, Any] = {"scenario": self.scenario, "rows": self.rows, "change": self.change}
        auto = {"auto_ms": self.auto_ms, "auto_ratio": self.auto_ratio, "auto_actions": self.auto_actions}
        return found | auto | {"floor_ms": self.floor_ms} | self.duel.asdict()


def measure(arena: Arena, plan: Plan, say: Callable[[str], None] = print) -> Iterator[Cell]:
    """Cell by cell; the tables are made anew for each size."""
    with duckdb_rival(arena, plan.duckdb) as rival:
        for rows in plan.rows:
            facts = Facts(arena, rows)
            facts.create()
            for scenario in plan.wanted:
                for change in plan.changes:
                    found = _Trial(arena, plan, scenario, facts, rival).run(max(1, round(rows * change)))
                    cell = replace(found, change=change, floor_ms=aggregate_floor(arena.spark).median)
                    say(f"{scenario.name}, {rows:,} rows, {change:.2%}: {cell.duel.gain:.1f} ×{_auto(cell)}")
                    yield cell


def _auto(cell: Cell) -> str:
    if cell.auto_ratio is None:
        return ""
    times = Counter(cell.auto_actions)
    did = " and ".join(f"{many} × {action}" for action, many in times.items())
    return f", AUTO {cell.auto_ratio:.2f} × of the better ({did})"


@dataclass
class _Trial:
    """One cell: three stream tables of one query, of which one chooses how it is refreshed."""

    arena: Arena
    plan: Plan
    scenario: Scenario
    facts: Facts
    rival: DuckDBRival | None
    learned: list[tuple[float, str]] = field(default_factory=list)

    def run(self, many: int) -> Cell:
        db, name = self.arena.db, self.scenario.name.replace("-", "_")
        db.merge_files("facts")  # what earlier cells left behind, as maintenance would
        fighter = Fighter(db, name, self.scenario.query, self.arena.folder / "matrix", self.rival, self.plan.brief)
        fighter.create(twin=self.plan.full)
        learner = f"{name}_auto"
        if self.plan.auto:
            db.create_stream_table(learner, self.scenario.query, refresh_mode="AUTO")
        warmups = self.warmups(many)
        for number in range(warmups + self.plan.rounds):
            self.facts.change(many)
            timed = number >= warmups
            ways = [partial(fighter.differential, timed)]
            if self.plan.auto and number >= warmups - AUTO_WARMUPS:
                ways.append(partial(self.learn, learner, timed))
            if self.plan.full and number >= warmups - RECOMPUTED_WARMUPS:
                ways.append(partial(fighter.full, timed))
            first = number % len(ways)
            for way in (*ways[first:], *ways[:first]):
                self.alone(way)
            if number >= warmups - RECOMPUTED_WARMUPS:
                fighter.recompute(timed)
        for made in (name, *([fighter.twin] if self.plan.full else ()), *([learner] if self.plan.auto else ())):
            db.drop_stream_table(made)
        duel = fighter.duel(self.facts.rows, many)
        spent = median(ms for ms, _ in self.learned) if self.learned else None
        actions = tuple(action for _, action in self.learned)
        return Cell(self.scenario.name, self.facts.rows, 0.0, duel, auto_ms=spent, auto_actions=actions)

    def warmups(self, many: int) -> int:
        """Rounds that are not timed."""
        bearable = int(MOST_CHANGED * self.facts.rows / many) - self.plan.rounds
        wanted = min(self.plan.warmups, max(RECOMPUTED_WARMUPS, bearable))
        return max(wanted, AUTO_WARMUPS) if self.plan.auto else wanted

    def alone(self, way: Callable[[], None]) -> None:
        """Without the change that was read for others: each stream table is measured as if it were the only one."""
        self.arena.db.lake.change_sets.kept.forget(lambda _: True)
        way()

    def learn(self, learner: str, timed: bool) -> None:
        actions: list[str] = []
        spent = undisturbed(lambda: actions.append(self.arena.db.refresh_stream_table(learner, upstream=False).action))
        self.learned += [(spent, actions[0])] if timed else []


def verdicts(cells: Sequence[Cell], brief: bool = False) -> list[Verdict]:
    """Of those targets whose cells were measured; in brief, recomputing was not warm, and no gain is judged."""
    return [*(() if brief else _gains(cells)), *_auto_verdict(cells)]


def _gains(cells: Sequence[Cell]) -> list[Verdict]:
    found = []
    by_name = {s.name: s for s in SCENARIOS}
    for cell in cells:
        if (cell.rows, cell.change) == (1_000_000, 0.001):
            wanted = by_name[cell.scenario].least_gain
            found.append(Verdict(f"{cell.scenario}, 1M rows, 0.1 %: gain", cell.duel.gain, wanted, at_least=True))
    for name, scenario in by_name.items():
        edge = crossover([c for c in cells if c.scenario == name and c.rows == 1_000_000])
        if edge is not None and scenario.least_edge is not None:
            what = f"{name}, 1M rows: differential pays up to a change of"
            found.append(Verdict(what, edge, scenario.least_edge, at_least=True))
    return found


def _auto_verdict(cells: Sequence[Cell]) -> list[Verdict]:
    ratios = [r for cell in cells if (r := cell.auto_ratio) is not None]
    if not ratios:
        return []
    near = sum(r <= 1.2 for r in ratios) / len(ratios)
    return [Verdict("share of cells where AUTO is within 1.2 × of the better", near, 0.95, at_least=True)]


def crossover(cells: Sequence[Cell]) -> float | None:
    """The share of changed rows up to which a differential refresh is faster, between measured shares by a line.

    None if it was never or always faster than recomputing among less than two cells.
    """
    points = sorted((c.change, c.duel.gain) for c in cells)
    if len(points) < 2:
        return None
    if points[0][1] < 1:
        return 0.0
    for (low, before), (high, after) in pairwise(points):
        if after < 1:
            return low + (high - low) * (before - 1) / (before - after)
    return points[-1][0]
