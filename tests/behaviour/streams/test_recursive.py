"""WITH RECURSIVE: graphs, hierarchies and parts lists that follow their sources; DuckDB is the judge."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass

import duckdb
import pytest
from pyspark.sql import DataFrame, SparkSession

import trickle
from trickle.errors import NotIncremental, QueryError
from trickle.refresh import rounds
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
        for table in (t for t in TABLES if t in query):
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
    world.follows("reached", "DELETE FROM edges WHERE a = 3 AND b = 1", "UPDATE edges SET b = 2 WHERE a = 5")
    world.follows("reached", "DELETE FROM edges WHERE true")


def test_a_cycle_that_nothing_leads_to_any_more_is_gone(world: World) -> None:
    world.stream("seen", f"{FROM_ONE} SELECT node FROM seen")
    world.follows("seen", "INSERT INTO edges VALUES (4, 10), (10, 11), (11, 12), (12, 10)")
    assert len(world.stage.rows("seen")) == 7
    world.follows("seen", "DELETE FROM edges WHERE a = 4 AND b = 10")
    assert len(world.stage.rows("seen")) == 4


def test_a_recursion_on_the_right_of_a_semi_join(world: World) -> None:
    semi = """WITH RECURSIVE seen AS (
        SELECT 1 AS node UNION SELECT e.b FROM edges e LEFT SEMI JOIN seen ON seen.node = e.a WHERE e.b IS NOT NULL
    ) SELECT node FROM seen"""
    world.stream("seen", semi)
    world.follows("seen", "INSERT INTO edges VALUES (4, 10), (10, 11)", judge=f"{FROM_ONE} SELECT node FROM seen")
    world.follows("seen", "DELETE FROM edges WHERE a = 2", judge=f"{FROM_ONE} SELECT node FROM seen")


def test_a_change_costs_the_rounds_and_rows_that_it_touches(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    statements: list[int] = []
    found: list[int] = []
    held, spread = rounds.held, rounds.Rounds.spread

    def counted(rows: DataFrame) -> rounds.Found:
        kept = held(rows)
        statements.append(kept.number)
        return kept

    def spreading(self: rounds.Rounds, first: rounds.Found, old: DataFrame) -> rounds.Found:
        new = spread(self, first, old)
        found.append(new.number)
        return new

    chain = ", ".join(f"({n}, {n + 1})" for n in range(20, 32))
    world.stage.change(f"INSERT INTO edges VALUES (1, 20), {chain}")
    monkeypatch.setattr(rounds, "held", counted)
    monkeypatch.setattr(rounds.Rounds, "spread", spreading)
    world.stream("seen", f"{FROM_ONE} SELECT node FROM seen")
    assert len(statements) > 13 and found == [17], "all of it, round by round"
    for change, touched in (
        ("INSERT INTO edges VALUES (32, 40), (40, 41)", [2]),
        ("DELETE FROM edges WHERE a = 40", [1]),
        ("INSERT INTO edges VALUES (5, 41)", []),
    ):
        statements.clear(), found.clear()
        world.follows("seen", change)
        assert (len(statements) <= 6, found) == (True, touched), (change, statements)


def test_a_hierarchy_with_depths_and_paths(world: World) -> None:
    world.stream("tree", f"{TREE} SELECT * FROM tree")
    world.stage.agrees("tree", f"{TREE} SELECT * FROM tree")
    world.follows("tree", "INSERT INTO staff VALUES (6, 5, 'fay'), (6, 5, 'fay'), (7, 99, 'gus')")
    world.follows("tree", "UPDATE staff SET boss = 3 WHERE id = 4", "UPDATE staff SET name = 'anna' WHERE id = 1")


def test_paths_as_lists(world: World) -> None:
    world.stage.stream(
        "paths",
        "WITH RECURSIVE p(n, path) AS (SELECT 1, array(1) UNION SELECT e.b, array_append(path, e.b) "
        "FROM p JOIN edges e ON e.a = p.n WHERE NOT array_contains(path, e.b)) SELECT n, path FROM p",
    )
    assert world.stage.rows("paths") == [(1, [1]), (2, [1, 2]), (3, [1, 2, 3]), (4, [1, 2, 3, 4])]
    world.stage.change("DELETE FROM edges WHERE a = 2", "INSERT INTO edges VALUES (1, 4)")
    assert world.stage.refreshed("paths") == [(1, [1]), (2, [1, 2]), (4, [1, 4])]


def test_a_parts_list_summed_up(world: World) -> None:
    world.stream("bill", f"{BILL} SELECT whole, part, CAST(sum(n) AS BIGINT) AS n FROM needed GROUP BY whole, part")
    world.follows("bill", "INSERT INTO parts VALUES ('bolt', 'steel', 7), ('car', 'bolt', 1)")
    world.follows("bill", "UPDATE parts SET n = 6 WHERE whole = 'wheel'", "DELETE FROM parts WHERE whole = 'door'")


def test_a_relation_that_joins_itself(world: World) -> None:
    world.stream("reached", f"{TWICE} SELECT a, b FROM reached")
    linear = f"{REACHED} SELECT a, b FROM reached"
    world.follows("reached", "INSERT INTO edges VALUES (4, 5)", "DELETE FROM edges WHERE a = 2", judge=linear)


@pytest.mark.heavy
def test_several_recursions_read_by_joins_aggregates_and_each_other(world: World) -> None:
    world.stream(
        "both", f"{TWO} SELECT s.node, count(*) AS n FROM seen s JOIN more m ON m.node = s.node GROUP BY s.node"
    )
    world.stream("pairs", f"{FROM_ONE} SELECT x.node AS x, y.node AS y FROM seen x LEFT JOIN seen y ON x.node < y.node")
    world.stage.change("INSERT INTO edges VALUES (4, 9), (9, 2)", "DELETE FROM edges WHERE a = 3 AND b = 1")
    for name in ("both", "pairs"):
        world.stage.refresh(name)
        world.agrees(name)


def test_a_recursion_beside_a_table_that_changes_alone(world: World) -> None:
    world.stream("named", f"{FROM_ONE} SELECT s.name FROM seen JOIN staff s ON s.id = seen.node")
    world.follows("named", "UPDATE staff SET name = 'zoe' WHERE id = 2", "INSERT INTO staff VALUES (3, 2, 'max')")


@pytest.mark.heavy
def test_the_other_modes(world: World) -> None:
    for mode in ("FULL", "AUTO", "IMMEDIATE"):
        world.stream(mode.lower(), f"{FROM_ONE} SELECT node FROM seen", refresh_mode=mode)
    world.stage.change("INSERT INTO edges VALUES (4, 8)")
    world.agrees("immediate")
    assert world.stage.db.refresh_stream_table("full").action == "FULL"
    assert world.stage.db.refresh_stream_table("auto").action == "DIFFERENTIAL"
    world.stage.change("DELETE FROM edges WHERE a = 3")
    world.stage.db.refresh_all()
    for name in ("full", "auto", "immediate"):
        world.agrees(name)


def test_the_first_part_gives_the_types(world: World) -> None:
    body = "{} FROM staff WHERE boss IS NULL UNION {} SELECT s.id, {} FROM staff s JOIN up ON s.boss = up.id"
    counted = f"WITH RECURSIVE up(id, n) AS (SELECT id, {body}) SELECT id, n FROM up"
    world.stage.stream("up", counted.format("1::bigint", "ALL", "n + 1"), dialect="postgres")
    world.agrees("up", counted.format("1::bigint", "ALL", "n + 1"))
    assert world.stage.db.table("up").schema.simpleString() == "struct<id:int,n:bigint>"
    world.stream("wide", counted.format("1", "", "n + CAST(1 AS BIGINT)"))
    world.agrees("wide")
    assert world.stage.db.table("wide").schema.simpleString() == "struct<id:int,n:int>"
    with pytest.raises(QueryError, match="has no type"):
        world.stream("untyped", counted.format("NULL", "", "s.name"))


@pytest.mark.heavy
def test_random_changes(world: World) -> None:
    chance = random.Random(1)
    world.stream("reached", f"{REACHED} SELECT b, a FROM reached")
    world.stream("counted", f"{FROM_ONE} SELECT count(*) AS n, max(node) AS far FROM seen")
    for _ in range(3):
        came = ", ".join(f"({chance.randint(1, 7)}, {chance.randint(1, 7)})" for _ in range(chance.randint(1, 3)))
        gone = f"DELETE FROM edges WHERE a = {chance.randint(1, 7)} AND b % 2 = {chance.randint(0, 1)}"
        world.stage.change(*chance.sample([gone, f"INSERT INTO edges VALUES {came}"], 2))
        for name in ("reached", "counted"):
            world.stage.refresh(name)
            world.agrees(name)


def test_a_recursion_without_end_is_given_up(lake: LakeSite, quick: SparkSession) -> None:
    with lake.connect(quick, refresh__recursion_depth=5, refresh__recursion_rows=20) as db:
        db.sql("CREATE TABLE edges (a INT, b INT)")
        db.sql("INSERT INTO edges VALUES (1, 2), (2, 3)")
        walks = (
            "WITH RECURSIVE r AS (SELECT a, b FROM edges UNION ALL SELECT r.a, e.b FROM r JOIN edges e ON r.b = e.a)"
        )
        db.create_stream_table("walks", f"{walks} SELECT * FROM r", refresh_mode="DIFFERENTIAL")
        db.sql("INSERT INTO edges VALUES (3, 3)")
        head, files = db.head(), lake.files()
        with pytest.raises(QueryError, match='recursion "r" has no end within 5 rounds') as error:
            db.refresh_stream_table("walks")
        assert "UNION" in error.value.hint and "refresh.recursion_depth" in error.value.hint
        assert (db.head(), lake.files()) == (head, files)
        db.sql("INSERT INTO edges VALUES (3, 3), (3, 3), (3, 3)")
        with pytest.raises(QueryError, match="no end within 20 rows"):
            db.refresh_stream_table("walks")


def test_what_is_refused_and_what_is_explained(world: World) -> None:
    db = world.stage.db
    body = "SELECT a FROM edges UNION ALL SELECT DISTINCT e.b FROM r JOIN edges e ON r.a = e.a WHERE e.a = 5"
    with pytest.raises(NotIncremental, match="cannot be maintained"):
        world.stream("some", f"WITH RECURSIVE r AS ({body}) SELECT a FROM r")
    db.create_stream_table("some", f"WITH RECURSIVE r AS ({body}) SELECT a FROM r")
    assert db.stream_table_status("some")[0].effective_mode == "FULL"
    with pytest.raises(QueryError, match="under an aggregate"):
        db.create_stream_table("most", f"{FROM_ONE.replace('e.b FROM', 'max(e.b) FROM')} SELECT node FROM seen")
    for query, said in (
        (f"{FROM_ONE} SELECT node FROM seen", "rederive: rows that lost a derivation .* from the stored rows"),
        (f"{FROM_ONE} SELECT count(*) AS n FROM seen", "rederive: .* computed anew"),
        (f"{BILL} SELECT * FROM needed", "recompute: before and after: with UNION ALL copies count"),
        (f"{TWICE} SELECT * FROM reached", "recompute: before and after: it joins itself"),
    ):
        lines = [e.detail for e in db.explain_query_rewrite(query) if e.item.startswith("Recursion")]
        assert len(lines) == 1 and re.match(said, lines[0])
        assert db.validate_query(query)[0].effective_mode == "DIFFERENTIAL"
