"""Forty queries through twelve cycles of changes: exact and differential after each, by DuckDB's own answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.effort import Effort
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.catalogue import QUERIES
from trickle.testing.streams.marathon import Marathon

CYCLES = (2, 12, 60)
SEEDS = (7, 7, 20240229)


def test_the_catalogue_has_forty_queries_of_different_names() -> None:
    assert len(QUERIES) == len({query.name for query in QUERIES}) == 40


@pytest.mark.spark
@pytest.mark.timeout(7200)
def test_forty_queries_stay_exact_and_differential(
    lake_sqlite: LakeSite,
    quick: SparkSession,
    peer: DuckDBPeer,
    effort: Effort,
    record_property: Callable[[str, object], None],
) -> None:
    with lake_sqlite.connect(quick) as db:
        run = Marathon(db, lake_sqlite, peer, QUERIES, effort.of(*SEEDS))
        run.begin()
        assert run.differences(db.head()) == []
        for number in range(effort.of(*CYCLES)):
            assert run.cycle() == [], f"cycle {number} of seed {run.seed}"
    for kind, seconds in run.spent.items():
        record_property(f"{kind} seconds", round(seconds, 1))
