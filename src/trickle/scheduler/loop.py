"""The scheduler at work: it looks, decides, starts, hears what became of it, and sleeps until something is due."""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from ..errors import SparkLost, TrickleError
from ..events import Events, SchedulerStarted, SchedulerStopped
from ..lake import snapshots
from ..lake.maintenance import orphans
from ..ops.maintenance import Caretaker
from ..ops.streams import Streams
from ..registry.maintenance import MaintenanceHistory
from ..registry.scheduling import Scheduling
from .decide import decide
from .held import held
from .pacing import Due
from .presence import Presence
from .state import Course, Plan, Start, State
from .survey import Glance, News, Sight, Survey
from .tracks import Tracks
from .workers import Key, Workers

RESTS = 10.0
"""Seconds between two notes of how far idle tables are."""
CALM = 10.0
"""Seconds without news after which it is looked for half as often."""
HOUSEKEEPING = 3600.0
PATIENCE = 5.0
"""The longest wait, in seconds, before an unreachable catalog is tried again."""


class Scheduler:
    """Keeps the stream tables of one lake as fresh as their schedules say."""

    def __init__(self, streams: Streams, events: Events, clock: Callable[[], datetime] | None = None) -> None:
        """`clock` says what time it is for schedules; leases go by the machine's."""
        settings = streams.lake.settings
        self.clock = clock or (lambda: datetime.now(UTC))
        self.streams, self.events, self.settings = streams, events, settings
        self.owner = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self.scheduling = Scheduling(streams.registry)
        self.wake = threading.Event()
        self.stopping = threading.Event()
        lease = settings["scheduler.lease_seconds"]
        care = Caretaker(streams, events, by="scheduler")
        self.workers = Workers(streams, self.owner, settings["scheduler.workers"], lease, self.wake, care.after)
        self.presence = Presence(streams, self.owner, lease)
        self.survey = Survey(streams, self.owner)
        self.glance = Glance(streams.lake, self.scheduling)
        self.tracks = Tracks(streams, events)
        self._renewal, self._rests = Due(lease / 3), Due(RESTS)
        self._sweeps, self._housekeeping = Due(lease), Due(HOUSEKEEPING)
        self._news: News | None = None
        self._plan: Plan | None = None
        self._wake_at: datetime | None = None
        self._is_quiet = False
        """Nothing is behind, nobody else is at work: only news or a cron time can change that."""
        self._patience = 0.1

    def stop(self) -> None:
        """End after what is running; safe to call from a signal handler or another thread."""
        self.stopping.set()
        self.wake.set()

    @property
    def held(self) -> dict[str, str]:
        """What stays behind until somebody does something, by name, with the reason; as of the last tick."""
        return held(self.tracks.sight, self._plan) if self.tracks.sight and self._plan else {}

    def run(self, seconds: float | None = None, until_idle: bool = False) -> dict[str, str]:
        """Until stopped, for so many seconds, or until nothing is left that it may do; what is held then."""
        until = None if seconds is None else time.monotonic() + seconds
        self.streams.migrate()
        self.arrive()
        try:
            while not self.stopping.is_set() and (until is None or time.monotonic() < until):
                if self._safely(self.tick) and until_idle:
                    self.tracks.tell_held(self.held)
                    break
                self.sleep(until)
        finally:
            self.leave()
            if self.tracks.lost is not None:
                raise SparkLost(
                    "spark has gone away",
                    detail=str(self.tracks.lost)[:500],
                    hint="start the scheduler again; what was running was not committed.",
                )
        return self.held

    # One tick.

    def tick(self) -> bool:
        """Look, decide, act; whether nothing runs and nothing is left to do but what is held."""
        now = self.clock()
        for outcome in self.workers.finished():
            self.tracks.settle(outcome, now)
        if self.tracks.lost is not None:
            self.stop()
            return False
        self.upkeep()
        news = self.glance.news()
        sight = self.survey.look(news, now)
        self.tracks.follow(sight, now)
        plan = decide(self.state(sight), now)
        self.tracks.note(sight, plan, now)
        if not sight.paused:
            for start in plan.starts:
                self.begin(sight, start, now)
        is_said = self.rest(sight, plan)
        self._news, self._plan, self._wake_at = news, plan, plan.wake
        self._is_quiet = is_said and not (plan.behind or plan.struck or sight.leased)
        self._patience = 0.1
        return (sight.paused or not plan.coming) and not self.workers.running

    def state(self, sight: Sight) -> State:
        return State(
            sight.news.head,
            sight.layout.units,
            [self.course(sight, key) for key in sight.layout.keys],
            sight.standings,
            self.survey.changed,
            self.workers.free,
        )

    def course(self, sight: Sight, key: Key) -> Course:
        here = key in self.workers.running
        is_busy = here or not sight.leased.isdisjoint(key)
        block = next((sight.blocks[id] for id in key if id in sight.blocks), "") if sight.blocks else ""
        return self.tracks.course(key, is_busy, here, block)

    def begin(self, sight: Sight, start: Start, now: datetime) -> None:
        tables = [sight.layout.tables[m.id] for m in sight.layout.units[start.unit].members]
        self.tracks.begin(tables, start, now)
        self.workers.start(tables, start.target)

    def rest(self, sight: Sight, plan: Plan) -> bool:
        """Idle tables are exact for the head as they are; said now and then, so that old snapshots may go.

        Whether that is said of all.
        """
        ids = [m.id for place in plan.idle for m in sight.layout.units[place].members]
        held = [(id, f) for id in ids if (f := sight.standings[id].frontier) is not None and f < sight.news.head]
        still = [(id, f) for id, f in held if sight.layout.tables[id].refresh_mode != "IMMEDIATE"]
        if not still or sight.paused:
            return True
        if not self._rests.now():
            return False
        with self.streams.lake.catalog.writing() as connection:
            self.scheduling.rest(connection, still, sight.news.head)
        return True

    # Sleep.

    def sleep(self, until: float | None) -> None:
        """Until a worker ends, a commit or a signal comes, a table is due, or the time is over."""
        poll, since = self.settings["scheduler.poll_ms"] / 1000, time.monotonic()
        while not self.stopping.is_set():
            wait = poll if time.monotonic() - since < CALM else 2 * poll
            if self._wake_at is not None:
                wait = min(wait, max((self._wake_at - self.clock()).total_seconds(), 0.0))
            if until is not None:
                wait = min(wait, max(until - time.monotonic(), 0.0))
            if self.wake.wait(wait):
                self.wake.clear()
                return
            if self._wake_at is not None and self._wake_at <= self.clock():
                return
            if (until is not None and time.monotonic() >= until) or self._safely(self.has_news):
                return

    def has_news(self) -> bool:
        """Whether there is something to look at; where all is quiet, leases are kept without looking."""
        if self.glance.news() != self._news:
            return True
        if time.monotonic() - self._renewal.last < self._renewal.seconds:
            return False
        if self._is_quiet:
            self.upkeep()
        return not self._is_quiet

    def _safely(self, work: Callable[[], bool]) -> bool:
        """What the catalog cannot be asked now is asked again soon, then later."""
        try:
            return work()
        except TrickleError as error:
            self.tracks.troubled(error)
            self.stopping.wait(self._patience)
            self._patience = min(self._patience * 2, PATIENCE)
            return False

    # Among others.

    def arrive(self) -> None:
        self.presence.arrive()
        self.presence.sweep()
        threading.Thread(target=self._collect_orphans, name="trickle orphans", daemon=True).start()
        self.events.tell(SchedulerStarted(self.owner))

    def leave(self) -> None:
        """Who has to leave a refresh alone stays known, so that its leases end with its process, and not before."""
        self.glance.close()
        try:
            for outcome in self.workers.drain(self.settings["scheduler.drain_seconds"], self._keep_leases_safely):
                self.tracks.settle(outcome, self.clock())
            if not self.workers.running:
                self.presence.leave()
        except TrickleError as error:
            self.tracks.troubled(error)
        self.events.tell(SchedulerStopped(self.owner))

    def upkeep(self) -> None:
        """Leases kept, those of the dead given up, old history forgotten."""
        self.keep_leases()
        if self._sweeps.now():
            self.presence.sweep()
        if self._housekeeping.now():
            before = datetime.now(UTC) - timedelta(days=self.settings["scheduler.history_days"])
            with self.streams.lake.catalog.writing() as connection:
                self.scheduling.forget_history(connection, before)
                MaintenanceHistory(self.streams.registry).forget(connection, before)
                self.scheduling.forget_versions(connection, snapshots.oldest(self.streams.lake.catalog, connection))

    def keep_leases(self) -> bool:
        due = self._renewal.now()
        if due:
            self.presence.renew(self.workers.running)
        return due

    def _keep_leases_safely(self) -> None:
        self._safely(self.keep_leases)

    def _collect_orphans(self) -> None:
        """What crashes left, in a thread of its own: it may take long, and its failure changes nothing."""
        with suppress(Exception):
            for _ in orphans.collect_orphans(self.streams.lake, None, False):
                pass
