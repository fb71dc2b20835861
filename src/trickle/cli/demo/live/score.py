"""What the demo has seen so far: counted, and summed up."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from ....events import Event, RefreshFailed, RefreshFinished
from ....records import Record
from .proof import Proof

IDLE = ("NO_DATA", "SKIP")


@dataclass(frozen=True)
class Arrived(Record):
    """A transaction of the shop."""

    snapshot: int
    said: str


@dataclass(frozen=True)
class Trouble(Record):
    """A part of the demo that failed."""

    part: str
    message: str


Happening = Event | Arrived | Proof | Trouble


@dataclass(frozen=True)
class Summary(Record):
    """How the demo went."""

    lake: str
    seconds: float
    changes: int
    refreshes: int
    differential: int
    failed: int
    proofs: int
    mismatches: int
    refresh_ms: float | None
    full_ms: float | None

    @property
    def is_clean(self) -> bool:
        return not (self.mismatches or self.failed)


@dataclass
class Line:
    """What is known of one stream table."""

    name: str
    times: list[float] = field(default_factory=list)
    touched: str = ""
    last_ms: float | None = None
    refreshes: int = 0
    exact_for: int | None = None
    """The data snapshot of its last refresh."""
    full_ms: list[float] = field(default_factory=list)
    proof: Proof | None = None

    def hear(self, event: RefreshFinished) -> None:
        self.exact_for = event.data_snapshot
        if event.action in IDLE:
            return
        self.refreshes += 1
        self.last_ms = event.duration_ms
        self.touched = f"+{event.rows_inserted} −{event.rows_deleted}"
        if event.action == "DIFFERENTIAL":
            self.times.append(event.duration_ms)

    def prove(self, proof: Proof) -> None:
        self.proof = proof
        self.full_ms.append(proof.full_ms)


class Score:
    """Hears everything that happens, in one thread."""

    def __init__(self, names: Sequence[str]) -> None:
        self.lines = {name: Line(name) for name in names}
        self.arrived: deque[Arrived] = deque(maxlen=6)
        self.troubles: list[Trouble] = []
        self.changes = self.proofs = self.mismatches = self.failed = 0

    def hear(self, happening: Happening) -> None:
        match happening:
            case RefreshFinished() if happening.name in self.lines:
                self.lines[happening.name].hear(happening)
            case RefreshFailed():
                self.failed += 1
                self.troubles.append(Trouble(happening.name, happening.message))
            case Arrived():
                self.changes += 1
                self.arrived.append(happening)
            case Proof():
                self.proofs += 1
                self.mismatches += happening.differing > 0
                self.lines[happening.name].prove(happening)
            case Trouble():
                self.failed += 1
                self.troubles.append(happening)

    @property
    def refreshes(self) -> int:
        return sum(line.refreshes for line in self.lines.values())

    def summary(self, lake: str, seconds: float) -> Summary:
        times = [t for line in self.lines.values() for t in line.times]
        full = [t for line in self.lines.values() for t in line.full_ms]
        return Summary(
            lake,
            round(seconds, 1),
            self.changes,
            self.refreshes,
            len(times),
            self.failed,
            self.proofs,
            self.mismatches,
            round(median(times), 1) if times else None,
            round(median(full), 1) if full else None,
        )


def milliseconds(value: float | None) -> str:
    """
    >>> milliseconds(84.2), milliseconds(1840.0), milliseconds(None)
    ('84 ms', '1.8 s', '')
    """
    if value is None:
        return ""
    return f"{value:.0f} ms" if value < 1000 else f"{value / 1000:.1f} s"
