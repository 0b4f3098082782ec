CREATE TABLE clicks (
  user_name STRING,
  amount BIGINT,
  ts TIMESTAMP(3),
  pt AS PROCTIME(),
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'kafka', 'format' = 'json');

SELECT window_start, window_end, window_time, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(pt), INTERVAL '5' SECOND))
GROUP BY window_start, window_end, window_time;
