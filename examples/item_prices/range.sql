-- The highest price of the last two minutes of each kind.
CREATE TABLE tmall_item (
    itemid VARCHAR,
    itemtype VARCHAR,
    eventtime VARCHAR,
    onselltime AS TO_TIMESTAMP(eventtime),
    price DOUBLE,
    WATERMARK FOR onselltime AS onselltime - INTERVAL '2' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'tmall_item',
    'format' = 'csv'
);

SELECT
    itemid,
    itemtype,
    onselltime,
    price,
    MAX(price) OVER (
        PARTITION BY itemtype
        ORDER BY onselltime
        RANGE BETWEEN INTERVAL '2' MINUTE PRECEDING AND CURRENT ROW
    ) AS maxprice
FROM tmall_item;
