"""before + delta == after, where declared keys are relied upon; and what happens where they do not hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from trickle.testing.oracle.keyed import REFERENCES, KeyedWorld, Shop, facts, lowered

JOINS = (
    "SELECT o.no, o.v, c.v AS w FROM ord o JOIN cust c ON o.cust = c.id",
    "SELECT o.no, c.v AS w FROM cust c JOIN ord o ON o.cust = c.id WHERE c.v > 0",
    "SELECT o.no, c.v AS w FROM cust c JOIN ord o ON o.cust = c.id WHERE o.v > 0 AND c.boss IS NOT NULL",
    "SELECT o.no, x.v FROM ord o JOIN (SELECT id, v + 1 AS v FROM cust WHERE v > 0) x ON x.id = o.cust AND x.v > o.v",
    """SELECT l.v, o.v AS ov, c.v AS cv, r.name FROM line l JOIN ord o ON l.no = o.no AND l.part = o.part
       JOIN cust c ON o.cust = c.id JOIN region r ON c.region = r.id""",
    """SELECT r.name, l.v FROM region r, cust c, ord o, line l
       WHERE r.id = c.region AND c.id = o.cust AND o.no = l.no AND o.part = l.part AND l.v < 2""",
    "SELECT l.v FROM line l JOIN ord o ON l.no = o.no",
    "SELECT a.id, b.id AS boss, b.v FROM cust a JOIN cust b ON a.boss = b.id",
    """SELECT o.no, c.v FROM ord o JOIN cust c ON o.cust = c.id
       UNION ALL SELECT o.no, c.v FROM ord o JOIN cust c ON o.v = c.id""",
)
OTHERS = (
    "SELECT o.no, o.v, c.v AS w FROM ord o LEFT JOIN cust c ON o.cust = c.id",
    "SELECT o.no, o.v, c.id, c.v AS w FROM cust c LEFT JOIN ord o ON o.cust = c.id AND o.v > 0",
    "SELECT l.v, o.v AS ov FROM line l LEFT JOIN ord o ON l.no = o.no AND l.part = o.part WHERE l.v > 0",
    "SELECT o.no, c.v FROM ord o FULL JOIN cust c ON o.cust = c.id",
    "SELECT o.no, o.v FROM ord o WHERE EXISTS (SELECT 1 FROM cust c WHERE c.id = o.cust AND c.v > 0)",
    "SELECT c.id, c.v FROM cust c WHERE EXISTS (SELECT 1 FROM ord o WHERE c.id = o.cust AND o.v > 0)",
    "SELECT c.id, c.v FROM cust c WHERE NOT EXISTS (SELECT 1 FROM ord o WHERE c.id = o.cust)",
    "SELECT c.id, c.v FROM cust c WHERE c.id NOT IN (SELECT cust FROM ord)",
    "SELECT o.no FROM ord o WHERE o.cust IN (SELECT id FROM cust)",
)
GROUPS = (
    "SELECT c.region, count(*) AS n, sum(o.v) AS v FROM ord o JOIN cust c ON o.cust = c.id GROUP BY c.region",
    "SELECT DISTINCT c.region, o.v FROM ord o JOIN cust c ON o.cust = c.id",
    "SELECT c.v, max(o.v) AS m FROM ord o JOIN cust c ON o.cust = c.id GROUP BY c.v",
    "SELECT count(*) AS n FROM ord o JOIN cust c ON o.cust = c.id",
    "SELECT c.id, n FROM cust c JOIN (SELECT cust, count(*) AS n FROM ord GROUP BY cust) o ON o.cust = c.id",
)
STEPS = 40
SAME = "SELECT o.no, o.v, c.v AS w FROM ord o JOIN cust c ON o.cust = c.id"


@pytest.mark.parametrize("seed", range(2))
def test_relying_on_keys_that_hold_changes_no_answer(seed: int) -> None:
    world, queries = KeyedWorld(Shop(Random(seed))), [lowered(q) for q in (*JOINS, *OTHERS)]
    for _ in range(STEPS):
        world.advance()
        declared = facts(world.changes)
        for query in queries:
            assert world.check(query, declared), (query.labels, world.changes, declared)
    for part in ("is empty", "updated", "no row"):
        assert any(part in effect for effect in world.uses), (part, world.uses)


def test_what_is_stored_follows_too() -> None:
    world, queries = KeyedWorld(Shop(Random(9))), [lowered(q) for q in (*GROUPS, SAME)]
    for _ in range(40):
        world.advance()
        declared = facts(world.changes)
        for query in queries:
            assert world.check_stored(query, declared), (query.labels, world.changes, declared)
    assert world.uses


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 110))
def test_long_form(seed: int) -> None:
    world, queries = KeyedWorld(Shop(Random(seed))), [lowered(q) for q in (*JOINS, *OTHERS, *GROUPS)]
    for _ in range(200):
        world.advance()
        declared = facts(world.changes)
        for query in queries:
            assert world.check(query, declared), (query.labels, world.changes, declared)
            assert world.check_stored(query, declared), (query.labels, world.changes, declared)


def wrong(world: KeyedWorld, steps: int, **lies: str) -> int:
    """How many steps get a wrong answer; `lies` put tables into classes they are not in."""
    query, found = lowered(SAME), 0
    for _ in range(steps):
        world.advance()
        declared = facts(world.changes)
        for kind, table in lies.items():
            if table in declared.split:
                declared = replace(declared, split=declared.split - {table}, **{kind: frozenset({table})})
        found += not world.check(query, declared)
    return found


def test_keys_that_do_not_hold_are_relied_upon_all_the_same() -> None:
    """Children before their parents: the join of old children with new parents is left out."""
    assert wrong(KeyedWorld(Shop(Random(1), orphans=0.7)), 40) > 0


def test_keys_that_are_not_declared_are_not_relied_upon() -> None:
    world, query = KeyedWorld(Shop(Random(1), orphans=0.7)), lowered(SAME)
    for _ in range(40):
        world.advance()
        assert world.check(query, facts(world.changes, references=()))
    assert world.uses == Counter()


@pytest.mark.parametrize("kind", ["gained", "lost"])
def test_a_table_said_to_only_gain_or_lose_rows_must_do_so(kind: str) -> None:
    assert wrong(KeyedWorld(Shop(Random(2))), 60, **{kind: "cust"}) > 0


def test_half_a_key_is_no_key() -> None:
    """Joined by one column of two, an order that came may find older lines."""
    world, query = KeyedWorld(Shop(Random(3))), lowered("SELECT l.v FROM line l JOIN ord o ON l.no = o.no")
    for _ in range(30):
        world.advance()
        assert world.check(query, facts(world.changes))
    assert world.uses == Counter()
    assert any(r.columns == ("no", "part") for r in REFERENCES)
