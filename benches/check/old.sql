SET 'pipeline.name' = 'clicks';

CREATE TABLE clicks (
  user_id BIGINT,
  campaign VARCHAR(64),
  url VARCHAR(2048),
  country CHAR(2),
  device VARCHAR(32),
  cost DECIMAL(12, 4),
  duration_ms INT
) WITH (
  'connector' = 'kafka',
  'topic' = 'clicks',
  'properties.bootstrap.servers' = 'broker:9092',
  'properties.group.id' = 'campaign-report',
  'scan.startup.mode' = 'group-offsets',
  'format' = 'json'
);

CREATE TABLE campaign_report (
  campaign VARCHAR(64),
  country CHAR(2),
  from_ts TIMESTAMP(3),
  to_ts TIMESTAMP(3),
  clicks BIGINT NOT NULL,
  spent DECIMAL(38, 4),
  longest_ms INT
) WITH (
  'connector' = 'kafka',
  'topic' = 'campaign-report',
  'properties.bootstrap.servers' = 'broker:9092',
  'format' = 'json'
);

CREATE VIEW paid_clicks AS
SELECT
  user_id,
  campaign,
  UPPER(country) AS country,
  CASE WHEN device IN ('phone', 'tablet') THEN 'mobile' ELSE 'desktop' END AS device,
  COALESCE(cost, 0) AS cost,
  duration_ms,
  PROCTIME() AS pt
FROM clicks
WHERE cost > 0 AND campaign IS NOT NULL AND url LIKE 'https://%';

INSERT INTO campaign_report
SELECT
  campaign,
  country,
  HOP_START(pt, INTERVAL '1' MINUTE, INTERVAL '10' MINUTE) AS from_ts,
  HOP_END(pt, INTERVAL '1' MINUTE, INTERVAL '10' MINUTE) AS to_ts,
  COUNT(*) AS clicks,
  SUM(cost) AS spent,
  MAX(duration_ms) AS longest_ms
FROM paid_clicks
WHERE device = 'mobile'
GROUP BY campaign, country, HOP(pt, INTERVAL '1' MINUTE, INTERVAL '10' MINUTE);
