INSERT INTO totals (customer, window_end, spent)
SELECT customer, window_end, SUM(price) AS spent
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' HOUR))
GROUP BY customer, window_start, window_end;
