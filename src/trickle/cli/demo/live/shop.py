"""The shop: four tables, what they hold to begin with, and six stream tables of growing difficulty."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

TABLES = (
    "CREATE TABLE customers (id INT NOT NULL, name STRING NOT NULL, city STRING, PRIMARY KEY (id)) CLUSTER BY (id)",
    """\
CREATE TABLE products (
  id INT NOT NULL, name STRING NOT NULL, category STRING, price DECIMAL(8, 2), PRIMARY KEY (id)
) CLUSTER BY (id)""",
    """\
CREATE TABLE orders (
  id INT NOT NULL, customer_id INT, product_id INT, placed_at TIMESTAMP,
  quantity INT, amount DECIMAL(10, 2), status STRING, PRIMARY KEY (id)
) CLUSTER BY (id)""",
    "CREATE TABLE clicks (id INT NOT NULL, customer_id INT, product_id INT, seen_at TIMESTAMP, step STRING)",
)

CITIES = ("London", "Erlangen", "New York", "Princeton", "Zürich", "Turin", None)
CATEGORIES = ("books", "toys", "garden", "music", "kitchen")
STATUSES = ("paid", "shipped", "declined")
STEPS = ("view", "cart", "checkout", "pay")
PRODUCTS = 60
DAYS = 14
"""How far back the shop's books go."""


@dataclass(frozen=True)
class Kept:
    """A stream table of the demo, and what is hard about it."""

    name: str
    about: str
    query: str


KEPT = (
    Kept(
        "revenue_per_hour",
        "an aggregate",
        """\
SELECT date_trunc('HOUR', placed_at) AS hour, count(*) AS orders, sum(amount) AS revenue
FROM orders WHERE status <> 'declined' GROUP BY date_trunc('HOUR', placed_at)""",
    ),
    Kept(
        "customer_value",
        "a left join below an aggregate",
        """\
SELECT c.id, c.name, c.city, count(o.id) AS orders, coalesce(sum(o.amount), 0) AS value
FROM customers AS c LEFT JOIN orders AS o ON o.customer_id = c.id AND o.status <> 'declined'
GROUP BY c.id, c.name, c.city""",
    ),
    Kept(
        "top_sellers",
        "the first ten of an aggregate over a join",
        """\
SELECT p.name, p.category, sum(o.quantity) AS sold, sum(o.amount) AS revenue
FROM orders AS o JOIN products AS p ON p.id = o.product_id
WHERE o.status <> 'declined' GROUP BY p.name, p.category ORDER BY revenue DESC, p.name LIMIT 10""",
    ),
    Kept(
        "funnel",
        "filtered aggregates over a join",
        """\
SELECT p.category, count(*) FILTER (WHERE k.step = 'view') AS views, count(*) FILTER (WHERE k.step = 'cart') AS carts,
  count(*) FILTER (WHERE k.step = 'checkout') AS checkouts, count(*) FILTER (WHERE k.step = 'pay') AS payments
FROM clicks AS k JOIN products AS p ON p.id = k.product_id GROUP BY p.category""",
    ),
    Kept(
        "sessions",
        "an aggregate over two windows",
        """\
SELECT customer_id, session, min(seen_at) AS began, max(seen_at) AS ended, count(*) AS clicks
FROM (
  SELECT customer_id, seen_at, sum(is_first) OVER (PARTITION BY customer_id ORDER BY seen_at, id) AS session
  FROM (
    SELECT id, customer_id, seen_at,
      CASE WHEN seen_at <= lag(seen_at) OVER (PARTITION BY customer_id ORDER BY seen_at, id) + INTERVAL 30 MINUTES
      THEN 0 ELSE 1 END AS is_first
    FROM clicks
  ) AS marked
) AS numbered
GROUP BY customer_id, session""",
    ),
    Kept(
        "suspects",
        "EXISTS over the same table",
        """\
SELECT o.id, o.customer_id, o.placed_at, o.amount
FROM orders AS o
WHERE o.status = 'paid' AND o.amount > 300 AND EXISTS (
  SELECT 1 FROM orders AS d
  WHERE d.customer_id = o.customer_id AND d.status = 'declined'
    AND d.placed_at BETWEEN o.placed_at - INTERVAL 1 DAY AND o.placed_at
)""",
    ),
)


def customers(orders: int) -> int:
    """How many people so many orders come from."""
    return max(20, orders // 50)


def first_rows(orders: int, seed: int, now: datetime | None = None) -> dict[str, pa.Table]:
    """What the tables hold when the shop opens: a customer for each fifty orders, two clicks for each order."""
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(seed)
    people, clicks = customers(orders), orders * 2
    end = (now or datetime.now(UTC)).replace(microsecond=0)
    prices = rng.integers(300, 19900, PRODUCTS)

    def times(number: int) -> pa.Array:
        seconds = np.sort(rng.integers(0, int(timedelta(days=DAYS).total_seconds()), number))
        start = np.datetime64((end - timedelta(days=DAYS)).replace(tzinfo=None), "us")
        return pa.array(start + seconds.astype("timedelta64[s]"), pa.timestamp("us", "UTC"))

    bought, quantity = rng.integers(0, PRODUCTS, orders), rng.integers(1, 4, orders)
    return {
        "customers": pa.table(
            {
                "id": _ids(people),
                "name": [f"customer {n}" for n in range(1, people + 1)],
                "city": [CITIES[n] for n in rng.integers(0, len(CITIES), people)],
            }
        ),
        "products": pa.table(
            {
                "id": _ids(PRODUCTS),
                "name": [f"product {n}" for n in range(1, PRODUCTS + 1)],
                "category": [CATEGORIES[n % len(CATEGORIES)] for n in range(PRODUCTS)],
                "price": _money(prices, 8),
            }
        ),
        "orders": pa.table(
            {
                "id": _ids(orders),
                "customer_id": _some(rng.integers(1, people + 1, orders)),
                "product_id": _some(bought + 1),
                "placed_at": times(orders),
                "quantity": _some(quantity),
                "amount": _money(prices[bought] * quantity, 10),
                "status": [STATUSES[n] for n in rng.choice(3, orders, p=(0.45, 0.52, 0.03))],
            }
        ),
        "clicks": pa.table(
            {
                "id": _ids(clicks),
                "customer_id": _some(rng.integers(1, people + 1, clicks)),
                "product_id": _some(rng.integers(1, PRODUCTS + 1, clicks)),
                "seen_at": times(clicks),
                "step": [STEPS[n] for n in rng.choice(4, clicks, p=(0.6, 0.2, 0.12, 0.08))],
            }
        ),
    }


def _ids(number: int) -> pa.Array:
    import pyarrow as pa

    return pa.array(range(1, number + 1), pa.int32())


def _some(values: Iterable[int]) -> pa.Array:
    import pyarrow as pa

    return pa.array(values, pa.int32())


def _money(cents: Iterable[int], digits: int) -> pa.Array:
    """Whole cents as decimals.

    >>> _money([1999], 8)[0].as_py()
    Decimal('19.99')
    """
    from decimal import Decimal

    import pyarrow as pa

    return pa.array([Decimal(int(c)).scaleb(-2) for c in cents], pa.decimal128(digits, 2))
