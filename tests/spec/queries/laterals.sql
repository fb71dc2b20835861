-- LATERAL with LIMIT: the two largest of each
SELECT c.id, t.ord, t.amount FROM c, LATERAL (SELECT o.id AS ord, o.amount FROM o WHERE o.cust = c.id ORDER BY o.amount DESC, o.id LIMIT 2) t;

-- LEFT JOIN LATERAL keeps those without
SELECT c.id, t.ord FROM c LEFT JOIN LATERAL (SELECT o.id AS ord FROM o WHERE o.cust = c.id ORDER BY o.day DESC, o.id LIMIT 1) t ON TRUE;

-- LATERAL aggregate has a row for everyone
SELECT c.id, t.n, t.total FROM c, LATERAL (SELECT count(*) AS n, sum(amount) AS total FROM o WHERE o.cust = c.id) t;

-- LATERAL by inequality
SELECT o.id, t.n FROM o JOIN LATERAL (SELECT count(*) AS n FROM o p WHERE p.amount < o.amount) t ON t.n > 0;

-- LATERAL of an expression
SELECT o.id, t.double, u.more FROM o, LATERAL (SELECT o.amount * 2 AS double) t, LATERAL (SELECT t.double + 1 AS more) u;

-- LATERAL with GROUP BY
SELECT c.id, t.tag, t.n FROM c, LATERAL (SELECT tag, count(*) AS n FROM o WHERE o.cust = c.id GROUP BY tag) t;

-- LATERAL with a window
SELECT c.id, t.ord, t.r FROM c, LATERAL (SELECT o.id AS ord, rank() OVER (ORDER BY o.amount) AS r FROM o WHERE o.cust = c.id) t;

-- LATERAL of a union
SELECT c.id, t.v FROM c, LATERAL (SELECT o.amount AS v FROM o WHERE o.cust = c.id UNION ALL SELECT c.credit) t;

-- LATERAL of DISTINCT rows
SELECT c.id, t.tag FROM c, LATERAL (SELECT DISTINCT tag FROM o WHERE o.cust = c.id) t;

-- LATERAL within LATERAL
SELECT c.id, t.n FROM c, LATERAL (SELECT count(*) AS n FROM o, LATERAL (SELECT i.sku FROM i WHERE i.ord = o.id AND i.qty < c.credit) s WHERE o.cust = c.id) t;

-- LATERAL over a left join inside
SELECT c.id, t.ord, t.sku FROM c, LATERAL (SELECT o.id AS ord, i.sku FROM o LEFT JOIN i ON i.ord = o.id AND i.qty > c.id WHERE o.cust = c.id) t;
DUCKDB SELECT c.id, o.id AS ord, i.sku FROM c JOIN o ON o.cust = c.id LEFT JOIN i ON i.ord = o.id AND i.qty > c.id;

-- aliases for the columns of LATERAL
SELECT c.id, t.a FROM c, LATERAL (SELECT max(amount) FROM o WHERE o.cust = c.id) AS t(a);
