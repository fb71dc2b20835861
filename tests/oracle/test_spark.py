"""The random queries with Spark as engine and judge: 25 queries, with `--heavy` 600, with `--long` 3,000."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from pyspark.sql import SparkSession

from trickle.delta import RULES, Rule
from trickle.plan import Node, Scan
from trickle.testing.effort import Effort
from trickle.testing.oracle.mutations import broken, flip_sign
from trickle.testing.queries.cases import cases
from trickle.testing.queries.on_spark import SparkStep
from trickle.testing.specs import Bench

QUERIES = (25, 600, 3_000)
TOGETHER = 5
"""Queries that make one job."""

pytestmark = pytest.mark.spark


def wrong_rows(
    spark: SparkSession, start: int, count: int, rules: Mapping[type[Node], Rule] = RULES
) -> list[tuple[object, ...]]:
    """What is wrong with the first so many queries that are light."""
    found: list[tuple[object, ...]] = []
    for number, (story, batch) in enumerate(cases(start, 4 * count)):
        with Bench(story, rules) as bench:
            step = SparkStep(spark, bench, 1 + number % len(story.steps))
            light = step.bearable(batch)[:count]
            for first in range(0, len(light), TOGETHER):
                found += step.wrong_rows(light[first : first + TOGETHER])
        count -= len(light)
        if not count:
            return found
    raise AssertionError("too few queries are light")


@pytest.mark.timeout(3600)
def test_random_queries_are_followed_on_spark(quick: SparkSession, effort: Effort) -> None:
    assert wrong_rows(quick, 0, effort.of(*QUERIES)) == []


def test_a_broken_rule_is_caught_on_spark(quick: SparkSession) -> None:
    assert wrong_rows(quick, 25, 10, {**RULES, Scan: broken(RULES[Scan], flip_sign)})
