CREATE TABLE clicks (user_name STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS user_name) WITH ('connector' = 'kafka', 'format' = 'json');

SELECT user_name FROM clicks;
