SELECT a, COUNT(*) FROM t GRUOP BY a;
SELECT a FROM t WEHRE b > 1;
SELCT a FROM t;
SELECT a FORM t;
SELECT SUM(b) OVER (PARTITON BY a ORDER BY ts) FROM t;
SELECT SUM(b) OVER (PARTITION BY a ODRER BY ts) FROM t;
SELECT SUM(b) OVER (PARTITION BY a ORDER BY ts ROW BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t;
SELECT a, COUNT(*) FROM t GROUP BY a HAVNG COUNT(*) > 1;
SELECT a FROM t ORDER BY a LIMT 3;
SELECT a FROM t UNOIN ALL SELECT a FROM t;
SELECT a FROM t GROUP YB a;
SELECT a FROM t WHERE b > 1 ADN a = 'x';
SELECT a FROM t WHERE b BETWEN 1 AND 2;
INSERT INOT s SELECT a FROM t;
CREATE TABEL x (a INT) WITH ('connector' = 'print');
CREATE TABLE x (a INT) WIHT ('connector' = 'print');
CREATE TABLE x (a INT, PRIMRY KEY (a) NOT ENFORCED) WITH ('connector' = 'print');
CREATE TABLE x (a TIMESTAMP(3), WATERMRAK FOR a AS a) WITH ('connector' = 'print');
-- Names that only look like keywords.
SELECT a FROM orders 5;
SELECT a FROM groups g h;
-- What has a length, and what has none.
CREATE TABLE x (a INT(3)) WITH ('connector' = 'print');
CREATE TABLE x (a VARCHAR(2147483648)) WITH ('connector' = 'print');
CREATE TABLE x (a INT, PRIMARY KEY (a)) WITH ('connector' = 'print');
