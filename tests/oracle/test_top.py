"""The first rows, merged with what came and ranked anew when one of them went, stay what the query says."""

from __future__ import annotations

from random import Random

import pytest

from trickle.delta.state import top
from trickle.testing.effort import Effort
from trickle.testing.oracle import DuckEngine, SteppedWorld, growing_history, random_history

CYCLES = 8
FROM = (
    "a",
    "(SELECT k, sum(v) AS v, max(s) AS s FROM a GROUP BY k) AS t",
    "(SELECT a.k, b.v, a.s FROM a JOIN b ON a.k = b.k) AS t",
    "(SELECT k, v, s FROM a UNION ALL SELECT k, v, s FROM b) AS t",
)
SHOWN = ("k, v, s", "s", "v + 1 AS x, k", "k")
ORDERED = ("v", "v DESC NULLS FIRST, k", "s NULLS LAST, v DESC", "v + k DESC, s")


def query(random: Random) -> str:
    inner = (
        f"SELECT {random.choice(SHOWN)} FROM {random.choice(FROM)} "
        f"ORDER BY {random.choice(ORDERED)} LIMIT {random.randint(0, 5)}"
    )
    if random.random() < 0.8:
        return inner
    return f"SELECT * FROM (SELECT k, v, s FROM a ORDER BY {random.choice(ORDERED)} LIMIT 4) AS f WHERE k > 0"


@pytest.fixture(scope="module")
def engine() -> DuckEngine:
    return DuckEngine()


def test_the_first_rows_stay_the_first(engine: DuckEngine, effort: Effort) -> None:
    told = lost = 0
    for seed in range(effort.of(24, 400, 4000)):
        random = Random(f"top {seed}")
        make = growing_history if seed % 4 == 0 else random_history
        world = SteppedWorld(engine, make(random, CYCLES))
        assert world.check(query(random)) is None, f"seed {seed}"
        told, lost = told + CYCLES, lost + world.lost
    assert 0 < lost < told / 2, "some changes rank all rows anew, most do not"


def test_a_row_that_went_unnoticed_is_seen(engine: DuckEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    def right(seed: int) -> bool:
        world = SteppedWorld(engine, random_history(Random(seed), CYCLES))
        return world.check("SELECT k, v, s FROM a ORDER BY v, k LIMIT 2") is None

    assert all(map(right, range(4)))
    monkeypatch.setattr(top, "_lost", lambda _, rows: top.Filter(rows, top.exp.false()))
    assert not all(map(right, range(4)))
