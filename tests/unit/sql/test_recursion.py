"""WITH RECURSIVE as it is read: what becomes a recursion, and what is refused."""

from __future__ import annotations

import pytest

from trickle.errors import NotFound, NotIncremental, QueryError
from trickle.sql.lower import lower
from trickle.sql.lower.query import Query

SCHEMAS = {"e": [("a", "INT"), ("b", "INT")]}


def read(body: str, main: str = "SELECT * FROM r") -> Query:
    return lower(f"WITH RECURSIVE r(n) AS ({body}) {main}", SCHEMAS)


def test_a_recursion_is_a_relation_that_the_plan_reads() -> None:
    query = read("SELECT a FROM e UNION SELECT e.b FROM r JOIN e ON r.n = e.a")
    [recursion] = query.recursions
    assert (recursion.label, recursion.distinct, recursion.linear) == ("r", True, True)
    assert query.tables == recursion.sources == {"e"}
    assert query.labels == ("n",)


def test_only_what_is_read_is_kept_sources_first() -> None:
    query = lower(
        "WITH RECURSIVE p AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM p WHERE n < 3), "
        "unread AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM unread WHERE n < 3), "
        "plain AS (SELECT n FROM p), "
        "q AS (SELECT n FROM plain UNION SELECT q.n * 2 FROM q WHERE n < 9) SELECT x.n FROM q x JOIN q y ON x.n = y.n",
        SCHEMAS,
    )
    assert [r.label for r in query.recursions] == ["p", "q"]
    assert query.tables == frozenset()


def test_a_name_stands_for_the_recursion_before_a_table() -> None:
    query = lower(
        "WITH RECURSIVE e(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM e WHERE n < 3) SELECT n FROM e", SCHEMAS
    )
    assert query.tables == frozenset()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("SELECT n FROM r UNION ALL SELECT 1", "read by its first part at line 1, column 39"),
        ("SELECT n FROM r", "without UNION"),
        ("SELECT 1 UNION SELECT max(n) + 1 FROM r", "under an aggregate"),
        ("SELECT 1 UNION SELECT count(*) FROM r GROUP BY n", "under an aggregate"),
        ("SELECT 1 UNION ALL SELECT row_number() OVER (ORDER BY n) FROM r", "under a window function"),
        ("SELECT 1 UNION ALL (SELECT n FROM r ORDER BY n LIMIT 1)", "under LIMIT"),
        ("SELECT 1 UNION ALL SELECT n FROM r ORDER BY n LIMIT 1", "no meaning in the recursion"),
        ("SELECT 1 UNION ALL SELECT e.a FROM e LEFT JOIN r ON e.a = r.n", "may be NULL"),
        ("SELECT 1 UNION ALL SELECT e.a FROM r RIGHT JOIN e ON e.a = r.n", "may be NULL"),
        ("SELECT 1 UNION ALL SELECT e.a FROM r FULL JOIN e ON e.a = r.n", "may be NULL"),
        ("SELECT 1 UNION ALL (SELECT a FROM e EXCEPT SELECT n FROM r)", "on the right of EXCEPT"),
        ("SELECT 1 UNION ALL SELECT a FROM e LEFT ANTI JOIN r ON e.a = r.n", "on the right of an anti join"),
        ("SELECT 1 UNION ALL SELECT x.n FROM r x JOIN r y ON x.n = y.n", "joins itself with itself, which needs UNION"),
        ("SELECT 1 UNION ALL SELECT n, 2 FROM r", "1 and 2 columns"),
        ("SELECT 1, 2 UNION ALL SELECT n, 2 FROM r", "1 column aliases for 2 columns"),
    ],
)
def test_a_recursion_that_means_nothing_is_refused(body: str, message: str) -> None:
    with pytest.raises(QueryError, match=message) as error:
        read(body)
    assert not isinstance(error.value, NotIncremental)


@pytest.mark.parametrize(
    ("body", "construct"),
    [
        ("SELECT 1 UNION ALL SELECT DISTINCT n + 1 FROM r WHERE n < 5", "DISTINCT in the recursion"),
        ("SELECT 1 UNION ALL SELECT a FROM e WHERE a IN (SELECT n + 1 FROM r)", "a subquery that reads the recursion"),
        ("SELECT 1 UNION ALL SELECT a FROM e WHERE EXISTS (SELECT 1 FROM r)", "a subquery that reads the recursion"),
        ("SELECT 1 UNION ALL SELECT (SELECT max(n) FROM r) FROM e", "a subquery that reads the recursion"),
        ("SELECT 1 UNION ALL (SELECT n FROM r EXCEPT SELECT a FROM e)", "EXCEPT in the recursion"),
        ("SELECT 1 UNION ALL (SELECT n FROM r INTERSECT SELECT a FROM e)", "INTERSECT in the recursion"),
    ],
)
def test_what_spark_alone_can_run_has_no_rule(body: str, construct: str) -> None:
    with pytest.raises(NotIncremental, match=construct):
        read(body)


def test_copies_dropped_on_the_way_are_no_obstacle_to_union() -> None:
    [recursion] = read("SELECT 1 UNION (SELECT DISTINCT n + 1 FROM r UNION SELECT a FROM r JOIN e ON n = b)").recursions
    assert recursion.linear


def test_names_are_seen_in_order() -> None:
    with pytest.raises(NotFound, match='"later"'):
        lower("WITH RECURSIVE r AS (SELECT * FROM later), later AS (SELECT 1 AS n) SELECT * FROM r", SCHEMAS)
