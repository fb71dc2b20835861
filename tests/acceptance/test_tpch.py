"""The 22 queries of TPC-H as stream tables: exact and differential after each cycle, by DuckDB's own answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.effort import Effort
from trickle.testing.lakes import LakeSite
from trickle.testing.tpch.catalogue import QUERIES
from trickle.testing.tpch.run import Run

SCALE = 0.01
CYCLES = (1, 8, 40)


@pytest.fixture(params=["DIFFERENTIAL", pytest.param("IMMEDIATE", marks=pytest.mark.heavy)])
def run(
    request: pytest.FixtureRequest,
    lake_sqlite: LakeSite,
    quick: SparkSession,
    peer: DuckDBPeer,
    tmp_path: Path,
) -> Iterator[Run]:
    with lake_sqlite.connect(quick) as db:
        run = Run(db, lake_sqlite, peer, SCALE, mode=request.param)
        run.load(tmp_path / "rows")
        yield run


def test_there_are_22_queries() -> None:
    assert [query.name for query in QUERIES] == [f"q{n:02}" for n in range(1, 23)]


@pytest.mark.spark
@pytest.mark.timeout(7200)
def test_tpch_stays_exact_and_differential(
    run: Run, effort: Effort, record_property: Callable[[str, object], None]
) -> None:
    for query in run.queries:
        run.create(query)
    assert run.differences() == []
    cycles = effort.of(*CYCLES)
    for number in range(cycles):
        assert run.cycle() == [], f"cycle {number} of seed {run.seed}"
    for name, seconds in run.seconds.items():
        record_property(f"{name} changed in", run.changed[name])
        record_property(f"{name} seconds", round(sum(seconds) / cycles, 2))
