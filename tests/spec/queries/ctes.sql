-- used once
WITH t AS (SELECT cust, sum(amount) AS s FROM o GROUP BY cust) SELECT cust FROM t WHERE s > 50;

-- used twice
WITH t AS (SELECT cust, sum(amount) AS s FROM o GROUP BY cust) SELECT a.cust, b.cust AS other FROM t a JOIN t b ON a.s < b.s;

-- one upon another
WITH t AS (SELECT cust, amount FROM o WHERE amount > 20), u AS (SELECT cust, count(*) AS n FROM t GROUP BY cust) SELECT c.name, u.n FROM u JOIN c ON c.id = u.cust;

-- with names for columns
WITH t(k, v) AS (SELECT cust, amount FROM o) SELECT k, max(v) AS m FROM t GROUP BY k;

-- nested
SELECT n FROM (WITH t AS (SELECT count(*) AS n FROM o) SELECT n FROM t);

-- inside a subquery
SELECT id FROM c WHERE id IN (WITH t AS (SELECT cust FROM o WHERE tag = 'a') SELECT cust FROM t);

-- the one that stands nearer
WITH t AS (SELECT id FROM o) SELECT id FROM (WITH t AS (SELECT id FROM c) SELECT id FROM t) UNION ALL SELECT id FROM t;

-- compared with its own average
WITH t AS (SELECT cust, sum(amount) AS s FROM o GROUP BY cust) SELECT cust FROM t WHERE s >= (SELECT avg(s) FROM t);

-- the inner one hides the outer one
WITH t AS (SELECT id FROM o), u AS (WITH t AS (SELECT qty AS id FROM i) SELECT id FROM t) SELECT t.id, count(*) AS n FROM t LEFT JOIN u ON u.id < t.id GROUP BY t.id;

-- three times, each at another level
WITH t AS (SELECT cust, count(*) AS n FROM o GROUP BY cust), u AS (SELECT n, count(*) AS z FROM t GROUP BY n) SELECT t.cust, u.z, (SELECT max(n) FROM t) AS most FROM t JOIN u USING (n);
