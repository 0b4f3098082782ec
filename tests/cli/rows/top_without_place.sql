CREATE TABLE bids (id BIGINT, item STRING, price BIGINT) WITH ('connector' = 'kafka', 'format' = 'json');

SELECT id, item, price
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC) AS place FROM bids)
WHERE place <= 2;
