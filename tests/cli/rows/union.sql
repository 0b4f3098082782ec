CREATE TABLE bids (id BIGINT, item STRING, price BIGINT) WITH ('connector' = 'kafka', 'format' = 'json');

SELECT item, COUNT(*) AS n FROM bids GROUP BY item
UNION ALL
SELECT item, 0 AS n FROM bids;
