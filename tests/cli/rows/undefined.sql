CREATE TABLE bids (id BIGINT, item STRING, price BIGINT) WITH ('connector' = 'kafka', 'format' = 'json');

SELECT id, price * ${factor} AS scaled
FROM bids;
