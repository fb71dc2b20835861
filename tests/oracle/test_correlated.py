"""Subqueries that read the query around them, at random: the plan means the query, and before + delta == after."""

from __future__ import annotations

from random import Random

import pytest

from trickle.testing.effort import Effort
from trickle.testing.oracle import DuckEngine, World, random_history
from trickle.testing.oracle.correlated import correlated_query

BLOCKS = 10
QUERIES = (4, 60, 600)
STEPS = 8


@pytest.fixture(scope="module")
def engine() -> DuckEngine:
    return DuckEngine()


@pytest.mark.parametrize("block", range(BLOCKS))
def test_correlated_subqueries_are_followed(engine: DuckEngine, effort: Effort, block: int) -> None:
    random = Random(f"correlated {block}")
    world = World(engine, random_history(random, STEPS, largest=6))
    for _ in range(effort.of(*QUERIES)):
        query = correlated_query(random)
        assert world.check_meaning(query, every=3) is None
        assert world.check(query) is None
