"""A query cut into stored intermediates is still the query, over many cycles."""

from __future__ import annotations

from random import Random

import pytest

from trickle.testing.effort import Effort
from trickle.testing.oracle import DuckEngine, Generator, random_history
from trickle.testing.oracle.cut import CutWorld

CYCLES = 5
NESTED = "SELECT n, count(*) AS m FROM (SELECT k, count(*) AS n FROM a GROUP BY k) AS t GROUP BY n"
TWICE = """SELECT x.k, y.n AS n FROM (SELECT k, count(*) AS n FROM a GROUP BY k) AS x
    JOIN (SELECT k AS j, count(*) AS n FROM a GROUP BY k) AS y ON x.n = y.n"""


@pytest.fixture(scope="module")
def engine() -> DuckEngine:
    return DuckEngine()


def test_random_queries(engine: DuckEngine, effort: Effort) -> None:
    cut = 0
    for seed in range(effort.of(60, 600, 6000)):
        random = Random(f"cut {seed}")
        world = CutWorld(engine, random_history(random, CYCLES))
        wrong, intermediates = world.check_cut(Generator(random).query(random.randint(2, 4)))
        assert wrong is None, f"seed {seed}: {wrong}"
        cut += intermediates > 0
    assert cut > 20


def test_what_is_asked_for_twice_is_stored_once(engine: DuckEngine) -> None:
    world = CutWorld(engine, random_history(Random(1), CYCLES))
    assert world.check_cut(TWICE) == (None, 1)


def test_an_intermediate_that_is_left_behind_is_seen(engine: DuckEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    world = CutWorld(engine, random_history(Random(1), CYCLES))
    assert world.check_cut(NESTED) == (None, 1)
    difference = DuckEngine.difference
    monkeypatch.setattr(DuckEngine, "difference", lambda self, old, new, to: difference(self, old, old, to))
    wrong, _ = world.check_cut(NESTED)
    assert wrong is not None
