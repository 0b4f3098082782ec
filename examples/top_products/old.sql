-- The two products that sell best in each category, every five minutes.
SET 'pipeline.name' = 'top_products';

CREATE TABLE orders (
  product STRING,
  category STRING,
  price DECIMAL(10, 2),
  ordered_at TIMESTAMP(3),
  WATERMARK FOR ordered_at AS ordered_at - INTERVAL '10' SECOND
) WITH ('connector' = 'kafka', 'topic' = 'orders', 'format' = 'json');

CREATE TABLE top_products (
  window_end TIMESTAMP(3),
  category STRING,
  product STRING,
  revenue DECIMAL(38, 2)
) WITH ('connector' = 'kafka', 'topic' = 'top-products', 'format' = 'json');

INSERT INTO top_products
SELECT window_end, category, product, revenue
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, category ORDER BY revenue DESC) AS place
  FROM (
    SELECT window_start, window_end, category, product, SUM(price) AS revenue
    FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '5' MINUTE))
    GROUP BY window_start, window_end, category, product
  )
)
WHERE place <= 2;
