"""What the scheduler reads of the catalog: a glance many times a second, and more when the glance shows news."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, exc, func, select
from sqlalchemy.engine.interfaces import DBAPICursor

from ..lake.foreign import translated
from ..lake.lake import Lake
from ..ops.streams import Streams
from ..refresh.holds import Holds
from ..refresh.windows import changed_tables
from ..registry.models import SUSPENDED, StreamTable
from ..registry.scheduling import SIGNAL, Scheduling
from ..schedules import Calculated, Clock, Every, read_schedule
from .layout import Layout
from .state import Standing

LEARNS = timedelta(minutes=1)


@dataclass(frozen=True)
class News:
    """The newest snapshot, and how often schedulers were told to look again."""

    head: int
    signals: int


@dataclass(frozen=True)
class Sight:
    """What was seen at one moment."""

    news: News
    layout: Layout
    standings: Mapping[int, Standing]
    blocks: Mapping[int, str]
    """Why a stream table may not be refreshed, by id."""
    leased: frozenset[int]
    """Held by other schedulers."""
    paused: bool
    gated: frozenset[str] = frozenset()
    """Sources whose gates are closed, as plans name them."""


class Glance:
    """One small query on a connection that stays open, twenty times a second: by the driver, not by SQLAlchemy."""

    def __init__(self, lake: Lake, scheduling: Scheduling) -> None:
        self.lake = lake
        snapshot, signal = lake.catalog.tables["snapshot"].c, scheduling.registry.tables["signal"].c
        newest = select(func.max(snapshot.snapshot_id)).scalar_subquery()
        told = select(signal.number).where(signal.name == SIGNAL).scalar_subquery()
        options = {"literal_binds": True}
        self.query = str(select(newest, told).compile(lake.catalog.engine, compile_kwargs=options))
        self._connection: Connection | None = None
        self._cursor: DBAPICursor | None = None

    def news(self) -> News:
        with translated(f'lake "{self.lake.catalog.label}"'):
            try:
                cursor = self._cursor or self._open()
                cursor.execute(self.query)
                [(head, signals)] = cursor.fetchall()
            except self.lake.catalog.engine.dialect.loaded_dbapi.Error as error:
                self.close()
                raise exc.DBAPIError(self.query, None, error) from error
            except BaseException:
                self.close()
                raise
        return News(int(head), int(signals or 0))

    def _open(self) -> DBAPICursor:
        connection = self.lake.catalog.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        self._connection, self._cursor = connection, connection.connection.cursor()
        return self._cursor

    def close(self) -> None:
        connection, self._connection, self._cursor = self._connection, None, None
        if connection is not None:
            connection.invalidate()
            connection.close()


@dataclass
class Survey:
    streams: Streams
    owner: str
    changed: dict[int, int] = field(default_factory=dict)
    """The last snapshot that changed each stored table."""
    _seen: News | None = None
    _layout: Layout | None = None
    _learn_at: datetime | None = None
    """When tiers are learned anew."""

    def __post_init__(self) -> None:
        self.scheduling = Scheduling(self.streams.registry)
        found = read_schedule(self.lake.settings["scheduler.default_schedule"])
        self.default: Clock = Every(1.0) if isinstance(found, Calculated) else found

    @property
    def lake(self) -> Lake:
        return self.streams.lake

    def look(self, news: News, now: datetime) -> Sight:
        """Everything a decision needs."""
        with self.lake.reading() as connection:
            rows = self.scheduling.standings(connection)
            layout = self._laid_out(connection, news, rows, now)
            held = Holds.read(connection, self.streams.registry, layout.tables.values())
            leases = self.scheduling.leases(connection, datetime.now(UTC))
            paused = self.scheduling.control(connection, "paused") is not None
        self._follow(news, rows)
        self._seen = news
        standings = {r.id: Standing(r.frontier, r.seen, bool(r.pending)) for r in rows if r.id in layout.tables}
        suspended = {r.id: "suspended" for r in rows if r.status == SUSPENDED}
        reasons = {id: reason for id, table in layout.tables.items() if (reason := held.reason(table))}
        others = frozenset(id for id, (owner, _) in leases.items() if owner != self.owner)
        return Sight(news, layout, standings, {**reasons, **suspended}, others, paused, held.gated)

    def _laid_out(self, connection: Connection, news: News, rows: list[Any], now: datetime) -> Layout:
        versions = {r.id: r.version for r in rows}
        known = self._layout
        told = self._seen is None or news.signals != self._seen.signals
        told = told or (self._learn_at is not None and now > self._learn_at)
        if known is None or told or versions != {t.id: t.version for t in known.tables.values()}:
            tables = [t for t in self.streams.registry.all(connection) if t.id in versions]
            groups = [g.members for g in self.scheduling.refresh_groups(connection)]
            self._layout = known = Layout.of(tables, groups, self.default, self._unread(connection, tables, now))
        return known

    def _unread(self, connection: Connection, tables: list[StreamTable], now: datetime) -> dict[int, timedelta]:
        """For how long nobody read the tables that learn their tier; looked at now and then."""
        learning = [t for t in tables if t.options.get("tier") == "auto"]
        self._learn_at = now + LEARNS if learning else None
        reads = self.scheduling.reads(connection) if learning else {}
        return {t.id: now - reads.get(t.id, t.created_at or now) for t in learning}

    def _follow(self, news: News, rows: list[Any]) -> None:
        """Note which stored tables were changed since the last look; the first time, since the oldest frontier."""
        since = self._seen.head if self._seen else min((r.frontier for r in rows if r.frontier is not None), default=0)
        if news.head > since:
            for part in changed_tables(self.lake, since, news.head):
                for id, snapshot in part.items():
                    self.changed[id] = max(snapshot, self.changed.get(id, -1))
