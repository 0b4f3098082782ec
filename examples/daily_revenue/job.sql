-- The three customers that spent most each day, written in a hurry: `keepstate lint` has something to say.
CREATE TABLE orders (
  order_id BIGINT,
  customer STRING,
  price DECIMAL(10, 2),
  ordered_at TIMESTAMP(3),
  WATERMARK FOR ordered_at AS ordered_at
) WITH ('connector' = 'kafka', 'topic' = 'orders', 'format' = 'json');

CREATE VIEW spent_per_day AS
SELECT customer, window_end, SUM(price) AS spent
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' DAY))
GROUP BY customer, window_end;

SELECT window_end, customer, spent
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_end ORDER BY spent DESC) AS place
  FROM spent_per_day
)
WHERE place <= 3;
