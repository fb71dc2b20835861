-- PIVOT with one aggregate
SELECT * FROM (SELECT cust, tag, amount FROM o) PIVOT (sum(amount) FOR tag IN ('a', 'b'));
DUCKDB SELECT cust, sum(amount) FILTER (tag = 'a') AS a, sum(amount) FILTER (tag = 'b') AS b FROM o GROUP BY cust;

-- PIVOT with two aggregates and names
SELECT * FROM (SELECT cust, tag, amount FROM o) PIVOT (sum(amount) AS s, max(amount) AS m FOR tag IN ('a' AS x, 'c' AS z)) p;
DUCKDB SELECT cust, sum(amount) FILTER (tag = 'a'), max(amount) FILTER (tag = 'a'), sum(amount) FILTER (tag = 'c'), max(amount) FILTER (tag = 'c') FROM o GROUP BY cust;

-- a count in PIVOT is NULL where nothing is counted
SELECT * FROM (SELECT cust, tag FROM o) PIVOT (count(*) FOR tag IN ('a', 'b'));
DUCKDB SELECT cust, nullif(count(*) FILTER (tag = 'a'), 0) AS a, nullif(count(*) FILTER (tag = 'b'), 0) AS b FROM o GROUP BY cust;

-- PIVOT by two columns
SELECT * FROM (SELECT cust, tag, day, amount FROM o) PIVOT (max(amount) FOR (tag, day) IN (('a', 1) AS a1, ('b', 2) AS b2));
DUCKDB SELECT cust, max(amount) FILTER (tag = 'a' AND day = 1), max(amount) FILTER (tag = 'b' AND day = 2) FROM o GROUP BY cust;

-- PIVOT joined and filtered
SELECT c.name, p.a FROM (SELECT cust, tag, amount FROM o) PIVOT (sum(amount) FOR tag IN ('a', 'b')) p JOIN c ON c.id = p.cust WHERE p.a > 10;
DUCKDB SELECT name, a FROM (SELECT cust, sum(amount) FILTER (tag = 'a') AS a FROM o GROUP BY cust) p JOIN c ON c.id = p.cust WHERE a > 10;

-- UNPIVOT leaves out NULLs
SELECT * FROM (SELECT id, amount, day FROM o) UNPIVOT (v FOR n IN (amount, day));
DUCKDB SELECT id, 'amount' AS n, amount AS v FROM o WHERE amount IS NOT NULL UNION ALL SELECT id, 'day', day FROM o WHERE day IS NOT NULL;

-- UNPIVOT with NULLs and names
SELECT * FROM (SELECT id, amount, day FROM o) UNPIVOT INCLUDE NULLS (v FOR n IN (amount AS much, day AS moment));
DUCKDB SELECT id, 'much' AS n, amount AS v FROM o UNION ALL SELECT id, 'moment', day FROM o;

-- UNPIVOT of pairs
SELECT * FROM (SELECT id, cust, amount, day FROM o) UNPIVOT ((v, w) FOR n IN ((amount, day) AS p, (cust, id) AS q));
DUCKDB SELECT 'p' AS n, amount AS v, day AS w FROM o WHERE amount IS NOT NULL OR day IS NOT NULL UNION ALL SELECT 'q', cust, id FROM o;

-- UNPIVOT, then grouped
SELECT n, sum(v) AS s FROM (SELECT id, amount, day FROM o) UNPIVOT (v FOR n IN (amount, day)) GROUP BY n;
DUCKDB SELECT n, sum(v) FROM (SELECT 'amount' AS n, amount AS v FROM o UNION ALL SELECT 'day', day FROM o) WHERE v IS NOT NULL GROUP BY n;

-- PIVOT by numbers below zero and NULL
SELECT * FROM (SELECT cust, amount, day - 3 AS d FROM o) PIVOT (sum(amount) FOR d IN (-1, 0, NULL));
DUCKDB SELECT cust, sum(amount) FILTER (day = 2), sum(amount) FILTER (day = 3), sum(amount) FILTER (day IS NULL) FROM o GROUP BY cust;

-- of a join
SELECT * FROM o JOIN i ON i.ord = o.id PIVOT (sum(qty) FOR sku IN ('x', 'y'));
DUCKDB SELECT o.id, cust, amount, day, tag, ord, sum(qty) FILTER (sku = 'x') AS x, sum(qty) FILTER (sku = 'y') AS y FROM o JOIN i ON i.ord = o.id GROUP BY ALL;

-- of a join, counted, by USING
SELECT count(*) AS n FROM (SELECT id AS ord, cust FROM o) t JOIN i USING (ord) PIVOT (sum(qty) FOR sku IN ('x', 'y'));
DUCKDB SELECT count(*) AS n FROM (SELECT DISTINCT ord, cust FROM (SELECT id AS ord, cust FROM o) t JOIN i USING (ord));

-- of all that stands before it, a comma between
SELECT * FROM (SELECT region FROM c) r, i PIVOT (sum(qty) FOR sku IN ('x', 'z'));
DUCKDB SELECT region, ord, sum(qty) FILTER (sku = 'x') AS x, sum(qty) FILTER (sku = 'z') AS z FROM (SELECT region FROM c) r CROSS JOIN i GROUP BY ALL;

-- of a join, by the names its columns had, and joined again
SELECT o.cust, i.ord, x, c.name FROM o JOIN i ON i.ord = o.id PIVOT (sum(qty) FOR sku IN ('x')) JOIN c ON c.id = o.cust;
DUCKDB SELECT t.cust, t.ord, t.x, c.name FROM (SELECT o.*, i.ord, sum(qty) FILTER (sku = 'x') AS x FROM o JOIN i ON i.ord = o.id GROUP BY ALL) t JOIN c ON c.id = t.cust;

-- UNPIVOT of a join
SELECT w.ord, w.what, w.n FROM (SELECT id AS ord, amount FROM o) t JOIN i USING (ord) UNPIVOT (n FOR what IN (amount, qty)) AS w;
DUCKDB SELECT ord, 'amount' AS what, amount AS n FROM (SELECT id AS ord, amount FROM o) t JOIN i USING (ord) WHERE amount IS NOT NULL UNION ALL SELECT ord, 'qty', qty FROM (SELECT id AS ord FROM o) t JOIN i USING (ord) WHERE qty IS NOT NULL;
