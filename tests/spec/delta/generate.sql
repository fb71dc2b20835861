-- a row generates with its weight
CREATE TABLE t (k INT, v INT);
INSERT INTO t VALUES (1, 2);
QUERY SELECT k, e FROM t LATERAL VIEW explode(array(k, v)) x AS e;
CHANGE UPDATE t SET v = 3;
EXPECT VALUES (-1, 1, 2), (1, 1, 3);
