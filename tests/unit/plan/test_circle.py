"""Circles of relations as one recursion; what makes a circle have no least solution."""

from __future__ import annotations

import pytest

from trickle.plan import Scan, tables, walk
from trickle.plan.circle import Circle, Member, Uneven
from trickle.plan.names import hidden
from trickle.plan.recursion import Recursion
from trickle.sql.lower import lower

SCHEMAS = {name: [("a", "INT"), ("b", "STRING")] for name in ("t", "x", "y")}


def member(name: str, query: str) -> Member:
    found = lower(query, SCHEMAS)
    return Member(name, frozenset({name}), found.plan, found.labels, ("INT", "STRING"))


def recursion(x: str, y: str = "SELECT DISTINCT a + 1 AS a, b FROM x") -> Recursion:
    return Circle((member("x", x), member("y", y))).recursion


def test_what_reads_no_member_is_the_base_and_the_rest_the_step() -> None:
    found = recursion("SELECT a, b FROM t UNION SELECT a, b FROM y UNION SELECT a, b FROM t WHERE a = 3")
    assert tables(found.base) == {"t"}
    assert tables(found.step) == {hidden("circle")}
    assert len([n for n in walk(found.base) if isinstance(n, Scan)]) == 2
    assert found.base.names == found.step.names
    assert [c.type for c in found.columns] == ["INT", "INT", "STRING", "INT", "STRING"]
    assert found.linear


def test_a_circle_that_joins_itself_is_not_linear() -> None:
    found = recursion("SELECT a, b FROM t UNION SELECT p.a, q.b FROM y p JOIN y q ON p.a = q.a")
    assert not found.linear


def test_a_circle_without_a_beginning_is_empty() -> None:
    assert tables(recursion("SELECT DISTINCT a, b FROM y").base) == frozenset()


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT a, b FROM y", "keeps copies"),
        ("SELECT a, b FROM (SELECT DISTINCT a, b, a + 1 AS c FROM y)", "keeps copies"),
        ("SELECT DISTINCT a, max(b) AS b FROM y GROUP BY a", "under an aggregate"),
        ("SELECT DISTINCT a, b FROM (SELECT a, b FROM y INTERSECT SELECT a, b FROM t)", "INTERSECT is not supported"),
        ("SELECT DISTINCT a, b FROM t WHERE a NOT IN (SELECT a FROM y)", "on the right of an anti join"),
        ("SELECT DISTINCT y.a, t.b FROM t FULL JOIN y ON t.a = y.a", "may be NULL"),
    ],
)
def test_a_member_that_has_no_place_in_a_circle_is_named_with_the_reason(query: str, why: str) -> None:
    with pytest.raises(Uneven, match=why) as found:
        recursion(query)
    assert found.value.member == "x"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT DISTINCT a, b FROM t WHERE a IN (SELECT a FROM y)",
        "SELECT DISTINCT y.a, t.b FROM y LEFT JOIN t ON t.a = y.a",
        "SELECT DISTINCT y.a, s.b FROM y JOIN (SELECT a, max(b) AS b FROM t GROUP BY a) s ON s.a = y.a",
        "SELECT a, b FROM (SELECT DISTINCT b, a FROM y)",
    ],
)
def test_a_member_may_gain_rows_from_rows(query: str) -> None:
    assert hidden("circle") in tables(recursion(query).step)
