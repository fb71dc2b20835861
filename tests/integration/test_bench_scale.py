"""The simulation of a large catalog at a small size, and that what one table needs is found by an index."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.lake.model import Bound
from trickle.testing.bench import arena, hold
from trickle.testing.bench.scale.contests import contests, lakes
from trickle.testing.bench.scale.world import Size, World
from trickle.testing.lakes import LakeSite

pytestmark = pytest.mark.spark

SIZE = Size(tables=40, files=2000)


@pytest.fixture
def world(lake: LakeSite, quick: SparkSession) -> World:
    return World.create(lake.connect(quick), SIZE)


def test_copies_are_stream_tables_and_files_like_real_ones(world: World) -> None:
    db = world.db
    assert [t.name for t in db.stream_tables()][:2] == ["model", "model_0"]
    assert len(db.stream_table_status()) == SIZE.tables + 1
    assert db.head() == world.head
    streams = db._streams
    with db.lake.reading() as connection:
        assert len(streams.needed(connection).states) == min(SIZE.tables, 100) + 1
        (reader,) = streams.registry.stored(connection, ["trickle.model_9"])
        assert [t.name for t in streams.registry.below(connection, reader)] == ["model_8"]
    table = db.lake.table("main", world.large, db.lake.head())
    assert table is not None
    with db.lake.reading() as connection:
        few = db.lake.live_files(connection, table, world.head, [Bound("id", low=5000, high=5999)])
        whole = db.lake.live_files(connection, table, world.head)
        changed, _ = db.lake.change_pieces(connection, table, world.base.id, world.head)
    assert (len(few), len(whole), len(changed)) == (1, SIZE.large_files, SIZE.large_files)
    _goes_on(db)


def _goes_on(db: trickle.Session) -> None:
    """A real table and stream table live beside them."""
    db.append("facts", [{"id": 2, "kind": 1, "amount": 1}])
    db.refresh_stream_table("model")
    assert db.sql("SELECT kind, n FROM model").toArrow().to_pylist() == [{"kind": 1, "n": 2}]


@pytest.mark.heavy
@pytest.mark.parametrize("catalog", ["sqlite", "postgres"])
def test_contests_of_scale_report_finite_figures(catalog: str, spark: SparkSession, tmp_path: Path) -> None:
    with arena(1.0, str(tmp_path), spark) as place, lakes(place, SIZE, catalog, lambda _: None) as found:
        results = [hold(contest, 1) for contest in contests(found)]
    assert len(results) == 14 and all(math.isfinite(r.figure) and r.figure > 0 for r in results)
