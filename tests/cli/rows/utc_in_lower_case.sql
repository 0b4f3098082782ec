SET 'table.local-time-zone' = 'utc';
CREATE TABLE sums (id STRING, total DECIMAL(38, 2)) WITH ('connector' = 'kafka', 'format' = 'json');

SELECT id, total FROM sums;
