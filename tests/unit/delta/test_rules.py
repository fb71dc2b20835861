"""Every operator has a rule, and a rule's answer has the right columns."""

from __future__ import annotations

import inspect

import pytest

from trickle.delta import RULES, consolidate, differentiate
from trickle.plan import WEIGHT, Binary, Leaf, Node, Scan, Unary, Version, is_empty, nodes, walk
from trickle.sql.lower import lower

SCHEMAS = {t: [("k", "INT"), ("v", "INT"), ("s", "STRING")] for t in ("a", "b", "c")}


def operators() -> set[type[Node]]:
    found = {c for _, c in inspect.getmembers(nodes, inspect.isclass) if issubclass(c, Node)}
    return found - {Node, Leaf, Unary, Binary}


def test_rules_cover_every_operator() -> None:
    assert set(RULES) == operators()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k FROM a",
        "SELECT a.k, b.v FROM a FULL JOIN b ON a.k = b.k",
        "SELECT k, sum(v) AS x FROM a GROUP BY k HAVING count(*) > 1",
        "SELECT k FROM a EXCEPT SELECT k FROM b",
    ],
)
def test_a_delta_has_the_plans_columns_and_the_weight(query: str) -> None:
    plan = lower(query, SCHEMAS).plan
    assert set(differentiate(plan).names) == {*plan.names, WEIGHT}
    assert set(consolidate(differentiate(plan)).names) == {*plan.names, WEIGHT}


def test_a_join_chain_has_one_term_per_changed_input() -> None:
    plan = lower("SELECT a.k FROM a JOIN b ON a.k = b.k JOIN c ON b.k = c.k", SCHEMAS).plan
    assert _changed(differentiate(plan)) == ["a", "b", "c"]
    assert _changed(differentiate(plan, frozenset({"a", "c"}))) == ["b"]


def test_an_unchanged_table_is_read_in_one_state() -> None:
    plan = lower("SELECT a.k, b.v FROM a LEFT JOIN b ON a.k = b.k", SCHEMAS).plan
    delta = differentiate(plan, frozenset({"b"}))
    versions = {n.version for n in walk(delta) if isinstance(n, Scan) and n.table == "b"}
    assert versions == {Version.AFTER}


def test_nothing_changed_gives_nothing() -> None:
    plan = lower("SELECT k, count(*) AS n FROM a GROUP BY k", SCHEMAS).plan
    assert is_empty(differentiate(plan, frozenset({"a"})))


def test_only_referenced_columns_are_read() -> None:
    plan = lower("SELECT k FROM a WHERE v > 0", SCHEMAS).plan
    read = [[f.source for f in n.fields] for n in walk(differentiate(plan)) if isinstance(n, Scan)]
    assert read == [["k", "v"]]


def _changed(plan: Node) -> list[str]:
    return sorted(n.table for n in walk(plan) if isinstance(n, Scan) and n.version is Version.CHANGES)
