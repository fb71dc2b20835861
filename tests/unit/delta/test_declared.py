"""Declared keys: what they make of a change, as plans."""

from __future__ import annotations

import pytest

from trickle.delta import differentiate
from trickle.delta.declared import NOTHING, Declared, Reference, arrange, gone, rely, updated
from trickle.plan import Node, Scan, Version, is_empty, walk
from trickle.sql.lower import lower

SCHEMAS = {
    "parent": (("a", "INT"), ("b", "INT"), ("v", "INT")),
    "child": (("x", "INT"), ("y", "INT"), ("w", "INT")),
    "other": (("a", "INT"), ("n", "INT")),
}
BOTH = Reference("fk", "child", ("x", "y"), "parent", ("a", "b"))
ONE = Reference("fk", "child", ("x",), "other", ("a",))
WHOLE = "SELECT c.w, p.v FROM parent p JOIN child c ON c.x = p.a AND p.b = c.y"
ALL = frozenset({"parent", "child", "other"})


def reads(plan: Node) -> set[tuple[str, Version]]:
    return {(n.table, n.version) for n in walk(plan) if isinstance(n, Scan)}


def change(text: str, known: Declared) -> Node:
    plan = arrange(lower(text, SCHEMAS).plan, known)
    return rely(differentiate(plan, known.unchanged), known)[0]


def gained(*tables: str, references: tuple[Reference, ...] = (BOTH,), **more: frozenset[str]) -> Declared:
    return Declared(references, gained=frozenset(tables), unchanged=frozenset({"other"}), **more)


def test_older_children_are_not_read_when_parents_came() -> None:
    assert reads(change(WHOLE, gained("parent", "child"))) == {("child", Version.CHANGES), ("parent", Version.AFTER)}


def test_no_parent_that_is_left_is_read_when_parents_went() -> None:
    known = Declared((BOTH,), lost=frozenset({"parent"}), gained=frozenset({"child"}))
    assert reads(change(WHOLE, known)) == {("child", Version.CHANGES), ("parent", Version.BEFORE)}


def test_parents_alone_change_nothing() -> None:
    known = Declared((BOTH,), unchanged=frozenset({"child", "other"}), gained=frozenset({"parent"}))
    assert is_empty(change(WHOLE, known))


def test_a_change_in_parts_looks_up_updated_parents_alone() -> None:
    known = Declared((BOTH,), split=frozenset({"parent"}))
    assert reads(change(WHOLE, known)) == {
        ("child", Version.BEFORE),
        ("child", Version.CHANGES),
        ("parent", Version.AFTER),
        (updated("parent"), Version.CHANGES),
        (gone("parent"), Version.CHANGES),
    }


@pytest.mark.parametrize(
    "text",
    [
        "SELECT c.w, p.v FROM parent p JOIN child c ON c.x = p.a",
        "SELECT c.w, p.v FROM parent p JOIN child c ON c.x = p.a AND c.y + 0 = p.b",
        "SELECT c.w, p.v FROM parent p JOIN child c ON c.x = p.b AND c.y = p.a",
        "SELECT c.w, p.v FROM parent p JOIN child c ON c.x = p.a AND c.y >= p.b",
        "SELECT c.w, p.v FROM (SELECT a, v AS b, b AS v FROM parent) p JOIN child c ON c.x = p.a AND c.y = p.b",
        "SELECT c.w, p.v FROM (SELECT max(a) AS a, b, v FROM parent GROUP BY b, v) p JOIN child c "
        "ON c.x = p.a AND c.y = p.b",
    ],
)
def test_less_than_the_whole_key_is_no_key(text: str) -> None:
    known = gained("parent", "child")
    plan = differentiate(arrange(lower(text, SCHEMAS).plan, known), known.unchanged)
    assert rely(plan, known) == (plan, ())


def test_filters_and_projections_of_both_sides_do_no_harm() -> None:
    text = """SELECT c.w, p.v FROM (SELECT a AS k, b, v + 1 AS v FROM parent WHERE v > 0) p
              JOIN (SELECT y AS z, x, w FROM child WHERE w < 3) c ON p.k = c.x AND p.b = c.z AND p.v > c.w"""
    assert ("child", Version.BEFORE) not in reads(change(text, gained("parent", "child")))


def test_each_reference_of_a_chain_counts() -> None:
    text = WHOLE + " JOIN other o ON o.a = c.x"
    known = Declared((BOTH, ONE), gained=ALL)
    assert reads(change(text, known)) == {
        ("child", Version.CHANGES),
        ("parent", Version.AFTER),
        ("other", Version.AFTER),
    }


def test_nothing_declared_is_nothing_done() -> None:
    plan = differentiate(lower(WHOLE, SCHEMAS).plan)
    assert rely(plan, NOTHING)[0] is plan
    assert not Declared((BOTH,), unchanged=ALL)
