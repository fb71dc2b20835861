"""When a stream table is refreshed, as a value: every so often, by the clock, when a source changes, or when told.

>>> read_schedule("1h30m")
Every(seconds=5400.0)
>>> read_schedule("0 6 * * 1-5 Europe/Berlin")
Cron(line='0 6 * * 1-5', zone='Europe/Berlin')
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from .errors import ConfigError

LONGEST = 100 * 365 * 86400.0
"""A century: no duration is longer."""
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)")


@dataclass(frozen=True)
class Every:
    """At most this long after the last time."""

    seconds: float

    def due(self, last: datetime, changed: datetime | None = None) -> datetime | None:
        return last + timedelta(seconds=self.seconds)


@dataclass(frozen=True)
class Cron:
    """At the times of a cron line."""

    line: str
    zone: str = "UTC"

    def due(self, last: datetime, changed: datetime | None = None) -> datetime | None:
        return _strike(self.line, self.zone, last)


@lru_cache(maxsize=10_000)
def _strike(line: str, zone: str, last: datetime) -> datetime:
    """Asked of each table at each tick, and slow to find."""
    from croniter import croniter

    found: datetime = croniter(line, last.astimezone(ZoneInfo(zone))).get_next(datetime)
    return found.astimezone(last.tzinfo)


@dataclass(frozen=True)
class OnChange:
    """When a source was changed; changes within the debounce are taken together."""

    debounce: float = 0.0

    def due(self, last: datetime, changed: datetime | None = None) -> datetime | None:
        return None if changed is None else changed + timedelta(seconds=self.debounce)


@dataclass(frozen=True)
class Calculated:
    """As often as its consumers need it."""


@dataclass(frozen=True)
class Manual:
    """Only when told."""

    def due(self, last: datetime, changed: datetime | None = None) -> datetime | None:
        return None


Clock = Every | Cron | OnChange | Manual
"""A schedule that says a time."""
Schedule = Clock | Calculated


def read_schedule(text: Any) -> Schedule:
    """The schedule, or a `ConfigError` that names the forms there are.

    >>> read_schedule("on_change 200ms")
    OnChange(debounce=0.2)
    """
    words = str(text).strip()
    first, _, rest = words.casefold().partition(" ")
    if first in ("calculated", "manual") and not rest:
        return Calculated() if first == "calculated" else Manual()
    if first == "on_change":
        return OnChange(read_duration(rest) if rest.strip() else 0.0)
    return Every(read_duration(text)) if _is_duration(text) else _cron(words)


def read_duration(value: Any, least: float = 0.0) -> float:
    """Seconds of a duration: a number of them, or `30s`, `1h30m`, `250ms`.

    >>> read_duration("1h30m"), read_duration(2)
    (5400.0, 2.0)
    """
    if not _is_duration(value):
        raise ConfigError(f"{value!r} is not a duration", hint="write it as 30s, 5m, 1h30m, 250ms or 2d.")
    seconds = _seconds(value)
    if not seconds > least:
        raise ConfigError(f"{value!r} is too short a duration", hint=f"it must be more than {least:g} s.")
    if seconds > LONGEST:
        raise ConfigError(f"{value!r} is too long a duration", hint="it must be at most a century, 36500d.")
    return seconds


def _is_duration(value: Any) -> bool:
    """A number, or numbers with their units and nothing else."""
    text = str(value).strip().casefold()
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number or bool(text and not _DURATION.sub("", text).strip())


def _seconds(value: Any) -> float:
    if isinstance(value, int | float):
        return float(value)
    found = _DURATION.findall(str(value).casefold())
    return sum(float(number) * _UNITS[unit] for number, unit in found)


def _cron(text: str) -> Cron:
    """Five fields or an @word, and then a time zone if there is one."""
    from croniter import CroniterBadDateError, croniter

    words = text.split()
    fields = 1 if text.startswith("@") else 5
    line, zone = " ".join(words[:fields]), " ".join(words[fields:]) or "UTC"
    if len(words) < fields or not croniter.is_valid(line):
        raise ConfigError(
            f"{text!r} is not a schedule",
            hint="use a duration (30s, 1h30m), a cron line of five fields with a time zone if not UTC "
            "('0 6 * * * Europe/Berlin'), 'calculated', 'on_change' or 'manual'.",
        )
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError):
        raise ConfigError(f"{zone!r} is not a time zone", hint="use a name like UTC or Europe/Berlin.") from None
    try:
        _strike(line, zone, datetime.now(UTC))
    except CroniterBadDateError:
        raise ConfigError(f"{text!r} names no time that ever comes", hint="check its day and its month.") from None
    return Cron(line, zone)


def resolve(
    schedules: Mapping[str, Schedule], readers: Mapping[str, Iterable[str]], default: Clock
) -> dict[str, tuple[Clock, ...]]:
    """What each schedule comes down to: a calculated one to those of its consumers, or the default without any.

    >>> resolve({"a": Calculated(), "b": Every(60)}, {"a": ["b"]}, Every(1))["a"]
    (Every(seconds=60),)
    """
    feeds: dict[str, list[str]] = {}
    for source, those in readers.items():
        for reader in those:
            feeds.setdefault(reader, []).append(source)
    found: dict[str, tuple[Clock, ...]]
    found = {name: () if isinstance(s, Calculated) else (s,) for name, s in schedules.items()}
    _spread(found, [name for name in found if found[name]], schedules, feeds)
    unneeded = [name for name in found if not found[name]]
    found |= dict.fromkeys(unneeded, (default,))
    _spread(found, unneeded, schedules, feeds)
    return found


def _spread(
    found: dict[str, tuple[Clock, ...]],
    names: list[str],
    schedules: Mapping[str, Schedule],
    feeds: Mapping[str, list[str]],
) -> None:
    """Tell those that these read, if their schedules are calculated, when they are needed; and so on, also round a
    circle."""
    while names:
        reader = names.pop()
        needed = [clock for clock in found[reader] if not isinstance(clock, Manual)]
        for source in feeds.get(reader, ()):
            if isinstance(schedules.get(source), Calculated):
                clocks = _fewest([*found[source], *needed])
                if clocks != found[source]:
                    found[source] = clocks
                    names.append(source)


def _fewest(clocks: Sequence[Clock]) -> tuple[Clock, ...]:
    """The same times with the fewest clocks: of several intervals the shortest."""
    intervals = [c for c in clocks if isinstance(c, Every)]
    shortest = [min(intervals, key=lambda c: c.seconds)] if intervals else []
    return tuple(dict.fromkeys([*shortest, *(c for c in clocks if not isinstance(c, Every))]))


def next_due(clocks: Iterable[Clock], last: datetime, changed: datetime | None = None) -> datetime | None:
    """The first time that one of the clocks names after `last`; None if none does."""
    return min((at for c in clocks if (at := c.due(last, changed)) is not None), default=None)
