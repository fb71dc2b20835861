"""What a refresh should take, by what those before it took: pure, and unmoved by the odd slow one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import combinations, dropwhile, pairwise, takewhile
from statistics import fmean, median

from ..registry.models import REDEFINED, Refresh

CHOSEN = ("change_ratio", "cost_model", "cost_trial")
"""Reasons of full refreshes that AUTO chose itself."""
SMALL = 1000
"""Changes of up to so many rows take the same time: the floor."""
NEAR = 4
"""Changes whose sizes differ by at most this factor teach each other."""
RECENT = 5
"""So many of the newest refreshes count; what was long ago does not."""
DOUBT = 2.0
"""What refreshes of other sizes took may be off by this factor, and so may the first few."""
LOAD_DOUBT = 4.0
"""So may the first load, which also writes everything."""
COLD_DOUBT = 7.0
"""So may what stands for a refresh never tried."""
REMEMBERED = 30
"""Refreshes of each kind that a history tells of."""
PATIENCE = 50
"""So many full refreshes go by before a differential one is tried again."""
LONGEST_WAIT = timedelta(days=7)
WORTH_A_TRY = 12
"""One way has to have cost that many times what a try of the other may."""
FIRST_DOUBT = 2.5
"""What a single one took may be off by this factor: Java and Spark had to compile what they run."""
SURE = 2
"""So many of about this size that learned nothing new, and what they took is believed."""
SURE_ANYWAY = 8
"""So many are believed even if each of them learned something: the next one will, too."""
SLIGHT = 0.1
"""A refresh that spent at most this share of its time on what is new learned nothing to speak of."""


@dataclass(frozen=True)
class Estimate:
    ms: float
    samples: int = 0
    """Refreshes of about this size behind it."""
    doubt: float = COLD_DOUBT
    newest: datetime | None = None
    spared: float = 0.0
    """Milliseconds that the next may do without, whatever the doubt."""
    is_sure: bool = False

    @property
    def at_best(self) -> float:
        """What it may well take."""
        return min(self.ms / self.doubt, max(0.0, self.ms - self.spared))

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
    """What a differential refresh of so many changed rows should take; None if nothing tells.

    Given up before, it is judged by the average, the worst aside: most changes may be cheap to follow, some very dear.
    """
    found = _estimate([h for h in lines if h.action == "DIFFERENTIAL"], rows)
    series, is_another = _last_series([h for h in lines if is_near(h.changed_rows, rows)])
    if found is None or not (series and is_another):
        return found
    spent = sorted(h.duration_ms for h in series[:RECENT])
    return replace(found, ms=max(found.ms, fmean(spent[:-1] or spent)))


def full(lines: Sequence[Refresh], rows: int) -> Estimate | None:
    """What a full one should; a first load is worth little, as it is compiled and writes everything."""
    fulls = [h for h in lines if h.action != "DIFFERENTIAL"]
    warm = [h for h in fulls if h.action == "FULL" and h.reason != "initial_load"]
    if warm:
        known = _estimate(warm, rows)
        return known or Estimate(typical(h.duration_ms for h in warm[:RECENT]), 0, DOUBT, warm[0].finished_at)
    return Estimate(fulls[0].duration_ms, doubt=LOAD_DOUBT, newest=fulls[0].finished_at) if fulls else None


def last_choice(lines: Sequence[Refresh], rows: int) -> Refresh | None:
    """The newest refresh of about this size for which a way was chosen."""
    chosen = (h for h in lines if h.action == "DIFFERENTIAL" or h.reason in CHOSEN)
    return next((h for h in chosen if is_near(h.changed_rows, rows)), None)


def is_due(lines: Sequence[Refresh], rows: int, least: float) -> bool:
    """Whether differential refreshes of this size, given up long ago, are worth another try, for this at least.

    What made them dear may have been another source's change. Each try waits twice as long as the one before it,
    and until full refreshes have cost many times what the last try did.
    """
    near = [h for h in lines if is_near(h.changed_rows, rows)]
    tried = [h.finished_at for h in near if h.action == "DIFFERENTIAL"][:RECENT]
    since = [h for h in lines if h.action == "FULL" and tried and h.finished_at > tried[0]]
    if len(since) < REMEMBERED:
        return False
    waited = since[0].finished_at - tried[0]
    longest = max((later - earlier for later, earlier in pairwise(tried)), default=timedelta(0))
    times = _times(since, tried[0])
    spent = times * sum(h.duration_ms for h in since)
    last_try = sum(h.duration_ms for h in _last_series(near)[0])
    price = max(least, last_try) if len(tried) > 1 else least  # much of what the very first took was compiling
    patient = times * len(since) >= PATIENCE and waited >= min(2 * longest, LONGEST_WAIT)
    return patient and spent >= WORTH_A_TRY * price


def _last_series(lines: Sequence[Refresh]) -> tuple[list[Refresh], bool]:
    """The newest differential refreshes that followed each other, and whether they were given up once before those."""
    since = list(dropwhile(lambda h: h.action != "DIFFERENTIAL", lines))
    series = list(takewhile(lambda h: h.action == "DIFFERENTIAL", since))
    is_long_ago = len(lines) - len(since) >= REMEMBERED
    return series, is_long_ago or (len(since) > len(series) and since[len(series)].reason == "cost_model")


def full_is_due(lines: Sequence[Refresh], rows: int, price: float) -> bool:
    """Whether a full refresh, of which nothing but the first load is known, is worth a try at this price at most."""
    fulls = [h.finished_at for h in lines if h.action != "DIFFERENTIAL"]
    since = [h for h in lines if h.action == "DIFFERENTIAL" and is_near(h.changed_rows, rows)]
    since = [h for h in since if fulls and h.finished_at > fulls[0]]
    return bool(since) and _times(since, fulls[0]) * sum(h.duration_ms for h in since) >= WORTH_A_TRY * price


def _times(since: Sequence[Refresh], start: datetime) -> float:
    """How many times as many refreshes as are shown: the history ends somewhere, before it they went on as fast."""
    waited, seen = since[0].finished_at - start, since[0].finished_at - since[-1].finished_at
    return max(1.0, waited / seen) if len(since) >= REMEMBERED and seen else 1.0


def is_near(one: int, other: int) -> bool:
    """
    >>> is_near(3, 900), is_near(900, 5000), is_near(2000, 7000)
    (True, False, True)
    """
    low, high = sorted((max(one, SMALL), max(other, SMALL)))
    return high <= NEAR * low


def _estimate(lines: Sequence[Refresh], rows: int) -> Estimate | None:
    """By refreshes of about this size, those that learned nothing before others; or else by a line through all."""
    near = [h for h in lines if is_near(h.changed_rows, rows)]
    if not near:
        guess = _line(lines, rows)
        return None if guess is None else Estimate(guess, 0, DOUBT, lines[0].finished_at)
    settled = [h for h in near if h.learning_ms <= SLIGHT * h.duration_ms]
    recent = (settled or near)[:RECENT]
    doubt = FIRST_DOUBT if len(near) == 1 else DOUBT
    found = Estimate(typical(h.duration_ms for h in recent), len(recent), doubt, near[0].finished_at)
    if len(settled) >= SURE or len(near) >= SURE_ANYWAY:
        return replace(found, doubt=1.0, is_sure=True)
    least = min(h.duration_ms - h.learning_ms for h in recent)
    return replace(found, spared=found.ms - least)


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
