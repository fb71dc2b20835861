"""The same law with Spark as the judge: 300 cases with `--heavy`, more with `--long`."""

from __future__ import annotations

from random import Random

import pytest
from pyspark.sql import SparkSession

from trickle.testing.oracle import CONSTRUCTS, Generator, InlineEngine, World, random_history

STEPS = 4

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def engine(quick: SparkSession) -> InlineEngine:
    return InlineEngine(lambda sql: [tuple(row) for row in quick.sql(sql).collect()])


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_each_construct_on_spark(engine: InlineEngine, construct: str) -> None:
    random = Random(construct)
    world = World(engine, random_history(random, STEPS))
    assert world.check(Generator(random, (construct,)).query(1)) is None


@pytest.mark.parametrize("seed", range(50))
def test_compositions_on_spark(engine: InlineEngine, seed: int) -> None:
    random = Random(f"spark {seed}")
    world = World(engine, random_history(random, STEPS))
    assert world.check(Generator(random).query(random.randint(2, 4))) is None


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1000))
def test_long_form_on_spark(engine: InlineEngine, seed: int) -> None:
    random = Random(f"long spark {seed}")
    world = World(engine, random_history(random, STEPS))
    assert world.check(Generator(random).query(random.randint(1, 4))) is None
