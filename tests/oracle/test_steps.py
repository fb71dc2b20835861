"""Small changes of stored aggregates, carried over in steps, leave what the query says; and broken steps are caught."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trickle.delta.state import merge, steps
from trickle.delta.state.cells import Cell
from trickle.plan import col
from trickle.testing.oracle import (
    AGGREGATES,
    DuckEngine,
    SteppedWorld,
    aggregate_query,
    growing_history,
    random_history,
)

CYCLES = 10
LENIENT = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
QUERY = "SELECT k, max(v) AS x, sum(v) AS y, count(*) AS n FROM a GROUP BY k HAVING count(*) <> 2"
RESTRICTED = pytest.mark.parametrize("restricted", [False, True], ids=["joined", "looked up"])


@pytest.fixture(scope="module")
def engine() -> DuckEngine:
    return DuckEngine()


@RESTRICTED
@pytest.mark.parametrize("block", [0, pytest.param(1, marks=pytest.mark.heavy)])
@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=LENIENT)
@given(shape=st.integers(0, 2**32), past=st.integers(0, 2**32))
def test_stored_rows_are_the_querys_after_every_cycle(
    engine: DuckEngine, restricted: bool, block: int, shape: int, past: int
) -> None:
    world = SteppedWorld(engine, random_history(Random(f"{block} {past}"), CYCLES), restricted)
    assert world.check(aggregate_query(Random(f"{block} {shape}"))) is None


@RESTRICTED
@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=LENIENT)
@given(shape=st.integers(0, 2**32), past=st.integers(0, 2**32))
def test_groups_that_are_always_rescanned(engine: DuckEngine, restricted: bool, shape: int, past: int) -> None:
    world = SteppedWorld(engine, random_history(Random(past), CYCLES), restricted)
    assert world.check(aggregate_query(Random(shape)), merge=False) is None


@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=LENIENT)
@given(shape=st.integers(0, 2**32), past=st.integers(0, 2**32))
def test_sources_that_only_grow(engine: DuckEngine, shape: int, past: int) -> None:
    world = SteppedWorld(engine, growing_history(Random(past), CYCLES))
    assert world.check(aggregate_query(Random(shape)), appending=True) is None


@RESTRICTED
@pytest.mark.parametrize("call", AGGREGATES)
def test_each_aggregate_alone(engine: DuckEngine, restricted: bool, call: str) -> None:
    world = SteppedWorld(engine, random_history(Random(call), CYCLES), restricted)
    assert world.check(f"SELECT k, {call} AS x FROM a GROUP BY k") is None
    assert world.check(f"SELECT {call} AS x FROM a") is None


def caught() -> bool:
    world = SteppedWorld(DuckEngine(), random_history(Random(3), 40))
    try:
        return world.check(QUERY) is not None
    except AssertionError:
        return True


def test_unbroken_steps_are_right() -> None:
    assert not caught()


def test_what_is_stored_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cell, "added", lambda self, stored: col(self.name))
    assert caught()


def test_lost_extremes_unnoticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge, "stale", lambda storage, growing=False: None)
    assert caught()


def test_rescans_of_the_state_before(monkeypatch: pytest.MonkeyPatch) -> None:
    from trickle.plan import before

    monkeypatch.setattr(steps, "after", before)
    assert caught()
