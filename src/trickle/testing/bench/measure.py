"""Two ways to the same end, timed in turns, so that the noise of the machine falls on both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

from ...records import Record

Way = Callable[[], object]


@dataclass(frozen=True)
class Contest:
    """Our way against the plain one; without a plain one, the target is a time in milliseconds."""

    name: str
    target: float
    ours: Way
    plain: Way | None = None
    rounds: int = 7
    warmups: int = 2
    between: Callable[[], None] = lambda: None
    """Run, untimed, after every way."""


@dataclass(frozen=True)
class Timing:
    """Milliseconds of all rounds.

    >>> Timing((3.0, 1.0, 2.0)).asdict()
    {'median': 2.0, 'least': 1.0, 'most': 3.0}
    """

    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.rounds)

    def asdict(self) -> dict[str, float]:
        return {"median": self.median, "least": min(self.rounds), "most": max(self.rounds)}


@dataclass(frozen=True)
class Result(Record):
    """What a contest found."""

    name: str
    target: float
    ours: Timing
    plain: Timing | None

    @property
    def unit(self) -> str:
        return "ms" if self.plain is None else "x"

    @property
    def figure(self) -> float:
        """median(ours) / median(plain), or median(ours) where there is no plain way."""
        return self.ours.median if self.plain is None else self.ours.median / self.plain.median

    @property
    def met(self) -> bool:
        return self.figure <= self.target

    def asdict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "ours_ms": self.ours.asdict(),
            "plain_ms": self.plain.asdict() if self.plain else None,
            "figure": self.figure,
            "unit": self.unit,
            "target": self.target,
            "met": self.met,
        }


def hold(contest: Contest, rounds: int | None = None) -> Result:
    """Warm up, then time ours, plain, ours, plain, …; a short run warms up shortly."""
    ways = [contest.ours] if contest.plain is None else [contest.ours, contest.plain]
    times: list[list[float]] = [[] for _ in ways]
    wanted = rounds or contest.rounds
    warmups = min(contest.warmups, wanted)
    for number in range(warmups + wanted):
        for way, kept in zip(ways, times, strict=True):
            spent = _milliseconds(way)
            contest.between()
            if number >= warmups:
                kept.append(spent)
    timings = [Timing(tuple(kept)) for kept in times]
    return Result(contest.name, contest.target, timings[0], timings[1] if len(ways) > 1 else None)


def _milliseconds(way: Way) -> float:
    start = perf_counter()
    way()
    return (perf_counter() - start) * 1000
