"""Sources that only grow: shorter deltas, the same stored rows."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trickle.delta.state import maintain, store
from trickle.plan import Version
from trickle.sql.lower import lower
from trickle.sql.render import render
from trickle.testing.oracle import AGGREGATES, SCHEMAS, DuckEngine, StoredWorld, aggregate_query, growing_history

CYCLES = 12
LENIENT = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
ROWS = (
    "SELECT a.k, b.v FROM a JOIN b ON a.k = b.k",
    "SELECT a.k, b.s FROM a LEFT JOIN b ON a.k = b.k",
    "SELECT k, v FROM a WHERE k IN (SELECT k FROM b)",
    "SELECT k FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k)",
    "SELECT k, v FROM a UNION ALL SELECT v, k FROM b WHERE v > 0",
    "SELECT DISTINCT s FROM a",
    "SELECT a.k, n FROM a JOIN (SELECT k, count(*) AS n FROM b GROUP BY k) AS g ON a.k = g.k",
)


@pytest.fixture(scope="module")
def engine() -> DuckEngine:
    return DuckEngine()


@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=LENIENT)
@given(shape=st.integers(0, 2**32), past=st.integers(0, 2**32))
def test_aggregates_of_growing_tables_are_merged_alike(engine: DuckEngine, shape: int, past: int) -> None:
    world = StoredWorld(engine, growing_history(Random(past), CYCLES))
    assert world.check(aggregate_query(Random(shape)), appending=True) is None


@pytest.mark.parametrize("call", AGGREGATES)
def test_each_aggregate_of_growing_tables(engine: DuckEngine, call: str) -> None:
    world = StoredWorld(engine, growing_history(Random(call), CYCLES))
    assert world.check(f"SELECT k, {call} AS x FROM a GROUP BY k", appending=True) is None
    assert world.check(f"SELECT {call} AS x FROM a", appending=True) is None


@pytest.mark.parametrize("query", ROWS)
def test_rows_of_growing_tables(engine: DuckEngine, query: str) -> None:
    for seed in range(3):
        world = StoredWorld(engine, growing_history(Random(seed), CYCLES))
        assert world.check(query, appending=True) is None


@pytest.mark.parametrize(
    ("query", "left_out"),
    [
        ("SELECT a.k, b.v FROM a JOIN b ON a.k = b.k", "GROUP BY"),
        ("SELECT k, max(v) AS top FROM a GROUP BY k", "a_after"),
    ],
)
def test_the_work_for_rows_that_go_is_left_out(query: str, left_out: str) -> None:
    lowered = lower(query, SCHEMAS)
    storage = store(lowered.plan, lowered.labels)

    def text(appending: bool) -> str:
        return render(maintain(storage, appending=appending), relation)

    def relation(table: str, version: Version) -> str:
        return f"{table}_{version.value}"

    assert left_out in text(appending=False)
    assert left_out not in text(appending=True)
