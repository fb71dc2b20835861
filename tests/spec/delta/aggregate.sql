-- a sum over nothing but NULL is NULL, not zero
CREATE TABLE t (k INT, v INT);
INSERT INTO t VALUES (1, 5), (1, NULL);
QUERY SELECT k, sum(v) AS s, count(v) AS n FROM t GROUP BY k;
CHANGE DELETE FROM t WHERE v = 5;
EXPECT VALUES (-1, 1, 5, 1), (1, 1, NULL, 0);

-- a group disappears
CREATE TABLE t (k INT, v INT);
INSERT INTO t VALUES (1, 5), (2, 6);
QUERY SELECT k, sum(v) AS s FROM t GROUP BY k;
CHANGE DELETE FROM t WHERE k = 1;
EXPECT VALUES (-1, 1, 5);

-- NULL is a group
CREATE TABLE t (k INT, v INT);
INSERT INTO t VALUES (NULL, 5);
QUERY SELECT k, sum(v) AS s FROM t GROUP BY k;
CHANGE INSERT INTO t VALUES (NULL, 1);
EXPECT VALUES (-1, NULL, 5), (1, NULL, 6);

-- the maximum goes, the next one takes its place
CREATE TABLE t (k INT, v INT);
INSERT INTO t VALUES (1, 5), (1, 9), (1, 7);
QUERY SELECT k, max(v) AS m FROM t GROUP BY k;
CHANGE DELETE FROM t WHERE v = 9;
EXPECT VALUES (-1, 1, 9), (1, 1, 7);

-- HAVING is crossed both ways
CREATE TABLE t (k INT);
INSERT INTO t VALUES (1), (1), (2);
QUERY SELECT k, count(*) AS n FROM t GROUP BY k HAVING count(*) > 1;
CHANGE UPDATE t SET k = 2 WHERE k = 1;
CHANGE INSERT INTO t VALUES (1);
EXPECT VALUES (-1, 1, 2), (1, 2, 3);

-- the aggregate of everything has a row even of nothing
CREATE TABLE t (v INT);
INSERT INTO t VALUES (5);
QUERY SELECT count(*) AS n, sum(v) AS s FROM t;
CHANGE DELETE FROM t;
EXPECT VALUES (-1, 1, 5), (1, 0, NULL);

-- FILTER counts only its own
CREATE TABLE t (k INT, v INT);
INSERT INTO t VALUES (1, 5);
QUERY SELECT k, count(*) FILTER (WHERE v > 10) AS n FROM t GROUP BY k;
CHANGE INSERT INTO t VALUES (1, 3);
EXPECT NOTHING;

-- an aggregate over an aggregate
CREATE TABLE t (k INT, v INT);
INSERT INTO t VALUES (1, 5), (2, 5), (2, 1);
QUERY SELECT n, count(*) AS groups FROM (SELECT k, count(*) AS n FROM t GROUP BY k) GROUP BY n;
CHANGE INSERT INTO t VALUES (1, 0);
EXPECT VALUES (-1, 1, 1), (-1, 2, 1), (1, 2, 2);
