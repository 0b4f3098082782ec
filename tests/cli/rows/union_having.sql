CREATE TABLE bids (id BIGINT, item STRING, price BIGINT) WITH ('connector' = 'kafka', 'format' = 'json');

SELECT item, COUNT(*) AS n FROM bids GROUP BY item HAVING MAX(price) > 10
UNION ALL
SELECT item, 0 AS n FROM bids;
