-- explode by LATERAL VIEW
SELECT id, x FROM o LATERAL VIEW explode(array(amount, day)) t AS x;
DUCKDB SELECT id, unnest([amount, day]) AS x FROM o;

-- explode in the select list
SELECT id, explode(array(amount, day)) AS x FROM o;
DUCKDB SELECT id, unnest([amount, day]) AS x FROM o;

-- posexplode with names
SELECT id, posexplode(array(amount, day)) AS (p, x) FROM o;
DUCKDB SELECT id, 0 AS p, amount AS x FROM o UNION ALL SELECT id, 1, day FROM o;

-- two LATERAL VIEWs
SELECT id, x, y FROM o LATERAL VIEW explode(array(1, 2)) t AS x LATERAL VIEW explode(array(amount, day)) u AS y;
DUCKDB SELECT id, x, y FROM o, (VALUES (1), (2)) t(x), LATERAL (SELECT unnest([amount, day]) AS y);

-- LATERAL explode
SELECT o.id, t.x FROM o, LATERAL explode(array(o.amount, o.day)) AS t(x);
DUCKDB SELECT id, unnest([amount, day]) AS x FROM o;

-- grouped over exploded
SELECT x, count(*) AS n FROM o LATERAL VIEW explode(array(tag, 'all')) t AS x GROUP BY x;
DUCKDB SELECT x, count(*) FROM (SELECT unnest([tag, 'all']) AS x FROM o) GROUP BY x;

-- unnest (postgres)
SELECT o.id, u.x FROM o, unnest(ARRAY[o.amount, o.day]) AS u(x);
DUCKDB SELECT id, unnest([amount, day]) AS x FROM o;

-- unnest with ordinality (postgres)
SELECT o.id, u.x, u.n FROM o, unnest(ARRAY[o.amount, o.day]) WITH ORDINALITY AS u(x, n);
DUCKDB SELECT id, amount, 1 FROM o UNION ALL SELECT id, day, 2 FROM o;

-- range in FROM
SELECT r.id AS n, count(o.id) AS orders FROM range(1, 9) r LEFT JOIN o ON o.day = r.id GROUP BY r.id;
DUCKDB SELECT n, count(o.id) FROM range(1, 9) r(n) LEFT JOIN o ON o.day = n GROUP BY n;

-- generate_series in FROM (postgres)
SELECT g.n, o.id FROM generate_series(1, 8) AS g(n) JOIN o ON o.day = g.n;

-- VALUES in FROM
SELECT v.k, o.id FROM (VALUES ('a', 1), ('b', 2)) AS v(k, n) JOIN o ON o.tag = v.k AND o.day >= v.n;

-- VALUES with NULL
SELECT v.n, o.id FROM (VALUES (60), (NULL)) AS v(n) LEFT JOIN o ON o.amount = v.n;

-- no FROM inside
SELECT id, (SELECT 7) AS seven FROM c;
