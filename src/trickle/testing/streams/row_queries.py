"""Queries without state: projections, filters, joins of every kind, unions, subqueries as conditions."""

from __future__ import annotations

from trickle.testing.streams.query import Query

ROW_QUERIES = (
    Query(
        "projected",
        """SELECT id, upper(note) AS note, qty * 2 AS twice, coalesce(qty, 0) + id AS total, price * qty AS value,
                  CASE WHEN qty > 5 THEN 'big' WHEN qty IS NULL THEN NULL ELSE 'small' END AS size, year(day) AS y
           FROM orders WHERE qty BETWEEN 2 AND 8 OR (note LIKE 'a%' OR note IS NULL) AND day > DATE '2024-01-15'""",
        """SELECT id, upper(note) AS note, qty * 2 AS twice, coalesce(qty, 0) + id AS total,
                  CAST(price * qty AS DECIMAL(19, 2)) AS value,
                  CASE WHEN qty > 5 THEN 'big' WHEN qty IS NULL THEN NULL ELSE 'small' END AS size,
                  CAST(year(day) AS INT) AS y
           FROM orders WHERE qty BETWEEN 2 AND 8 OR (note LIKE 'a%' OR note IS NULL) AND day > DATE '2024-01-15'""",
    ),
    Query("inner_join", "SELECT o.id, o.qty, c.name, c.region FROM orders o JOIN customers c ON o.cust = c.id"),
    Query(
        "left_join",
        """SELECT o.id, o.cust, c.name, c.vip FROM orders o
           LEFT JOIN customers c ON o.cust = c.id AND c.region = 'north'""",
    ),
    Query(
        "right_join",
        "SELECT o.id AS order_id, o.qty, i.id, i.kind FROM orders o RIGHT JOIN items i ON o.item = i.id AND o.qty > 3",
    ),
    Query(
        "full_join",
        "SELECT c.id AS cust, c.name, i.id AS item, i.kind FROM customers c FULL JOIN items i ON c.id = i.id",
    ),
    Query("cross_join", "SELECT c.name, i.kind, i.weight FROM customers c CROSS JOIN items i WHERE c.vip"),
    Query(
        "semi_join",
        "SELECT o.id, o.cust, o.note FROM orders o LEFT SEMI JOIN customers c ON o.cust = c.id AND c.vip",
        "SELECT o.id, o.cust, o.note FROM orders o SEMI JOIN customers c ON o.cust = c.id AND c.vip",
    ),
    Query(
        "anti_join",
        "SELECT o.id, o.item FROM orders o LEFT ANTI JOIN items i ON o.item = i.id",
        "SELECT o.id, o.item FROM orders o ANTI JOIN items i ON o.item = i.id",
    ),
    Query(
        "band_join",
        "SELECT o.id, i.kind FROM orders o JOIN items i ON o.qty < i.weight AND o.item <> i.id AND o.id % 4 = 0",
    ),
    Query(
        "natural_and_using",
        """SELECT id, name, kind, qty FROM customers NATURAL JOIN items
           LEFT JOIN (SELECT id, qty FROM orders WHERE qty > 2) AS o USING (id)""",
    ),
    Query(
        "self_join",
        "SELECT a.id, b.id AS other, a.qty FROM orders a JOIN orders b ON a.cust = b.cust AND a.id < b.id",
    ),
    Query(
        "three_way_join",
        """SELECT o.id, c.region, i.kind, o.price FROM orders o
           JOIN customers c ON o.cust = c.id JOIN items i ON i.id = o.item WHERE o.qty IS NOT NULL""",
    ),
    Query(
        "mixed_joins",
        """SELECT o.id, c.name, i.kind FROM orders o
           LEFT JOIN customers c ON o.cust = c.id LEFT JOIN items i ON i.id = o.item AND i.weight > o.qty""",
    ),
    Query(
        "union_all",
        """SELECT id, note AS label FROM orders WHERE qty > 4
           UNION ALL SELECT id, name FROM customers UNION ALL SELECT id, kind FROM items""",
    ),
    Query(
        "in_and_exists",
        """SELECT o.id, o.cust, o.qty FROM orders o
           WHERE o.cust IN (SELECT id FROM customers WHERE region <> 'south')
             AND EXISTS (SELECT 1 FROM items i WHERE i.id = o.item AND i.weight > o.qty)""",
    ),
    Query(
        "not_in_subquery",
        """SELECT id, cust FROM orders WHERE cust NOT IN (SELECT id FROM customers WHERE vip AND id IS NOT NULL)
           UNION ALL SELECT id, NULL FROM orders WHERE item NOT IN (SELECT id FROM items WHERE weight > 19)""",
    ),
    Query(
        "not_exists_subquery",
        """SELECT c.id, c.name, c.vip FROM customers c
           WHERE NOT EXISTS (SELECT * FROM orders o WHERE o.cust = c.id AND o.note = c.region OR o.id = c.id)""",
    ),
)
