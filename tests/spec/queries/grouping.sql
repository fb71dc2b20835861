-- ROLLUP
SELECT cust, tag, sum(amount) AS s FROM o GROUP BY ROLLUP (cust, tag);

-- CUBE
SELECT cust, tag, count(*) AS n FROM o GROUP BY CUBE (cust, tag);

-- GROUPING SETS
SELECT cust, tag, count(*) AS n FROM o GROUP BY GROUPING SETS ((cust), (tag), ());

-- GROUPING tells NULL from absent
SELECT cust, grouping(cust) AS all_of_them, count(*) AS n FROM o GROUP BY ROLLUP (cust);

-- GROUPING_ID
SELECT cust, tag, grouping_id(cust, tag) AS g, count(*) AS n FROM o GROUP BY CUBE (cust, tag);
DUCKDB SELECT cust, tag, grouping(cust, tag) AS g, count(*) AS n FROM o GROUP BY CUBE (cust, tag);

-- ROLLUP over a join with HAVING
SELECT c.region, o.tag, sum(o.amount) AS s FROM c JOIN o ON o.cust = c.id GROUP BY ROLLUP (c.region, o.tag) HAVING sum(o.amount) > 20;

-- by an ordinal and an alias
SELECT day % 2 AS odd, tag, count(*) AS n FROM o GROUP BY odd, 2;

-- GROUP BY ALL
SELECT cust, tag, count(*) AS n FROM o GROUP BY ALL;

-- HAVING without GROUP BY
SELECT sum(amount) AS s FROM o HAVING count(*) > 4;

-- no keys: one row, even of nothing
SELECT count(*) AS n, sum(amount) AS s, min(day) AS d FROM o;

-- FILTER
SELECT cust, count(*) FILTER (WHERE amount > 30) AS much, count(*) AS n FROM o GROUP BY cust;

-- DISTINCT inside
SELECT cust, count(DISTINCT tag) AS t, sum(DISTINCT amount) AS s FROM o GROUP BY cust;

-- an aggregate of aggregates
SELECT max(n) AS most, avg(n) AS usual FROM (SELECT cust, count(*) AS n FROM o GROUP BY cust);

-- an aggregate joined with what it came from
SELECT o.id, o.amount - t.a AS off FROM o JOIN (SELECT cust, avg(amount) AS a FROM o GROUP BY cust) t ON t.cust = o.cust;

-- aggregates joined with each other
SELECT a.cust, a.n, b.items FROM (SELECT cust, count(*) AS n FROM o GROUP BY cust) a LEFT JOIN (SELECT o.cust, sum(i.qty) AS items FROM o JOIN i ON i.ord = o.id GROUP BY o.cust) b ON b.cust = a.cust;

-- min and max
SELECT tag, min(amount) AS low, max(amount) AS high FROM o GROUP BY tag;

-- median and quantiles
SELECT tag, median(amount) AS m FROM o GROUP BY tag;

-- variance
SELECT tag, var_pop(amount) AS v, count(amount) AS n FROM o GROUP BY tag;

-- bool_and and bool_or
SELECT cust, bool_and(amount > 30) AS every, bool_or(amount > 30) AS some FROM o GROUP BY cust;

-- WITH ROLLUP
SELECT cust, tag, count(*) AS n FROM o GROUP BY cust, tag WITH ROLLUP;
DUCKDB SELECT cust, tag, count(*) AS n FROM o GROUP BY ROLLUP (cust, tag);

-- WITH CUBE
SELECT cust, tag, count(*) AS n FROM o GROUP BY cust, tag WITH CUBE;
DUCKDB SELECT cust, tag, count(*) AS n FROM o GROUP BY CUBE (cust, tag);

-- GROUPING SETS behind the keys
SELECT cust, tag, count(*) AS n FROM o GROUP BY cust, tag GROUPING SETS ((cust), (tag));
DUCKDB SELECT cust, tag, count(*) AS n FROM o GROUP BY GROUPING SETS ((cust), (tag));

-- a key beside a ROLLUP
SELECT cust, tag, day, count(*) AS n FROM o GROUP BY cust, ROLLUP (tag, day);

-- two ROLLUPs
SELECT cust, tag, count(*) AS n FROM o GROUP BY ROLLUP (cust), ROLLUP (tag);

-- a ROLLUP of a pair
SELECT cust, tag, day, count(*) AS n FROM o GROUP BY ROLLUP ((cust, tag), day);

-- HAVING by GROUPING
SELECT cust, tag, count(*) AS n FROM o GROUP BY CUBE (cust, tag) HAVING grouping(cust) = 0 OR grouping_id(cust, tag) = 3;
DUCKDB SELECT cust, tag, count(*) AS n FROM o GROUP BY CUBE (cust, tag) HAVING grouping(cust) = 0 OR grouping(cust, tag) = 3;

-- ranked within each grouping set
SELECT cust, tag, sum(amount) AS s, rank() OVER (PARTITION BY grouping_id(cust, tag) ORDER BY sum(amount) DESC) AS r FROM o GROUP BY ROLLUP (cust, tag);
DUCKDB SELECT cust, tag, sum(amount) AS s, rank() OVER (PARTITION BY grouping(cust, tag) ORDER BY sum(amount) DESC NULLS LAST) AS r FROM o GROUP BY ROLLUP (cust, tag);

-- a ROLLUP of years and months
SELECT year(d) AS y, month(d) AS n, sum(m) AS s FROM v GROUP BY ROLLUP (year(d), month(d));

-- DISTINCT inside a ROLLUP
SELECT cust, count(DISTINCT tag) AS n FROM o GROUP BY ROLLUP (cust);

-- GROUPING_ID by the list before the sets
SELECT cust, tag, grouping_id() AS g, count(*) AS n FROM o GROUP BY cust, tag GROUPING SETS ((tag), (cust));
DUCKDB SELECT cust, tag, grouping(cust, tag) AS g, count(*) AS n FROM o GROUP BY GROUPING SETS ((tag), (cust));

-- a key of the list that is in no set
SELECT cust, day, count(*) AS n FROM o GROUP BY day, cust, tag GROUPING SETS ((tag), (cust));
DUCKDB SELECT cust, NULL AS day, count(*) AS n FROM o GROUP BY GROUPING SETS ((tag), (cust));

-- HAVING by an alias that is a column's name as well
SELECT cust, sum(amount) AS amount FROM o GROUP BY cust HAVING amount > 60 AND max(amount) < 80;
DUCKDB SELECT cust, sum(amount) AS amount FROM o GROUP BY cust HAVING sum(amount) > 60 AND max(amount) < 80;

-- HAVING by a key whose name is an alias as well
SELECT cust AS day, count(*) AS n FROM o GROUP BY cust, day HAVING day > 2;
DUCKDB SELECT cust AS day, count(*) AS n FROM o GROUP BY o.cust, o.day HAVING o.day > 2;

-- HAVING of one group by an alias
SELECT max(amount) AS amount FROM o HAVING amount > 60;
DUCKDB SELECT max(amount) AS amount FROM o HAVING max(amount) > 60;
