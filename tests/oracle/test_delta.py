"""before + delta == after, on random queries over random histories.

A case is one query at one step of a history. The run in CI judges over 10,000 cases, with `--heavy` twice, with
`--long` twenty times that.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trickle.errors import NotIncremental
from trickle.testing.oracle import CONSTRUCTS, DuckEngine, Generator, World, random_history

STEPS = 40
BLOCKS = 20
IN_CI = 3
EXAMPLES = 26
HEAVY = pytest.mark.heavy
LENIENT = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
SEEDS = st.integers(0, 2**32)
DEPTHS = st.integers(1, 4)


@pytest.fixture(scope="module")
def engine() -> DuckEngine:
    return DuckEngine()


@pytest.mark.parametrize("block", [*range(IN_CI), *(pytest.param(n, marks=HEAVY) for n in range(IN_CI, BLOCKS))])
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=LENIENT)
@given(shape=SEEDS, past=SEEDS, depth=DEPTHS)
def test_before_plus_delta_equals_after(engine: DuckEngine, block: int, shape: int, past: int, depth: int) -> None:
    world = World(engine, random_history(Random(f"{block} {past}"), STEPS))
    query = Generator(Random(f"{block} {shape}")).query(depth)
    assert world.check(query) is None


@pytest.mark.parametrize("block", [*range(2), *(pytest.param(n, marks=HEAVY) for n in range(2, 10))])
@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=LENIENT)
@given(shape=SEEDS, past=SEEDS, depth=DEPTHS)
def test_a_plan_means_what_its_query_says(engine: DuckEngine, block: int, shape: int, past: int, depth: int) -> None:
    world = World(engine, random_history(Random(f"{block} {past}"), 8))
    query = Generator(Random(f"{block} {shape}")).query(depth)
    assert world.check_meaning(query, every=2) is None


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_each_construct_alone(engine: DuckEngine, construct: str) -> None:
    random = Random(construct)
    world = World(engine, random_history(random, 20))
    for _ in range(3):
        query = Generator(random, (construct,)).query(1)
        assert world.check(query) is None
        assert world.check(query, prune=False) is None


@pytest.mark.long
@pytest.mark.parametrize("block", range(100))
def test_long_form(engine: DuckEngine, block: int) -> None:
    random = Random(f"long {block}")
    for _ in range(50):
        world = World(engine, random_history(random, STEPS))
        query = Generator(random).query(random.randint(1, 4))
        try:
            assert world.check(query) is None
        except NotIncremental as refusal:
            pytest.fail(f"{query}: {refusal}")
