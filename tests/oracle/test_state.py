"""Stored state, merged over many cycles, stays what the query says."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trickle.testing.oracle import AGGREGATES, DuckEngine, StoredWorld, aggregate_query, random_history

CYCLES = 25
LENIENT = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]


@pytest.fixture(scope="module")
def engine() -> DuckEngine:
    return DuckEngine()


@pytest.mark.parametrize("block", [0, *(pytest.param(n, marks=pytest.mark.heavy) for n in (1, 2))])
@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=LENIENT)
@given(shape=st.integers(0, 2**32), past=st.integers(0, 2**32))
def test_stored_rows_are_the_querys_after_every_cycle(engine: DuckEngine, block: int, shape: int, past: int) -> None:
    world = StoredWorld(engine, random_history(Random(f"{block} {past}"), CYCLES))
    assert world.check(aggregate_query(Random(f"{block} {shape}"))) is None


@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=LENIENT)
@given(shape=st.integers(0, 2**32), past=st.integers(0, 2**32))
def test_rescanning_gives_the_same(engine: DuckEngine, shape: int, past: int) -> None:
    world = StoredWorld(engine, random_history(Random(past), CYCLES))
    assert world.check(aggregate_query(Random(shape)), merge=False) is None


@pytest.mark.parametrize("call", AGGREGATES)
def test_each_aggregate_alone(engine: DuckEngine, call: str) -> None:
    world = StoredWorld(engine, random_history(Random(call), CYCLES))
    assert world.check(f"SELECT k, {call} AS x FROM a GROUP BY k") is None
    assert world.check(f"SELECT {call} AS x FROM a") is None
