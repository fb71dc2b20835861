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
