-- every level of a rollup moves
CREATE TABLE t (a INT, b INT, v INT);
INSERT INTO t VALUES (1, 1, 10);
QUERY SELECT a, b, sum(v) AS s FROM t GROUP BY ROLLUP (a, b);
CHANGE INSERT INTO t VALUES (1, 2, 5);
EXPECT VALUES (1, 1, 2, 5), (-1, 1, NULL, 10), (1, 1, NULL, 15), (-1, NULL, NULL, 10), (1, NULL, NULL, 15);
