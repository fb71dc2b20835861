"""The shop of the demo: its tables and what happens in it."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

CUSTOMERS = """\
CREATE TABLE customers (
  id INT NOT NULL,
  name STRING NOT NULL,
  city STRING,
  PRIMARY KEY (id)
)"""

ORDERS = """\
CREATE TABLE orders (
  id INT NOT NULL,
  customer_id INT NOT NULL,
  day DATE,
  amount DECIMAL(10, 2),
  status STRING DEFAULT 'open',
  PRIMARY KEY (id)
) CLUSTER BY (id)"""

FIRST_CUSTOMERS = """\
INSERT INTO customers VALUES
  (1, 'Ada', 'London'), (2, 'Emmy', 'Erlangen'), (3, 'Grace', 'New York'), (4, 'Kurt', NULL)"""

FIRST_ORDERS = [
    {"id": n, "customer_id": 1 + n % 4, "day": date(2024, 2, 1 + n), "amount": Decimal(n) * 5, "status": "open"}
    for n in range(1, 13)
]

SHIP = "UPDATE orders SET status = 'shipped' WHERE day < DATE '2024-02-08'"

CANCEL = "DELETE FROM orders WHERE customer_id = (SELECT id FROM customers WHERE name = 'Kurt')"

CORRECT = """\
MERGE INTO orders AS o
USING (SELECT 12 AS id, 1 AS customer_id, 75.00 AS amount UNION ALL SELECT 13, 2, 20.00) AS new ON o.id = new.id
WHEN MATCHED THEN UPDATE SET amount = new.amount
WHEN NOT MATCHED THEN INSERT (id, customer_id, amount) VALUES (new.id, new.customer_id, new.amount)"""

NEW_CUSTOMER = "INSERT INTO customers VALUES (5, 'Alan', 'Manchester')"
NEW_ORDER = "INSERT INTO orders VALUES (14, 5, DATE '2024-02-20', 120.00, 'open')"

PER_CUSTOMER = """\
SELECT c.name, count(*) AS orders, sum(o.amount) AS revenue
FROM orders AS o JOIN customers AS c ON o.customer_id = c.id
GROUP BY c.name"""

REVENUE = f"{PER_CUSTOMER} ORDER BY revenue DESC"

STREAM = f"CREATE STREAM TABLE revenue WITH (refresh_mode = 'DIFFERENTIAL') AS\n{PER_CUSTOMER}"

MOVE = "UPDATE orders SET customer_id = 3 WHERE id = 14"
DISCOUNT = "UPDATE orders SET amount = amount - 5 WHERE id = 13"


def then_and_now(then: int) -> str:
    """The orders at a snapshot beside the orders of today."""
    return f"""\
SELECT 'at snapshot {then}' AS moment, count(*) AS orders, sum(amount) AS amount FROM orders VERSION AS OF {then}
UNION ALL
SELECT 'now', count(*), sum(amount) FROM orders"""
