-- What all cases of this folder stand on: tables with NULLs, copies of rows and keys that lead nowhere; `v` has a column of each type.
CREATE TABLE c (id INT, name STRING, region STRING, credit INT);
CREATE TABLE o (id INT, cust INT, amount INT, day INT, tag STRING);
CREATE TABLE i (ord INT, sku STRING, qty INT);
CREATE TABLE v (id INT, k INT, s STRING, m DECIMAL(10,2), f DOUBLE, ok BOOLEAN, d DATE, ts TIMESTAMP, l ARRAY<INT>, p STRUCT<x: INT, y: STRING>);
INSERT INTO c VALUES (1, 'Ada', 'north', 100), (2, 'Bob', 'south', 50), (3, 'Cyd', 'north', NULL), (4, 'Dan', NULL, 70), (5, 'Eve', 'south', 100);
INSERT INTO o VALUES (10, 1, 40, 1, 'a'), (11, 1, 60, 2, 'b'), (12, 2, 60, 2, 'a'), (13, 3, NULL, 3, NULL), (14, NULL, 20, 3, 'b'), (15, 2, 10, 4, 'c'), (15, 2, 10, 4, 'c'), (16, 9, 75, 5, 'a');
INSERT INTO i VALUES (10, 'x', 1), (10, 'y', 2), (11, 'x', 5), (12, 'z', NULL), (14, 'y', 7), (15, 'x', 1), (99, 'q', 3), (NULL, 'x', 4);
INSERT INTO v VALUES (1, 1, 'x', 1.50, CAST(0.5 AS DOUBLE), TRUE, DATE '2024-01-01', TIMESTAMP '2024-01-01 10:00:00', array(1, 2), named_struct('x', 1, 'y', 'p')), (2, 1, 'y', NULL, CAST(1.25 AS DOUBLE), FALSE, DATE '2024-01-02', TIMESTAMP '2024-01-31 22:30:00', array(2, NULL), named_struct('x', NULL, 'y', 'q')), (3, NULL, NULL, 2.25, NULL, NULL, NULL, NULL, NULL, NULL), (4, 2, 'x', -2.25, CAST(-2 AS DOUBLE), NULL, DATE '2024-02-29', TIMESTAMP '2024-02-29 00:00:00', array(3), named_struct('x', 1, 'y', 'p')), (4, 2, 'x', -2.25, CAST(-2 AS DOUBLE), NULL, DATE '2024-02-29', TIMESTAMP '2024-02-29 00:00:00', array(3), named_struct('x', 1, 'y', 'p'));

-- STEP new rows, some for customers that had none
INSERT INTO o VALUES (17, 4, 90, 5, 'a'), (18, 5, 60, 6, NULL), (19, 1, 40, 1, 'a'), (20, NULL, NULL, NULL, NULL);
INSERT INTO i VALUES (17, 'x', 2), (18, 'y', 2), (13, 'z', 9);
INSERT INTO v VALUES (5, 3, 'y', 0.00, CAST(0.5 AS DOUBLE), TRUE, DATE '2024-01-01', NULL, array(), NULL), (6, 2, NULL, 1.50, NULL, FALSE, NULL, TIMESTAMP '2024-01-31 22:30:00', array(4, 1, 1), named_struct('x', 2, 'y', NULL));

-- STEP rows go, a copy among them
DELETE FROM o WHERE id IN (11, 16);
DELETE FROM i WHERE sku = 'y' AND qty = 2;
DELETE FROM c WHERE id = 3;
DELETE FROM v WHERE id IN (1, 3);

-- STEP values and keys change, NULLs come and go
UPDATE o SET cust = 5, amount = amount + 1 WHERE id = 12;
UPDATE o SET amount = 15 WHERE amount IS NULL;
UPDATE c SET region = 'north' WHERE region IS NULL;
UPDATE c SET credit = NULL WHERE id = 2;
UPDATE i SET ord = 15 WHERE ord IS NULL;
UPDATE v SET k = 1, m = m + 1, ok = TRUE, ts = TIMESTAMP '2024-02-01 01:00:00' WHERE id = 4;
UPDATE v SET l = array(7), p = named_struct('x', 9, 'y', 'z'), d = DATE '2024-03-01' WHERE id = 2;

-- STEP one table is emptied
DELETE FROM o;
DELETE FROM v WHERE k = 1;
INSERT INTO c VALUES (6, 'Fay', NULL, NULL), (6, 'Fay', NULL, NULL);

-- STEP and filled again
INSERT INTO o VALUES (21, 6, 5, 7, 'c'), (22, 1, 60, 7, 'a'), (22, 1, 60, 7, 'a'), (23, 2, NULL, 8, 'b'), (24, 4, 60, 8, 'a');
DELETE FROM i WHERE sku = 'x';
INSERT INTO i VALUES (22, 'x', 3), (22, 'y', NULL), (24, 'x', 1);
INSERT INTO v VALUES (7, NULL, 'z', 9.99, CAST(0.25 AS DOUBLE), NULL, DATE '2024-01-02', TIMESTAMP '2024-01-01 10:00:00', array(1, 2), named_struct('x', 1, 'y', 'p')), (8, 3, 'y', NULL, NULL, TRUE, NULL, NULL, NULL, NULL);
