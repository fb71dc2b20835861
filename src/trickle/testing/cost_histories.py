"""Simulated stream tables: true costs, noise, and a history that grows by what was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random

from trickle.refresh.choose import Choice, Facts, choose
from trickle.registry.models import Refresh

START = datetime(2024, 2, 29, tzinfo=UTC)
PLANNED = 2
"""Differential refreshes before statements have standing plans."""


@dataclass(frozen=True)
class Costs:
    """Milliseconds of warm refreshes: a floor and a slope for each way."""

    source_rows: int
    floor: float = 150.0
    row: float = 0.01
    full_floor: float = 200.0
    full_row: float = 0.001
    """Of each source row."""
    written_row: float = 0.002
    """Of each changed row that a full refresh writes."""
    planning: float = 80.0
    """Of each differential refresh until its statements have standing plans."""

    def differential(self, rows: int) -> float:
        return self.floor + self.row * rows

    def full(self, rows: int) -> float:
        return self.full_floor + self.full_row * self.source_rows + self.written_row * rows

    def better(self, rows: int) -> float:
        return min(self.differential(rows), self.full(rows))

    def of(self, action: str, rows: int) -> float:
        return self.differential(rows) if action == "DIFFERENTIAL" else self.full(rows)


@dataclass
class Simulation:
    """One stream table in AUTO mode; refreshes take their true cost times noise, the first of a kind much longer."""

    costs: Costs
    rng: Random
    noise: float = 0.1
    outliers: float = 0.03
    apart: timedelta = timedelta(minutes=1)
    lines: list[Refresh] = field(default_factory=list)
    """Oldest first."""

    def __post_init__(self) -> None:
        initial = self.costs.full(0) + 0.004 * self.costs.source_rows
        self.add("FULL", "initial_load", 0, initial * self.rng.uniform(1.5, 4))

    def add(self, action: str, reason: str, rows: int, spent: float, learning: float = 0.0) -> None:
        at = START + self.apart * len(self.lines)
        self.lines.append(
            Refresh(1, "t", at, at, action, reason, 0, 0, rows, spent, 1, 1, "user", learning_ms=learning)
        )

    def choose(self, rows: int) -> Choice:
        lessons = [h for kind in ("DIFFERENTIAL", "FULL") for h in [h for h in self.lines if h.action == kind][-30:]]
        newest_first = sorted(lessons, key=lambda h: h.started_at, reverse=True)
        return choose(Facts("AUTO", changed_rows=rows, source_rows=self.costs.source_rows, history=newest_first))

    def refresh(self, rows: int, times: float = 1.0) -> Choice:
        """`times`: what this change costs a differential refresh more than others of its size."""
        choice = self.choose(rows)
        before = sum(h.action == choice.action and h.reason != "initial_load" for h in self.lines)
        spent = self.costs.of(choice.action, rows) * self.rng.lognormvariate(0, self.noise)
        slow = self.rng.uniform(1.5, 4) if before == 0 else 5.0 if self.rng.random() < self.outliers else 1.0
        if choice.action == "FULL":
            self.add(choice.action, choice.reason, rows, spent * slow)
            return choice
        spent *= slow * times
        planning = self.costs.planning if before < PLANNED else 0.0
        # Of the first one, what made it slow was new, and so was some of what its rows take anyway.
        share = self.rng.uniform(1 - 1 / slow, 1) if before == 0 else 0.0
        self.add(choice.action, choice.reason, rows, spent + planning, share * spent + planning)
        return choice

    def run(self, sizes: Sequence[int]) -> list[Choice]:
        return [self.refresh(rows) for rows in sizes]

    def regret(self, choices: Sequence[Choice], sizes: Sequence[int]) -> list[float]:
        """How many times the better way's true cost each of them had."""
        return [self.costs.of(c.action, rows) / self.costs.better(rows) for c, rows in zip(choices, sizes, strict=True)]


def switches(choices: Sequence[Choice]) -> int:
    return sum(a.action != b.action for a, b in pairwise(choices))
