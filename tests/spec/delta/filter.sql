-- a row that enters the condition comes, one that leaves it goes
CREATE TABLE t (k INT, v INT);
INSERT INTO t VALUES (1, 5), (2, 50);
QUERY SELECT k, v * 2 AS d FROM t WHERE v > 10;
CHANGE UPDATE t SET v = 20 WHERE k = 1;
CHANGE UPDATE t SET v = 1 WHERE k = 2;
EXPECT VALUES (1, 1, 40), (-1, 2, 100);

-- a change that the projection does not show is no change
CREATE TABLE t (k INT, v INT);
INSERT INTO t VALUES (1, 5);
QUERY SELECT k FROM t;
CHANGE UPDATE t SET v = 6;
EXPECT NOTHING;

-- NULL does not satisfy a condition
CREATE TABLE t (k INT, v INT);
INSERT INTO t VALUES (1, 5);
QUERY SELECT k FROM t WHERE v > 1;
CHANGE UPDATE t SET v = NULL;
EXPECT VALUES (-1, 1);

-- one of two identical rows goes
CREATE TABLE t (k INT);
INSERT INTO t VALUES (1), (1);
QUERY SELECT k FROM t;
CHANGE DELETE FROM t;
CHANGE INSERT INTO t VALUES (1);
EXPECT VALUES (-1, 1);
