-- The sum of the last four bids on each item.
CREATE TABLE Bid (
    bidtime TIMESTAMP(3),
    price DECIMAL(10, 2),
    item STRING,
    supplier_id STRING,
    WATERMARK FOR bidtime AS bidtime - INTERVAL '1' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'bids',
    'format' = 'csv'
);

SELECT
    bidtime,
    price,
    item,
    supplier_id,
    SUM(price) OVER (
        PARTITION BY item
        ORDER BY bidtime
        ROWS BETWEEN 3 PRECEDING AND CURRENT ROW
    ) AS max_sum
FROM Bid;
