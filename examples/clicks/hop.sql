-- How many clicks did each user make in the last minute, every 30 seconds?
CREATE TABLE user_clicks (
    username VARCHAR,
    click_url VARCHAR,
    eventtime VARCHAR,
    ts AS TO_TIMESTAMP(eventtime),
    WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'user_clicks',
    'format' = 'csv'
);

SELECT
    HOP_START(ts, INTERVAL '30' SECOND, INTERVAL '1' MINUTE) AS window_start,
    HOP_END(ts, INTERVAL '30' SECOND, INTERVAL '1' MINUTE) AS window_end,
    username,
    COUNT(click_url) AS clicks
FROM user_clicks
GROUP BY HOP(ts, INTERVAL '30' SECOND, INTERVAL '1' MINUTE), username;
