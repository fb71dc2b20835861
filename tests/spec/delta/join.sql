-- the key changes and its old partner is deleted in the same change
CREATE TABLE l (k INT, v INT);
CREATE TABLE r (k INT, w INT);
INSERT INTO l VALUES (1, 10);
INSERT INTO r VALUES (1, 100), (2, 200);
QUERY SELECT l.v, r.w FROM l JOIN r ON l.k = r.k;
CHANGE UPDATE l SET k = 2;
CHANGE DELETE FROM r WHERE k = 1;
EXPECT VALUES (-1, 10, 100), (1, 10, 200);

-- both partners are deleted together
CREATE TABLE l (k INT, v INT);
CREATE TABLE r (k INT, w INT);
INSERT INTO l VALUES (1, 10), (2, 20);
INSERT INTO r VALUES (1, 100), (2, 200);
QUERY SELECT l.v, r.w FROM l JOIN r ON l.k = r.k;
CHANGE DELETE FROM l WHERE k = 1;
CHANGE DELETE FROM r WHERE k = 1;
EXPECT VALUES (-1, 10, 100);

-- both partners arrive together, once
CREATE TABLE l (k INT, v INT);
CREATE TABLE r (k INT, w INT);
QUERY SELECT l.v, r.w FROM l JOIN r ON l.k = r.k;
CHANGE INSERT INTO l VALUES (1, 10);
CHANGE INSERT INTO r VALUES (1, 100);
EXPECT VALUES (1, 10, 100);

-- NULL keys match nothing
CREATE TABLE l (k INT, v INT);
CREATE TABLE r (k INT, w INT);
INSERT INTO r VALUES (NULL, 1);
QUERY SELECT l.v, r.w FROM l JOIN r ON l.k = r.k;
CHANGE INSERT INTO l VALUES (NULL, 10);
EXPECT NOTHING;

-- a table joined with itself
CREATE TABLE t (id INT, boss INT);
INSERT INTO t VALUES (1, NULL), (2, 1);
QUERY SELECT x.id, y.id AS boss FROM t x JOIN t y ON x.boss = y.id;
CHANGE INSERT INTO t VALUES (3, 3);
CHANGE UPDATE t SET boss = 3 WHERE id = 2;
EXPECT VALUES (-1, 2, 1), (1, 2, 3), (1, 3, 3);

-- three tables, a change in each
CREATE TABLE a (x INT);
CREATE TABLE b (x INT, y INT);
CREATE TABLE c (y INT);
INSERT INTO a VALUES (1);
INSERT INTO b VALUES (1, 5);
INSERT INTO c VALUES (5);
QUERY SELECT a.x, c.y FROM a JOIN b ON a.x = b.x JOIN c ON b.y = c.y;
CHANGE INSERT INTO a VALUES (2);
CHANGE INSERT INTO b VALUES (2, 6);
CHANGE INSERT INTO c VALUES (6), (5);
EXPECT VALUES (1, 1, 5), (1, 2, 6);
