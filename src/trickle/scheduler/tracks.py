"""What the scheduler remembers of each unit between ticks, and what it tells of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from py4j.protocol import Py4JNetworkError
from pyspark.sql import SparkSession

from ..errors import TrickleError
from ..events import (
    Events,
    FallingBehind,
    FuseBlown,
    Gated,
    Held,
    ModeFallback,
    RefreshFailed,
    RefreshFinished,
    RefreshStarted,
    Suspended,
    Ungated,
    WatermarkStuck,
)
from ..ops.gates import shown
from ..ops.streams import Streams
from ..refresh.result import RefreshResult
from ..registry.models import Refresh, StreamTable
from ..registry.scheduling import Scheduling
from ..schedules import Every
from ..sql.names import Name
from .lateness import Lateness
from .pacing import Usual
from .retry import after_error, stretched
from .state import Course, Plan, Start, Unit
from .survey import Sight
from .workers import Key, Outcome

FALLBACKS = ("change_ratio", "cost_model", "cost_trial", "history_expired", "misplaced_delete", "drift_reset")
"""Reasons to compute anew what has a differential form."""


@dataclass
class Track:
    started: datetime
    since: datetime | None = None
    factor: int = 1
    waited: float = 0.0
    """Seconds from when it was due, with something to do, until it was begun."""
    takes: Usual = field(default_factory=Usual)
    retry_at: datetime | None = None
    errors: int = 0
    held: str = ""
    """The reason that was told last."""
    held_since: datetime | None = None
    is_stuck: bool = False


@dataclass
class Tracks:
    streams: Streams
    events: Events
    tracks: dict[Key, Track] = field(default_factory=dict)
    sight: Sight | None = None
    lost: Exception | None = None
    """The error with which Spark went away: nothing can be refreshed in this process any more."""

    def __post_init__(self) -> None:
        self.lateness = Lateness(self.streams, self.events)

    def of(self, key: Key) -> Track:
        found = self.tracks.get(key)
        return self.tracks.setdefault(key, Track(datetime.now(UTC))) if found is None else found

    def course(self, key: Key, running: bool, here: bool, block: str) -> Course:
        t = self.of(key)
        return Course(t.started, running, here, t.since, t.factor, t.takes.nearly_always, t.retry_at, block)

    def follow(self, sight: Sight, now: datetime) -> None:
        """Forget units that are no more; new ones were last begun when the history says, or their tables made."""
        if self.sight is None or self.sight.layout is not sight.layout:
            known = set(sight.layout.keys)
            self.tracks = {key: track for key, track in self.tracks.items() if key in known}
            with self.streams.lake.reading() as connection:
                last = Scheduling(self.streams.registry).last_starts(connection)
            made = {id: table.created_at or now for id, table in sight.layout.tables.items()}
            for key in known - self.tracks.keys():
                self.tracks[key] = Track(max(last.get(id, made[id]) for id in key))
        self.tell_gates(self.sight.gated if self.sight else frozenset(), sight.gated)
        self.sight = sight

    def tell_gates(self, before: frozenset[str], after: frozenset[str]) -> None:
        """Gates are closed and opened by anybody: a scheduler tells of them when it sees them."""
        for source in sorted(after - before):
            self.events.tell(Gated(shown(self.streams, source)))
        for source in sorted(before - after):
            self.events.tell(Ungated(shown(self.streams, source)))

    # Starts and ends.

    def begin(self, tables: Sequence[StreamTable], start: Start, now: datetime) -> None:
        track = self.of(tuple(t.id for t in tables))
        track.waited = (now - max(start.due, track.since or now)).total_seconds()
        track.started, track.since, track.held = now, None, ""
        for table in tables:
            self.events.tell(RefreshStarted(table.label, start.target))

    def settle(self, outcome: Outcome, now: datetime) -> None:
        track = self.of(outcome.key)
        if outcome.is_taken:
            return
        if outcome.error is not None:
            self.failed(outcome, track, now)
            return
        track.retry_at, track.errors = None, 0
        for result in outcome.results:
            self.finished(result)
            if result.action == "SKIP":
                track.held, track.held_since = result.reason, now  # the refresh has recorded it itself
        self.keep_pace(outcome, track)

    def finished(self, result: RefreshResult) -> None:
        if result.action == "SKIP":
            if result.reason == "fuse_blown":
                self.events.tell(self.blown(result.name))
            return
        facts = (result.action, result.reason, result.rows_inserted, result.rows_deleted)
        self.events.tell(
            RefreshFinished(result.name, *facts, result.duration_ms, result.data_snapshot, result.snapshot)
        )
        if result.action in ("FULL", "REINITIALIZE") and result.reason.startswith(FALLBACKS):
            self.events.tell(ModeFallback(result.name, result.action, result.reason))

    def blown(self, name: str) -> FuseBlown:
        """With what blew it, as the registry says."""
        assert self.sight is not None
        id = next((t.id for t in self.sight.layout.tables.values() if t.label == name), 0)
        with self.streams.lake.reading() as connection:
            fuse = Scheduling(self.streams.registry).fuses(connection).get(id)
        return FuseBlown(name, fuse.changed_rows, fuse.ceiling) if fuse else FuseBlown(name)

    def failed(self, outcome: Outcome, track: Track, now: datetime) -> None:
        """Retry later, or suspend: the member that failed, not those that were to be committed with it."""
        error, settings = outcome.error, self.streams.lake.settings
        if error is not None and lost_spark(error) and not answers(self.streams.lake.spark):
            self.lost = error
            return
        if self.is_gone(outcome.key):
            return  # dropped meanwhile
        code = error.code if isinstance(error, TrickleError) else "trickle_error"
        message = error.told if isinstance(error, TrickleError) else f"{type(error).__name__}: {error}"
        broken = self.broken(outcome.key)
        track.errors = max([track.errors + 1, *(t.errors_in_row for t in broken)])
        retry = after_error(
            code,
            track.errors,
            now,
            settings["scheduler.retry_seconds"],
            settings["scheduler.retry_cap_seconds"],
            settings["scheduler.errors_to_suspend"],
        )
        track.retry_at = retry.at
        for table in broken:
            at = None if retry.suspend else retry.at
            self.events.tell(RefreshFailed(table.label, code, message, track.errors, at))
            if retry.suspend:
                self.suspend(table, f"{code}: {message}", track.errors)
        if retry.suspend:
            track.errors, track.retry_at = 0, None  # once resumed, it begins anew

    def is_gone(self, key: Key) -> bool:
        """Whether a member is no more."""
        try:
            return not {t.id for t in self.streams.all()}.issuperset(key)
        except TrickleError:
            return False

    def broken(self, key: Key) -> list[StreamTable]:
        """The members with an error, as they are now; all of them if the registry could not be told which."""
        assert self.sight is not None
        tables = [self.sight.layout.tables[id] for id in key if id in self.sight.layout.tables]
        try:
            current = [self.streams.find(Name(t.schema, t.name)) for t in tables]
        except TrickleError:
            return tables
        return [t for t in current if t.errors_in_row] or tables

    def suspend(self, table: StreamTable, why: str, errors: int) -> None:
        reason = f"suspended after {errors} errors in a row; {why}"
        with self.streams.lake.catalog.writing() as connection:
            Scheduling(self.streams.registry).suspend(connection, table, reason)
        self.events.tell(Suspended(table.label, reason))

    def keep_pace(self, outcome: Outcome, track: Track) -> None:
        unit = self.unit(outcome.key)
        if unit is None:
            return
        intervals = [c.seconds * unit.pace for m in unit.members for c in m.clocks if isinstance(c, Every)]
        interval = min(intervals, default=None)
        factor = stretched(track.factor, outcome.seconds, interval)
        if factor > track.factor and interval is not None:
            for name in self.labels(outcome.key):
                self.events.tell(FallingBehind(name, outcome.seconds, interval, factor))
        track.factor = factor
        track.takes.add(track.waited + outcome.seconds)

    # What is seen at each tick.

    def note(self, sight: Sight, plan: Plan, now: datetime) -> None:
        units, keys = sight.layout.units, sight.layout.keys
        for place in plan.struck:
            self.of(keys[place]).started = now
        skipped = {skip.unit: skip.reason for skip in plan.skips}
        for place, key in enumerate(keys):
            track = self.of(key)
            if place in plan.behind:
                track.since = track.since or now
            elif place in plan.idle:
                track.since = None
            if track.held and place not in skipped and sight.blocks.keys().isdisjoint(key):
                track.held, track.held_since, track.is_stuck = "", None, False
        self.lateness.note(sight, plan.idle)
        for place, reason in skipped.items():
            self.note_held(sight, units[place], reason, now)

    def note_held(self, sight: Sight, unit: Unit, reason: str, now: datetime) -> None:
        """A skipped refresh is recorded once, not at each tick."""
        track = self.of(_key(unit))
        tables = [sight.layout.tables[m.id] for m in unit.members]
        if track.held != reason:
            track.held, track.held_since = reason, now
            for table in tables:
                self.events.tell(Held(table.label, reason))
            if reason != "suspended":
                self.record_skips(sight, tables, reason, now)
        waited = (now - (track.held_since or now)).total_seconds()
        limit = self.streams.lake.settings["scheduler.watermark_stuck_seconds"]
        if reason == "watermark" and not track.is_stuck and waited > limit:
            track.is_stuck = True
            for table in tables:
                self.events.tell(WatermarkStuck(table.label, waited))

    def tell_held(self, held: Mapping[str, str]) -> None:
        """What is left behind at an end, as far as it was not told before."""
        assert self.sight is not None
        told = {name: self.of(key).held for key in self.sight.layout.keys for name in self.labels(key)}
        for name, reason in held.items():
            if told[name] != reason:
                self.events.tell(Held(name, reason))

    def record_skips(self, sight: Sight, tables: Sequence[StreamTable], reason: str, now: datetime) -> None:
        with self.streams.lake.catalog.writing() as connection:
            for table in tables:
                frontier = sight.standings[table.id].frontier
                facts = (table.id, table.label, now, now, "SKIP", reason, 0, 0, 0, 0.0, frontier, None, "scheduler")
                self.streams.registry.record(connection, Refresh(*facts))

    def troubled(self, error: TrickleError) -> None:
        """The catalog could not be asked: told of, not raised."""
        self.events.tell(RefreshFailed("", error.code, error.message, 0, None))

    def unit(self, key: Key) -> Unit | None:
        units = self.sight.layout.units if self.sight else ()
        return next((u for u in units if _key(u) == key), None)

    def labels(self, key: Key) -> list[str]:
        assert self.sight is not None
        return [self.sight.layout.tables[id].label for id in key if id in self.sight.layout.tables]


def _key(unit: Unit) -> Key:
    return tuple(m.id for m in unit.members)


def answers(spark: SparkSession) -> bool:
    """Whether there is still a Spark: a connection that broke may have led elsewhere."""
    try:
        return bool(spark.version)
    except Exception:
        return False


def lost_spark(error: BaseException) -> bool:
    """Whether an error is, or stems from, a connection that broke, as that to Java would."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, Py4JNetworkError | ConnectionError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False
