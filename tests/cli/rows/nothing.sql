CREATE TABLE bids (id BIGINT) WITH ('connector' = 'kafka', 'format' = 'json');
