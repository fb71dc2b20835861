-- a star among the arguments
SELECT a.id, coalesce(a.*) AS first_known, greatest(a.*) AS g FROM (SELECT credit, id FROM c) a;
DUCKDB SELECT id, coalesce(credit, id), greatest(credit, id) FROM c;

-- rows that differ, counted
SELECT tag, count(DISTINCT *) AS n, count(*) AS rows FROM o GROUP BY tag;
DUCKDB SELECT tag, count(DISTINCT CASE WHEN id IS NOT NULL AND cust IS NOT NULL AND amount IS NOT NULL AND day IS NOT NULL AND tag IS NOT NULL THEN (id, cust, amount, day, tag) END), count(*) FROM o GROUP BY tag;

-- whole rows as structs
SELECT cust, max(struct(* EXCEPT (tag))) AS latest, count(DISTINCT struct(o.*)) AS n FROM o GROUP BY cust;
DUCKDB SELECT cust, max({'id': id, 'cust': cust, 'amount': amount, 'day': day}), count(DISTINCT {'id': id, 'cust': cust, 'amount': amount, 'day': day, 'tag': tag}) FROM o GROUP BY cust;

-- a star of one side of a join
SELECT c.id, struct(i.*) AS line FROM c JOIN o ON o.cust = c.id JOIN i ON i.ord = o.id;
DUCKDB SELECT c.id, {'ord': i.ord, 'sku': i.sku, 'qty': i.qty} FROM c JOIN o ON o.cust = c.id JOIN i ON i.ord = o.id;

-- a star over a window
SELECT id, max(struct(*)) OVER (PARTITION BY cust) AS latest FROM o;
DUCKDB SELECT id, max({'id': id, 'cust': cust, 'amount': amount, 'day': day, 'tag': tag}) OVER (PARTITION BY cust) FROM o;
