-- UNION
SELECT cust FROM o UNION SELECT id FROM c;

-- UNION ALL
SELECT cust FROM o UNION ALL SELECT id FROM c;

-- INTERSECT
SELECT cust FROM o INTERSECT SELECT id FROM c;

-- INTERSECT ALL
SELECT amount FROM o INTERSECT ALL SELECT credit FROM c;

-- EXCEPT
SELECT id FROM c EXCEPT SELECT cust FROM o;

-- EXCEPT ALL
SELECT cust FROM o EXCEPT ALL SELECT id FROM c;

-- NULL equals NULL
SELECT credit FROM c INTERSECT SELECT amount FROM o;

-- three of them, nested
(SELECT cust FROM o UNION SELECT qty FROM i) EXCEPT SELECT id FROM c WHERE credit > 60;

-- other numeric types on the two sides
SELECT id, CAST(amount AS BIGINT) AS v FROM o UNION SELECT id, CAST(credit AS DOUBLE) FROM c;

-- by name
SELECT id, credit AS v FROM c UNION ALL BY NAME SELECT amount AS v, id FROM o;

-- by name, distinct
SELECT tag AS t, cust AS k FROM o UNION BY NAME SELECT id AS k, name AS t FROM c;

-- of aggregates
SELECT tag, count(*) AS n FROM o GROUP BY tag UNION ALL SELECT 'all', count(*) FROM o;

-- as a derived table, grouped
SELECT k, count(*) AS n FROM (SELECT cust AS k FROM o UNION ALL SELECT qty FROM i) GROUP BY k;

-- of several columns
SELECT cust, tag FROM o INTERSECT SELECT cust, tag FROM o WHERE amount > 30;

-- INTERSECT binds closer
SELECT cust FROM o UNION SELECT id FROM c INTERSECT SELECT qty FROM i;

-- ALL within ALL
(SELECT cust FROM o UNION ALL SELECT qty FROM i) EXCEPT ALL (SELECT id FROM c INTERSECT ALL SELECT cust FROM o);

-- numbers and decimals
SELECT k AS x FROM v UNION SELECT m FROM v UNION ALL SELECT qty FROM i;

-- days and moments
SELECT d AS x FROM v UNION SELECT ts FROM v;

-- nothing beside numbers
SELECT id, NULL AS x FROM v UNION ALL SELECT ord, qty FROM i;

-- lists
SELECT l FROM v EXCEPT SELECT array(ord, qty) FROM i;

-- structs
SELECT p FROM v UNION SELECT named_struct('x', qty, 'y', sku) FROM i;

-- of groups
SELECT cust, count(*) AS n FROM o GROUP BY cust EXCEPT SELECT id, 1 FROM c;

-- numbers and texts of them
SELECT day FROM o UNION SELECT concat('0', qty) FROM i;
DUCKDB SELECT day FROM o UNION SELECT qty FROM i;

-- numbers and texts, those that are in both
SELECT concat('0', qty) AS n FROM i INTERSECT ALL SELECT day FROM o;
DUCKDB SELECT qty AS n FROM i INTERSECT ALL SELECT day FROM o;

-- decimals and texts
SELECT m FROM v UNION SELECT concat('0', k, '.0') FROM v;
DUCKDB SELECT CAST(m AS DOUBLE) AS m FROM v UNION SELECT CAST(k AS DOUBLE) FROM v;

-- dates and texts
SELECT d FROM v EXCEPT SELECT concat('2024-1-', k) FROM v WHERE k > 0;
DUCKDB SELECT d FROM v EXCEPT SELECT make_date(2024, 1, k) FROM v WHERE k > 0;

-- booleans and texts
SELECT ok FROM v UNION SELECT concat('tr', 'ue') FROM o;
DUCKDB SELECT ok FROM v UNION SELECT true FROM o;

-- lists of numbers and of texts
SELECT l FROM v UNION SELECT array(concat('0', qty)) FROM i;
DUCKDB SELECT l FROM v UNION SELECT [qty] FROM i;

-- ORDER BY a field of a struct
SELECT id AS x, p FROM v UNION SELECT k, p FROM v ORDER BY p.x DESC NULLS LAST, x LIMIT 3;
DUCKDB SELECT * FROM (SELECT id AS x, p FROM v UNION SELECT k, p FROM v) ORDER BY struct_extract(p, 'x') DESC NULLS LAST, x NULLS FIRST LIMIT 3;

-- ORDER BY an expression
SELECT id, day FROM o UNION SELECT ord, qty FROM i ORDER BY id + coalesce(day, 0) DESC, id LIMIT 3;
DUCKDB SELECT * FROM (SELECT id, day FROM o UNION SELECT ord, qty FROM i) ORDER BY id + coalesce(day, 0) DESC NULLS LAST, id LIMIT 3;

-- ORDER BY a column under the name of its table
SELECT o.id, o.day FROM o UNION ALL SELECT ord, qty FROM i ORDER BY o.id DESC, day LIMIT 3;
DUCKDB SELECT o.id, o.day FROM o UNION ALL SELECT ord, qty FROM i ORDER BY id DESC NULLS LAST, day NULLS FIRST LIMIT 3;

-- VALUES with a LIMIT
WITH w AS (VALUES (1), (2), (3) ORDER BY col1 DESC LIMIT 2) SELECT o.id, w.col1 FROM o JOIN w ON w.col1 = o.day;
DUCKDB SELECT id, day FROM o WHERE day IN (2, 3);
