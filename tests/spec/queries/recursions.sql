-- reachable
WITH RECURSIVE r AS (SELECT ord AS a, qty AS b FROM i UNION SELECT r.a, i.qty FROM r JOIN i ON i.ord = r.b) SELECT a, b FROM r;

-- from a table of its own
WITH RECURSIVE r AS (SELECT id AS n FROM c WHERE credit > 60 UNION SELECT o.day FROM r JOIN o ON o.cust = r.n) SELECT n FROM r;

-- grouped above
WITH RECURSIVE r AS (SELECT cust AS a, day AS b FROM o UNION SELECT r.a, o.day FROM r JOIN o ON o.cust = r.b) SELECT a, count(*) AS n FROM r GROUP BY a;

-- with its depth, copies kept
WITH RECURSIVE r(n, d) AS (SELECT id, 0 FROM c UNION ALL SELECT o.day, r.d + 1 FROM r JOIN o ON o.cust = r.n WHERE r.d < 2) SELECT n, d FROM r;

-- numbers in a row beside a table
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT r.n, count(o.id) AS orders FROM r LEFT JOIN o ON o.cust = r.n GROUP BY r.n;

-- past what others hold
WITH RECURSIVE r AS (SELECT cust AS n FROM o WHERE cust IS NOT NULL UNION SELECT o.day FROM r JOIN o ON o.cust = r.n WHERE o.day NOT IN (SELECT qty FROM i WHERE qty IS NOT NULL)) SELECT n FROM r;

-- two that meet
WITH RECURSIVE r AS (SELECT day AS n FROM o WHERE cust = 1 UNION SELECT o.day FROM r JOIN o ON o.cust = r.n), s AS (SELECT cust AS n FROM o WHERE day > 3 UNION SELECT o.cust FROM s JOIN o ON o.day = s.n) SELECT n FROM r INTERSECT SELECT n FROM s;

-- inside a subquery
SELECT id FROM c WHERE id IN (WITH RECURSIVE r AS (SELECT day AS n FROM o WHERE cust = 1 UNION SELECT o.day FROM r JOIN o ON o.cust = r.n) SELECT n FROM r);

-- one upon another
WITH RECURSIVE r AS (SELECT cust AS a, day AS b FROM o UNION SELECT r.a, o.day FROM r JOIN o ON o.cust = r.b), s AS (SELECT a AS n FROM r WHERE b = 5 UNION SELECT i.ord FROM s JOIN i ON i.qty = s.n) SELECT n FROM s;

-- in PostgreSQL's words (postgres)
WITH RECURSIVE r(a, b) AS (SELECT cust, day FROM o UNION SELECT r.a, o.day FROM r JOIN o ON o.cust = r.b) SELECT a, max(b) AS far FROM r GROUP BY a;
