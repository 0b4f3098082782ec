SELECT url, COUNT(*) AS views FROM t GROUP BY url;
CREATE TABLE t (bytes BIGINT);
SELECT a value FROM t;
SELECT a FROM t AS rows;
SELECT day FROM t;
SELECT t.day, timestamp FROM t;
INSERT INTO user SELECT 1;
WITH result AS (SELECT 1) SELECT * FROM result;
