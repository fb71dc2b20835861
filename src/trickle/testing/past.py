"""A lake whose stream tables have a past, written into its registry: no Spark is needed to show it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ..registry.models import Dependency, Refresh, StreamTable
from ..registry.scheduling import BLOWN, Fuse, Scheduling
from ..session import Session

HOSTILE = '<script>alert("x")</script>'
"""Stands in an error of the shop: what data says must not become markup."""


@dataclass
class Past:
    db: Session

    def stream(self, name: str, query: str, *sources: str, **values: Any) -> StreamTable:
        """A stream table that read these tables, or stream tables, at the head."""
        streams = self.db._streams
        streams.migrate()
        head = self.db.lake.head()
        known = {t.name: t for t in streams.all()}
        read = [
            Dependency(known[s].stored, -known[s].id, (), "")
            if s in known
            else Dependency(f"main.{s}", self.db.lake.table("main", s, head).id, (), "")  # type: ignore[union-attr]
            for s in sources
        ]
        options = {"schedule": "calculated", "refresh_mode": "AUTO", **values.pop("options", {})}
        table = StreamTable(0, "main", name, query, "spark", "AUTO", options, name, 1, dependencies=tuple(read))
        table = replace(table, **{"frontier": head.id, "snapshot": head.id, "seen": head.id, **values})
        with streams.lake.catalog.writing() as connection:
            return streams.registry.add(connection, table)

    def refreshes(self, table: StreamTable, number: int) -> None:
        now = datetime.now(UTC)
        for n in range(number):
            at = now - timedelta(seconds=20 * (number - n))
            action = "FULL" if n == 0 else "NO_DATA" if n % 5 == 4 else "DIFFERENTIAL"
            took, rows = (900.0 if n == 0 else 140 + 37 * (n % 7)), (40 if n == 0 else n % 7)
            rows = 0 if action == "NO_DATA" else rows
            reason = "initial_load" if n == 0 else ""
            self.record(table, at, action, reason, rows, took if rows else 3.0)

    def record(
        self, table: StreamTable, at: datetime, action: str, reason: str, rows: int, took: float, error: str = ""
    ) -> None:
        line = Refresh(
            table.id, table.label, at, at, action, reason, rows, rows // 2, rows, took, 2, 3, "scheduler", error
        )
        with self.db.lake.catalog.writing() as connection:
            self.db._streams.registry.record(connection, line)

    def blow(self, table: StreamTable) -> None:
        with self.db.lake.catalog.writing() as connection:
            fuse = Fuse(table.id, BLOWN, datetime.now(UTC), 900, 100.0)
            Scheduling(self.db._streams.registry).put_fuse(connection, table.id, fuse)


def shop(db: Session) -> Past:
    """Two that are fresh, one whose fuse is blown, one that fails."""
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
