"""Four sources that change at random, and twelve stream tables on them: chains, diamonds and a refresh group."""

from __future__ import annotations

import time
from dataclasses import dataclass
from random import Random

from trickle.testing.duckdb_peer import DuckDBError, DuckDBPeer, LakeAddress
from trickle.testing.streams.query import Query

SOURCES = ("orders", "customers", "items", "payments")
TABLES = (
    "CREATE TABLE orders (id INT, cust INT, item INT, qty INT)",
    "CREATE TABLE customers (id INT, region VARCHAR)",
    "CREATE TABLE items (id INT, kind VARCHAR, price INT)",
    "CREATE TABLE payments (order_id INT, amount INT)",
)
ROWS = (
    "INSERT INTO orders SELECT n, n % 7, n % 5, n % 11 FROM range(40) t(n)",
    "INSERT INTO customers SELECT n, ['north', 'south', 'east'][n % 3 + 1] FROM range(7) t(n)",
    "INSERT INTO items SELECT n, ['book', 'toy'][n % 2 + 1], n * 20 FROM range(5) t(n)",
    "INSERT INTO payments SELECT n % 40, n FROM range(30) t(n)",
)


@dataclass(frozen=True)
class Kept:
    """A stream table of the shop."""

    query: Query
    schedule: str


def _kept(name: str, text: str, schedule: str = "1s") -> Kept:
    return Kept(Query(name, text, text), schedule)


KEPT = (
    _kept("per_customer", "SELECT cust, count(*) AS n, CAST(sum(qty) AS BIGINT) AS qty FROM orders GROUP BY cust"),
    _kept("large", "SELECT id, cust, qty FROM orders WHERE qty > 5"),
    _kept(
        "large_share",
        "SELECT l.id, l.qty, p.qty AS total FROM large l JOIN per_customer p ON p.cust = l.cust",
        "on_change",
    ),
    _kept("paid", "SELECT order_id, CAST(sum(amount) AS BIGINT) AS amount FROM payments GROUP BY order_id"),
    _kept("dear_items", "SELECT id, kind, price FROM items WHERE price > 30", "on_change 200ms"),
    _kept("per_kind", "SELECT i.kind, count(*) AS n FROM orders o JOIN items i ON i.id = o.item GROUP BY i.kind"),
    _kept("busy_kinds", "SELECT kind, n FROM per_kind WHERE n > 2", "2s"),
    _kept("per_region", "SELECT region, count(*) AS n FROM customers GROUP BY region"),
    _kept(
        "unpaid", "SELECT o.id, o.qty FROM orders o LEFT JOIN paid p ON p.order_id = o.id WHERE p.amount IS NULL", "2s"
    ),
    _kept("dear_kinds", "SELECT DISTINCT kind FROM dear_items", "2s"),
    _kept(
        "region_orders",
        "SELECT c.region, count(*) AS n FROM orders o JOIN customers c ON c.id = o.cust GROUP BY c.region",
    ),
    _kept(
        "regions",
        "SELECT r.region, r.n AS people, o.n AS orders FROM per_region r JOIN region_orders o ON o.region = r.region",
    ),
)
FEW = KEPT[:5]
GROUP = ("paid", "dear_items")
TOGETHER = (
    frozenset({"per_customer", "large", "large_share"}),
    frozenset({"region_orders", "per_region", "regions"}),
    frozenset(GROUP),
)
"""Diamonds (`per_region` and `region_orders` read customers, `regions` both) and the group."""


def change(rng: Random, number: int) -> list[str]:
    """The statements of one transaction."""
    id, other = 1000 + number, rng.randint(0, 39)
    changes = (
        f"INSERT INTO orders VALUES ({id}, {rng.randint(0, 8)}, {rng.randint(0, 5)}, {rng.randint(0, 12)})",
        f"UPDATE orders SET qty = {rng.randint(0, 12)}, cust = {rng.randint(0, 8)} WHERE id = {other}",
        f"DELETE FROM orders WHERE id = {rng.randint(1000, id)}",
        f"INSERT INTO payments VALUES ({rng.choice([id, other])}, {rng.randint(1, 90)})",
        f"DELETE FROM payments WHERE order_id = {other}",
        f"UPDATE items SET price = {rng.randint(0, 90)} WHERE id = {rng.randint(0, 4)}",
        f"UPDATE customers SET region = '{rng.choice(['north', 'south', 'west'])}' WHERE id = {rng.randint(0, 6)}",
    )
    return rng.sample(changes, rng.randint(1, 3))


def persist(peer: DuckDBPeer, lake: LakeAddress, *statements: str, tries: int = 50) -> None:
    """One transaction of DuckDB's, which never waits itself for a SQLite catalog that is busy."""
    for attempt in range(tries):
        try:
            peer.run(lake, "BEGIN", *statements, "COMMIT")
            return
        except DuckDBError as error:
            said = str(error).lower()
            if attempt == tries - 1 or not ("locked" in said or "conflict" in said):
                raise
            time.sleep(0.05)
