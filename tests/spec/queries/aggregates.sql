-- decimals, doubles and what they make together
SELECT k, sum(m) AS s, avg(m) AS a, sum(m * k) AS mk, sum(f) AS f FROM v GROUP BY k;

-- days, moments, lists and structs at their extremes
SELECT k, min(d) AS d, max(ts) AS ts, max(l) AS l FROM v GROUP BY k;

-- grouped by a struct and a list
SELECT p, l, count(*) AS n FROM v GROUP BY p, l;

-- grouped by a field, summing another
SELECT p.y AS y, sum(p.x) AS x FROM v GROUP BY p.y;

-- grouped by truth and by NULL
SELECT ok, m IS NULL AS without, count(*) AS n FROM v GROUP BY ok, m IS NULL;

-- grouped by months
SELECT date_trunc('MONTH', ts) AS month, count(*) AS n, max(ts) AS latest FROM v GROUP BY date_trunc('MONTH', ts);

-- grouped by a word that is written out
SELECT 'all' AS kind, day % 2 AS odd, sum(amount) + count(*) * 2 - min(id) AS x FROM o GROUP BY 'all', day % 2;

-- grouped by a number that is written out
SELECT 1 AS one, sum(amount) AS s FROM o GROUP BY 1;

-- pairs that differ
SELECT tag, count(DISTINCT cust, amount) AS pairs, count(DISTINCT amount) AS n FROM o GROUP BY tag;
DUCKDB SELECT tag, count(DISTINCT CASE WHEN cust IS NOT NULL AND amount IS NOT NULL THEN (cust, amount) END), count(DISTINCT amount) FROM o GROUP BY tag;

-- the value that goes with the largest
SELECT tag, max_by(id, amount * 100 + id) AS largest, min_by(id, amount * 100 + id) AS smallest FROM o GROUP BY tag;

-- percentiles
SELECT cust, percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) AS middle, percentile_disc(0.5) WITHIN GROUP (ORDER BY amount DESC) AS one_of_them FROM o GROUP BY cust;

-- sorted lists of all and of those that differ
SELECT cust, sort_array(collect_list(amount)) AS l, array_sort(collect_set(tag)) AS t FROM o WHERE amount IS NOT NULL AND tag IS NOT NULL GROUP BY cust;
DUCKDB SELECT cust, list_sort(list(amount)) AS l, list_sort(list(DISTINCT tag)) AS t FROM o WHERE amount IS NOT NULL AND tag IS NOT NULL GROUP BY cust;

-- words in a row
SELECT cust, listagg(tag, ',') WITHIN GROUP (ORDER BY tag) AS tags FROM o GROUP BY cust;

-- DISTINCT beside FILTER
SELECT cust, count(DISTINCT tag) FILTER (WHERE amount > 10) AS n, sum(amount) FILTER (WHERE tag = 'a') AS a FROM o GROUP BY cust;

-- bits
SELECT tag, bit_and(amount) AS a, bit_or(amount) AS o, bit_xor(amount) AS x FROM o GROUP BY tag;

-- the spread of decimals
SELECT tag, stddev_samp(amount) AS s, var_pop(amount) AS v, covar_pop(amount, day) AS c FROM o GROUP BY tag;

-- HAVING without keys, and a constant
SELECT 1 AS one FROM o HAVING count(*) > 4;

-- of no rows
SELECT count(*) AS n, sum(amount) AS s, max(tag) AS t FROM o WHERE amount > 80;

-- DISTINCT rows of lists and structs
SELECT DISTINCT l, p FROM v;

-- three levels of aggregates
SELECT n, count(*) AS many FROM (SELECT cust, min(m) AS n FROM (SELECT cust, tag, count(*) AS m FROM o GROUP BY cust, tag) GROUP BY cust) GROUP BY n;

-- an alias of the select list as a key, asked in HAVING
SELECT cust * 2 AS twice, count(*) AS n FROM o GROUP BY twice HAVING twice > 2;

-- any, some and every
SELECT k, any(ok) AS x, some(ok) AS y, every(ok) AS z FROM v GROUP BY k;
DUCKDB SELECT k, bool_or(ok) AS x, bool_or(ok) AS y, bool_and(ok) AS z FROM v GROUP BY k;

-- any of all rows
SELECT any(ok) AS x, any(id > 5) FILTER (WHERE k = 2) AS y FROM v;
DUCKDB SELECT bool_or(ok) AS x, bool_or(id > 5) FILTER (WHERE k = 2) AS y FROM v;

-- words in a row with nothing between them
SELECT cust, listagg(tag) WITHIN GROUP (ORDER BY tag) AS tags, string_agg(DISTINCT tag) WITHIN GROUP (ORDER BY tag) AS once FROM o GROUP BY cust;
DUCKDB SELECT cust, string_agg(tag, '' ORDER BY tag), string_agg(DISTINCT tag, '' ORDER BY tag) FROM o GROUP BY cust;
