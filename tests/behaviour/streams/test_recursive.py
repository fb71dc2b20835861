"""WITH RECURSIVE: graphs, hierarchies and parts lists that follow their sources; DuckDB is the judge."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import duckdb
import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.errors import NotIncremental, QueryError
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.stage import Stage

pytestmark = pytest.mark.spark

TABLES = {
    "edges": "CREATE TABLE edges (a INT, b INT)",
    "staff": "CREATE TABLE staff (id INT, boss INT, name STRING)",
    "parts": "CREATE TABLE parts (whole STRING, part STRING, n INT)",
}
REACHED = """WITH RECURSIVE reached(a, b) AS (
    SELECT a, b FROM edges
    UNION
    SELECT r.a, e.b FROM reached r JOIN edges e ON r.b = e.a
)"""
FROM_ONE = """WITH RECURSIVE seen AS (
    SELECT 1 AS node UNION SELECT e.b FROM seen JOIN edges e ON seen.node = e.a WHERE e.b IS NOT NULL
)"""
TREE = """WITH RECURSIVE tree AS (
    SELECT id, name, 0 AS depth, CAST(name AS STRING) AS path FROM staff WHERE boss IS NULL
    UNION ALL
    SELECT s.id, s.name, t.depth + 1, concat(t.path, '/', s.name) FROM staff s JOIN tree t ON s.boss = t.id
)"""
BILL = """WITH RECURSIVE needed(whole, part, n) AS (
    SELECT whole, part, n FROM parts
    UNION ALL
    SELECT d.whole, p.part, d.n * p.n FROM needed d JOIN parts p ON d.part = p.whole
)"""
TWICE = """WITH RECURSIVE reached(a, b) AS (
    SELECT a, b FROM edges
    UNION
    SELECT x.a, y.b FROM reached x JOIN reached y ON x.b = y.a
)"""
TWO = f"""{FROM_ONE}, more(node, hops) AS (
    SELECT node, 0 FROM seen UNION ALL SELECT node, hops + 1 FROM more WHERE hops < 2 AND node > 1
)"""


@dataclass
class World:
    """A stage, and what DuckDB says of the same tables."""

    stage: Stage

    def stream(self, name: str, query: str, **options: str) -> None:
        self.stage.stream(name, query, **options)
        self.queries[name] = query

    def __post_init__(self) -> None:
        self.queries: dict[str, str] = {}

    def rows_of(self, query: str) -> Counter[str]:
        judge = duckdb.connect()
        for table in TABLES:
            judge.register(table, self.stage.db.table(table).toArrow())
        return Counter(map(repr, judge.execute(query).fetchall()))

    def agrees(self, name: str, query: str | None = None) -> None:
        held = self.stage.db.table(name).toArrow().to_pylist()
        wanted = self.rows_of(query or self.queries[name])
        assert Counter(repr(tuple(row.values())) for row in held) == wanted, name

    def follows(self, name: str, *changes: str, judge: str | None = None) -> None:
        self.stage.change(*changes)
        self.stage.refresh(name)
        self.agrees(name, judge)


@pytest.fixture
def world(db: trickle.Session) -> World:
    stage = Stage(db)
    stage.change(*TABLES.values())
    stage.change(
        "INSERT INTO edges VALUES (1, 2), (2, 3), (3, 1), (3, 4), (5, 6), (5, 6), (NULL, 1), (4, NULL)",
        "INSERT INTO staff VALUES (1, NULL, 'ann'), (2, 1, 'bob'), (3, 1, 'cid'), (4, 2, 'dan'), (5, 4, 'eve')",
        "INSERT INTO parts VALUES ('car', 'wheel', 4), ('car', 'door', 2), ('wheel', 'bolt', 5), ('door', 'bolt', 3)",
    )
    return World(stage)


def test_what_can_be_reached_in_a_graph_with_cycles(world: World) -> None:
    world.stream("reached", f"{REACHED} SELECT a, b FROM reached")
    world.agrees("reached")
    world.follows("reached", "INSERT INTO edges VALUES (4, 5), (6, 7)")
    world.follows("reached", "DELETE FROM edges WHERE a = 3 AND b = 1")
    world.follows("reached", "DELETE FROM edges WHERE a = 5", "INSERT INTO edges VALUES (4, 6), (6, 1)")
    world.follows("reached", "UPDATE edges SET b = 3 WHERE a = 1")
    world.follows("reached", "DELETE FROM edges WHERE true")


def test_a_cycle_that_nothing_leads_to_any_more_is_gone(world: World) -> None:
    world.stream("seen", f"{FROM_ONE} SELECT node FROM seen")
    world.follows("seen", "INSERT INTO edges VALUES (4, 10), (10, 11), (11, 12), (12, 10)")
    assert len(world.stage.rows("seen")) == 7
    world.follows("seen", "DELETE FROM edges WHERE a = 4 AND b = 10")
    assert len(world.stage.rows("seen")) == 4


def test_a_hierarchy_with_depths_and_paths(world: World) -> None:
    world.stream("tree", f"{TREE} SELECT * FROM tree")
    world.follows("tree", "INSERT INTO staff VALUES (6, 5, 'fay'), (6, 5, 'fay'), (7, 99, 'gus')")
    world.follows("tree", "UPDATE staff SET boss = 3 WHERE id = 4")
    world.follows("tree", "UPDATE staff SET name = 'anna' WHERE id = 1")
    world.follows("tree", "DELETE FROM staff WHERE id = 3")


def test_a_parts_list_summed_up(world: World) -> None:
    world.stream("bill", f"{BILL} SELECT whole, part, CAST(sum(n) AS BIGINT) AS n FROM needed GROUP BY whole, part")
    world.follows("bill", "INSERT INTO parts VALUES ('bolt', 'steel', 7), ('car', 'bolt', 1)")
    world.follows("bill", "UPDATE parts SET n = 6 WHERE whole = 'wheel'")
    world.follows("bill", "DELETE FROM parts WHERE whole = 'door'")


def test_a_relation_that_joins_itself(world: World) -> None:
    world.stream("reached", f"{TWICE} SELECT a, b FROM reached")
    linear = f"{REACHED} SELECT a, b FROM reached"
    world.agrees("reached", linear)
    world.follows("reached", "INSERT INTO edges VALUES (4, 5), (6, 7), (7, 8)", judge=linear)
    world.follows("reached", "DELETE FROM edges WHERE a = 2", judge=linear)


def test_several_recursions_read_by_joins_aggregates_and_each_other(world: World) -> None:
    world.stream(
        "both", f"{TWO} SELECT s.node, count(*) AS n FROM seen s JOIN more m ON m.node = s.node GROUP BY s.node"
    )
    world.stream("pairs", f"{FROM_ONE} SELECT x.node AS x, y.node AS y FROM seen x LEFT JOIN seen y ON x.node < y.node")
    world.stream("bosses", f"{TREE} SELECT t.name, s.name AS boss FROM tree t JOIN staff s ON s.id = t.depth")
    world.stage.change("INSERT INTO edges VALUES (4, 9), (9, 2)", "UPDATE staff SET name = 'zoe' WHERE id = 2")
    for name in ("both", "pairs", "bosses"):
        world.stage.refresh(name)
        world.agrees(name)
    world.stage.change("DELETE FROM edges WHERE a = 3")
    for name in ("both", "pairs"):
        world.stage.refresh(name)
        world.agrees(name)


def test_the_other_modes(world: World) -> None:
    query = f"{REACHED} SELECT a, b FROM reached"
    for mode in ("FULL", "AUTO", "IMMEDIATE"):
        world.stream(mode.lower(), query, refresh_mode=mode)
        world.agrees(mode.lower())
    world.stage.change("INSERT INTO edges VALUES (6, 1)")
    world.agrees("immediate")
    assert world.stage.db.refresh_stream_table("full").action == "FULL"
    assert world.stage.db.refresh_stream_table("auto").action == "DIFFERENTIAL"
    with world.stage.db.transaction():
        world.stage.db.sql("DELETE FROM edges WHERE a = 1")
        world.agrees("immediate")
    world.stage.db.refresh_all()
    for name in ("full", "auto", "immediate"):
        world.agrees(name)


def test_postgresql_text_types_and_spark_agree(world: World) -> None:
    text = "WITH RECURSIVE up(id, n) AS (SELECT id, 1::bigint FROM staff WHERE boss IS NULL UNION ALL SELECT s.id, n + 1 FROM staff s JOIN up ON s.boss = up.id) SELECT id, n FROM up"
    world.stage.stream("up", text, dialect="postgres")
    world.agrees("up", text)
    assert world.stage.db.table("up").schema.simpleString() == "struct<id:int,n:bigint>"
    world.stream("tree", f"{TREE} SELECT * FROM tree")
    world.stage.agrees("tree", f"{TREE} SELECT * FROM tree")
    wider = "WITH RECURSIVE up(id, n) AS (SELECT id, 1 FROM staff WHERE boss IS NULL UNION SELECT s.id, n + 1.0 FROM staff s JOIN up ON s.boss = up.id) SELECT id, n FROM up"
    world.stream("wider", wider)
    world.agrees("wider")
    assert world.stage.db.table("wider").schema.simpleString() == "struct<id:int,n:int>"


@pytest.mark.parametrize("seed", range(2))
def test_random_changes(world: World, seed: int) -> None:
    chance = random.Random(seed)
    world.stream("reached", f"{REACHED} SELECT b, a FROM reached")
    world.stream("counted", f"{FROM_ONE} SELECT count(*) AS n, max(node) AS far FROM seen")
    for _ in range(5):
        came = ", ".join(f"({chance.randint(1, 9)}, {chance.randint(1, 9)})" for _ in range(chance.randint(1, 3)))
        gone = f"DELETE FROM edges WHERE a = {chance.randint(1, 9)} AND b % 2 = {chance.randint(0, 1)}"
        statements = chance.sample([gone, f"INSERT INTO edges VALUES {came}"], chance.randint(1, 2))
        world.stage.change(*statements)
        for name in ("reached", "counted"):
            result = world.stage.db.refresh_stream_table(name)
            assert result.action in ("DIFFERENTIAL", "NO_DATA")
            world.agrees(name)


@pytest.fixture
def shallow(lake: LakeSite, quick: SparkSession) -> Iterator[trickle.Session]:
    with trickle.connect(
        lake.path, spark=quick, settings={"refresh.recursion_depth": 6, "refresh.recursion_rows": 50}
    ) as db:
        yield db
