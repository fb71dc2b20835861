-- EXISTS by keys of different types: several texts equal one number
SELECT id FROM o WHERE EXISTS (SELECT 1 FROM (SELECT concat(repeat('0', coalesce(qty, 0) % 2), CAST(ord AS STRING)) AS s FROM i) z WHERE z.s = o.id);

-- NOT EXISTS by keys of different types
SELECT id FROM o WHERE NOT EXISTS (SELECT 1 FROM (SELECT concat(repeat('0', coalesce(qty, 0) % 2), CAST(ord AS STRING)) AS s FROM i) z WHERE z.s = o.id);

-- LEFT JOIN by keys of different types
SELECT o.id, z.s FROM o LEFT JOIN (SELECT concat(repeat('0', coalesce(qty, 0) % 2), CAST(ord AS STRING)) AS s FROM i) z ON z.s = o.id;

-- FULL JOIN by keys of different types
SELECT o.id, z.s FROM o FULL JOIN (SELECT concat(repeat('0', coalesce(qty, 0) % 2), CAST(ord AS STRING)) AS s FROM i) z ON z.s = o.id;

-- a correlated count by keys of different types
SELECT id, (SELECT count(*) FROM (SELECT concat(repeat('0', coalesce(qty, 0) % 2), CAST(ord AS STRING)) AS s FROM i) z WHERE z.s = o.id) AS n FROM o;

-- a correlated first row by keys of different types
SELECT id, (SELECT z.qty FROM (SELECT qty, concat(repeat('0', coalesce(qty, 0) % 2), CAST(ord AS STRING)) AS s FROM i) z WHERE z.s = o.id ORDER BY z.qty DESC NULLS LAST LIMIT 1) AS most FROM o;

-- EXISTS as a value by keys of different types
SELECT id, EXISTS (SELECT 1 FROM (SELECT concat(repeat('0', coalesce(qty, 0) % 2), CAST(ord AS STRING)) AS s FROM i) z WHERE z.s = o.id) AS some FROM o;

-- IN under OR, the values of another type
SELECT id FROM o WHERE amount > 70 OR CAST(9007199254740992 AS DOUBLE) * (id / id) IN (SELECT 9007199254740991 + CAST(qty AS BIGINT) FROM i);

-- EXISTS by a number and a double that several numbers equal
SELECT id FROM c WHERE EXISTS (SELECT 1 FROM (SELECT 9007199254740991 + CAST(qty AS BIGINT) AS b FROM i) z WHERE z.b = CAST(9007199254740992 AS DOUBLE) * (c.id / c.id));

-- a correlated sum by an integer and a decimal
SELECT id, (SELECT sum(i.qty) FROM i WHERE i.ord = CAST(o.id AS DECIMAL(12, 2))) AS n FROM o;
