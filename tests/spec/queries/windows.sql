-- row_number
SELECT id, row_number() OVER (PARTITION BY cust ORDER BY amount, id, day, tag) AS r FROM o;

-- rank, dense_rank, percent_rank and cume_dist
SELECT id, rank() OVER w AS r, dense_rank() OVER w AS d, percent_rank() OVER w AS p, cume_dist() OVER w AS c FROM o WINDOW w AS (PARTITION BY tag ORDER BY amount);

-- ntile
SELECT id, ntile(2) OVER (PARTITION BY cust ORDER BY day, id) AS half FROM o;

-- lag and lead
SELECT id, lag(amount) OVER (PARTITION BY cust ORDER BY day, id) AS before, lead(amount, 1, -1) OVER (PARTITION BY cust ORDER BY day, id) AS after FROM o;

-- first_value, last_value and nth_value
SELECT id, first_value(amount) OVER w AS f, last_value(amount) OVER w AS l, nth_value(amount, 2) OVER w AS n FROM o WINDOW w AS (PARTITION BY cust ORDER BY day, id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING);

-- running sum
SELECT id, sum(amount) OVER (PARTITION BY cust ORDER BY day, id) AS s FROM o;

-- a frame of rows
SELECT id, sum(amount) OVER (PARTITION BY cust ORDER BY day, id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS s FROM o;

-- a frame of values
SELECT id, count(*) OVER (PARTITION BY tag ORDER BY day RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS n FROM o;

-- an aggregate of the whole partition
SELECT id, amount - avg(amount) OVER (PARTITION BY cust) AS off FROM o;

-- no PARTITION BY
SELECT id, rank() OVER (ORDER BY amount DESC) AS r FROM o;

-- two windows with other partitions
SELECT id, count(*) OVER (PARTITION BY cust) AS a, count(*) OVER (PARTITION BY tag) AS b FROM o;

-- inside an expression
SELECT id, CASE WHEN row_number() OVER (PARTITION BY cust ORDER BY day, id) = 1 THEN 'first' ELSE 'later' END AS place FROM o;

-- QUALIFY
SELECT id, cust FROM o QUALIFY row_number() OVER (PARTITION BY cust ORDER BY amount DESC, id) = 1;

-- over groups
SELECT cust, sum(amount) AS s, rank() OVER (ORDER BY sum(amount) DESC) AS r FROM o GROUP BY cust;

-- a share of the whole
SELECT cust, sum(amount) * 100 / sum(sum(amount)) OVER () AS share FROM o WHERE amount IS NOT NULL GROUP BY cust;

-- over a join
SELECT c.region, o.id, rank() OVER (PARTITION BY c.region ORDER BY o.amount) AS r FROM c JOIN o ON o.cust = c.id;

-- filtered from outside
SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY cust ORDER BY day, id) AS r FROM o) WHERE r <= 1;

-- by an expression
SELECT id, count(*) OVER (PARTITION BY day % 2) AS n FROM o;

-- ignoring NULLs
SELECT id, last_value(amount) IGNORE NULLS OVER (PARTITION BY cust ORDER BY day, id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS l FROM o;
DUCKDB SELECT id, last_value(amount IGNORE NULLS) OVER (PARTITION BY cust ORDER BY day NULLS FIRST, id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS l FROM o;

-- grouped over a window
SELECT r, count(*) AS n FROM (SELECT rank() OVER (PARTITION BY cust ORDER BY amount) AS r FROM o) GROUP BY r;

-- the same name for a window outside and inside
SELECT id, sum(x) OVER w AS s FROM (SELECT id, tag, count(*) OVER w AS x FROM o WINDOW w AS (PARTITION BY cust)) WINDOW w AS (PARTITION BY tag);

-- a window built on another
SELECT id, sum(amount) OVER w2 AS s, count(*) OVER w AS n FROM o WINDOW w AS (PARTITION BY cust), w2 AS (w ORDER BY day, id, tag);

-- a named window with an order of its own
SELECT id, sum(amount) OVER (w ORDER BY id DESC) AS s FROM o WINDOW w AS (PARTITION BY tag);

-- QUALIFY over groups by an aggregate that is not chosen
SELECT cust, tag FROM o GROUP BY cust, tag QUALIFY rank() OVER (PARTITION BY cust ORDER BY sum(amount) DESC) = 1;

-- QUALIFY over groups with HAVING
SELECT cust, count(*) AS n FROM o GROUP BY cust HAVING sum(amount) > 10 QUALIFY row_number() OVER (ORDER BY count(*) DESC, cust) <= 2;

-- QUALIFY by a name of the select list
SELECT id, cust, dense_rank() OVER (PARTITION BY cust ORDER BY amount) AS r FROM o QUALIFY r = 1;

-- QUALIFY with a subquery
SELECT id FROM o QUALIFY rank() OVER (PARTITION BY cust ORDER BY id) <= (SELECT min(qty) FROM i);

-- FILTER over a window
SELECT id, count(*) FILTER (WHERE amount > 30) OVER (PARTITION BY cust) AS n, sum(amount) FILTER (WHERE tag = 'a') OVER (PARTITION BY cust ORDER BY day, id, tag) AS s FROM o;

-- FILTER over a window of groups
SELECT cust, count(*) AS n, sum(count(*)) FILTER (WHERE cust > 1) OVER () AS others FROM o GROUP BY cust;

-- a frame of days
SELECT id, count(*) OVER (PARTITION BY k ORDER BY d RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) AS n FROM v;

-- a frame that lies behind the row
SELECT id, max(m) OVER (PARTITION BY k ORDER BY id, s ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING) AS x FROM v;

-- from NULL down
SELECT id, sum(amount) OVER (PARTITION BY cust ORDER BY amount DESC NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS s FROM o;

-- lag of what is not NULL
SELECT id, lag(amount, 1) IGNORE NULLS OVER (PARTITION BY cust ORDER BY id, day, tag) AS l FROM o;
DUCKDB SELECT id, lag(amount, 1 IGNORE NULLS) OVER (PARTITION BY cust ORDER BY id, day NULLS FIRST, tag NULLS FIRST) AS l FROM o;

-- first and last that are not NULL
SELECT id, first_value(amount) IGNORE NULLS OVER (PARTITION BY tag ORDER BY id, day ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS f FROM o;
DUCKDB SELECT id, first_value(amount IGNORE NULLS) OVER (PARTITION BY tag ORDER BY id, day NULLS FIRST ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS f FROM o;

-- of days, moments and truths
SELECT id, max(d) OVER (PARTITION BY k) AS day, min(ts) OVER (PARTITION BY s) AS moment, bool_or(ok) OVER (PARTITION BY k) AS any_ok FROM v;

-- partitioned by what may be NULL, ordered by a struct
SELECT id, rank() OVER (PARTITION BY coalesce(s, 'none'), ok ORDER BY p) AS r FROM v;
DUCKDB SELECT id, rank() OVER (PARTITION BY coalesce(s, 'none'), ok ORDER BY p.x IS NULL AND p.y IS NULL DESC, p.x NULLS FIRST, p.y NULLS FIRST) AS r FROM v;

-- a window of a subquery's values
SELECT id, sum((SELECT count(*) FROM o WHERE o.cust = c.id)) OVER (PARTITION BY region) AS n FROM c;

-- any over a partition
SELECT id, any(ok) OVER (PARTITION BY k) AS x FROM v;
DUCKDB SELECT id, bool_or(ok) OVER (PARTITION BY k) AS x FROM v;

-- the value that goes with the largest of those that count
SELECT id, max_by(id, amount * 100 + id) FILTER (WHERE tag = 'a') OVER (PARTITION BY cust) AS largest, min_by(tag, amount * 100 + id) FILTER (WHERE amount > 20) OVER (PARTITION BY cust) AS smallest FROM o;

-- correlations of those that count
SELECT id, regr_count(amount, day) FILTER (WHERE tag = 'a') OVER (PARTITION BY cust) AS n, regr_avgx(amount, day) FILTER (WHERE tag = 'a') OVER (PARTITION BY cust) AS x FROM o;
