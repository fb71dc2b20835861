-- scalar, uncorrelated, in the select list
SELECT id, amount - (SELECT avg(amount) FROM o) AS above FROM o;

-- scalar, correlated, count over nothing is zero
SELECT id, (SELECT count(*) FROM o WHERE o.cust = c.id) AS orders FROM c;

-- scalar, correlated, sum over nothing is NULL
SELECT id, (SELECT sum(amount) FROM o WHERE o.cust = c.id) AS total FROM c;

-- scalar inside an expression and COALESCE
SELECT id, coalesce((SELECT max(amount) FROM o WHERE o.cust = c.id), -1) + 1 AS top FROM c;

-- scalar correlated by inequality
SELECT id, (SELECT count(*) FROM o p WHERE p.amount > o.amount) AS better FROM o;

-- scalar correlated by a range
SELECT id, (SELECT sum(p.amount) FROM o p WHERE p.day BETWEEN o.day - 1 AND o.day) AS near FROM o;

-- scalar that reads the query around in its select list
SELECT id, (SELECT max(o.amount + c.credit) FROM o WHERE o.cust = c.id) AS most FROM c;

-- scalar with ORDER BY and LIMIT
SELECT id, (SELECT tag FROM o WHERE o.cust = c.id ORDER BY day DESC, o.id DESC LIMIT 1) AS latest FROM c;

-- scalar with LIMIT and OFFSET
SELECT id, (SELECT amount FROM o WHERE o.cust = c.id ORDER BY amount, o.id LIMIT 1 OFFSET 1) AS second FROM c;

-- scalar with HAVING
SELECT id, (SELECT sum(amount) FROM o WHERE o.cust = c.id HAVING count(*) > 1) AS much FROM c;

-- scalar with HAVING that nothing fulfils but nothing
SELECT id, (SELECT count(*) FROM o WHERE o.cust = c.id HAVING count(*) = 0) AS none FROM c;

-- scalar over a grouped relation
SELECT id, (SELECT max(n) FROM (SELECT cust, tag, count(*) AS n FROM o GROUP BY cust, tag) g WHERE g.cust = c.id) AS most FROM c;

-- scalar in WHERE
SELECT id, amount FROM o WHERE amount >= (SELECT avg(p.amount) FROM o p WHERE p.cust = o.cust);

-- scalar in WHERE, correlated by more than one column
SELECT id FROM o WHERE amount = (SELECT max(p.amount) FROM o p WHERE p.cust = o.cust AND p.day = o.day);

-- scalar in HAVING
SELECT cust, sum(amount) AS total FROM o GROUP BY cust HAVING sum(amount) > (SELECT avg(credit) FROM c);

-- scalar in HAVING, correlated with a group key
SELECT cust, count(*) AS n FROM o GROUP BY cust HAVING count(*) >= (SELECT count(*) FROM i WHERE i.qty = o.cust);

-- scalar in the select list over groups
SELECT cust, count(*) AS n, (SELECT name FROM c WHERE c.id = o.cust AND c.name <> 'Fay') AS name FROM o GROUP BY cust;

-- scalar under CASE
SELECT id, CASE WHEN (SELECT count(*) FROM o WHERE o.cust = c.id) > 1 THEN 'many' ELSE 'few' END AS size FROM c;

-- scalar as an argument of a function
SELECT id, abs((SELECT min(amount) FROM o WHERE o.cust = c.id) - 50) AS away FROM c;

-- scalar in a join's ON
SELECT c.id, o.id AS ord FROM c JOIN o ON o.cust = c.id AND o.amount > (SELECT min(amount) FROM o);

-- scalar within a scalar
SELECT id, (SELECT count(*) FROM o WHERE o.cust = c.id AND o.amount > (SELECT avg(amount) FROM o)) AS n FROM c;

-- scalar that reads two queries around
SELECT id, (SELECT count(*) FROM o WHERE o.cust = c.id AND EXISTS (SELECT 1 FROM i WHERE i.ord = o.id AND i.qty < c.credit)) AS n FROM c;

-- scalar of a window
SELECT id, (SELECT max(r) FROM (SELECT cust, row_number() OVER (PARTITION BY cust ORDER BY day, id) AS r FROM o) w WHERE w.cust = c.id) AS n FROM c;

-- scalar of DISTINCT values
SELECT id, (SELECT count(DISTINCT tag) FROM o WHERE o.cust = c.id AND o.day > c.id) AS tags FROM c;

-- two scalars of one table
SELECT id, (SELECT min(amount) FROM o WHERE o.cust = c.id) AS low, (SELECT max(amount) FROM o WHERE o.cust = c.id) AS high FROM c;

-- EXISTS
SELECT id FROM c WHERE EXISTS (SELECT 1 FROM o WHERE o.cust = c.id AND o.amount > 50);

-- NOT EXISTS
SELECT id FROM c WHERE NOT EXISTS (SELECT 1 FROM o WHERE o.cust = c.id);

-- EXISTS by inequality
SELECT id FROM o WHERE EXISTS (SELECT 1 FROM o p WHERE p.amount > o.amount AND p.day < o.day);

-- EXISTS of a join
SELECT id FROM c WHERE EXISTS (SELECT 1 FROM o JOIN i ON i.ord = o.id WHERE o.cust = c.id AND i.qty > 1);

-- EXISTS of a grouped subquery
SELECT id FROM c WHERE EXISTS (SELECT tag FROM o WHERE o.cust = c.id GROUP BY tag HAVING count(*) > 1);

-- EXISTS three levels deep, the innermost reads the outermost
SELECT id FROM c WHERE EXISTS (SELECT 1 FROM o WHERE o.cust = c.id AND EXISTS (SELECT 1 FROM i WHERE i.ord = o.id AND i.qty <= c.id));

-- NOT EXISTS three levels deep: whose orders hold all items of a kind
SELECT id FROM c WHERE NOT EXISTS (SELECT 1 FROM i WHERE i.sku = 'z' AND NOT EXISTS (SELECT 1 FROM o WHERE o.cust = c.id AND o.id = i.ord));

-- EXISTS of a set operation
SELECT id FROM c WHERE EXISTS (SELECT cust FROM o WHERE o.cust = c.id INTERSECT SELECT qty FROM i WHERE i.qty = c.id);

-- EXISTS under OR
SELECT id FROM c WHERE credit > 90 OR EXISTS (SELECT 1 FROM o WHERE o.cust = c.id AND o.tag = 'a');

-- EXISTS by inequality under OR
SELECT id FROM o WHERE tag = 'c' OR EXISTS (SELECT 1 FROM o p WHERE p.amount > o.amount + 20);

-- EXISTS as a value
SELECT id, EXISTS (SELECT 1 FROM o WHERE o.cust = c.id) AS ordered FROM c;

-- IN
SELECT id FROM c WHERE id IN (SELECT cust FROM o WHERE amount > 30);

-- NOT IN with NULLs inside
SELECT id FROM c WHERE id NOT IN (SELECT cust FROM o);

-- NOT IN without NULLs inside
SELECT id FROM c WHERE id NOT IN (SELECT cust FROM o WHERE cust IS NOT NULL);

-- NOT IN with a NULL outside
SELECT id FROM o WHERE cust NOT IN (SELECT id FROM c WHERE credit > 60);

-- NOT IN, correlated
SELECT id FROM c WHERE credit NOT IN (SELECT amount FROM o WHERE o.cust = c.id);

-- IN as a value is TRUE, FALSE or NULL
SELECT id, cust IN (SELECT id FROM c WHERE credit > 60) AS rich FROM o;

-- NOT IN under OR
SELECT id FROM c WHERE credit = 100 OR id NOT IN (SELECT cust FROM o WHERE cust IS NOT NULL);

-- IN of pairs
SELECT id FROM o WHERE (cust, day) IN (SELECT qty, qty + 1 FROM i);

-- NOT IN of pairs
SELECT id FROM o WHERE (cust, day) NOT IN (SELECT qty, qty + 1 FROM i WHERE qty IS NOT NULL);

-- IN of pairs under OR
SELECT id FROM o WHERE tag = 'b' OR (cust, day) IN (SELECT qty, qty + 1 FROM i WHERE qty IS NOT NULL);

-- IN of a subquery with LIMIT
SELECT id, amount FROM o WHERE amount IN (SELECT amount FROM o ORDER BY amount DESC, id LIMIT 2);

-- IN of a correlated subquery with LIMIT
SELECT id FROM o WHERE id IN (SELECT p.id FROM o p WHERE p.cust = o.cust ORDER BY p.amount DESC, p.id LIMIT 1);

-- IN of a grouped subquery
SELECT id FROM c WHERE id IN (SELECT cust FROM o GROUP BY cust HAVING sum(amount) > 50);

-- IN of a union
SELECT id FROM c WHERE id IN (SELECT cust FROM o WHERE tag = 'a' UNION SELECT qty FROM i);

-- > ALL
SELECT id FROM o WHERE amount > ALL (SELECT amount FROM o WHERE day < 3 AND amount IS NOT NULL);

-- >= ALL with NULLs
SELECT id FROM o WHERE amount >= ALL (SELECT amount FROM o WHERE day < 4);

-- <> ALL, correlated
SELECT id FROM c WHERE credit <> ALL (SELECT amount FROM o WHERE o.cust = c.id);

-- < ANY
SELECT id FROM o WHERE amount < ANY (SELECT credit FROM c);

-- = SOME
SELECT id FROM o WHERE cust = SOME (SELECT id FROM c WHERE region = 'north');

-- < ANY as a value
SELECT id, amount < ANY (SELECT credit FROM c) AS below FROM o;

-- > ALL as a value, correlated
SELECT id, credit > ALL (SELECT amount FROM o WHERE o.cust = c.id) AS above FROM c;

-- > ALL under OR
SELECT id FROM c WHERE region = 'south' OR credit > ALL (SELECT amount FROM o WHERE o.cust = c.id AND o.day > 1);

-- NOT (x < ANY)
SELECT id FROM o WHERE NOT (amount < ANY (SELECT credit FROM c WHERE credit < 60));

-- HAVING of a grouped subquery reads the query around
SELECT id FROM c WHERE EXISTS (SELECT tag FROM o WHERE o.cust = c.id GROUP BY tag HAVING sum(amount) < c.credit);

-- an aggregate beside a column of the query around
SELECT id, (SELECT max(o.amount) + c.credit FROM o WHERE o.cust = c.id) AS m FROM c;

-- an aggregate of a subquery's values
SELECT tag, sum((SELECT max(credit) FROM c WHERE c.id = o.cust)) AS s, count(*) AS n FROM o GROUP BY tag;

-- EXISTS with a LIMIT
SELECT id FROM c WHERE EXISTS (SELECT 1 FROM o WHERE o.cust = c.id AND o.amount > 50 LIMIT 1);

-- HAVING over an aggregate of a subquery's values
SELECT tag FROM o GROUP BY tag HAVING sum((SELECT max(credit) FROM c WHERE c.id = o.cust)) > 100;

-- grouped by a subquery
SELECT (SELECT max(region) FROM c WHERE c.id = o.cust) AS region, count(*) AS n FROM o GROUP BY (SELECT max(region) FROM c WHERE c.id = o.cust);

-- grouped by a subquery's name, asked in HAVING
SELECT (SELECT max(region) FROM c WHERE c.id = o.cust) AS region, sum(amount) AS s FROM o GROUP BY region HAVING region IS NOT NULL;

-- grouped by EXISTS, by its place
SELECT EXISTS (SELECT 1 FROM i WHERE i.ord = o.id) AS packed, count(*) AS n FROM o GROUP BY 1;

-- grouped by a case of IN
SELECT CASE WHEN cust IN (SELECT id FROM c) THEN 'known' ELSE 'unknown' END AS kind, sum(amount) AS s FROM o GROUP BY CASE WHEN cust IN (SELECT id FROM c) THEN 'known' ELSE 'unknown' END;

-- grouped by a subquery in a ROLLUP
SELECT tag, (SELECT max(region) FROM c WHERE c.id = o.cust) AS region, count(*) AS n FROM o GROUP BY ROLLUP (tag, (SELECT max(region) FROM c WHERE c.id = o.cust));

-- ordered by a subquery
SELECT id FROM c ORDER BY (SELECT count(*) FROM o WHERE o.cust = c.id) DESC, id LIMIT 3;

-- groups ordered by EXISTS
SELECT cust, count(*) AS n FROM o GROUP BY cust ORDER BY EXISTS (SELECT 1 FROM c WHERE c.id = o.cust) DESC, cust LIMIT 2;

-- a query in FROM of a subquery reads what is around it
SELECT id, (SELECT sum(x) FROM (SELECT amount AS x FROM o WHERE o.cust = c.id UNION ALL SELECT qty FROM i WHERE i.qty = c.id) u) AS s FROM c;

-- the same two levels deep
SELECT id, (SELECT max(y) FROM (SELECT sum(x) AS y FROM (SELECT amount AS x FROM o WHERE o.cust = c.id) a) b) AS m FROM c;

-- the same on the right of a left join
SELECT id, (SELECT count(z.ord) FROM o LEFT JOIN (SELECT ord FROM i WHERE i.qty < c.id) z ON z.ord = o.id) AS n FROM c;
DUCKDB SELECT c.id, count(CASE WHEN i.qty < c.id THEN i.ord END) FROM (SELECT row_number() OVER () AS r, id FROM c) c LEFT JOIN o ON TRUE LEFT JOIN i ON i.ord = o.id GROUP BY c.r, c.id;

-- EXISTS over groups that read what is around
SELECT id FROM c WHERE EXISTS (SELECT 1 FROM (SELECT tag, count(*) AS n FROM o WHERE o.cust = c.id GROUP BY tag) z WHERE z.n > 1 OR z.tag = c.name);

-- EXISTS as a value beside NOT EXISTS as a condition over a left join
SELECT o.id, EXISTS (SELECT 1 FROM i WHERE i.ord = o.id) AS packed FROM o LEFT JOIN c ON c.id = o.cust WHERE NOT EXISTS (SELECT 1 FROM i WHERE i.qty = c.id);

-- in the condition of an aggregate
SELECT cust, count(*) FILTER (WHERE amount > (SELECT avg(credit) FROM c)) AS n FROM o GROUP BY cust;

-- between two subqueries
SELECT id FROM o WHERE amount BETWEEN (SELECT min(qty) FROM i) AND (SELECT avg(p.amount) FROM o p WHERE p.cust = o.cust);

-- coalesced from one subquery to the next
SELECT id, coalesce((SELECT max(amount) FROM o WHERE o.cust = c.id), (SELECT min(qty) FROM i), -1) AS x FROM c;

-- NOT IN of nothing
SELECT id FROM o WHERE cust NOT IN (SELECT id FROM c WHERE credit > 1000);

-- ANY and ALL of values that are listed
SELECT id FROM o WHERE tag LIKE ANY ('a%', '%b') AND tag NOT LIKE ALL ('c', 'd%');
DUCKDB SELECT id FROM o WHERE (tag LIKE 'a%' OR tag LIKE '%b') AND NOT tag LIKE 'c' AND NOT tag LIKE 'd%';

-- NOT LIKE ANY: one that it is not like is enough
SELECT id FROM o WHERE tag NOT LIKE ANY ('a', 'b');
DUCKDB SELECT id FROM o WHERE NOT tag LIKE 'a' OR NOT tag LIKE 'b';

-- dates and decimals compared with subqueries
SELECT id FROM v WHERE d >= ALL (SELECT d FROM v WHERE d IS NOT NULL) OR m = (SELECT max(m) FROM v);

-- a field of structs, and structs that are made
SELECT id FROM v WHERE k IN (SELECT p.x FROM v) OR p IN (SELECT named_struct('x', k, 'y', s) FROM v);

-- a left join inside that reads what is around it
SELECT id, (SELECT count(i.qty) FROM o LEFT JOIN i ON i.ord = o.id AND i.qty < c.id WHERE o.cust = c.id) AS n FROM c;
DUCKDB SELECT c.id, count(i.qty) FROM (SELECT row_number() OVER () AS r, id FROM c) c LEFT JOIN o ON o.cust = c.id LEFT JOIN i ON i.ord = o.id AND i.qty < c.id GROUP BY c.r, c.id;

-- EXISTS over a left join that reads what is around it
SELECT id FROM c WHERE EXISTS (SELECT 1 FROM o LEFT JOIN i ON i.ord = o.id AND i.qty > c.id WHERE i.qty IS NULL AND o.cust = c.id);
DUCKDB SELECT id FROM c WHERE EXISTS (SELECT 1 FROM o WHERE o.cust = c.id AND NOT EXISTS (SELECT 1 FROM i WHERE i.ord = o.id AND i.qty > c.id));

-- in ON, before a RIGHT JOIN that pads
SELECT c.id, o.id AS ord, i.sku FROM c JOIN o ON o.cust = c.id AND c.credit IN (SELECT amount + 40 FROM o) RIGHT JOIN i ON i.ord = o.id;
DUCKDB SELECT t.id, t.ord, i.sku FROM (SELECT c.id, o.id AS ord FROM c JOIN o ON o.cust = c.id WHERE c.credit IN (SELECT amount + 40 FROM o)) t RIGHT JOIN i ON i.ord = t.ord;

-- in ON, before a FULL JOIN, correlated and as a value
SELECT c.id, o.id AS ord, i.sku FROM c JOIN o ON o.cust = c.id AND o.amount >= (SELECT max(p.amount) FROM o p WHERE p.cust = c.id) LEFT JOIN v ON v.id = c.id FULL JOIN i ON i.ord = o.id;
DUCKDB SELECT t.id, t.ord, i.sku FROM (SELECT c.id, o.id AS ord FROM c JOIN o ON o.cust = c.id LEFT JOIN v ON v.id = c.id WHERE o.amount >= (SELECT max(p.amount) FROM o p WHERE p.cust = c.id)) t FULL JOIN i ON i.ord = t.ord;
