-- a decimal that is written out stays a decimal (case 1459)
SELECT q3.v AS m1, q1.s1 AS s1 FROM ta q1, LATERAL (SELECT sum(abs(10.01)) AS v FROM tb AS q2 WHERE q2.s1 = q1.s1) q3;

-- a padded decimal stays a decimal (case 2242)
SELECT q4.v AS m1, q2.n1 AS n1 FROM ta AS q2 LEFT JOIN LATERAL (SELECT abs(10.01) AS v FROM tb q3 WHERE q3.s1 >= q2.s1) q4 ON TRUE;

-- numbers beside doubles are doubles, also when the doubles do not change
SELECT CAST(x AS STRING) AS s1 FROM (SELECT n1 AS x FROM ta UNION ALL SELECT f1 AS x FROM tb) AS q1;

-- numbers beside decimals are decimals, also when the decimals do not change
SELECT CAST(x AS STRING) AS s1 FROM (SELECT n1 AS x FROM ta UNION SELECT m1 AS x FROM tb) AS q1;

-- days beside moments are moments, also when the moments do not change
SELECT CAST(x AS STRING) AS s1 FROM (SELECT d1 AS x FROM ta UNION ALL SELECT t1 AS x FROM tb) AS q1;

-- days beside the beginnings of days are moments (cases 146 and 1775)
SELECT d1 AS d1, n1 AS n1 FROM ta UNION ALL SELECT date_trunc('DAY', TIMESTAMP '2024-02-29 12:30:00') AS d1, n1 AS n1 FROM tb WHERE n2 > 2;
