CREATE TABLE clicks (
  user_name STRING,
  amount BIGINT,
  ts TIMESTAMP(3),
  pt AS PROCTIME(),
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'kafka', 'format' = 'json');

SELECT user_name, SUM(amount) AS total
FROM clicks
GROUP BY user_name;
