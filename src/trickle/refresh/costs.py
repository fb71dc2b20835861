"""What a refresh should take, by what those before it took: pure, and unmoved by the odd slow one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations, pairwise
from statistics import median

from ..registry.models import REDEFINED, Refresh

CHOSEN = ("change_ratio", "cost_model", "cost_trial")
"""Reasons of full refreshes that AUTO chose itself."""
SMALL = 1000
"""Changes of up to so many rows take the same time: the floor."""
NEAR = 4
"""Changes whose sizes differ by at most this factor teach each other."""
RECENT = 5
"""So many of the newest refreshes count; what was long ago does not."""
SURE = 2
"""So many refreshes of about this size, and what they took is believed: the first of a kind is compiled, so slow."""
DOUBT = 2.0
"""What refreshes of other sizes took may be off by this factor."""
FIRST_DOUBT = 4.0
"""So may a single one, which had to be compiled."""
REMEMBERED = 30
"""Refreshes of each kind that a history tells of."""
PATIENCE = 50
"""So many full refreshes go by before a differential one is tried again."""
LONGEST_WAIT = timedelta(days=7)
WORTH_A_TRY = 10
"""Full refreshes have to have cost that many times what a try may."""
COLD_DOUBT = 7.0
"""So may the first load, which also writes everything, and what stands for a refresh never tried."""


@dataclass(frozen=True)
class Estimate:
    ms: float
    samples: int = 0
    """Refreshes of about this size behind it."""
    doubt: float = COLD_DOUBT
    newest: datetime | None = None

    @property
    def is_sure(self) -> bool:
        return self.samples >= SURE

    @property
    def at_best(self) -> float:
        """What it may well take."""
        return self.ms / self.doubt

    def __str__(self) -> str:
        """
        >>> print(Estimate(1234.5, samples=3, doubt=1.0))
        1234 ms by 3 like it
        """
        return f"{self.ms:.0f} ms by {f'{self.samples} like it' if self.samples else 'a guess'}"


def lessons(history: Iterable[Refresh]) -> list[Refresh]:
    """The lines to learn from, newest first: those that computed something, of the query as it is now."""
    found = []
    for line in history:
        if not line.error and line.action in ("DIFFERENTIAL", "FULL", "REINITIALIZE"):
            found.append(line)
        if line.action == "REINITIALIZE" and line.reason in REDEFINED:
            break
    return found


def differential(lines: Sequence[Refresh], rows: int) -> Estimate | None:
    """What a differential refresh of so many changed rows should take; None if nothing tells."""
    return _estimate([h for h in lines if h.action == "DIFFERENTIAL"], rows)


def full(lines: Sequence[Refresh], rows: int) -> Estimate | None:
    """What a full one should; a first load is worth little, as it is compiled and writes everything."""
    fulls = [h for h in lines if h.action != "DIFFERENTIAL"]
    warm = [h for h in fulls if h.action == "FULL" and h.reason != "initial_load"]
    if warm:
        known = _estimate(warm, rows)
        return known or Estimate(typical(h.duration_ms for h in warm[:RECENT]), 0, DOUBT, warm[0].finished_at)
    return Estimate(fulls[0].duration_ms, newest=fulls[0].finished_at) if fulls else None


def last_choice(lines: Sequence[Refresh], rows: int) -> Refresh | None:
    """The newest refresh of about this size for which a way was chosen."""
    chosen = (h for h in lines if h.action == "DIFFERENTIAL" or h.reason in CHOSEN)
    return next((h for h in chosen if is_near(h.changed_rows, rows)), None)


def is_due(lines: Sequence[Refresh], rows: int, price: float) -> bool:
    """Whether differential refreshes of this size, given up long ago, are worth another try at this price.

    What made them dear may have been another source's change. Each try waits twice as long as the one before it,
    and until full refreshes have cost many times as much.
    """
    tried = [h.finished_at for h in lines if h.action == "DIFFERENTIAL" and is_near(h.changed_rows, rows)][:RECENT]
    since = [h for h in lines if h.action == "FULL" and tried and h.finished_at > tried[0]]
    if len(since) < REMEMBERED:
        return False
    waited, seen = since[0].finished_at - tried[0], since[0].finished_at - since[-1].finished_at
    longest = max((later - earlier for later, earlier in pairwise(tried)), default=timedelta(0))
    # The history that is shown ends somewhere: what lies before went on at the same pace.
    times = max(1.0, waited / seen) if seen else 1.0
    spent = times * sum(h.duration_ms for h in since)
    patient = times * len(since) >= PATIENCE and waited >= min(2 * longest, LONGEST_WAIT)
    return patient and spent >= WORTH_A_TRY * price


def is_near(one: int, other: int) -> bool:
    """
    >>> is_near(3, 900), is_near(900, 5000), is_near(2000, 7000)
    (True, False, True)
    """
    low, high = sorted((max(one, SMALL), max(other, SMALL)))
    return high <= NEAR * low


def _estimate(lines: Sequence[Refresh], rows: int) -> Estimate | None:
    """By refreshes of about this size, or else by a line through all of them."""
    near = [h for h in lines if is_near(h.changed_rows, rows)][:RECENT]
    if near:
        doubt = 1.0 if len(near) >= SURE else FIRST_DOUBT
        return Estimate(typical(h.duration_ms for h in near), len(near), doubt, near[0].finished_at)
    expected = _line(lines, rows)
    return None if expected is None else Estimate(expected, 0, DOUBT, lines[0].finished_at)


def typical(times: Iterable[float]) -> float:
    """The value that a third of them lie below: what disturbs a refresh makes it slower, never faster.

    >>> typical([900, 200]), typical([200, 210, 900, 190, 1000])
    (200, 200)
    """
    ordered = sorted(times)
    return ordered[(len(ordered) - 1) // 3]


def _line(lines: Sequence[Refresh], rows: int) -> float | None:
    """Theil and Sen: the median of all slopes, never below zero, through the median of what is left; with a floor.

    None beyond what the past reaches, unless its own changes were of different sizes.
    """
    if not lines:
        return None
    points = [(h.changed_rows, h.duration_ms) for h in lines]
    sizes, times = zip(*points, strict=True)
    if is_near(min(sizes), max(sizes)):
        return typical(times) if rows < max(sizes) else None
    slopes = [(b - a) / (y - x) for (x, a), (y, b) in combinations(points, 2) if x != y]
    slope = max(0.0, median(slopes))
    level = median(ms - slope * size for size, ms in points)
    return float(max(level + slope * rows, min(times)))
