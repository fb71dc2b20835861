"""The origins of a query's columns."""

from __future__ import annotations

import pytest

from trickle.plan.lineage import lineage
from trickle.sql.lower import lower

TABLES = {
    "orders": [("id", "INT"), ("cust", "INT"), ("amount", "INT"), ("tags", "ARRAY<STRING>")],
    "customers": [("id", "INT"), ("name", "STRING")],
}


def origins(query: str) -> dict[str, set[str]]:
    lowered = lower(query, TABLES)
    found = lineage(lowered.plan, lowered.recursions)
    return {
        label: {".".join(origin) for origin in found[name]}
        for label, name in zip(lowered.labels, lowered.plan.names, strict=True)
    }


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("SELECT id, amount + cust AS x FROM orders", {"id": {"orders.id"}, "x": {"orders.amount", "orders.cust"}}),
        ("SELECT c.name FROM orders o JOIN customers c ON c.id = o.cust", {"name": {"customers.name"}}),
        ("SELECT cust, sum(amount) AS s FROM orders GROUP BY cust", {"cust": {"orders.cust"}, "s": {"orders.amount"}}),
        ("SELECT id FROM orders UNION ALL SELECT id FROM customers", {"id": {"orders.id", "customers.id"}}),
        ("SELECT 1 AS one, count(*) AS n FROM orders", {"one": set(), "n": set()}),
        ("SELECT t FROM orders LATERAL VIEW explode(tags) x AS t", {"t": {"orders.tags"}}),
        (
            "SELECT id, lag(amount) OVER (PARTITION BY cust ORDER BY id) AS before FROM orders",
            {"id": {"orders.id"}, "before": {"orders.amount", "orders.cust", "orders.id"}},
        ),
        ("SELECT id FROM orders WHERE cust IN (SELECT id FROM customers)", {"id": {"orders.id"}}),
        (
            "WITH RECURSIVE r(a, b) AS (SELECT id, cust FROM orders UNION "
            "SELECT r.a, o.amount FROM r JOIN orders o ON o.id = r.b) SELECT a, b FROM r",
            {"a": {"orders.id"}, "b": {"orders.cust", "orders.amount"}},
        ),
    ],
)
def test_columns_come_from(query: str, found: dict[str, set[str]]) -> None:
    assert origins(query) == found
