-- a parent and its children come: older children are not read
CREATE TABLE p (id INT PRIMARY KEY, v INT);
CREATE TABLE c (p INT REFERENCES p (id), w INT);
INSERT INTO p VALUES (1, 10);
INSERT INTO c VALUES (1, 100), (NULL, 101);
QUERY SELECT c.w, p.v FROM c JOIN p ON c.p = p.id;
CHANGE INSERT INTO p VALUES (2, 20);
CHANGE INSERT INTO c VALUES (2, 200), (1, 102);
UNREAD c_before;
EXPECT VALUES (1, 200, 20), (1, 102, 10);

-- a parent goes with its children: what is left of the children is not read
CREATE TABLE p (id INT PRIMARY KEY, v INT);
CREATE TABLE c (p INT REFERENCES p (id), w INT);
INSERT INTO p VALUES (1, 10), (2, 20);
INSERT INTO c VALUES (1, 100), (2, 200);
QUERY SELECT c.w, p.v FROM p JOIN c ON c.p = p.id;
CHANGE DELETE FROM c WHERE p = 2;
CHANGE DELETE FROM p WHERE id = 2;
UNREAD c_after;
EXPECT VALUES (-1, 200, 20);

-- some parents come, some go, one is updated: older children are read for the updated one alone
CREATE TABLE p (id INT PRIMARY KEY, v INT);
CREATE TABLE c (p INT REFERENCES p (id), w INT);
INSERT INTO p VALUES (1, 10), (2, 20), (3, 30);
INSERT INTO c VALUES (1, 100), (2, 200), (3, 300);
QUERY SELECT c.w, p.v FROM c JOIN p ON c.p = p.id;
CHANGE INSERT INTO p VALUES (4, 40);
CHANGE UPDATE c SET p = 4 WHERE w = 200;
CHANGE DELETE FROM p WHERE id = 2;
CHANGE UPDATE p SET v = 11 WHERE id = 1;
UNREAD p_changes;
EXPECT VALUES (-1, 100, 10), (1, 100, 11), (-1, 200, 20), (1, 200, 40);

-- an update moves a parent into a filter: its older children are found
CREATE TABLE p (id INT PRIMARY KEY, v INT);
CREATE TABLE c (p INT REFERENCES p (id), w INT);
INSERT INTO p VALUES (1, 0), (2, 1);
INSERT INTO c VALUES (1, 100), (2, 200);
QUERY SELECT c.w FROM c JOIN p ON c.p = p.id WHERE p.v > 0;
CHANGE UPDATE p SET v = 5 WHERE id = 1;
EXPECT VALUES (1, 100);

-- a left join: a parent that came finds no lonely child
CREATE TABLE p (id INT PRIMARY KEY, v INT);
CREATE TABLE c (p INT REFERENCES p (id), w INT);
INSERT INTO p VALUES (1, 10);
INSERT INTO c VALUES (1, 100), (NULL, 101);
QUERY SELECT c.w, p.v FROM c LEFT JOIN p ON c.p = p.id;
CHANGE INSERT INTO p VALUES (2, 20);
CHANGE INSERT INTO c VALUES (2, 200), (NULL, 102);
UNREAD c_before;
EXPECT VALUES (1, 200, 20), (1, 102, NULL);

-- a key of two columns: half of it finds older children
CREATE TABLE p (a INT, b INT, v INT, PRIMARY KEY (a, b));
CREATE TABLE c (a INT, b INT, w INT, FOREIGN KEY (a, b) REFERENCES p (a, b));
INSERT INTO p VALUES (1, 1, 10);
INSERT INTO c VALUES (1, 1, 100);
QUERY SELECT c.w, p.v FROM c JOIN p ON c.a = p.a;
CHANGE INSERT INTO p VALUES (1, 2, 20);
EXPECT VALUES (1, 100, 20);

-- the whole of it does not
CREATE TABLE p (a INT, b INT, v INT, PRIMARY KEY (a, b));
CREATE TABLE c (a INT, b INT, w INT, FOREIGN KEY (a, b) REFERENCES p (a, b));
INSERT INTO p VALUES (1, 1, 10);
INSERT INTO c VALUES (1, 1, 100);
QUERY SELECT c.w, p.v FROM c JOIN p ON c.a = p.a AND c.b = p.b;
CHANGE INSERT INTO p VALUES (1, 2, 20);
UNREAD c_before c_after p_changes;
EXPECT NOTHING;

-- a table that references itself
CREATE TABLE t (id INT PRIMARY KEY, boss INT REFERENCES t (id));
INSERT INTO t VALUES (1, NULL);
INSERT INTO t VALUES (2, 1);
QUERY SELECT x.id, y.id AS boss FROM t x JOIN t y ON x.boss = y.id;
CHANGE INSERT INTO t VALUES (3, 2), (4, 1);
UNREAD t_before;
EXPECT VALUES (1, 3, 2), (1, 4, 1);
