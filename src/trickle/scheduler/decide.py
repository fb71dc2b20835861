"""What to refresh now: pure, a few microseconds a table.

A unit starts when it is due, when something changed for it, and when no source of it that is due as well has still
to run. Each source is waited for once: whoever became due first is not put off for ever by a source that is always due.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from ..schedules import Clock, Cron, Every
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
        self.skips: list[Skip] = []
        self.behind: set[int] = set()
        self.idle: set[int] = set()
        self.struck: set[int] = set()
        self.wake: datetime | None = None

    def plan(self) -> Plan:
        for place, unit in enumerate(self.state.units):
            self.consider(place, unit, self.state.courses[place])
        self.ready.sort(key=lambda start: (start.due, start.unit))
        chosen = tuple(self.ready[: max(self.state.free, 0)])
        return Plan(
            chosen,
            tuple(self.skips),
            frozenset(self.behind),
            frozenset(self.idle),
            frozenset(self.struck),
            self.wake,
        )

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
            self.first[place] = course.started
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
        """Nothing to do; a cron time that passes now is spent."""
        for member in unit.members:
            for clock in member.clocks:
                if isinstance(clock, Cron) and (at := clock.due(course.started)) is not None and at <= self.now:
                    self.struck.add(place)

    def ask(self, place: int, unit: Unit, course: Course, target: int) -> None:
        due = due_at(unit, course, self.now)
        if due is None:
            return
        if course.retry_at is not None and course.retry_at > due:
            due = course.retry_at
        if due > self.now:
            self.wake = due if self.wake is None else min(self.wake, due)
        elif course.block:
            self.skips.append(Skip(place, course.block))
        else:
            waits = any(s in self.first and self.first[s] < due for s in unit.sources)
            self.first[place] = course.started
            if not waits:
                self.ready.append(Start(place, target, due))


def due_at(unit: Unit, course: Course, now: datetime) -> datetime | None:
    """When a unit with something to do is due; None if only when told."""
    stretch = unit.pace * course.factor
    changed = course.since or now
    found = [_due(m.clocks, course.started, changed, stretch) for m in unit.members]
    times = [at for at in found if at is not None]
    return (max if unit.slowest else min)(times, default=None)


def _due(clocks: tuple[Clock, ...], started: datetime, changed: datetime, stretch: float) -> datetime | None:
    found: datetime | None = None
    for clock in clocks:
        if isinstance(clock, Every):
            at: datetime | None = started + timedelta(seconds=clock.seconds * stretch)
        else:
            at = clock.due(started, changed)
        if at is not None and (found is None or at < found):
            found = at
    return found


def _least(standings: list[Standing]) -> int:
    """The oldest frontier; before the first snapshot if a member is not filled."""
    return min(-1 if s.frontier is None else s.frontier for s in standings)
