"""A refresh that is killed, and two that race, leave every stream table exact at the snapshot it names."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.effort import Effort
from trickle.testing.lakes import LakeSite
from trickle.testing.programs import Program
from trickle.testing.streams.catalogue import QUERIES
from trickle.testing.streams.checker import Checker
from trickle.testing.streams.mutations import Cycle, beginnings, cycles
from trickle.testing.streams.query import Query

pytestmark = [pytest.mark.spark, pytest.mark.timeout(7200)]

NAMES = ("inner_join", "left_join", "counted", "on_a_stream_table")
CHOSEN = tuple(query for query in QUERIES if query.name in NAMES)
KILLS = (1, 8, 50)
RACES = (1, 3, 20)
"""On each catalog."""
SEED = 11
REFRESHER = "trickle.testing.streams.refresher"


def prepare(db: trickle.Session, lake: LakeSite, peer: DuckDBPeer) -> Iterator[Cycle]:
    """Sources and stream tables; the changes to come."""
    peer.run(lake.address, *beginnings(SEED).statements)
    for query in CHOSEN:
        db.create_stream_table(query.name, query.text, refresh_mode="DIFFERENTIAL")
    return cycles(SEED)


def check(db: trickle.Session, lake: LakeSite, peer: DuckDBPeer) -> None:
    """Each stream table is its query at the data snapshot that the registry names."""
    checker = Checker(peer, lake.address)
    held: dict[int, list[Query]] = {}
    by_name = {query.name: query for query in CHOSEN}
    for status in db.stream_table_status():
        assert status.data_snapshot is not None
        held.setdefault(status.data_snapshot, []).append(by_name[status.name])
    for snapshot, queries in held.items():
        assert checker.differences(queries, snapshot, beside=CHOSEN) == []


def test_a_killed_refresh_leaves_every_table_exact(
    lake: LakeSite, spark: SparkSession, peer: DuckDBPeer, tmp_path: Path, effort: Effort
) -> None:
    rng = Random(SEED)
    with lake.connect(spark) as db:
        changes = prepare(db, lake, peer)
        longest = 0.0
        for kill in range(1 + effort.of(*KILLS)):
            peer.run(lake.address, *next(changes).statements)
            program = Program(REFRESHER, lake, tmp_path / "refresher.log")
            assert program.hear() == {"ready": True}
            started = time.monotonic()
            program.tell("refresh")
            if kill == 0:
                program.hear()
                longest = time.monotonic() - started
            else:
                time.sleep(rng.uniform(0, longest))
            program.kill()
            check(db, lake, peer)
            assert {r.action for r in db.refresh_all()} <= {"DIFFERENTIAL", "NO_DATA"}, f"after kill {kill}"
            assert len({s.data_snapshot for s in db.stream_table_status()}) == 1
            check(db, lake, peer)
        db.collect_orphans(grace_seconds=0)
        check(db, lake, peer)


def test_of_two_processes_that_refresh_one_table_one_wins(
    lake: LakeSite, spark: SparkSession, peer: DuckDBPeer, tmp_path: Path, effort: Effort
) -> None:
    with lake.connect(spark) as db:
        changes = prepare(db, lake, peer)
        programs = [Program(REFRESHER, lake, tmp_path / f"refresher{n}.log") for n in range(2)]
        for program in programs:
            assert program.hear() == {"ready": True}
        for race in range(effort.of(*RACES)):
            peer.run(lake.address, *next(changes).statements)
            for program in programs:
                program.tell("refresh")
            done = [tuple(line) for program in programs for line in program.hear()["done"]]
            wins = Counter(name for name, action, _ in done if action != "NO_DATA")
            assert wins == dict.fromkeys(NAMES, 1), f"race {race}: {done}"
            check(db, lake, peer)
        for program in programs:
            program.kill()
