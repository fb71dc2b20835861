-- the first goes, the next moves up
CREATE TABLE t (k INT, v INT);
INSERT INTO t VALUES (1, 30), (2, 20), (3, 10);
QUERY SELECT k, v FROM t ORDER BY v DESC LIMIT 2;
CHANGE DELETE FROM t WHERE k = 1;
EXPECT VALUES (-1, 1, 30), (1, 3, 10);
