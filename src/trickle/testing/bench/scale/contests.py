"""Looks, commits, decisions and listings in a large catalog, against the same in a catalog of four tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from pyspark.sql import SparkSession

import trickle

from ....lake.changes import change_pieces
from ....lake.model import Bound
from ....scheduler.decide import decide
from ....scheduler.loop import Scheduler
from ....sql.names import Name
from ..arena import Arena
from ..measure import Contest
from .world import Size, World

GROWTH = 1.5
"""How much longer what concerns one stream table may take among thousands."""
NO_DATA_MS, FILES_MS, DECIDE_MS, LIST_MS, EXPIRE_MS = 5, 50, 250, 2000, 1000


@dataclass(frozen=True)
class Lakes:
    """A large one and a small one, each with the same two real stream tables."""

    large: trickle.Session
    small: trickle.Session
    world: World

    def both(self, way: Callable[[trickle.Session], object]) -> dict[str, Any]:
        return {"ours": lambda: way(self.large), "plain": lambda: way(self.small)}

    def change(self) -> None:
        for db in (self.large, self.small):
            db.append("orders", [{"id": 1, "customer": 7, "amount": 5}])


@contextmanager
def lakes(arena: Arena, size: Size, catalog: str, say: Callable[[str], None]) -> Iterator[Lakes]:
    """Both in catalogs of this kind: `sqlite`, or `postgres` in a server of their own."""
    with ExitStack() as stack:
        first, second = stack.enter_context(_locations(arena.folder, catalog))
        large = stack.enter_context(_opened(arena.spark, *first))
        small = stack.enter_context(_opened(arena.spark, *second))
        began = perf_counter()
        world = World.create(large, size)
        say(f"{size.tables:,} stream tables and {size.files:,} files in {perf_counter() - began:.0f} s")
        World.create(small, Size(tables=2, files=2))
        for db in (large, small):
            _probe(db)
        yield Lakes(large, small, world)


Location = tuple[str, str | None]


@contextmanager
def _locations(folder: Path, catalog: str) -> Iterator[tuple[Location, Location]]:
    if catalog == "sqlite":
        yield (str(folder / "large"), None), (str(folder / "small"), None)
        return
    from ...postgres_server import start_postgres

    with start_postgres() as server:
        files = [str(folder / name / "data") for name in ("large", "small")]
        yield (server.database(), files[0]), (server.database(), files[1])


def _opened(spark: SparkSession, location: str, data_path: str | None) -> trickle.Session:
    return trickle.connect(location, data_path, spark=spark)


def _probe(db: trickle.Session) -> None:
    """One stream table on a table, one on a stream table, both refreshed differentially."""
    db.sql("CREATE TABLE orders (id BIGINT, customer INT, amount BIGINT)")
    db.append("orders", [{"id": n, "customer": n % 10, "amount": n} for n in range(100)])
    query = "SELECT customer, count(*) AS n, sum(amount) AS total FROM orders GROUP BY customer"
    db.create_stream_table("probe", query, refresh_mode="DIFFERENTIAL")
    db.create_stream_table("above", "SELECT customer, total FROM probe WHERE n > 1", refresh_mode="DIFFERENTIAL")
    db.refresh_stream_table("above")


def contests(lakes: Lakes) -> Iterator[Contest]:
    yield from _single(lakes)
    yield from _files(lakes)
    yield from _whole(lakes)


def _single(lakes: Lakes) -> Iterator[Contest]:
    """What concerns one stream table, or one table."""
    for name, what in (("probe", "a table"), ("above", "a stream table")):
        one = lakes.both(lambda db, name=name: db.refresh_stream_table(name, upstream=False))  # type: ignore[misc]
        yield Contest(f"refresh without a change, reading {what}", GROWTH, **one, rounds=31, warmups=5)
    yield Contest(
        "refresh without a change", NO_DATA_MS, lambda: lakes.large.refresh_stream_table("probe"), rounds=31, warmups=5
    )
    yield Contest("status of one stream table", GROWTH, **lakes.both(lambda db: db.stream_table_status("probe")))
    rows = [{"id": n, "customer": n, "amount": n} for n in range(10)]
    yield Contest("append of 10 rows", GROWTH, **lakes.both(lambda db: db.append("orders", rows)), rounds=21)
    yield Contest("look after a change", GROWTH, **lakes.both(_look), rounds=21)
    refresh = lakes.both(lambda db: db.refresh_stream_table("above"))
    yield Contest("differential refresh of both", GROWTH, **refresh, rounds=9, warmups=3, between=lakes.change)


def _look(db: trickle.Session) -> None:
    streams = db._streams
    streams.refresher.look(streams.find(Name(None, "probe")))


def _files(lakes: Lakes) -> Iterator[Contest]:
    """Of a table with a fifth of all files."""
    lake, world = lakes.large.lake, lakes.world
    head = lake.head()
    table = lake.table("main", world.large, head)
    assert table is not None
    many = f"{world.size.large_files:,} files"

    def listed(bound: Bound) -> None:
        with lake.reading() as connection:
            lake.live_files(connection, table, head.id, [bound])

    def changed() -> None:
        with lake.reading() as connection:
            change_pieces(lake.catalog, connection, lake.placing, table, head.id - 1, head.id)

    keys = tuple(range(0, world.size.large_files * 1000, max(1, world.size.large_files // 100) * 1000))
    yield Contest(f"file list of a range, of {many}", FILES_MS, lambda: listed(Bound("id", low=0, high=5000)), rounds=9)
    yield Contest(f"file list of 100 keys, of {many}", FILES_MS, lambda: listed(Bound("id", values=keys)), rounds=9)
    yield Contest(f"change of one commit, of {many}", FILES_MS, changed, rounds=9)


def _whole(lakes: Lakes) -> Iterator[Contest]:
    """What concerns all stream tables: it grows with them, and must stay bearable."""
    db, many = lakes.large, f"{lakes.world.size.tables:,} stream tables"
    scheduler = Scheduler(db._streams, db.events)

    def tick() -> None:
        now = datetime.now(UTC)
        sight = scheduler.survey.look(scheduler.glance.news(), now)
        scheduler.tracks.follow(sight, now)
        scheduler.tracks.note(sight, decide(scheduler.state(sight), now), now)

    yield Contest(f"scheduler looks and decides, {many}", DECIDE_MS, tick, rounds=9, warmups=3)
    scheduler.glance.close()
    yield Contest(f"status of {many}", LIST_MS, db.stream_table_status, rounds=5, warmups=1)
    yield Contest(f"list of {many}", LIST_MS, db.stream_tables, rounds=5, warmups=1)
    keep = lakes.world.size.commits // 2
    yield Contest(
        f"which snapshots may expire, {many}",
        EXPIRE_MS,
        lambda: db.expire_snapshots(keep=max(1, keep), dry_run=True),
        rounds=5,
        warmups=1,
    )
