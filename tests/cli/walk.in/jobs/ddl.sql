CREATE TABLE orders (
  customer STRING,
  price DECIMAL(10, 2),
  ordered_at TIMESTAMP(3),
  WATERMARK FOR ordered_at AS ordered_at - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'broker:9092', 'format' = 'json');

CREATE TABLE totals (
  customer STRING,
  window_end TIMESTAMP(3),
  spent DECIMAL(38, 2),
  orders BIGINT
) WITH ('connector' = 'print');
