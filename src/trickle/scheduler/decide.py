"""What to refresh now: pure, a few microseconds a table.

A unit starts when it is due, when something changed for it, and when no source of it that is due as well has still
to run. Each source is waited for once: whoever became due first is not put off for ever by a source that is always due.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from ..schedules import Clock, Cron, Every, OnChange
from .state import Course, Plan, Skip, Standing, Start, State, Unit


def decide(state: State, now: datetime) -> Plan:
    """The units to start, oldest due first, each with the newest snapshot that all its sources are fresh for."""
    return _Decision(state, now).plan()


class _Decision:
    def __init__(self, state: State, now: datetime) -> None:
        self.state, self.now = state, now
        self.fresh: list[int] = []
        """Up to where each unit is exact, those included for which nothing changed."""
        self.first: dict[int, datetime] = {}
        """Units that run or are about to, with when they were last begun."""
        self.ready: list[Start] = []
        self.limits: list[int] = []
        """Of the units that workers of this scheduler are at."""
        self.skips: list[Skip] = []
        self.behind: set[int] = set()
        self.idle: set[int] = set()
        self.struck: set[int] = set()
        self.coming: set[int] = set()
        self.wake: datetime | None = None

    def plan(self) -> Plan:
        for place, unit in enumerate(self.state.units):
            self.consider(place, unit, self.state.courses[place])
        return Plan(
            tuple(self.admitted()),
            tuple(self.skips),
            frozenset(self.behind),
            frozenset(self.idle),
            frozenset(self.struck),
            frozenset(self.coming),
            self.wake,
        )

    def admitted(self) -> list[Start]:
        """As many as there are workers for, the longest due first; one that may not run beside so many others is
        waited for, not overtaken: else it would wait for ever."""
        chosen: list[Start] = []
        limits = self.limits
        for start in sorted(self.ready, key=lambda start: (start.due, start.unit)):
            limits = [*limits, self.state.units[start.unit].limit]
            if len(chosen) >= self.state.free or len(limits) > min(limits):
                break
            chosen.append(start)
        return chosen

    def consider(self, place: int, unit: Unit, course: Course) -> None:
        state = self.state
        target = min([self.fresh[source] for source in unit.sources], default=state.head)
        standings = [state.standings[m.id] for m in unit.members]
        changed, can_go = self.changes(unit, standings, target)
        if not changed and target == state.head and not course.running:
            self.fresh.append(target)
            self.idle.add(place)
            self.rest(place, unit, course)
            return
        self.fresh.append(_least(standings))
        if changed:
            self.behind.add(place)
        if course.running:
            self.coming.add(place)
            self.first[place] = course.started
            if course.here:
                self.limits.append(unit.limit)
        elif can_go:
            self.ask(place, unit, course, target)

    def changes(self, unit: Unit, standings: list[Standing], target: int) -> tuple[bool, bool]:
        """Whether there is a change that the unit does not show, and whether a refresh to the target would show one."""
        changed = can_go = False
        last_change = self.state.changed.get
        for member, standing in zip(unit.members, standings, strict=True):
            frontier = standing.frontier
            if frontier is None or standing.pending:
                return True, target >= 0
            if frontier > target:
                return True, False  # a member is ahead of what the others could reach
            for read in member.reads:
                known = standing.seen if read.is_stream and standing.seen is not None else frontier
                if last_change(read.table, -1) > known:
                    changed = True
                    can_go = can_go or read.is_stream or target > frontier
        return changed, can_go

    def rest(self, place: int, unit: Unit, course: Course) -> None:
        """Nothing to do; a cron time that passes now is spent, and the next one is waited for to be spent."""
        for member in unit.members:
            for clock in member.clocks:
                if isinstance(clock, Cron) and (at := clock.due(course.started)) is not None:
                    if at <= self.now:
                        self.struck.add(place)
                    else:
                        self.wake_at(at)

    def wake_at(self, at: datetime) -> None:
        self.wake = at if self.wake is None else min(self.wake, at)

    def ask(self, place: int, unit: Unit, course: Course, target: int) -> None:
        due = due_at(unit, course, self.now)
        if due is None:
            return
        if course.retry_at is not None and course.retry_at > due:
            due = course.retry_at
        if not course.block:
            self.coming.add(place)
        if due > self.now:
            self.wake_at(due)
        elif course.block:
            self.skips.append(Skip(place, course.block))
        else:
            waits = any(s in self.first and self.first[s] < due for s in unit.sources)
            self.first[place] = course.started
            if not waits:
                self.ready.append(Start(place, target, due))


def due_at(unit: Unit, course: Course, now: datetime) -> datetime | None:
    """When a unit with something to do is due; None if only when told."""
    changed = course.since or now
    found = [_due(m.clocks, course, changed, unit.pace) for m in unit.members]
    times = [at for at in found if at is not None]
    return (max if unit.slowest else min)(times, default=None)


def _due(clocks: tuple[Clock, ...], course: Course, changed: datetime, pace: float) -> datetime | None:
    """An interval ends when the refresh is done: it is begun earlier by as long as it takes, half of it at most.

    A tier stretches intervals and debounces, which count as a second at least; it does not move a cron time.
    """
    found: datetime | None = None
    for clock in clocks:
        if isinstance(clock, Every):
            interval = clock.seconds * pace * course.factor
            at: datetime | None = course.started + timedelta(seconds=interval - min(course.takes, interval / 2))
        elif isinstance(clock, OnChange) and pace > 1:
            at = changed + timedelta(seconds=max(clock.debounce, 1.0) * pace)
        else:
            at = clock.due(course.started, changed)
        if at is not None and (found is None or at < found):
            found = at
    return found


def _least(standings: list[Standing]) -> int:
    """The oldest frontier; before the first snapshot if a member is not filled."""
    return min(-1 if s.frontier is None else s.frontier for s in standings)
