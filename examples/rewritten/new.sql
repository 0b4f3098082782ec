-- The same totals, tidied up: a view, other aliases, the interval in minutes.
SET 'pipeline.name' = 'order_totals';

CREATE TABLE orders (
  customer STRING,
  price DECIMAL(10, 2),
  ordered_at TIMESTAMP(3),
  WATERMARK FOR ordered_at AS ordered_at - INTERVAL '10' SECOND
) WITH ('connector' = 'kafka', 'topic' = 'orders', 'format' = 'json');

CREATE TABLE order_totals (
  customer STRING,
  window_end TIMESTAMP(3),
  spent DECIMAL(38, 2)
) WITH ('connector' = 'kafka', 'topic' = 'order-totals', 'format' = 'json');

CREATE TEMPORARY VIEW hours AS
SELECT *
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '60' MINUTE));

INSERT INTO order_totals
WITH totals AS (
  SELECT h.customer AS who, h.window_start, h.window_end AS till, SUM(h.price) AS total
  FROM hours AS h
  GROUP BY h.customer, h.window_start, h.window_end
)
SELECT who, till, total FROM totals;
