-- inner
SELECT c.name, o.id FROM c JOIN o ON o.cust = c.id;

-- left
SELECT c.name, o.id FROM c LEFT JOIN o ON o.cust = c.id;

-- right
SELECT c.name, o.id FROM c RIGHT JOIN o ON o.cust = c.id;

-- full
SELECT c.name, o.id FROM c FULL JOIN o ON o.cust = c.id;

-- full with a condition on values
SELECT c.id, o.id AS ord FROM c FULL JOIN o ON o.cust = c.id AND o.amount > 30;

-- cross
SELECT c.id, o.id AS ord FROM c CROSS JOIN o WHERE c.credit > o.amount;

-- semi
SELECT id FROM c LEFT SEMI JOIN o ON o.cust = c.id AND o.amount > 50;
DUCKDB SELECT id FROM c WHERE EXISTS (SELECT 1 FROM o WHERE o.cust = c.id AND o.amount > 50);

-- anti
SELECT id FROM c LEFT ANTI JOIN o ON o.cust = c.id;
DUCKDB SELECT id FROM c WHERE NOT EXISTS (SELECT 1 FROM o WHERE o.cust = c.id);

-- USING
SELECT cust, a.id, b.day FROM o a JOIN o b USING (cust);

-- NATURAL
SELECT id, name, day FROM c NATURAL JOIN (SELECT cust AS id, day FROM o) t;

-- by a range
SELECT a.id, b.id AS other FROM o a JOIN o b ON a.day < b.day AND a.amount > b.amount;

-- three tables, left and inner
SELECT c.name, o.id, i.sku FROM c LEFT JOIN o ON o.cust = c.id LEFT JOIN i ON i.ord = o.id;

-- left join that a filter narrows
SELECT c.name FROM c LEFT JOIN o ON o.cust = c.id WHERE o.id IS NULL;

-- a join null-safe
SELECT a.id, b.id AS other FROM o a JOIN o b ON a.cust <=> b.cust AND a.id < b.id;

-- with itself, grouped
SELECT a.cust, count(*) AS pairs FROM o a JOIN o b ON a.cust = b.cust GROUP BY a.cust;

-- left join of an aggregate, coalesced
SELECT c.id, coalesce(t.n, 0) AS n FROM c LEFT JOIN (SELECT cust, count(*) AS n FROM o GROUP BY cust) t ON t.cust = c.id;

-- full join of aggregates
SELECT coalesce(a.k, b.k) AS k, a.n, b.m FROM (SELECT cust AS k, count(*) AS n FROM o GROUP BY cust) a FULL JOIN (SELECT qty AS k, count(*) AS m FROM i GROUP BY qty) b ON a.k = b.k;

-- DISTINCT over a join
SELECT DISTINCT c.region, o.tag FROM c JOIN o ON o.cust = c.id;

-- right joins in a row
SELECT c.id, o.amount, i.qty FROM c RIGHT JOIN o ON o.cust = c.id RIGHT JOIN i ON i.ord = o.id AND i.qty > 1;

-- NATURAL FULL
SELECT * FROM (SELECT cust AS k, amount FROM o) NATURAL FULL JOIN (SELECT id AS k, credit FROM c);

-- semi by one or the other
SELECT o.id FROM o LEFT SEMI JOIN i ON i.ord = o.id OR i.qty = o.cust;
DUCKDB SELECT id FROM o WHERE EXISTS (SELECT 1 FROM i WHERE i.ord = o.id OR i.qty = o.cust);

-- by structs and lists
SELECT a.id, b.id AS other FROM v a JOIN v b ON a.p = b.p AND a.id < b.id WHERE NOT a.l <=> b.l;

-- on days, padded
SELECT a.id, b.id AS other FROM v a LEFT JOIN v b ON a.d = b.d AND a.m < b.m;

-- full, grouped by the key of either side
SELECT coalesce(c.id, o.cust) AS k, count(c.id) AS a, count(o.id) AS b FROM c FULL JOIN o ON o.cust = c.id GROUP BY coalesce(c.id, o.cust);

-- a comma, then RIGHT JOIN: Spark goes from left to right
SELECT c.id, o.id AS ord, i.sku FROM c, o RIGHT JOIN i ON i.ord = o.id;
DUCKDB SELECT c.id, o.id AS ord, i.sku FROM (c CROSS JOIN o) RIGHT JOIN i ON i.ord = o.id;

-- a comma, then USING: the first column of the name
SELECT name, day, qty FROM o, c JOIN (SELECT ord AS id, qty FROM i) t USING (id);
DUCKDB SELECT c.name, o.day, t.qty FROM o CROSS JOIN c JOIN (SELECT ord AS id, qty FROM i) t ON t.id = o.id;

-- a comma, then NATURAL JOIN
SELECT * FROM o, c NATURAL JOIN (SELECT ord AS id, qty FROM i) t;
DUCKDB SELECT o.*, c.*, t.qty FROM o CROSS JOIN c JOIN (SELECT ord AS id, qty FROM i) t ON t.id = o.id;

-- a query and a join in parentheses
SELECT t.n, c.name FROM ((SELECT cust, count(*) AS n FROM o GROUP BY cust) t JOIN c ON c.id = t.cust);

-- parentheses in parentheses
SELECT c.name, o.day, i.sku FROM ((c JOIN o ON o.cust = c.id) LEFT JOIN i ON i.ord = o.id);

-- a join in parentheses with a name
SELECT x.name, x.day FROM (c JOIN (SELECT cust AS id, day FROM o) t USING (id)) AS x;
DUCKDB SELECT c.name, t.day FROM c JOIN (SELECT cust AS id, day FROM o) t USING (id);

-- the column of USING stands where its join stands
SELECT * FROM (SELECT sku FROM i) s CROSS JOIN (c JOIN (SELECT cust AS id, day FROM o) t USING (id));
DUCKDB SELECT s.sku, c.id, c.name, c.region, c.credit, t.day FROM (SELECT sku FROM i) s CROSS JOIN c JOIN (SELECT cust AS id, day FROM o) t ON t.id = c.id;
