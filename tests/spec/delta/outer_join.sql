-- padding disappears when the partner comes
CREATE TABLE l (k INT);
CREATE TABLE r (k INT, w INT);
INSERT INTO l VALUES (1);
QUERY SELECT l.k, r.w FROM l LEFT JOIN r ON l.k = r.k;
CHANGE INSERT INTO r VALUES (1, 7);
EXPECT VALUES (-1, 1, NULL), (1, 1, 7);

-- padding appears when the last partner goes, not before
CREATE TABLE l (k INT);
CREATE TABLE r (k INT, w INT);
INSERT INTO l VALUES (1), (2);
INSERT INTO r VALUES (1, 7), (1, 8), (2, 9);
QUERY SELECT l.k, r.w FROM l LEFT JOIN r ON l.k = r.k;
CHANGE DELETE FROM r WHERE w IN (7, 9);
EXPECT VALUES (-1, 1, 7), (-1, 2, 9), (1, 2, NULL);

-- a NULL key stays padded
CREATE TABLE l (k INT);
CREATE TABLE r (k INT, w INT);
QUERY SELECT l.k, r.w FROM l LEFT JOIN r ON l.k = r.k;
CHANGE INSERT INTO l VALUES (NULL);
CHANGE INSERT INTO r VALUES (NULL, 1);
EXPECT VALUES (1, NULL, NULL);

-- a full join pads both sides
CREATE TABLE l (k INT);
CREATE TABLE r (k INT);
INSERT INTO l VALUES (1);
INSERT INTO r VALUES (1);
QUERY SELECT l.k AS a, r.k AS b FROM l FULL JOIN r ON l.k = r.k;
CHANGE UPDATE l SET k = 2;
EXPECT VALUES (-1, 1, 1), (1, 2, NULL), (1, NULL, 1);

-- the padded row and its first partner go together
CREATE TABLE l (k INT);
CREATE TABLE r (k INT);
INSERT INTO l VALUES (1);
INSERT INTO r VALUES (1);
QUERY SELECT l.k AS a, r.k AS b FROM l LEFT JOIN r ON l.k = r.k;
CHANGE DELETE FROM l;
CHANGE DELETE FROM r;
EXPECT VALUES (-1, 1, 1);

-- a right join, USING
CREATE TABLE l (k INT, v INT);
CREATE TABLE r (k INT);
INSERT INTO r VALUES (1);
QUERY SELECT k, v FROM l RIGHT JOIN r USING (k);
CHANGE INSERT INTO l VALUES (1, 5);
EXPECT VALUES (-1, 1, NULL), (1, 1, 5);
