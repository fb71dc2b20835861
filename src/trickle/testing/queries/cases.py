"""A case: a seed, from which a schema, a story and a query follow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from random import Random

import sqlglot

from trickle.sql.dialects import FOR_OTHERS
from trickle.testing.queries.compose import compose
from trickle.testing.queries.stories import random_story, random_tables
from trickle.testing.queries.writer import Tables, Writer
from trickle.testing.specs import Spec, Story

PER_STORY = 25
"""So many cases in a row share a story, which is played once for all of them."""
DEPTHS = (0, 1, 1, 2, 3)
ROOMS = (0, 1, 1, 1, 1, 1, 2, 2, 3)


@dataclass(frozen=True)
class Case:
    seed: int
    spec: Spec

    def __str__(self) -> str:
        return f"case {self.seed}: {self.spec.query}"


def case(seed: int) -> Case:
    """The query of a seed; `story(seed)` is what happens to its tables."""
    random = Random(f"query {seed}")
    w = Writer(random, tables(seed), compose, random.choice(ROOMS))
    text = w.query(random.choice(DEPTHS)).text
    oracle = sqlglot.transpile(w.reworded(text), read=FOR_OTHERS["spark"], write="duckdb")[0]
    return Case(seed, Spec("random", str(seed), text, oracle=oracle))


def cases(start: int, count: int) -> Iterator[tuple[Story, list[Case]]]:
    """The cases of so many seeds, by story."""
    for first in range(start, start + count, PER_STORY):
        seeds = range(first, min(first + PER_STORY, start + count))
        yield story(first), [case(seed) for seed in seeds]


def sampled(start: int, count: int) -> Iterator[tuple[Story, list[Case]]]:
    """One of twenty cases of so many seeds: one of five, of one of four stories."""
    for first in range(start, start + count, 4 * PER_STORY):
        yield story(first), [case(seed) for seed in range(first, first + PER_STORY, 5)]


@lru_cache(maxsize=4)
def tables(seed: int) -> Tables:
    return random_tables(Random(f"tables {seed // PER_STORY}"))


def story(seed: int) -> Story:
    return random_story(Random(f"story {seed // PER_STORY}"), tables(seed))
