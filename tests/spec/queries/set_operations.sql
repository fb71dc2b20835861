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
