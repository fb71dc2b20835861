"""Every rule, deliberately broken, is caught."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from trickle.delta import RULES, raw_delta
from trickle.plan import (
    Aggregate,
    Constant,
    Distinct,
    Expand,
    Filter,
    Generate,
    Join,
    Node,
    OuterJoin,
    Project,
    Scan,
    SemiJoin,
    SetOp,
    TopK,
    UnionAll,
    Window,
    after,
    walk,
)
from trickle.sql.lower import Query, lower
from trickle.testing.oracle import SCHEMAS, DuckEngine, World, random_history
from trickle.testing.oracle.mutations import MUTATIONS, broken

QUERIES: dict[type[Node], str] = {
    Scan: "SELECT k, v, s FROM a",
    Constant: "SELECT k, v, s FROM a UNION ALL VALUES (1, 2, 'x')",
    Project: "SELECT k + 1 AS k, v, s FROM a",
    Filter: "SELECT k, v, s FROM a WHERE v > 0",
    UnionAll: "SELECT k, v, s FROM a UNION ALL SELECT k, v, s FROM b",
    Expand: "SELECT k, count(*) AS v, s FROM a GROUP BY GROUPING SETS ((k), (s))",
    Generate: "SELECT k, e AS v, s FROM a LATERAL VIEW explode(array(k, v)) x AS e",
    Join: "SELECT a.k, b.v, c.s FROM a JOIN b ON a.k = b.k JOIN c ON b.k = c.k",
    OuterJoin: "SELECT a.k, b.v, b.s FROM a FULL JOIN b ON a.k = b.k",
    SemiJoin: "SELECT k, v, s FROM a WHERE k NOT IN (SELECT v FROM b)",
    Aggregate: "SELECT k, sum(v) AS v, max(s) AS s FROM a GROUP BY k",
    Distinct: "SELECT DISTINCT k, v, s FROM a",
    SetOp: "SELECT k, v, s FROM a EXCEPT ALL SELECT k, v, s FROM b",
    Window: "SELECT k, row_number() OVER (PARTITION BY k ORDER BY v, s) AS v, s FROM a",
    TopK: "SELECT k, v, s FROM a ORDER BY v DESC, k, s LIMIT 2",
}

ALL_LINEAR = (Scan, Project, Filter, Generate, Expand, Constant)
STATELESS = (*ALL_LINEAR, UnionAll)


def controls() -> list[tuple[type[Node], str]]:
    """Each rule with each way to break it; a rule that reads no state has none to swap, one term none to drop."""
    pairs = [(node, name) for node in QUERIES for name in MUTATIONS]
    pairs = [(n, m) for n, m in pairs if not (m == "before and after swapped" and n in STATELESS)]
    return [(n, m) for n, m in pairs if not (m == "dropped term" and n in ALL_LINEAR) and n is not Constant]


def operator(plan: Node, kind: type[Node]) -> Node:
    """The operator by itself. (Above an Expand stands an aggregate, which asks only which groups changed.)"""
    return next(node for node in walk(plan) if type(node) is kind)


@pytest.fixture(scope="module")
def world() -> World:
    return World(DuckEngine(), random_history(Random(7), 40))


def test_every_rule_has_a_control() -> None:
    assert QUERIES.keys() == RULES.keys()
    for node, query in QUERIES.items():
        assert any(type(n) is node for n in walk(lower(query, SCHEMAS).plan)), node


@pytest.mark.parametrize("node", QUERIES)
def test_the_rule_itself_is_right(world: World, node: type[Node]) -> None:
    assert world.check(QUERIES[node]) is None


@pytest.mark.parametrize(("node", "mutation"), controls(), ids=lambda v: getattr(v, "__name__", v))
def test_a_broken_rule_is_caught(world: World, node: type[Node], mutation: str) -> None:
    rules = {**RULES, node: broken(RULES[node], MUTATIONS[mutation])}
    plan = lower(QUERIES[node], SCHEMAS).plan
    assert raw_delta(plan, rules=rules) != raw_delta(plan), "the mutation changes nothing"
    part = operator(plan, node) if node is Expand else plan
    assert world.check_query(Query(part, part.names), QUERIES[node], rules) is not None


def test_a_constant_that_changes_is_caught(world: World) -> None:
    """A constant's delta is empty, so the way to break it is to let its rows come again."""
    from trickle.delta.weights import plus

    assert world.check(QUERIES[Constant], {**RULES, Constant: plus}, prune=False) is not None


@pytest.mark.parametrize(
    ("node", "rule"),
    [
        (Filter, lambda node, change: change),
        (Distinct, lambda node, change: Distinct(change)),
        (SemiJoin, lambda node, left, right: replace(node, left=left, right=after(node.right))),
        (OuterJoin, lambda node, left, right: replace(node, left=left, right=after(node.right), full=False)),
    ],
    ids=["filter forgotten", "distinct linear", "semi join linear", "outer join linear"],
)
def test_a_careless_rule_is_caught(world: World, node: type[Node], rule: object) -> None:
    assert world.check(QUERIES[node], {**RULES, node: rule}) is not None  # type: ignore[dict-item]
