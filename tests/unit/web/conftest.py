"""A shop of stream tables that have a past, and its pages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import trickle
from trickle.testing.past import Past
from trickle.web.server import Server

HOSTILE = '<script>alert("x")</script>'


def shop(db: trickle.Session) -> Past:
    past = Past(db)
    db.sql("CREATE TABLE orders (id INT, customer INT, amount DECIMAL(10, 2))")
    db.sql("CREATE TABLE customers (id INT, region STRING)")
    per = past.stream(
        "revenue",
        "SELECT region, count(*) AS orders, sum(amount) AS total\n"
        "FROM orders JOIN customers ON orders.customer = customers.id\nGROUP BY region",
        "orders",
        "customers",
        options={"target_lag": "1m"},
    )
    past.refreshes(per, 40)
    strong = past.stream("strong_regions", "SELECT region, total FROM revenue WHERE total > 50", "revenue")
    past.refreshes(strong, 12)
    guarded = past.stream(
        "best_customers",
        "SELECT customer, sum(amount) AS total FROM orders GROUP BY customer",
        "orders",
        options={"fuse": "on", "fuse_ceiling": 100},
    )
    past.refreshes(guarded, 20)
    past.blow(guarded)
    error = f"query_error: the value {HOSTILE} cannot be cast to INT"
    broken = past.stream(
        "numbers", "SELECT CAST(region AS INT) AS n FROM customers", "customers", status="ERROR", last_error=error
    )
    past.refreshes(broken, 6)
    past.record(broken, datetime.now(UTC), "SKIP", "query_error", 0, 80.0, f"{error}\nhint: correct the row")
    return past


@pytest.fixture
def db(tmp_path: Path) -> Iterator[trickle.Session]:
    with trickle.connect(tmp_path / "shop", settings={"web.port": 0}) as session:
        yield session


@pytest.fixture
def past(db: trickle.Session) -> Past:
    return shop(db)


@pytest.fixture
def server(db: trickle.Session, past: Past) -> Iterator[Server]:
    with Server(db) as running:
        yield running
