CREATE TABLE clicks (user_name STRING, amount BIGINT, ts TIMESTAMP(3)) WITH ('connector' = 'kafka', 'format' = 'json');
CREATE TABLE totals (user_name STRING, total BIGINT) WITH ('connector' = 'print');
CREATE TABLE counts (n BIGINT) WITH ('connector' = 'print');

INSERT INTO totals SELECT user_name, MAX(amount) FROM clicks GROUP BY user_name;
INSERT INTO counts SELECT COUNT(*) FROM clicks;
