-- the largest
SELECT id, amount FROM o ORDER BY amount DESC NULLS LAST, id LIMIT 2;

-- with OFFSET
SELECT id, day FROM o ORDER BY day NULLS LAST, id LIMIT 2 OFFSET 1;

-- FETCH FIRST (postgres)
SELECT id FROM o ORDER BY id FETCH FIRST 3 ROWS ONLY;

-- OFFSET without LIMIT
SELECT id FROM o ORDER BY id OFFSET 4;

-- over groups
SELECT cust, count(*) AS n FROM o GROUP BY cust ORDER BY n DESC, cust NULLS LAST LIMIT 2;

-- over a join
SELECT c.name, o.amount FROM c JOIN o ON o.cust = c.id ORDER BY o.amount DESC NULLS LAST, c.name LIMIT 3;

-- over DISTINCT
SELECT DISTINCT tag FROM o ORDER BY tag NULLS LAST LIMIT 2;

-- by what is not chosen
SELECT id FROM o ORDER BY amount DESC NULLS LAST, id LIMIT 2;

-- in FROM, then joined
SELECT c.name, t.id FROM (SELECT id, cust FROM o ORDER BY id DESC LIMIT 3) t JOIN c ON c.id = t.cust;

-- in FROM, then grouped
SELECT count(*) AS n, sum(amount) AS s FROM (SELECT amount FROM o ORDER BY amount DESC NULLS LAST, id LIMIT 3);

-- of a union
SELECT id FROM o UNION ALL SELECT id FROM c ORDER BY id DESC LIMIT 4;

-- an order that is ignored
SELECT id FROM o ORDER BY amount;

-- FETCH FIRST WITH TIES (postgres)
SELECT id, amount FROM o ORDER BY amount DESC NULLS LAST FETCH FIRST 2 ROWS WITH TIES;
DUCKDB SELECT id, amount FROM (SELECT id, amount, rank() OVER (ORDER BY amount DESC NULLS LAST) AS r FROM o) WHERE r <= 2;

-- ORDER BY ALL
SELECT cust, id FROM o ORDER BY ALL LIMIT 3;

-- ORDER BY ALL of a union, downward
SELECT cust AS k, id FROM o UNION ALL SELECT id, credit FROM c ORDER BY ALL DESC LIMIT 3;

-- a limit to be reckoned
SELECT id FROM c ORDER BY id LIMIT 1 + 1 OFFSET 2 - 1;

-- by days, then by decimals
SELECT id, d, m FROM v ORDER BY d DESC NULLS LAST, m, id LIMIT 3;

-- with lists and structs beside
SELECT id, l, p FROM v ORDER BY id DESC, ts LIMIT 3;

-- of a union, each with its own limit
(SELECT id FROM o ORDER BY id LIMIT 2) UNION ALL (SELECT id FROM c ORDER BY id DESC LIMIT 2);

-- joined with itself
WITH t AS (SELECT id, cust, amount FROM o ORDER BY amount DESC NULLS LAST, id, cust LIMIT 4) SELECT a.id, b.id AS other FROM t a JOIN t b ON a.cust = b.cust;
