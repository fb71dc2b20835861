"""Where the values of a column come from."""

from __future__ import annotations

import pytest

from trickle.plan.origins import origins
from trickle.sql.lower import lower

SCHEMAS = {"r": [("a", "INT"), ("b", "INT")], "s": [("a", "INT"), ("c", "INT")]}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT a FROM r", {"r.a"}),
        ("SELECT b AS x FROM r WHERE a > 1", {"r.b"}),
        ("SELECT a + 1 AS x FROM r", None),
        ("SELECT s.c FROM r JOIN s ON r.a = s.a", {"s.c"}),
        ("SELECT r.b FROM r LEFT JOIN s ON r.a = s.a", {"r.b"}),
        ("SELECT s.c FROM r LEFT JOIN s ON r.a = s.a", None),
        ("SELECT r.b FROM r FULL JOIN s ON r.a = s.a", None),
        ("SELECT a FROM r UNION ALL SELECT c FROM s", {"r.a", "s.c"}),
        ("SELECT a FROM r UNION ALL SELECT c + 1 FROM s", None),
        ("SELECT a, sum(b) AS n FROM r GROUP BY a", {"r.a"}),
        ("SELECT sum(b) AS n, a FROM r GROUP BY a", None),
        ("SELECT DISTINCT b FROM r", {"r.b"}),
        ("SELECT a FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.a = r.b)", {"r.a"}),
        ("SELECT a FROM r EXCEPT SELECT c FROM s", {"r.a"}),
        ("SELECT b, row_number() OVER (PARTITION BY a ORDER BY b) AS n FROM r", {"r.b"}),
        ("SELECT row_number() OVER (PARTITION BY a ORDER BY b) AS n FROM r", None),
        ("SELECT b FROM r ORDER BY a LIMIT 3", {"r.b"}),
        ("SELECT b, x FROM r LATERAL VIEW explode(array(a)) t AS x", {"r.b"}),
    ],
)
def test_the_first_column_of_a_query_comes_from(query: str, expected: set[str] | None) -> None:
    plan = lower(query, SCHEMAS).plan
    found = origins(plan, plan.names[0])
    assert (None if found is None else {f"{o.table}.{o.column}" for o in found}) == expected
