-- the first of each group (postgres)
SELECT DISTINCT ON (cust) cust, id, amount FROM o ORDER BY cust, amount DESC, id;

-- by an expression (postgres)
SELECT DISTINCT ON (day % 2) day % 2 AS odd, id FROM o ORDER BY day % 2, id DESC;

-- by two keys (postgres)
SELECT DISTINCT ON (cust, tag) cust, tag, day FROM o ORDER BY cust, tag, day DESC, id;

-- with a limit (postgres)
SELECT DISTINCT ON (cust) cust, id FROM o ORDER BY cust, id LIMIT 2;

-- over groups (postgres)
SELECT DISTINCT ON (cust) cust, tag, count(*) AS n FROM o GROUP BY cust, tag ORDER BY cust, count(*) DESC, tag;

-- over a join (postgres)
SELECT DISTINCT ON (c.region) c.region, o.id FROM c JOIN o ON o.cust = c.id ORDER BY c.region, o.amount DESC, o.id;
