-- What each customer spends, every hour.
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

INSERT INTO order_totals
SELECT customer, window_end, SUM(price) AS spent
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' HOUR))
GROUP BY customer, window_start, window_end;
