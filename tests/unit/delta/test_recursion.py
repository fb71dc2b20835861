"""The plans of recursions, run round by round on DuckDB: they give what its own WITH RECURSIVE gives."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pytest
import sqlglot

from trickle.delta import recursion as plans
from trickle.delta import store
from trickle.plan import WEIGHT, Node, Version
from trickle.plan.recursion import Recursion, settled
from trickle.sql.lower import lower
from trickle.sql.render import render

SCHEMAS = {"e": [("a", "INT"), ("b", "INT")], "f": [("x", "INT"), ("y", "INT")]}
CLOSURE = "SELECT a, b FROM e UNION SELECT r.a, e.b FROM r JOIN e ON r.b = e.a"
MONOTONE = {
    "a closure": CLOSURE,
    "a set of nodes": "SELECT b AS n FROM e WHERE a = 1 UNION SELECT e.b FROM r JOIN e ON r.n = e.a",
    "two kinds of steps": "SELECT a AS n FROM e WHERE a < 3 "
    "UNION (SELECT e.b FROM r JOIN e ON r.n = e.a UNION SELECT f.y FROM f JOIN r ON r.n = f.x)",
    "a step over a join": "SELECT 1 AS n UNION SELECT f.y FROM r JOIN e ON r.n = e.a JOIN f ON e.b = f.x",
    "a depth": "SELECT a AS n, 0 AS d FROM e WHERE a = 1 "
    "UNION SELECT e.b, d + 1 FROM r JOIN e ON r.n = e.a WHERE d < 4",
}
OTHERS = {
    "copies": "SELECT a, b, 0 AS d FROM e UNION ALL SELECT r.a, e.b, d + 1 FROM r JOIN e ON r.b = e.a WHERE d < 3",
    "a preserved side": "SELECT a AS n, 0 AS d FROM e "
    "UNION ALL SELECT e.b, d + 1 FROM r LEFT JOIN e ON r.n = e.a WHERE d < 3",
    "what is not there": "SELECT a AS n FROM e "
    "UNION SELECT e.b FROM r JOIN e ON r.n = e.a WHERE e.b NOT IN (SELECT x FROM f)",
    "an aggregate of others": "SELECT max(a) AS n FROM e UNION SELECT e.b FROM r JOIN e ON r.n = e.a",
}
TWICE = "SELECT a, b FROM e UNION SELECT p.a, q.b FROM r p JOIN r q ON p.b = q.a"


def read(body: str) -> Recursion:
    [found] = lower(f"WITH RECURSIVE r AS ({body}) SELECT * FROM r", SCHEMAS).recursions
    return found


@dataclass
class World:
    """Two small graphs before and after a change."""

    seed: int
    db: Any = field(default_factory=duckdb.connect)

    def __post_init__(self) -> None:
        chance = random.Random(self.seed)
        for table, columns in SCHEMAS.items():
            names = ", ".join(f"{n} {t}" for n, t in columns)
            self.db.execute(f"CREATE TABLE {table}_before ({names})")
            for _ in range(chance.randint(3, 9)):
                row = [chance.choice([1, 2, 3, 4, 5, 6, None]) for _ in columns]
                self.db.execute(f"INSERT INTO {table}_before VALUES (?, ?)", row)
            self.db.execute(f"CREATE TABLE {table}_after AS FROM {table}_before")
            for _ in range(chance.randint(0, 3)):
                self.db.execute(f"DELETE FROM {table}_after WHERE rowid = {chance.randint(0, 9)}")
                if chance.random() < 0.5:
                    row = [chance.randint(1, 6) for _ in columns]
                    self.db.execute(f"INSERT INTO {table}_after VALUES (?, ?)", row)
            # Not net: every row before goes, every row after comes.
            self.db.execute(
                f"CREATE TABLE {table}_changes AS SELECT *, 1 AS {WEIGHT} FROM {table}_after "
                f"UNION ALL SELECT *, -1 FROM {table}_before"
            )

    def rows(self, plan: Node, **itself: list[Any]) -> list[Any]:
        """A plan's rows, the recursion being these rows in each version that is given."""
        for version, rows in itself.items():
            weight = (1,) if version == "changes" else ()
            marks = ", ".join("?" * (len(self.header) + len(weight)))
            columns = ", ".join(f"{n} INT" for n in (*self.header, *([WEIGHT] if weight else [])))
            self.db.execute(f"CREATE OR REPLACE TABLE {self.table}_{version} ({columns})")
            if rows:
                self.db.executemany(
                    f"INSERT INTO {self.table}_{version} VALUES ({marks})", [(*r, *weight) for r in rows]
                )
        sql = render(plan, lambda table, version: f"{table}_{version.value}", plan.names)
        return self.db.execute(sqlglot.transpile(sql, read="spark", write="duckdb")[0]).fetchall()

    def use(self, recursion: Recursion) -> None:
        self.table, self.header = recursion.table, recursion.base.names

    def spread(self, recursion: Recursion, version: Version, found: list[Any], old: list[Any]) -> list[Any]:
        plan, known = plans.advance(recursion, version), list(old)
        while found:
            rest, known = known, known + found
            found = self.rows(plan, changes=found, before=rest, after=known)
            if recursion.distinct:
                found = list(set(found) - set(known))
        return known[len(old) :]

    def all(self, recursion: Recursion, version: Version) -> list[Any]:
        return self.spread(recursion, version, self.rows(plans.begin(recursion, version)), [])

    def judged(self, body: str, version: str) -> Counter[Any]:
        tables = ", ".join(f"{t} AS (FROM {t}_{version})" for t in SCHEMAS)
        return Counter(self.db.execute(f"WITH RECURSIVE {tables}, r AS ({body}) FROM r").fetchall())


@pytest.mark.parametrize("name", [*MONOTONE, *OTHERS])
def test_rounds_give_what_duckdb_gives(name: str) -> None:
    body = {**MONOTONE, **OTHERS}[name]
    for seed in range(6):
        world, recursion = World(seed), read(body)
        world.use(recursion)
        for version in (Version.BEFORE, Version.AFTER):
            assert Counter(world.all(recursion, version)) == world.judged(body, version.value), seed


def test_a_recursion_that_joins_itself_gives_the_closure() -> None:
    recursion = read(TWICE)
    assert not recursion.linear
    for seed in range(6):
        world = World(seed)
        world.use(recursion)
        assert Counter(world.all(recursion, Version.AFTER)) == world.judged(CLOSURE, "after"), seed


@pytest.mark.parametrize("name", MONOTONE)
def test_deleted_and_rederived_is_recomputed(name: str) -> None:
    recursion = read(MONOTONE[name])
    assert plans.obstacle(recursion) == ""
    for seed in range(16):
        world = World(seed)
        world.use(recursion)
        before = world.all(recursion, Version.BEFORE)
        lost = world.rows(plans.lost(recursion, frozenset()), before=before)
        assert set(lost) <= set(before), seed
        gone = set(world.spread(recursion, Version.BEFORE, lost, []))
        kept = [row for row in before if row not in gone]
        again = gone & set(world.rows(plans.derived(recursion), after=kept))
        first = (again | set(world.rows(plans.gained(recursion, frozenset()), after=kept))) - set(kept)
        found = world.spread(recursion, Version.AFTER, list(first), kept)
        assert Counter(kept + found) == world.judged(MONOTONE[name], "after"), seed


@pytest.mark.parametrize(("name", "why"), [*zip(OTHERS, ("copies", "copies", "lose rows", "lose rows"), strict=True)])
def test_what_must_be_recomputed_says_why(name: str, why: str) -> None:
    assert why in plans.obstacle(read(OTHERS[name]))
    assert "joins itself" in plans.obstacle(read(TWICE))


@pytest.mark.parametrize(
    ("main", "columns"),
    [
        ("SELECT * FROM r", {"a": "a", "b": "b"}),
        ("SELECT b AS x, a AS y FROM (SELECT * FROM r)", {"a": "y", "b": "x"}),
        ("SELECT a FROM r", None),
        ("SELECT a, b + 1 AS b FROM r", None),
        ("SELECT a, b FROM r WHERE a > 1", None),
        ("SELECT DISTINCT a, b FROM r", None),
        ("SELECT a, b FROM e", None),
    ],
)
def test_the_stored_rows_are_the_recursion_where_the_query_shows_it_whole(
    main: str, columns: dict[str, str] | None
) -> None:
    query = lower(f"WITH RECURSIVE r AS ({CLOSURE}) {main}", SCHEMAS)
    recursion = read(CLOSURE)
    found = plans.stored_as(recursion, store(query.plan, query.labels))
    by_label = {name.rsplit("_", 1)[0]: label for name, label in found.items()} if found else None
    assert by_label == columns


def test_a_recursion_is_as_unchanged_as_its_sources() -> None:
    recursion = read(MONOTONE["a step over a join"])
    assert settled([recursion], frozenset({"e"})) == {"e"}
    assert settled([recursion], frozenset({"e", "f"})) == {"e", "f", recursion.table}
