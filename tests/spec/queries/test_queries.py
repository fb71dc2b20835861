"""The queries of this folder, judged by DuckDB: what a plan means, and that before + delta is after, at every step.

A file holds queries; the comment above each is its name, `(postgres)` at its end its dialect. Where DuckDB words
a query differently, `DUCKDB` and that wording follow it. `_setup.sql` makes the tables and says what changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from trickle.testing.specs import Bench, Spec, read_specs, read_story

HERE = Path(__file__).parent
STORY = read_story(HERE / "_setup.sql")
SPECS = [spec for path in sorted(HERE.glob("[a-z]*.sql")) for spec in read_specs(path)]


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench(STORY) as made:
        yield made


@pytest.mark.parametrize("spec", SPECS, ids=[spec.id for spec in SPECS])
def test_before_and_delta_make_after(bench: Bench, spec: Spec) -> None:
    states = bench.states(spec)
    for number, (step, delta) in enumerate(zip(STORY.steps, bench.deltas(spec), strict=True), start=1):
        before, after = states[number - 1], states[number]
        assert bench.meaning(spec, number) == after, f"the plan means something else after: {step.name}"
        assert Counter(before) + delta.gained == Counter(after) + delta.lost, step.name
    assert len({frozenset(state.items()) for state in states}) > 1, "nothing that happens changes this query's answer"


def test_names_are_used_once() -> None:
    twice = [name for name, count in Counter(spec.id for spec in SPECS).items() if count > 1]
    assert twice == []
