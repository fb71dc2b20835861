-- only the touched partition moves
CREATE TABLE t (k INT, v INT);
INSERT INTO t VALUES (1, 10), (1, 20), (2, 5);
QUERY SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v) AS n FROM t;
CHANGE INSERT INTO t VALUES (1, 15);
EXPECT VALUES (-1, 1, 20, 2), (1, 1, 15, 2), (1, 1, 20, 3);

-- a row changes its partition
CREATE TABLE t (k INT, v INT);
INSERT INTO t VALUES (1, 10), (2, 5);
QUERY SELECT k, v, sum(v) OVER (PARTITION BY k) AS s FROM t;
CHANGE UPDATE t SET k = 2 WHERE k = 1;
EXPECT VALUES (-1, 1, 10, 10), (-1, 2, 5, 5), (1, 2, 10, 15), (1, 2, 5, 15);
