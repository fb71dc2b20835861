-- an array in order, NULLs kept (postgres)
SELECT cust, array_agg(amount ORDER BY amount DESC) AS l FROM o GROUP BY cust;

-- an array of no rows is NULL (postgres)
SELECT array_agg(id ORDER BY id) FILTER (WHERE amount > 80) AS l, array_agg(amount ORDER BY id, cust) AS m FROM o;

-- an array by another order (postgres)
SELECT tag, array_agg(id ORDER BY amount NULLS FIRST, id) AS l FROM o GROUP BY tag;

-- an array of those that differ (postgres)
SELECT cust, array_agg(DISTINCT tag ORDER BY tag) AS l FROM o GROUP BY cust;

-- words in order (postgres)
SELECT cust, string_agg(tag, ',' ORDER BY tag) AS l FROM o GROUP BY cust;

-- casts (postgres)
SELECT id, m::text AS t, '5'::int + k AS n, f::int AS i FROM v WHERE f > 0;

-- ILIKE and patterns (postgres)
SELECT id FROM o WHERE tag ILIKE 'A%' OR tag ~ '^b';

-- intervals (postgres)
SELECT id, ts + interval '1 day' AS later FROM v;

-- months and days of the week (postgres)
SELECT date_trunc('month', d) AS month, count(*) AS n FROM v GROUP BY 1;

-- among listed values (postgres)
SELECT id FROM o WHERE cust = ANY (ARRAY[1, 5]) AND amount <> ALL (ARRAY[cust, 15]);

-- IS DISTINCT FROM and IS NOT TRUE (postgres)
SELECT id FROM v WHERE ok IS NOT TRUE AND k IS DISTINCT FROM 2;

-- rows compared (postgres)
SELECT id FROM o WHERE (cust, day) > (1, 2);

-- NULLs come last upward and first downward (postgres)
SELECT id, amount FROM o ORDER BY amount DESC, id LIMIT 3;

-- words put together (postgres)
SELECT id, tag || '-' || amount AS t FROM o;

-- GROUPING of several (postgres)
SELECT cust, tag, grouping(cust, tag) AS g, count(*) AS n FROM o GROUP BY GROUPING SETS ((cust, tag), (cust), ());

-- lateral, the largest of each (postgres)
SELECT c.id, t.amount FROM c LEFT JOIN LATERAL (SELECT amount FROM o WHERE o.cust = c.id ORDER BY amount DESC NULLS LAST LIMIT 1) t ON true;

-- parts of words (postgres)
SELECT id FROM o WHERE position('a' IN tag) > 0 AND left(tag, 1) = 'a';

-- a comma, then RIGHT JOIN, which comes first (postgres)
SELECT c.id, o.id AS ord, i.sku FROM c, o RIGHT JOIN i ON i.ord = o.id;
DUCKDB SELECT c.id, t.ord, t.sku FROM c CROSS JOIN (SELECT o.id AS ord, i.sku FROM o RIGHT JOIN i ON i.ord = o.id) t;

-- a comma, then FULL JOIN of a query, and another comma (postgres)
SELECT c.id, t.n, i.qty, u.x FROM c, (SELECT id, 1 AS n FROM o) t FULL JOIN i ON i.ord = t.id, (VALUES (1), (2)) u(x);
DUCKDB SELECT c.id, t.n, t.qty, u.x FROM c CROSS JOIN (SELECT t.n, i.qty FROM (SELECT id, 1 AS n FROM o) t FULL JOIN i ON i.ord = t.id) t CROSS JOIN (VALUES (1), (2)) u(x);

-- a comma, then USING (postgres)
SELECT c.name, o.day, t.qty FROM c, o JOIN (SELECT ord AS id, qty FROM i) t USING (id);
DUCKDB SELECT c.name, o.day, t.qty FROM c CROSS JOIN o JOIN (SELECT ord AS id, qty FROM i) t ON t.id = o.id;

-- casts that round (postgres)
SELECT id, (m * 3)::int AS n, (f * 10)::bigint AS e, 1.7::int + k AS two, '5'::int AS five FROM v;

-- days between days, and days of the week (postgres)
SELECT id, d - date '2024-01-01' AS days, max(d) OVER (PARTITION BY k) - d AS behind, extract(dow from d) AS w, extract(isodow from d) AS iso, d + 1 AS next FROM v;

-- logarithms to base ten (postgres)
SELECT id, log(amount) AS l, ln(amount) AS n FROM o WHERE amount > 0;

-- all but the last and all but the first (postgres)
SELECT id, left(name, -1) AS l, right(name, -2) AS r, left(name, 2) AS b, left(name, id - 3) AS x FROM c;

-- every match replaced, and days as text (postgres)
SELECT v.id, regexp_replace(name, '[a-z]', '_', 'g') AS r, to_char(d, 'YYYY-MM-DD') AS t FROM c JOIN v ON v.id = c.id;
