"""Queries over queries: subqueries in FROM, views, CTEs, scalar subqueries, stream tables, another dialect."""

from __future__ import annotations

from trickle.testing.streams.query import Query

VIEW = ("rich_orders", "SELECT id, cust, qty, price FROM orders WHERE price > 20")
"""A view that a query reads: name and text, the same for both engines."""

LAYERED_QUERIES = (
    Query(
        "joined_groups",
        """WITH per AS (SELECT cust, count(*) AS n, max(qty) AS most FROM orders GROUP BY cust)
           SELECT c.name, per.n, per.most FROM customers c LEFT JOIN per ON per.cust = c.id""",
    ),
    Query(
        "groups_of_groups",
        """SELECT n, count(*) AS custs, sum(total) AS total FROM
             (SELECT cust, count(*) AS n, sum(qty) AS total FROM orders GROUP BY cust) AS per
           GROUP BY n""",
        """SELECT n, count(*) AS custs, sum(total)::BIGINT AS total FROM
             (SELECT cust, count(*) AS n, sum(qty) AS total FROM orders GROUP BY cust) AS per
           GROUP BY n""",
    ),
    Query(
        "correlated_count",
        """SELECT c.id, c.name, (SELECT count(*) FROM orders o WHERE o.cust = c.id AND o.qty > 2) AS n,
                  (SELECT max(weight) FROM items) AS heaviest
           FROM customers c""",
    ),
    Query(
        "through_a_view",
        "SELECT c.region, count(*) AS n FROM rich_orders r JOIN customers c ON r.cust = c.id GROUP BY c.region",
    ),
    Query(
        "on_a_stream_table",
        "SELECT n, count(*) AS custs, max(price) AS most FROM counted WHERE cust IS NOT NULL GROUP BY n",
    ),
    Query(
        "on_two_stream_tables",
        """SELECT j.region, count(*) AS n, sum(s.known) AS known FROM inner_join j JOIN counted s ON j.qty = s.n
           GROUP BY j.region""",
        """SELECT j.region, count(*) AS n, sum(s.known)::BIGINT AS known FROM inner_join j JOIN counted s ON j.qty = s.n
           GROUP BY j.region""",
    ),
)
POSTGRES_QUERIES = (
    Query(
        "postgres_words",
        """SELECT o.cust::bigint AS cust, count(*) FILTER (WHERE o.qty > 3) AS many, max(o.note || '!') AS loud,
                  bool_or(o.qty IS DISTINCT FROM 4) AS other
           FROM orders o GROUP BY o.cust""",
        dialect="postgres",
    ),
)
