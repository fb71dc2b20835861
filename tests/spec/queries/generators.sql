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

-- explode keeps rows without a list
SELECT id, x FROM v LATERAL VIEW OUTER explode(l) t AS x;
DUCKDB SELECT id, unnest(l) AS x FROM v UNION ALL SELECT id, NULL FROM v WHERE l IS NULL OR len(l) = 0;

-- inline
SELECT id, x, y FROM v LATERAL VIEW inline(array(p, named_struct('x', k, 'y', s))) t AS x, y;
DUCKDB SELECT id, p.x AS x, p.y AS y FROM v UNION ALL SELECT id, k, s FROM v;

-- a view over a view
SELECT id, x, n FROM v LATERAL VIEW explode(l) a AS x LATERAL VIEW explode(sequence(1, x)) b AS n WHERE x < 5;
DUCKDB SELECT id, x, unnest(range(1, x + 1)) AS n FROM (SELECT id, unnest(l) AS x FROM v) WHERE x < 5;

-- grouped by what was exploded
SELECT x, count(DISTINCT id) AS n, sum(m) AS s FROM v LATERAL VIEW explode(l) t AS x GROUP BY x;
DUCKDB SELECT x, count(DISTINCT id) AS n, sum(m) AS s FROM (SELECT id, m, unnest(l) AS x FROM v) GROUP BY x;

-- LATERAL range
SELECT o.id, r.id AS n FROM o, LATERAL range(0, 3) r WHERE r.id < o.cust;
DUCKDB SELECT o.id, r.n FROM o, range(0, 3) r(n) WHERE r.n < o.cust;

-- a series for each row (postgres)
SELECT o.id, g.n FROM o, generate_series(1, o.cust) AS g(n);

-- a series that ends before it begins keeps its row (postgres)
SELECT o.id, g.n FROM o LEFT JOIN LATERAL generate_series(3, o.cust) AS g(n) ON TRUE;

-- a series downward, counted (postgres)
SELECT o.id, g.n, g.place FROM o, LATERAL generate_series(o.cust, 1, -1) WITH ORDINALITY AS g(n, place);

-- a series with a condition (postgres)
SELECT o.id, g.n FROM o JOIN generate_series(1, o.cust) AS g(n) ON g.n > 1;

-- days in a row (postgres)
SELECT g.day::date AS day, count(v.id) AS n FROM generate_series(date '2024-01-01', date '2024-01-05', interval '1 day') AS g(day) LEFT JOIN v ON v.d = g.day::date GROUP BY g.day::date;

-- days in a row for each row (postgres)
SELECT v.id, g.day::date AS day FROM v, generate_series(v.d, date '2024-01-03', interval '1 day') AS g(day);

-- beside a star, which does not show it
SELECT *, explode(l) AS e FROM (SELECT id, l FROM v);
DUCKDB SELECT id, l, unnest(l) AS e FROM v;

-- under a name that a column has, too
SELECT id, explode(l) AS id, id + 1 AS next FROM v;
DUCKDB SELECT id, unnest(l) AS e, id + 1 AS next FROM v;

-- by the name given to it
SELECT explode(l) AS e, e + id AS n FROM v;
DUCKDB SELECT e, e + id AS n FROM (SELECT id, unnest(l) AS e FROM v);

-- of no table
SELECT id, n FROM v JOIN (SELECT explode(array(1, 2)) AS n) t ON t.n = v.k;
DUCKDB SELECT id, k AS n FROM v WHERE k IN (1, 2);

-- fields of a struct, all of them
SELECT id, p.*, v.p.* EXCEPT (y) FROM v;
DUCKDB SELECT id, p.x, p.y, p.x AS z FROM v;

-- fields of structs that were in a list
SELECT id, e.* FROM v LATERAL VIEW explode(array(p)) t AS e;
DUCKDB SELECT id, p.x, p.y FROM v;

-- a star among arguments
SELECT id, array(*) AS a, struct(t.*).cust AS c FROM (SELECT id, cust FROM o) t;
DUCKDB SELECT id, [id, cust] AS a, cust AS c FROM o;

-- a star among arguments, of a join
SELECT array_size(array(*)) AS n, count(*) AS m FROM (SELECT id FROM c) c JOIN (SELECT cust, day FROM o) o ON o.cust = c.id WHERE coalesce(*) > 1 GROUP BY array_size(array(*));
DUCKDB SELECT 3 AS n, count(*) AS m FROM c JOIN o ON o.cust = c.id WHERE c.id > 1 GROUP BY 1;

-- fields of a struct among arguments
SELECT id, struct(p.*, k AS z).x AS x, coalesce(p.* EXCEPT (y), k) AS n FROM v;
DUCKDB SELECT id, p.x, coalesce(p.x, k) AS n FROM v;
